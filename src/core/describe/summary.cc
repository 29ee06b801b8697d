#include "core/describe/summary.h"

#include <algorithm>

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

}  // namespace

void FeatureTable::follow(const KeyTable& keys) {
  while (stats_.size() < keys.size()) {
    auto stats = std::make_unique<FeatureStats>();
    stats->key = keys.key(stats_.size());
    stats_.push_back(std::move(stats));
  }
}

void Summary::expect(Bytes key) {
  reader_.expect(key);
  features_.follow(reader_.features());
  lists_.follow(reader_.lists());
}

void Summary::add(std::span<const Bytes> records, std::int64_t first) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const RecordKind kind = reader_.read(records[i]);
    commit(kind, records[i], first + static_cast<std::int64_t>(i));
  }
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
  not_followed_ += reader_.passed_over();
  features_.follow(reader_.features());
  lists_.follow(reader_.lists());
  for (const FoundFeature& found : reader_.found_features()) {
    if (found.values == kNoSlot) {
      commit_single(found, number);
    } else {
      commit_feature(found, number);
    }
  }
  for (const FoundList& found : reader_.found_lists()) commit_list(found, number);
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
  const Values& values = reader_.found_values(found.values);
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
  merge_table(other.features_, reader_.features(), features_);
  merge_table(other.lists_, reader_.lists(), lists_);
}

void Summary::merge_table(const FeatureTable& from, KeyTable& keys, FeatureTable& into) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const FeatureStats& more = from[i];
    const std::uint32_t slot = keys.find_or_add(std::as_bytes(std::span(more.key)), i);
    if (slot == kNoSlot) {
      not_followed_ += more.records;
      continue;
    }
    into.follow(keys);
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
