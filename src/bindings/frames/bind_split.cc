#include <nanobind/nanobind.h>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"

namespace tfrkit {
namespace {

// Makes Python objects all along, hence with the GIL.
nb::typed<nb::list, nb::bytes> split_records(const InputBytes& data, const Int64Input& offsets,
                                             const Int64Input& lengths) {
  const auto starts = entries(offsets);
  const auto sizes = entries(lengths);
  check_same_size("offsets", starts.size(), "lengths", sizes.size());
  const Bytes bytes = data.bytes();
  const char* const text = as_chars(bytes);
  const auto limit = static_cast<std::int64_t>(bytes.size());
  auto records = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(starts.size())));
  if (!records.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (starts[i] < 0 || sizes[i] < 0 || starts[i] > limit || sizes[i] > limit - starts[i]) {
      raise_out_of_range("offsets and lengths", i, bytes.size());
    }
    PyObject* const record = PyBytes_FromStringAndSize(text + starts[i], sizes[i]);
    if (record == nullptr) throw nb::python_error();
    PyList_SetItem(records.ptr(), static_cast<Py_ssize_t>(i), record);
  }
  return nb::typed<nb::list, nb::bytes>(std::move(records));
}

}  // namespace

void bind_split(nb::module_& module) {
  module.def("split_records", split_records, nb::arg("data"), nb::arg("offsets"),
             nb::arg("lengths"), "Return the payloads at `offsets` as bytes objects, copies.");
}

}  // namespace tfrkit
