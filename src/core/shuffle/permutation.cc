#include "core/shuffle/permutation.h"

#include <algorithm>
#include <bit>

namespace tfrkit {
namespace {

constexpr std::uint64_t kWeyl = 0x9E3779B97F4A7C15U;  // splitmix64's step
constexpr std::uint32_t kFinal = 0xC2B2AE35U;         // the last multiplier of MurmurHash3's mixer

// Numbers on their way at once: they stay in the first-level cache.
constexpr std::size_t kBlock = 512;
using Numbers = std::array<std::uint64_t, kBlock>;
using Places = std::array<std::uint16_t, kBlock>;

// splitmix64's output function, a bijection.
constexpr std::uint64_t mix(std::uint64_t word) noexcept {
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
  return word ^ (word >> 31);
}

// The function of a round, of which the highest bits are used.
constexpr std::uint32_t scatter(std::uint32_t half, PermutationKey key) noexcept {
  std::uint32_t word = (half + key.addend) * key.multiplier;
  word ^= word >> 16;
  return word * kFinal;
}

// Sends each of the first `count` numbers through the network once. The rounds of one number wait
// for each other, those of its neighbours do not: compilers make vectors of them. With SSE2 that is
// 109 million indices/s on a core (benchmarks/permutation.py). A file for AVX2 would give three
// times as many, but no reader of records needs them.
void step(const Permutation& permutation, Numbers& numbers, std::size_t count) noexcept {
  const auto keys = permutation.keys;
  const unsigned low_bits = permutation.low_bits;
  const unsigned to_high = 32 - permutation.high_bits;
  const unsigned to_low = 32 - low_bits;
  const std::uint32_t low_mask = (std::uint32_t{1} << low_bits) - 1;
  for (std::size_t i = 0; i < count; ++i) {
    auto high = static_cast<std::uint32_t>(numbers[i] >> low_bits);
    auto low = static_cast<std::uint32_t>(numbers[i]) & low_mask;
    for (std::size_t round = 0; round < kPermutationRounds; round += 2) {
      high ^= scatter(low, keys[round]) >> to_high;
      low ^= scatter(high, keys[round + 1]) >> to_low;
    }
    numbers[i] = (std::uint64_t{high} << low_bits) | low;
  }
}

// Permutes the first target.size() numbers: all take a step, then those that are out of range,
// moved together, take another, until there are none.
void walk(const Permutation& permutation, Numbers& numbers,
          std::span<std::int64_t> target) noexcept {
  Places places;  // in the target, of the numbers on their way
  std::size_t left = 0;
  step(permutation, numbers, target.size());
  for (std::size_t i = 0; i < target.size(); ++i) {
    const std::uint64_t number = numbers[i];
    target[i] = static_cast<std::int64_t>(number);
    places[left] = static_cast<std::uint16_t>(i);
    numbers[left] = number;
    left += number >= permutation.size ? 1 : 0;
  }
  while (left != 0) {
    const std::size_t count = left;
    left = 0;
    step(permutation, numbers, count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t number = numbers[i];
      const std::uint16_t place = places[i];
      target[place] = static_cast<std::int64_t>(number);
      places[left] = place;
      numbers[left] = number;
      left += number >= permutation.size ? 1 : 0;
    }
  }
}

}  // namespace

Permutation make_permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch) noexcept {
  const auto fewest = static_cast<unsigned>(size == 0 ? 0 : std::bit_width(size - 1));
  const unsigned bits = std::max(fewest, kMinPermutationBits);
  Permutation made{size, bits / 2, bits - bits / 2, {}};
  std::uint64_t state = mix(seed + kWeyl);
  state = mix((state ^ epoch) + kWeyl);
  state = mix((state ^ size) + kWeyl);
  for (PermutationKey& key : made.keys) {
    const std::uint64_t word = mix(state += kWeyl);
    key = {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32) | 1};
  }
  return made;
}

std::size_t permute_indices(const Permutation& permutation, std::span<const std::int64_t> indices,
                            std::span<std::int64_t> target) noexcept {
  Numbers numbers;
  for (std::size_t start = 0; start < indices.size(); start += kBlock) {
    const std::size_t count = std::min(kBlock, indices.size() - start);
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] = static_cast<std::uint64_t>(indices[start + i]);  // what is negative gets large
    }
    const auto is_outside = [&](std::uint64_t number) { return number >= permutation.size; };
    const std::span block = std::span(numbers).first(count);
    const auto good =
        static_cast<std::size_t>(std::ranges::find_if(block, is_outside) - block.begin());
    walk(permutation, numbers, target.subspan(start, good));
    if (good != count) return start + good;
  }
  return indices.size();
}

void permute_run(const Permutation& permutation, std::uint64_t start,
                 std::span<std::int64_t> target) noexcept {
  Numbers numbers;
  while (!target.empty()) {
    const std::size_t count = std::min(kBlock, target.size());
    for (std::size_t i = 0; i < count; ++i) numbers[i] = start + i;
    walk(permutation, numbers, target.first(count));
    target = target.subspan(count);
    start += count;
  }
}

}  // namespace tfrkit
