#include "core/describe/outline.h"

#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/check.h"
#include "core/bytes/utf8.h"
#include "core/describe/statistics.h"
#include "core/describe/test_messages.h"
#include "core/examples/parse_one.h"

namespace tfrkit {
namespace {

using namespace std::string_literals;
using namespace messages;

Statistics outline_of(const std::vector<std::string>& records) {
  Statistics statistics(std::nullopt, Detail::kOutline);
  statistics.add(spans_of(records));
  return statistics;
}

RecordKind kind_of(const std::string& record) {
  const Statistics found = outline_of({record});
  for (const RecordKind kind : {RecordKind::kExample, RecordKind::kSequenceExample}) {
    if (found.records().of(kind) == 1) return kind;
  }
  return RecordKind::kOther;
}

const Outline& feature(const Statistics& found, std::size_t slot = 0) {
  return found.features()[slot]->outline();
}

TEST(counts_and_ranges_of_every_kind) {
  const Statistics found = outline_of({
      example({entry("i", ints({3, -7})), entry("f", floats({1.5F, -2.0F})),
               entry("b", texts({"abc", ""}))}),
      example({entry("i", ints({300})), entry("b", texts({"defgh"}))}),
  });
  CHECK_EQ(found.records().of(RecordKind::kExample), 2U);
  CHECK_EQ(found.features().size(), 3U);
  const Outline& i = feature(found, 0);
  CHECK(found.features()[0]->key() == "i");
  CHECK_EQ(i.records, 2U);
  CHECK_EQ(i.counts.least(), 1U);
  CHECK_EQ(i.counts.greatest(), 2U);
  CHECK_EQ(i.ranges.values.low, -7);
  CHECK_EQ(i.ranges.values.high, 300);
  CHECK_EQ(i.ranges.counts[3], 3U);
  const Outline& f = feature(found, 1);
  CHECK_EQ(f.records, 1U);
  CHECK(f.ranges.values.low_float == -2.0F && f.ranges.values.high_float == 1.5F);
  const Outline& b = feature(found, 2);
  CHECK_EQ(b.ranges.values.shortest, 0U);
  CHECK_EQ(b.ranges.values.longest, 5U);
  CHECK_EQ(b.ranges.values.sum, 8U);
  CHECK_EQ(b.examples.size(), 2U);
  CHECK(b.examples[1].head == "defgh");
}

TEST(floats_that_are_no_numbers_are_counted_apart) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Statistics found = outline_of({example({entry("f", floats({nan, inf, -inf, 2, -nan}))})});
  const Values& values = feature(found).ranges.values;
  CHECK_EQ(values.nans, 2U);
  CHECK_EQ(values.infinities, 1U);
  CHECK_EQ(values.negative_infinities, 1U);
  CHECK(values.low_float == 2 && values.high_float == 2);
}

TEST(unset_and_empty_are_not_the_same) {
  const Statistics found = outline_of({example({entry("a", "")}), example({entry("a", "\x1a\0"s)}),
                                       example({}), example({entry("a", ints({1}))})});
  const Outline& a = feature(found);
  CHECK_EQ(a.records, 3U);
  CHECK_EQ(a.unset, 1U);
  CHECK_EQ(a.empty, 1U);
  CHECK_EQ(a.counts.least(), 0U);
  CHECK_EQ(a.counts.total(), 2U);
  CHECK_EQ(a.kind_first[0], 0);
  CHECK_EQ(a.kind_first[3], 1);
}

TEST(kinds_are_noted_with_their_first_record) {
  const Statistics found =
      outline_of({example({entry("a", ints({1}))}), example({entry("a", ints({2}))}),
                  example({entry("a", floats({1}))}), example({entry("a", floats({1}))})});
  CHECK_EQ(feature(found).kind_first[3], 0);
  CHECK_EQ(feature(found).kind_first[2], 2);
  CHECK_EQ(feature(found).kind_first[1], -1);
  CHECK_EQ(feature(found).kind_records[2], 2U);
}

TEST(records_are_recognised) {
  const std::string context = example({entry("a", ints({1}))});
  CHECK(kind_of("") == RecordKind::kExample);
  CHECK(kind_of("\x0a\0"s) == RecordKind::kExample);
  CHECK(kind_of(context) == RecordKind::kExample);
  CHECK(kind_of(context + "\x12\0"s) == RecordKind::kExample);
  CHECK(kind_of(sequence("", "s", {})) == RecordKind::kSequenceExample);
  CHECK(kind_of(sequence(context, "s", {ints({1})})) == RecordKind::kSequenceExample);
  CHECK(kind_of("hello, world") == RecordKind::kOther);
  CHECK(kind_of("\xff\xd8\xff\xe0"s) == RecordKind::kOther);
  CHECK(kind_of("\x08\x03"s) == RecordKind::kOther);  // a message of another type
  CHECK(kind_of(context + "\x1a"s) == RecordKind::kOther);
  CHECK(kind_of(context + "\x18\x05"s) == RecordKind::kExample);        // with an unknown field
  CHECK(kind_of(context + field(2, "hello")) == RecordKind::kExample);  // field 2 is anything
  CHECK(kind_of(example({entry("\xff", ints({1}))})) == RecordKind::kOther);  // no UTF-8
}

TEST(a_damaged_record_leaves_nothing_but_its_number) {
  const std::string good = example({entry("a", ints({1}))});
  const std::string bad = example({entry("new", ints({5})), entry("a", "\x1a\x02\x0a\x05"s)});
  const Statistics found = outline_of({good, bad, good});
  CHECK_EQ(found.features().size(), 1U);
  CHECK_EQ(feature(found).records, 2U);
  CHECK_EQ(found.records().first[2], 1);
  CHECK_EQ(found.records().others.size(), 1U);
  CHECK(found.records().others[0].bytes.head == bad);
}

TEST(protobuf_merges) {
  const auto stats = [](const std::string& record) {
    const Statistics found = outline_of({record});
    CHECK_EQ(found.records().of(RecordKind::kExample), 1U);
    return std::make_pair(feature(found).kind_records, feature(found).ranges.counts);
  };
  using Four = std::array<std::uint64_t, 4>;
  // Two lists of one kind are one, the last kind counts, packed and not packed mix.
  CHECK((stats(example({entry("a", ints({1}) + ints({2}))})).second == Four{0, 0, 0, 2}));
  CHECK((stats(example({entry("a", ints({1}) + floats({2}))})).second == Four{0, 0, 1, 0}));
  CHECK((stats(example({entry("a", ints({1}) + floats({2}) + ints({3}))})).second ==
         Four{0, 0, 0, 1}));
  CHECK((stats(example({entry("a", field(3, "\x08\x05\x0a\x02\x01\x02\x08\x06"s))})).second ==
         Four{0, 0, 0, 4}));
  CHECK((stats(example({entry("a", field(2, "\x0d\0\0\x80?"s))})).second == Four{0, 0, 1, 0}));
  // Of equal keys the last entry counts; values of one entry are one message.
  CHECK((stats(example({entry("a", ints({1, 2})), entry("a", texts({"x"}))})).second ==
         Four{0, 1, 0, 0}));
  CHECK((stats(example({entry("a", ints({1})), entry("a", "")})).first == Four{1, 0, 0, 0}));
  CHECK((stats(example({field(1, field(1, "a") + field(2, ints({1})) + field(2, ints({2})))}))
             .second == Four{0, 0, 0, 2}));
  // Features may come in parts, and an entry without anything has the empty key.
  CHECK((stats(example({entry("a", ints({1}))}) + example({entry("a", ints({1, 2, 3}))})).second ==
         Four{0, 0, 0, 3}));
  CHECK((stats("\x0a\x02\x0a\0"s).first == Four{1, 0, 0, 0}));
}

TEST(feature_lists_count_steps_and_values) {
  const std::string context = example({entry("id", ints({7}))});
  const Statistics found =
      outline_of({sequence(context, "s", {ints({1, 2}), ints({3, 4}), ""}),
                  sequence(context, "s", {ints({5, 6}), "\x1a\0"s}), sequence(context, "s", {})});
  CHECK_EQ(found.records().of(RecordKind::kSequenceExample), 3U);
  CHECK_EQ(found.features().size(), 1U);
  const Outline& s = found.lists()[0]->outline();
  CHECK_EQ(s.records, 3U);
  CHECK_EQ(s.steps.least(), 0U);
  CHECK_EQ(s.steps.greatest(), 3U);
  CHECK_EQ(s.counts.usual().first, 2U);
  CHECK_EQ(s.counts.usual().second, 3U);
  CHECK_EQ(s.unset, 1U);
  CHECK_EQ(s.empty, 1U);
  CHECK_EQ(s.kind_records[3], 2U);
  CHECK_EQ(s.ranges.values.high, 6);
}

TEST(every_truncation_is_another_record_or_none) {
  const std::string whole =
      sequence(example({entry("a", ints({1, 300})), entry("b", texts({"xyz"}))}), "s",
               {floats({1}), floats({2})});
  const std::size_t context =
      example({entry("a", ints({1, 300})), entry("b", texts({"xyz"}))}).size();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const bool example = size == 0 || size == context;
    CHECK((kind_of(whole.substr(0, size)) == RecordKind::kExample) == example);
    CHECK(kind_of(whole.substr(0, size)) != RecordKind::kSequenceExample);
  }
}

