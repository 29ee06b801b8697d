// A pseudo-random permutation of [0, size), computed for any indices and stored nowhere.
//
// A Feistel network permutes the numbers of `bits` bits, the fewest that hold all indices but at
// least kMinPermutationBits. A result beyond the size goes through the network again until one is
// in range (cycle walking), which makes it a permutation of [0, size). FORMAT.md, "Permutations",
// defines every bit of it; version 1 must not change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tfrkit {

inline constexpr std::uint64_t kMaxPermutationSize = std::uint64_t{1} << 62;

// Halves of fewer bits would leave marks in the order of a few elements. A whole permutation takes
// at most 2^10 steps for that, however few elements it has.
inline constexpr unsigned kMinPermutationBits = 10;

// Flipping one bit of the index shows in the bits of the result if there are four rounds, over
// 400,000 keys and sizes from 2^10 to 2^62; it does not if there are five. Three more are a margin.
inline constexpr std::size_t kPermutationRounds = 8;

// What one round adds and multiplies by.
struct PermutationKey {
  std::uint32_t addend;
  std::uint32_t multiplier;  // odd
};

struct Permutation {
  std::uint64_t size;
  unsigned high_bits;  // of the halves that a number is cut into; together the bits of the network
  unsigned low_bits;
  std::array<PermutationKey, kPermutationRounds> keys;
};

// Returns the permutation of [0, size) for a seed and an epoch. Precondition: size is at most
// kMaxPermutationSize.
[[nodiscard]] Permutation make_permutation(std::uint64_t size, std::uint64_t seed,
                                           std::uint64_t epoch) noexcept;

// Writes what the permutation has at each index. Returns how many were written: all, or those
// before the first index that is not in [0, size). Precondition: `target` has as many entries as
// `indices`; it may be the same memory. Each index is read once, so that another thread that writes
// to `indices` meanwhile changes results, and nothing else.
[[nodiscard]] std::size_t permute_indices(const Permutation& permutation,
                                          std::span<const std::int64_t> indices,
                                          std::span<std::int64_t> target) noexcept;

// Writes what the permutation has at `start` and the indices after it, to all of `target`.
// Precondition: start + target.size() is at most the size.
void permute_run(const Permutation& permutation, std::uint64_t start,
                 std::span<std::int64_t> target) noexcept;

}  // namespace tfrkit
