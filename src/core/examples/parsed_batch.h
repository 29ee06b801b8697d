// A whole batch in vectors, for tests and fuzzers of the Example kernel.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/examples/example.h"

namespace tfrkit {

// What parse_examples and the fill_ functions returned, by slot; empty where the kind has none.
struct ParsedBatch {
  ExampleFailure failure;
  std::vector<std::vector<std::int64_t>> int64s;
  std::vector<std::vector<float>> floats;
  std::vector<std::string> data;
  std::vector<std::vector<std::int64_t>> offsets;
  std::vector<std::vector<std::int64_t>> splits;
  std::vector<std::vector<std::uint8_t>> states;

  // Numbers are compared by their bits; of failed batches only the failure counts.
  friend bool operator==(const ParsedBatch& a, const ParsedBatch& b) {
    const auto as_bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
    if (a.failure.code != b.failure.code || a.failure.row != b.failure.row ||
        a.failure.slot != b.failure.slot || a.failure.kind != b.failure.kind ||
        a.failure.count != b.failure.count) {
      return false;
    }
    if (a.failure.code != ParseCode::kOk) return true;
    for (std::size_t slot = 0; slot < a.floats.size(); ++slot) {
      if (!std::ranges::equal(a.floats[slot], b.floats[slot], {}, as_bits, as_bits)) return false;
    }
    return a.int64s == b.int64s && a.data == b.data && a.offsets == b.offsets &&
           a.splits == b.splits && a.states == b.states;
  }
};

// Parses and fills.
inline ParsedBatch parse_batch(const ExamplePlan& plan, Dialect dialect,
                               std::span<const Bytes> records, Path path) {
  const auto slots = plan.slots();
  const std::size_t rows = records.size();
  ParsedBatch batch;
  batch.int64s.resize(slots.size());
  batch.floats.resize(slots.size());
  batch.data.resize(slots.size());
  batch.offsets.resize(slots.size());
  batch.splits.resize(slots.size());
  batch.states.assign(slots.size(), std::vector<std::uint8_t>(
                                        rows, static_cast<std::uint8_t>(FeatureState::kPresent)));
  std::vector<std::vector<ListRef>> lists(slots.size(), std::vector<ListRef>(rows));
  std::vector<ExampleColumn> columns(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(slots[i].count, 0));
    if (slots[i].is_direct() && slots[i].kind == Kind::kFloat) batch.floats[i].resize(rows * count);
    if (slots[i].is_direct() && slots[i].kind == Kind::kInt64) batch.int64s[i].resize(rows * count);
    columns[i] = {batch.int64s[i].data(), batch.floats[i].data(), lists[i].data(),
                  batch.states[i].data()};
  }
  ExampleScratch scratch(plan);
  batch.failure = parse_examples(plan, dialect, records, 0, rows, columns, scratch, path);
  if (batch.failure.code != ParseCode::kOk) return batch;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].is_direct()) continue;
    const ListTotals totals = sum_lists(lists[i]);
    if (slots[i].kind == Kind::kBytes) {
      std::vector<std::byte> data(totals.bytes);
      batch.offsets[i].resize(totals.values);
      fill_bytes(lists[i], records, 0, data, batch.offsets[i]);
      for (const std::byte byte : data) batch.data[i].push_back(static_cast<char>(byte));
    } else if (slots[i].kind == Kind::kFloat) {
      batch.floats[i].resize(totals.values);
      fill_float(lists[i], batch.floats[i]);
    } else {
      batch.int64s[i].resize(totals.values);
      fill_int64(lists[i], batch.int64s[i]);
    }
    batch.splits[i].resize(rows + 1);
    fill_splits(lists[i], 0, std::span(batch.splits[i]).subspan(1));
  }
  return batch;
}

}  // namespace tfrkit
