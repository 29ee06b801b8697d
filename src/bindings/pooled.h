// `PooledArray`: an array for Python whose memory comes from the pool and goes back to it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "buffer.h"

namespace tfrkit {

namespace nb = nanobind;

// `count` entries, not zeroed. Throws std::bad_alloc. Made and filled without the GIL.
template <typename T>
class PooledArray {
 public:
  explicit PooledArray(std::size_t count)
      : buffer_(std::max<std::size_t>(count, 1) * sizeof(T)), count_(count) {}

  [[nodiscard]] T* data() const noexcept { return reinterpret_cast<T*>(buffer_.bytes().data()); }

  // Gives the memory to a numpy array. Needs the GIL; call it once.
  [[nodiscard]] nb::object to_numpy() && {
    T* const data = this->data();
    const nb::capsule owner(new Buffer(std::move(buffer_)),
                            [](void* memory) noexcept { delete static_cast<Buffer*>(memory); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {count_}, owner).cast();
  }

 private:
  Buffer buffer_;
  std::size_t count_;
};

}  // namespace tfrkit
