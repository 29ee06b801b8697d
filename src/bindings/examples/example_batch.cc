#include "bindings/examples/example_batch.h"

#include <algorithm>
#include <new>
#include <utility>

#include "bindings/parallel.h"

namespace tfrkit {
namespace {

// A chunk is long against waking a thread up, and short enough that both cores end together.
constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxChunks = 1024;

constexpr std::size_t kLineBytes = 64;
constexpr auto kPresent = static_cast<std::uint8_t>(FeatureState::kPresent);

std::size_t checked_product(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw std::bad_alloc();
  return product;
}

// Gives out places in one block of memory, each at the start of a cache line.
class Layout {
 public:
  std::size_t add(std::size_t count, std::size_t entry_bytes) {
    const std::size_t bytes = checked_product(count, entry_bytes);
    const std::size_t start = (size_ + kLineBytes - 1) / kLineBytes * kLineBytes;
    if (bytes > SIZE_MAX / 2 - start) throw std::bad_alloc();
    size_ = start + bytes;
    return start;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::size_t size_ = 0;
};

std::size_t count_of(const ExampleSlot& slot) noexcept {
  return static_cast<std::size_t>(slot.count);
}

}  // namespace

ScratchCache::~ScratchCache() {
  for (const auto& kept : kept_) delete kept.load(std::memory_order_acquire);
}

std::unique_ptr<ExampleScratch> ScratchCache::take() {
  for (auto& kept : kept_) {
    ExampleScratch* const scratch = kept.exchange(nullptr, std::memory_order_acq_rel);
    if (scratch != nullptr) return std::unique_ptr<ExampleScratch>(scratch);
  }
  return std::make_unique<ExampleScratch>(plan_);
}

void ScratchCache::give(std::unique_ptr<ExampleScratch> scratch) noexcept {
  if (scratch == nullptr) return;
  scratch->forget_copies();
  ExampleScratch* const free = scratch.release();
  for (auto& kept : kept_) {
    ExampleScratch* expected = nullptr;
    if (kept.compare_exchange_strong(expected, free, std::memory_order_acq_rel)) return;
  }
  delete free;
}

ExampleBatchRun::ExampleBatchRun(const ExamplePlan& plan, ScratchCache& cache,
                                 std::span<const Bytes> records, bool states)
    : plan_(plan), cache_(cache), records_(records), rows_(records.size()) {
  std::size_t bytes = 0;
  for (const Bytes record : records) bytes += record.size();
  chunks_ = std::clamp<std::size_t>(bytes / kChunkBytes, 1, kMaxChunks);
  chunks_ = std::max<std::size_t>(std::min(chunks_, rows_), 1);
  scratches_.resize(chunks_);
  lay_out(states);
}

ExampleBatchRun::~ExampleBatchRun() {
  for (auto& scratch : scratches_) cache_.give(std::move(scratch));
}

void ExampleBatchRun::lay_out(bool states) {
  const auto slots = plan_.slots();
  starts_.resize(slots.size());
  columns_.resize(slots.size());
  lists_.resize(slots.size());
  Layout direct;
  Layout refs;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot].is_direct()) {
      const std::size_t entry =
          slots[slot].kind == Kind::kFloat ? sizeof(float) : sizeof(std::int64_t);
      starts_[slot] = direct.add(checked_product(rows_, count_of(slots[slot])), entry);
    } else {
      starts_[slot] = refs.add(rows_, sizeof(ListRef));
    }
  }
  direct_ = std::make_unique<Buffer>(direct.size());
  refs_ = std::make_unique<Buffer>(refs.size());
  if (states) states_ = std::make_unique<Buffer>(checked_product(rows_, slots.size()));
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    ExampleColumn& column = columns_[slot];
    if (!slots[slot].is_direct()) {
      lists_[slot].refs = numbers_in<ListRef>(*refs_, rows_, starts_[slot]);
      column.lists = lists_[slot].refs.data();
    } else if (slots[slot].kind == Kind::kFloat) {
      column.floats = numbers_in<float>(*direct_, 0, starts_[slot]).data();
    } else {
      column.int64s = numbers_in<std::int64_t>(*direct_, 0, starts_[slot]).data();
    }
    if (states) column.states = numbers_in<std::uint8_t>(*states_, 0, slot * rows_).data();
  }
}

