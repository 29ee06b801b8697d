// Arithmetic of polynomials over GF(2) modulo the CRC-32C polynomial, bit-reflected: bit 31 of a
// word is the coefficient of x^0, bit 0 that of x^31.
//
// Appending n bytes to a message multiplies its CRC register by x^(8n); this is what combining
// CRCs of adjacent pieces comes down to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tfrkit {

inline constexpr std::uint32_t kCrc32cPolynomial = 0x82F63B78;  // Castagnoli, reflected
inline constexpr std::uint32_t kPolynomialOne = 0x80000000;     // x^0

// Returns a * x mod P.
[[nodiscard]] constexpr std::uint32_t times_x(std::uint32_t a) noexcept {
  return (a >> 1) ^ ((a & 1) != 0 ? kCrc32cPolynomial : 0);
}

// Returns a * b mod P.
[[nodiscard]] constexpr std::uint32_t times(std::uint32_t a, std::uint32_t b) noexcept {
  std::uint32_t product = 0;
  for (; a != 0; a <<= 1) {
    if ((a & kPolynomialOne) != 0) product ^= b;
    b = times_x(b);
  }
  return product;
}

// Returns x^n mod P.
[[nodiscard]] constexpr std::uint32_t power_of_x(std::uint64_t n) noexcept {
  std::uint32_t power = kPolynomialOne;
  std::uint32_t square = kPolynomialOne >> 1;  // x^1
  for (; n != 0; n >>= 1) {
    if ((n & 1) != 0) power = times(power, square);
    square = times(square, square);
  }
  return power;
}

using ByteTable = std::array<std::uint32_t, 256>;

// Returns tables t with which t[0][b0] ^ t[1][b1] ^ t[2][b2] ^ t[3][b3] is a * x^(8 * n_bytes), for
// the bytes b0 (lowest) to b3 of a.
[[nodiscard]] consteval std::array<ByteTable, 4> make_shift_tables(std::uint64_t n_bytes) {
  std::array<ByteTable, 4> tables{};
  std::uint32_t bit = power_of_x(8 * n_bytes);  // that of kPolynomialOne, the highest bit
  for (int place = 31; place >= 0; --place) {
    const auto byte = static_cast<std::size_t>(place / 8);
    const std::size_t weight = std::size_t{1} << (place % 8);
    tables[byte][weight] = bit;
    bit = times_x(bit);
  }
  for (ByteTable& table : tables) {
    for (std::size_t i = 1; i < table.size(); ++i) {
      const std::size_t low = i & (~i + 1);
      table[i] = table[low] ^ table[i ^ low];
    }
  }
  return tables;
}

}  // namespace tfrkit
