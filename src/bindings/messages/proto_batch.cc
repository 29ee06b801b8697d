#include "bindings/messages/proto_batch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include "bindings/parallel.h"

namespace tfrkit {
namespace {

// A chunk is long against waking a thread up, and short enough that both cores end together.
constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxChunks = 1024;

std::unique_ptr<Buffer> make_buffer(std::size_t count, std::size_t entry_bytes) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, entry_bytes, &bytes)) throw std::bad_alloc();
  return std::make_unique<Buffer>(bytes);
}

std::unique_ptr<Buffer> make_splits(std::size_t entries) {
  auto splits = make_buffer(entries + 1, sizeof(std::int64_t));
  numbers_in<std::int64_t>(*splits, 1)[0] = 0;
  return splits;
}

// Turns counts into their running sum, the total at the end.
void add_up(std::vector<std::size_t>& counts) {
  std::size_t sum = 0;
  for (std::size_t& count : counts) sum += std::exchange(count, sum);
  counts.push_back(sum);
}

}  // namespace

ProtoBatchRun::ProtoBatchRun(const ProtoPlan& plan, std::span<const Bytes> records)
    : plan_(plan),
      records_(records),
      direct_(plan.slots().size()),
      slots_(plan.slots().size()),
      scopes_(plan.scopes().size()) {
  std::size_t bytes = 0;
  for (const Bytes record : records) bytes += record.size();
  const std::size_t most = std::clamp<std::size_t>(records.size(), 1, kMaxChunks);
  chunks_.resize(std::clamp<std::size_t>(bytes / kChunkBytes, 1, most));
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    SlotRun& run = slots_[slot];
    run.values.resize(chunks_.size());
    run.contents.resize(chunks_.size());
    if (!is_direct(plan, slot)) continue;
    run.direct = make_buffer(records.size(), width_of(plan.slots()[slot].kind));
    direct_[slot] = run.direct->bytes().data();
  }
  for (ScopeRun& scope : scopes_) scope.entries.resize(chunks_.size());
}

ProtoFailure ProtoBatchRun::parse_chunks(int threads) {
  std::vector<ProtoFailure> failures(chunks_.size());
  std::atomic<std::size_t> failed{chunks_.size()};  // the first chunk with a fault, so far
  parallel_for(chunks_.size(), threads, [&](std::size_t chunk) noexcept {
    if (chunk > failed.load(std::memory_order_relaxed)) return;
    ProtoFailure& failure = failures[chunk];
    try {
      chunks_[chunk] = std::make_unique<ProtoChunk>(plan_);
      failure = parse_proto(plan_, records_, chunk_begin(chunk), chunk_begin(chunk + 1), direct_,
                            *chunks_[chunk]);
    } catch (const std::bad_alloc&) {
      failure.code = ProtoCode::kNoMemory;
    }
    if (failure.code != ProtoCode::kOk) {
      std::size_t before = failed.load(std::memory_order_relaxed);
      while (chunk < before && !failed.compare_exchange_weak(before, chunk)) {
      }
      return;
    }
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) count_slot(slot, chunk);
    for (std::size_t scope = 0; scope < scopes_.size(); ++scope) {
      scopes_[scope].entries[chunk] = scope == 0 ? chunk_begin(chunk + 1) - chunk_begin(chunk)
                                                 : chunks_[chunk]->scope(scope).count;
    }
  });
  const std::size_t first = failed.load();
  return first == chunks_.size() ? ProtoFailure{} : failures[first];
}

void ProtoBatchRun::count_slot(std::size_t slot, std::size_t chunk) noexcept {
  SlotRun& run = slots_[slot];
  const ProtoKind kind = plan_.slots()[slot].kind;
  run.values[chunk] = run.direct != nullptr
                          ? chunk_begin(chunk + 1) - chunk_begin(chunk)
                          : chunks_[chunk]->column(slot).values.size() / width_of(kind);
  if (is_bytes(kind)) {
    run.contents[chunk] = sum_references(values_of(slot, chunk), run.values[chunk]);
  }
}

// Turns the counts of the chunks into their starts, and makes room for everything.
void ProtoBatchRun::allocate() {
  for (ScopeRun& scope : scopes_) add_up(scope.entries);
  for (std::size_t scope = 1; scope < scopes_.size(); ++scope) {
    const auto parent = static_cast<std::size_t>(plan_.scopes()[scope].parent);
    scopes_[scope].splits = make_splits(scopes_[parent].entries.back());
  }
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    SlotRun& run = slots_[slot];
    const ProtoSlot& there = plan_.slots()[slot];
    add_up(run.values);
    if (is_bytes(there.kind)) {
      add_up(run.contents);
      run.data = make_buffer(run.contents.back(), 1);
      run.offsets = make_splits(run.values.back());
    } else if (run.direct == nullptr) {
      run.data = make_buffer(run.values.back(), width_of(there.kind));
    }
    if (!there.repeated) continue;
    run.splits = make_splits(scopes_[plan_.scope_of_slot(slot)].entries.back());
  }
}

