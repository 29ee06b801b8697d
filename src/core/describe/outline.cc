#include "core/describe/outline.h"

#include <algorithm>

namespace tfrkit {
namespace {

[[nodiscard]] std::string_view head_of(Bytes bytes) noexcept {
  return as_text(bytes.first(std::min(bytes.size(), kMaxExampleBytes)));
}

}  // namespace

ExampleBytes beginning_of(Bytes bytes) { return {std::string(head_of(bytes)), bytes.size()}; }

void RecordCounts::add(RecordKind kind, std::int64_t record) noexcept {
  ++counts[static_cast<std::size_t>(kind)];
  first[static_cast<std::size_t>(kind)] = earlier(first[static_cast<std::size_t>(kind)], record);
}

void RecordCounts::keep_other(Bytes record, std::int64_t number) {
  if (others.size() < kMaxExamples) others.push_back({number, beginning_of(record)});
}

void RecordCounts::merge(const RecordCounts& more) {
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    counts[kind] += more.counts[kind];
    first[kind] = earlier(first[kind], more.first[kind]);
  }
  for (const OtherRecord& other : more.others) {
    if (others.size() < kMaxExamples) others.push_back(other);
  }
}

void Outline::add_feature(const Values& values, std::int64_t record) noexcept {
  add_records(values.kind, record, 1);
  if (values.kind == Kind::kUnset) {
    ++unset;
    return;
  }
  if (values.count == 0) ++empty;
  ranges.add(values);
}

void Outline::add_list(const FoundList& found, std::int64_t record) noexcept {
  ++records;
  for (const Kind kind : {Kind::kUnset, Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    if (found.kinds[index_of(kind)] != 0) add_kind(kind, record, 1);
  }
  unset += found.kinds[index_of(Kind::kUnset)];
  empty += found.empty;
  ranges.merge(found.ranges);
}

void Outline::keep_counts(const FoundList& found, OutlineBudget& budget) {
  steps.add(found.steps, 1, budget.counts);
  for (const auto& [count, times] : found.counts) counts.add(count, times, budget.counts);
}

void Outline::keep_example(Bytes bytes, OutlineBudget& budget) {
  if (examples.size() < kMaxExamples) add_example(head_of(bytes), bytes.size(), budget);
}

void Outline::add_example(std::string_view head, std::uint64_t size, OutlineBudget& budget) {
  if (examples.size() >= kMaxExamples || head.size() > budget.example_bytes) return;
  for (const ExampleBytes& example : examples) {
    if (example.size == size && example.head == head) return;
  }
  budget.example_bytes -= head.size();
  examples.push_back({std::string(head), size});
}

void Outline::merge(const Outline& other, OutlineBudget& budget) {
  records += other.records;
  for (const Kind kind : {Kind::kUnset, Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    add_kind(kind, other.kind_first[index_of(kind)], other.kind_records[index_of(kind)]);
  }
  empty += other.empty;
  unset += other.unset;
  ranges.merge(other.ranges);
  counts.merge(other.counts, budget.counts);
  steps.merge(other.steps, budget.counts);
  for (const ExampleBytes& example : other.examples) {
    add_example(example.head, example.size, budget);
  }
}

}  // namespace tfrkit
