// Digest: 96 bits that stand for a byte string.
//
// Among 100,000 different strings two have the same with a probability of 10^-19. Not made to
// resist an attacker that looks for two that do: they would be counted as one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/bytes/bytes.h"
#include "core/describe/sketches/count_table.h"
#include "core/describe/sketches/moments.h"

namespace tfrkit {

struct Digest {
  std::uint64_t high = 0;
  std::uint32_t low = 0;
};

// Returns the halves of the product, one over the other.
[[nodiscard]] inline std::uint64_t fold_product(std::uint64_t one, std::uint64_t other) noexcept {
  const UInt128 product = static_cast<UInt128>(one) * other;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline constexpr std::size_t kLongBytes = 128;

[[nodiscard]] inline Digest digest_of(Bytes bytes) noexcept {
  // Odd numbers without a pattern: the digits of pi, e and two square roots.
  constexpr std::uint64_t kOne = 0x243f6a8885a308d3U;
  constexpr std::uint64_t kTwo = 0xb7e151628aed2a6bU;
  constexpr std::uint64_t kThree = 0x6a09e667f3bcc909U;
  constexpr std::uint64_t kFour = 0xbb67ae8584caa73bU;
  const std::byte* at = bytes.data();
  std::size_t size = bytes.size();
  std::uint64_t one = kOne ^ size;
  std::uint64_t two = kTwo + size;
  const auto step = [&](std::uint64_t first, std::uint64_t second) noexcept {
    one = fold_product(first ^ one, second ^ kThree);
    two = fold_product(second ^ two, first ^ kFour);
  };
  // Long ones in four lanes, whose products do not wait for each other: 1.3 x (benchmarks/diff.py).
  if (size >= kLongBytes) {
    std::uint64_t three = ~one;
    std::uint64_t four = ~two;
    for (; size > 32; at += 32, size -= 32) {
      step(load_le<std::uint64_t>(at), load_le<std::uint64_t>(at + 8));
      const auto third = load_le<std::uint64_t>(at + 16);
      const auto fourth = load_le<std::uint64_t>(at + 24);
      three = fold_product(third ^ three, fourth ^ kThree);
      four = fold_product(fourth ^ four, third ^ kFour);
    }
    step(three, four);
  }
  if (size > 16) {
    for (std::size_t done = 0; done + 16 < size; done += 16) {
      step(load_le<std::uint64_t>(at + done), load_le<std::uint64_t>(at + done + 8));
    }
    step(load_le<std::uint64_t>(at + size - 16), load_le<std::uint64_t>(at + size - 8));
  } else if (size >= 8) {
    step(load_le<std::uint64_t>(at), load_le<std::uint64_t>(at + size - 8));
  } else if (size >= 4) {
    step(load_le<std::uint32_t>(at), load_le<std::uint32_t>(at + size - 4));
  } else if (size > 0) {
    step(std::to_integer<std::uint64_t>(at[0]) << 16 | std::to_integer<std::uint64_t>(at[size / 2]),
         std::to_integer<std::uint64_t>(at[size - 1]));
  }
  return {mix_bits(one ^ std::rotl(two, 32)), static_cast<std::uint32_t>(mix_bits(two + kFour))};
}

}  // namespace tfrkit
