// Records by a plan made of the input: columns fit together, a record alone gives what it gives
// among others, and fields of the record itself are those that a plain walk over its tags finds.
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/bytes/wire.h"
#include "core/messages/parse_proto.h"
#include "lay_out.h"
#include "require.h"

namespace tfrkit {
namespace {

constexpr std::size_t kMostFields = 24;

struct Shape {
  std::vector<ProtoField> fields;
  std::vector<ProtoSlot> slots;
  std::size_t nodes = 1;
};

std::int32_t add_slot(Shape& shape, const ProtoField& field) {
  shape.slots.push_back({.node = field.node,
                         .kind = field.kind,
                         .repeated = field.repeated,
                         .default_bits = field.number,
                         .default_bytes = {}});
  return static_cast<std::int32_t>(shape.slots.size() - 1);
}

// Two bytes for each field: what it is, and its number with the message that it is in.
Shape read_shape(Bytes& input) {
  Shape shape;
  std::vector<std::int32_t> oneofs{kNoIndex};
  const std::size_t count = take(input) % kMostFields;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t what = take(input);
    const std::size_t where = take(input);
    ProtoField field;
    field.kind = static_cast<ProtoKind>(what % kProtoKinds);
    field.node = static_cast<std::uint32_t>((where >> 4) % shape.nodes);
    field.number = static_cast<std::uint32_t>(where % 16 == 15 ? 5000 : where % 16 + 1);
    field.repeated = (what & 16) != 0;
    field.packable = field.repeated && !is_bytes(field.kind);
    field.utf8 = field.kind == ProtoKind::kBytes && (what & 32) != 0;
    field.merged = is_bytes(field.kind) && !field.repeated && (what & 64) != 0;
    field.closed = field.kind == ProtoKind::kVarint32 && (what & 32) != 0;
    if (field.closed) field.enum_numbers = {-1, 0, 2};
    Shape next = shape;
    if (!is_bytes(field.kind) || (what & 128) == 0) field.slot = add_slot(next, field);
    if (is_bytes(field.kind) && (what & 64) != 0) {
      field.child = static_cast<std::int32_t>(next.nodes++);
    }
    if (!field.repeated && (what & 128) != 0) {
      oneofs.resize(shape.nodes + 1, kNoIndex);
      std::int32_t& oneof = oneofs[field.node];
      if (oneof == kNoIndex) {
        next.slots.push_back(
            {.node = field.node, .kind = ProtoKind::kVarint32, .default_bytes = {}});
        oneof = static_cast<std::int32_t>(next.slots.size() - 1);
      }
      field.oneof = oneof;
    }
    next.fields.push_back(field);
    if (ProtoPlan::check(next.fields, next.slots, next.nodes) != nullptr) {
      if (field.oneof != kNoIndex && field.oneof >= static_cast<std::int32_t>(shape.slots.size())) {
        oneofs[field.node] = kNoIndex;
      }
      continue;
    }
    shape = std::move(next);
  }
  return shape;
}

struct Parsed {
  Parsed(const ProtoPlan& plan, std::span<const Bytes> records)
      : chunk(plan), direct(plan.slots().size()), places(plan.slots().size()) {
    for (std::size_t slot = 0; slot < direct.size(); ++slot) {
      if (!is_direct(plan, slot)) continue;
      direct[slot].resize(records.size() * width_of(plan.slots()[slot].kind));
      places[slot] = direct[slot].data();
    }
    failure = parse_proto(plan, records, 0, records.size(), places, chunk);
  }

  [[nodiscard]] std::span<const std::byte> values(std::size_t slot) const {
    return places[slot] != nullptr ? std::span<const std::byte>(direct[slot])
                                   : chunk.column(slot).values.bytes();
  }

