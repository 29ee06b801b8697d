// The buffer of a shuffle: references to elements, given out in TensorFlow's order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/shuffle/philox.h"

namespace tfrkit {

// An element: row `row` of chunk `chunk`, and how many bytes it takes (for the count only; what is
// larger than 32 bits counts as the most that they hold).
struct ShuffleEntry {
  std::int32_t chunk;
  std::int32_t row;
  std::uint32_t size_bytes;
};

// Elements as arrays of one size: row `rows[i]` of chunk `chunks[i]`.
struct AddedRows {
  std::span<const std::int64_t> chunks;
  std::span<const std::int64_t> rows;
  std::span<const std::int64_t> sizes_bytes;
};
struct DrawnRows {
  std::span<std::int64_t> chunks;
  std::span<std::int64_t> rows;
};

// TensorFlow keeps its elements in a ring. To draw one it takes a number modulo the count of
// elements, returns the element that far from the oldest place, and moves the one at the oldest
// place into the hole. This is the same, but the ring grows as it fills, so that a buffer size may
// be far beyond any memory. How full the ring has to be before a draw is the caller's business; so
// is a ring that holds several epochs, of which only the first, a window of the oldest places, is
// drawn from.
//
// Counts of live elements and bytes are kept for every chunk. Not for use by two threads at once.
// Functions that add elements or chunks may throw std::bad_alloc, and have changed nothing then.
class ShuffleBuffer {
 public:
  // A window that grows with the buffer: all of it.
  static constexpr std::size_t kWhole = 0;

  ShuffleBuffer(std::uint64_t seed, std::uint64_t seed2) noexcept : random_(seed, seed2) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::int64_t live_bytes() const noexcept { return live_bytes_; }
  // Live elements and bytes by chunk; chunks that never had any are not all there.
  [[nodiscard]] std::span<const std::int64_t> live() const noexcept { return live_; }
  [[nodiscard]] std::span<const std::int64_t> live_bytes_of() const noexcept { return bytes_; }

  // Tells whether a window (kWhole: all elements) is one and has this many elements.
  [[nodiscard]] bool has(std::size_t count, std::size_t window) const noexcept {
    return count <= (window == kWhole ? size_ : window) && window <= size_;
  }

  // Begins another stream of random numbers, after its first `drawn`.
  void reseed(std::uint64_t seed, std::uint64_t seed2, std::uint64_t drawn) noexcept;

  // Returns the first of these elements that cannot be added: a chunk or a row is negative, or does
  // not fit into 31 bits; their number if all can.
  [[nodiscard]] static std::size_t check(const AddedRows& added) noexcept;

  // Adds elements. Precondition: check() has nothing against them.
  void append(const AddedRows& added);

  // Draws as many elements as the target has room for, from the oldest `window` places, which get
  // fewer with each. Precondition: there are that many in the window.
  void draw(const DrawnRows& target, std::size_t window) noexcept;

  // Adds elements, and draws one after each: from all there are, or from a window as above.
  // Preconditions: those of both, and the target has room for exactly as many.
  void exchange(const AddedRows& added, const DrawnRows& target, std::size_t window);

  // Returns how many elements the chunks have together that `chosen` marks (by chunk; those beyond
  // its end are not chosen).
  [[nodiscard]] std::size_t count_chosen(std::span<const std::uint8_t> chosen) const noexcept;

  // Writes the elements of chosen chunks, in the order of the buffer, and the place of each as it
  // counts from the oldest. Precondition: all targets have count_chosen() entries.
  void contents(std::span<const std::uint8_t> chosen, const DrawnRows& target,
                std::span<std::int64_t> places) const noexcept;

  // Gives the element at each place another chunk and row; sizes are not looked at. Preconditions:
  // there are elements at the places, one for each name, and check() has nothing against these.
  void relocate(std::span<const std::int64_t> places, const AddedRows& names);

  // Returns the chunks that have lost their last element since this was last asked, and have none
  // now. Each chunk is named once.
  [[nodiscard]] std::vector<std::int32_t> take_empty();

 private:
  [[nodiscard]] ShuffleEntry& at(std::uint64_t place) noexcept {
    return ring_[static_cast<std::size_t>(place) & mask_];
  }
  [[nodiscard]] const ShuffleEntry& at(std::uint64_t place) const noexcept {
    return ring_[static_cast<std::size_t>(place) & mask_];
  }
  void reserve(std::span<const std::int64_t> chunks, std::size_t room);
  void push(const AddedRows& added, std::size_t i) noexcept;
  void offsets(std::span<std::uint32_t> target, std::size_t window, bool shrinks) noexcept;
  void count(const ShuffleEntry& entry) noexcept;
  void give(std::uint32_t offset, std::int64_t& chunk, std::int64_t& row) noexcept;
  void forget(const ShuffleEntry& entry) noexcept;

  Philox random_;
  std::vector<ShuffleEntry> ring_;  // of a power of two, or empty
  std::size_t mask_ = 0;            // its size less one
  std::uint64_t start_ = 0;         // the oldest place; places count on for ever
  std::size_t size_ = 0;
  std::int64_t live_bytes_ = 0;
  std::vector<std::int64_t> live_;
  std::vector<std::int64_t> bytes_;
  std::vector<std::int32_t> empty_;  // chunks that became empty; room for every chunk is reserved
  std::vector<std::uint8_t> named_;  // whether it is in empty_
};

}  // namespace tfrkit
