#include "core/describe/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/check.h"
#include "core/describe/test_messages.h"

namespace tfrkit {
namespace {

using namespace messages;

std::string text(const std::string& value) { return texts({value}); }

std::map<std::uint64_t, std::uint64_t> counts_of(const NumberStats& stats) {
  std::map<std::uint64_t, std::uint64_t> counts;
  stats.counts().for_each(
      [&](const auto& one) { counts[bits_of_key(stats.kind(), one.key.bits)] = one.count; });
  return counts;
}

// Records that are alike, and some that are not.
std::vector<std::string> mixed_records(std::size_t count) {
  std::vector<std::string> records;
  std::mt19937_64 random(3);
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<std::int64_t>(random() % 50);
    std::string features = entry("n", ints({n})) + entry("x", floats({static_cast<float>(n) / 8})) +
                           entry("s", text(std::to_string(n)));
    if (i % 11 == 3) features += entry("list", ints({n, n + 1, -1}));
    if (i % 17 == 5) features.insert(0, entry("n", floats({0.5F, INFINITY})));
    if (i % 23 == 7) features = entry("late", text("x"));
    records.push_back(field(1, features));
    if (i % 29 == 0) records.push_back("no example");
    if (i % 31 == 0) {
      const std::string steps = field(1, ints({1, n})) + field(1, floats({2}));
      records.push_back(field(1, features) + field(2, entry("steps", steps)));
    }
  }
  return records;
}

bool same(const NumberStats& a, const NumberStats& b) {
  if (counts_of(a) != counts_of(b)) return false;
  const Moments one = a.moments();
  const Moments other = b.moments();
  return std::ranges::equal(one.squares.limbs(), other.squares.limbs()) &&
         std::ranges::equal(one.positive.limbs(), other.positive.limbs());
}

bool same(const Values& a, const Values& b) {
  return a.low == b.low && a.high == b.high && a.low_float == b.low_float &&
         a.high_float == b.high_float && a.nans == b.nans && a.infinities == b.infinities &&
         a.shortest == b.shortest && a.longest == b.longest && a.sum == b.sum;
}

bool same(const Outline& a, const Outline& b) {
  return a.records == b.records && a.kind_records == b.kind_records && a.empty == b.empty &&
         a.unset == b.unset && a.ranges.counts == b.ranges.counts &&
         same(a.ranges.values, b.ranges.values) && a.counts.usual() == b.counts.usual() &&
         a.counts.least() == b.counts.least() && a.steps.usual() == b.steps.usual() &&
         a.examples.size() == b.examples.size();
}

bool same(const FeatureTotals& a, const FeatureTotals& b) {
  if (a.key() != b.key() || !same(a.outline(), b.outline())) return false;
  if (!same(a.counts(), b.counts()) || !same(a.steps(), b.steps())) return false;
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    const KindTotals* const one = a.of(kind);
    const KindTotals* const other = b.of(kind);
    if ((one == nullptr) != (other == nullptr)) return false;
    if (one == nullptr) continue;
    if (one->numbers && !same(*one->numbers, *other->numbers)) return false;
    if (one->strings && one->strings->counts().size() != other->strings->counts().size())
      return false;
  }
  return true;
}

bool same(const Statistics& a, const Statistics& b) {
  if (a.features().size() != b.features().size() || a.lists().size() != b.lists().size())
    return false;
  for (std::size_t i = 0; i < a.features().size(); ++i) {
    if (!same(*a.features()[i], *b.features()[i])) return false;
  }
  for (std::size_t i = 0; i < a.lists().size(); ++i) {
    if (!same(*a.lists()[i], *b.lists()[i])) return false;
  }
  return a.records().counts == b.records().counts && a.records().first == b.records().first;
}

