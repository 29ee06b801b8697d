#include "core/describe/number_stats.h"

#include <algorithm>
#include <array>

namespace tfrkit {

void NumberStats::add(std::span<const std::uint64_t> keys) {
  // The places of some keys are asked for before the first is looked at: a table of 100,000 is not
  // in the nearest cache.
  constexpr std::size_t kAtOnce = 32;
  std::array<NumberKey, kAtOnce> some;
  std::array<std::uint64_t, kAtOnce> hashes;
  while (!sketches_ && !keys.empty()) {
    const std::size_t count = std::min(kAtOnce, keys.size());
    for (std::size_t i = 0; i < count; ++i) {
      some[i] = {keys[i]};
      hashes[i] = some[i].hash();
      counts_.fetch(hashes[i]);
    }
    std::size_t done = 0;
    while (!sketches_ && done < count) {
      done += counts_.add_known(std::span(some).subspan(done, count - done), hashes.data() + done);
      if (done < count) {
        add_new(some[done], hashes[done], 1);
        ++done;
      }
    }
    keys = keys.subspan(done);
  }
  if (keys.empty()) return;
  add_share(keys, Share::kMain);
  add_share(keys, Share::kCounts);
}

void NumberStats::add_share(std::span<const std::uint64_t> keys, Share share) {
  if (share == Share::kMain) {
    add_order(keys);
  } else {
    add_counts(keys);
  }
}

void NumberStats::add_order(std::span<const std::uint64_t> keys) {
  Sketches& sketches = *sketches_;
  sketches.count += keys.size();
  std::uint64_t least = sketches.least;
  std::uint64_t greatest = sketches.greatest;
  for (const std::uint64_t key : keys) {
    least = std::min(least, key);
    greatest = std::max(greatest, key);
  }
  sketches.least = least;
  sketches.greatest = greatest;
  sketches.quantiles.add(keys);
}

void NumberStats::add_counts(std::span<const std::uint64_t> keys) {
  if (kind_ == NumberKind::kFloat) {
    sketches_->moments.add_floats(keys);
  } else {
    for (const std::uint64_t key : keys) sketches_->moments.add(kind_, key, 1);
  }
  constexpr std::size_t kAtOnce = 64;
  std::array<NumberKey, kAtOnce> some;
  std::array<std::uint64_t, kAtOnce> hashes;
  while (!keys.empty()) {
    const std::size_t count = std::min(kAtOnce, keys.size());
    for (std::size_t i = 0; i < count; ++i) {
      some[i] = {keys[i]};
      hashes[i] = some[i].hash();
      sketches_->distinct.add(hashes[i]);
    }
    sketches_->frequent.add_each(std::span(some).first(count), hashes.data());
    keys = keys.subspan(count);
  }
}

void NumberStats::add_new(const NumberKey& key, std::uint64_t hash, std::uint64_t times) {
  counts_.add(key, hash, times);
  if (counts_.size() > limits_.exact) begin_sketches();
}

void NumberStats::add(std::uint64_t key, std::uint64_t times) {
  if (times == 0) return;
  const std::uint64_t hash = NumberKey{key}.hash();
  if (sketches_) {
    sketch(key, hash, times);
    return;
  }
  add_new({key}, hash, times);
}

void NumberStats::sketch(std::uint64_t key, std::uint64_t hash, std::uint64_t times) {
  Sketches& sketches = *sketches_;
  sketches.count += times;
  sketches.least = std::min(sketches.least, key);
  sketches.greatest = std::max(sketches.greatest, key);
  sketches.moments.add(kind_, key, times);
  sketches.distinct.add(hash);
  sketches.frequent.add({key}, hash, times);
  if (times == 1) {
    sketches.quantiles.add(key);
  } else {
    sketches.quantiles.add(key, times);
  }
}

void NumberStats::begin_sketches() {
  sketches_ = std::make_unique<Sketches>(limits_);
  counts_.for_each(
      [this](const auto& entry) { sketch(entry.key.bits, entry.key.hash(), entry.count); });
  counts_.clear();
}

void NumberStats::merge(const NumberStats& other) {
  if (!other.sketches_) {
    other.counts_.for_each([this](const auto& entry) { add(entry.key.bits, entry.count); });
    return;
  }
  if (!sketches_) begin_sketches();
  const Sketches& more = *other.sketches_;
  sketches_->count += more.count;
  sketches_->least = std::min(sketches_->least, more.least);
  sketches_->greatest = std::max(sketches_->greatest, more.greatest);
  sketches_->moments.merge(more.moments);
  sketches_->distinct.merge(more.distinct);
  sketches_->frequent.merge(more.frequent);
  sketches_->quantiles.merge(more.quantiles);
}

Moments NumberStats::moments() const noexcept {
  if (sketches_) return sketches_->moments;
  Moments moments;
  counts_.for_each([&](const auto& entry) { moments.add(kind_, entry.key.bits, entry.count); });
  return moments;
}

}  // namespace tfrkit
