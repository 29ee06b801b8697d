#include <nanobind/nanobind.h>

#include <cstddef>

#include "bind.h"
#include "scalars.h"

namespace tfrkit {
namespace {

constexpr int kMaxDepth = 32;

// Finds out whether values are what elements consist of. Runs no Python code, so that nothing moves
// meanwhile.
class FinishedCheck {
 public:
  explicit FinishedCheck(const nb::tuple& types) : types_(types) {}

  [[nodiscard]] bool is_finished(PyObject* value, int depth = 0) {
    const PyTypeObject* const type = Py_TYPE(value);
    if (type == last_) return true;
    if (PyDict_CheckExact(value)) return depth < kMaxDepth && is_finished_dict(value, depth + 1);
    if (PyTuple_CheckExact(value)) return depth < kMaxDepth && is_finished_tuple(value, depth + 1);
    if (type == scalars_.array_type()) return is_finished_array(value);
    if (!PyBytes_CheckExact(value) && scalars_.find(type) == nullptr && !is_listed(type)) {
      return false;
    }
    last_ = type;
    return true;
  }

 private:
  [[nodiscard]] bool is_finished_dict(PyObject* value, int depth) {
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(value, &position, &key, &item) != 0) {
      if (!is_finished(item, depth)) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_finished_tuple(PyObject* value, int depth) {
    const Py_ssize_t count = PyTuple_Size(value);
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (!is_finished(PyTuple_GetItem(value, i), depth)) return false;
    }
    return true;
  }

  // The attributes of an array are numpy's own code.
  [[nodiscard]] bool is_finished_array(PyObject* value) const {
    const nb::handle array(value);
    if (nb::cast<std::size_t>(array.attr("ndim")) == 0) return false;
    if (!scalars_.knows_dtype(array.attr("dtype"))) return false;
    return !nb::cast<bool>(array.attr("flags").attr("writeable"));
  }

  [[nodiscard]] bool is_listed(const PyTypeObject* type) const noexcept {
    const Py_ssize_t count = PyTuple_Size(types_.ptr());
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (reinterpret_cast<const PyTypeObject*>(PyTuple_GetItem(types_.ptr(), i)) == type) {
        return true;
      }
    }
    return false;
  }

  const nb::tuple& types_;
  const Scalars& scalars_ = Scalars::get();
  const PyTypeObject* last_ = nullptr;  // a type that is known to be right
};

bool is_finished(nb::handle value, const nb::tuple& types) {
  return FinishedCheck(types).is_finished(value.ptr());
}

std::size_t count_finished(const nb::list& values, const nb::tuple& types) {
  FinishedCheck check(types);
  Py_ssize_t count = 0;
  while (count < PyList_Size(values.ptr()) &&
         check.is_finished(PyList_GetItem(values.ptr(), count))) {
    ++count;
  }
  return static_cast<std::size_t>(count);
}

nb::object element_maker(const nb::tuple& types, const nb::callable& convert) {
  return nb::cpp_function(
      [types, convert](nb::handle value) {
        if (FinishedCheck(types).is_finished(value.ptr())) return nb::borrow(value);
        return nb::object(convert(value));
      },
      nb::arg("value").none());
}

}  // namespace

void bind_finished(nb::module_& module) {
  module.def(
      "is_finished", is_finished, nb::arg("value").none(), nb::arg("types"),
      nb::sig("def is_finished(value: typing.Any, types: tuple[type, ...]) -> bool"),
      "Whether a value consists of numpy's scalars, bytes, arrays of numbers that cannot be\n"
      "written to, instances of exactly these types, and dicts and tuples of such.");
  module.def(
      "count_finished", count_finished, nb::arg("values"), nb::arg("types"),
      nb::sig("def count_finished(values: list[typing.Any], types: tuple[type, ...]) -> int"),
      "How many values, from the first, are what is_finished asks for.");
  module.def("element_maker", element_maker, nb::arg("types"), nb::arg("convert"),
             nb::sig("def element_maker(types: tuple[type, ...], "
                     "convert: collections.abc.Callable[[typing.Any], typing.Any]) "
                     "-> collections.abc.Callable[[typing.Any], typing.Any]"),
             "A function that gives a value as it is if it is_finished, and else what `convert`\n"
             "makes of it.");
}

}  // namespace tfrkit
