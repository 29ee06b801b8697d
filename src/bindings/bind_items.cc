#include <nanobind/nanobind.h>

#include "bind.h"
#include "keys.h"

namespace tfrkit {
namespace {

namespace nb = nanobind;

bool holds_items(const nb::dict& mapping, const nb::list& keys, const nb::list& values) noexcept {
  const auto count = static_cast<Py_ssize_t>(mapping.size());
  if (PyList_Size(keys.ptr()) != count || PyList_Size(values.ptr()) != count) return false;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  for (Py_ssize_t i = 0; PyDict_Next(mapping.ptr(), &position, &key, &value) != 0; ++i) {
    if (value != PyList_GetItem(values.ptr(), i)) return false;
    if (!same_key(key, PyList_GetItem(keys.ptr(), i))) return false;
  }
  return true;
}

}  // namespace

void bind_items(nb::module_& module) {
  module.def("holds_items", holds_items, nb::arg("mapping"), nb::arg("keys"), nb::arg("values"),
             nb::sig("def holds_items(mapping: dict[typing.Any, typing.Any], "
                     "keys: list[typing.Any], values: list[typing.Any]) -> bool"),
             "Whether a dict has these keys, in this order, with these very values. False does not "
             "mean that it has not: keys other than str are only known by identity.");
}

}  // namespace tfrkit
