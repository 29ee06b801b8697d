// Statistics: what records hold, feature by feature; or only the outline of it, for a schema.
//
// Records are added in batches, each in three steps. Parts of it are read at once (FeatureColumns);
// then one thread sees which features are new (`begin`); then each feature takes what the parts
// have of it, in their order (`run_task`), all features at once, and a feature with most of the
// values in two shares at once. So each feature sees its values in the order of the records,
// whatever the number of threads and wherever the parts are cut, and all that follows from them is
// the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/describe/feature_columns.h"
#include "core/describe/feature_totals.h"
#include "core/describe/key_table.h"
#include "core/describe/outline.h"
#include "core/describe/record_reader.h"

namespace tfrkit {

inline constexpr std::size_t kMaxCountedFeatures = 4096;  // with values; and as many lists

// See the top of this file. Throws std::bad_alloc if there is no memory.
class Statistics {
 public:
  // Takes only features and lists with these names, or all.
  explicit Statistics(std::optional<FeatureColumns::Names> wanted, Detail detail = Detail::kValues)
      : wanted_(std::move(wanted)), detail_(detail) {}

  // Returns what the parts of a batch are read with.
  [[nodiscard]] FeatureColumns::Request request() const noexcept {
    return {detail_, wanted_ ? &*wanted_ : nullptr};
  }
  // Returns the number of the next record: they count from 0.
  [[nodiscard]] std::int64_t next_record() const noexcept;

  // Begins a batch; returns how many tasks it has for so many threads. `parts` live until the last
  // run_task.
  [[nodiscard]] std::size_t begin(std::span<FeatureColumns> parts, std::size_t threads);
  // Does the `index`-th task: adds a feature of the batch, or a share of one. Of values, several
  // may run at the same time; outlines share a budget.
  void run_task(std::size_t index);

  // All steps in one thread.
  void add(std::span<const Bytes> records);

  // Adds what other statistics know; best in the order of the records.
  void merge(const Statistics& other);

  using Totals = std::vector<std::unique_ptr<FeatureTotals>>;
  [[nodiscard]] const Totals& features() const noexcept { return features_.totals; }
  [[nodiscard]] const Totals& lists() const noexcept { return lists_.totals; }
  [[nodiscard]] const RecordCounts& records() const noexcept { return records_; }
  // Returns how many features of records were passed over because there were too many keys.
  [[nodiscard]] std::uint64_t not_followed() const noexcept { return not_followed_; }

 private:
  struct Table {
    Table(std::size_t with_most_room, Detail detail)
        : most_room(with_most_room),
          keys(detail == Detail::kValues ? kMaxCountedFeatures : kMaxKeys) {}
    // Returns the slot of a key; kNoSlot if it is new and there are too many.
    [[nodiscard]] std::uint32_t find_or_add(const std::string& key);

    std::size_t most_room;  // how many features get the most room
    KeyTable keys;
    Totals totals;
  };
  // A feature of the batch, and its columns in the order of the parts.
  struct Task {
    FeatureTotals* totals;
    std::vector<const FeatureColumn*> columns;
    std::uint64_t numbers = 0;
    Share share = Share::kMain;
  };

  void plan(std::span<FeatureColumns> parts, bool lists);
  void split_tasks(std::size_t threads);
  void merge_table(const Table& from, Table& into);

  std::optional<FeatureColumns::Names> wanted_;
  Detail detail_;
  RecordCounts records_;
  OutlineBudget budget_;
  std::uint64_t not_followed_ = 0;
  Table features_{48, detail_};
  Table lists_{16, detail_};
  std::vector<Task> tasks_;
};

}  // namespace tfrkit
