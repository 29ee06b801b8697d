// NumberStats: many numbers; which ones, how often, their sums, and estimates when they are too
// many different ones.
//
// Numbers come as keys whose order as unsigned integers is theirs (`int64_key`, `float_key`). Up to
// `Limits::exact` different ones are counted one by one, and everything follows from these counts
// at the end. With one more the counts go into sums, which stay exact, and into three sketches
// whose error is known. What comes out depends on the numbers and their order, not on how many
// were added at once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/describe/sketches/count_table.h"
#include "core/describe/sketches/distinct.h"
#include "core/describe/sketches/moments.h"
#include "core/describe/sketches/quantiles.h"

namespace tfrkit {

// How much memory the statistics of a feature may take.
struct Limits {
  std::size_t exact;          // different values that are counted one by one
  unsigned distinct_bits;     // see Distinct
  std::size_t frequent;       // see Frequent
  std::size_t quantile_keys;  // see Quantiles
  std::size_t text_bytes;     // of byte strings that are kept to be shown
};

[[nodiscard]] constexpr std::uint64_t int64_key(std::uint64_t bits) noexcept {
  return bits ^ (std::uint64_t{1} << 63);
}
// Both zeros have the key of +0. Precondition: not NaN.
[[nodiscard]] constexpr std::uint64_t float_key(std::uint32_t bits) noexcept {
  constexpr std::uint32_t kSign = std::uint32_t{1} << 31;
  if (bits == kSign) return kSign;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

// Returns the bits of the number with this key.
[[nodiscard]] constexpr std::uint64_t bits_of_key(NumberKind kind, std::uint64_t key) noexcept {
  constexpr std::uint32_t kSign = std::uint32_t{1} << 31;
  if (kind == NumberKind::kInt64) return int64_key(key);
  const auto low = static_cast<std::uint32_t>(key);
  return (low & kSign) != 0 ? low & ~kSign : ~low;
}

// What two threads can do for one feature while it is estimated, about as long each: its range and
// quantiles; its sums, distinct and frequent values. All that is no number is in the main share.
enum class Share : std::uint8_t { kMain, kCounts };

// Throws std::bad_alloc if there is no memory.
class NumberStats {
 public:
  NumberStats(NumberKind kind, const Limits& limits) noexcept : kind_(kind), limits_(limits) {}

  void add(std::span<const std::uint64_t> keys);
  void add(std::uint64_t key, std::uint64_t times);
  // Adds keys to a share of the sketches; neither touches what is the other's, and `add` does the
  // same as both, one after the other. Precondition: sketches().
  void add_share(std::span<const std::uint64_t> keys, Share share);
  // Adds what another has. Two that are exact may become estimates.
  void merge(const NumberStats& other);

  // What is known beyond the limit.
  struct Sketches {
    Sketches(const Limits& limits)
        : quantiles(limits.quantile_keys),
          distinct(limits.distinct_bits),
          frequent(limits.frequent) {}
    std::uint64_t count = 0;
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t greatest = 0;
    Quantiles quantiles;
    alignas(64) Moments moments;  // on other cache lines: from here on it is the other share
    Distinct distinct;
    Frequent<NumberKey> frequent;
  };

  // Returns nullptr as long as all is exact and in counts().
  [[nodiscard]] const Sketches* sketches() const noexcept { return sketches_.get(); }
  [[nodiscard]] const CountTable<NumberKey>& counts() const noexcept { return counts_; }
  // Returns the sums of all that was added.
  [[nodiscard]] Moments moments() const noexcept;
  [[nodiscard]] NumberKind kind() const noexcept { return kind_; }

 private:
  void add_new(const NumberKey& key, std::uint64_t hash, std::uint64_t times);
  void sketch(std::uint64_t key, std::uint64_t hash, std::uint64_t times);
  void add_order(std::span<const std::uint64_t> keys);
  void add_counts(std::span<const std::uint64_t> keys);
  void begin_sketches();

  NumberKind kind_;
  Limits limits_;
  CountTable<NumberKey> counts_;
  std::unique_ptr<Sketches> sketches_;
};

}  // namespace tfrkit
