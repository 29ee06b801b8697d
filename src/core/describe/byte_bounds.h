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

// The beginning of a byte string. They are ordered as the strings are; of those that begin alike,
// a string that ends there comes before one that is longer.
struct ByteHead {
  std::uint64_t first = 0;  // the bytes as big-endian numbers, with zeros after the end
  std::uint64_t second = 0;
  std::uint64_t size = 0;  // of the string; kHeadBytes + 1 if it is longer than what is kept

  [[nodiscard]] static ByteHead of(Bytes value) noexcept {
    if (value.size() >= kHeadBytes) {
      return {big_endian(value.data()), big_endian(value.data() + 8),
              std::min(value.size(), kHeadBytes + 1)};
    }
    std::array<std::byte, kHeadBytes> padded{};
    if (!value.empty()) std::memcpy(padded.data(), value.data(), value.size());
    return {big_endian(padded.data()), big_endian(padded.data() + 8), value.size()};
  }

  // Returns what is kept of the string; the first min(size, kHeadBytes) bytes count.
  [[nodiscard]] std::array<std::byte, kHeadBytes> bytes() const noexcept {
    std::array<std::byte, kHeadBytes> result;
    store_le(result.data(), byte_swapped(first));
    store_le(result.data() + 8, byte_swapped(second));
    return result;
  }

  friend constexpr auto operator<=>(const ByteHead&, const ByteHead&) = default;

 private:
  [[nodiscard]] static std::uint64_t big_endian(const std::byte* source) noexcept {
    return byte_swapped(load_le<std::uint64_t>(source));
  }
};

// The least and the greatest beginning of the strings that were added; of none they say nothing.
struct ByteBounds {
  ByteHead least{~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};
  ByteHead greatest;

  void add(Bytes value) noexcept {
    const ByteHead head = ByteHead::of(value);
    least = std::min(least, head);
    greatest = std::max(greatest, head);
  }
  void merge(const ByteBounds& other) noexcept {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
  }
};

}  // namespace tfrkit
