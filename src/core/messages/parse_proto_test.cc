#include "core/messages/parse_proto.h"

#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

using ByteVector = std::vector<std::byte>;
using Numbers = std::vector<std::int64_t>;

ByteVector bytes(std::initializer_list<int> values) {
  ByteVector out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

// A record { 1: int64 a; 2: repeated sint32 b; 3: message m { 1: bytes c; 2: repeated fixed32 d };
// 4: repeated message r { 1: bool e; 2: repeated bytes f }; oneof { 5: int32 g; 6: message h
// { 1: repeated int64 i; 2: repeated message { 1: int64 j } } } }.
enum Slot : std::uint8_t { kA, kB, kM, kC, kD, kE, kF, kCase, kG, kI, kJ, kSlots };

std::vector<ProtoField> fields() {
  using K = ProtoKind;
  return {
      {.node = 0, .number = 1, .kind = K::kVarint64, .slot = kA},
      {.node = 0,
       .number = 2,
       .kind = K::kZigzag32,
       .repeated = true,
       .packable = true,
       .slot = kB},
      {.node = 0, .number = 3, .kind = K::kBytes, .merged = true, .slot = kM, .child = 1},
      {.node = 0, .number = 4, .kind = K::kBytes, .repeated = true, .child = 2},
      {.node = 0, .number = 5, .kind = K::kVarint32, .slot = kG, .oneof = kCase},
      {.node = 0, .number = 6, .kind = K::kBytes, .child = 3, .oneof = kCase},
      {.node = 1, .number = 1, .kind = K::kBytes, .utf8 = true, .slot = kC},
      {.node = 1, .number = 2, .kind = K::kFixed32, .repeated = true, .packable = true, .slot = kD},
      {.node = 2, .number = 1, .kind = K::kBool, .slot = kE},
      {.node = 2, .number = 2000, .kind = K::kGroup, .repeated = true, .slot = kF},
      {.node = 3, .number = 1, .kind = K::kVarint64, .repeated = true, .slot = kI},
      {.node = 3, .number = 2, .kind = K::kBytes, .repeated = true, .child = 4},
      {.node = 4, .number = 1, .kind = K::kVarint64, .slot = kJ},
  };
}

std::vector<ProtoSlot> slots() {
  using K = ProtoKind;
  return {
      {.node = 0, .kind = K::kVarint64, .default_bits = 7},
      {.node = 0, .kind = K::kZigzag32, .repeated = true},
      {.node = 0, .kind = K::kBytes},
      {.node = 1, .kind = K::kBytes, .default_bytes = bytes({'n', 'o'})},
      {.node = 1, .kind = K::kFixed32, .repeated = true},
      {.node = 2, .kind = K::kBool},
      {.node = 2, .kind = K::kGroup, .repeated = true},
      {.node = 0, .kind = K::kVarint32},
      {.node = 0, .kind = K::kVarint32},
      {.node = 3, .kind = K::kVarint64, .repeated = true},
      {.node = 4, .kind = K::kVarint64},
  };
}

// All values of some records.
struct Parsed {
  explicit Parsed(std::vector<ByteVector> given)
      : sources(std::move(given)),
        plan(fields(), slots(), 5),
        chunk(plan),
        direct(kSlots),
        places(kSlots) {
    for (const ByteVector& source : sources) records.emplace_back(source);
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      if (!is_direct(plan, slot)) continue;
      direct[slot].resize(records.size() * width_of(plan.slots()[slot].kind));
      places[slot] = direct[slot].data();
    }
    failure = parse_proto(plan, records, 0, records.size(), places, chunk);
  }

  [[nodiscard]] std::span<const std::byte> values(Slot slot) const {
    return is_direct(plan, slot) ? std::span<const std::byte>(direct[slot])
                                 : chunk.column(slot).values.bytes();
  }

  [[nodiscard]] Numbers numbers(Slot slot) const {
    const std::size_t width = width_of(plan.slots()[slot].kind);
    Numbers found;
    for (std::size_t at = 0; at < values(slot).size(); at += width) {
      const std::byte* const place = values(slot).data() + at;
      auto bits = std::to_integer<std::uint64_t>(*place);
      if (width == 4) {
        bits = static_cast<std::uint64_t>(
            static_cast<std::int64_t>(static_cast<std::int32_t>(load_le<std::uint32_t>(place))));
      }
      if (width == 8) bits = load_le<std::uint64_t>(place);
      found.push_back(static_cast<std::int64_t>(bits));
    }
    return found;
  }

  [[nodiscard]] std::vector<std::string> texts(Slot slot) const {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < values(slot).size() / sizeof(Bytes); ++i) {
      found.emplace_back(as_text(load_reference(values(slot).data(), i)));
    }
    return found;
  }

  std::vector<ByteVector> sources;
  ProtoPlan plan;
  ProtoChunk chunk;
  std::vector<ByteVector> direct;
  std::vector<std::byte*> places;
  std::vector<Bytes> records;
  ProtoFailure failure;
};