TEST(values_of_all_kinds_are_counted) {
  const std::vector<std::string> records = {
      field(1, entry("a", ints({5})) + entry("b", text("x"))),
      field(1, entry("a", ints({-3, 5})) + entry("b", text("y"))),
      field(1, entry("a", ints({})) + entry("c", floats({-0.0F, 0.0F, NAN}))),
  };
  Statistics statistics(std::nullopt);
  statistics.add(spans_of(records));
  CHECK_EQ(statistics.features().size(), 3U);
  const FeatureTotals& a = *statistics.features()[0];
  CHECK_EQ(a.outline().records, 3U);
  CHECK_EQ(a.outline().empty, 1U);
  const auto counts = counts_of(*a.of(Kind::kInt64)->numbers);
  CHECK(counts ==
        (std::map<std::uint64_t, std::uint64_t>{{5, 2}, {static_cast<std::uint64_t>(-3), 1}}));
  const KindTotals& c = *statistics.features()[2]->of(Kind::kFloat);
  CHECK(counts_of(*c.numbers) == (std::map<std::uint64_t, std::uint64_t>{{0, 2}}));
  CHECK_EQ(statistics.features()[2]->outline().ranges.values.nans, 1U);
  const ByteStats& b = *statistics.features()[1]->of(Kind::kBytes)->strings;
  CHECK_EQ(b.count(), 2U);
  CHECK_EQ(b.counts().size(), 2U);
}

// Adds the records in four parts of `size` again and again.
void add_in_parts(std::span<const Bytes> records, std::size_t size, Statistics& statistics,
                  std::size_t threads = 2) {
  std::vector<FeatureColumns> columns(4);
  while (!records.empty()) {
    std::int64_t first = statistics.next_record();
    for (FeatureColumns& some : columns) {
      const std::size_t count = std::min(size, records.size());
      some.read(records.first(count), first, statistics.request());
      first += static_cast<std::int64_t>(count);
      records = records.subspan(count);
    }
    const std::size_t tasks = statistics.begin(columns, threads);
    for (std::size_t i = tasks; i-- > 0;) statistics.run_task(i);
  }
}

TEST(parts_do_not_matter) {
  const std::vector<std::string> records = mixed_records(400);
  const std::vector<Bytes> spans = spans_of(records);
  for (const Detail detail : {Detail::kOutline, Detail::kValues}) {
    Statistics whole(std::nullopt, detail);
    whole.add(spans);
    for (const std::size_t size : {1U, 3U, 50U}) {
      Statistics parts(std::nullopt, detail);
      add_in_parts(spans, size, parts);
      CHECK(same(whole, parts));
      for (std::size_t i = 0; i < whole.features().size(); ++i) {
        CHECK(whole.features()[i]->outline().kind_first ==
              parts.features()[i]->outline().kind_first);
      }
    }
  }
}

// All that is known of numbers beyond the limit.
std::vector<std::uint64_t> known_of(const NumberStats& stats) {
  const NumberStats::Sketches& sketches = *stats.sketches();
  std::vector<std::uint64_t> known{sketches.count,
                                   sketches.least,
                                   sketches.greatest,
                                   sketches.frequent.error(),
                                   sketches.quantiles.rank_error(),
                                   std::bit_cast<std::uint64_t>(sketches.distinct.estimate())};
  const auto add = [&](std::uint64_t key, std::uint64_t count) {
    known.push_back(key);
    known.push_back(count);
  };
  sketches.frequent.table().for_each([&](const auto& entry) { add(entry.key.bits, entry.count); });
  sketches.quantiles.for_each(add);
  const Moments moments = stats.moments();
  for (const auto limbs :
       {moments.positive.limbs(), moments.negative.limbs(), moments.squares.limbs()}) {
    known.insert(known.end(), limbs.begin(), limbs.end());
  }
  return known;
}

