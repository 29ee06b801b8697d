#include "core/examples/example.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/check.h"
#include "core/examples/parsed_batch.h"
#include "core/frames/reference.h"

namespace tfrkit {
namespace {

using ByteVector = std::vector<std::byte>;
using Slots = std::vector<ExampleSlot>;

void append(ByteVector& out, const ByteVector& more) {
  out.insert(out.end(), more.begin(), more.end());
}

ByteVector from_text(std::string_view text) {
  const Bytes bytes = reference::as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

ByteVector varint(std::uint64_t value) {
  ByteVector out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>((value & 0x7f) | 0x80));
  out.push_back(static_cast<std::byte>(value));
  return out;
}

ByteVector field(int tag, const ByteVector& body) {
  ByteVector out{static_cast<std::byte>(tag)};
  append(out, varint(body.size()));
  append(out, body);
  return out;
}

ByteVector ints(std::initializer_list<std::uint64_t> values) {
  ByteVector run;
  for (const std::uint64_t value : values) append(run, varint(value));
  return field(0x1a, values.size() == 0 ? ByteVector{} : field(0x0a, run));
}

ByteVector floats(std::initializer_list<float> values) {
  ByteVector run(values.size() * sizeof(float));
  if (!run.empty()) std::memcpy(run.data(), std::data(values), run.size());
  return field(0x12, field(0x0a, run));
}

ByteVector texts(std::initializer_list<std::string_view> values) {
  ByteVector list;
  for (const std::string_view value : values) append(list, field(0x0a, from_text(value)));
  return field(0x0a, list);
}

ByteVector entry(std::string_view key, const ByteVector& feature) {
  ByteVector body = field(0x0a, from_text(key));
  append(body, field(0x12, feature));
  return field(0x0a, body);
}

ByteVector example(std::initializer_list<ByteVector> entries) {
  ByteVector body;
  for (const ByteVector& one : entries) append(body, one);
  return field(0x0a, body);
}

ExampleSlot slot(std::string_view key, Kind kind, std::int64_t count = 1) {
  ExampleSlot made;
  made.key = from_text(key);
  made.kind = kind;
  made.count = count;
  return made;
}

constexpr std::array<Dialect, 3> kDialects{Dialect::kProtobuf, Dialect::kTensorflowBatch,
                                           Dialect::kTensorflowSingle};

// Parses on both paths, which must agree, and returns the result.
ParsedBatch parse(const Slots& slots, Dialect dialect, const std::vector<ByteVector>& records) {
  const ExamplePlan plan(slots);
  const std::vector<Bytes> spans(records.begin(), records.end());
  ParsedBatch fast = parse_batch(plan, dialect, spans, Path::kFastThenExact);
  const ParsedBatch exact = parse_batch(plan, dialect, spans, Path::kExactOnly);
  CHECK(fast == exact);
  return fast;
}

TEST(usual_records_give_their_values) {
  const Slots slots{slot("a", Kind::kInt64), slot("b", Kind::kFloat), slot("c", Kind::kBytes),
                    slot("list", Kind::kInt64, kVariable), slot("pair", Kind::kFloat, 2)};
  std::vector<ByteVector> records;
  records.reserve(20);
  for (std::uint64_t i = 0; i < 20; ++i) {
    records.push_back(example({entry("a", ints({i * i * i})), entry("b", floats({0.5F})),
                               entry("c", texts({"text"})), entry("list", ints({1, i, 300})),
                               entry("other", ints({7})), entry("pair", floats({1, 2}))}));
  }
  for (const Dialect dialect : kDialects) {
    const ParsedBatch batch = parse(slots, dialect, records);
    CHECK(batch.failure.code == ParseCode::kOk);
    CHECK_EQ(batch.int64s[0][19], 19 * 19 * 19);
    CHECK_EQ(batch.floats[1][3], 0.5F);
    CHECK(batch.data[2].substr(0, 8) == "texttext");
    CHECK_EQ(batch.splits[3][20], 60);
    CHECK_EQ(batch.int64s[3][4], 1);
    CHECK_EQ(batch.floats[4][39], 2.0F);
    CHECK_EQ(batch.states[0][0], 2);
  }
}

TEST(every_order_of_keys_gives_the_same) {
  const Slots slots{slot("a", Kind::kInt64), slot("bb", Kind::kFloat),
                    slot("a_longer_key_than_two_words", Kind::kBytes), slot("d", Kind::kInt64)};
  std::vector<ByteVector> entries{entry("a", ints({5})), entry("bb", floats({2.5F})),
                                  entry("a_longer_key_than_two_words", texts({"x"})),
                                  entry("d", ints({~std::uint64_t{0}})), entry("e", ints({1, 2}))};
  std::sort(entries.begin(), entries.end());
  std::vector<ByteVector> records;
  do {
    ByteVector body;
    for (const ByteVector& one : entries) append(body, one);
    records.push_back(field(0x0a, body));
  } while (std::next_permutation(entries.begin(), entries.end()));
  const ParsedBatch batch = parse(slots, Dialect::kProtobuf, records);
  CHECK(batch.failure.code == ParseCode::kOk);
  for (std::size_t row = 0; row < records.size(); ++row) {
    CHECK_EQ(batch.int64s[0][row], 5);
    CHECK_EQ(batch.floats[1][row], 2.5F);
    CHECK_EQ(batch.int64s[3][row], -1);
  }
  CHECK_EQ(batch.data[2].size(), records.size());
}

TEST(missing_and_unset_features_take_the_default) {
  Slots slots{slot("a", Kind::kInt64), slot("v", Kind::kInt64, kVariable)};
  const std::vector<ByteVector> records{
      example({entry("v", ints({1}))}), example({entry("a", {}), entry("v", {})}), {}};
  for (const Dialect dialect : kDialects) {
    const ParsedBatch failed = parse(slots, dialect, records);
    CHECK(failed.failure.code == ParseCode::kMissing);
    CHECK_EQ(failed.failure.slot, 0);
    CHECK_EQ(failed.failure.row, 0U);
  }
  slots[0].has_default = true;
  slots[0].default_list.resize(8, std::byte{0});
  slots[0].default_list[0] = std::byte{9};
  const ParsedBatch batch = parse(slots, Dialect::kTensorflowBatch, records);
  CHECK(batch.failure.code == ParseCode::kOk);
  CHECK((batch.int64s[0] == std::vector<std::int64_t>{9, 9, 9}));
  CHECK((batch.splits[1] == std::vector<std::int64_t>{0, 1, 1, 1}));
  CHECK((batch.states[0] == std::vector<std::uint8_t>{0, 1, 0}));
  CHECK((batch.states[1] == std::vector<std::uint8_t>{2, 1, 0}));
}

TEST(faults_name_the_first_record_and_the_last_key) {
  const Slots slots{slot("a", Kind::kInt64), slot("b", Kind::kInt64)};
  const ByteVector good = example({entry("a", ints({1})), entry("b", ints({2}))});
  const ByteVector both = example({entry("b", floats({1})), entry("a", ints({1, 2}))});
  for (const Dialect dialect : kDialects) {
    const ParsedBatch batch = parse(slots, dialect, {good, both, ByteVector{std::byte{0xff}}});
    CHECK(batch.failure.code == ParseCode::kWrongCount);
    CHECK_EQ(batch.failure.row, 1U);
    CHECK_EQ(batch.failure.slot, 0);
    CHECK_EQ(batch.failure.count, 2U);
  }
}

TEST(of_two_entries_the_last_counts) {
  const Slots slots{slot("a", Kind::kInt64)};
  const std::vector<ByteVector> twice{example({entry("a", ints({1})), entry("a", ints({2}))})};
  const std::vector<ByteVector> then_unset{example({entry("a", ints({1})), entry("a", {})})};
  for (const Dialect dialect : kDialects) CHECK_EQ(parse(slots, dialect, twice).int64s[0][0], 2);
  CHECK(parse(slots, Dialect::kProtobuf, then_unset).failure.code == ParseCode::kMissing);
  CHECK_EQ(parse(slots, Dialect::kTensorflowBatch, then_unset).int64s[0][0], 1);
  Slots variable{slot("a", Kind::kInt64, kVariable)};
  const auto counted = [&](Dialect dialect) {
    return parse(variable, dialect, then_unset).splits[0][1];
  };
  CHECK_EQ(counted(Dialect::kTensorflowBatch), 0);
  CHECK_EQ(counted(Dialect::kTensorflowSingle), 1);
  variable[0].stride = 1;
  CHECK_EQ(counted(Dialect::kTensorflowBatch), 1);
}

TEST(lists_in_pieces_are_joined_by_protobuf_only) {
  const Slots slots{slot("a", Kind::kInt64, kVariable)};
  ByteVector mixed = field(0x0a, varint(1));
  append(mixed, {std::byte{0x08}, std::byte{2}});
  const std::vector<ByteVector> records{example({entry("a", field(0x1a, mixed))})};
  const ParsedBatch joined = parse(slots, Dialect::kProtobuf, records);
  CHECK((joined.int64s[0] == std::vector<std::int64_t>{1, 2}));
  const ParsedBatch first = parse(slots, Dialect::kTensorflowBatch, records);
  CHECK((first.int64s[0] == std::vector<std::int64_t>{1}));
}

TEST(a_stride_is_checked_and_counted_as_tensorflow_does) {
  Slots slots{slot("a", Kind::kInt64, kVariable)};
  slots[0].stride = 2;
  const std::vector<ByteVector> records{example({entry("a", ints({1, 2}))}),
                                        example({entry("a", ints({1, 2, 3}))})};
  const ParsedBatch batch = parse(slots, Dialect::kTensorflowBatch, records);
  CHECK(batch.failure.code == ParseCode::kWrongStride);
  CHECK_EQ(batch.failure.count, 3U);
  const std::vector<Bytes> many(1000, Bytes(records[0]));
  const std::vector<ListRef> lists(1000, ListRef{nullptr, 2, 2});
  CHECK_EQ(stride_count(many, lists, 0, 3), 3U);
  CHECK_EQ(stride_count(many, lists, 124, 3), 3U + 2 * 124);
  CHECK_EQ(stride_count(many, lists, 125, 3), 3U);  // 8 parts of 125 records
}

TEST(every_truncation_is_read_alike_on_both_paths) {
  const Slots slots{slot("a", Kind::kInt64, kVariable), slot("bb", Kind::kFloat, kVariable),
                    slot("ccc", Kind::kBytes, kVariable)};
  const ByteVector whole = example({entry("a", ints({1, 1000})), entry("bb", floats({1, 2})),
                                    entry("ccc", texts({"one", "two"})), entry("x", ints({3}))});
  for (const Dialect dialect : kDialects) {
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      const ByteVector cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      static_cast<void>(parse(slots, dialect, {whole, cut, whole}));
    }
  }
}

TEST(every_flipped_bit_is_read_alike_on_both_paths) {
  const Slots slots{slot("a", Kind::kInt64), slot("bb", Kind::kFloat), slot("ccc", Kind::kBytes)};
  const ByteVector whole = example({entry("a", ints({1000})), entry("bb", floats({1})),
                                    entry("ccc", texts({"one"})), entry("xx", ints({3}))});
  for (const Dialect dialect : kDialects) {
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      ByteVector damaged = whole;
      damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      static_cast<void>(parse(slots, dialect, {whole, damaged, whole}));
    }
  }
}

