#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "bindings/frames/record_inputs.h"
#include "bindings/parallel.h"
#include "core/bytes/varint.h"
#include "core/examples/value_places.h"

namespace tfrkit {
namespace {

constexpr std::int64_t kNotFound = -1;

Int64Array count_values(nb::handle pieces, const nb::bytes& key, int threads) {
  const RecordInputs gathered(pieces);
  const auto records = gathered.records();
  const Bytes wanted = std::as_bytes(std::span(key.c_str(), key.size()));
  const Int64Batch counts(records.size());
  const auto out = counts.span(0, records.size());
  {
    const nb::gil_scoped_release released;
    parallel_for(records.size(), threads, [&](std::size_t i) noexcept {
      FoundValues found;
      const bool usual = find_values(records[i], {&wanted, 1}, {&found, 1});
      out[i] =
          usual && found.kind != Kind::kUnset ? static_cast<std::int64_t>(found.count) : kNotFound;
    });
  }
  return counts.array(0, records.size());
}

// The values of a key for Python: (kind, first, second); see the binding.
nb::object values_of(const FoundValues& found, Bytes record) {
  const int kind = static_cast<int>(found.kind);
  const std::size_t count = found.count;
  if (found.kind == Kind::kBytes) {
    const Int64Batch places(2 * count);
    bool placed = false;
    {
      const nb::gil_scoped_release released;
      placed = place_strings(found.list, record.data(), places.span(0, count),
                             places.span(count, count));
    }
    if (!placed) throw nb::value_error("the record changed during the call");
    return nb::make_tuple(kind, places.array(0, count), places.array(count, count));
  }
  if (found.kind == Kind::kInt64) {
    const Int64Batch values(count);
    decode_varints(found.list, values.span(0, count));
    return nb::make_tuple(kind, values.array(0, count), count);
  }
  const auto offset = found.list.empty() ? 0 : found.list.data() - record.data();
  return nb::make_tuple(kind, offset, count);
}

nb::object find_values_of(nb::handle pieces, const nb::list& keys) {
  const RecordInputs gathered(pieces);
  if (gathered.records().size() != 1) throw nb::value_error("expected one record");
  const Bytes record = gathered.records()[0];
  std::vector<nb::bytes> kept;  // the list may change
  std::vector<Bytes> wanted;
  for (const nb::handle item : keys) {
    if (!PyBytes_Check(item.ptr())) raise_item_type("bytes", item, kept.size());
    kept.push_back(nb::borrow<nb::bytes>(item));
    wanted.push_back(std::as_bytes(std::span(kept.back().c_str(), kept.back().size())));
  }
  std::vector<FoundValues> found(wanted.size());
  bool usual = false;
  {
    const nb::gil_scoped_release released;
    usual = find_values(record, wanted, found);
  }
  if (!usual) return nb::none();
  nb::list values;
  for (const FoundValues& each : found) values.append(values_of(each, record));
  return values;
}

}  // namespace

void bind_value_places(nb::module_& module) {
  module.def("count_values", count_values, nb::arg("pieces"), nb::arg("key"),
             nb::arg("threads") = 0,
             "Count the values of a feature in each record without decoding them; -1 where it is\n"
             "absent, or the record not of the usual form.");
  module.def(
      "find_values", find_values_of, nb::arg("pieces"), nb::arg("keys"),
      nb::sig("def find_values(pieces: object, keys: list[bytes]) -> list[tuple[int, "
              "typing.Any, typing.Any]] | None"),
      "Find the values of features in one record, without copying byte strings and floats.\n"
      "\n"
      "For each key, which must differ, (kind, ...): bytes (1, offsets, lengths) and floats\n"
      "(2, offset, count), in bytes from the beginning of the record; (3, the int64, count);\n"
      "(0, 0, 0) if it is absent. None if the record is not of the usual form.");
}

}  // namespace tfrkit
