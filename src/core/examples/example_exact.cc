// The exact path: any bytes, by the rules of the dialect. Slow, and right.
#include <algorithm>

#include "core/bytes/wire.h"
#include "core/examples/example_parts.h"

namespace tfrkit {
namespace {

// Walks the entries of an Example as TensorFlow does and calls visit(key, feature) for each; false
// if it is no Example. Lengths that claim too much are cut at the end of what is round them.
template <typename Visit>
bool walk_tensorflow(Bytes record, const Visit& visit) {
  Wire example(record);
  while (!example.at_end()) {
    if (!example.expect(delimited_tag(1))) {
      if (!example.skip_extraneous()) return false;
      continue;
    }
    std::uint32_t length = 0;
    if (!example.read_length32(length)) return false;
    Wire features = example.limit(length);
    while (!features.at_end()) {
      if (!features.expect(delimited_tag(1)) || !features.read_length32(length)) return false;
      Wire entry = features.limit(length);
      Bytes key;
      Bytes feature;
      // Two fields, in any order; the same one twice passes.
      for (int field = 0; field < 2; ++field) {
        std::uint32_t tag = 0;
        if (!entry.read_length32(tag)) return false;
        if (tag != delimited_tag(1) && tag != delimited_tag(2)) return false;
        if (!entry.read_string32(tag == delimited_tag(1) ? key : feature)) return false;
      }
      if (!entry.at_end()) return false;
      features.move_to(entry.position());
      visit(key, feature);
    }
    example.move_to(features.position());
  }
  return true;
}

// The same as protobuf does, with the whole entry instead of the feature.
template <typename Visit>
bool walk_protobuf(Bytes record, const Visit& visit) {
  std::uint32_t tag = 0;
  Wire example(record);
  while (!example.at_end()) {
    if (!example.read_tag(tag)) return false;
    if (tag != delimited_tag(1)) {
      if (!example.skip_field(tag)) return false;
      continue;
    }
    Bytes message;
    if (!example.read_message(message)) return false;
    Wire features(message);
    while (!features.at_end()) {
      if (!features.read_tag(tag)) return false;
      if (tag != delimited_tag(1)) {
        if (!features.skip_field(tag, kMaxNesting - 1)) return false;
        continue;
      }
      Bytes entry;
      Bytes key;
      if (!features.read_message(entry)) return false;
      Wire fields(entry);
      while (!fields.at_end()) {
        if (!fields.read_tag(tag)) return false;
        if (tag != delimited_tag(1)) {
          if (!fields.skip_field(tag, kMaxNesting - 2)) return false;
        } else if (!fields.read_message(key)) {
          return false;
        }
      }
      visit(key, entry);
    }
  }
  return true;
}

// What is known of a record while its entries are walked.
class ExactRecord {
 public:
  ExactRecord(const ExampleBatch& batch, Dialect dialect, std::size_t row)
      : batch_(batch), entries_(batch.parts.entries), dialect_(dialect), row_(row) {
    std::fill(entries_.begin(), entries_.end(), SlotEntry{});
  }

  // TensorFlow goes from the last entry to the first and takes the first of each key that it sees:
  // here the last one wins.
  void visit_tensorflow(Bytes key, Bytes feature) {
    const std::uint32_t slot = batch_.plan.find(key);
    ++order_;
    if (slot == ExamplePlan::kNone) return;
    const ExampleSlot& wanted = batch_.plan.slots()[slot];
    SlotEntry& entry = entries_[slot];
    if (feature.empty()) {
      const bool hides =
          dialect_ == Dialect::kTensorflowBatch && !wanted.is_fixed() && wanted.stride == 0;
      if (entry.order == 0 || hides) entry = {{}, order_, true};
      return;
    }
    const auto tag = std::to_integer<std::uint8_t>(feature[0]);
    if (tag != delimited_tag(1) && tag != delimited_tag(2) && tag != delimited_tag(3)) {
      fail({.code = ParseCode::kUnsupportedKind, .slot = static_cast<std::int32_t>(slot)}, order_);
      return;
    }
    entry = {feature, order_, false};
  }

