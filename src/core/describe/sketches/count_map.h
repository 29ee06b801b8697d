// CountMap: how often each number occurred, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace tfrkit {

inline constexpr std::size_t kMaxCountedOfOne = 4096;  // different numbers that one map stores

// How often each number occurred: least, greatest, most frequent. Exact while few are different.
class CountMap {
 public:
  // Notes that `number` occurred `times` more; `budget` is what may still be stored by all maps.
  void add(std::uint64_t number, std::uint64_t times, std::size_t& budget) {
    if (number == recent_ && recent_times_ != 0) {
      recent_times_ += times;
      total_ += times;
    } else {
      add_other(number, times, budget);
    }
  }
  void merge(const CountMap& other, std::size_t& budget);

  // All three are 0 if nothing was added.
  [[nodiscard]] std::uint64_t least() const noexcept { return total_ == 0 ? 0 : least_; }
  [[nodiscard]] std::uint64_t greatest() const noexcept { return greatest_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

  // Returns the most frequent number, of equals the least, and how often it occurred.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> usual() const;

 private:
  void add_other(std::uint64_t number, std::uint64_t times, std::size_t& budget);
  void store(std::uint64_t number, std::uint64_t times, std::size_t& budget);

  std::map<std::uint64_t, std::uint64_t> times_;
  std::uint64_t recent_ = 0;  // added but not stored: mostly the next number is the same
  std::uint64_t recent_times_ = 0;
  std::uint64_t least_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t greatest_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace tfrkit
