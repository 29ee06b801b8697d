// The layout of a frame: length (u64) | masked CRC of the length | payload | masked CRC of the
// payload; all little-endian. No file header, no alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tfrkit {

inline constexpr std::size_t kLengthBytes = 8;
inline constexpr std::size_t kCrcBytes = 4;
inline constexpr std::size_t kHeaderBytes = kLengthBytes + kCrcBytes;
inline constexpr std::size_t kFrameOverheadBytes = kHeaderBytes + kCrcBytes;

// The longest payload whose frame has a size below 2^64.
inline constexpr std::uint64_t kMaxRecordBytes =
    std::numeric_limits<std::uint64_t>::max() - kFrameOverheadBytes;

}  // namespace tfrkit
