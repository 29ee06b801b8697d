// Room for frames in the order in which they will be used: every so many in a buffer of their own.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"

namespace tfrkit {

// Frames come in any order, by several threads, each to its place; the buffers are let go one by
// one as they are used up. Use the constructor and the members that take or return Python's objects
// with the GIL.
class FramePieces {
 public:
  // `sizes`: of the frames; `count`: how many of them share a buffer, the last has the rest.
  FramePieces(const Int64Input& sizes, std::int64_t count);

  // Returns where frame `place` goes; nothing if there is none, or one of another size.
  [[nodiscard]] std::span<std::byte> room(std::int64_t place, std::size_t size) const noexcept {
    if (place < 0 || static_cast<std::uint64_t>(place) >= places_.size()) return {};
    const Place& at = places_[static_cast<std::size_t>(place)];
    return at.size == size ? std::span(at.start, size) : std::span<std::byte>();
  }

  // Fetches what `room` looks at.
  void prefetch(std::int64_t place) const noexcept {
    if (place < 0 || static_cast<std::uint64_t>(place) >= places_.size()) return;
    __builtin_prefetch(&places_[static_cast<std::size_t>(place)]);
  }

  // Copies frames that begin at `begins` of `data`, and checks them. Returns the first that failed,
  // or -1, and why.
  [[nodiscard]] std::tuple<std::int64_t, int> fill(const InputBytes& data, const Int64Input& begins,
                                                   const Int64Input& places, bool check) const;

  // Returns a tuple for each piece: its buffer, offsets of the payloads there, and their lengths.
  [[nodiscard]] nb::list pieces() const;

  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }

 private:
  struct Place {
    std::byte* start;
    std::size_t size;
  };

  std::size_t count_;
  std::vector<Place> places_;
  std::vector<nb::object> buffers_;
};

}  // namespace tfrkit
