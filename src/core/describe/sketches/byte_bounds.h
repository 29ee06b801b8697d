// ByteBounds: between which beginnings some byte strings lie, for zones (FORMAT.md).
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/bytes/bytes.h"

namespace tfrkit {

inline constexpr std::size_t kHeadBytes = 16;  // of a byte string that a bound keeps

// Returns the first eight bytes of a string as a big-endian number, with zeros after its end.
[[nodiscard]] inline std::uint64_t leading_bytes(Bytes value) noexcept {
  const std::byte* const data = value.data();
  const std::size_t size = value.size();
  std::uint64_t bytes = 0;  // little-endian
  if (size >= 8) {
    bytes = load_le<std::uint64_t>(data);
  } else if (size >= 4) {  // the second load repeats some bytes of the first
    bytes = load_le<std::uint32_t>(data) | std::uint64_t{load_le<std::uint32_t>(data + size - 4)}
                                               << (8 * (size - 4));
  } else {
    for (std::size_t i = 0; i < size; ++i) {
      bytes |= std::to_integer<std::uint64_t>(data[i]) << (8 * i);
    }
  }
  // One instruction, which compilers do not see in the loop of byte_swapped().
  constexpr std::uint64_t kOctets = 0x00ff00ff00ff00ffU;
  constexpr std::uint64_t kPairs = 0x0000ffff0000ffffU;
  bytes = (bytes & kOctets) << 8 | (bytes >> 8 & kOctets);
  bytes = (bytes & kPairs) << 16 | (bytes >> 16 & kPairs);
  return bytes << 32 | bytes >> 32;
}

// The beginning of a byte string. They are ordered as the strings are; of those that begin alike,
// a string that ends there comes before one that is longer.
struct ByteHead {
  std::uint64_t first = 0;  // the bytes as big-endian numbers, with zeros after the end
  std::uint64_t second = 0;
  std::uint64_t size = 0;  // of the string; kHeadBytes + 1 if it is longer than what is kept

  [[nodiscard]] static ByteHead of(Bytes value) noexcept {
    return {leading_bytes(value), value.size() > 8 ? leading_bytes(value.subspan(8)) : 0,
            std::min(value.size(), kHeadBytes + 1)};
  }

  // Returns what is kept of the string; the first min(size, kHeadBytes) bytes count.
  [[nodiscard]] std::array<std::byte, kHeadBytes> bytes() const noexcept {
    std::array<std::byte, kHeadBytes> result;
    store_le(result.data(), byte_swapped(first));
    store_le(result.data() + 8, byte_swapped(second));
    return result;
  }

  friend constexpr auto operator<=>(const ByteHead&, const ByteHead&) = default;
};

// The least and the greatest beginning of the strings that were added; of none they say nothing.
struct ByteBounds {
  ByteHead least{~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};
  ByteHead greatest;

  // Most strings lie between two that were added before by their first bytes already.
  void add(Bytes value) noexcept {
    const std::uint64_t first = leading_bytes(value);
    if (first > least.first && first < greatest.first) return;
    const ByteHead head = ByteHead::of(value);
    if (head < least) least = head;
    if (greatest < head) greatest = head;
  }
  void merge(const ByteBounds& other) noexcept {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
  }
};

}  // namespace tfrkit