// Most features are there: writing only the states of the others takes a third off the time of 41
// columns (benchmarks/scan.py).
void ExampleBatchRun::fill_states(std::size_t chunk) noexcept {
  if (states_ == nullptr) return;
  const std::size_t first = chunk_begin(chunk);
  for (const ExampleColumn& column : columns_) {
    std::fill(column.states + first, column.states + chunk_begin(chunk + 1), kPresent);
  }
}

ExampleFailure ExampleBatchRun::parse_chunks(Dialect dialect, int threads) {
  std::vector<ExampleFailure> failures(chunks_);
  std::atomic<std::size_t> failed{chunks_};  // the first chunk with a fault, so far
  parallel_for(chunks_, threads, [&](std::size_t chunk) noexcept {
    if (chunk > failed.load(std::memory_order_relaxed)) return;
    ExampleFailure& failure = failures[chunk];
    fill_states(chunk);
    try {
      scratches_[chunk] = cache_.take();
      failure = parse_examples(plan_, dialect, records_, chunk_begin(chunk), chunk_begin(chunk + 1),
                               columns_, *scratches_[chunk]);
    } catch (const std::bad_alloc&) {
      failure.code = ParseCode::kNoMemory;
    }
    if (failure.code != ParseCode::kOk) {
      std::size_t before = failed.load(std::memory_order_relaxed);
      while (chunk < before && !failed.compare_exchange_weak(before, chunk)) {
      }
    }
    for (ListColumn& list : lists_) {
      if (list.chunk_starts.empty()) continue;
      const std::size_t first = chunk_begin(chunk);
      list.chunk_starts[chunk] =
          sum_lists(list.refs.subspan(first, chunk_begin(chunk + 1) - first));
    }
  });
  const std::size_t first = failed.load();
  return first == chunks_ ? ExampleFailure{} : failures[first];
}

// Turns the totals of the chunks into their starts, and makes room for everything.
void ExampleBatchRun::allocate_lists() {
  const auto slots = plan_.slots();
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    ListColumn& list = lists_[slot];
    if (list.chunk_starts.empty()) continue;
    ListTotals sum;
    for (ListTotals& start : list.chunk_starts) {
      const ListTotals totals = std::exchange(start, sum);
      sum.values += totals.values;
      sum.bytes += totals.bytes;
    }
    list.chunk_starts.push_back(sum);
    if (slots[slot].kind == Kind::kBytes) {
      list.values = std::make_unique<Buffer>(sum.bytes);
      list.offsets =
          std::make_unique<Buffer>(checked_product(sum.values + 1, sizeof(std::int64_t)));
      numbers_in<std::int64_t>(*list.offsets, 1)[0] = 0;
    } else if (slots[slot].kind == Kind::kFloat) {
      list.values = std::make_unique<Buffer>(checked_product(sum.values, sizeof(float)));
    } else {
      list.values = std::make_unique<Buffer>(checked_product(sum.values, sizeof(std::int64_t)));
    }
    if (!slots[slot].is_fixed()) {
      list.splits = std::make_unique<Buffer>((rows_ + 1) * sizeof(std::int64_t));
      numbers_in<std::int64_t>(*list.splits, 1)[0] = 0;
    }
  }
}

