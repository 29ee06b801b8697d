// KeyTable: the keys of many records, each with a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/examples/parse_one.h"

namespace tfrkit {

inline constexpr std::size_t kMaxKeys = std::size_t{1} << 16;      // features, and lists
inline constexpr std::size_t kMaxKeyBytes = std::size_t{1} << 24;  // of all keys together

inline constexpr std::uint32_t kNoSlot = 0xffffffff;

// Keys and their slots, which are numbers in the order in which they were met.
class KeyTable {
 public:
  explicit KeyTable(std::size_t max_keys = kMaxKeys) noexcept : max_keys_(max_keys) {}

  // Returns the slot of `key` if it stood in this place of the record before too, else kNoSlot.
  // Records of one file mostly have their keys in one order.
  [[nodiscard]] std::uint32_t find_expected(Bytes key, std::size_t place) const noexcept {
    if (place >= order_.size()) return kNoSlot;
    const Expected& expected = order_[place];
    const bool same =
        expected.size == key.size() && same_bytes(expected.key, key.data(), key.size());
    return same ? expected.slot : kNoSlot;
  }

  // Returns the slot of `key`, which is the `place`-th of its record; kNoSlot if it is new and
  // there are too many.
  [[nodiscard]] std::uint32_t find_or_add(Bytes key, std::size_t place);

  // The same for a key that stands nowhere in particular.
  [[nodiscard]] std::uint32_t find_or_add(Bytes key) { return find_or_add(key, kMaxKeys); }

  // Forgets the slots from `size` on.
  void shrink(std::size_t size);

  // Notes that `slot` is the `index`-th found of the record `stamp`; returns its earlier index in
  // the same record, or kNoSlot.
  [[nodiscard]] std::uint32_t mark(std::uint32_t slot, std::uint64_t stamp, std::uint32_t index) {
    Mark& mark = marks_[slot];
    if (mark.stamp == stamp) return mark.index;
    mark.stamp = stamp;
    mark.index = index;
    return kNoSlot;
  }

  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  [[nodiscard]] const std::string& key(std::size_t slot) const noexcept { return *keys_[slot]; }

 private:
  // A key that stood somewhere last time; of no key at all, the size is that of none.
  struct Expected {
    const std::byte* key = nullptr;
    std::uint32_t size = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t slot = kNoSlot;
  };
  struct Mark {
    std::uint64_t stamp = 0;
    std::uint32_t index = 0;
  };

  std::size_t max_keys_;
  std::vector<std::unique_ptr<std::string>> keys_;
  std::unordered_map<std::string_view, std::uint32_t> slots_;
  std::vector<Expected> order_;
  std::vector<Mark> marks_;
  std::size_t key_bytes_ = 0;
};

}  // namespace tfrkit
