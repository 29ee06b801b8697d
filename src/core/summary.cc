#include "summary.h"

#include <algorithm>

#include "single.h"
#include "utf8.h"
#include "wire.h"

namespace tfrkit {
namespace {

// The first of two record numbers of which -1 is none.
[[nodiscard]] std::int64_t earlier(std::int64_t one, std::int64_t other) noexcept {
  if (one < 0 || other < 0) return std::max(one, other);
  return std::min(one, other);
}

void note_first(std::int64_t& first, std::int64_t number) noexcept {
  first = earlier(first, number);
}

constexpr std::uint32_t kBadKey = kNoSlot - 1;

// Reads a map entry as far as its key, which is the last of several; false if it is damaged.
[[nodiscard]] bool read_key(Bytes entry, Bytes& key) noexcept {
  Wire wire(entry);
  while (!wire.at_end()) {
    std::uint32_t tag = 0;
    if (!wire.read_tag(tag)) return false;
    if (tag == delimited_tag(1) ? !wire.read_message(key)
                                : !wire.skip_field(tag, kMaxNesting - 2)) {
      return false;
    }
  }
  return true;
}

// Calls `visit` with every value of a map entry that read_key has been through: together they are
// one message. Ends with false if visit does.
template <typename Visit>
[[nodiscard]] bool for_each_value(Bytes entry, const Visit& visit) {
  Wire wire(entry);
  while (!wire.at_end()) {
    std::uint32_t tag = 0;
    Bytes value;
    if (!wire.read_tag(tag)) return false;
    if (tag != delimited_tag(2)) {
      if (!wire.skip_field(tag, kMaxNesting - 2)) return false;
    } else if (!wire.read_message(value) || !visit(value)) {
      return false;
    }
  }
  return true;
}

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
  if (values.count == 0) ++empty;
  if (counts.empty() || counts.back().first != values.count) counts.emplace_back(values.count, 0);
  ++counts.back().second;
  ranges.add(values);
  if (values.kind == Kind::kBytes && values.count != 0 && !has_first) {
    first = values.first;
    has_first = true;
  }
}

void Summary::expect(Bytes key) {
  // No place of a record is that far behind, so that the key is expected in none.
  static_cast<void>(features_.find_or_add(key, kMaxSummaryKeys));
  static_cast<void>(lists_.find_or_add(key, kMaxSummaryKeys));
}

void Summary::add(std::span<const Bytes> records, std::int64_t first) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const RecordKind kind = read(records[i]);
    commit(kind, records[i], first + static_cast<std::int64_t>(i));
  }
}

