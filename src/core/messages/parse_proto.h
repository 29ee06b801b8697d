// Serialized messages of any type to columns, by a plan, as protobuf's own parser reads them.
//
// The last value of a singular field counts, occurrences of a singular message are merged, setting
// a member of a oneof clears the others, numbers are packed or not. A field of another wire type
// than its own is unknown, which is counted. What is not asked for is skipped without a look
// inside. One pass: numbers of the records go straight into their arrays, all else into growing
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/messages/proto_plan.h"

namespace tfrkit {

// What is wrong with a record.
enum class ProtoCode : std::uint8_t {
  kOk = 0,
  kMalformed = 1,  // the bytes are no message, or end early
  kNotUtf8 = 2,    // a string is not UTF-8
  kNoMemory = 3,
};

struct ProtoFailure {
  ProtoCode code = ProtoCode::kOk;
  std::int32_t field = kNoIndex;  // the innermost that was being read, or kNoIndex
  std::size_t row = 0;
  std::size_t offset = 0;  // in the record: of the innermost field that is faulty
};

// Fields that were skipped because they have another wire type than their own.
struct ProtoMismatch {
  std::uint64_t count = 0;
  std::int32_t field = kNoIndex;  // of the first
  std::size_t row = 0;
};

// Values one after the other, in memory that grows.
class ValueMemory {
 public:
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {memory_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Returns room for `size` more bytes, not set. Throws std::bad_alloc.
  [[nodiscard]] std::byte* extend(std::size_t size) {
    if (size > capacity_ - size_) grow(size);
    size_ += size;
    return memory_.get() + (size_ - size);
  }

  // Forgets what follows the first `size` bytes, of which there are at least as many.
  void cut(std::size_t size) noexcept { size_ = size; }

 private:
  void grow(std::size_t size);

  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// The values of some rows. References are to the records, or to memory of this.
class ProtoChunk {
 public:
  struct Column {
    ValueMemory values;                // width_of(kind) each; nothing if they go elsewhere
    std::vector<std::int64_t> splits;  // of lists: where those of each entry end, after a 0
    std::vector<std::vector<std::byte>> joined;  // contents that are not in one piece in the record
    std::size_t joined_entry = 0;                // counted from 1: whose the last of them is
  };
  struct Scope {
    std::size_t count = 0;             // of its entries
    std::vector<std::int64_t> splits;  // where those of each entry of its parent end, after a 0
  };

  // Throws std::bad_alloc.
  explicit ProtoChunk(const ProtoPlan& plan);

  [[nodiscard]] const Column& column(std::size_t slot) const noexcept { return columns_[slot]; }
  [[nodiscard]] const Scope& scope(std::size_t scope) const noexcept { return scopes_[scope]; }
  [[nodiscard]] const ProtoMismatch& mismatch() const noexcept { return mismatch_; }

 private:
  friend class ProtoReader;

  std::vector<Column> columns_;
  std::vector<Scope> scopes_;
  std::vector<std::int64_t> run_;  // of packed numbers
  ProtoMismatch mismatch_;
};

// Tells whether the values of a slot are written to an array with a place for every row.
[[nodiscard]] inline bool is_direct(const ProtoPlan& plan, std::size_t slot) noexcept {
  return !plan.slots()[slot].repeated && plan.scope_of_slot(slot) == 0;
}

// Parses records [first, last) and stops at the first that is faulty, which it returns. Values of
// row i of a direct slot are written to direct[slot] + i * width, all others are appended to
// `chunk`; after a failure what it holds is of no use. Precondition: direct[slot] has room for all
// rows where the slot is direct; `chunk` is new.
[[nodiscard]] ProtoFailure parse_proto(const ProtoPlan& plan, std::span<const Bytes> records,
                                       std::size_t first, std::size_t last,
                                       std::span<std::byte* const> direct,
                                       ProtoChunk& chunk) noexcept;

// Returns reference `index` of values that are bytes.
[[nodiscard]] inline Bytes load_reference(const std::byte* references, std::size_t index) noexcept {
  Bytes reference;
  std::memcpy(&reference, references + index * sizeof(Bytes), sizeof(Bytes));
  return reference;
}

// Returns the sum of the sizes of `count` references.
[[nodiscard]] std::size_t sum_references(const std::byte* references, std::size_t count) noexcept;

// Writes the contents of references one after the other, the first at `start` of `data`, and the
// end of each as an offset. Precondition: `data` has room for them; `ends` has an entry for each.
void fill_references(const std::byte* references, std::size_t start, std::span<std::byte> data,
                     std::span<std::int64_t> ends) noexcept;

}  // namespace tfrkit