const std::byte* ProtoBatchRun::values_of(std::size_t slot, std::size_t chunk) const noexcept {
  const std::size_t width = width_of(plan_.slots()[slot].kind);
  return slots_[slot].direct != nullptr ? direct_[slot] + chunk_begin(chunk) * width
                                        : chunks_[chunk]->column(slot).values.bytes().data();
}

void ProtoBatchRun::fill_splits(const Buffer& out, std::size_t first, std::size_t start,
                                std::span<const std::int64_t> ends) const noexcept {
  const auto target =
      numbers_in<std::int64_t>(out, ends.size(), (first + 1) * sizeof(std::int64_t));
  const auto base = static_cast<std::int64_t>(start);
  std::ranges::transform(ends, target.begin(), [base](std::int64_t end) { return base + end; });
}

void ProtoBatchRun::fill_slot(std::size_t slot, std::size_t chunk) noexcept {
  const SlotRun& run = slots_[slot];
  const ProtoKind kind = plan_.slots()[slot].kind;
  const std::size_t start = run.values[chunk];
  const std::size_t count = run.values[chunk + 1] - start;
  const std::byte* const values = values_of(slot, chunk);
  if (is_bytes(kind)) {
    fill_references(
        values, run.contents[chunk], run.data->bytes(),
        numbers_in<std::int64_t>(*run.offsets, count, (start + 1) * sizeof(std::int64_t)));
  } else if (run.direct == nullptr && count != 0) {
    const std::size_t width = width_of(kind);
    std::memcpy(run.data->bytes().data() + start * width, values, count * width);
  }
  if (run.splits == nullptr) return;
  const std::size_t first = scopes_[plan_.scope_of_slot(slot)].entries[chunk];
  const std::span<const std::int64_t> splits = chunks_[chunk]->column(slot).splits;
  fill_splits(*run.splits, first, start, splits.subspan(1));
}

void ProtoBatchRun::fill_chunk(std::size_t chunk) noexcept {
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) fill_slot(slot, chunk);
  for (std::size_t scope = 1; scope < scopes_.size(); ++scope) {
    const auto parent = static_cast<std::size_t>(plan_.scopes()[scope].parent);
    const std::span<const std::int64_t> splits = chunks_[chunk]->scope(scope).splits;
    fill_splits(*scopes_[scope].splits, scopes_[parent].entries[chunk],
                scopes_[scope].entries[chunk], splits.subspan(1));
  }
}

ProtoFailure ProtoBatchRun::run(int threads) {
  const ProtoFailure failure = parse_chunks(threads);
  if (failure.code == ProtoCode::kNoMemory) throw std::bad_alloc();
  if (failure.code != ProtoCode::kOk) return failure;
  allocate();
  parallel_for(chunks_.size(), threads, [this](std::size_t chunk) noexcept { fill_chunk(chunk); });
  return failure;
}

nb::list ProtoBatchRun::columns(const ArrayMaker& arrays, std::span<const nb::object> types) {
  nb::list columns;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    SlotRun& run = slots_[slot];
    if (types[slot].is_none()) {
      columns.append(nb::none());
      continue;
    }
    const std::size_t count = run.values.back();
    nb::list parts;
    if (run.offsets != nullptr) {
      parts.append(arrays.own(std::move(*run.data), ArrayType::kUint8, run.contents.back()));
      parts.append(arrays.own(std::move(*run.offsets), ArrayType::kInt64, count + 1));
    } else {
      Buffer& numbers = run.direct != nullptr ? *run.direct : *run.data;
      parts.append(arrays.view(nb::cast(std::move(numbers)), types[slot],
                               nb::steal(PyLong_FromSize_t(count))));
    }
    if (run.splits != nullptr) {
      const std::size_t entries = scopes_[plan_.scope_of_slot(slot)].entries.back();
      parts.append(arrays.own(std::move(*run.splits), ArrayType::kInt64, entries + 1));
    }
    columns.append(nb::steal(PyList_AsTuple(parts.ptr())));
  }
  return columns;
}

nb::list ProtoBatchRun::scopes(const ArrayMaker& arrays) {
  nb::list scopes;
  for (std::size_t scope = 0; scope < scopes_.size(); ++scope) {
    if (scope == 0) {
      scopes.append(nb::none());
      continue;
    }
    const auto parent = static_cast<std::size_t>(plan_.scopes()[scope].parent);
    scopes.append(arrays.own(std::move(*scopes_[scope].splits), ArrayType::kInt64,
                             scopes_[parent].entries.back() + 1));
  }
  return scopes;
}

ProtoMismatch ProtoBatchRun::mismatch() const noexcept {
  ProtoMismatch all;
  for (const auto& chunk : chunks_) {
    const ProtoMismatch& one = chunk->mismatch();
    if (one.count == 0) continue;
    const std::uint64_t count = all.count + one.count;
    if (all.count == 0) all = one;
    all.count = count;
  }
  return all;
}

}  // namespace tfrkit
