// CRC-32C (Castagnoli), as TFRecord frames carry it, by the fastest means the CPU has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes/bytes.h"

namespace tfrkit {

// One implementation. All return the same results; they differ in the instructions they need.
struct Crc32cVariant {
  const char* name;

  // Returns the CRC-32C of the bytes that produced `crc` followed by `data`; `crc` is 0 at first.
  std::uint32_t (*extend)(std::uint32_t crc, Bytes data) noexcept;

  // Returns the lowest position in `data` at which 8 bytes are followed by their masked CRC
  // (little-endian), as in the header of a frame, or data.size() where there is none.
  std::size_t (*find_header)(Bytes data) noexcept;
};

// Returns the variants that this CPU can run, best first; the last is always "portable".
[[nodiscard]] std::span<const Crc32cVariant* const> crc32c_variants() noexcept;

// Returns the best of them.
[[nodiscard]] const Crc32cVariant& crc32c_best() noexcept;

// Returns the CRC-32C of the bytes that produced `crc` followed by `data`; `crc` is 0 at first.
[[nodiscard]] std::uint32_t crc32c_extend(std::uint32_t crc, Bytes data) noexcept;

// Returns the CRC-32C of `data`.
[[nodiscard]] inline std::uint32_t crc32c(Bytes data) noexcept { return crc32c_extend(0, data); }

// Returns the form in which frames store a CRC. A CRC of data that contain their own CRC is
// degenerate; rotating and adding a constant avoids this.
[[nodiscard]] constexpr std::uint32_t crc32c_mask(std::uint32_t crc) noexcept {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

// Returns the CRC register `state` after `n_bytes` zero bytes, in time logarithmic in `n_bytes`.
// A register is the CRC without its inversions: extending by 0 ^ 0xffffffff from both ends.
[[nodiscard]] std::uint32_t crc32c_shift(std::uint32_t state, std::uint64_t n_bytes) noexcept;

}  // namespace tfrkit
