#include "core/describe/feature_columns.h"

#include <bit>

#include "core/bytes/wire.h"
#include "core/describe/number_stats.h"
#include "core/examples/parse_one.h"

namespace tfrkit {
namespace {

constexpr std::size_t kRowsAtOnce = 64;

// Reads the entry at the front of `map` as read_single_value does, if it has this key and kind:
// then most of it can be compared at once. Returns how many bytes it takes, or 0.
[[nodiscard]] inline std::size_t read_expected(Bytes map, Bytes key, Kind kind,
                                               SingleValue& single) noexcept {
  const std::size_t head = 4 + key.size();  // after the key
  if (map.size() < head + 14) {
    const std::size_t taken = read_single_value(map, single);
    const bool same = taken != 0 && single.kind == kind && single.key.size() == key.size() &&
                      same_bytes(single.key.data(), key.data(), key.size());
    return same ? taken : 0;
  }
  const std::byte* const at = map.data();
  const auto entry = std::to_integer<std::size_t>(at[1]);
  const std::size_t end = 2 + entry;
  const std::size_t size = end - head - 6;  // wraps round to a large one if there is no room
  if (size > 0x7f || entry >= 0x80 || end > map.size()) return 0;
  constexpr std::uint64_t kSixBytes = 0xffffffffffffU;
  const std::uint32_t front =
      std::uint32_t{delimited_tag(1)} | static_cast<std::uint32_t>(entry) << 8 |
      std::uint32_t{delimited_tag(1)} << 16 | static_cast<std::uint32_t>(key.size()) << 24;
  const std::uint64_t back = std::uint64_t{delimited_tag(2)} | (size + 4) << 8 |
                             std::uint64_t{delimited_tag(static_cast<unsigned>(kind))} << 16 |
                             (size + 2) << 24 | std::uint64_t{delimited_tag(1)} << 32 |
                             std::uint64_t{size} << 40;
  if (load_le<std::uint32_t>(at) != front ||
      (load_le<std::uint64_t>(at + head) & kSixBytes) != back ||
      !same_bytes(at + 4, key.data(), key.size())) {
    return 0;
  }
  const Bytes element(at + head + 6, size);
  if (kind == Kind::kInt64) {
    return size != 0 && read_lone_varint(element, map.size() - (head + 6), single.bits) ? end : 0;
  }
  if (kind == Kind::kFloat) {
    if (size != 4) return 0;
    single.bits = load_le<std::uint32_t>(element.data());
    return end;
  }
  single.bits = size;
  single.data = element.data();
  return end;
}

}  // namespace

KindColumn& FeatureColumn::of(Kind kind) {
  std::unique_ptr<KindColumn>& column = kinds[index_of(kind)];
  if (!column) column = std::make_unique<KindColumn>();
  return *column;
}

void FeatureColumns::Table::follow(const KeyTable& keys, const Names* wanted) {
  while (columns.size() < keys.size()) {
    const bool is_wanted = wanted == nullptr || wanted->contains(keys.key(columns.size()));
    columns.push_back(is_wanted ? std::make_unique<FeatureColumn>() : nullptr);
  }
}

void FeatureColumns::read(std::span<const Bytes> records, std::int64_t first,
                          const Request& request) {
  if (request.wanted != nullptr) {
    for (const std::string& name : *request.wanted) reader_.expect(std::as_bytes(std::span(name)));
  }
  clear();
  detail_ = request.detail;
  reader_.measure_bounds(detail_ == Detail::kBounds);
  number_ = first;
  for (const Bytes record : records) {
    if (!take_usual(record)) {
      flush();
      commit(reader_.read(record), record, request.wanted);
    }
    ++number_;
    if (rows_ == kRowsAtOnce) flush();
  }
  flush();
}

void FeatureColumns::commit(RecordKind kind, Bytes record, const Names* wanted) {
  records_.add(kind, number_);
  if (kind == RecordKind::kOther) {
    if (detail_ != Detail::kValues) records_.keep_other(record, number_);
    return;
  }
  not_followed_ += reader_.passed_over();
  features_.follow(reader_.features(), wanted);
  lists_.follow(reader_.lists(), wanted);
  for (const FoundFeature& found : reader_.found_features()) commit_feature(found);
  for (const FoundList& found : reader_.found_lists()) commit_list(found);
  if (kind == RecordKind::kExample && std::has_single_bit(++misses_)) learn();
}

void FeatureColumn::clear() {
  outline = {};
  first_kind = Kind::kUnset;
  counts.clear();
  steps.clear();
  entries.clear();
  for (const auto& kind : kinds) {
    if (!kind) continue;
    kind->keys.clear();
    kind->strings.clear();
    kind->lists.clear();
  }
}

void FeatureColumns::clear() {
  records_ = {};
  budget_ = {};
  not_followed_ = 0;
  for (const Table* const table : {&features_, &lists_}) {
    for (const auto& column : table->columns) {
      if (column) column->clear();
    }
  }
}

// Takes a record that is like the one that was learned; false if it is not, then nothing is taken.
bool FeatureColumns::take_usual(Bytes record) {
  Wire wire(record);
  Bytes features;
  if (usual_.empty() || !wire.expect(delimited_tag(1)) || !wire.read_message(features) ||
      !wire.at_end()) {
    return false;
  }
  std::uint64_t* const row = words_.data() + rows_ * row_words_;
  for (const UsualFeature& step : usual_) {
    SingleValue single;
    const std::size_t taken = read_expected(features, step.key, step.kind, single);
    if (taken == 0) return false;
    features = features.subspan(taken);
    row[step.word] = single.bits;
    if (step.kind == Kind::kBytes) {
      row[step.word + 1] = std::bit_cast<std::uintptr_t>(single.data);
    }
  }
  if (!features.empty()) return false;
  records_.add(RecordKind::kExample, number_);
  misses_ = 0;
  ++rows_;
  return true;
}

// Puts the gathered rows into the columns.
void FeatureColumns::flush() {
  const auto rows = static_cast<std::int64_t>(rows_);
  for (const UsualFeature& step : usual_) {
    if (rows_ == 0 || step.column == nullptr) continue;
    FeatureColumn& column = *step.column;
    column.outline.add_records(step.kind, number_ - rows, rows_);
    if (detail_ != Detail::kValues) {
      column.outline.counts.add(1, rows_, budget_.counts);
    } else {
      column.counts.add(1, rows_);
      if (column.first_kind == Kind::kUnset) column.first_kind = step.kind;
    }
    if (step.kind == Kind::kBytes) {
      add_strings(step);
    } else {
      add_numbers(step);
    }
  }
  rows_ = 0;
}

void FeatureColumns::add_strings(const UsualFeature& step) {
  Outline& outline = step.column->outline;
  std::vector<Bytes>* const strings =
      detail_ == Detail::kValues ? &step.column->of(Kind::kBytes).strings : nullptr;
  const std::uint64_t* word = words_.data() + step.word;
  for (std::size_t row = 0; row < rows_; ++row, word += row_words_) {
    const auto address = static_cast<std::uintptr_t>(word[1]);
    const Bytes value(std::bit_cast<const std::byte*>(address), static_cast<std::size_t>(word[0]));
    outline.ranges.add_one(Kind::kBytes, word[0]);
    if (strings != nullptr) {
      strings->push_back(value);
    } else {
      outline.keep_example(value, budget_);
    }
  }
  if (detail_ == Detail::kBounds) add_bounds(step);
}

// Apart from add_strings, whose loop then stays as quick for a schema.
void FeatureColumns::add_bounds(const UsualFeature& step) const {
  ByteBounds bounds = step.column->outline.ranges.values.bounds;
  const std::uint64_t* word = words_.data() + step.word;
  for (std::size_t row = 0; row < rows_; ++row, word += row_words_) {
    const auto address = static_cast<std::uintptr_t>(word[1]);
    bounds.add({std::bit_cast<const std::byte*>(address), static_cast<std::size_t>(word[0])});
  }
  step.column->outline.ranges.values.bounds = bounds;
}

// Of values, makes room for all rows once, and releases what NaN and infinities did not take.
void FeatureColumns::add_numbers(const UsualFeature& step) const {
  Ranges& ranges = step.column->outline.ranges;
  const std::uint64_t* word = words_.data() + step.word;
  for (std::size_t row = 0; row < rows_; ++row) {
    ranges.add_one(step.kind, word[row * row_words_]);
  }
  if (detail_ != Detail::kValues) return;
  std::vector<std::uint64_t>& keys = step.column->of(step.kind).keys;
  const std::size_t before = keys.size();
  keys.resize(before + rows_);
  std::uint64_t* key = keys.data() + before;
  for (std::size_t row = 0; row < rows_; ++row, word += row_words_) {
    if (step.kind == Kind::kInt64) {
      *key++ = int64_key(*word);
    } else if (const auto bits = static_cast<std::uint32_t>(*word); is_finite(bits)) {
      *key++ = float_key(bits);
    }
  }
  keys.resize(static_cast<std::size_t>(key - keys.data()));
}

// Expects the next records to be like the last one, if it has nothing but single values.
void FeatureColumns::learn() {
  usual_.clear();
  row_words_ = 0;
  if (!reader_.found_lists().empty() || reader_.passed_over() != 0) return;
  for (const FoundFeature& found : reader_.found_features()) {
    if (found.values != kNoSlot) {
      usual_.clear();
      return;
    }
    const std::string& key = reader_.features().key(found.slot);
    usual_.push_back({std::as_bytes(std::span(key)), found.kind,
                      features_.columns[found.slot].get(), row_words_});
    row_words_ += found.kind == Kind::kBytes ? 2 : 1;
  }
  words_.resize(kRowsAtOnce * row_words_);
}

void FeatureColumns::commit_feature(const FoundFeature& found) {
  FeatureColumn* const column = features_.columns[found.slot].get();
  if (column == nullptr) return;
  if (found.values == kNoSlot) {
    commit_single(*column, found.kind, found);
    return;
  }
  const Values& values = reader_.found_values(found.values);
  column->outline.add_feature(values, number_);
  if (values.kind == Kind::kUnset) return;
  if (detail_ != Detail::kValues) {
    column->outline.counts.add(values.count, 1, budget_.counts);
    const bool has_bytes = values.kind == Kind::kBytes && values.count != 0;
    if (has_bytes) column->outline.keep_example(values.first, budget_);
    return;
  }
  if (column->first_kind == Kind::kUnset) column->first_kind = values.kind;
  column->counts.add(values.count, 1);
  KindColumn& kept = column->of(values.kind);
  if (values.count == 0) return;
  kept.lists.push_back({kept.keys.size() + kept.strings.size(), found.entry});
}

void FeatureColumns::commit_single(FeatureColumn& column, Kind kind, const FoundFeature& found) {
  const Bytes bytes(found.data, kind == Kind::kBytes ? static_cast<std::size_t>(found.bits) : 0);
  column.outline.add_records(kind, number_, 1);
  column.outline.ranges.add_one(kind, found.bits);
  if (detail_ == Detail::kBounds && kind == Kind::kBytes) {
    column.outline.ranges.values.bounds.add(bytes);
  }
  if (detail_ != Detail::kValues) {
    column.outline.counts.add(1, 1, budget_.counts);
    if (kind == Kind::kBytes) column.outline.keep_example(bytes, budget_);
    return;
  }
  if (column.first_kind == Kind::kUnset) column.first_kind = kind;
  column.counts.add(1, 1);
  KindColumn& kept = column.of(kind);
  const auto float_bits = static_cast<std::uint32_t>(found.bits);
  if (kind == Kind::kBytes) {
    kept.strings.push_back(bytes);
  } else if (kind == Kind::kInt64) {
    kept.keys.push_back(int64_key(found.bits));
  } else if (is_finite(float_bits)) {
    kept.keys.push_back(float_key(float_bits));
  }
}

void FeatureColumns::commit_list(const FoundList& found) {
  FeatureColumn* const column = lists_.columns[found.slot].get();
  if (column == nullptr) return;
  column->outline.add_list(found, number_);
  if (detail_ != Detail::kValues) {
    column->outline.keep_counts(found, budget_);
    if (found.has_first) column->outline.keep_example(found.first, budget_);
    return;
  }
  column->steps.add(found.steps, 1);
  for (const auto& [count, times] : found.counts) column->counts.add(count, times);
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    if (found.kinds[index_of(kind)] != 0) static_cast<void>(column->of(kind));
  }
  if (found.steps != 0) column->entries.push_back(found.entry);
  if (column->first_kind == Kind::kUnset) column->first_kind = found.first_kind;
}

}  // namespace tfrkit
