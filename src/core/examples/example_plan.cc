#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/bytes/wire.h"
#include "core/examples/example_parts.h"

namespace tfrkit {
namespace {

// Returns the hash of a key: its last word (or all of it), mixed with the words before.
std::uint64_t hash_of(Bytes key) noexcept {
  const std::size_t size = key.size();
  if (size >= 8) {
    const auto last = load_le<std::uint64_t>(key.data() + size - 8);
    return finish_hash(hash_words(key.data(), size), last, size);
  }
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < size; ++i) last |= std::to_integer<std::uint64_t>(key[i]) << (8 * i);
  return finish_hash(0, last, size);
}

// Sets the range of the last byte for a slot; false if no usual entry of it is as short as that.
bool set_range(const ExampleSlot& slot, EntryPattern& pattern) noexcept {
  constexpr std::int64_t kOverhead = 8;  // tags and lengths in the entry after its own length
  const std::int64_t most = 127 - kOverhead - static_cast<std::int64_t>(slot.key.size());
  if (most < 0) return false;
  std::int64_t lowest = 0;
  std::int64_t highest = most;
  if (slot.kind == Kind::kBytes) {
    if ((slot.is_fixed() && slot.count != 1) || slot.stride > 1) return false;
  } else if (slot.kind == Kind::kFloat && slot.is_fixed()) {
    if (slot.count > most / 4) return false;
    lowest = highest = 4 * slot.count;
  } else if (slot.is_fixed()) {
    if (slot.count > most) return false;
    lowest = slot.count;
    highest = std::min<std::int64_t>(most, slot.count * static_cast<std::int64_t>(kMaxVarintBytes));
  }
  if (slot.kind == Kind::kBytes) {
    pattern.form = EntryForm::kOneBytes;
  } else if (slot.count == 1) {
    pattern.form = slot.kind == Kind::kFloat ? EntryForm::kOneFloat : EntryForm::kOneInt64;
  } else {
    pattern.form = EntryForm::kNumbers;
  }
  pattern.min_last = static_cast<std::uint32_t>(lowest);
  pattern.span = static_cast<std::uint32_t>(highest - lowest);
  return true;
}

}  // namespace

// `text` is the prefix with p = 0, `steps` has 1 where p is added.
void set_pattern_words(std::span<const std::byte> text, std::span<const std::byte> steps,
                       EntryPattern& pattern) noexcept {
  pattern.size = static_cast<std::uint32_t>(text.size());
  pattern.head = load_le<std::uint64_t>(text.data());
  pattern.head_step = load_le<std::uint64_t>(steps.data());
  pattern.tail = load_le<std::uint64_t>(text.data() + text.size() - 8);
  pattern.tail_step = load_le<std::uint64_t>(steps.data() + text.size() - 8);
}

bool make_slot_pattern(const ExampleSlot& slot, EntryPattern& pattern) noexcept {
  if (!set_range(slot, pattern)) return false;
  const std::size_t size = slot.key.size();
  std::array<std::byte, 256> text{};
  std::array<std::byte, 256> steps{};
  text[0] = std::byte{delimited_tag(1)};
  text[1] = static_cast<std::byte>(size + 8);
  text[2] = std::byte{delimited_tag(1)};
  text[3] = static_cast<std::byte>(size);
  std::copy(slot.key.begin(), slot.key.end(), text.begin() + 4);
  std::byte* const behind = text.data() + 4 + size;
  behind[0] = std::byte{delimited_tag(2)};
  behind[1] = std::byte{4};
  behind[2] = std::byte{delimited_tag(static_cast<unsigned>(slot.kind))};
  behind[3] = std::byte{2};
  behind[4] = std::byte{delimited_tag(1)};
  steps[1] = steps[5 + size] = steps[7 + size] = steps[9 + size] = std::byte{1};
  set_pattern_words(std::span(text).first(size + 10), std::span(steps).first(size + 10), pattern);
  pattern.middle = slot.key.data() + std::min<std::size_t>(size, 4);
  return true;
}

bool make_other_pattern(Bytes key, std::span<std::byte> kept_key, EntryPattern& pattern) noexcept {
  const std::size_t size = key.size();
  if (size < 2 || size > kept_key.size()) return false;
  std::array<std::byte, kKeptKeyBytes + 6> text{};
  std::array<std::byte, kKeptKeyBytes + 6> steps{};
  text[0] = std::byte{delimited_tag(1)};
  text[1] = static_cast<std::byte>(size + 4);
  text[2] = std::byte{delimited_tag(1)};
  text[3] = static_cast<std::byte>(size);
  std::copy(key.begin(), key.end(), text.begin() + 4);
  std::copy(key.begin(), key.end(), kept_key.begin());
  text[4 + size] = std::byte{delimited_tag(2)};
  steps[1] = steps[5 + size] = std::byte{1};
  set_pattern_words(std::span(text).first(size + 6), std::span(steps).first(size + 6), pattern);
  pattern.middle = kept_key.data() + std::min<std::size_t>(size, 4);
  pattern.min_last = 0;
  pattern.span = static_cast<std::uint32_t>(127 - 4 - size);
  pattern.slot = ExamplePlan::kNone;
  return true;
}

ExamplePlan::ExamplePlan(std::vector<ExampleSlot> slots)
    : slots_(std::move(slots)),
      patterns_(slots_.size()),
      buckets_(std::bit_ceil(16 * slots_.size() + 1)) {
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    if (!make_slot_pattern(slots_[slot], patterns_[slot])) patterns_[slot] = kNoPattern;
    patterns_[slot].slot = static_cast<std::uint32_t>(slot);
    const std::uint64_t hash = hash_of(slots_[slot].key);
    std::size_t at = hash & (buckets_.size() - 1);
    while (buckets_[at].slot != kNone) at = (at + 1) & (buckets_.size() - 1);
    buckets_[at] = {static_cast<std::uint32_t>(hash >> 16), static_cast<std::uint32_t>(slot)};
  }
}

std::uint32_t ExamplePlan::find(Bytes key) const noexcept {
  const std::uint64_t hash = hash_of(key);
  const auto mark = static_cast<std::uint32_t>(hash >> 16);
  for (std::size_t at = hash & (buckets_.size() - 1);; at = (at + 1) & (buckets_.size() - 1)) {
    const Bucket& bucket = buckets_[at];
    if (bucket.slot == kNone) return kNone;
    if (bucket.hash != mark) continue;
    const std::vector<std::byte>& wanted = slots_[bucket.slot].key;
    if (wanted.size() == key.size() &&
        (key.empty() || std::memcmp(wanted.data(), key.data(), key.size()) == 0)) {
      return bucket.slot;
    }
  }
}

}  // namespace tfrkit
