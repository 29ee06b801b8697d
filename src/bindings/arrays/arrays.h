// Numpy arrays over pooled memory, made quickly.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "bindings/arrays/buffer.h"

namespace tfrkit {

namespace nb = nanobind;

enum class ArrayType : std::uint8_t { kUint8, kInt64, kFloat32 };

// Calls numpy.ndarray(shape, dtype, buffer, offset), which takes 0.3 us; nanobind's own conversion
// takes 0.9. Looks numpy up once; make and use it with the GIL.
class ArrayMaker {
 public:
  ArrayMaker();

  // Returns a 1-D array of `count` entries from byte `offset` of `buffer`, which it keeps alive.
  [[nodiscard]] nb::object view(const nb::object& buffer, ArrayType type, std::size_t count,
                                std::size_t offset = 0) const;
  // Returns an array of this shape, an int or a tuple of them.
  [[nodiscard]] nb::object view(const nb::object& buffer, const nb::object& dtype,
                                const nb::object& shape, std::size_t offset = 0) const;

  // Returns an array that owns the pooled memory of `buffer`.
  [[nodiscard]] nb::object own(Buffer&& buffer, ArrayType type, std::size_t count) const {
    return view(nb::cast(std::move(buffer)), type, count);
  }

 private:
  nb::object ndarray_;
  nb::object uint8_;
  nb::object int64_;
  nb::object float32_;
};

// Returns the memory of a buffer as numbers. Precondition: it has that many from `offset` on, which
// is a multiple of sizeof(T).
template <typename T>
[[nodiscard]] std::span<T> numbers_in(const Buffer& buffer, std::size_t count,
                                      std::size_t offset = 0) noexcept {
  return {reinterpret_cast<T*>(buffer.bytes().data() + offset), count};
}

}  // namespace tfrkit
