// Memory for buffers, kept for the next one of its size when a buffer dies.
//
// Large blocks come from the operating system page by page, and touching new pages costs more than
// filling them; a reader that drops block after block gets the same warm pages again.
#pragma once

#include <cstddef>

namespace tfrkit {

inline constexpr std::size_t kBufferAlignment = 64;

// Returns at least `size` bytes, aligned to kBufferAlignment and not zeroed, or nullptr if there is
// no memory. Thread-safe; never waits, so that a fork in the middle cannot leave it locked.
[[nodiscard]] std::byte* pool_take(std::size_t size) noexcept;

// Gives back what pool_take(size) returned. Thread-safe, never waits.
void pool_give(std::byte* memory, std::size_t size) noexcept;

}  // namespace tfrkit
