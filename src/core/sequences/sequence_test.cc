#include "core/sequences/sequence.h"

#include <array>
#include <bit>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/check.h"
#include "core/bytes/wire.h"
#include "core/sequences/sequence_canonical.h"
#include "core/sequences/sequence_parse.h"

namespace tfrkit {
namespace {

using ByteVector = std::vector<std::byte>;

constexpr std::array kDialects{Dialect::kProtobuf, Dialect::kTensorflowBatch,
                               Dialect::kTensorflowSingle};

ByteVector to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

ByteVector from_hex(std::string_view text) {
  ByteVector bytes;
  std::string digits;
  for (const char c : text) {
    if (c == ' ') continue;
    digits.push_back(c);
    if (digits.size() == 2) {
      bytes.push_back(static_cast<std::byte>(std::stoi(digits, nullptr, 16)));
      digits.clear();
    }
  }
  return bytes;
}

ByteVector operator+(ByteVector left, const ByteVector& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

ByteVector field(unsigned number, const ByteVector& bytes) {
  ByteVector out;
  append_field(out, delimited_tag(number), bytes);
  return out;
}

ByteVector ints(const std::vector<std::uint64_t>& values) {
  ByteVector out;
  append_feature(out, Kind::kInt64, {values, {}, {}});
  return out;
}

ByteVector floats(const std::vector<std::uint32_t>& bits) {
  ByteVector out;
  append_feature(out, Kind::kFloat, {{}, bits, {}});
  return out;
}

ByteVector entry(std::string_view key, const ByteVector& value) {
  return field(1, field(1, to_bytes(key)) + field(2, value));
}

ByteVector steps(const std::vector<ByteVector>& features) {
  ByteVector out;
  for (const ByteVector& feature : features) append_field(out, delimited_tag(1), feature);
  return out;
}

// Context n = 300, s = "xy"; lists t = 1, -1 (ten bytes), 2^35; v = [1, 2], [], unset, [3].
ByteVector usual() {
  return field(1, entry("n", ints({300})) + entry("s", field(1, field(1, to_bytes("xy"))))) +
         field(2, entry("t", steps({ints({1}), ints({~std::uint64_t{0}}), ints({1ULL << 35})})) +
                      entry("v", steps({ints({1, 2}), ints({}), {}, ints({3})})));
}

SequencePlan make_plan() {
  return {{{"n", Kind::kInt64, 1, false, {}}, {"s", Kind::kBytes, kVariable, false, {}}},
          {{"t", Kind::kInt64, 1, false}, {"v", Kind::kInt64, kVariable, false}}};
}

ParsedSequences parse(const SequencePlan& plan, Dialect dialect,
                      const std::vector<ByteVector>& records) {
  const std::vector<Bytes> spans(records.begin(), records.end());
  return parse_sequences(plan, dialect, spans);
}

SequenceFault diagnose(const SequencePlan& plan, Dialect dialect,
                       const std::vector<ByteVector>& records) {
  const std::vector<Bytes> spans(records.begin(), records.end());
  return diagnose_sequences(plan, dialect, spans);
}

// Checks code, row, slot, index and count of the fault.
void check_fault(const SequenceFault& fault, SequenceCode code,
                 const std::array<std::int64_t, 4>& numbers) {
  CHECK_EQ(static_cast<int>(fault.code), static_cast<int>(code));
  CHECK_EQ(fault.row, numbers[0]);
  CHECK_EQ(fault.slot, numbers[1]);
  CHECK_EQ(fault.index, numbers[2]);
  CHECK_EQ(fault.count, numbers[3]);
}

TEST(usual_records_become_columns_in_every_dialect) {
  const SequencePlan plan = make_plan();
  for (const Dialect dialect : kDialects) {
    const ParsedSequences parsed = parse(plan, dialect, {usual(), usual()});
    CHECK(parsed.good);
    if (!parsed.good) continue;
    CHECK((parsed.columns[0].ints == std::vector<std::int64_t>{300, 300}));
    CHECK((parsed.columns[1].data == to_bytes("xyxy")));
    CHECK((parsed.columns[1].offsets == std::vector<std::int64_t>{0, 2, 4}));
    CHECK((parsed.columns[1].rows == std::vector<std::int64_t>{0, 1, 2}));
    constexpr std::int64_t kLarge = 1LL << 35;
    CHECK((parsed.columns[2].ints == std::vector<std::int64_t>{1, -1, kLarge, 1, -1, kLarge}));
    CHECK((parsed.columns[2].rows == std::vector<std::int64_t>{0, 3, 6}));
    CHECK((parsed.columns[3].ints == std::vector<std::int64_t>{1, 2, 3, 1, 2, 3}));
    CHECK((parsed.columns[3].inner == std::vector<std::int64_t>{0, 2, 2, 2, 3, 5, 5, 5, 6}));
    CHECK((parsed.columns[3].rows == std::vector<std::int64_t>{0, 4, 8}));
  }
}

TEST(usual_records_are_these_bytes) {
  CHECK((usual() == from_hex("0a1a 0a0b 0a016e 1206 1a040a02ac02 0a0b 0a0173 1206 0a040a027879"
                             "1246 0a28 0a0174 1223 0a051a030a0101 0a0e1a0c0a0affffffffffffffffff01"
                             "0a0a1a080a06808080808001 0a1a 0a0176 1215 0a061a040a020102 0a021a00"
                             "0a00 0a051a030a0103")));
}

TEST(rewriting_a_usual_record_changes_nothing_that_is_parsed) {
  const SequencePlan plan = make_plan();
  for (const Dialect dialect : kDialects) {
    ByteVector rewritten;
    CHECK(rewrite_sequence(plan, dialect, usual(), rewritten));
    CHECK(parse(plan, dialect, {usual()}) == parse(plan, dialect, {rewritten}));
  }
}

TEST(every_truncation_is_parsed_or_diagnosed) {
  const SequencePlan plan = make_plan();
  const ByteVector record = usual();
  for (const Dialect dialect : kDialects) {
    for (std::size_t size = 0; size < record.size(); ++size) {
      const ByteVector cut(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(size));
      const bool good = parse(plan, dialect, {cut}).good;
      CHECK_EQ(good, diagnose(plan, dialect, {cut}).code == SequenceCode::kOk);
      // TensorFlow takes a map that ends between two entries for a whole one.
      if (dialect == Dialect::kProtobuf) CHECK(!good);
    }
  }
}

TEST(every_changed_byte_is_parsed_or_diagnosed) {
  const SequencePlan plan = make_plan();
  const ByteVector record = usual();
  for (const Dialect dialect : kDialects) {
    for (std::size_t i = 0; i < record.size(); ++i) {
      for (unsigned value = 0; value < 256; ++value) {
        ByteVector changed = record;
        changed[i] = static_cast<std::byte>(value);
        const bool good = parse(plan, dialect, {changed}).good;
        CHECK_EQ(good, diagnose(plan, dialect, {changed}).code == SequenceCode::kOk);
      }
    }
  }
}

TEST(a_repeated_key_counts_once_the_last) {
  const SequencePlan plan({{"n", Kind::kInt64, 1, false, {}}}, {});
  const ByteVector record = field(1, entry("n", ints({1})) + entry("n", ints({2})));
  for (const Dialect dialect : kDialects) {
    const ParsedSequences parsed = parse(plan, dialect, {record});
    CHECK((parsed.good && parsed.columns[0].ints == std::vector<std::int64_t>{2}));
  }
}

TEST(two_lists_merge_in_protobuf_only) {
  const SequencePlan plan({{"n", Kind::kInt64, kVariable, false, {}}}, {});
  const ByteVector record = field(1, entry("n", ints({1}) + ints({2})));
  CHECK((parse(plan, Dialect::kProtobuf, {record}).columns[0].ints ==
         std::vector<std::int64_t>{1, 2}));
  CHECK((parse(plan, Dialect::kTensorflowBatch, {record}).columns[0].ints ==
         std::vector<std::int64_t>{1}));
}

TEST(a_missing_feature_takes_its_default) {
  const SequencePlan plan({{"f", Kind::kFloat, 2, true, floats({1, 2})}}, {});
  for (const Dialect dialect : kDialects) {
    const ParsedSequences parsed = parse(plan, dialect, {ByteVector{}});
    CHECK((parsed.good && parsed.columns[0].floats.size() == 2));
  }
}

TEST(float_steps_of_every_count_are_copied) {
  for (std::int64_t count = 1; count <= 40; ++count) {
    const SequencePlan plan({}, {{"f", Kind::kFloat, count, false}});
    std::vector<std::uint32_t> bits(static_cast<std::size_t>(count));
    std::iota(bits.begin(), bits.end(), 0x3f800000U);
    const ByteVector record = field(2, entry("f", steps({floats(bits), floats(bits)})));
    const ParsedSequences parsed = parse(plan, Dialect::kProtobuf, {record, record});
    CHECK(parsed.good);
    if (!parsed.good) continue;
    CHECK_EQ(parsed.columns[0].floats.size(), static_cast<std::size_t>(4 * count));
    for (std::size_t i = 0; i < parsed.columns[0].floats.size(); ++i) {
      const auto place = i % static_cast<std::size_t>(count);
      CHECK_EQ(std::bit_cast<std::uint32_t>(parsed.columns[0].floats[i]), bits[place]);
    }
  }
}

TEST(faults_of_tensorflow_come_in_its_order) {
  const SequencePlan plan({{"a", Kind::kInt64, 1, false, {}}, {"b", Kind::kInt64, 1, false, {}}},
                          {{"t", Kind::kInt64, 2, false}});
  const ByteVector context = field(1, entry("a", ints({1})) + entry("b", ints({1})));
  const ByteVector good = context + field(2, entry("t", steps({ints({1, 2})})));
  const ByteVector& no_list = context;
  const ByteVector bad_kind = field(1, entry("a", ints({1})) + entry("b", floats({1})));
  const ByteVector bad_list = context + field(2, entry("t", steps({ints({1, 2}), floats({1})})));
  const ByteVector bad_count = context + field(2, entry("t", steps({ints({1}), ints({2, 3, 4})})));
  const ByteVector no_message = from_hex("0b");
  constexpr Dialect kBatch = Dialect::kTensorflowBatch;
  check_fault(diagnose(plan, kBatch, {good, bad_kind, no_message}),
              SequenceCode::kMalformedSequence, {2, -1, -1, -1});
  check_fault(diagnose(plan, kBatch, {bad_list, bad_kind}), SequenceCode::kContextKind,
              {1, 1, -1, -1});
  check_fault(diagnose(plan, kBatch, {no_list, bad_list}), SequenceCode::kListKind, {1, 0, 1, -1});
  check_fault(diagnose(plan, kBatch, {no_list, bad_count}), SequenceCode::kListMissing,
              {0, 0, -1, -1});
  check_fault(diagnose(plan, kBatch, {good, bad_count}), SequenceCode::kStepCount, {1, 0, 0, 1});
  check_fault(diagnose(plan, kBatch, {good, {}}), SequenceCode::kContextMissing, {1, 0, -1, 0});
  check_fault(diagnose(plan, kBatch, {{}, {}}), SequenceCode::kContextMaximum, {0, 0, -1, 0});
  check_fault(diagnose(plan, kBatch, {}), SequenceCode::kContextMaximum, {-1, 0, -1, 0});
}

TEST(faults_of_protobuf_are_those_of_the_first_record) {
  const SequencePlan plan({{"a", Kind::kInt64, 1, false, {}}}, {{"t", Kind::kInt64, 1, false}});
  const ByteVector context = field(1, entry("a", ints({1})));
  const ByteVector damaged = field(1, entry("a", from_hex("1a030a0180")));
  constexpr Dialect kProtobuf = Dialect::kProtobuf;
  check_fault(diagnose(plan, kProtobuf, {context, from_hex("0b")}), SequenceCode::kListMissing,
              {0, 0, -1, -1});
  check_fault(diagnose(plan, kProtobuf, {damaged}), SequenceCode::kMalformedContext,
              {0, 0, -1, -1});
  check_fault(diagnose(plan, kProtobuf, {field(1, entry("a", ints({1, 2})))}),
              SequenceCode::kContextCount, {0, 0, -1, 2});
  check_fault(diagnose(plan, kProtobuf, {context + field(2, entry("t", steps({ints({1}), {}})))}),
              SequenceCode::kStepCount, {0, 0, 1, 0});
  check_fault(diagnose(plan, kProtobuf, {}), SequenceCode::kOk, {-1, -1, -1, -1});
}

TEST(a_length_that_lies_allocates_nothing) {
  const SequencePlan plan = make_plan();
  for (const std::string_view head : {"0affffff7f", "0a0a0a080a016e12ffffff07", "12ffffffff07"}) {
    const ByteVector record = from_hex(head);
    for (const Dialect dialect : kDialects) CHECK(!parse(plan, dialect, {record}).good);
  }
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
