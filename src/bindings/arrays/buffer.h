// `Buffer`: pooled memory that Python sees through the buffer protocol.
#pragma once

#include <cstddef>
#include <span>

#include "bindings/arrays/pool.h"

namespace tfrkit {

// Owns its memory. Once Python has seen a filled buffer, nothing here writes to it.
class Buffer {
 public:
  // Throws std::bad_alloc if there is no memory.
  explicit Buffer(std::size_t size);
  Buffer(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer();

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {block_.memory, size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  PoolBlock block_;
  std::size_t size_;
};

}  // namespace tfrkit
