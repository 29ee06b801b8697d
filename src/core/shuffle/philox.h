// Philox4x32-10, the counter-based random numbers of Salmon and others (2011), seeded and read as
// TensorFlow does.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tfrkit {

// The four numbers of one block. A block is a pure function of its counter and the key.
using PhiloxBlock = std::array<std::uint32_t, 4>;

// Returns the block of `counter` under `key`, low words first.
[[nodiscard]] PhiloxBlock philox_block(const PhiloxBlock& counter, std::uint64_t key) noexcept;

// A stream of numbers: the blocks of the counters (block, high), (block + 1, high) and so on, each
// number once. The high half of the counter does not change: 2^66 numbers are not used up.
class Philox {
 public:
  // TensorFlow's seeds are the key and the high half of the counter.
  Philox(std::uint64_t seed, std::uint64_t seed2, std::uint64_t block = 0) noexcept
      : key_(seed), high_(seed2), block_(block) {}

  // Returns the next number.
  [[nodiscard]] std::uint32_t next() noexcept {
    if (used_ == numbers_.size()) refill();
    return numbers_[used_++];
  }

  // Writes the next numbers to all of `target`.
  void fill(std::span<std::uint32_t> target) noexcept;

  // Passes over `count` numbers, in constant time.
  void skip(std::uint64_t count) noexcept;

 private:
  [[nodiscard]] PhiloxBlock at(std::uint64_t block) const noexcept;
  void refill() noexcept { numbers_ = at(block_++), used_ = 0; }

  std::uint64_t key_;
  std::uint64_t high_;
  std::uint64_t block_;  // the next to be computed
  PhiloxBlock numbers_{};
  std::size_t used_ = 4;  // of the numbers
};

}  // namespace tfrkit
