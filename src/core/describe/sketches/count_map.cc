#include "core/describe/sketches/count_map.h"

#include <algorithm>

namespace tfrkit {

void CountMap::add_other(std::uint64_t number, std::uint64_t times, std::size_t& budget) {
  if (times == 0) return;
  least_ = std::min(least_, number);
  greatest_ = std::max(greatest_, number);
  total_ += times;
  if (number != recent_) {
    store(recent_, recent_times_, budget);
    recent_ = number;
    recent_times_ = 0;
  }
  recent_times_ += times;
}

void CountMap::merge(const CountMap& other, std::size_t& budget) {
  if (other.total_ == 0) return;
  for (const auto& [number, times] : other.times_) store(number, times, budget);
  store(other.recent_, other.recent_times_, budget);
  least_ = std::min(least_, other.least_);
  greatest_ = std::max(greatest_, other.greatest_);
  total_ += other.total_;
}

std::pair<std::uint64_t, std::uint64_t> CountMap::usual() const {
  std::uint64_t best = recent_;
  std::uint64_t most = recent_times_;
  const auto stored = times_.find(recent_);
  if (stored != times_.end()) most += stored->second;
  for (const auto& [number, times] : times_) {
    if (number == recent_) continue;
    if (times > most || (times == most && number < best)) {
      best = number;
      most = times;
    }
  }
  return {best, most};
}

void CountMap::store(std::uint64_t number, std::uint64_t times, std::size_t& budget) {
  if (times == 0) return;
  const auto place = times_.lower_bound(number);
  if (place != times_.end() && place->first == number) {
    place->second += times;
    return;
  }
  if (budget == 0 || times_.size() >= kMaxCountedOfOne) return;
  --budget;
  times_.emplace_hint(place, number, times);
}

}  // namespace tfrkit
