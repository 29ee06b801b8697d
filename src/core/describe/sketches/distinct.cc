#include "core/describe/sketches/distinct.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace tfrkit {
namespace {

// The two corrections of Ertl's estimator ("New cardinality estimation algorithms for HyperLogLog
// sketches"): for the share of registers that are empty, and of those that are full.
[[nodiscard]] double empty_term(double share) noexcept {
  if (share == 1.0) return std::numeric_limits<double>::infinity();
  double weight = 1;
  double sum = share;
  for (double before = -1; sum != before;) {
    share *= share;
    before = sum;
    sum += share * weight;
    weight += weight;
  }
  return sum;
}

[[nodiscard]] double full_term(double share) noexcept {
  if (share == 0.0 || share == 1.0) return 0;
  double weight = 1;
  double sum = 1 - share;
  for (double before = -1; sum != before;) {
    share = std::sqrt(share);
    before = sum;
    weight *= 0.5;
    sum -= (1 - share) * (1 - share) * weight;
  }
  return sum / 3;
}

}  // namespace

void Distinct::merge(const Distinct& other) {
  if (other.bits_ < bits_) {
    Distinct coarser(other.bits_);
    coarser.add_finer(*this);
    *this = std::move(coarser);
  }
  if (other.bits_ > bits_) {
    add_finer(other);
    return;
  }
  for (std::size_t i = 0; i < registers_.size(); ++i) {
    registers_[i] = std::max(registers_[i], other.registers_[i]);
  }
}

// Several registers there are one here. Of their numbers the low bits were the first of the rest.
void Distinct::add_finer(const Distinct& other) noexcept {
  const unsigned more = other.bits_ - bits_;
  for (std::size_t i = 0; i < other.registers_.size(); ++i) {
    if (other.registers_[i] == 0) continue;
    const std::uint64_t low = i & ((std::size_t{1} << more) - 1);
    const auto rank = low == 0
                          ? static_cast<std::uint8_t>(other.registers_[i] + more)
                          : static_cast<std::uint8_t>(std::countl_zero(low << (64 - more)) + 1);
    registers_[i >> more] = std::max(registers_[i >> more], rank);
  }
}

double Distinct::estimate() const noexcept {
  std::array<std::uint64_t, 66> ranks{};
  for (const std::uint8_t rank : registers_) ++ranks[rank];
  const auto size = static_cast<double>(registers_.size());
  const unsigned top = 64 - bits_;
  double sum = size * full_term(1 - static_cast<double>(ranks[top + 1]) / size);
  for (unsigned rank = top; rank >= 1; --rank) {
    sum = 0.5 * (sum + static_cast<double>(ranks[rank]));
  }
  sum += size * empty_term(static_cast<double>(ranks[0]) / size);
  return size * size / (2 * std::log(2.0) * sum);
}

double Distinct::standard_error() const noexcept {
  return 1.04 / std::sqrt(static_cast<double>(registers_.size()));
}

}  // namespace tfrkit