TEST(a_feature_in_shares_is_as_one) {
  std::mt19937_64 random(8);
  std::vector<std::string> records;
  for (int i = 0; i < 900; ++i) {
    std::vector<float> values(random() % 400);
    for (float& value : values) value = static_cast<float>(random() % 1'000'000) / 7;
    std::vector<std::int64_t> numbers(values.size());
    for (std::int64_t& number : numbers) number = static_cast<std::int64_t>(random());
    // Another kind now and then, and the same key twice: then the last one counts.
    const std::string x = i % 50 == 7 ? ints(numbers) : floats(values);
    std::string features = entry("x", x) + entry("one", floats({values.empty() ? 0 : values[0]}));
    if (i % 40 == 9) features += entry("x", floats({1, 2, 3}));
    const std::string steps = field(1, ints(numbers)) + field(1, floats(values));
    records.push_back(field(1, features) + field(2, entry("steps", steps)));
  }
  const std::vector<Bytes> spans = spans_of(records);
  Statistics whole(std::nullopt);
  whole.add(spans);
  for (const std::size_t size : {7U, 100U}) {
    for (const std::size_t threads : {1U, 2U, 16U}) {
      Statistics parts(std::nullopt);
      add_in_parts(spans, size, parts, threads);
      CHECK(known_of(*whole.features()[0]->of(Kind::kFloat)->numbers) ==
            known_of(*parts.features()[0]->of(Kind::kFloat)->numbers));
      CHECK(known_of(*whole.features()[0]->of(Kind::kInt64)->numbers) ==
            known_of(*parts.features()[0]->of(Kind::kInt64)->numbers));
      CHECK(known_of(*whole.lists()[0]->of(Kind::kInt64)->numbers) ==
            known_of(*parts.lists()[0]->of(Kind::kInt64)->numbers));
      CHECK(known_of(*whole.lists()[0]->of(Kind::kFloat)->numbers) ==
            known_of(*parts.lists()[0]->of(Kind::kFloat)->numbers));
    }
  }
}

TEST(the_range_of_a_long_list_is_that_of_its_floats) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> values(random() % 300);
    for (float& value : values) {
      const std::uint64_t kind = random() % (round % 2 == 0 ? 40 : 1000);
      value = kind == 1   ? NAN
              : kind == 2 ? INFINITY
              : kind == 3 ? -INFINITY
              : kind < 20 ? (random() % 2 == 0 ? 0.0F : -0.0F)
                          : static_cast<float>(round % 3) * static_cast<float>(random() % 100);
    }
    Values expected;
    for (const float value : values) expected.add_float(std::bit_cast<std::uint32_t>(value));
    Values found;
    const std::string feature = floats(values);
    CHECK(measure_feature(reference::as_bytes(feature), 0, found));
    CHECK_EQ(found.count, values.size());
    CHECK(same(found, expected));
    CHECK_EQ(found.negative_infinities, expected.negative_infinities);
    CHECK_EQ(std::signbit(found.low_float), std::signbit(expected.low_float));
    CHECK_EQ(std::signbit(found.high_float), std::signbit(expected.high_float));
  }
}

TEST(merged_statistics_are_the_whole) {
  const std::vector<std::string> records = mixed_records(400);
  const std::vector<Bytes> spans = spans_of(records);
  Statistics whole(std::nullopt);
  whole.add(spans);
  Statistics merged(std::nullopt);
  for (const Bytes record : spans) {
    Statistics one(std::nullopt);
    one.add({&record, 1});
    merged.merge(one);
  }
  CHECK_EQ(merged.features().size(), whole.features().size());
  for (std::size_t i = 0; i < whole.features().size(); ++i) {
    CHECK(same(*whole.features()[i], *merged.features()[i]));
  }
  CHECK(whole.records().counts == merged.records().counts);
}

TEST(every_truncation_of_a_record_is_survived) {
  const std::string record = mixed_records(1)[0];
  for (std::size_t size = 0; size <= record.size(); ++size) {
    const std::string truncated = record.substr(0, size);
    Statistics statistics(std::nullopt);
    const std::vector<std::string> records = {record, truncated, record};
    statistics.add(spans_of(records));
    CHECK(statistics.features()[0]->outline().records >= 2);
  }
}

TEST(only_wanted_features_are_counted) {
  Statistics statistics(FeatureColumns::Names{"x", "steps"});
  const std::vector<std::string> records = mixed_records(40);
  statistics.add(spans_of(records));
  CHECK_EQ(statistics.features().size(), 1U);
  CHECK(statistics.features()[0]->key() == "x");
  CHECK_EQ(statistics.lists().size(), 1U);
}

TEST(features_beyond_the_limit_are_passed_over) {
  std::string features;
  for (std::size_t i = 0; i < kMaxCountedFeatures + 5; ++i)
    features += entry(std::to_string(i), ints({1}));
  Statistics statistics(std::nullopt);
  const std::vector<std::string> records = {field(1, features), field(1, features)};
  statistics.add(spans_of(records));
  CHECK_EQ(statistics.features().size(), kMaxCountedFeatures);
  CHECK_EQ(statistics.not_followed(), 10U);
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
