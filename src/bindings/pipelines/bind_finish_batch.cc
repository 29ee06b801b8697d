#include <nanobind/nanobind.h>

#include <cstddef>
#include <utility>

#include "bindings/arrays/array_fields.h"
#include "bindings/arrays/buffer.h"
#include "bindings/arrays/scalars.h"
#include "bindings/bind.h"

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
    const ArrayFields* const array = finder_.find(value);
    if (array != nullptr) return is_plain(*array) && (!array->is_writeable() || is_alone(*array));
    if (!PyBytes_CheckExact(value) && scalars_.find(type) == nullptr && !is_listed(type)) {
      return false;
    }
    last_ = type;
    return true;
  }

  // Whether only the array refers to its memory, unless other code has the array itself.
  [[nodiscard]] bool is_alone(const ArrayFields& array) const noexcept {
    const ArrayFields* fields = &array;
    while (fields->base != nullptr) {
      // Kernels assign every part of a buffer to one array; a view of that has it as its base.
      if (Py_TYPE(fields->base) == buffer_) return true;
      if (Py_REFCNT(fields->base) > 1) return false;
      fields = finder_.find(fields->base);
      if (fields == nullptr) return false;
    }
    return true;
  }

  // Whether an array is one of numbers, and no scalar.
  [[nodiscard]] bool is_plain(const ArrayFields& array) const noexcept {
    return array.dimensions != 0 && scalars_.find_dtype(array.dtype) != nullptr;
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
  const ArrayFinder& finder_ = ArrayFinder::get();
  const PyTypeObject* buffer_ = reinterpret_cast<const PyTypeObject*>(nb::type<Buffer>().ptr());
  const PyTypeObject* last_ = nullptr;  // a type that is known to be right
};

bool is_finished(nb::handle value, const nb::tuple& types) {
  return FinishedCheck(types).is_finished(value.ptr());
}

// Makes elements of values. What needs no conversion stays as it is, dicts and tuples are gone
// through, arrays on memory that others refer to become views that cannot be written to; the rest
// is left to Python.
class ElementMaker {
 public:
  ElementMaker(nb::tuple types, nb::callable convert_part)
      : types_(std::move(types)), convert_part_(std::move(convert_part)) {}

  // Returns nothing if the value itself is to be converted by Python.
  [[nodiscard]] nb::object make(nb::handle value, int depth = 0) const {
    const FinishedCheck check(types_);
    if (FinishedCheck(types_).is_finished(value.ptr())) return nb::borrow(value);
    if (depth == kMaxDepth) return {};
    if (PyDict_CheckExact(value.ptr())) return make_dict(value, depth + 1);
    if (PyTuple_CheckExact(value.ptr())) return make_tuple(value, depth + 1);
    const ArrayFields* const array = ArrayFinder::get().find(value.ptr());
    if (array == nullptr || !check.is_plain(*array)) return {};
    nb::object view = value.attr("view")();
    view.attr("setflags")(false);
    return view;
  }

 private:
  [[nodiscard]] nb::object make_part(nb::handle value, int depth) const {
    const nb::object made = make(value, depth);
    return made.is_valid() ? made : nb::object(convert_part_(value));
  }

  // Python code may change the dict, but not the copy, of which it knows nothing.
  [[nodiscard]] nb::object make_dict(nb::handle value, int depth) const {
    auto result = nb::steal(PyDict_Copy(value.ptr()));
    if (!result.is_valid()) throw nb::python_error();
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(result.ptr(), &position, &key, &item) != 0) {
      const nb::object made = make_part(item, depth);
      if (made.is(item)) continue;
      if (PyDict_SetItem(result.ptr(), key, made.ptr()) != 0) throw nb::python_error();
    }
    return result;
  }

  [[nodiscard]] nb::object make_tuple(nb::handle value, int depth) const {
    nb::list result;
    for (const nb::handle item : nb::borrow<nb::tuple>(value))
      result.append(make_part(item, depth));
    return nb::tuple(result);
  }

  nb::tuple types_;
  nb::callable convert_part_;
};

nb::object element_maker(const nb::tuple& types, const nb::callable& convert,
                         const nb::callable& convert_part) {
  return nb::cpp_function(
      [maker = ElementMaker(types, convert_part), convert](nb::handle value) {
        const nb::object made = maker.make(value);
        return made.is_valid() ? made : nb::object(convert(value));
      },
      nb::arg("value").none());
}

}  // namespace

void bind_finish_batch(nb::module_& module) {
  module.def(
      "is_finished", is_finished, nb::arg("value").none(), nb::arg("types"),
      nb::sig("def is_finished(value: typing.Any, types: tuple[type, ...]) -> bool"),
      "Whether a value consists of numpy's scalars, bytes, arrays of numbers that cannot be\n"
      "written to or are alone on their memory, instances of exactly these types, and dicts and\n"
      "tuples of such.");
  module.def(
      "element_maker", element_maker, nb::arg("types"), nb::arg("convert"), nb::arg("convert_part"),
      nb::sig("def element_maker(types: tuple[type, ...], "
              "convert: collections.abc.Callable[[typing.Any], typing.Any], "
              "convert_part: collections.abc.Callable[[typing.Any], typing.Any]) "
              "-> collections.abc.Callable[[typing.Any], typing.Any]"),
      "A function that makes an element of a value: itself if it is_finished; of another array of\n"
      "numbers a view that cannot be written to; of dicts and tuples new ones of what it makes\n"
      "of their parts. For others it calls convert, or convert_part if they are parts.");
}

}  // namespace tfrkit
