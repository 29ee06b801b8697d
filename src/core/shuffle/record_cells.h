// Records in memory that is kept for them, to be returned one by one in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
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

// Records, each in a cell. Those of a run that came together stay where they are until too much
// memory is of records that are gone; then the survivors of the oldest runs are copied, to runs of
// their own. At most 1.5 times the bytes of the records are held, and two megabytes.
//
// Not for use by two threads at once.
class RecordCells {
 public:
  using Memory = std::shared_ptr<const void>;
  using OwnMemory = std::shared_ptr<std::byte[]>;

  // `allocate` returns that many bytes for copies, or throws std::bad_alloc.
  explicit RecordCells(OwnMemory (*allocate)(std::size_t size_bytes)) noexcept
      : allocate_(allocate) {}

  // Bytes of memory for records, in use or not.
  [[nodiscard]] std::size_t held_bytes() const noexcept { return run_bytes_; }
  // Bytes of all records that were copied so far.
  [[nodiscard]] std::size_t copied_bytes() const noexcept { return copied_bytes_; }
  // Runs of which there are records.
  [[nodiscard]] std::size_t runs() const noexcept { return runs_.size(); }
  // One more than the highest number of a cell so far.
  [[nodiscard]] std::size_t count() const noexcept { return cells_.size(); }

  // Adds a run of records to cells, whose numbers are written. `elements` are numbers that the
  // caller knows the records by. `memory` keeps the records where they are; without any they are
  // copied. Precondition: all spans have one size. Throws std::bad_alloc, and has changed nothing
  // then.
  void add(std::span<const Bytes> records, const RecordPlaces<const std::int64_t>& places,
           std::span<const std::int64_t> elements, Memory memory, std::span<std::int64_t> cells);

  // Empties cells, and adds to `kept` what keeps their records where they are, each once.
  // Preconditions: they are numbers that add() returned, each once, and that were not taken yet;
  // the targets have as many entries; `kept` has room for as many more, or for runs() more.
  void take(std::span<const std::int64_t> cells, std::span<Bytes> records,
            const RecordPlaces<std::int64_t>& places, std::vector<Memory>& kept) noexcept;

  // Lets go of memory of which no record is left. Until then it is kept, since the owner may want
  // it to go at a certain moment only.
  void let_go() noexcept { gone_.clear(); }

  // Writes where the records in these cells stand, and the caller's numbers.
  void locate(std::span<const std::int64_t> cells, const RecordPlaces<std::int64_t>& places,
              std::span<std::int64_t> elements) const noexcept;

 private:
  struct Run {
    Memory memory;
    std::size_t size_bytes = 0;
    std::size_t live_bytes = 0;
    std::vector<std::int64_t> cells;
    std::uint64_t taken = 0;  // the last call of take() that had a record of it

    // Tells whether little would be gained by copying its survivors. Where too much is held, there
    // is a run of which that is not true.
    [[nodiscard]] bool is_full() const noexcept { return live_bytes > size_bytes - size_bytes / 4; }
  };
  using Runs = std::list<Run>;
  struct alignas(64) Cell {
    Bytes record;
    std::int64_t number;
    std::int64_t frame;
    std::int64_t file;
    std::int64_t element;
    Run* run;  // null if the record is empty, or was taken
  };

  [[nodiscard]] Cell& cell(std::int64_t number) noexcept {
    return cells_[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] const Cell& cell(std::int64_t number) const noexcept {
    return cells_[static_cast<std::size_t>(number)];
  }
  void reserve(std::size_t count);
  void fetch_cells(std::span<const std::int64_t> cells, std::size_t i) const noexcept;
  void leave_runs() noexcept;
  void leave_first();
  void drop_first() noexcept;
  [[nodiscard]] std::byte* room_for(std::size_t size_bytes);

  OwnMemory (*allocate_)(std::size_t);
  std::vector<Cell> cells_;
  std::vector<std::int64_t> empty_;  // numbers of cells without a record
  Runs runs_;                        // the oldest first
  Runs gone_;
  Run* copies_ = nullptr;       // the run that survivors of others are copied to,
  std::span<std::byte> room_;   // and what is left of its memory
  std::size_t run_bytes_ = 0;   // of all records that runs_ had,
  std::size_t live_bytes_ = 0;  // and still have
  std::size_t copied_bytes_ = 0;
  std::uint64_t takes_ = 0;
};

}  // namespace tfrkit
