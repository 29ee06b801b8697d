// Measure and fill in one call, into vectors: how tests and fuzzers use the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sequences/sequence.h"

namespace tfrkit {

// One column.
struct ParsedColumn {
  std::vector<std::int64_t> ints;
  std::vector<float> floats;
  std::vector<std::byte> data;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> inner;
  std::vector<std::int64_t> rows;

  bool operator==(const ParsedColumn&) const = default;
};

struct ParsedSequences {
  bool good = false;
  std::vector<ParsedColumn> columns;  // of all slots, if good

  bool operator==(const ParsedSequences&) const = default;
};

// Makes a column of this extent, and says where its arrays are.
inline SlotArrays make_column(Kind kind, const SlotExtent& size, std::size_t rows,
                              ParsedColumn& column) {
  const auto values = static_cast<std::size_t>(size.values);
  column.ints.resize(kind == Kind::kInt64 ? values : 0);
  column.floats.resize(kind == Kind::kFloat ? values : 0);
  column.data.resize(static_cast<std::size_t>(size.bytes));
  column.offsets.resize(kind == Kind::kBytes ? values + 1 : 0);
  column.inner.resize(static_cast<std::size_t>(size.steps) + 1);
  column.rows.resize(rows + 1);
  return {column.ints.data(),    column.floats.data(), column.data.data(),
          column.offsets.data(), column.inner.data(),  column.rows.data()};
}

// Parses the records.
inline ParsedSequences parse_sequences(const SequencePlan& plan, Dialect dialect,
                                       std::span<const Bytes> records) {
  const std::size_t rows = records.size();
  std::vector<SlotNote> notes(plan.slots() * rows);
  SequenceMeasure measure(plan, dialect);
  for (std::size_t row = 0; row < rows; ++row) {
    if (!measure.measure(records[row], notes.data() + row, rows)) return {};
  }
  ParsedSequences parsed{true, std::vector<ParsedColumn>(plan.slots())};
  const std::size_t context = plan.context().size();
  for (std::size_t slot = 0; slot < plan.slots(); ++slot) {
    const std::span<const SlotNote> own = std::span(notes).subspan(slot * rows, rows);
    const SlotExtent& size = measure.extents()[slot];
    if (slot < context) {
      const ContextSlot& wanted = plan.context()[slot];
      const SlotArrays arrays = make_column(wanted.kind, size, rows, parsed.columns[slot]);
      fill_context(wanted, own, 0, {}, size, arrays);
    } else {
      const ListSlot& wanted = plan.lists()[slot - context];
      const SlotArrays arrays = make_column(wanted.kind, size, rows, parsed.columns[slot]);
      fill_list(wanted, own, 0, {}, size, arrays);
    }
  }
  return parsed;
}

}  // namespace tfrkit
