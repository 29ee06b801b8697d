// Zlib streams of small images, whole and in memory.
//
// Takes what encoders write. It answers only whether a stream is beyond doubt: what is damaged,
// cut, too long or merely unusual is left to zlib, which knows how libpng would take it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes/bytes.h"

namespace tfrkit {

// Copies may write so many bytes after the last one, but never beyond the room.
inline constexpr std::size_t kInflateSlack = 8;

// Inflates `stream` to the first `size` bytes of `room`, which has kInflateSlack bytes more.
// Returns true if that is exactly what it holds, its checksum is right and nothing is after it;
// else what the room holds is undefined.
[[nodiscard]] bool inflate_zlib(std::span<const std::uint8_t> stream, std::size_t size,
                                std::span<std::uint8_t> room) noexcept;

}  // namespace tfrkit