// Records may be in memory that another thread writes to.
TEST(records_that_changed_since_they_were_parsed_are_filled_inside) {
  const ExamplePlan plan({slot("text", Kind::kBytes, kVariable)});
  const ByteVector source = example({entry("text", texts({"one", "", "three", "four"}))});
  const ByteVector other = example({entry("text", texts({"five"}))});
  for (std::size_t at = 0; at < source.size(); ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      // Each in memory of its own size, so that sanitizers see a step over its end.
      ByteVector first(source);
      const std::array<Bytes, 2> records{first, other};
      std::array<ListRef, 2> lists{};
      const std::array<ExampleColumn, 1> columns{{{nullptr, nullptr, lists.data(), nullptr}}};
      ExampleScratch scratch(plan);
      const ExampleFailure failure =
          parse_examples(plan, Dialect::kTensorflowBatch, records, 0, 2, columns, scratch);
      CHECK(failure.code == ParseCode::kOk);
      first[at] = static_cast<std::byte>(value);
      ByteVector data(sum_lists(lists).bytes);
      std::vector<std::int64_t> ends(5);
      fill_bytes(lists, records, 0, data, ends);
      CHECK(std::ranges::is_sorted(ends));
      CHECK_EQ(ends[0] >= 0, true);
      CHECK_EQ(ends[3], 12);
      CHECK_EQ(ends[4], 16);
      CHECK(std::ranges::equal(std::span(data).last(4), from_text("five")));
    }
  }
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
