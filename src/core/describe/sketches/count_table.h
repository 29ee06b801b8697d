// CountTable: how often each of many keys occurred, by open addressing; Frequent: the most frequent
// of any number of keys, in bounded memory.
//
// A key has `hash()`, of which the high bits are used, and `==`. Throw std::bad_alloc if there is
// no memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace tfrkit {

// Returns a number that depends on all bits of `bits` in all of its bits; one to one.
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t bits) noexcept {
  bits ^= bits >> 32;
  bits *= 0xd6e8feb86659fd93U;
  bits ^= bits >> 32;
  bits *= 0xd6e8feb86659fd93U;
  return bits ^ (bits >> 32);
}

// A number as a key: one whose order is that of the numbers, see NumberStats.
struct NumberKey {
  std::uint64_t bits = 0;
  [[nodiscard]] std::uint64_t hash() const noexcept { return mix_bits(bits); }
  friend bool operator==(const NumberKey&, const NumberKey&) = default;
};

template <typename Key>
class CountTable {
 public:
  struct Entry {
    Key key{};
    std::uint64_t count = 0;  // 0: the place is free
  };

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Asks for the memory in which a key with this hash is.
  void fetch(std::uint64_t hash) const noexcept {
    if (!entries_.empty()) __builtin_prefetch(&entries_[hash >> shift_]);
  }

  // Adds to the count of a key whose hash this is; returns where it is, until the next call. A new
  // one has the count `times`, which is not 0.
  Entry& add(const Key& key, std::uint64_t hash, std::uint64_t times) {
    if (size_ >= room_) [[unlikely]]
      grow();
    Entry& entry = place_of(key, hash);
    if (entry.count == 0) {
      entry.key = key;
      ++size_;
    }
    entry.count += times;
    return entry;
  }

  // Adds 1 to the counts of keys with these hashes, up to the first that is new; returns how many.
  // The places are kept in registers here: through members they are read anew for each key, since
  // any count that is written might be one of them. Counting is 1.1 x faster (benchmarks/stats.py).
  std::size_t add_known(std::span<const Key> keys, const std::uint64_t* hashes) noexcept {
    if (entries_.empty()) return 0;
    Entry* const entries = entries_.data();
    const std::size_t last = entries_.size() - 1;
    const unsigned shift = shift_;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Key key = keys[i];
      std::size_t place = hashes[i] >> shift;
      while (!(entries[place].key == key) && entries[place].count != 0) place = (place + 1) & last;
      if (entries[place].count == 0) return i;
      ++entries[place].count;
    }
    return keys.size();
  }

  // Adds 1 to the counts of keys with these hashes, in their order, until there are `most` keys or
  // the table has to grow before the next one; returns how many were added. For keys of which ==
  // compares all.
  std::size_t add_until(std::span<const Key> keys, const std::uint64_t* hashes, std::size_t most) {
    if (size_ >= room_) [[unlikely]]
      grow();
    Entry* const entries = entries_.data();
    const std::size_t last = entries_.size() - 1;
    const std::size_t limit = std::min(most, room_);
    const unsigned shift = shift_;
    std::size_t size = size_;
    std::size_t done = 0;
    while (done < keys.size() && size < limit) {
      const Key key = keys[done];
      Entry& entry = entries[find(entries, last, key, hashes[done++] >> shift)];
      size += static_cast<std::size_t>(entry.count == 0);
      entry.key = key;
      ++entry.count;
    }
    size_ = size;
    return done;
  }

  // Not in the order of the places, which is that of the hashes: a caller that puts the keys into
  // another table would fill one end of it first, and search long there.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    const std::size_t step = (entries_.size() / 16 * 9) | 1;
    std::size_t place = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[place].count != 0) visit(entries_[place]);
      place = (place + step) & (entries_.size() - 1);
    }
  }
  // The same for callers that change something of the key that is no part of ==.
  template <typename Visit>
  void change_each(const Visit& visit) {
    for (Entry& entry : entries_) {
      if (entry.count != 0) visit(entry);
    }
  }

  // Subtracts the same from all counts and drops those that had no more than that, so that at most
  // `capacity` keys are left; returns how much. Precondition: there are more. Keys that occurred
  // once are never left: where all are different, these are all.
  [[nodiscard]] std::uint64_t reduce(std::size_t capacity) {
    std::vector<Entry> left;
    for (const Entry& entry : entries_) {
      if (entry.count > 1) left.push_back(entry);
    }
    std::uint64_t least = 1;
    if (left.size() > capacity) {
      std::vector<std::uint64_t> counts;
      counts.reserve(left.size());
      for (const Entry& entry : left) counts.push_back(entry.count);
      const auto next = counts.begin() + static_cast<std::ptrdiff_t>(capacity);
      std::nth_element(counts.begin(), next, counts.end(), std::greater<>());
      least = *next;
    }
    std::ranges::fill(entries_, Entry{});
    size_ = 0;
    for (Entry& entry : left) {
      if (entry.count <= least) continue;
      entry.count -= least;
      place_of(entry.key, entry.key.hash()) = entry;
      ++size_;
    }
    return least;
  }

  // Frees all memory.
  void clear() { *this = CountTable(); }

 private:
  static constexpr unsigned kLeastBits = 4;

  Entry& place_of(const Key& key, std::uint64_t hash) noexcept {
    return entries_[find(entries_.data(), entries_.size() - 1, key, hash >> shift_)];
  }

  // Returns the place of a key, or the free one where it belongs, from `place` on. Whether the
  // first places are right cannot be predicted, so the first steps are additions.
  static std::size_t find(const Entry* entries, std::size_t last, const Key& key,
                          std::size_t place) noexcept {
    for (unsigned step = 0; step < 2; ++step) {
      const auto other = static_cast<std::size_t>(entries[place].count != 0) &
                         static_cast<std::size_t>(!(entries[place].key == key));
      place = (place + other) & last;
    }
    while (entries[place].count != 0 && !(entries[place].key == key)) place = (place + 1) & last;
    return place;
  }

  // 100,000 keys must fit into 2^17 places: a table is full with four of five places taken.
  void grow() {
    const std::size_t places =
        entries_.empty() ? std::size_t{1} << kLeastBits : 2 * entries_.size();
    const std::vector<Entry> before = std::exchange(entries_, std::vector<Entry>(places));
    shift_ = static_cast<unsigned>(64 - std::countr_zero(places));
    room_ = places / 5 * 4;
    for (const Entry& entry : before) {
      if (entry.count != 0) place_of(entry.key, entry.key.hash()) = entry;
    }
  }

  std::vector<Entry> entries_;  // a power of two of them
  std::size_t size_ = 0;
  std::size_t room_ = 0;
  unsigned shift_ = 64;
};

