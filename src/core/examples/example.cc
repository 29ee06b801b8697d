#include "core/examples/example.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "core/bytes/fetch_ahead.h"
#include "core/examples/example_parts.h"

namespace tfrkit {

static_assert(std::endian::native == std::endian::little, "packed floats are copied as they are");

namespace {

constexpr std::size_t kArenaBlockBytes = 65536;

}  // namespace

void CopyArena::begin(std::size_t size) {
  if (static_cast<std::size_t>(block_end_ - top_) >= size) return;
  const std::size_t block = std::max(size, kArenaBlockBytes);
  blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(block));
  top_ = blocks_.back().get();
  block_end_ = top_ + block;
}

void CopyArena::clear() noexcept {
  blocks_.clear();
  top_ = nullptr;
  block_end_ = nullptr;
}

ExampleScratch::ExampleScratch(const ExamplePlan& plan) : parts_(std::make_unique<Parts>()) {
  parts_->order.next_step.resize(plan.slots().size());
  parts_->seen.resize(plan.slots().size());
  parts_->entries.resize(plan.slots().size());
}

ExampleScratch::~ExampleScratch() = default;

void ExampleScratch::forget_copies() noexcept { parts_->arena.clear(); }

void place_missing(const ExampleBatch& batch, std::size_t slot, std::size_t row) noexcept {
  const ExampleSlot& wanted = batch.plan.slots()[slot];
  const ExampleColumn& column = batch.columns[slot];
  const std::vector<std::byte>& list = wanted.default_list;
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(wanted.count, 0));
  if (!wanted.is_fixed()) {
    column.lists[row] = {};
  } else if (wanted.kind == Kind::kBytes) {
    column.lists[row] = {list.data(), wanted.default_bytes, static_cast<std::uint32_t>(count)};
  } else if (count == 0) {
    return;
  } else if (wanted.kind == Kind::kFloat) {
    std::memcpy(column.floats + row * count, list.data(), list.size());
  } else {
    std::memcpy(column.int64s + row * count, list.data(), list.size());
  }
}

ExampleFailure parse_examples(const ExamplePlan& plan, Dialect dialect,
                              std::span<const Bytes> records, std::size_t first, std::size_t last,
                              std::span<const ExampleColumn> columns, ExampleScratch& scratch,
                              Path path) noexcept {
  const ExampleBatch batch{plan, columns, scratch.parts()};
  try {
    for (std::size_t row = first; row < last; ++row) {
      fetch_ahead(records, row, last);
      if (path == Path::kFastThenExact && parse_fast(batch, records[row], row)) [[likely]]
        continue;
      ExampleFailure failure = parse_exact(batch, dialect, records[row], row);
      if (failure.code != ParseCode::kOk) {
        failure.row = row;
        return failure;
      }
    }
  } catch (const std::bad_alloc&) {
    return {.code = ParseCode::kNoMemory};
  }
  return {};
}

std::uint64_t stride_count(std::span<const Bytes> records, std::span<const ListRef> lists,
                           std::size_t row, std::uint64_t count) noexcept {
  // It splits a batch into 8 to 64 parts of about 50 kB, each with a buffer of its own.
  constexpr std::size_t kPartBytes = 50000;
  std::size_t parts = 0;
  std::size_t bytes = 0;
  for (const Bytes record : records) {
    if (bytes == 0) ++parts;
    bytes += record.size() + 1;
    if (bytes > kPartBytes) bytes = 0;
  }
  parts = std::max(std::min<std::size_t>(8, records.size()), std::min<std::size_t>(64, parts));
  std::size_t part = 0;
  while (records.size() * (part + 1) / parts <= row) ++part;
  for (std::size_t i = records.size() * part / parts; i < row; ++i) count += lists[i].count;
  return count;
}

ListTotals sum_lists(std::span<const ListRef> lists) noexcept {
  ListTotals totals;
  for (const ListRef& list : lists) {
    totals.values += list.count;
    totals.bytes += list.size;
  }
  return totals;
}

void fill_int64(std::span<const ListRef> lists, std::span<std::int64_t> out) noexcept {
  for (const ListRef& list : lists) {
    decode_varints(Bytes(list.data, list.size), out.first(list.count));
    out = out.subspan(list.count);
  }
}

void fill_float(std::span<const ListRef> lists, std::span<float> out) noexcept {
  for (const ListRef& list : lists) {
    if (list.count != 0) std::memcpy(out.data(), list.data, list.size);
    out = out.subspan(list.count);
  }
}

void fill_bytes(std::span<const ListRef> lists, std::span<const Bytes> records, std::size_t start,
                std::span<std::byte> data, std::span<std::int64_t> ends) noexcept {
  std::byte* out = data.data() + start;
  std::int64_t* end = ends.data();
  for (std::size_t row = 0; row < lists.size(); ++row) {
    const ListRef& list = lists[row];
    if (list.count == 0) continue;
    std::byte* const stop = out + list.size;
    BytesValues values(list, records[row]);
    for (std::uint32_t i = 0; i < list.count; ++i) {
      const Bytes value = values.next();
      if (!value.empty()) std::memcpy(out, value.data(), value.size());
      out += value.size();
      *end++ = out - data.data();
    }
    if (out != stop) [[unlikely]] {
      std::fill(out, stop, std::byte{0});
      out = stop;
      end[-1] = out - data.data();
    }
  }
}

void fill_splits(std::span<const ListRef> lists, std::int64_t start,
                 std::span<std::int64_t> ends) noexcept {
  for (std::size_t i = 0; i < lists.size(); ++i) {
    start += lists[i].count;
    ends[i] = start;
  }
}

}  // namespace tfrkit
