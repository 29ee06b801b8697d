// One batch of messages on its way into columns: memory, chunks, and what Python gets.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bindings/arrays/arrays.h"
#include "bindings/arrays/buffer.h"
#include "core/bytes/bytes.h"
#include "core/messages/parse_proto.h"

namespace tfrkit {

// Make it with the GIL, run it without, and take the columns with the GIL again.
class ProtoBatchRun {
 public:
  // Throws std::bad_alloc.
  ProtoBatchRun(const ProtoPlan& plan, std::span<const Bytes> records);

  // Parses everything, on several threads if it is large. Throws std::bad_alloc.
  [[nodiscard]] ProtoFailure run(int threads);

  // Returns a tuple for every slot with a type, else None: values, or data and offsets, and the
  // splits of lists. Precondition, also of the next: `run` was called, and went well.
  [[nodiscard]] nb::list columns(const ArrayMaker& arrays, std::span<const nb::object> types);

  // Returns the row splits of the scopes, by their parent's entries; None for the records.
  [[nodiscard]] nb::list scopes(const ArrayMaker& arrays);

  [[nodiscard]] ProtoMismatch mismatch() const noexcept;

 private:
  // A running sum over the chunks, and the total at its end.
  using Starts = std::vector<std::size_t>;

  struct SlotRun {
    std::unique_ptr<Buffer> direct;  // numbers, or references to bytes, of all rows
    Starts values;
    Starts contents;  // bytes only
    std::unique_ptr<Buffer> data;
    std::unique_ptr<Buffer> offsets;
    std::unique_ptr<Buffer> splits;
  };
  struct ScopeRun {
    Starts entries;
    std::unique_ptr<Buffer> splits;
  };

  [[nodiscard]] ProtoFailure parse_chunks(int threads);
  void count_slot(std::size_t slot, std::size_t chunk) noexcept;
  void allocate();
  void fill_chunk(std::size_t chunk) noexcept;
  void fill_slot(std::size_t slot, std::size_t chunk) noexcept;
  void fill_splits(const Buffer& out, std::size_t first, std::size_t start,
                   std::span<const std::int64_t> ends) const noexcept;
  [[nodiscard]] const std::byte* values_of(std::size_t slot, std::size_t chunk) const noexcept;
  [[nodiscard]] std::size_t chunk_begin(std::size_t chunk) const noexcept {
    return records_.size() * chunk / chunks_.size();
  }

  const ProtoPlan& plan_;
  std::span<const Bytes> records_;
  std::vector<std::unique_ptr<ProtoChunk>> chunks_;
  std::vector<std::byte*> direct_;
  std::vector<SlotRun> slots_;
  std::vector<ScopeRun> scopes_;
};

}  // namespace tfrkit
