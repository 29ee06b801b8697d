// Moments: the exact sums of numbers and of their squares.
//
// Fixed point as wide as it takes, so the order in which numbers are added does not matter, and
// code that divides at the end rounds once. What is added all together is below 2^63 numbers.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tfrkit {

// How the bits of a key say a number, see NumberStats.
enum class NumberKind : std::uint8_t { kInt64, kFloat };

__extension__ using UInt128 = unsigned __int128;

// A natural number of 64 * `Limbs` bits; the first limb is the lowest.
template <std::size_t Limbs>
class WideSum {
 public:
  // Adds term * 2^shift. Precondition: it fits.
  void add(UInt128 term, unsigned shift) noexcept {
    std::size_t limb = shift / 64;
    const unsigned bits = shift % 64;
    const auto low = static_cast<std::uint64_t>(term);
    const auto high = static_cast<std::uint64_t>(term >> 64);
    std::array<std::uint64_t, 3> parts{low, high, 0};
    if (bits != 0)
      parts = {low << bits, (high << bits) | (low >> (64 - bits)), high >> (64 - bits)};
    std::uint64_t carry = 0;
    for (const std::uint64_t part : parts) {
      if (limb == Limbs) return;
      const UInt128 sum = static_cast<UInt128>(limbs_[limb]) + part + carry;
      limbs_[limb++] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    for (; carry != 0 && limb < Limbs; ++limb) carry = ++limbs_[limb] == 0 ? 1 : 0;
  }

  void merge(const WideSum& other) noexcept {
    for (std::size_t i = 0; i < Limbs; ++i) add(other.limbs_[i], static_cast<unsigned>(64 * i));
  }

  [[nodiscard]] std::span<const std::uint64_t> limbs() const noexcept { return limbs_; }

 private:
  std::array<std::uint64_t, Limbs> limbs_{};
};

// Floats count in units of 2^-149, the least there is, and their squares in units of 2^-298; so
// their sums have up to 277 + 63 bits, and 554 + 63.
inline constexpr unsigned kFloatUnitBits = 149;

struct Moments {
  WideSum<6> positive;
  WideSum<6> negative;  // without the sign
  WideSum<10> squares;

  // Adds a number `times` times.
  void add(NumberKind kind, std::uint64_t key, std::uint64_t times) noexcept {
    if (kind == NumberKind::kInt64) {
      add_int(key, times);
    } else {
      add_float(static_cast<std::uint32_t>(key), times);
    }
  }

  void merge(const Moments& other) noexcept {
    positive.merge(other.positive);
    negative.merge(other.negative);
    squares.merge(other.squares);
  }

 private:
  void add_int(std::uint64_t key, std::uint64_t times) noexcept {
    constexpr std::uint64_t kZero = std::uint64_t{1} << 63;
    const bool below = key < kZero;
    const std::uint64_t size = below ? kZero - key : key - kZero;
    (below ? negative : positive).add(static_cast<UInt128>(size) * times, 0);
    const UInt128 square = static_cast<UInt128>(size) * size;
    squares.add(static_cast<UInt128>(static_cast<std::uint64_t>(square)) * times, 0);
    const auto high = static_cast<std::uint64_t>(square >> 64);
    if (high != 0) squares.add(static_cast<UInt128>(high) * times, 64);
  }

  void add_float(std::uint32_t key, std::uint64_t times) noexcept {
    constexpr std::uint32_t kZero = std::uint32_t{1} << 31;
    const bool below = key < kZero;
    const std::uint32_t bits = (below ? ~key : key) - kZero;  // without the sign
    const std::uint32_t exponent = bits >> 23;
    const std::uint64_t mantissa = (bits & 0x7fffffU) | (exponent == 0 ? 0U : 0x800000U);
    const std::uint32_t shift = exponent == 0 ? 0 : exponent - 1;
    (below ? negative : positive).add(static_cast<UInt128>(mantissa) * times, shift);
    squares.add(static_cast<UInt128>(mantissa * mantissa) * times, 2 * shift);
  }
};

}  // namespace tfrkit
