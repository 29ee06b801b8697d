#include "core/describe/sketches/quantiles.h"

#include <array>
#include <bit>
#include <cstddef>

namespace tfrkit {
namespace {

// By bytes, from the last to the first, without those that are the same in all keys.
// Returns where the keys are then: in `from` or in
// `into`.
template <typename Word>
[[nodiscard]] const Word* sort_by_bytes(std::span<Word> from, std::span<Word> into,
                                        Word differing) noexcept {
  for (unsigned shift = 0; shift < 8 * sizeof(Word); shift += 8) {
    if ((differing >> shift & 0xff) == 0) continue;
    std::array<std::uint32_t, 256> places{};
    for (const Word key : from) ++places[key >> shift & 0xff];
    std::uint32_t next = 0;
    for (std::uint32_t& place : places) next += std::exchange(place, next);
    for (const Word key : from) into[places[key >> shift & 0xff]++] = key;
    std::swap(from, into);
  }
  return from.data();
}

// Merges two sorted runs without a branch for each key: which one is less cannot be predicted.
void merge_two(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
               std::uint64_t* into) noexcept {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const bool take_b = b[j] < a[i];
    *into++ = take_b ? b[j] : a[i];
    i += static_cast<std::size_t>(!take_b);
    j += static_cast<std::size_t>(take_b);
  }
  into = std::copy(a.begin() + static_cast<std::ptrdiff_t>(i), a.end(), into);
  std::copy(b.begin() + static_cast<std::ptrdiff_t>(j), b.end(), into);
}

}  // namespace

// Adds every `step`-th key.
void Quantiles::put(std::size_t level, std::span<const std::uint64_t> keys, std::size_t step) {
  if (levels_.size() <= level) levels_.resize(level + 1);
  for (std::size_t done = 0; done < keys.size();) {
    std::vector<std::uint64_t>& into = levels_[level].keys;
    const std::size_t before = into.size();
    const std::size_t left = (keys.size() - done + step - 1) / step;
    const std::size_t count = std::min(left, 2 * width_ - before);
    into.resize(before + count);
    for (std::size_t i = before; i < into.size(); ++i, done += step) into[i] = keys[done];
    if (into.size() == 2 * width_) thin_out(level);
  }
}

void Quantiles::add(std::uint64_t key, std::uint64_t times) {
  for (; times != 0; times &= times - 1) {
    put(static_cast<std::size_t>(std::countr_zero(times)), {&key, 1}, 1);
  }
}

void Quantiles::merge(const Quantiles& other) {
  over_ += other.over_;
  under_ += other.under_;
  for (std::size_t level = 0; level < other.levels_.size(); ++level) {
    put(level, other.levels_[level].keys, 1);
  }
}

// Of 2n sorted keys of weight w, r are not above some key. The odd ones among them weigh 2w *
// ceil(r / 2), which is w too much or right; the even ones 2w * floor(r / 2).
void Quantiles::thin_out(std::size_t level) {
  if (levels_.size() == level + 1) levels_.resize(level + 2);
  std::vector<std::uint64_t> keys = std::exchange(levels_[level].keys, {});
  sort(keys);
  const bool evens = levels_[level].evens;
  levels_[level].evens = !evens;
  (evens ? under_ : over_) += std::uint64_t{1} << level;
  put(level + 1, std::span(keys).subspan(evens ? 1 : 0), 2);
  keys.clear();
  if (levels_[level].keys.empty()) levels_[level].keys = std::move(keys);
}

// What comes from a level below is a few sorted runs.
void Quantiles::sort(std::vector<std::uint64_t>& keys) {
  spare_.resize(keys.size());
  if (merge_runs(keys)) return;
  std::uint64_t differing = 0;
  for (const std::uint64_t key : keys) differing |= key ^ keys[0];
  if (differing >> 32 != 0) {
    if (sort_by_bytes<std::uint64_t>(keys, spare_, differing) != keys.data()) keys.swap(spare_);
    return;
  }
  // Only the low halves differ, as in keys of floats: these alone fit into the nearest cache.
  const std::uint64_t high = keys[0] >> 32 << 32;
  low_.resize(2 * keys.size());
  std::ranges::transform(keys, low_.begin(),
                         [](auto key) { return static_cast<std::uint32_t>(key); });
  const std::span low(low_);
  const auto* sorted = sort_by_bytes<std::uint32_t>(low.first(keys.size()), low.last(keys.size()),
                                                    static_cast<std::uint32_t>(differing));
  for (std::uint64_t& key : keys) key = high | *sorted++;
}

// Sorts keys that are up to three sorted runs; false if they are more, then nothing is changed.
bool Quantiles::merge_runs(std::vector<std::uint64_t>& keys) {
  const auto first = std::is_sorted_until(keys.begin(), keys.end());
  const auto second = std::is_sorted_until(first, keys.end());
  if (!std::is_sorted(second, keys.end())) return false;
  const std::span last(second, keys.end());
  merge_two({keys.begin(), first}, {first, second}, spare_.data());
  if (last.empty()) {
    keys.swap(spare_);
  } else {
    const std::vector<std::uint64_t> three(last.begin(), last.end());
    merge_two(std::span(spare_).first(keys.size() - three.size()), three, keys.data());
  }
  return true;
}

}  // namespace tfrkit