TEST(too_many_keys_are_counted_and_not_followed) {
  std::string features;
  for (std::size_t i = 0; i < kMaxKeys + 10; ++i) features += entry(std::to_string(i), ints({1}));
  const std::vector<std::string> records = {field(1, features), field(1, features)};
  const Statistics found = outline_of(records);
  CHECK_EQ(found.features().size(), kMaxKeys);
  CHECK_EQ(found.not_followed(), 20U);
  CHECK_EQ(feature(found).records, 2U);
  CHECK_EQ(found.records().of(RecordKind::kExample), 2U);

  // A key that is wanted is followed after any number of others.
  const std::string key = std::to_string(kMaxKeys + 9);
  Statistics wanted(FeatureColumns::Names{key}, Detail::kOutline);
  wanted.add(spans_of(records));
  CHECK(wanted.features()[0]->key() == key);
  CHECK_EQ(feature(wanted).records, 2U);
  CHECK(wanted.lists().empty());
}

TEST(keys_and_examples_take_bounded_memory) {
  const std::string key(kMaxKeyBytes + 1, 'k');
  const Statistics long_key = outline_of(
      {example({entry(key, ints({1})), entry("a", ints({1}))}), example({entry("a", ints({1}))})});
  CHECK_EQ(long_key.features().size(), 1U);
  CHECK_EQ(long_key.not_followed(), 1U);
  const std::string large(3 * kMaxExampleBytes, 'x');
  const Statistics examples = outline_of({example({entry("a", texts({large}))})});
  CHECK_EQ(feature(examples).examples[0].head.size(), kMaxExampleBytes);
  CHECK_EQ(feature(examples).examples[0].size, large.size());
}

