#include "core/shuffle/record_cells.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

namespace tfrkit {
namespace {

// Runs may have half as many bytes again as their records, and this. Records that are drawn at
// random are then copied 0.72 times.
constexpr std::size_t kSlackBytes = std::size_t{1} << 20;

// Copies have runs of this size, or of a part of all records: as large as the memory of most runs
// that are read, so that what is free of one kind serves the other.
constexpr std::size_t kCopiesBytes = std::size_t{5} << 19;
constexpr std::size_t kCopiesPart = 8;
// Cells that will be read soon, and records that will be copied. Chosen by measurement
// (benchmarks/pipelines_shuffle.py).
constexpr std::size_t kCellsAhead = 8;
constexpr std::size_t kRecordsAhead = 3;
constexpr std::size_t kAheadBytes = 1024;
constexpr std::size_t kLineBytes = 64;

void fetch_record(Bytes record) noexcept {
  const std::size_t size = std::min(record.size(), kAheadBytes);
  for (std::size_t at = 0; at < size; at += kLineBytes) __builtin_prefetch(record.data() + at);
}

std::size_t total_bytes(std::span<const Bytes> records) noexcept {
  std::size_t total = 0;
  for (const Bytes& record : records) total += record.size();
  return total;
}

}  // namespace

// Makes room for more cells.
void RecordCells::reserve(std::size_t count) {
  if (empty_.size() >= count) return;
  const std::size_t more = count - empty_.size();
  if (cells_.capacity() < cells_.size() + more) {
    cells_.reserve(std::max(cells_.size() + more, 2 * cells_.size()));
  }
  empty_.reserve(cells_.capacity());
  for (std::size_t i = 0; i < more; ++i) {
    empty_.push_back(static_cast<std::int64_t>(cells_.size()));
    cells_.push_back({});
  }
}

void RecordCells::add(std::span<const Bytes> records,
                      const RecordPlaces<const std::int64_t>& places,
                      std::span<const std::int64_t> elements, Memory memory,
                      std::span<std::int64_t> cells) {
  reserve(records.size());
  Runs added(1);
  Run& run = added.front();
  run.size_bytes = run.live_bytes = total_bytes(records);
  run.cells.reserve(records.size());
  std::byte* copies = nullptr;
  if (memory == nullptr && run.size_bytes != 0) {
    OwnMemory own = allocate_(run.size_bytes);
    copies = own.get();
    copied_bytes_ += run.size_bytes;
    memory = std::move(own);
  }
  run.memory = std::move(memory);
  for (std::size_t i = 0; i < records.size(); ++i) {
    Bytes record = records[i];
    if (copies != nullptr && !record.empty()) {
      std::memcpy(copies, record.data(), record.size());
      record = {copies, record.size()};
      copies += record.size();
    }
    cells[i] = empty_.back();
    empty_.pop_back();
    cell(cells[i]) = {record,          places.numbers[i], places.frames[i],
                      places.files[i], elements[i],       record.empty() ? nullptr : &run};
    run.cells.push_back(cells[i]);
  }
  run_bytes_ += run.size_bytes;
  live_bytes_ += run.size_bytes;
  runs_.splice(runs_.end(), added);
  leave_runs();
}

void RecordCells::drop_first() noexcept {
  if (copies_ == &runs_.front()) copies_ = nullptr;
  run_bytes_ -= runs_.front().size_bytes;
  gone_.splice(gone_.end(), runs_, runs_.begin());
}

// Copies the survivors of the oldest runs if too much memory is of records that are gone. Without
// memory for that they stay where they are.
void RecordCells::leave_runs() noexcept {
  while (!runs_.empty()) {
    const Run& first = runs_.front();
    if (first.live_bytes == 0) {
      drop_first();
      continue;
    }
    if (run_bytes_ <= live_bytes_ + live_bytes_ / 2 + kSlackBytes) return;
    if (first.is_full()) {
      runs_.splice(runs_.end(), runs_, runs_.begin());
      continue;
    }
    try {
      leave_first();
    } catch (const std::bad_alloc&) {
      return;
    }
  }
}

// Copies the records of the first run. If that throws, some are copied.
void RecordCells::leave_first() {
  Run& old = runs_.front();
  if (copies_ == &old) copies_ = nullptr;
  for (std::size_t i = 0; i < old.cells.size(); ++i) {
    fetch_cells(old.cells, i);
    if (i + kRecordsAhead < old.cells.size()) {
      const Cell& soon = cell(old.cells[i + kRecordsAhead]);
      if (soon.run == &old) fetch_record(soon.record);
    }
    Cell& moved = cell(old.cells[i]);
    if (moved.run != &old) continue;
    const std::size_t size = moved.record.size();
    std::byte* const target = room_for(size);
    Run& run = *copies_;
    run.cells.push_back(old.cells[i]);
    std::memcpy(target, moved.record.data(), size);
    room_ = room_.subspan(size);
    moved.record = {target, size};
    moved.run = &run;
    old.live_bytes -= size;
    run.live_bytes += size;
    run.size_bytes += size;
    run_bytes_ += size;
    copied_bytes_ += size;
  }
}

// Returns where a copy has room, in the run for copies.
std::byte* RecordCells::room_for(std::size_t size_bytes) {
  if (copies_ == nullptr || room_.size() < size_bytes) {
    Runs added(1);
    // A large record has memory of its own size: others would leave much of a run unused.
    const std::size_t usual = std::min(kCopiesBytes, live_bytes_ / kCopiesPart);
    const std::size_t room = size_bytes > usual / 4 ? size_bytes : usual;
    OwnMemory own = allocate_(room);
    room_ = {own.get(), room};
    added.front().memory = std::move(own);
    copies_ = &added.front();
    runs_.splice(runs_.end(), added);
  }
  return room_.data();
}

// Asks for cells before they are looked at.
void RecordCells::fetch_cells(std::span<const std::int64_t> cells, std::size_t i) const noexcept {
  if (i + kCellsAhead < cells.size()) __builtin_prefetch(&cell(cells[i + kCellsAhead]));
}

void RecordCells::take(std::span<const std::int64_t> cells, std::span<Bytes> records,
                       const RecordPlaces<std::int64_t>& places,
                       std::vector<Memory>& kept) noexcept {
  ++takes_;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    fetch_cells(cells, i);
    Cell& taken = cell(cells[i]);
    records[i] = taken.record;
    places.files[i] = taken.file;
    places.numbers[i] = taken.number;
    places.frames[i] = taken.frame;
    if (!taken.record.empty()) {
      Run& run = *taken.run;
      run.live_bytes -= taken.record.size();
      live_bytes_ -= taken.record.size();
      if (std::exchange(run.taken, takes_) != takes_) kept.push_back(run.memory);
    }
    taken.run = nullptr;
    empty_.push_back(cells[i]);  // there is room for all cells
  }
  leave_runs();
}

void RecordCells::locate(std::span<const std::int64_t> cells,
                         const RecordPlaces<std::int64_t>& places,
                         std::span<std::int64_t> elements) const noexcept {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& found = cell(cells[i]);
    places.files[i] = found.file;
    places.numbers[i] = found.number;
    places.frames[i] = found.frame;
    elements[i] = found.element;
  }
}

}  // namespace tfrkit
