// Memory for buffers, kept for the next one of its size when a buffer dies.
//
// Large blocks come from the operating system page by page, and touching new pages costs more than
// filling them; a reader that drops block after block gets the same warm pages again.
#pragma once

#include <cstddef>

namespace tfrkit {

inline constexpr std::size_t kBufferAlignment = 64;

// Memory and its size, which may be more than was asked for.
struct PoolBlock {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
};

// Returns at least `size` bytes, aligned to kBufferAlignment and not zeroed, or nullptr if there is
// no memory. Thread-safe; waits for no thread, so that a fork in the middle cannot leave it locked.
[[nodiscard]] PoolBlock pool_take(std::size_t size) noexcept;

// Gives back what pool_take returned. Thread-safe, waits for no thread.
void pool_give(PoolBlock block) noexcept;

}  // namespace tfrkit
