// Serialized tf.train.Examples to columns: the plan, the batch kernel, and the filling of lists.
//
// Every record goes through a fast path that takes what any usual writer makes, and which all
// dialects read alike; on anything else the record is left to the exact path of its dialect.
// Measure then fill: `parse_examples` writes numbers of fixed count straight into their arrays and
// notes where the other lists lie; the caller sums their sizes, and the fill_ functions copy them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/examples/feature_kind.h"

namespace tfrkit {

// What is wrong with a record.
enum class ParseCode : std::uint8_t {
  kOk = 0,
  kMalformedExample = 1,  // no Example at all
  kMissing = 2,           // a feature without default is absent, or its kind is not set
  kWrongKind = 3,
  kWrongCount = 4,
  kMalformedList = 5,    // the feature cannot be read
  kUnsupportedKind = 6,  // the feature begins with an unknown field (TensorFlow only)
  kWrongStride = 7,      // the count is not a multiple of the stride
  kNoMemory = 8,
};

// How a feature stands in a record.
enum class FeatureState : std::uint8_t { kAbsent = 0, kUnset = 1, kPresent = 2 };

// A feature that is asked for.
struct ExampleSlot {
  std::vector<std::byte> key;
  Kind kind = Kind::kInt64;
  std::int64_t count = kVariable;  // values in every record, or kVariable
  // Variable only. 0: any count. n > 0: the count must be a multiple of n, and an entry whose kind
  // is not set does not hide an earlier one with the same key.
  std::uint32_t stride = 0;
  bool has_default = false;
  // Numbers: the values as they are in memory. Bytes: a canonical list, see ListRef.
  std::vector<std::byte> default_list;
  std::uint32_t default_bytes = 0;  // bytes only: the sum of the contents

  [[nodiscard]] bool is_fixed() const noexcept { return count >= 0; }
  [[nodiscard]] bool is_direct() const noexcept { return is_fixed() && kind != Kind::kBytes; }
};

// A list in memory that outlives the batch, checked already. Int64: `size` bytes of varints. Float:
// `size` bytes. Bytes: `count` times tag, length and content; `size` is the sum of the contents.
struct ListRef {
  const std::byte* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t count = 0;
};

// Where the values of a slot go, for all rows of the batch.
struct ExampleColumn {
  std::int64_t* int64s = nullptr;  // is_direct(): `count` for every row, here or
  float* floats = nullptr;         // here, by the kind
  ListRef* lists = nullptr;        // else: one for every row
  std::uint8_t* states = nullptr;  // FeatureState of every row, if wanted: kPresent beforehand
};

struct ExampleFailure {
  ParseCode code = ParseCode::kOk;
  std::int32_t slot = -1;
  Kind kind = Kind::kUnset;  // what was found
  std::size_t row = 0;
  std::uint64_t count = 0;  // values found
};

// What follows the beginning of an entry.
enum class EntryForm : std::uint8_t { kOther, kOneFloat, kOneInt64, kOneBytes, kNumbers };

// The beginning of a map entry as it usually is: all lengths in it follow from its last byte p. The
// first 8 bytes are head + p * head_step, the last 8 tail + p * tail_step, as little-endian words;
// between them is the middle of the key.
struct EntryPattern {
  std::uint64_t head = 0;
  std::uint64_t head_step = 0;
  std::uint64_t tail = 0;
  std::uint64_t tail_step = 0;
  const std::byte* middle = nullptr;
  std::uint32_t size = 8;        // at least 8
  std::uint32_t min_last = 256;  // p is in [min_last, min_last + span]; 256: nothing fits
  std::uint32_t span = 0;
  std::uint32_t slot = 0;
  EntryForm form = EntryForm::kOther;  // kOther: the key is not asked for
};

// What is asked for, with what is worked out once for all batches. Immutable, so any number of
// threads may use it.
class ExamplePlan {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  // Throws std::bad_alloc. Precondition: keys are unique; a default has `count` values.
  explicit ExamplePlan(std::vector<ExampleSlot> slots);

  [[nodiscard]] std::span<const ExampleSlot> slots() const noexcept { return slots_; }
  [[nodiscard]] const EntryPattern& pattern(std::size_t slot) const noexcept {
    return patterns_[slot];
  }

  // Returns the slot of `key`, or kNone.
  [[nodiscard]] std::uint32_t find(Bytes key) const noexcept;

  // In example_parts.h. Returns the only slot that a key of `size` bytes at `key` can have, without
  // comparing, or kNone. Precondition: size <= kMaxShortKey, and 8 bytes after the key are
  // readable.
  [[nodiscard]] std::uint32_t guess_unchecked(const std::byte* key,
                                              std::size_t size) const noexcept;

