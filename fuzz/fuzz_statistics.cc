// Records taken from the input: what is counted adds up, and is the same in parts as in one go; a
// record has the same digest whatever was digested before it.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/describe/statistics.h"
#include "core/digest/record_digest.h"
#include "require.h"

namespace tfrkit {
namespace {

// Splits the input into records; the first byte of each says how long it is, 255 means all the
// rest.
std::vector<Bytes> split(Bytes input) {
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

std::uint64_t total(const NumberStats& stats) {
  if (stats.sketches() != nullptr) return stats.sketches()->count;
  std::uint64_t sum = 0;
  stats.counts().for_each([&](const auto& entry) { sum += entry.count; });
  return sum;
}

std::uint64_t values_of(const KindTotals& totals) {
  return totals.strings ? totals.strings->count() : total(*totals.numbers);
}

std::uint64_t finite_values(const Outline& outline, Kind kind) {
  const Values& values = outline.ranges.values;
  const std::uint64_t special = values.nans + values.infinities + values.negative_infinities;
  return outline.ranges.counts[index_of(kind)] - (kind == Kind::kFloat ? special : 0);
}

void check_same(const Outline& one, const Outline& other) {
  REQUIRE(one.records == other.records && one.kind_records == other.kind_records);
  REQUIRE(one.kind_first == other.kind_first);
  REQUIRE(one.empty == other.empty && one.unset == other.unset);
  REQUIRE(one.counts.usual() == other.counts.usual() && one.steps.usual() == other.steps.usual());
  REQUIRE(one.ranges.counts == other.ranges.counts);
  REQUIRE(one.ranges.values.low == other.ranges.values.low);
  REQUIRE(one.ranges.values.sum == other.ranges.values.sum);
  REQUIRE(one.ranges.values.nans == other.ranges.values.nans);
  REQUIRE(one.examples.size() == other.examples.size() && one.examples.size() <= kMaxExamples);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    REQUIRE((one.kind_records[kind] > 0) == (one.kind_first[kind] >= 0));
    REQUIRE(one.kind_records[kind] <= one.records);
  }
}

void check_same(const FeatureTotals& one, const FeatureTotals& other) {
  REQUIRE(one.key() == other.key() && one.outline().records > 0);
  check_same(one.outline(), other.outline());
  REQUIRE(total(one.counts()) == total(other.counts()));
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    REQUIRE((one.of(kind) == nullptr) == (other.of(kind) == nullptr));
    if (one.of(kind) == nullptr) continue;
    REQUIRE(values_of(*one.of(kind)) == values_of(*other.of(kind)));
    REQUIRE(values_of(*one.of(kind)) == finite_values(one.outline(), kind));
  }
}

void check_same(const Statistics::Totals& one, const Statistics::Totals& other) {
  REQUIRE(one.size() == other.size());
  for (std::size_t i = 0; i < one.size(); ++i) check_same(*one[i], *other[i]);
}

void check_digests(const std::vector<Bytes>& records) {
  RecordDigester all({});
  for (const Bytes& record : records) {
    const Digest one = all.meaning_of(record);
    const Digest other = RecordDigester({}).meaning_of(record);
    REQUIRE(one.high == other.high && one.low == other.low);
  }
}

void run(Bytes input) {
  const std::vector<Bytes> records = split(input);
  check_digests(records);
  for (const Detail detail : {Detail::kOutline, Detail::kBounds, Detail::kValues}) {
    Statistics whole(std::nullopt, detail);
    whole.add(records);
    Statistics parts(std::nullopt, detail);
    FeatureColumns columns;  // used again and again
    for (const Bytes& record : records) {
      columns.read({&record, 1}, parts.next_record(), parts.request());
      const std::size_t tasks = parts.begin({&columns, 1}, 2);
      for (std::size_t i = 0; i < tasks; ++i) parts.run_task(i);
    }
    REQUIRE(whole.next_record() == static_cast<std::int64_t>(records.size()));
    REQUIRE(whole.records().counts == parts.records().counts);
    REQUIRE(whole.records().first == parts.records().first);
    check_same(whole.features(), parts.features());
    check_same(whole.lists(), parts.lists());
  }
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run(tfrkit::as_input(data, size));
  return 0;
}
