#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/examples/example_batch.h"
#include "bindings/examples/example_one.h"
#include "bindings/frames/record_inputs.h"
#include "core/examples/example.h"

namespace tfrkit {
namespace {

// A plan with what its calls share.
struct BoundPlan {
  explicit BoundPlan(std::vector<ExampleSlot> slots)
      : plan(std::move(slots)), cache(plan), one(plan, arrays, cache) {}

  ArrayMaker arrays;
  ExamplePlan plan;
  ScratchCache cache;
  OneExample one;
};

Dialect as_dialect(int dialect) {
  if (dialect < 0 || dialect > 2) {
    throw nb::value_error(
        ("expected a dialect from 0 to 2 but got " + std::to_string(dialect)).c_str());
  }
  return static_cast<Dialect>(dialect);
}

[[noreturn]] void raise_default(const std::string& key, const char* expected) {
  throw nb::value_error(("expected " + std::string(expected) + " as default of " + key).c_str());
}

void append_varint(std::vector<std::byte>& out, std::size_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>((value & 0x7f) | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

void set_bytes_default(ExampleSlot& slot, const std::string& key, nb::handle value) {
  if (!nb::isinstance<nb::list>(value)) raise_default(key, "a list of bytes");
  const auto items = nb::borrow<nb::list>(value);
  if (items.size() != static_cast<std::size_t>(slot.count)) raise_default(key, "`count` values");
  std::size_t content = 0;
  for (const nb::handle item : items) {
    if (!PyBytes_Check(item.ptr())) raise_default(key, "a list of bytes");
    const auto bytes = nb::borrow<nb::bytes>(item);
    slot.default_list.push_back(std::byte{0x0a});
    append_varint(slot.default_list, bytes.size());
    const Bytes text = std::as_bytes(std::span(bytes.c_str(), bytes.size()));
    slot.default_list.insert(slot.default_list.end(), text.begin(), text.end());
    content += bytes.size();
  }
  if (content > std::numeric_limits<std::uint32_t>::max()) raise_default(key, "at most 4 GB");
  slot.default_bytes = static_cast<std::uint32_t>(content);
}

template <typename T>
void set_number_default(ExampleSlot& slot, const std::string& key, nb::handle value) {
  using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
  Array array;
  if (!nb::try_cast<Array>(value, array, false)) {
    raise_default(key, "a contiguous array of the slot's type");
  }
  if (array.size() != static_cast<std::size_t>(slot.count)) raise_default(key, "`count` values");
  slot.default_list.resize(array.size() * sizeof(T));
  if (array.size() != 0) {
    std::memcpy(slot.default_list.data(), array.data(), slot.default_list.size());
  }
}

ExampleSlot make_slot(nb::handle source) {
  if (!PyTuple_Check(source.ptr()) || PyTuple_Size(source.ptr()) != 5) {
    throw nb::type_error("expected slots of (key, kind, count, stride, default)");
  }
  const auto fields = nb::borrow<nb::tuple>(source);
  const auto key = nb::cast<std::string_view>(fields[0]);
  const auto name = "'" + std::string(key) + "'";
  ExampleSlot slot;
  const Bytes text = std::as_bytes(std::span(key));
  slot.key.assign(text.begin(), text.end());
  const int kind = nb::cast<int>(fields[1]);
  if (kind < 1 || kind > 3)
    throw nb::value_error(("expected a kind from 1 to 3 for " + name).c_str());
  slot.kind = static_cast<Kind>(kind);
  slot.count = nb::cast<std::int64_t>(fields[2]);
  if (slot.count < kVariable) {
    throw nb::value_error(("expected a count of at least -1 for " + name).c_str());
  }
  slot.stride = nb::cast<std::uint32_t>(fields[3]);
  const nb::handle value = fields[4];
  if (value.is_none()) return slot;
  if (!slot.is_fixed()) raise_default(name, "None");
  if (slot.kind == Kind::kBytes) set_bytes_default(slot, name, value);
  if (slot.kind == Kind::kFloat) set_number_default<float>(slot, name, value);
  if (slot.kind == Kind::kInt64) set_number_default<std::int64_t>(slot, name, value);
  slot.has_default = slot.count != 0;  // TensorFlow: no values are no default
  return slot;
}

void make_plan(BoundPlan* self, nb::handle source) {
  std::vector<ExampleSlot> slots;
  std::set<std::vector<std::byte>> keys;
  for (const nb::handle item : nb::cast<nb::sequence>(source)) {
    slots.push_back(make_slot(item));
    if (!keys.insert(slots.back().key).second) throw nb::value_error("expected every key once");
  }
  new (self) BoundPlan(std::move(slots));
}

nb::object as_failure(const ExampleFailure& failure) {
  return failure.code == ParseCode::kOk ? nb::none() : nb::cast(failure);
}

nb::tuple parse(BoundPlan& self, nb::handle source, int dialect, int threads, bool states) {
  const Dialect rules = as_dialect(dialect);
  const RecordInputs pieces(source);
  ExampleBatchRun run(self.plan, self.cache, pieces.records(), states);
  ExampleFailure failure;
  {
    const nb::gil_scoped_release released;
    failure = run.run(rules, threads);
  }
  if (failure.code != ParseCode::kOk) {
    return nb::make_tuple(nb::list(), nb::none(), as_failure(failure));
  }
  return nb::make_tuple(run.columns(self.arrays), run.states(self.arrays), nb::none());
}

nb::object parse_one(BoundPlan& self, const InputBytes& record, int dialect) {
  ExampleFailure failure;
  auto result = self.one.parse(record.bytes(), as_dialect(dialect), failure);
  return failure.code == ParseCode::kOk ? std::move(result) : as_failure(failure);
}

void bind_failure(nb::module_& module) {
  nb::class_<ExampleFailure>(module, "ParseFailure", "Why a record could not be parsed.")
      .def_ro("row", &ExampleFailure::row, "Number of the record in the batch.")
      .def_prop_ro(
          "slot", [](const ExampleFailure& self) { return static_cast<int>(self.slot); },
          "Number of the slot, or -1 for the whole record.")
      .def_prop_ro(
          "code", [](const ExampleFailure& self) { return static_cast<int>(self.code); },
          "MALFORMED_EXAMPLE, MISSING, ...")
      .def_prop_ro(
          "kind", [](const ExampleFailure& self) { return static_cast<int>(self.kind); },
          "The kind that was found: BYTES, FLOAT, INT64, or 0.")
      .def_ro("count", &ExampleFailure::count, "How many values were found.");
}

void bind_constants(nb::module_& module) {
  module.attr("PROTOBUF") = static_cast<int>(Dialect::kProtobuf);
  module.attr("TENSORFLOW_BATCH") = static_cast<int>(Dialect::kTensorflowBatch);
  module.attr("TENSORFLOW_SINGLE") = static_cast<int>(Dialect::kTensorflowSingle);
  module.attr("BYTES") = static_cast<int>(Kind::kBytes);
  module.attr("FLOAT") = static_cast<int>(Kind::kFloat);
  module.attr("INT64") = static_cast<int>(Kind::kInt64);
  module.attr("MALFORMED_EXAMPLE") = static_cast<int>(ParseCode::kMalformedExample);
  module.attr("MISSING") = static_cast<int>(ParseCode::kMissing);
  module.attr("WRONG_KIND") = static_cast<int>(ParseCode::kWrongKind);
  module.attr("WRONG_COUNT") = static_cast<int>(ParseCode::kWrongCount);
  module.attr("MALFORMED_LIST") = static_cast<int>(ParseCode::kMalformedList);
  module.attr("UNSUPPORTED_KIND") = static_cast<int>(ParseCode::kUnsupportedKind);
  module.attr("WRONG_STRIDE") = static_cast<int>(ParseCode::kWrongStride);
}

}  // namespace

void bind_parse(nb::module_& module) {
  bind_constants(module);
  bind_failure(module);
  nb::class_<BoundPlan>(
      module, "ExamplePlan",
      "Which features to parse, compiled. Immutable; any number of threads may use it.\n\n"
      "A slot is (key, kind, count, stride, default). count: values in every record, or -1.\n"
      "stride, for -1: 0 for VarLen and Ragged; n > 0 for FixedLenSequence, whose counts must\n"
      "be multiples of n. default, for a count: None, an array, or a list of bytes.")
      .def("__init__", make_plan, nb::arg("slots"),
           nb::sig("def __init__(self, slots: collections.abc.Sequence[tuple[str, int, int, int, "
                   "object]]) -> None"))
      .def("parse", parse, nb::arg("pieces"), nb::arg("dialect"), nb::arg("threads") = 0,
           nb::arg("states") = false,
           nb::sig("def parse(self, pieces: collections.abc.Sequence[object], dialect: int, "
                   "threads: int = 0, states: bool = False) -> "
                   "tuple[list[typing.Any], list[numpy.typing.NDArray[numpy.uint8] | None] | None, "
                   "ParseFailure | None]"),
           "Parse a batch: (a column for every slot, states of the features, failure or None).\n\n"
           "The states of a feature that every record has are None.")
      .def("parse_one", parse_one, nb::arg("record"), nb::arg("dialect"),
           nb::sig("def parse_one(self, record: typing_extensions.Buffer, dialect: int) -> "
                   "dict[str, typing.Any] | ParseFailure"),
           "Parse one record into a dict of scalars, arrays and bytes.");
}

}  // namespace tfrkit
