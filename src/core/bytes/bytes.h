// Loads and stores of little-endian integers at any address.
//
// The only place where bytes become integers; memcpy keeps it free of alignment and aliasing
// trouble and compiles to one instruction.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace tfrkit {

// What every kernel reads: bytes that other code owns and keeps alive.
using Bytes = std::span<const std::byte>;

// Returns the same bytes as characters.
[[nodiscard]] inline std::string_view as_text(Bytes bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Returns the same bytes as small integers.
[[nodiscard]] inline std::span<const std::uint8_t> as_octets(Bytes bytes) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

// Returns `value` with its bytes reversed.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T byte_swapped(T value) noexcept {
  T swapped = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    swapped = static_cast<T>((swapped << 8) | (value & 0xff));
    value = static_cast<T>(value >> 8);
  }
  return swapped;
}

// Returns the little-endian integer at `source`. Precondition: sizeof(T) bytes are readable.
template <std::unsigned_integral T>
[[nodiscard]] inline T load_le(const std::byte* source) noexcept {
  T value;
  std::memcpy(&value, source, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) value = byte_swapped(value);
  return value;
}

// Writes `value` little-endian to `target`. Precondition: sizeof(T) bytes are writable.
template <std::unsigned_integral T>
inline void store_le(std::byte* target, T value) noexcept {
  if constexpr (std::endian::native == std::endian::big) value = byte_swapped(value);
  std::memcpy(target, &value, sizeof(T));
}

}  // namespace tfrkit