  void visit_protobuf(Bytes key, Bytes bytes) {
    const std::uint32_t slot = batch_.plan.find(key);
    ++order_;
    if (slot == ExamplePlan::kNone) return;
    // An entry that a later one replaces must be good all the same.
    CheckedList list;
    const ExampleFailure failure =
        read_list_protobuf(batch_.plan.slots()[slot], bytes, batch_.parts.arena, list);
    if (failure.code == ParseCode::kMalformedList) fail_slot(failure, slot, order_);
    const bool is_unset = failure.code == ParseCode::kWrongKind && failure.kind == Kind::kUnset;
    entries_[slot] = {bytes, order_, is_unset};
  }

  ExampleFailure finish();

 private:
  // Of several faults the last in the order of the record counts.
  void fail(const ExampleFailure& failure, std::uint64_t order) noexcept {
    if (order < failed_order_) return;
    failed_order_ = order;
    failure_ = failure;
  }

  void fail_slot(ExampleFailure failure, std::size_t slot, std::uint64_t order) noexcept {
    failure.slot = static_cast<std::int32_t>(slot);
    fail(failure, order);
  }

  const ExampleBatch& batch_;
  std::vector<SlotEntry>& entries_;
  Dialect dialect_;
  std::size_t row_;
  std::uint64_t order_ = 0;
  std::uint64_t failed_order_ = 0;
  ExampleFailure failure_;
};

// All entries are known: puts the lists into their places.
ExampleFailure ExactRecord::finish() {
  const auto slots = batch_.plan.slots();
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    const SlotEntry& entry = entries_[slot];
    if (entry.order == 0 || entry.is_unset) continue;
    CheckedList list;
    CopyArena& arena = batch_.parts.arena;
    const ExampleFailure failure =
        dialect_ == Dialect::kProtobuf
            ? read_list_protobuf(slots[slot], entry.bytes, arena, list)
            : read_list_tensorflow(slots[slot], entry.bytes, arena, list);
    if (failure.code != ParseCode::kOk) {
      fail_slot(failure, slot, entry.order);
      continue;
    }
    arena.keep(arena.end_of_copy());
    place_list(batch_, slot, row_, list);
  }
  if (failure_.code != ParseCode::kOk) return failure_;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    const SlotEntry& entry = entries_[slot];
    const bool is_set = entry.order != 0 && !entry.is_unset;
    if (!is_set) {
      if (slots[slot].is_fixed() && !slots[slot].has_default) {
        return {.code = ParseCode::kMissing, .slot = static_cast<std::int32_t>(slot)};
      }
      place_missing(batch_, slot, row_);
    }
    if (batch_.columns[slot].states != nullptr) {
      const FeatureState state = is_set             ? FeatureState::kPresent
                                 : entry.order != 0 ? FeatureState::kUnset
                                                    : FeatureState::kAbsent;
      batch_.columns[slot].states[row_] = static_cast<std::uint8_t>(state);
    }
  }
  return {};
}

}  // namespace

ExampleFailure parse_exact(const ExampleBatch& batch, Dialect dialect, Bytes record,
                           std::size_t row) {
  if (record.size() > kMaxExampleBytes) return {.code = ParseCode::kMalformedExample};
  batch.parts.arena.begin(record.size());
  ExactRecord exact(batch, dialect, row);
  const bool good =
      dialect == Dialect::kProtobuf
          ? walk_protobuf(record, [&](Bytes key, Bytes entry) { exact.visit_protobuf(key, entry); })
          : walk_tensorflow(
                record, [&](Bytes key, Bytes feature) { exact.visit_tensorflow(key, feature); });
  if (!good) return {.code = ParseCode::kMalformedExample};
  return exact.finish();
}

}  // namespace tfrkit