void ExampleBatchRun::fill_chunk(std::size_t chunk) noexcept {
  const auto slots = plan_.slots();
  const std::size_t first = chunk_begin(chunk);
  const std::size_t count = chunk_begin(chunk + 1) - first;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    ListColumn& list = lists_[slot];
    if (list.chunk_starts.empty()) continue;
    const std::span<const ListRef> refs = list.refs.subspan(first, count);
    const ListTotals& start = list.chunk_starts[chunk];
    const std::size_t values = list.chunk_starts[chunk + 1].values - start.values;
    const Buffer& out = *list.values;
    if (slots[slot].kind == Kind::kBytes) {
      fill_bytes(refs, records_.subspan(first, count), start.bytes, out.bytes(),
                 numbers_in<std::int64_t>(*list.offsets, values,
                                          (start.values + 1) * sizeof(std::int64_t)));
    } else if (slots[slot].kind == Kind::kFloat) {
      fill_float(refs, numbers_in<float>(out, values, start.values * sizeof(float)));
    } else {
      fill_int64(refs, numbers_in<std::int64_t>(out, values, start.values * sizeof(std::int64_t)));
    }
    if (list.splits != nullptr) {
      fill_splits(
          refs, static_cast<std::int64_t>(start.values),
          numbers_in<std::int64_t>(*list.splits, count, (first + 1) * sizeof(std::int64_t)));
    }
  }
}

ExampleFailure ExampleBatchRun::run(Dialect dialect, int threads) {
  const auto slots = plan_.slots();
  bool has_lists = false;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot].is_direct()) continue;
    lists_[slot].chunk_starts.resize(chunks_);
    has_lists = true;
  }
  ExampleFailure failure = parse_chunks(dialect, threads);
  if (failure.code == ParseCode::kNoMemory) throw std::bad_alloc();
  if (failure.code == ParseCode::kWrongStride && dialect == Dialect::kTensorflowBatch) {
    const auto& refs = lists_[static_cast<std::size_t>(failure.slot)].refs;
    failure.count = stride_count(records_, refs, failure.row, failure.count);
  }
  if (failure.code == ParseCode::kOk && has_lists) {
    allocate_lists();
    parallel_for(chunks_, threads, [this](std::size_t chunk) noexcept { fill_chunk(chunk); });
  }
  return failure;
}

nb::list ExampleBatchRun::columns(const ArrayMaker& arrays) {
  const auto slots = plan_.slots();
  const nb::object direct = nb::cast(std::move(*direct_));
  nb::list columns;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    ListColumn& list = lists_[slot];
    const ArrayType type = slots[slot].kind == Kind::kBytes   ? ArrayType::kUint8
                           : slots[slot].kind == Kind::kFloat ? ArrayType::kFloat32
                                                              : ArrayType::kInt64;
    if (slots[slot].is_direct()) {
      columns.append(arrays.view(direct, type, rows_ * count_of(slots[slot]), starts_[slot]));
      continue;
    }
    const ListTotals& totals = list.chunk_starts.back();
    const bool is_bytes = type == ArrayType::kUint8;
    nb::object values =
        arrays.own(std::move(*list.values), type, is_bytes ? totals.bytes : totals.values);
    nb::object offsets;
    nb::object splits;
    if (is_bytes) {
      offsets = arrays.own(std::move(*list.offsets), ArrayType::kInt64, totals.values + 1);
    }
    if (list.splits != nullptr) {
      splits = arrays.own(std::move(*list.splits), ArrayType::kInt64, rows_ + 1);
    }
    if (!is_bytes) {
      columns.append(nb::make_tuple(values, splits));
    } else if (slots[slot].is_fixed()) {
      columns.append(nb::make_tuple(values, offsets));
    } else {
      columns.append(nb::make_tuple(values, offsets, splits));
    }
  }
  return columns;
}

nb::object ExampleBatchRun::states(const ArrayMaker& arrays) {
  if (states_ == nullptr) return nb::none();
  const nb::object memory = nb::cast(std::move(*states_));
  nb::list states;
  for (std::size_t slot = 0; slot < columns_.size(); ++slot) {
    const std::span<const std::uint8_t> column(columns_[slot].states, rows_);
    if (std::ranges::all_of(column, [](std::uint8_t state) { return state == kPresent; })) {
      states.append(nb::none());
    } else {
      states.append(arrays.view(memory, ArrayType::kUint8, rows_, slot * rows_));
    }
  }
  return states;
}

}  // namespace tfrkit
