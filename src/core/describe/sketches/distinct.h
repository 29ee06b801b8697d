// Distinct: how many different keys there were, estimated in constant memory (HyperLogLog).
//
// Depends on the set of keys alone: not on their order, their repetition, or how they were merged.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tfrkit {

// With 2^bits registers the standard error is 1.04 / sqrt(2^bits).
class Distinct {
 public:
  // Precondition: 4 <= bits <= 18. Throws std::bad_alloc.
  explicit Distinct(unsigned bits) : bits_(bits), registers_(std::size_t{1} << bits) {}

  // Notes a key by its hash, all bits of which count.
  void add(std::uint64_t hash) noexcept {
    const std::size_t place = hash >> (64 - bits_);
    const std::uint64_t rest = (hash << bits_) | (std::uint64_t{1} << (bits_ - 1));
    const auto rank = static_cast<std::uint8_t>(std::countl_zero(rest) + 1);
    if (rank > registers_[place]) [[unlikely]]
      registers_[place] = rank;
  }

  // Adds what another has noted; of different numbers of registers the smaller is kept.
  void merge(const Distinct& other);

  [[nodiscard]] double estimate() const noexcept;
  [[nodiscard]] double standard_error() const noexcept;
  [[nodiscard]] unsigned bits() const noexcept { return bits_; }

 private:
  void add_finer(const Distinct& other) noexcept;

  unsigned bits_;
  std::vector<std::uint8_t> registers_;
};

}  // namespace tfrkit
