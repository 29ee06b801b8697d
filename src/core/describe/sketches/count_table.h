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

  // Subtracts from all counts and drops those that had no more than that.
  void subtract(std::uint64_t count) {
    std::vector<Entry> before = std::exchange(entries_, std::vector<Entry>(entries_.size()));
    size_ = 0;
    for (Entry& entry : before) {
      if (entry.count <= count) continue;
      entry.count -= count;
      place_of(entry.key, entry.key.hash()) = entry;
      ++size_;
    }
  }

  // Frees all memory.
  void clear() { *this = CountTable(); }

 private:
  static constexpr unsigned kLeastBits = 4;

  Entry& place_of(const Key& key, std::uint64_t hash) noexcept {
    const std::size_t last = entries_.size() - 1;
    std::size_t place = hash >> shift_;
    // Whether the first place is the right one cannot be predicted, so the first step is an
    // addition.
    const auto other = static_cast<std::size_t>(entries_[place].count != 0) &
                       static_cast<std::size_t>(!(entries_[place].key == key));
    place = (place + other) & last;
    while (entries_[place].count != 0 && !(entries_[place].key == key)) place = (place + 1) & last;
    return entries_[place];
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
    reduce();
    return nullptr;
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
  // Leaves at most `capacity_` keys.
  void reduce() {
    std::vector<std::uint64_t> counts;
    counts.reserve(table_.size());
    table_.for_each([&](const auto& entry) { counts.push_back(entry.count); });
    const auto next = counts.begin() + static_cast<std::ptrdiff_t>(capacity_);
    std::nth_element(counts.begin(), next, counts.end(), std::greater<>());
    error_ += *next;
    table_.subtract(*next);
  }

  std::size_t capacity_;
  std::uint64_t error_ = 0;
  CountTable<Key> table_;
};

}  // namespace tfrkit
