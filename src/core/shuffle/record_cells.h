// Records in memory of their own, to be returned one by one in any order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/bytes/bytes.h"

namespace tfrkit {

// Where records stand: the number of a file, of the record in it, and the byte at which its frame
// begins; -1 where that is not known. Arrays of one size.
template <typename T>
struct RecordPlaces {
  std::span<T> files;
  std::span<T> numbers;
  std::span<T> frames;
};

// Records, each in a cell. Those of a run that came together stay where they are, in memory that
// the caller keeps, until too much of it is of records that are gone; then the survivors of the
// oldest run are copied. Memory of copies that becomes free serves records of about the same size
// again. When too much lies idle, all copies move together into new memory. So at most 1.5 times
// the bytes of the records are held, and three megabytes; sizes of copies are rounded up to 16
// bytes, larger ones by an eighth at most.
//
// Not for use by two threads at once.
class RecordCells {
 public:
  RecordCells() = default;
  RecordCells(const RecordCells&) = delete;
  RecordCells(RecordCells&&) = delete;
  RecordCells& operator=(const RecordCells&) = delete;
  RecordCells& operator=(RecordCells&&) = delete;
  ~RecordCells();

  // Bytes of memory for records, in use or idle, the caller's included.
  [[nodiscard]] std::size_t held_bytes() const noexcept {
    return slab_bytes() + large_bytes_ + run_bytes_;
  }
  // Bytes of all records that were copied so far, into cells and out of them.
  [[nodiscard]] std::size_t copied_bytes() const noexcept { return copied_bytes_; }
  // The first run that is still referred to. Runs count from 0, as they came.
  [[nodiscard]] std::size_t first_run() const noexcept { return first_run_; }
  // One more than the highest number of a cell so far.
  [[nodiscard]] std::size_t count() const noexcept { return cells_.size(); }

  // Adds a run of records to cells, whose numbers are written. `elements` are numbers that the
  // caller knows the records by. If `stay`, the caller keeps the memory of the records as it is
  // until first_run() is beyond this run; else they are copied, and it is no run. Precondition: all
  // spans have one size. Throws std::bad_alloc, and has changed nothing then.
  void add(std::span<const Bytes> records, const RecordPlaces<const std::int64_t>& places,
           std::span<const std::int64_t> elements, bool stay, std::span<std::int64_t> cells);

  // Returns the bytes of the records in these cells. Precondition here and below: they are numbers
  // that add() returned, each once, and that were not taken yet.
  [[nodiscard]] std::size_t measure(std::span<const std::int64_t> cells) const noexcept;

  // Copies records out, one after another, and empties their cells. Preconditions: `data` has as
  // many bytes as measure() says, the other targets as many entries as there are cells.
  void take(std::span<const std::int64_t> cells, std::span<std::byte> data,
            std::span<std::int64_t> offsets, std::span<std::int64_t> lengths,
            const RecordPlaces<std::int64_t>& places) noexcept;

  // Writes where the records in these cells stand, and the caller's numbers.
  void locate(std::span<const std::int64_t> cells, const RecordPlaces<std::int64_t>& places,
              std::span<std::int64_t> elements) const noexcept;

 private:
  struct Cell {
    const std::byte* data;
    std::byte* own;  // the same if it is a copy, else null
    std::size_t size_bytes;
    std::int64_t number;
    std::int64_t frame;
    std::int64_t file;
    std::int64_t element;
    std::size_t run;
  };
  struct Run {
    std::size_t size_bytes;
    std::size_t live_bytes;
    std::vector<std::int64_t> cells;
  };
  using Slab = std::unique_ptr<std::byte[]>;
  // Sizes are rounded up to one of these many; the first stands for all that are larger, and have
  // memory that is theirs alone.
  static constexpr std::size_t kClasses = 129;
  static constexpr std::size_t kSlabBytes = std::size_t{1} << 20;

  [[nodiscard]] static std::size_t class_of(std::size_t size_bytes) noexcept;
  [[nodiscard]] static std::size_t room_of(std::size_t kind) noexcept;
  [[nodiscard]] std::size_t slab_bytes() const noexcept { return slabs_.size() * kSlabBytes; }
  [[nodiscard]] std::byte* get(std::size_t size_bytes);
  [[nodiscard]] std::byte* carve(std::size_t room);
  void give_back(std::byte* data, std::size_t size_bytes) noexcept;
  void reserve(std::size_t count);
  void copy_in(Cell& cell);
  void clear(std::int64_t number) noexcept;
  void leave_runs() noexcept;
  void trim() noexcept;
  void fetch_ahead(std::span<const std::int64_t> cells, std::size_t i) const noexcept;

  std::vector<Cell> cells_;
  std::vector<std::int64_t> empty_;  // numbers of cells without a record
  std::vector<Slab> slabs_;
  std::size_t left_ = 0;  // bytes at the end of the last slab that were never used
  std::array<std::vector<std::byte*>, kClasses> idle_;
  std::size_t used_bytes_ = 0;   // of cells in slabs
  std::size_t large_bytes_ = 0;  // of cells that are not
  std::deque<Run> runs_;
  std::size_t first_run_ = 0;
  std::size_t run_bytes_ = 0;       // of all records that runs_ had,
  std::size_t run_live_bytes_ = 0;  // and still have
  std::size_t copied_bytes_ = 0;
};

}  // namespace tfrkit
