// Records cut from the input: what is known of them adds up, is the same in parts as in one go, and
// the same however the keys were found.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/describe/summary.h"
#include "require.h"

namespace tfrkit {
namespace {

// Cuts the input into records; the first byte of each says how long it is, 255 means all the rest.
std::vector<Bytes> cut(Bytes input) {
  std::vector<Bytes> records;
  while (!input.empty()) {
    const auto wanted = std::to_integer<std::size_t>(input[0]);
    input = input.subspan(1);
    const std::size_t size = wanted == 255 ? input.size() : std::min(wanted, input.size());
    records.push_back(input.first(size));
    input = input.subspan(size);
  }
  return records;
}

void check_stats(const FeatureStats& stats, std::uint64_t records, bool list) {
  REQUIRE(stats.records > 0 && stats.records <= records);
  std::uint64_t of_any_kind = 0;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    REQUIRE((stats.kind_records[kind] > 0) == (stats.kind_first[kind] >= 0));
    REQUIRE(stats.kind_records[kind] <= stats.records);
    of_any_kind += stats.kind_records[kind];
  }
  REQUIRE(list || of_any_kind == stats.records);
  const auto [usual, times] = stats.counts.usual();
  REQUIRE(usual >= stats.counts.least() && usual <= stats.counts.greatest());
  REQUIRE(times <= stats.counts.total());
  REQUIRE(stats.examples.size() <= kMaxExamples);
  const Values& values = stats.ranges.values;
  REQUIRE(stats.ranges.counts[3] == 0 || values.low <= values.high);
  REQUIRE(stats.ranges.counts[1] == 0 || values.shortest <= values.longest);
}

void check_same(const FeatureTable& one, const FeatureTable& other) {
  REQUIRE(one.size() == other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    const FeatureStats& a = one[i];
    const FeatureStats& b = other[i];
    REQUIRE(a.key == b.key && a.records == b.records && a.kind_records == b.kind_records);
    REQUIRE(a.kind_first == b.kind_first && a.empty == b.empty && a.unset == b.unset);
    REQUIRE(a.counts.usual() == b.counts.usual() && a.steps.usual() == b.steps.usual());
    REQUIRE(a.ranges.counts == b.ranges.counts);
    REQUIRE(a.ranges.values.low == b.ranges.values.low &&
            a.ranges.values.sum == b.ranges.values.sum);
    REQUIRE(a.ranges.values.nans == b.ranges.values.nans);
    REQUIRE(a.examples.size() == b.examples.size());
  }
}

void run(Bytes input) {
  const std::vector<Bytes> records = cut(input);
  Summary whole;
  whole.add(records, 0);
  Summary parts;
  for (std::size_t i = 0; i < records.size(); ++i) {
    Summary part;
    part.add({&records[i], 1}, static_cast<std::int64_t>(i));
    parts.merge(part);
  }
  std::uint64_t total = 0;
  for (const RecordKind kind :
       {RecordKind::kExample, RecordKind::kSequenceExample, RecordKind::kOther}) {
    REQUIRE(whole.records(kind) == parts.records(kind));
    REQUIRE(whole.first_record(kind) == parts.first_record(kind));
    total += whole.records(kind);
  }
  REQUIRE(total == records.size());
  const std::uint64_t known = total - whole.records(RecordKind::kOther);
  for (std::size_t i = 0; i < whole.features().size(); ++i) {
    check_stats(whole.features()[i], known, false);
  }
  for (std::size_t i = 0; i < whole.lists().size(); ++i) {
    check_stats(whole.lists()[i], known, true);
  }
  check_same(whole.features(), parts.features());
  check_same(whole.lists(), parts.lists());
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run(tfrkit::as_input(data, size));
  return 0;
}
