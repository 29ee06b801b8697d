// What is in many records: for every feature its kinds, counts and ranges.
//
// A record is read by protobuf's rules (lists of one kind merge, the last kind and the last of
// equal keys count, unknown fields are skipped), and all of it is looked at: a record that is
// damaged anywhere leaves nothing behind but its number. Memory is bounded by the kMax constants
// and the largest record, whatever the records say. A Summary is for one thread; those of several
// are merged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes.h"
#include "key_table.h"
#include "measure.h"
#include "wire.h"

namespace tfrkit {

inline constexpr std::size_t kMaxTallied = std::size_t{1} << 18;  // different counts, all together
inline constexpr std::size_t kMaxExamples = 4;                    // byte strings kept of a feature
inline constexpr std::size_t kMaxExampleBytes = std::size_t{1} << 14;     // of each of them
inline constexpr std::size_t kMaxAllExampleBytes = std::size_t{1} << 24;  // of all together

// What a record is. The numbers are part of the Python module.
enum class RecordKind : std::uint8_t { kExample = 0, kSequenceExample = 1, kOther = 2 };

// One feature of a record that is being read.
struct FoundFeature {
  std::uint32_t slot = 0;
  std::uint32_t values = 0;  // where its values are; kNoSlot if it is a single one, which is here:
  Kind kind = Kind::kUnset;
  std::uint64_t bits = 0;  // as in Single
  const std::byte* data = nullptr;
};

// One feature list of a record that is being read.
struct FoundList {
  std::uint32_t slot = 0;
  std::uint64_t steps = 0;
  std::array<std::uint64_t, kKinds> kinds{};
  std::uint64_t empty = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;  // runs of equal counts of values
  Ranges ranges;
  Bytes first;
  bool has_first = false;

  // Begins anew; keeps the memory.
  void clear(std::uint32_t for_slot);
  // Adds a step.
  void add(const Values& values);
};

// A record that is neither, and where it was.
struct OtherRecord {
  std::int64_t record = 0;
  ExampleBytes bytes;
};

// See the top of this file. Throws std::bad_alloc if there is no memory.
class Summary {
 public:
  // Makes room for a key, so that it is followed however many others come before it.
  void expect(Bytes key);

  // Adds records of which the first has the number `first`.
  void add(std::span<const Bytes> records, std::int64_t first);

  // Adds what another summary knows; best in the order of the records, as the first keys, numbers
  // and examples are the ones that are kept.
  void merge(const Summary& other);

  [[nodiscard]] std::uint64_t records(RecordKind kind) const noexcept {
    return records_[static_cast<std::size_t>(kind)];
  }
  // Returns the number of the first record of this kind, or -1.
  [[nodiscard]] std::int64_t first_record(RecordKind kind) const noexcept {
    return first_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] const KeyTable& features() const noexcept { return features_; }
  [[nodiscard]] const KeyTable& lists() const noexcept { return lists_; }
  [[nodiscard]] const std::vector<OtherRecord>& others() const noexcept { return others_; }
  // Returns how many features and lists were passed over because there were too many keys.
  [[nodiscard]] std::uint64_t not_followed() const noexcept { return not_followed_; }

 private:
  [[nodiscard]] RecordKind read(Bytes record);
  [[nodiscard]] bool read_top(Bytes record);
  [[nodiscard]] bool read_all_lists(Bytes record);
  [[nodiscard]] bool read_features(Bytes features);
  [[nodiscard]] bool read_lists(Bytes lists);
  [[nodiscard]] bool read_map_field(Wire& wire, bool (Summary::*found)(Bytes key, Bytes entry));
  [[nodiscard]] bool found_feature(Bytes key, Bytes entry);
  [[nodiscard]] bool found_list(Bytes key, Bytes entry);
  [[nodiscard]] FoundFeature& note_feature(std::uint32_t slot);
  [[nodiscard]] std::uint32_t slot_of(Bytes key, KeyTable& table);
  void commit(RecordKind kind, Bytes record, std::int64_t number);
  void commit_single(const FoundFeature& found, std::int64_t number);
  void commit_feature(const FoundFeature& found, std::int64_t number);
  void commit_list(const FoundList& found, std::int64_t number);
  void merge_table(const KeyTable& from, KeyTable& into);
  void keep_example(std::vector<ExampleBytes>& examples, Bytes bytes);
  void add_example(std::vector<ExampleBytes>& examples, std::string_view head, std::uint64_t size);

  std::array<std::uint64_t, 3> records_{};
  std::array<std::int64_t, 3> first_{-1, -1, -1};
  std::uint64_t not_followed_ = 0;
  std::vector<OtherRecord> others_;
  KeyTable features_;
  KeyTable lists_;
  std::size_t tally_budget_ = kMaxTallied;
  std::size_t example_budget_ = kMaxAllExampleBytes;

  // Of the record that is being read.
  std::uint64_t stamp_ = 0;
  bool unknown_ = false;           // it has a field that is none of ours
  std::uint64_t entries_ = 0;      // map entries met, followed or not
  std::uint64_t passed_over_ = 0;  // of them not followed
  bool has_lists_ = false;
  std::vector<FoundFeature> found_features_;
  std::vector<Values> found_values_;
  std::vector<FoundList> found_lists_;  // the first found_list_count_; the others are spare
  std::size_t found_list_count_ = 0;
};

}  // namespace tfrkit