// Misra and Gries: a count is at most error() too low, and a key that is not here occurred at most
// so often. With `capacity` counters the error is at most the sum of all counts / (capacity + 1).
template <typename Key>
class Frequent {
 public:
  explicit Frequent(std::size_t capacity) noexcept : capacity_(capacity) {}

  CountTable<Key>::Entry* add(const Key& key, std::uint64_t hash, std::uint64_t times) {
    auto* entry = &table_.add(key, hash, times);
    if (table_.size() <= 2 * capacity_) return entry;
    error_ += table_.reduce(capacity_);
    return nullptr;
  }

  // Adds 1 to the counts of keys with these hashes, one after the other. For keys of which ==
  // compares all.
  void add_each(std::span<const Key> keys, const std::uint64_t* hashes) {
    while (!keys.empty()) {
      const std::size_t done = table_.add_until(keys, hashes, 2 * capacity_ + 1);
      if (table_.size() > 2 * capacity_) error_ += table_.reduce(capacity_);
      keys = keys.subspan(done);
      hashes += done;
    }
  }

  // Adds the counts of another; its error is added too.
  void merge(const Frequent& other) {
    other.table_.for_each(
        [&](const auto& entry) { add(entry.key, entry.key.hash(), entry.count); });
    add_error(other.error_);
  }
  // Notes that counts which were added were so much too low.
  void add_error(std::uint64_t error) noexcept { error_ += error; }

  [[nodiscard]] std::uint64_t error() const noexcept { return error_; }
  [[nodiscard]] const CountTable<Key>& table() const noexcept { return table_; }
  [[nodiscard]] CountTable<Key>& table() noexcept { return table_; }

 private:
  std::size_t capacity_;
  std::uint64_t error_ = 0;
  CountTable<Key> table_;
};

}  // namespace tfrkit
