// What the parts of the Example kernel share; no other code includes it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/bytes/varint.h"
#include "core/examples/example.h"

namespace tfrkit {

inline constexpr std::size_t kKeptKeyBytes = 48;
inline constexpr std::size_t kMaxShortKey = 64;
inline constexpr std::size_t kMaxSteps = 1024;  // keys of a record whose order is remembered
inline constexpr std::size_t kMaxExampleBytes = 0x7fffffff;  // protobuf's limit, and TensorFlow's

inline constexpr std::uint64_t kHashFactor = 0x9e3779b97f4a7c15U;

inline std::uint64_t finish_hash(std::uint64_t hash, std::uint64_t last,
                                 std::size_t size) noexcept {
  hash = (hash ^ last ^ (size << 56)) * kHashFactor;
  return hash ^ (hash >> 32);
}

// Mixes the whole words of a key but the last.
inline std::uint64_t hash_words(const std::byte* key, std::size_t size) noexcept {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i + 8 < size; i += 8) {
    hash = std::rotl((hash ^ load_le<std::uint64_t>(key + i)) * kHashFactor, 29);
  }
  return hash;
}

// Returns the hash of a key, loading a whole word where it may be shorter.
inline std::uint64_t hash_unchecked(const std::byte* key, std::size_t size) noexcept {
  if (size >= 8) {
    return finish_hash(hash_words(key, size), load_le<std::uint64_t>(key + size - 8), size);
  }
  const std::uint64_t mask = (std::uint64_t{1} << (8 * size)) - 1;
  return finish_hash(0, load_le<std::uint64_t>(key) & mask, size);
}

inline std::uint32_t ExamplePlan::guess_unchecked(const std::byte* key,
                                                  std::size_t size) const noexcept {
  const std::uint64_t hash = hash_unchecked(key, size);
  const auto mark = static_cast<std::uint32_t>(hash >> 16);
  for (std::size_t at = hash & (buckets_.size() - 1);; at = (at + 1) & (buckets_.size() - 1)) {
    if (buckets_[at].slot == kNone || buckets_[at].hash == mark) return buckets_[at].slot;
  }
}

// Fits nothing.
inline constexpr EntryPattern kNoPattern{.slot = ExamplePlan::kNone};

// An entry that is expected at this place of a record.
struct EntryStep {
  EntryPattern pattern;  // .slot is kNone for a key that is not asked for
  std::array<std::byte, kKeptKeyBytes> key{};
};

// The entries of a record that went before, in their order.
struct KeyOrder {
  std::vector<EntryStep> steps;
  std::vector<std::uint32_t> next_step;  // by slot: the place after its step, or 0
  std::vector<std::uint32_t> missing;    // slots that the record did not have
  std::uint32_t misses = 0;              // records in a row that had another order
};

// The entry that counts for a slot, in the exact path.
struct SlotEntry {
  Bytes bytes;              // TensorFlow: the Feature. Protobuf: the whole entry
  std::uint64_t order = 0;  // number of the entry in the record, from 1 on; 0 if there is none
  bool is_unset = false;
};

// Memory for lists that are not in one piece. Grows; memory that it returned stays where it is.
class CopyArena {
 public:
  // Begins a record whose copies together have at most `size` bytes. Throws std::bad_alloc.
  void begin(std::size_t size);
  // Returns where the next copy goes.
  [[nodiscard]] std::byte* top() const noexcept { return top_; }
  // Keeps what was written up to `end`.
  void keep(std::byte* end) noexcept { top_ = end; }
  void clear() noexcept;
  // Where the list that was read last ends, if it was copied; else top().
  void set_end_of_copy(std::byte* end) noexcept { end_of_copy_ = end; }
  [[nodiscard]] std::byte* end_of_copy() const noexcept { return end_of_copy_; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* top_ = nullptr;
  std::byte* block_end_ = nullptr;
  std::byte* end_of_copy_ = nullptr;
};

struct ExampleScratch::Parts {
  KeyOrder order;
  std::vector<EntryStep> learned;   // the next order, while a record is read
  std::vector<std::uint64_t> seen;  // by slot: 2 * stamp of the record, + 1 if a kind is set
  std::uint64_t stamp = 0;
  std::vector<SlotEntry> entries;
  CopyArena arena;
};

// The batch as both paths see it.
struct ExampleBatch {
  const ExamplePlan& plan;
  std::span<const ExampleColumn> columns;
  ExampleScratch::Parts& parts;
};

// A list of numbers, or of bytes whose contents have `content` bytes together, in canonical form.
struct CheckedList {
  const std::byte* data = nullptr;
  std::size_t size = 0;
  std::size_t count = 0;
};

// Puts a checked list of the right count into its place.
inline void place_list(const ExampleBatch& batch, std::size_t slot, std::size_t row,
                       const CheckedList& list) noexcept {
  const ExampleSlot& wanted = batch.plan.slots()[slot];
  const ExampleColumn& column = batch.columns[slot];
  if (!wanted.is_direct()) {
    column.lists[row] = {list.data, static_cast<std::uint32_t>(list.size),
                         static_cast<std::uint32_t>(list.count)};
    return;
  }
  const auto count = static_cast<std::size_t>(wanted.count);
  if (count == 0) return;
  if (wanted.kind == Kind::kFloat) {
    std::memcpy(column.floats + row * count, list.data, list.size);
  } else {
    decode_varints(Bytes(list.data, list.size), {column.int64s + row * count, count});
  }
}

// Fills the slot of a row that has no such feature. Precondition: variable, or has a default.
void place_missing(const ExampleBatch& batch, std::size_t slot, std::size_t row) noexcept;

// Fast path: returns true if the record is good and its row complete; else nothing is said about
// it. Throws std::bad_alloc.
[[nodiscard]] bool parse_fast(const ExampleBatch& batch, Bytes record, std::size_t row);

// Exact path, for any bytes. Throws std::bad_alloc.
[[nodiscard]] ExampleFailure parse_exact(const ExampleBatch& batch, Dialect dialect, Bytes record,
                                         std::size_t row);

// The list of a winner by the rules of TensorFlow and of protobuf: kOk, kWrongKind, kWrongCount,
// kWrongStride or kMalformedList. `entry` is what SlotEntry::bytes says; what is not in one piece
// is written to the arena.
[[nodiscard]] ExampleFailure read_list_tensorflow(const ExampleSlot& slot, Bytes entry,
                                                  CopyArena& arena, CheckedList& list) noexcept;
[[nodiscard]] ExampleFailure read_list_protobuf(const ExampleSlot& slot, Bytes entry,
                                                CopyArena& arena, CheckedList& list) noexcept;

// See example_plan.cc.
[[nodiscard]] bool make_slot_pattern(const ExampleSlot& slot, EntryPattern& pattern) noexcept;
[[nodiscard]] bool make_other_pattern(Bytes key, std::span<std::byte> kept_key,
                                      EntryPattern& pattern) noexcept;

}  // namespace tfrkit
