// Records in memory of their own, to be returned one by one in any order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

// Copies of records, each in a cell. Memory that becomes free serves records of about the same size
// again. When too much lies idle, all records move together into new memory. So at most 1.5 times
// the bytes of the records are held, and two megabytes; sizes are rounded up to 16 bytes, larger
// ones by an eighth at most.
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

  // Bytes of memory for records, in use or idle.
  [[nodiscard]] std::size_t held_bytes() const noexcept { return slab_bytes() + large_bytes_; }
  // One more than the highest number of a cell so far.
  [[nodiscard]] std::size_t count() const noexcept { return cells_.size(); }

  // Copies records into cells, whose numbers are written. `elements` are numbers that the caller
  // knows the records by. Precondition: all spans have one size. Throws std::bad_alloc, and has
  // changed nothing then.
  void add(std::span<const Bytes> records, const RecordPlaces<const std::int64_t>& places,
           std::span<const std::int64_t> elements, std::span<std::int64_t> cells);

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
    std::byte* data;
    std::size_t size_bytes;
    std::int64_t number;
    std::int64_t frame;
    std::int64_t file;
    std::int64_t element;
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
  void trim() noexcept;
  void fetch_ahead(std::span<const std::int64_t> cells, std::size_t i) const noexcept;

  std::vector<Cell> cells_;
  std::vector<std::int64_t> empty_;  // numbers of cells without a record
  std::vector<Slab> slabs_;
  std::size_t left_ = 0;  // bytes at the end of the last slab that were never used
  std::array<std::vector<std::byte*>, kClasses> idle_;
  std::size_t used_bytes_ = 0;   // of cells in slabs
  std::size_t large_bytes_ = 0;  // of cells that are not
};

}  // namespace tfrkit
