#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <cstring>
#include <limits>
#include <utility>

#include "bindings/arrays/arrays.h"
#include "bindings/arrays/buffer.h"
#include "bindings/bind.h"
#include "bindings/frames/record_inputs.h"
#include "core/bytes/fetch_ahead.h"

namespace tfrkit {
namespace {

// Makes Python objects all along, hence with the GIL.
nb::typed<nb::list, nb::bytes> cut_pieces(nb::handle pieces) {
  const RecordInputs gathered(pieces);
  const auto records = gathered.records();
  auto list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(records.size())));
  if (!list.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < records.size(); ++i) {
    PyObject* const record =
        PyBytes_FromStringAndSize(as_chars(records[i]), static_cast<Py_ssize_t>(records[i].size()));
    if (record == nullptr) throw nb::python_error();
    PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i), record);
  }
  return nb::typed<nb::list, nb::bytes>(std::move(list));
}

nb::object measure_pieces(nb::handle pieces) {
  const RecordInputs gathered(pieces);
  const auto records = gathered.records();
  Buffer buffer(records.size() * sizeof(std::int64_t));
  const auto lengths = numbers_in<std::int64_t>(buffer, records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    lengths[i] = static_cast<std::int64_t>(records[i].size());
  }
  return ArrayMaker().own(std::move(buffer), ArrayType::kInt64, records.size());
}

std::pair<nb::object, nb::object> join_pieces(nb::handle pieces) {
  const RecordInputs gathered(pieces);
  const auto records = gathered.records();
  Buffer ends((records.size() + 1) * sizeof(std::int64_t));
  const auto offsets = numbers_in<std::int64_t>(ends, records.size() + 1);
  std::size_t total = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    offsets[i] = static_cast<std::int64_t>(total);
    constexpr auto kMax = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
    if (records[i].size() > kMax - total) throw std::bad_alloc();  // one record may be named often
    total += records[i].size();
  }
  offsets[records.size()] = static_cast<std::int64_t>(total);
  Buffer data(total);
  {
    const nb::gil_scoped_release released;
    std::byte* target = data.bytes().data();
    for (std::size_t i = 0; i < records.size(); ++i) {
      fetch_ahead(records, i, records.size());
      const Bytes record = records[i];
      if (record.empty()) continue;
      std::memcpy(target, record.data(), record.size());
      target += record.size();
    }
  }
  const ArrayMaker make;
  return {make.own(std::move(data), ArrayType::kUint8, total),
          make.own(std::move(ends), ArrayType::kInt64, records.size() + 1)};
}

}  // namespace

void bind_record_inputs(nb::module_& module) {
  nb::class_<RecordRefs>(module, "RecordRefs",
                         "Records that lie all over memory, as a piece; what keeps them there.")
      .def("__len__", [](const RecordRefs& self) { return self.records.size(); });
  module.def("cut_pieces", cut_pieces, nb::arg("pieces"),
             nb::sig("def cut_pieces(pieces: collections.abc.Sequence[object]) -> list[bytes]"),
             "Return the records of the pieces as bytes objects, copies.");
  module.def("measure_pieces", measure_pieces, nb::arg("pieces"),
             nb::sig("def measure_pieces(pieces: collections.abc.Sequence[object]) -> "
                     "numpy.typing.NDArray[numpy.int64]"),
             "Return the bytes of each record of the pieces.");
  module.def("join_pieces", join_pieces, nb::arg("pieces"),
             nb::sig("def join_pieces(pieces: collections.abc.Sequence[object]) -> "
                     "tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.int64]]"),
             "Return the records of the pieces one after another in one buffer, a copy, and where\n"
             "each begins and ends in it.");
}

}  // namespace tfrkit
