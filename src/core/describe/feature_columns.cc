#include "core/describe/feature_columns.h"

#include <bit>

#include "core/bytes/wire.h"
#include "core/describe/number_stats.h"
#include "core/examples/parse_one.h"

namespace tfrkit {
namespace {

constexpr std::size_t kRowsAtOnce = 64;

// Reads the entry at the front of `map` as read_single does, if it has this key and kind: then most
// of it can be compared at once. Returns how many bytes it takes, or 0.
[[nodiscard]] inline std::size_t read_expected(Bytes map, Bytes key, Kind kind,
                                               Single& single) noexcept {
  const std::size_t head = 4 + key.size();  // behind the key
  if (map.size() < head + 14) {
    const std::size_t taken = read_single(map, single);
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

void FeatureColumns::read(std::span<const Bytes> records, const Names* wanted) {
  if (wanted != nullptr) {
    for (const std::string& name : *wanted) reader_.expect(std::as_bytes(std::span(name)));
  }
  clear();
  for (const Bytes record : records) {
    if (take_usual(record)) continue;
    flush();
    const RecordKind kind = reader_.read(record);
    ++records_[static_cast<std::size_t>(kind)];
    if (kind == RecordKind::kOther) continue;
    not_followed_ += reader_.passed_over();
    features_.follow(reader_.features(), wanted);
    lists_.follow(reader_.lists(), wanted);
    for (const FoundFeature& found : reader_.found_features()) commit_feature(found);
    for (const FoundList& found : reader_.found_lists()) commit_list(found);
    if (kind == RecordKind::kExample && std::has_single_bit(++misses_)) learn();
  }
  flush();
}

void FeatureColumn::clear() noexcept {
  records = empty = unset = 0;
  first_kind = Kind::kUnset;
  counts.clear();
  steps.clear();
  entries.clear();
  for (const auto& kind : kinds) {
    if (!kind) continue;
    kind->records = 0;
    kind->keys.clear();
    kind->strings.clear();
    kind->lists.clear();
    kind->special = {};
  }
}

void FeatureColumns::clear() {
  records_ = {};
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
  if (steps_.empty() || !wire.expect(delimited_tag(1)) || !wire.read_message(features) ||
      !wire.at_end()) {
    return false;
  }
  std::uint64_t* const row = words_.data() + rows_ * row_words_;
  for (const Step& step : steps_) {
    Single single;
    const std::size_t taken = read_expected(features, step.key, step.kind, single);
    if (taken == 0) return false;
    features = features.subspan(taken);
    row[step.word] = single.bits;
    if (step.kind == Kind::kBytes) {
      row[step.word + 1] = std::bit_cast<std::uintptr_t>(single.data);
    }
  }
  if (!features.empty()) return false;
  ++records_[static_cast<std::size_t>(RecordKind::kExample)];
  misses_ = 0;
  if (++rows_ == kRowsAtOnce) flush();
  return true;
}

// Puts the gathered rows into the columns.
void FeatureColumns::flush() {
  for (const Step& step : steps_) {
    if (rows_ == 0 || step.column == nullptr) continue;
    FeatureColumn& column = *step.column;
    column.records += rows_;
    column.counts.add(1, rows_);
    if (column.first_kind == Kind::kUnset) column.first_kind = step.kind;
    KindColumn& values = column.of(step.kind);
    values.records += rows_;
    if (step.kind == Kind::kBytes) {
      add_strings(step, values);
    } else {
      add_numbers(step, values);
    }
  }
  rows_ = 0;
}

void FeatureColumns::add_strings(const Step& step, KindColumn& values) const {
  const std::uint64_t* word = words_.data() + step.word;
  for (std::size_t row = 0; row < rows_; ++row, word += row_words_) {
    const auto address = static_cast<std::uintptr_t>(word[1]);
    values.strings.emplace_back(std::bit_cast<const std::byte*>(address),
                                static_cast<std::size_t>(word[0]));
  }
}

// Makes room for all rows once, and gives back what the special ones did not take.
void FeatureColumns::add_numbers(const Step& step, KindColumn& values) const {
  const std::size_t before = values.keys.size();
  values.keys.resize(before + rows_);
  std::uint64_t* key = values.keys.data() + before;
  const std::uint64_t* word = words_.data() + step.word;
  for (std::size_t row = 0; row < rows_; ++row, word += row_words_) {
    if (step.kind == Kind::kInt64) {
      *key++ = int64_key(*word);
    } else if (const auto bits = static_cast<std::uint32_t>(*word); !values.special.take(bits)) {
      *key++ = float_key(bits);
    }
  }
  values.keys.resize(static_cast<std::size_t>(key - values.keys.data()));
}

// Expects the next records to be like the last one, if it has nothing but single values.
void FeatureColumns::learn() {
  steps_.clear();
  row_words_ = 0;
  if (!reader_.found_lists().empty() || reader_.passed_over() != 0) return;
  for (const FoundFeature& found : reader_.found_features()) {
    if (found.values != kNoSlot) {
      steps_.clear();
      return;
    }
    const std::string& key = reader_.features().key(found.slot);
    steps_.push_back({std::as_bytes(std::span(key)), found.kind,
                      features_.columns[found.slot].get(), row_words_});
    row_words_ += found.kind == Kind::kBytes ? 2 : 1;
  }
  words_.resize(kRowsAtOnce * row_words_);
}

void FeatureColumns::add_number(KindColumn& values, Kind kind, std::uint64_t bits) {
  if (kind == Kind::kInt64) {
    values.keys.push_back(int64_key(bits));
  } else if (const auto low = static_cast<std::uint32_t>(bits); !values.special.take(low)) {
    values.keys.push_back(float_key(low));
  }
}

void FeatureColumns::commit_feature(const FoundFeature& found) {
  FeatureColumn* const column = features_.columns[found.slot].get();
  if (column == nullptr) return;
  ++column->records;
  const bool single = found.values == kNoSlot;
  const Kind kind = single ? found.kind : reader_.found_values(found.values).kind;
  if (kind == Kind::kUnset) {
    ++column->unset;
    return;
  }
  if (column->first_kind == Kind::kUnset) column->first_kind = kind;
  KindColumn& values = column->of(kind);
  ++values.records;
  if (!single) {
    const std::uint64_t count = reader_.found_values(found.values).count;
    column->counts.add(count, 1);
    if (count == 0) {
      ++column->empty;
    } else {
      values.lists.push_back({values.keys.size() + values.strings.size(), found.entry});
    }
    return;
  }
  column->counts.add(1, 1);
  if (kind == Kind::kBytes) {
    values.strings.emplace_back(found.data, static_cast<std::size_t>(found.bits));
  } else {
    add_number(values, kind, found.bits);
  }
}

void FeatureColumns::commit_list(const FoundList& found) {
  FeatureColumn* const column = lists_.columns[found.slot].get();
  if (column == nullptr) return;
  ++column->records;
  column->unset += found.kinds[index_of(Kind::kUnset)];
  column->empty += found.empty;
  column->steps.add(found.steps, 1);
  for (const auto& [count, times] : found.counts) column->counts.add(count, times);
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    if (found.kinds[index_of(kind)] == 0) continue;
    KindColumn& values = column->of(kind);
    ++values.records;
  }
  if (found.steps != 0) column->entries.push_back(found.entry);
  if (column->first_kind == Kind::kUnset) column->first_kind = found.first_kind;
}

}  // namespace tfrkit
