#include "core/shuffle/record_cells.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

namespace tfrkit {
namespace {

// Steps of 16 bytes up to kSmall, of 64 up to kMiddle, then eight for each doubling up to kLarge.
constexpr std::size_t kSmall = 512;
constexpr std::size_t kMiddle = 4096;
constexpr std::size_t kLarge = std::size_t{1} << 17;
constexpr std::size_t kSmallClasses = kSmall / 16;
constexpr std::size_t kMiddleClasses = kSmallClasses + (kMiddle - kSmall) / 64;
constexpr std::size_t kMiddleBits = 12;  // kMiddle is that power of two

// Records move together when slabs have more than 10/7 of what is used, and this.
constexpr std::size_t kMovesAt = 10;
constexpr std::size_t kMovesOf = 7;
constexpr std::size_t kSlackBytes = std::size_t{1} << 21;
// The caller's memory may have 3/8 more than its records, and this: about half of all records are
// then copied in.
constexpr std::size_t kSpareParts = 3;
constexpr std::size_t kSpareOf = 8;
constexpr std::size_t kRunSlackBytes = std::size_t{1} << 20;
// Cells and the first bytes of records that will be read soon. Chosen by measurement
// (benchmarks/pipelines_shuffle.py).
constexpr std::size_t kAhead = 6;
constexpr std::size_t kAheadBytes = 1024;
constexpr std::size_t kLine = 64;

}  // namespace

RecordCells::~RecordCells() {
  for (const Cell& cell : cells_) {
    if (cell.size_bytes > kLarge) std::free(cell.own);
  }
}

std::size_t RecordCells::class_of(std::size_t size_bytes) noexcept {
  if (size_bytes <= kSmall) return (size_bytes + 15) / 16;
  if (size_bytes <= kMiddle) return kSmallClasses + (size_bytes - kSmall + 63) / 64;
  if (size_bytes > kLarge) return 0;
  const auto bits = static_cast<std::size_t>(std::bit_width(size_bytes - 1)) - 1;
  const std::size_t step = std::size_t{1} << (bits - 3);
  const std::size_t steps = (size_bytes - (std::size_t{1} << bits) + step - 1) / step;
  return kMiddleClasses + (bits - kMiddleBits) * 8 + steps;
}

std::size_t RecordCells::room_of(std::size_t kind) noexcept {
  if (kind <= kSmallClasses) return kind * 16;
  if (kind <= kMiddleClasses) return kSmall + (kind - kSmallClasses) * 64;
  const std::size_t bits = kMiddleBits + (kind - kMiddleClasses - 1) / 8;
  const std::size_t steps = (kind - kMiddleClasses - 1) % 8 + 1;
  return (std::size_t{1} << bits) + steps * (std::size_t{1} << (bits - 3));
}

// Returns the next bytes of the last slab, or of a new one.
std::byte* RecordCells::carve(std::size_t room) {
  if (left_ < room) {
    slabs_.push_back(std::make_unique_for_overwrite<std::byte[]>(kSlabBytes));
    left_ = kSlabBytes;
  }
  std::byte* const data = slabs_.back().get() + (kSlabBytes - left_);
  left_ -= room;
  return data;
}

std::byte* RecordCells::get(std::size_t size_bytes) {
  if (size_bytes == 0) return nullptr;
  const std::size_t kind = class_of(size_bytes);
  if (kind == 0) {
    auto* const data = static_cast<std::byte*>(std::malloc(size_bytes));
    if (data == nullptr) throw std::bad_alloc();
    large_bytes_ += size_bytes;
    return data;
  }
  const std::size_t room = room_of(kind);
  std::byte* data = nullptr;
  if (idle_[kind].empty()) {
    data = carve(room);
  } else {
    data = idle_[kind].back();
    idle_[kind].pop_back();
  }
  used_bytes_ += room;
  return data;
}

void RecordCells::give_back(std::byte* data, std::size_t size_bytes) noexcept {
  if (size_bytes == 0) return;
  const std::size_t kind = class_of(size_bytes);
  if (kind == 0) {
    large_bytes_ -= size_bytes;
    std::free(data);
    return;
  }
  used_bytes_ -= room_of(kind);
  try {
    idle_[kind].push_back(data);
  } catch (const std::bad_alloc&) {  // then it lies idle until the records move
    static_cast<void>(kind);
  }
}

// Moves all records into new slabs if the old ones have too much that is not used. Without memory
// for that some or all stay where they are.
void RecordCells::trim() noexcept {
  if (slab_bytes() <= used_bytes_ / kMovesOf * kMovesAt + kSlackBytes) return;
  std::vector<Slab> old;
  try {
    old.reserve(2 * slabs_.size() + 1);  // for the new ones, and in need for the old ones as well
    std::swap(old, slabs_);
    left_ = 0;
    for (auto& places : idle_) places.clear();
    for (Cell& cell : cells_) {
      if (cell.own == nullptr || cell.size_bytes > kLarge) continue;
      std::byte* const data = carve(room_of(class_of(cell.size_bytes)));
      std::memcpy(data, cell.data, cell.size_bytes);
      cell.data = cell.own = data;
    }
  } catch (const std::bad_alloc&) {
    left_ = 0;
    std::ranges::move(old, std::back_inserter(slabs_));
  }
}

// Makes room for more cells.
void RecordCells::reserve(std::size_t count) {
  if (empty_.size() >= count) return;
  const std::size_t more = count - empty_.size();
  cells_.reserve(std::max(cells_.size() + more, std::min(2 * cells_.size(), cells_.capacity())));
  empty_.reserve(cells_.capacity());
  for (std::size_t i = 0; i < more; ++i) {
    empty_.push_back(static_cast<std::int64_t>(cells_.size()));
    cells_.push_back({});
  }
}

// Copies the record of a cell into memory of its own.
void RecordCells::copy_in(Cell& cell) {
  std::byte* const data = get(cell.size_bytes);
  if (data == nullptr) return;
  std::memcpy(data, cell.data, cell.size_bytes);
  cell.data = cell.own = data;
  copied_bytes_ += cell.size_bytes;
}

// Empties a cell.
void RecordCells::clear(std::int64_t number) noexcept {
  Cell& cell = cells_[static_cast<std::size_t>(number)];
  if (cell.own != nullptr) {
    give_back(cell.own, cell.size_bytes);
  } else if (cell.size_bytes != 0) {
    runs_[cell.run - first_run_].live_bytes -= cell.size_bytes;
    run_live_bytes_ -= cell.size_bytes;
  }
  cell = {};
  empty_.push_back(number);  // there is room for all cells
}

void RecordCells::add(std::span<const Bytes> records,
                      const RecordPlaces<const std::int64_t>& places,
                      std::span<const std::int64_t> elements, bool stay,
                      std::span<std::int64_t> cells) {
  reserve(records.size());
  Run run{};
  if (stay) run.cells.reserve(records.size());
  std::size_t done = 0;
  try {
    for (; done < records.size(); ++done) {
      Cell cell{records[done].data(), nullptr,
                records[done].size(), places.numbers[done],
                places.frames[done],  places.files[done],
                elements[done],       first_run_ + runs_.size()};
      if (!stay) copy_in(cell);
      cells[done] = empty_.back();
      cells_[static_cast<std::size_t>(cells[done])] = cell;
      empty_.pop_back();
      run.size_bytes += cell.size_bytes;
      if (stay) run.cells.push_back(cells[done]);
    }
    run.live_bytes = run.size_bytes;
    if (stay) runs_.push_back(std::move(run));
  } catch (const std::bad_alloc&) {
    while (done-- > 0) {
      if (stay) cells_[static_cast<std::size_t>(cells[done])].size_bytes = 0;  // of no run yet
      clear(cells[done]);
    }
    throw;
  }
  if (!stay) return;
  run_bytes_ += runs_.back().size_bytes;
  run_live_bytes_ += runs_.back().size_bytes;
  leave_runs();
}

// Copies the survivors of the oldest runs if too much of the caller's memory is of records that are
// gone. Without memory for that it stays as it is.
void RecordCells::leave_runs() noexcept {
  while (!runs_.empty()) {
    const Run& run = runs_.front();
    const std::size_t spare = run_live_bytes_ / kSpareOf * kSpareParts + kRunSlackBytes;
    if (run.live_bytes != 0 && run_bytes_ <= run_live_bytes_ + spare) return;
    try {
      for (const std::int64_t number : run.cells) {
        Cell& cell = cells_[static_cast<std::size_t>(number)];
        if (cell.own == nullptr && cell.size_bytes != 0 && cell.run == first_run_) {
          copy_in(cell);
          runs_.front().live_bytes -= cell.size_bytes;
          run_live_bytes_ -= cell.size_bytes;
        }
      }
    } catch (const std::bad_alloc&) {
      return;
    }
    run_bytes_ -= run.size_bytes;
    runs_.pop_front();
    ++first_run_;
  }
}

std::size_t RecordCells::measure(std::span<const std::int64_t> cells) const noexcept {
  std::size_t total = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i + kAhead < cells.size()) {
      __builtin_prefetch(&cells_[static_cast<std::size_t>(cells[i + kAhead])]);
    }
    total += cells_[static_cast<std::size_t>(cells[i])].size_bytes;
  }
  return total;
}

