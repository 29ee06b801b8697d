// Quantiles: keys in their order, thinned out to bounded memory; with a bound of the error.
//
// Levels of buffers: a key on level l stands for 2^l keys. A full level is sorted and every other
// key goes one level up: alternately the odd and the even ones, so that a rank is by turns too
// high and too low. No chance is involved: the bounds hold always.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tfrkit {

class Quantiles {
 public:
  // A level is full with 2 * `width` keys. Throws std::bad_alloc, as all that adds does.
  explicit Quantiles(std::size_t width) : width_(width) {}

  void add(std::uint64_t key) {
    if (levels_.empty()) levels_.resize(1);
    levels_[0].keys.push_back(key);
    if (levels_[0].keys.size() == 2 * width_) [[unlikely]]
      thin_out(0);
  }
  // Adds several keys, one after the other.
  void add(std::span<const std::uint64_t> keys) { put(0, keys, 1); }
  // Adds a key `times` times.
  void add(std::uint64_t key, std::uint64_t times);
  void merge(const Quantiles& other);

  // Returns by how many places the rank of a key can be wrong: all keys that are not greater have
  // together a weight that is at most so much too high or too low. With n keys it is about
  // n * log2(n / width) / (4 * width) at most.
  [[nodiscard]] std::uint64_t rank_error() const noexcept { return std::max(over_, under_); }

  // Calls visit(key, weight) for all keys that are kept; the weights add up to all that was added.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      for (const std::uint64_t key : levels_[level].keys) visit(key, std::uint64_t{1} << level);
    }
  }

 private:
  struct Level {
    std::vector<std::uint64_t> keys;
    bool evens = false;  // which of the sorted keys go up next: the 1st, 3rd ..., or the others
  };

  void put(std::size_t level, std::span<const std::uint64_t> keys, std::size_t step);
  void thin_out(std::size_t level);
  void sort(std::vector<std::uint64_t>& keys);
  [[nodiscard]] bool merge_runs(std::vector<std::uint64_t>& keys);

  std::size_t width_;
  std::uint64_t over_ = 0;
  std::uint64_t under_ = 0;
  std::vector<Level> levels_;
  std::vector<std::uint64_t> spare_;
  std::vector<std::uint32_t> low_;
};

}  // namespace tfrkit
