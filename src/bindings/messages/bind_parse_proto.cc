#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.h"
#include "bindings/bind.h"
#include "bindings/frames/record_inputs.h"
#include "bindings/messages/proto_batch.h"
#include "core/messages/parse_proto.h"
#include "core/messages/proto_plan.h"

namespace tfrkit {
namespace {

constexpr Py_ssize_t kFieldParts = 11;
constexpr Py_ssize_t kSlotParts = 5;

// A plan with what its calls share.
struct BoundProtoPlan {
  BoundProtoPlan(ProtoPlan made, std::vector<nb::object> slot_types)
      : plan(std::move(made)), types(std::move(slot_types)) {}

  ArrayMaker arrays;
  ProtoPlan plan;
  std::vector<nb::object> types;  // numpy's, by slot; None for those that nobody sees
};

nb::tuple as_parts(nb::handle source, Py_ssize_t count, const char* expected) {
  if (!PyTuple_Check(source.ptr()) || PyTuple_Size(source.ptr()) != count) {
    throw nb::type_error(expected);
  }
  return nb::borrow<nb::tuple>(source);
}

ProtoKind as_kind(nb::handle source) {
  const int kind = nb::cast<int>(source);
  if (kind < 0 || kind >= kProtoKinds) throw nb::value_error("expected a kind from 0 to 8");
  return static_cast<ProtoKind>(kind);
}

ProtoField make_field(nb::handle source) {
  const nb::tuple parts = as_parts(
      source, kFieldParts,
      "expected fields of (node, number, kind, repeated, packable, utf8, merged, slot, child, "
      "oneof, enum_numbers)");
  ProtoField field;
  field.node = nb::cast<std::uint32_t>(parts[0]);
  field.number = nb::cast<std::uint32_t>(parts[1]);
  field.kind = as_kind(parts[2]);
  field.repeated = nb::cast<bool>(parts[3]);
  field.packable = nb::cast<bool>(parts[4]);
  field.utf8 = nb::cast<bool>(parts[5]);
  field.merged = nb::cast<bool>(parts[6]);
  field.slot = nb::cast<std::int32_t>(parts[7]);
  field.child = nb::cast<std::int32_t>(parts[8]);
  field.oneof = nb::cast<std::int32_t>(parts[9]);
  if (nb::handle(parts[10]).is_none()) return field;
  field.closed = true;
  field.enum_numbers = nb::cast<std::vector<std::int32_t>>(parts[10]);
  return field;
}

ProtoSlot make_slot(const nb::tuple& parts) {
  ProtoSlot slot;
  slot.node = nb::cast<std::uint32_t>(parts[0]);
  slot.kind = as_kind(parts[1]);
  slot.repeated = nb::cast<bool>(parts[2]);
  const nb::handle value = parts[3];
  if (is_bytes(slot.kind)) {
    const auto text = nb::cast<nb::bytes>(value);
    const Bytes content = std::as_bytes(std::span(text.c_str(), text.size()));
    slot.default_bytes.assign(content.begin(), content.end());
  } else {
    slot.default_bits = nb::cast<std::uint64_t>(value);
  }
  return slot;
}

void make_plan(BoundProtoPlan* self, nb::handle field_source, nb::handle slot_source,
               std::size_t nodes) {
  std::vector<ProtoField> fields;
  std::vector<ProtoSlot> slots;
  std::vector<nb::object> types;
  for (const nb::handle item : nb::cast<nb::sequence>(field_source)) {
    fields.push_back(make_field(item));
  }
  for (const nb::handle item : nb::cast<nb::sequence>(slot_source)) {
    const nb::tuple parts =
        as_parts(item, kSlotParts, "expected slots of (node, kind, repeated, default, dtype)");
    slots.push_back(make_slot(parts));
    types.push_back(nb::borrow(parts[4]));
    const bool sized =
        types.back().is_none() || is_bytes(slots.back().kind) ||
        nb::cast<std::size_t>(types.back().attr("itemsize")) == width_of(slots.back().kind);
    if (!sized) throw nb::value_error("expected a dtype of the size of the slot's values");
  }
  const char* const wrong = ProtoPlan::check(fields, slots, nodes);
  if (wrong != nullptr) throw nb::value_error(wrong);
  new (self) BoundProtoPlan(ProtoPlan(std::move(fields), std::move(slots), nodes), types);
}

nb::tuple parse(BoundProtoPlan& self, nb::handle source, int threads) {
  const RecordInputs pieces(source);
  ProtoBatchRun run(self.plan, pieces.records());
  ProtoFailure failure;
  {
    const nb::gil_scoped_release released;
    failure = run.run(threads);
  }
  if (failure.code != ProtoCode::kOk) {
    return nb::make_tuple(nb::list(), nb::list(), nb::none(), nb::cast(failure));
  }
  const ProtoMismatch mismatch = run.mismatch();
  nb::object skipped;
  if (mismatch.count != 0) {
    skipped = nb::make_tuple(mismatch.count, mismatch.field, mismatch.row);
  } else {
    skipped = nb::none();
  }
  return nb::make_tuple(run.columns(self.arrays, self.types), run.scopes(self.arrays), skipped,
                        nb::none());
}

void bind_failure(nb::module_& module) {
  nb::class_<ProtoFailure>(module, "ProtoFailure", "Why a message could not be parsed.")
      .def_ro("row", &ProtoFailure::row, "Number of the record in the batch.")
      .def_ro("offset", &ProtoFailure::offset, "Where in the record the faulty field begins.")
      .def_prop_ro(
          "field", [](const ProtoFailure& self) { return static_cast<int>(self.field); },
          "Number of the innermost field of the plan that was being read, or -1.")
      .def_prop_ro(
          "code", [](const ProtoFailure& self) { return static_cast<int>(self.code); },
          "MALFORMED_MESSAGE or NOT_UTF8.");
  module.attr("MALFORMED_MESSAGE") = static_cast<int>(ProtoCode::kMalformed);
  module.attr("NOT_UTF8") = static_cast<int>(ProtoCode::kNotUtf8);
}

}  // namespace

void bind_parse_proto(nb::module_& module) {
  bind_failure(module);
  nb::class_<BoundProtoPlan>(
      module, "ProtoPlan",
      "Which fields of a message to parse, compiled. Immutable; any number of threads may use "
      "it.\n\n"
      "A field is (node, number, kind, repeated, packable, utf8, merged, slot, child, oneof,\n"
      "enum_numbers): node 0 is the record, child the node of a message's fields, in order; -1 is\n"
      "no slot, child or oneof. A slot is (node, kind, repeated, default, dtype); see\n"
      "core/messages/proto_plan.h.")
      .def("__init__", make_plan, nb::arg("fields"), nb::arg("slots"), nb::arg("nodes"),
           nb::sig("def __init__(self, fields: collections.abc.Sequence[tuple[object, ...]], "
                   "slots: collections.abc.Sequence[tuple[object, ...]], nodes: int) -> None"))
      .def("parse", parse, nb::arg("pieces"), nb::arg("threads") = 0,
           nb::sig("def parse(self, pieces: collections.abc.Sequence[object], threads: int = 0) -> "
                   "tuple[list[typing.Any], list[typing.Any], tuple[int, int, int] | None, "
                   "ProtoFailure | None]"),
           "Parse a batch: (columns, scopes, mismatch, failure).\n\n"
           "A column is (values,) or (data, offsets), with row splits behind for a repeated\n"
           "field. A scope has the row splits of a repeated message, None for the record. A\n"
           "mismatch is (count, field, row) of fields that were skipped for their wire type.");
}

}  // namespace tfrkit