TEST(count_map_finds_the_usual_number) {
  CountMap counts;
  std::size_t budget = 3;
  for (const std::uint64_t number : {5U, 5U, 2U, 7U, 2U, 5U, 2U}) counts.add(number, 1, budget);
  CHECK_EQ(counts.usual().first, 2U);  // as often as 5, but smaller
  CHECK_EQ(counts.usual().second, 3U);
  CHECK_EQ(counts.least(), 2U);
  CHECK_EQ(counts.greatest(), 7U);
  for (std::uint64_t number = 100; number < 200; ++number) counts.add(number, 1, budget);
  CHECK_EQ(budget, 0U);
  CHECK_EQ(counts.usual().first, 2U);
  CHECK_EQ(counts.greatest(), 199U);
  CHECK_EQ(counts.total(), 107U);
}

TEST(singles_are_what_the_general_reader_sees) {
  SingleValue single;
  const std::string one = entry("key", ints({-1}));
  const std::string with_more = one + "more";
  CHECK_EQ(read_single_value(reference::as_bytes(with_more), single), one.size());
  CHECK(as_text(single.key) == "key");
  CHECK(single.kind == Kind::kInt64);
  CHECK_EQ(single.bits, std::numeric_limits<std::uint64_t>::max());
  for (std::uint64_t value = 1; value != 0; value <<= 1) {
    for (const std::string& after : {""s, "0123456789"s}) {
      const std::string written = entry("k", ints({static_cast<std::int64_t>(value)})) + after;
      CHECK_EQ(read_single_value(reference::as_bytes(written), single),
               written.size() - after.size());
      CHECK_EQ(single.bits, value);
    }
  }
  for (std::size_t size = 0; size < one.size(); ++size) {
    CHECK_EQ(read_single_value(reference::as_bytes(one).first(size), single), 0U);
  }
  const std::vector<std::string> others = {entry("key", ints({1, 2})),
                                           entry("key", ints({})),
                                           entry("key", ""),
                                           entry("key", floats({1, 2})),
                                           entry("key", texts({"a", "b"})),
                                           entry("key", texts({})),
                                           field(1, field(2, ints({1})) + field(1, "key")),
                                           entry(std::string(200, 'k'), ints({1}))};
  for (const std::string& other : others) {
    CHECK_EQ(read_single_value(reference::as_bytes(other), single), 0U);
  }
}

TEST(utf8_is_recognised) {
  for (const std::string& good : {""s, "abc"s, "\xc3\xa9"s, "\xe2\x82\xac"s, "\xf0\x9f\x98\x80"s}) {
    CHECK(is_utf8(reference::as_bytes(good)));
  }
  for (const std::string& bad :
       {"\x80"s, "\xc3"s, "\xc0\x80"s, "\xe0\x80\x80"s, "\xed\xa0\x80"s, "\xf0\x80\x80\x80"s,
        "\xf4\x90\x80\x80"s, "\xf5\x80\x80\x80"s, "a\xff"s, "\xc3("s}) {
    CHECK(!is_utf8(reference::as_bytes(bad)));
  }
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