bool good(const Parsed& parsed) { return parsed.failure.code == ProtoCode::kOk; }

TEST(the_last_value_counts_and_absent_ones_are_defaults) {
  const Parsed parsed({bytes({8, 1, 8, 0xac, 2}), bytes({})});
  CHECK(good(parsed));
  CHECK((parsed.numbers(kA) == Numbers{300, 7}));
  CHECK((parsed.texts(kC) == std::vector<std::string>{"no", "no"}));
  CHECK((parsed.chunk.column(kB).splits == Numbers{0, 0, 0}));
}

TEST(packed_numbers_and_single_ones_mix) {
  const Parsed parsed({bytes({0x12, 2, 1, 2, 0x10, 3, 0x12, 0}), bytes({0x10, 0x81, 2})});
  CHECK(good(parsed));
  CHECK((parsed.numbers(kB) == Numbers{-1, 1, -2, -129}));
  CHECK((parsed.chunk.column(kB).splits == Numbers{0, 3, 4}));
}

TEST(messages_that_occur_twice_are_merged) {
  const Parsed parsed(
      {bytes({0x1a, 3, 0x0a, 1, 'x', 0x1a, 5, 0x15, 1, 0, 0, 0, 0x1a, 6, 0x12, 4, 2, 0, 0, 0})});
  CHECK(good(parsed));
  CHECK((parsed.texts(kC) == std::vector<std::string>{"x"}));
  CHECK((parsed.numbers(kD) == Numbers{1, 2}));
  CHECK_EQ(parsed.texts(kM)[0].size(), 14U);
}

TEST(repeated_messages_are_a_level_of_their_own) {
  const Parsed parsed({bytes({0x22, 2, 8, 5, 0x22, 0}), bytes({}),
                       bytes({0x22, 8, 0x83, 0x7d, 8, 1, 0x84, 0x7d, 8, 0})});
  CHECK(good(parsed));
  CHECK((parsed.numbers(kE) == Numbers{1, 0, 0}));
  CHECK((parsed.chunk.scope(1).splits == Numbers{0, 2, 2, 3}));
  CHECK((parsed.texts(kF) == std::vector<std::string>{"\x08\x01"}));
  CHECK((parsed.chunk.column(kF).splits == Numbers{0, 0, 0, 1}));
}

TEST(a_member_of_a_oneof_clears_the_others) {
  const ByteVector both = bytes({0x32, 6, 8, 1, 0x12, 2, 8, 9, 0x28, 4});
  const ByteVector other = bytes({0x28, 4, 0x32, 2, 8, 1, 0x32, 2, 8, 2});
  const Parsed parsed({both, other});
  CHECK(good(parsed));
  CHECK((parsed.numbers(kCase) == Numbers{5, 6}));
  CHECK((parsed.numbers(kG) == Numbers{4, 0}));
  CHECK((parsed.numbers(kI) == Numbers{1, 2}));
  CHECK((parsed.chunk.column(kI).splits == Numbers{0, 0, 2}));
  CHECK(parsed.numbers(kJ).empty());
  CHECK((parsed.chunk.scope(2).splits == Numbers{0, 0, 0}));
}