 private:
  struct Bucket {
    std::uint32_t hash = 0;
    std::uint32_t slot = kNone;
  };

  std::vector<ExampleSlot> slots_;
  std::vector<EntryPattern> patterns_;
  std::vector<Bucket> buckets_;  // open addressing, at most a sixteenth full: few second looks
};

// What a thread needs while it parses: the order of keys it expects, and copies of lists that are
// not in one piece in the record, which live as long as this.
class ExampleScratch {
 public:
  explicit ExampleScratch(const ExamplePlan& plan);
  ExampleScratch(const ExampleScratch&) = delete;
  ExampleScratch(ExampleScratch&&) = delete;
  ExampleScratch& operator=(const ExampleScratch&) = delete;
  ExampleScratch& operator=(ExampleScratch&&) = delete;
  ~ExampleScratch();

  struct Parts;
  [[nodiscard]] Parts& parts() noexcept { return *parts_; }

  // Frees the copies; ListRefs to them are void.
  void forget_copies() noexcept;

 private:
  std::unique_ptr<Parts> parts_;
};

// Whether the fast path is tried; without it the exact one does everything, with the same result.
enum class Path : std::uint8_t { kFastThenExact, kExactOnly };

// Parses records[i] into row i of the columns for i in [first, last), and stops at the first that
// is faulty, which it returns; rows before it are complete. Precondition: a column for every slot,
// with room for all rows; `scratch` was made for `plan`.
[[nodiscard]] ExampleFailure parse_examples(const ExamplePlan& plan, Dialect dialect,
                                            std::span<const Bytes> records, std::size_t first,
                                            std::size_t last,
                                            std::span<const ExampleColumn> columns,
                                            ExampleScratch& scratch,
                                            Path path = Path::kFastThenExact) noexcept;

// Returns the count that TensorFlow's batch op names when the list of `count` values in this row is
// not a multiple of the stride: with those of the rows before that it has in the same buffer.
// Precondition: the rows before are parsed.
[[nodiscard]] std::uint64_t stride_count(std::span<const Bytes> records,
                                         std::span<const ListRef> lists, std::size_t row,
                                         std::uint64_t count) noexcept;

// Values and content bytes of some lists together.
struct ListTotals {
  std::uint64_t values = 0;
  std::uint64_t bytes = 0;
};
[[nodiscard]] ListTotals sum_lists(std::span<const ListRef> lists) noexcept;

// The values of a list of bytes, one after the other. Where the bytes are in `record`, which other
// code may write to, nothing after it is read, and no more than the content that was measured.
class BytesValues {
 public:
  BytesValues(const ListRef& list, Bytes record) noexcept : at_(list.data), left_(list.size) {
    const auto offset =
        std::bit_cast<std::uintptr_t>(list.data) - std::bit_cast<std::uintptr_t>(record.data());
    if (offset < record.size()) readable_ = record.size() - offset;
  }

  // Returns the next value; nothing if the bytes say otherwise than when they were measured.
  [[nodiscard]] Bytes next() noexcept {
    if (readable_ < 2) return stop();
    ++at_;  // the tag
    --readable_;
    std::size_t length = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (readable_ == 0 || shift > 28) return stop();
      --readable_;
      const auto byte = std::to_integer<std::size_t>(*at_++);
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (length > readable_ || length > left_) return stop();
    const Bytes value(at_, length);
    at_ += length;
    readable_ -= length;
    left_ -= length;
    return value;
  }

 private:
  [[nodiscard]] Bytes stop() noexcept {
    readable_ = 0;
    return {};
  }

  const std::byte* at_;
  std::size_t left_;                                                // of the content
  std::size_t readable_ = std::numeric_limits<std::size_t>::max();  // a copy of ours stays as it is
};

// Writes the values of the lists one after the other. Precondition: `out` has their total. Nothing
// is written elsewhere, even if records changed since they were parsed.
void fill_int64(std::span<const ListRef> lists, std::span<std::int64_t> out) noexcept;
void fill_float(std::span<const ListRef> lists, std::span<float> out) noexcept;

// Writes the contents of all values one after the other, the first at `start` of `data`, and the
// end of each as an offset. Precondition: list i is of records[i] or a copy; `ends` has an entry
// for every value. If records changed since they were parsed, zeros stand in for what is not there.
void fill_bytes(std::span<const ListRef> lists, std::span<const Bytes> records, std::size_t start,
                std::span<std::byte> data, std::span<std::int64_t> ends) noexcept;

// Writes the running sum of the counts, from `start` on, after each list.
void fill_splits(std::span<const ListRef> lists, std::int64_t start,
                 std::span<std::int64_t> ends) noexcept;

}  // namespace tfrkit
