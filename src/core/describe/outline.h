// Outline: what a schema says of one feature, or of one feature list: kinds, counts, ranges and a
// few byte strings. Statistics keep one for every feature, whatever else they keep.
//
// Memory is bounded by the kMax constants, whatever the records say.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/describe/measure_values.h"
#include "core/describe/record_reader.h"
#include "core/describe/sketches/count_map.h"

namespace tfrkit {

inline constexpr std::size_t kMaxCounted = std::size_t{1} << 18;  // different counts, all together
inline constexpr std::size_t kMaxExamples = 4;                    // byte strings kept of a feature
inline constexpr std::size_t kMaxExampleBytes = std::size_t{1} << 14;     // of each of them
inline constexpr std::size_t kMaxAllExampleBytes = std::size_t{1} << 24;  // of all together

// The beginning of a byte string, and how long it was.
struct ExampleBytes {
  std::string head;
  std::uint64_t size = 0;
};
[[nodiscard]] ExampleBytes beginning_of(Bytes bytes);

// A record that is neither an Example nor a SequenceExample, and its number.
struct OtherRecord {
  std::int64_t record = 0;
  ExampleBytes bytes;
};

// How many records of each kind there are, and which are the first.
struct RecordCounts {
  std::array<std::uint64_t, 3> counts{};
  std::array<std::int64_t, 3> first{-1, -1, -1};
  std::vector<OtherRecord> others;  // the first ones

  [[nodiscard]] std::uint64_t of(RecordKind kind) const noexcept {
    return counts[static_cast<std::size_t>(kind)];
  }
  void add(RecordKind kind, std::int64_t record) noexcept;
  void keep_other(Bytes record, std::int64_t number);
  void merge(const RecordCounts& more);
};

// What the outlines of all features may still store together.
struct OutlineBudget {
  std::size_t counts = kMaxCounted;
  std::size_t example_bytes = kMaxAllExampleBytes;
};

// Returns the first of two record numbers, where -1 means that there is none.
[[nodiscard]] constexpr std::int64_t earlier(std::int64_t one, std::int64_t other) noexcept {
  if (one < 0 || other < 0) return one > other ? one : other;
  return one < other ? one : other;
}

// See the top of this file. Counts, steps and examples are kept only by functions that take a
// budget. Throws std::bad_alloc if there is no memory.
struct Outline {
  std::uint64_t records = 0;                         // in which it is present
  std::array<std::uint64_t, kKinds> kind_records{};  // in which it has this kind (in any step)
  std::array<std::int64_t, kKinds> kind_first{-1, -1, -1, -1};  // the first such record
  std::uint64_t empty = 0;                                      // Features with a kind and no value
  std::uint64_t unset = 0;                                      // Features without a kind
  Ranges ranges;
  CountMap counts;  // values of each Feature that has a kind
  CountMap steps;   // lists: Features in each
  std::vector<ExampleBytes> examples;

  // Adds records of one kind that follow each other, of which `first` is the first.
  void add_records(Kind kind, std::int64_t first, std::uint64_t count) noexcept {
    records += count;
    add_kind(kind, first, count);
  }
  // Adds a Feature with any number of values.
  void add_feature(const Values& values, std::int64_t record) noexcept;
  void add_list(const FoundList& found, std::int64_t record) noexcept;

  void keep_counts(const FoundList& found, OutlineBudget& budget);
  void keep_example(Bytes bytes, OutlineBudget& budget);
  void merge(const Outline& other, OutlineBudget& budget);

 private:
  void add_kind(Kind kind, std::int64_t first, std::uint64_t count) noexcept {
    kind_records[index_of(kind)] += count;
    kind_first[index_of(kind)] = earlier(kind_first[index_of(kind)], first);
  }
  void add_example(std::string_view head, std::uint64_t size, OutlineBudget& budget);
};

}  // namespace tfrkit