TEST(other_wire_types_are_skipped_and_counted) {
  const Parsed parsed({bytes({8, 1}), bytes({0x0d, 1, 2, 3, 4, 8, 2, 0x0a, 1, 5})});
  CHECK(good(parsed));
  CHECK((parsed.numbers(kA) == Numbers{1, 2}));
  CHECK_EQ(parsed.chunk.mismatch().count, 2U);
  CHECK_EQ(parsed.chunk.mismatch().row, 1U);
  CHECK_EQ(parsed.chunk.mismatch().field, 0);
}

TEST(faults_name_the_field_and_the_byte) {
  const Parsed cut({bytes({}), bytes({8, 1, 0x1a, 3, 0x0a, 4, 'x'})});
  CHECK(cut.failure.code == ProtoCode::kMalformed);
  CHECK_EQ(cut.failure.row, 1U);
  CHECK_EQ(cut.failure.field, 6);
  CHECK_EQ(cut.failure.offset, 4U);
  const Parsed text({bytes({0x1a, 3, 0x0a, 1, 0xff})});
  CHECK(text.failure.code == ProtoCode::kNotUtf8);
  CHECK_EQ(text.failure.field, 6);
  const Parsed ends({bytes({0x0c})});
  CHECK(ends.failure.code == ProtoCode::kMalformed);
}

TEST(every_truncation_is_a_fault_or_a_shorter_message) {
  const ByteVector whole =
      bytes({8,    1,    0x12, 2,    1,    2,    0x1a, 5, 0x15, 1, 0,    0, 0, 0x22, 10,
             0x83, 0x7d, 0x0b, 0x0c, 0x84, 0x7d, 8,    1, 8,    0, 0x32, 2, 8, 1});
  const Parsed all({whole});
  CHECK(good(all));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Parsed parsed(
        {ByteVector(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))});
    const bool between = size == 0 || size == 2 || size == 6 || size == 13 || size == 25;
    CHECK_EQ(good(parsed), between);
  }
}

TEST(plans_that_contradict_themselves_are_refused) {
  std::vector<ProtoField> wrong = fields();
  CHECK(ProtoPlan::check(wrong, slots(), 5) == nullptr);
  wrong[0].slot = kB;
  CHECK(std::string_view(ProtoPlan::check(wrong, slots(), 5)) ==
        "expected a slot of its own for the field");
  wrong = fields();
  wrong[1].number = 1;
  CHECK(std::string_view(ProtoPlan::check(wrong, slots(), 5)) == "expected every number once");
  wrong = fields();
  wrong[3].child = 4;
  CHECK(std::string_view(ProtoPlan::check(wrong, slots(), 5)) ==
        "expected the next node for a message");
  std::vector<ProtoField> deep;
  deep.reserve(kMaxProtoDepth);
  for (std::uint32_t node = 0; node < kMaxProtoDepth; ++node) {
    deep.push_back({.node = node,
                    .number = 1,
                    .kind = ProtoKind::kBytes,
                    .child = static_cast<std::int32_t>(node + 1)});
  }
  CHECK(std::string_view(ProtoPlan::check(deep, {}, kMaxProtoDepth + 1)) ==
        "expected at most 100 messages in one another");
}

TEST(a_closed_enum_has_its_own_numbers_only) {
  std::vector<ProtoField> enums = {{.node = 0,
                                    .number = 1,
                                    .kind = ProtoKind::kVarint32,
                                    .repeated = true,
                                    .packable = true,
                                    .closed = true,
                                    .slot = 0,
                                    .enum_numbers = {-1, 3}}};
  const ProtoPlan plan(std::move(enums), {{.kind = ProtoKind::kVarint32, .repeated = true}}, 1);
  const ByteVector record =
      bytes({8, 3, 8, 4, 0x0a, 12, 2, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1});
  const std::vector<Bytes> records = {Bytes(record)};
  const std::vector<std::byte*> direct = {nullptr};
  ProtoChunk chunk(plan);
  CHECK(parse_proto(plan, records, 0, 1, direct, chunk).code == ProtoCode::kOk);
  CHECK_EQ(chunk.column(0).values.size(), 12U);
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
