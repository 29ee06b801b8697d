#include "core/describe/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

using namespace std::string_literals;

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

std::string field(unsigned number, std::string_view content) {
  return varint(delimited_tag(number)) + varint(content.size()) + std::string(content);
}

std::string ints(const std::vector<std::int64_t>& values) {
  std::string packed;
  for (const std::int64_t value : values) packed += varint(static_cast<std::uint64_t>(value));
  return field(3, field(1, packed));
}

std::string floats(const std::vector<float>& values) {
  std::string packed;
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (unsigned i = 0; i < 4; ++i) packed.push_back(static_cast<char>(bits >> (8 * i)));
  }
  return field(2, field(1, packed));
}

std::string text(std::string_view value) { return field(1, field(1, value)); }

std::string entry(std::string_view key, std::string_view feature) {
  return field(1, field(1, key) + field(2, feature));
}

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::vector<Bytes> all(const std::vector<std::string>& records) {
  std::vector<Bytes> spans;
  spans.reserve(records.size());
  for (const std::string& record : records) spans.push_back(bytes_of(record));
  return spans;
}

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

bool same(const FeatureTotals& a, const FeatureTotals& b) {
  if (a.key() != b.key() || a.records() != b.records() || a.empty() != b.empty()) return false;
  if (!same(a.counts(), b.counts()) || !same(a.steps(), b.steps())) return false;
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    const KindTotals* const one = a.of(kind);
    const KindTotals* const other = b.of(kind);
    if ((one == nullptr) != (other == nullptr)) return false;
    if (one == nullptr) continue;
    if (one->records != other->records) return false;
    if (one->special.infinities != other->special.infinities) return false;
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
  return a.records(RecordKind::kExample) == b.records(RecordKind::kExample) &&
         a.records(RecordKind::kOther) == b.records(RecordKind::kOther);
}

TEST(values_of_all_kinds_are_counted) {
  const std::vector<std::string> records = {
      field(1, entry("a", ints({5})) + entry("b", text("x"))),
      field(1, entry("a", ints({-3, 5})) + entry("b", text("y"))),
      field(1, entry("a", ints({})) + entry("c", floats({-0.0F, 0.0F, NAN}))),
  };
  Statistics statistics(std::nullopt);
  statistics.add(all(records));
  CHECK_EQ(statistics.features().size(), 3U);
  const FeatureTotals& a = *statistics.features()[0];
  CHECK_EQ(a.records(), 3U);
  CHECK_EQ(a.empty(), 1U);
  const auto counts = counts_of(*a.of(Kind::kInt64)->numbers);
  CHECK(counts ==
        (std::map<std::uint64_t, std::uint64_t>{{5, 2}, {static_cast<std::uint64_t>(-3), 1}}));
  const KindTotals& c = *statistics.features()[2]->of(Kind::kFloat);
  CHECK(counts_of(*c.numbers) == (std::map<std::uint64_t, std::uint64_t>{{0, 2}}));
  CHECK_EQ(c.special.nans, 1U);
  const ByteStats& b = *statistics.features()[1]->of(Kind::kBytes)->strings;
  CHECK_EQ(b.count(), 2U);
  CHECK_EQ(b.counts().size(), 2U);
}

TEST(parts_do_not_matter) {
  const std::vector<std::string> records = mixed_records(400);
  const std::vector<Bytes> spans = all(records);
  Statistics whole(std::nullopt);
  whole.add(spans);
  for (const std::size_t size : {1U, 3U, 50U}) {
    Statistics parts(std::nullopt);
    std::vector<FeatureColumns> columns(4);  // used again and again
    for (std::size_t at = 0; at < spans.size();) {
      for (FeatureColumns& some : columns) {
        const std::size_t count = std::min(size, spans.size() - at);
        some.read(std::span(spans).subspan(at, count), nullptr);
        at += count;
      }
      const std::size_t features = parts.begin(columns);
      for (std::size_t i = features; i-- > 0;) parts.add_feature(i);
    }
    CHECK(same(whole, parts));
  }
  Statistics merged(std::nullopt);
  for (const Bytes record : spans) {
    Statistics one(std::nullopt);
    one.add({&record, 1});
    merged.merge(one);
  }
  CHECK(same(whole, merged));
}

TEST(every_cut_of_a_record_is_survived) {
  const std::string record = mixed_records(1)[0];
  for (std::size_t size = 0; size <= record.size(); ++size) {
    const std::string cut = record.substr(0, size);
    Statistics statistics(std::nullopt);
    const std::vector<std::string> records = {record, cut, record};
    statistics.add(all(records));
    CHECK(statistics.features()[0]->records() >= 2);
  }
}

TEST(only_wanted_features_are_counted) {
  Statistics statistics(FeatureColumns::Names{"x", "steps"});
  const std::vector<std::string> records = mixed_records(40);
  statistics.add(all(records));
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
  statistics.add(all(records));
  CHECK_EQ(statistics.features().size(), kMaxCountedFeatures);
  CHECK_EQ(statistics.not_followed(), 10U);
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