void RecordCells::fetch_ahead(std::span<const std::int64_t> cells, std::size_t i) const noexcept {
  if (i + kAhead >= cells.size()) return;
  const Cell& cell = cells_[static_cast<std::size_t>(cells[i + kAhead])];
  const std::size_t size = std::min(cell.size_bytes, kAheadBytes);
  for (std::size_t at = 0; at < size; at += kLine) __builtin_prefetch(cell.data + at);
}

void RecordCells::take(std::span<const std::int64_t> cells, std::span<std::byte> data,
                       std::span<std::int64_t> offsets, std::span<std::int64_t> lengths,
                       const RecordPlaces<std::int64_t>& places) noexcept {
  std::size_t at = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    fetch_ahead(cells, i);
    const Cell& cell = cells_[static_cast<std::size_t>(cells[i])];
    if (cell.size_bytes != 0) std::memcpy(&data[at], cell.data, cell.size_bytes);
    offsets[i] = static_cast<std::int64_t>(at);
    lengths[i] = static_cast<std::int64_t>(cell.size_bytes);
    places.files[i] = cell.file;
    places.numbers[i] = cell.number;
    places.frames[i] = cell.frame;
    at += cell.size_bytes;
    clear(cells[i]);
  }
  copied_bytes_ += at;
  leave_runs();
  trim();
}

void RecordCells::locate(std::span<const std::int64_t> cells,
                         const RecordPlaces<std::int64_t>& places,
                         std::span<std::int64_t> elements) const noexcept {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells_[static_cast<std::size_t>(cells[i])];
    places.files[i] = cell.file;
    places.numbers[i] = cell.number;
    places.frames[i] = cell.frame;
    elements[i] = cell.element;
  }
}

}  // namespace tfrkit
