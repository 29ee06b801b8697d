// What is in many records: for every feature its kinds, counts and ranges.
//
// What a record means is said by RecordReader; of one that is damaged only its number is kept.
// Memory is bounded by the kMax constants and the largest record, whatever the records say. A
// Summary is for one thread; those of several are merged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/describe/key_table.h"
#include "core/describe/measure_values.h"
#include "core/describe/record_reader.h"
#include "core/describe/sketches/count_map.h"

namespace tfrkit {

inline constexpr std::size_t kMaxTallied = std::size_t{1} << 18;  // different counts, all together
inline constexpr std::size_t kMaxExamples = 4;                    // byte strings kept of a feature
inline constexpr std::size_t kMaxExampleBytes = std::size_t{1} << 14;     // of each of them
inline constexpr std::size_t kMaxAllExampleBytes = std::size_t{1} << 24;  // of all together

// The beginning of a byte string, and how long it was.
struct ExampleBytes {
  std::string head;
  std::uint64_t size = 0;
};

// Everything that is known of one feature, or of one feature list.
struct FeatureStats {
  std::string key;
  std::uint64_t records = 0;                         // in which it is present
  std::array<std::uint64_t, kKinds> kind_records{};  // in which it has this kind (in any step)
  std::array<std::int64_t, kKinds> kind_first{-1, -1, -1, -1};  // the first such record
  std::uint64_t empty = 0;                                      // Features with a kind and no value
  std::uint64_t unset = 0;                                      // Features without a kind
  Tally counts;  // values of each Feature that has a kind
  Tally steps;   // lists: Features in each
  Ranges ranges;
  std::vector<ExampleBytes> examples;
};

// What is known of every key of a KeyTable, by slot.
class FeatureTable {
 public:
  // Makes room for the keys that are new.
  void follow(const KeyTable& keys);

  [[nodiscard]] std::size_t size() const noexcept { return stats_.size(); }
  [[nodiscard]] FeatureStats& operator[](std::size_t slot) noexcept { return *stats_[slot]; }
  [[nodiscard]] const FeatureStats& operator[](std::size_t slot) const noexcept {
    return *stats_[slot];
  }

 private:
  std::vector<std::unique_ptr<FeatureStats>> stats_;
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
  [[nodiscard]] const FeatureTable& features() const noexcept { return features_; }
  [[nodiscard]] const FeatureTable& lists() const noexcept { return lists_; }
  [[nodiscard]] const std::vector<OtherRecord>& others() const noexcept { return others_; }
  // Returns how many features and lists were passed over because there were too many keys.
  [[nodiscard]] std::uint64_t not_followed() const noexcept { return not_followed_; }

 private:
  void commit(RecordKind kind, Bytes record, std::int64_t number);
  void commit_single(const FoundFeature& found, std::int64_t number);
  void commit_feature(const FoundFeature& found, std::int64_t number);
  void commit_list(const FoundList& found, std::int64_t number);
  void merge_table(const FeatureTable& from, KeyTable& keys, FeatureTable& into);
  void keep_example(std::vector<ExampleBytes>& examples, Bytes bytes);
  void add_example(std::vector<ExampleBytes>& examples, std::string_view head, std::uint64_t size);

  std::array<std::uint64_t, 3> records_{};
  std::array<std::int64_t, 3> first_{-1, -1, -1};
  std::uint64_t not_followed_ = 0;
  std::vector<OtherRecord> others_;
  RecordReader reader_;
  FeatureTable features_;
  FeatureTable lists_;
  std::size_t tally_budget_ = kMaxTallied;
  std::size_t example_budget_ = kMaxAllExampleBytes;
};

}  // namespace tfrkit
