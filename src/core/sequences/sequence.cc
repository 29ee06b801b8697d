#include "core/sequences/sequence.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/sequences/sequence_canonical.h"
#include "core/sequences/sequence_step.h"

namespace tfrkit {
namespace {

[[nodiscard]] bool equal(const std::byte* a, const std::byte* b, std::size_t size) noexcept {
  return size == 0 || std::memcmp(a, b, size) == 0;
}

[[nodiscard]] std::size_t distance(const std::byte* from, const std::byte* to) noexcept {
  return static_cast<std::size_t>(to - from);
}

// Walks steps of `count` floats each, whose headers are all the same. Returns where it stops: at
// the end or at another kind of step.
const std::byte* walk_floats(const std::byte* at, const std::byte* end, std::size_t count,
                             SlotExtent& extent) noexcept {
  const std::size_t run = 4 * count;
  if (count == 0 || run > canonical::kMaxShortRun) return at;
  const std::size_t step = canonical::kStepHeader + run;
  const std::uint64_t header = canonical::step_header(Kind::kFloat, run);
  std::int64_t steps = 0;
  while (distance(at, end) >= step &&
         (load_le<std::uint64_t>(at) & canonical::kHeaderMask) == header) {
    at += step;
    ++steps;
  }
  extent.steps += steps;
  extent.values += steps * static_cast<std::int64_t>(count);
  return at;
}

// Walks steps of one varint of up to eight bytes each; stops at any other.
const std::byte* walk_scalars(const std::byte* at, const std::byte* end,
                              SlotExtent& extent) noexcept {
  std::int64_t steps = 0;
  while (distance(at, end) >= canonical::kWordStep) {
    const auto size = std::to_integer<std::size_t>(at[canonical::kStepHeader - 1]);
    const auto word = load_le<std::uint64_t>(at + canonical::kStepHeader);
    const auto zeros = static_cast<std::size_t>(std::countr_zero(~word & kHighBits));
    if (size > 8 || size * 8 != zeros + 1 ||
        (load_le<std::uint64_t>(at) & canonical::kHeaderMask) !=
            canonical::step_header(Kind::kInt64, size)) {
      break;
    }
    at += canonical::kStepHeader + size;
    ++steps;
  }
  extent.steps += steps;
  extent.values += steps;
  return at;
}

// Walks the fast forms of a list with a fixed count.
const std::byte* walk_fixed(const ListSlot& slot, const std::byte* at, const std::byte* end,
                            SlotExtent& extent) noexcept {
  if (slot.kind == Kind::kFloat && slot.count > 0) {
    return walk_floats(at, end, static_cast<std::size_t>(slot.count), extent);
  }
  if (slot.kind == Kind::kInt64 && slot.count == 1) return walk_scalars(at, end, extent);
  return at;
}

}  // namespace

SequencePlan::SequencePlan(std::vector<ContextSlot> context, std::vector<ListSlot> lists)
    : context_(std::move(context)), lists_(std::move(lists)) {
  int number = 0;
  for (const ContextSlot& slot : context_) context_keys_.emplace(slot.key, number++);
  for (const ListSlot& slot : lists_) list_keys_.emplace(slot.key, number++);
}

int SequencePlan::find(const Keys& keys, Bytes key) noexcept {
  const auto found = keys.find(as_text(key));
  return found == keys.end() ? -1 : found->second;
}

SequenceMeasure::SequenceMeasure(const SequencePlan& plan, Dialect dialect)
    : plan_(plan),
      dialect_(dialect),
      row_(plan.slots()),
      stamp_(plan.slots(), 0),
      extents_(plan.slots()) {}

bool SequenceMeasure::measure(Bytes record, SlotNote* notes, std::size_t stride) {
  if (!measure_canonical(record)) {
    scratch_.clear();
    if (!rewrite_sequence(plan_, dialect_, record, scratch_)) return false;
    auto copy = std::make_unique_for_overwrite<std::byte[]>(scratch_.size());
    std::copy(scratch_.begin(), scratch_.end(), copy.get());
    rewritten_.push_back(std::move(copy));
    if (!measure_canonical({rewritten_.back().get(), scratch_.size()})) return false;
  }
  for (std::size_t slot = 0; slot < row_.size(); ++slot) {
    notes[slot * stride] = row_[slot].note;
    extents_[slot] += row_[slot].extent;
  }
  return true;
}

bool SequenceMeasure::measure_canonical(Bytes record) {
  if (record.size() > kMaxLength) return false;
  ++record_;
  seen_ = 0;
  next_[0] = next_[1] = 0;
  const std::byte* at = record.data();
  const std::byte* const end = at + record.size();
  while (at != end) {
    const bool lists = canonical::byte_at(at) == delimited_tag(2);
    std::size_t length = 0;
    if (!canonical::read_head(at, end, delimited_tag(lists ? 2 : 1), length)) return false;
    if (!measure_map({at, length}, lists)) return false;
    at += length;
  }
  return seen_ == row_.size() || measure_missing();
}

bool SequenceMeasure::measure_map(Bytes map, bool lists) {
  const std::byte* at = map.data();
  const std::byte* const end = at + map.size();
  while (at != end) {
    std::size_t length = 0;
    if (!canonical::read_head(at, end, delimited_tag(1), length)) return false;
    if (!measure_entry({at, length}, lists)) return false;
    at += length;
  }
  return true;
}

bool SequenceMeasure::measure_entry(Bytes entry, bool lists) {
  const std::byte* at = entry.data();
  const std::byte* const end = at + entry.size();
  std::size_t key_size = 0;
  std::size_t size = 0;
  if (!canonical::read_head(at, end, delimited_tag(1), key_size)) return false;
  const std::byte* const key = at;
  at += key_size;
  if (!canonical::read_head(at, end, delimited_tag(2), size) || at + size != end) return false;
  const int found = slot_of(key, key_size, lists);
  if (found < 0) return true;
  const auto slot = static_cast<std::size_t>(found);
  if (stamp_[slot] == record_) return false;  // a key that comes twice
  stamp_[slot] = record_;
  ++seen_;
  return lists ? measure_list(slot, {at, size}) : measure_context(slot, {at, size});
}

// Records of one file have their keys in the same order, so the key is most often the one that
// stood here in the record before.
int SequenceMeasure::slot_of(const std::byte* key, std::size_t size, bool lists) {
  std::vector<Prediction>& order = order_[lists ? 1 : 0];
  const std::size_t place = next_[lists ? 1 : 0]++;
  if (place < order.size() && order[place].size == size && equal(order[place].key, key, size)) {
    return order[place].slot;
  }
  const Bytes bytes(key, size);
  const int slot = lists ? plan_.find_list(bytes) : plan_.find_context(bytes);
  if (place >= order.size()) order.resize(place + 1);
  order[place] = {key, size, slot};
  return slot;
}

bool SequenceMeasure::measure_missing() {
  const std::span<const ContextSlot> context = plan_.context();
  for (std::size_t slot = 0; slot < row_.size(); ++slot) {
    if (stamp_[slot] == record_) continue;
    row_[slot] = {};
    if (slot >= context.size()) {
      const ListSlot& list = plan_.lists()[slot - context.size()];
      if (list.count != kVariable && !list.allow_missing) return false;
    } else if (context[slot].count != kVariable) {
      if (!context[slot].has_fallback) return false;
      if (!measure_context(slot, context[slot].fallback)) return false;
    }
  }
  return true;
}

bool SequenceMeasure::measure_context(std::size_t slot, Bytes value) {
  const ContextSlot& wanted = plan_.context()[slot];
  Measured& measured = row_[slot];
  measured = {};
  if (value.empty()) return wanted.count == kVariable;
  Bytes body;
  if (!canonical::read_feature(value, wanted.kind, body)) return false;
  const std::int64_t count = canonical::count_values(wanted.kind, body, measured.extent.bytes);
  if (count < 0 || (wanted.count != kVariable && count != wanted.count)) return false;
  measured.extent.values = count;
  measured.note = {body.data(), body.size(), count};
  return true;
}

bool SequenceMeasure::measure_list(std::size_t slot, Bytes value) {
  const ListSlot& wanted = plan_.lists()[slot - plan_.context().size()];
  SlotExtent extent;
  const std::byte* at = value.data();
  const std::byte* const end = at + value.size();
  while (at != end) {
    at = walk_fixed(wanted, at, end, extent);
    if (at == end) break;
    Bytes body;
    if (!canonical::read_step(at, end, wanted.kind, body)) return false;
    const std::int64_t count = canonical::count_values(wanted.kind, body, extent.bytes);
    if (count < 0 || (wanted.count != kVariable && count != wanted.count)) return false;
    extent.values += count;
    ++extent.steps;
  }
  row_[slot] = {{value.data(), value.size(), extent.steps}, extent};
  return true;
}

}  // namespace tfrkit
