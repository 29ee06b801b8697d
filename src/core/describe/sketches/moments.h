// Moments: the exact sums of numbers and of their squares.
//
// Fixed point as wide as it takes, so the order in which numbers are added does not matter, and
// code that divides at the end rounds once. What is added all together is below 2^63 numbers.
#pragma once

#include <algorithm>
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

  // Adds many floats, first by sign and exponent: mantissas of equal exponents add up in one word,
  // and a bucket goes into the wide sums once.
  void add_floats(std::span<const std::uint64_t> keys) noexcept {
    constexpr std::size_t kFew = 256;  // for which buckets do not pay
    while (keys.size() > kFew) {
      const std::size_t count = std::min(keys.size(), Buckets::kMost);
      Buckets buckets;
      for (const std::uint64_t key : keys.first(count))
        buckets.add(static_cast<std::uint32_t>(key));
      buckets.add_to(*this);
      keys = keys.subspan(count);
    }
    for (const std::uint64_t key : keys) add_float(static_cast<std::uint32_t>(key), 1);
  }

  void merge(const Moments& other) noexcept {
    positive.merge(other.positive);
    negative.merge(other.negative);
    squares.merge(other.squares);
  }

 private:
  // Mantissas, and their squares, of floats with the same sign and exponent.
  class Buckets {
   public:
    static constexpr std::size_t kMost = 1U << 16;  // floats: a square has 48 bits

    void add(std::uint32_t key) noexcept {
      const std::uint32_t below = (key >> 31) - 1;  // all bits if the number is below 0
      const std::uint32_t bits = key ^ below;       // without the sign; the highest bit is set
      const std::uint32_t exponent = bits >> 23 & 0xff;
      const std::uint32_t one = static_cast<std::uint32_t>(exponent != 0) << 23;
      const std::uint64_t mantissa = (bits & 0x7fffffU) | one;
      Bucket& bucket = lanes_[lane_ ^= 1][(below & 0x100U) | exponent];
      bucket.sum += mantissa;
      bucket.squares += mantissa * mantissa;
    }

    void add_to(Moments& moments) const noexcept {
      for (const auto& lane : lanes_) {
        for (std::uint32_t i = 0; i < lane.size(); ++i) {
          if (lane[i].sum == 0) continue;
          const std::uint32_t exponent = i & 0xff;
          const std::uint32_t shift = exponent == 0 ? 0 : exponent - 1;
          (i < 0x100 ? moments.positive : moments.negative).add(lane[i].sum, shift);
          moments.squares.add(lane[i].squares, 2 * shift);
        }
      }
    }

   private:
    struct Bucket {
      std::uint64_t sum = 0;
      std::uint64_t squares = 0;
    };
    std::size_t lane_ = 0;  // by turns, so that equal exponents wait less for each other
    std::array<std::array<Bucket, 512>, 2> lanes_{};
  };

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
