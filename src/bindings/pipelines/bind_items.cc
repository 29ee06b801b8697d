#include <nanobind/nanobind.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "bindings/bind.h"
#include "bindings/examples/keys.h"

namespace tfrkit {
namespace {

namespace nb = nanobind;

// The items of a dict as they were. Holds references to them.
class DictItems {
 public:
  explicit DictItems(const nb::dict& mapping) {
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(mapping.ptr(), &position, &key, &value) != 0) {
      items_.emplace_back(nb::borrow(key), nb::borrow(value));
    }
  }

  // Runs no Python code.
  [[nodiscard]] bool are_in(nb::handle mapping) const noexcept {
    if (!PyDict_CheckExact(mapping.ptr())) return false;
    if (static_cast<std::size_t>(PyDict_Size(mapping.ptr())) != items_.size()) return false;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t position = 0;
    for (std::size_t i = 0; PyDict_Next(mapping.ptr(), &position, &key, &value) != 0; ++i) {
      if (value != items_[i].second.ptr() || !same_key(key, items_[i].first.ptr())) return false;
    }
    return true;
  }

 private:
  std::vector<std::pair<nb::object, nb::object>> items_;
};

}  // namespace

void bind_items(nb::module_& module) {
  nb::class_<DictItems>(module, "DictItems", "The items of a dict, to know it again.")
      .def(nb::init<const nb::dict&>(), nb::arg("mapping"),
           nb::sig("def __init__(self, mapping: dict[typing.Any, typing.Any]) -> None"))
      .def("are_in", &DictItems::are_in, nb::arg("mapping").none(),
           nb::sig("def are_in(self, mapping: typing.Any) -> bool"),
           "Whether a dict has the same keys, in this order, with these very values. False does\n"
           "not mean that it has not: keys other than str are only known by identity.");
}

}  // namespace tfrkit
