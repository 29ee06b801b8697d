#include "core/describe/statistics.h"

#include <numeric>

namespace tfrkit {
namespace {

constexpr std::size_t kWithLessRoom = 128;  // features after those with the most

}  // namespace

std::uint32_t Statistics::Table::find_or_add(const std::string& key) {
  const std::uint32_t slot = keys.find_or_add(std::as_bytes(std::span(key)));
  if (slot == kNoSlot || slot < totals.size()) return slot;
  const std::size_t tier = slot < most_room ? 0 : slot < most_room + kWithLessRoom ? 1 : 2;
  totals.push_back(std::make_unique<FeatureTotals>(key, tier));
  return slot;
}

std::int64_t Statistics::next_record() const noexcept {
  const auto& counts = records_.counts;
  return static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{}));
}

std::size_t Statistics::begin(std::span<FeatureColumns> parts, std::size_t threads) {
  tasks_.clear();
  for (const FeatureColumns& part : parts) {
    records_.merge(part.records());
    not_followed_ += part.not_followed();
  }
  plan(parts, false);
  plan(parts, true);
  split_tasks(threads);
  return tasks_.size();
}

// A feature that has more numbers than half a thread's part of the batch keeps others waiting.
void Statistics::split_tasks(std::size_t threads) {
  std::uint64_t all = 0;
  for (const Task& task : tasks_) all += task.numbers;
  std::vector<Task> shares;
  for (const Task& task : tasks_) {
    const bool large = threads > 1 && task.numbers > all / (2 * threads);
    if (!task.totals->split(large)) continue;
    shares.push_back({task.totals, task.columns, task.numbers, Share::kCounts});
  }
  tasks_.insert(tasks_.begin(), shares.begin(), shares.end());
}

void Statistics::plan(std::span<FeatureColumns> parts, bool lists) {
  Table& table = lists ? lists_ : features_;
  std::vector<std::uint32_t> task_of;  // by slot
  for (FeatureColumns& part : parts) {
    const auto& columns = (lists ? part.lists() : part.features()).columns;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i] || columns[i]->outline.records == 0) continue;
      const std::uint32_t slot = table.find_or_add(lists ? part.list_key(i) : part.feature_key(i));
      if (slot == kNoSlot) {
        not_followed_ += columns[i]->outline.records;
        continue;
      }
      if (slot >= task_of.size()) task_of.resize(slot + 1, kNoSlot);
      if (task_of[slot] == kNoSlot) {
        task_of[slot] = static_cast<std::uint32_t>(tasks_.size());
        tasks_.push_back({table.totals[slot].get(), {}});
      }
      Task& task = tasks_[task_of[slot]];
      task.columns.push_back(columns[i].get());
      const auto& counts = columns[i]->outline.ranges.counts;
      task.numbers += counts[index_of(Kind::kFloat)] + counts[index_of(Kind::kInt64)];
    }
  }
}

void Statistics::run_task(std::size_t index) {
  const Task& task = tasks_[index];
  for (const FeatureColumn* const column : task.columns) {
    task.totals->add(*column, budget_, task.share);
  }
}

void Statistics::add(std::span<const Bytes> records) {
  FeatureColumns columns;
  columns.read(records, next_record(), request());
  const std::size_t tasks = begin({&columns, 1}, 1);
  for (std::size_t i = 0; i < tasks; ++i) run_task(i);
}

void Statistics::merge(const Statistics& other) {
  records_.merge(other.records_);
  not_followed_ += other.not_followed_;
  merge_table(other.features_, features_);
  merge_table(other.lists_, lists_);
}

void Statistics::merge_table(const Table& from, Table& into) {
  for (const auto& totals : from.totals) {
    const std::uint32_t slot = into.find_or_add(totals->key());
    if (slot == kNoSlot) {
      not_followed_ += totals->outline().records;
    } else {
      into.totals[slot]->merge(*totals, budget_);
    }
  }
}

}  // namespace tfrkit
