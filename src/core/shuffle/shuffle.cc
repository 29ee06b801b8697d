#include "core/shuffle/shuffle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace tfrkit {
namespace {

// Numbers are made this many at a time, so that places in a large ring can be fetched ahead.
constexpr std::size_t kStep = 64;

// Returns number modulo count; the short division is three times as fast.
[[nodiscard]] inline std::uint32_t modulo(std::uint32_t number, std::size_t count) noexcept {
  if (count > std::numeric_limits<std::uint32_t>::max()) return number;
  return number % static_cast<std::uint32_t>(count);
}

[[nodiscard]] inline bool is_chosen(std::span<const std::uint8_t> chosen,
                                    const ShuffleEntry& entry) noexcept {
  const auto chunk = static_cast<std::size_t>(entry.chunk);
  return chunk < chosen.size() && chosen[chunk] != 0;
}

}  // namespace

void ShuffleBuffer::reseed(std::uint64_t seed, std::uint64_t seed2, std::uint64_t drawn) noexcept {
  random_ = Philox(seed, seed2);
  random_.skip(drawn);
}

std::size_t ShuffleBuffer::check(const AddedRows& added) noexcept {
  constexpr std::uint64_t kLimit = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = 0; i < added.chunks.size(); ++i) {
    if (static_cast<std::uint64_t>(added.chunks[i]) >= kLimit) return i;
    if (static_cast<std::uint64_t>(added.rows[i]) >= kLimit) return i;
  }
  return added.chunks.size();
}

// Makes room for more elements in the ring, and for these chunks in the counts.
void ShuffleBuffer::reserve(std::span<const std::int64_t> chunks, std::size_t room) {
  const std::int64_t last = chunks.empty() ? -1 : *std::ranges::max_element(chunks);
  const auto known = static_cast<std::size_t>(last + 1);
  if (live_.size() < known) {
    const std::size_t grown = std::max(known, 2 * live_.size());
    empty_.reserve(grown);
    bytes_.resize(grown);
    named_.resize(grown);
    live_.resize(grown);
  }
  if (room <= ring_.size() - size_) return;
  std::vector<ShuffleEntry> grown(std::bit_ceil(std::max<std::size_t>(size_ + room, 16)));
  for (std::size_t i = 0; i < size_; ++i) grown[i] = at(start_ + i);
  ring_ = std::move(grown);
  mask_ = ring_.size() - 1;
  start_ = 0;
}

void ShuffleBuffer::count(const ShuffleEntry& entry) noexcept {
  const auto chunk = static_cast<std::size_t>(entry.chunk);
  ++live_[chunk];
  bytes_[chunk] += entry.size_bytes;
  live_bytes_ += entry.size_bytes;
}

void ShuffleBuffer::forget(const ShuffleEntry& entry) noexcept {
  const auto chunk = static_cast<std::size_t>(entry.chunk);
  bytes_[chunk] -= entry.size_bytes;
  live_bytes_ -= entry.size_bytes;
  if (--live_[chunk] != 0 || named_[chunk] != 0) return;
  named_[chunk] = 1;
  empty_.push_back(entry.chunk);  // never beyond what is reserved
}

void ShuffleBuffer::push(const AddedRows& added, std::size_t i) noexcept {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  ShuffleEntry& entry = at(start_ + size_);
  entry.chunk = static_cast<std::int32_t>(added.chunks[i]);
  entry.row = static_cast<std::int32_t>(added.rows[i]);
  entry.size_bytes =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(added.sizes_bytes[i], 0, kMost));
  ++size_;
  count(entry);
}

void ShuffleBuffer::give(std::uint32_t offset, std::int64_t& chunk, std::int64_t& row) noexcept {
  ShuffleEntry& chosen = at(start_ + offset);
  chunk = chosen.chunk;
  row = chosen.row;
  forget(chosen);
  chosen = at(start_);
  ++start_;
  --size_;
}

// Makes the distances of the next draws from the oldest place, and has the places fetched.
void ShuffleBuffer::offsets(std::span<std::uint32_t> target, std::size_t window,
                            bool shrinks) noexcept {
  random_.fill(target);
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] = modulo(target[i], shrinks ? window - i : window);
    __builtin_prefetch(&at(start_ + i + target[i]), 1);
  }
}

void ShuffleBuffer::append(const AddedRows& added) {
  reserve(added.chunks, added.chunks.size());
  for (std::size_t i = 0; i < added.chunks.size(); ++i) push(added, i);
}

void ShuffleBuffer::draw(const DrawnRows& target, std::size_t window) noexcept {
  std::array<std::uint32_t, kStep> places{};
  if (window == kWhole) window = size_;
  for (std::size_t done = 0; done < target.rows.size();) {
    const auto step = std::span(places).first(std::min(kStep, target.rows.size() - done));
    offsets(step, window - done, true);
    for (const std::uint32_t place : step) {
      give(place, target.chunks[done], target.rows[done]);
      ++done;
    }
  }
}

void ShuffleBuffer::exchange(const AddedRows& added, const DrawnRows& target, std::size_t window) {
  reserve(added.chunks, 1);  // one at a time is all that is ever there in addition
  std::array<std::uint32_t, kStep> places{};
  const bool shrinks = window != kWhole;
  for (std::size_t done = 0; done < target.rows.size();) {
    const auto step = std::span(places).first(std::min(kStep, target.rows.size() - done));
    offsets(step, shrinks ? window - done : size_ + 1, shrinks);
    for (const std::uint32_t place : step) {
      push(added, done);
      give(place, target.chunks[done], target.rows[done]);
      ++done;
    }
  }
}

std::size_t ShuffleBuffer::count_chosen(std::span<const std::uint8_t> chosen) const noexcept {
  std::int64_t count = 0;
  for (std::size_t chunk = 0; chunk < std::min(chosen.size(), live_.size()); ++chunk) {
    if (chosen[chunk] != 0) count += live_[chunk];
  }
  return static_cast<std::size_t>(count);
}

void ShuffleBuffer::contents(std::span<const std::uint8_t> chosen, const DrawnRows& target,
                             std::span<std::int64_t> places) const noexcept {
  // Always written, but only counted if chosen: which entries are is not to be foreseen.
  std::size_t found = 0;
  for (std::size_t i = 0; i < size_ && found < places.size(); ++i) {
    const ShuffleEntry& entry = at(start_ + i);
    target.chunks[found] = entry.chunk;
    target.rows[found] = entry.row;
    places[found] = static_cast<std::int64_t>(i);
    found += is_chosen(chosen, entry) ? std::size_t{1} : std::size_t{0};
  }
}

void ShuffleBuffer::relocate(std::span<const std::int64_t> places, const AddedRows& names) {
  reserve(names.chunks, 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    ShuffleEntry& entry = at(start_ + static_cast<std::size_t>(places[i]));
    forget(entry);
    entry.chunk = static_cast<std::int32_t>(names.chunks[i]);
    entry.row = static_cast<std::int32_t>(names.rows[i]);
    count(entry);
  }
}

std::vector<std::int32_t> ShuffleBuffer::take_empty() {
  std::vector<std::int32_t> found;
  found.reserve(empty_.size());
  for (const std::int32_t chunk : empty_) {
    named_[static_cast<std::size_t>(chunk)] = 0;
    if (live_[static_cast<std::size_t>(chunk)] == 0) found.push_back(chunk);
  }
  empty_.clear();
  return found;
}

}  // namespace tfrkit