  ProtoChunk chunk;
  std::vector<std::vector<std::byte>> direct;
  std::vector<std::byte*> places;
  ProtoFailure failure;
};

void check_splits(std::span<const std::int64_t> splits, std::size_t entries, std::size_t values) {
  REQUIRE(splits.size() == entries + 1 && splits.front() == 0);
  for (std::size_t i = 0; i < entries; ++i) REQUIRE(splits[i] <= splits[i + 1]);
  REQUIRE(splits.back() == static_cast<std::int64_t>(values));
}

void check_columns(const ProtoPlan& plan, const Parsed& parsed, std::size_t rows) {
  const auto entries = [&](std::size_t scope) {
    return scope == 0 ? rows : parsed.chunk.scope(scope).count;
  };
  for (std::size_t scope = 1; scope < plan.scopes().size(); ++scope) {
    const auto parent = static_cast<std::size_t>(plan.scopes()[scope].parent);
    check_splits(parsed.chunk.scope(scope).splits, entries(parent), entries(scope));
  }
  for (std::size_t slot = 0; slot < plan.slots().size(); ++slot) {
    const ProtoSlot& there = plan.slots()[slot];
    const std::size_t count = parsed.values(slot).size() / width_of(there.kind);
    const std::size_t scope = entries(plan.scope_of_slot(slot));
    if (there.repeated) check_splits(parsed.chunk.column(slot).splits, scope, count);
    if (!there.repeated) REQUIRE(count == scope);
    if (!is_bytes(there.kind)) continue;
    const std::byte* const references = parsed.values(slot).data();
    std::vector<std::byte> data(sum_references(references, count));
    std::vector<std::int64_t> ends(count);
    fill_references(references, 0, data, ends);
    REQUIRE(ends.empty() || ends.back() == static_cast<std::int64_t>(data.size()));
  }
}

// Compares the values of a slot that a record has alone with those that it has among others.
void check_alone(const ProtoPlan& plan, const Parsed& all, const Parsed& one, std::size_t row) {
  for (std::size_t slot = 0; slot < plan.slots().size(); ++slot) {
    const ProtoKind kind = plan.slots()[slot].kind;
    const std::size_t width = width_of(kind);
    std::size_t begin = row;
    std::size_t count = 1;
    if (plan.scope_of_slot(slot) != 0) continue;
    if (plan.slots()[slot].repeated) {
      const std::vector<std::int64_t>& splits = all.chunk.column(slot).splits;
      begin = static_cast<std::size_t>(splits[row]);
      count = static_cast<std::size_t>(splits[row + 1]) - begin;
    }
    REQUIRE(one.values(slot).size() == count * width);
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* const there = all.values(slot).data() + (begin + i) * width;
      const std::byte* const here = one.values(slot).data() + i * width;
      if (is_bytes(kind)) {
        REQUIRE(as_text(load_reference(there, 0)) == as_text(load_reference(here, 0)));
      } else {
        REQUIRE(std::memcmp(there, here, width) == 0);
      }
    }
  }
}

// The occurrences of a repeated field of bytes are those that a walk over the record counts.
void check_counts(const ProtoPlan& plan, const Parsed& one, Bytes record) {
  for (const ProtoField& field : plan.fields()) {
    if (field.node != 0 || field.kind != ProtoKind::kBytes || !field.repeated) continue;
    if (field.slot == kNoIndex) continue;
    Wire wire(record);
    std::size_t count = 0;
    std::uint32_t tag = 0;
    while (!wire.at_end()) {
      REQUIRE(wire.read_tag(tag) && wire.skip_field(tag));
      if (tag == ((field.number << 3) | 2U)) ++count;
    }
    REQUIRE(one.values(static_cast<std::size_t>(field.slot)).size() == count * sizeof(Bytes));
  }
}

void run(Bytes input) {
  Shape shape = read_shape(input);
  const ProtoPlan plan(std::move(shape.fields), std::move(shape.slots), shape.nodes);
  std::vector<Bytes> records;
  while (!input.empty()) {
    const Bytes record = take_bytes(input, take(input));
    const Parsed one(plan, {&record, 1});
    if (one.failure.code != ProtoCode::kOk) {
      REQUIRE(one.failure.row == 0 && one.failure.offset <= record.size());
      continue;
    }
    check_columns(plan, one, 1);
    check_counts(plan, one, record);
    records.push_back(record);
  }
  const Parsed all(plan, records);
  REQUIRE(all.failure.code == ProtoCode::kOk);
  check_columns(plan, all, records.size());
  for (std::size_t row = 0; row < records.size(); ++row) {
    check_alone(plan, all, Parsed(plan, {&records[row], 1}), row);
  }
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run(tfrkit::as_input(data, size));
  return 0;
}