// Reads a record into the members `found_`; what it adds to the tables is taken back if the record
// is not what it seemed.
RecordKind Summary::read(Bytes record) {
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

bool Summary::read_top(Bytes record) {
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
bool Summary::read_all_lists(Bytes record) {
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
bool Summary::read_map_field(Wire& wire, bool (Summary::*found)(Bytes key, Bytes entry)) {
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

bool Summary::read_lists(Bytes lists) {
  Wire wire(lists);
  while (!wire.at_end()) {
    if (!read_map_field(wire, &Summary::found_list)) return false;
  }
  return true;
}

// Returns the slot of the next key of the record; kNoSlot if it is not followed, kBadKey if
// protobuf refuses it.
std::uint32_t Summary::slot_of(Bytes key, KeyTable& table) {
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
bool Summary::read_features(Bytes features) {
  Wire wire(features);
  while (!wire.at_end()) {
    Single single;
    const std::size_t taken = read_single(wire.rest(), single);
    if (taken == 0) {
      if (!read_map_field(wire, &Summary::found_feature)) return false;
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

bool Summary::found_feature(Bytes key, Bytes entry) {
  const std::uint32_t slot = slot_of(key, features_);
  if (slot == kBadKey) return false;
  Values values;
  if (!for_each_value(entry, [&](Bytes value) { return measure_feature(value, 3, values); })) {
    return false;
  }
  if (slot == kNoSlot) return true;
  note_feature(slot).values = static_cast<std::uint32_t>(found_values_.size());
  found_values_.push_back(values);
  return true;
}

// Returns the place of a feature among those of the record, to be filled where it stands. Of equal
// keys the last one counts.
FoundFeature& Summary::note_feature(std::uint32_t slot) {
  const auto index = static_cast<std::uint32_t>(found_features_.size());
  const std::uint32_t before = features_.mark(slot, stamp_, index);
  if (before != kNoSlot) return found_features_[before];
  FoundFeature& found = found_features_.emplace_back();
  found.slot = slot;
  return found;
}

bool Summary::found_list(Bytes key, Bytes entry) {
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
  }
  return for_each_value(entry, [&](Bytes value) { return measure_list(value, *list); });
}

void Summary::commit(RecordKind kind, Bytes record, std::int64_t number) {
  ++records_[static_cast<std::size_t>(kind)];
  note_first(first_[static_cast<std::size_t>(kind)], number);
  if (kind == RecordKind::kOther) {
    if (others_.size() < kMaxExamples) {
      const std::string_view head =
          as_text(record.first(std::min(record.size(), kMaxExampleBytes)));
      others_.push_back({number, {std::string(head), record.size()}});
    }
    return;
  }
  not_followed_ += passed_over_;
  for (const FoundFeature& found : found_features_) {
    if (found.values == kNoSlot) {
      commit_single(found, number);
    } else {
      commit_feature(found, number);
    }
  }
  for (std::size_t i = 0; i < found_list_count_; ++i) commit_list(found_lists_[i], number);
}

void Summary::commit_single(const FoundFeature& found, std::int64_t number) {
  FeatureStats& stats = features_[found.slot];
  ++stats.records;
  ++stats.kind_records[index_of(found.kind)];
  note_first(stats.kind_first[index_of(found.kind)], number);
  stats.counts.add(1, 1, tally_budget_);
  stats.ranges.add_one(found.kind, found.bits);
  if (found.kind == Kind::kBytes) {
    keep_example(stats.examples, {found.data, static_cast<std::size_t>(found.bits)});
  }
}

void Summary::commit_feature(const FoundFeature& found, std::int64_t number) {
  FeatureStats& stats = features_[found.slot];
  const Values& values = found_values_[found.values];
  ++stats.records;
  ++stats.kind_records[index_of(values.kind)];
  note_first(stats.kind_first[index_of(values.kind)], number);
  if (values.kind == Kind::kUnset) {
    ++stats.unset;
    return;
  }
  if (values.count == 0) ++stats.empty;
  stats.counts.add(values.count, 1, tally_budget_);
  stats.ranges.add(values);
  if (values.kind == Kind::kBytes && values.count != 0) keep_example(stats.examples, values.first);
}

void Summary::commit_list(const FoundList& found, std::int64_t number) {
  FeatureStats& stats = lists_[found.slot];
  ++stats.records;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (found.kinds[kind] == 0) continue;
    ++stats.kind_records[kind];
    note_first(stats.kind_first[kind], number);
  }
  stats.unset += found.kinds[index_of(Kind::kUnset)];
  stats.empty += found.empty;
  stats.steps.add(found.steps, 1, tally_budget_);
  for (const auto& [count, times] : found.counts) stats.counts.add(count, times, tally_budget_);
  stats.ranges.merge(found.ranges);
  if (found.has_first) keep_example(stats.examples, found.first);
}

void Summary::keep_example(std::vector<ExampleBytes>& examples, Bytes bytes) {
  if (examples.size() >= kMaxExamples) return;
  add_example(examples, as_text(bytes.first(std::min(bytes.size(), kMaxExampleBytes))),
              bytes.size());
}

void Summary::add_example(std::vector<ExampleBytes>& examples, std::string_view head,
                          std::uint64_t size) {
  if (examples.size() >= kMaxExamples || head.size() > example_budget_) return;
  for (const ExampleBytes& example : examples) {
    if (example.size == size && example.head == head) return;
  }
  example_budget_ -= head.size();
  examples.push_back({std::string(head), size});
}

void Summary::merge(const Summary& other) {
  for (std::size_t kind = 0; kind < records_.size(); ++kind) {
    records_[kind] += other.records_[kind];
    note_first(first_[kind], other.first_[kind]);
  }
  not_followed_ += other.not_followed_;
  for (const OtherRecord& record : other.others_) {
    if (others_.size() < kMaxExamples) others_.push_back(record);
  }
  merge_table(other.features_, features_);
  merge_table(other.lists_, lists_);
}

void Summary::merge_table(const KeyTable& from, KeyTable& into) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const FeatureStats& more = from[i];
    const std::uint32_t slot = into.find_or_add(std::as_bytes(std::span(more.key)), i);
    if (slot == kNoSlot) {
      not_followed_ += more.records;
      continue;
    }
    FeatureStats& stats = into[slot];
    stats.records += more.records;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      stats.kind_records[kind] += more.kind_records[kind];
      note_first(stats.kind_first[kind], more.kind_first[kind]);
    }
    stats.empty += more.empty;
    stats.unset += more.unset;
    stats.counts.merge(more.counts, tally_budget_);
    stats.steps.merge(more.steps, tally_budget_);
    stats.ranges.merge(more.ranges);
    for (const ExampleBytes& example : more.examples) {
      add_example(stats.examples, example.head, example.size);
    }
  }
}

}  // namespace tfrkit
