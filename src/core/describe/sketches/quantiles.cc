#include "core/describe/sketches/quantiles.h"

#include <array>
#include <bit>
#include <cstddef>

namespace tfrkit {
namespace {

constexpr std::size_t kManyKeys = 2048;  // for which wide digits pay

// By digits of `Bits` bits, from the last to the first, without those that are the same in all
// keys. How often each digit occurs is counted for all of them at once. Returns where the keys are
// then: in `from` or in `into`.
template <unsigned Bits, typename Word>
[[nodiscard]] const Word* sort_by_digits(std::span<Word> from, std::span<Word> into,
                                         Word differing) noexcept {
  constexpr unsigned kWordBits = 8 * sizeof(Word);
  constexpr std::size_t kDigits = (kWordBits + Bits - 1) / Bits;
  constexpr Word kMask = (Word{1} << Bits) - 1;
  std::array<std::array<std::uint32_t, std::size_t{1} << Bits>, kDigits> places{};
  for (const Word key : from) {
    for (std::size_t digit = 0; digit < kDigits; ++digit) {
      ++places[digit][key >> (Bits * digit) & kMask];
    }
  }
  for (std::size_t digit = 0; digit < kDigits; ++digit) {
    const auto shift = static_cast<unsigned>(Bits * digit);
    if ((differing >> shift & kMask) == 0) continue;
    std::uint32_t next = 0;
    for (std::uint32_t& place : places[digit]) next += std::exchange(place, next);
    for (const Word key : from) into[places[digit][key >> shift & kMask]++] = key;
    std::swap(from, into);
  }
  return from.data();
}

// Merges two sorted runs without a branch for each key: which one is less cannot be predicted. From
// both ends at once, since each step waits for the one before.
void merge_two(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
               std::uint64_t* into) noexcept {
  const std::uint64_t* first_a = a.data();
  const std::uint64_t* first_b = b.data();
  const std::uint64_t* last_a = first_a + a.size();
  const std::uint64_t* last_b = first_b + b.size();
  std::uint64_t* back = into + a.size() + b.size();
  // As many steps as no run can end in: each takes one key from the front and one from the back.
  for (std::size_t safe = std::min(a.size(), b.size()) / 2; safe != 0;
       safe = static_cast<std::size_t>(std::min(last_a - first_a, last_b - first_b)) / 2) {
    for (; safe != 0; --safe) {
      const bool take_b = *first_b < *first_a;
      *into++ = take_b ? *first_b : *first_a;
      first_a += static_cast<std::ptrdiff_t>(!take_b);
      first_b += static_cast<std::ptrdiff_t>(take_b);
      const bool take_a = last_b[-1] < last_a[-1];
      *--back = take_a ? last_a[-1] : last_b[-1];
      last_a -= static_cast<std::ptrdiff_t>(take_a);
      last_b -= static_cast<std::ptrdiff_t>(!take_a);
    }
  }
  std::merge(first_a, last_a, first_b, last_b, into);
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
    if (sort_by_digits<8>(std::span(keys), std::span(spare_), differing) != keys.data())
      keys.swap(spare_);
    return;
  }
  // Only the low halves differ, as in keys of floats: these alone fit into the nearest cache.
  const std::uint64_t high = keys[0] >> 32 << 32;
  low_.resize(2 * keys.size());
  std::ranges::transform(keys, low_.begin(),
                         [](auto key) { return static_cast<std::uint32_t>(key); });
  const std::span low(low_);
  const auto first = low.first(keys.size());
  const auto other = low.last(keys.size());
  const auto* sorted = keys.size() >= kManyKeys
                           ? sort_by_digits<11>(first, other, static_cast<std::uint32_t>(differing))
                           : sort_by_digits<8>(first, other, static_cast<std::uint32_t>(differing));
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
