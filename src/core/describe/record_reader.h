// RecordReader: which features and feature lists a record has, and what is in them.
//
// A record is read by protobuf's rules (lists of one kind merge, the last kind and the last of
// equal keys count, unknown fields are skipped), and all of it is looked at: a record that is
// damaged anywhere leaves nothing behind. Memory is bounded by the kMax constants and the largest
// record, whatever the records say.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/bytes/wire.h"
#include "core/describe/key_table.h"
#include "core/describe/measure_values.h"

namespace tfrkit {

// What a record is. The numbers are part of the Python module.
enum class RecordKind : std::uint8_t { kExample = 0, kSequenceExample = 1, kOther = 2 };

// One feature of a record that is being read.
struct FoundFeature {
  std::uint32_t slot = 0;
  std::uint32_t values = 0;  // where its values are; kNoSlot if it is a single one, which is here:
  Kind kind = Kind::kUnset;
  std::uint64_t bits = 0;  // as in SingleValue
  const std::byte* data = nullptr;
  Bytes entry;  // of several values: the map entry that they are in
};

// One feature list of a record that is being read.
struct FoundList {
  std::uint32_t slot = 0;
  std::uint64_t steps = 0;
  std::array<std::uint64_t, kKinds> kinds{};
  Kind first_kind = Kind::kUnset;  // of the first step that has one
  std::uint64_t empty = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;  // runs of equal counts of values
  Ranges ranges;
  Bytes first;
  bool has_first = false;
  Bytes entry;  // the map entry that it is in

  // Begins anew; keeps the memory.
  void clear(std::uint32_t for_slot);
  // Adds a step.
  void add(const Values& values);
};

// Reads records one by one; what was found in the last one is here until the next. Throws
// std::bad_alloc if there is no memory.
class RecordReader {
 public:
  // Makes room for a key, so that it is followed however many others come before it.
  void expect(Bytes key);

  // Says whether byte strings of features get bounds.
  void measure_bounds(bool wanted) noexcept { bounded_ = wanted; }

  // Reads a record. What it finds lies in the record, and refers to slots of the two tables.
  [[nodiscard]] RecordKind read(Bytes record);

  // Keys may be added to the tables from elsewhere.
  [[nodiscard]] KeyTable& features() noexcept { return features_; }
  [[nodiscard]] KeyTable& lists() noexcept { return lists_; }

  // What the last record has, unless it is of the kind kOther.
  [[nodiscard]] std::span<const FoundFeature> found_features() const noexcept {
    return found_features_;
  }
  [[nodiscard]] const Values& found_values(std::uint32_t index) const noexcept {
    return found_values_[index];
  }
  [[nodiscard]] std::span<const FoundList> found_lists() const noexcept {
    return std::span(found_lists_).first(found_list_count_);
  }
  // Returns how many of its features and lists were passed over because there are too many keys.
  [[nodiscard]] std::uint64_t passed_over() const noexcept { return passed_over_; }

 private:
  [[nodiscard]] bool read_top(Bytes record);
  [[nodiscard]] bool read_all_lists(Bytes record);
  [[nodiscard]] bool read_features(Bytes features);
  [[nodiscard]] bool read_lists(Bytes lists);
  [[nodiscard]] bool read_map_field(Wire& wire,
                                    bool (RecordReader::*found)(Bytes key, Bytes entry));
  [[nodiscard]] bool found_feature(Bytes key, Bytes entry);
  [[nodiscard]] bool found_list(Bytes key, Bytes entry);
  [[nodiscard]] FoundFeature& note_feature(std::uint32_t slot);
  [[nodiscard]] std::uint32_t slot_of(Bytes key, KeyTable& table);

  KeyTable features_;
  KeyTable lists_;
  bool bounded_ = false;

  // Of the record that is being read.
  std::uint64_t stamp_ = 0;
  bool unknown_ = false;           // it has a field that is not one of ours
  std::uint64_t entries_ = 0;      // map entries met, followed or not
  std::uint64_t passed_over_ = 0;  // of them not followed
  bool has_lists_ = false;
  std::vector<FoundFeature> found_features_;
  std::vector<Values> found_values_;
  std::vector<FoundList> found_lists_;  // the first found_list_count_; the others are spare
  std::size_t found_list_count_ = 0;
};

}  // namespace tfrkit
