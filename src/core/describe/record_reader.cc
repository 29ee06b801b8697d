#include "core/describe/record_reader.h"

#include "core/bytes/utf8.h"
#include "core/examples/map_entry.h"
#include "core/examples/parse_one.h"

namespace tfrkit {
namespace {

constexpr std::uint32_t kBadKey = kNoSlot - 1;

// Adds the steps of a FeatureList; false if it is damaged.
[[nodiscard]] bool measure_list(Bytes feature_list, FoundList& list) {
  Wire wire(feature_list);
  while (!wire.at_end()) {
    std::uint32_t tag = 0;
    Bytes step;
    Values values;
    if (!wire.read_tag(tag)) return false;
    if (tag != delimited_tag(1)) {
      if (!wire.skip_field(tag, kMaxNesting - 3)) return false;
      continue;
    }
    if (!wire.read_message(step) || !measure_feature(step, 4, values)) return false;
    list.add(values);
  }
  return true;
}

}  // namespace

void FoundList::clear(std::uint32_t for_slot) {
  auto memory = std::move(counts);
  memory.clear();
  *this = FoundList{};
  counts = std::move(memory);
  slot = for_slot;
}

void FoundList::add(const Values& values) {
  ++steps;
  ++kinds[index_of(values.kind)];
  if (values.kind == Kind::kUnset) return;
  if (first_kind == Kind::kUnset) first_kind = values.kind;
  if (values.count == 0) ++empty;
  if (counts.empty() || counts.back().first != values.count) counts.emplace_back(values.count, 0);
  ++counts.back().second;
  ranges.add(values);
  if (values.kind == Kind::kBytes && values.count != 0 && !has_first) {
    first = values.first;
    has_first = true;
  }
}

void RecordReader::expect(Bytes key) {
  static_cast<void>(features_.find_or_add(key));
  static_cast<void>(lists_.find_or_add(key));
}

// What the record adds to the tables is taken back if it is not what it seemed.
RecordKind RecordReader::read(Bytes record) {
  ++stamp_;
  unknown_ = false;
  entries_ = 0;
  passed_over_ = 0;
  found_features_.clear();
  found_values_.clear();
  found_list_count_ = 0;
  has_lists_ = false;
  const std::size_t features = features_.size();
  if (!read_top(record)) {
    features_.shrink(features);
    return RecordKind::kOther;
  }
  const std::uint64_t in_context = entries_;
  const std::uint64_t passed_over = passed_over_;
  const std::size_t lists = lists_.size();
  // An Example may have any field 2: it is only then a SequenceExample if feature lists are there.
  const bool good = !has_lists_ || read_all_lists(record);
  if (good && entries_ > in_context) return RecordKind::kSequenceExample;
  if (!good) {
    unknown_ = true;
    lists_.shrink(lists);
    found_list_count_ = 0;
    passed_over_ = passed_over;
  }
  // Much that is no Example is a message of unknown fields: text, or a message of another type.
  if (in_context == 0 && unknown_) return RecordKind::kOther;
  return RecordKind::kExample;
}

bool RecordReader::read_top(Bytes record) {
  Wire wire(record);
  while (!wire.at_end()) {
    std::uint32_t tag = 0;
    Bytes message;
    if (!wire.read_tag(tag)) return false;
    if (tag == delimited_tag(1)) {
      if (!wire.read_message(message) || !read_features(message)) return false;
    } else if (tag == delimited_tag(2)) {
      has_lists_ = true;
      if (!wire.read_message(message)) return false;
    } else {
      unknown_ = true;
      if (!wire.skip_field(tag)) return false;
    }
  }
  return true;
}

// Reads the feature lists of a record that read_top has been through.
bool RecordReader::read_all_lists(Bytes record) {
  Wire wire(record);
  while (!wire.at_end()) {
    std::uint32_t tag = 0;
    Bytes message;
    if (!wire.read_tag(tag)) return false;
    if (tag != delimited_tag(2)) {
      if (!wire.skip_field(tag)) return false;
    } else if (!wire.read_message(message) || !read_lists(message)) {
      return false;
    }
  }
  return true;
}

// Reads the next field of a map; an entry goes to `found` with its key.
bool RecordReader::read_map_field(Wire& wire, bool (RecordReader::*found)(Bytes key, Bytes entry)) {
  std::uint32_t tag = 0;
  Bytes entry;
  Bytes key;
  if (!wire.read_tag(tag)) return false;
  if (tag != delimited_tag(1)) {
    unknown_ = true;
    return wire.skip_field(tag, kMaxNesting - 1);
  }
  return wire.read_message(entry) && read_key(entry, key) && (this->*found)(key, entry);
}

bool RecordReader::read_lists(Bytes lists) {
  Wire wire(lists);
  while (!wire.at_end()) {
    if (!read_map_field(wire, &RecordReader::found_list)) return false;
  }
  return true;
}

// Returns the slot of the next key of the record; kNoSlot if it is not followed, kBadKey if
// protobuf refuses it.
std::uint32_t RecordReader::slot_of(Bytes key, KeyTable& table) {
  const std::size_t place = entries_++;
  const std::uint32_t expected = table.find_expected(key, place);
  if (expected != kNoSlot) return expected;
  const std::size_t known = table.size();
  const std::uint32_t slot = table.find_or_add(key, place);
  if ((slot == kNoSlot || slot >= known) && !is_utf8(key)) return kBadKey;
  if (slot == kNoSlot) ++passed_over_;
  return slot;
}

// Reads the features of an Example: those with one value at a glance.
bool RecordReader::read_features(Bytes features) {
  Wire wire(features);
  while (!wire.at_end()) {
    SingleValue single;
    const std::size_t taken = read_single_value(wire.rest(), single);
    if (taken == 0) {
      if (!read_map_field(wire, &RecordReader::found_feature)) return false;
      continue;
    }
    wire.move_to(wire.position() + taken);
    std::uint32_t slot = features_.find_expected(single.key, entries_);
    if (slot != kNoSlot) {
      ++entries_;
    } else {
      slot = slot_of(single.key, features_);
    }
    if (slot == kBadKey) return false;
    if (slot == kNoSlot) continue;
    FoundFeature& found = note_feature(slot);
    found.values = kNoSlot;
    found.kind = single.kind;
    found.bits = single.bits;
    found.data = single.data;
  }
  return true;
}

bool RecordReader::found_feature(Bytes key, Bytes entry) {
  const std::uint32_t slot = slot_of(key, features_);
  if (slot == kBadKey) return false;
  Values values;
  values.bounded = bounded_;
  if (!for_each_value(entry, [&](Bytes value) { return measure_feature(value, 3, values); })) {
    return false;
  }
  if (slot == kNoSlot) return true;
  FoundFeature& found = note_feature(slot);
  found.values = static_cast<std::uint32_t>(found_values_.size());
  found.entry = entry;
  found_values_.push_back(values);
  return true;
}

// Returns the place of a feature among those of the record, to be filled where it stands. Of equal
// keys the last one counts.
FoundFeature& RecordReader::note_feature(std::uint32_t slot) {
  const auto index = static_cast<std::uint32_t>(found_features_.size());
  const std::uint32_t before = features_.mark(slot, stamp_, index);
  if (before != kNoSlot) return found_features_[before];
  FoundFeature& found = found_features_.emplace_back();
  found.slot = slot;
  return found;
}

bool RecordReader::found_list(Bytes key, Bytes entry) {
  const std::uint32_t slot = slot_of(key, lists_);
  if (slot == kBadKey) return false;
  FoundList ignored;
  FoundList* list = &ignored;
  if (slot != kNoSlot) {
    const std::uint32_t before =
        lists_.mark(slot, stamp_, static_cast<std::uint32_t>(found_list_count_));
    if (before != kNoSlot) {
      list = &found_lists_[before];
    } else {
      if (found_list_count_ == found_lists_.size()) found_lists_.emplace_back();
      list = &found_lists_[found_list_count_++];
    }
    list->clear(slot);
    list->entry = entry;
  }
  return for_each_value(entry, [&](Bytes value) { return measure_list(value, *list); });
}

}  // namespace tfrkit
