// Elements for one consumer that may write to them, and for several that may not.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>

#include "bindings/arrays/array_fields.h"
#include "bindings/arrays/new_arrays.h"
#include "bindings/arrays/scalars.h"
#include "bindings/bind.h"

namespace tfrkit {
namespace {

constexpr int kMaxDepth = 32;

// What is made of the arrays in an element.
enum class Change : std::uint8_t {
  kOwn,     // a copy of those that are marked read-only, or that other code refers to
  kCopy,    // a copy of all
  kFreeze,  // a view of all, marked read-only
};

// Goes through elements. Dicts are new ones, except those to be owned that no other code has.
class ElementChanger {
 public:
  ElementChanger(Change change, const nb::dict& parts, nb::handle other)
      : change_(change), parts_(parts), other_(other) {}

  // `shared` says that other code has the value. An object in a list, a dict or a tuple that has
  // one reference is theirs alone.
  [[nodiscard]] nb::object make(PyObject* value, bool shared, int depth = 0) {
    const PyTypeObject* const type = Py_TYPE(value);
    if (type == last_ || value == Py_None || PyBytes_CheckExact(value)) return nb::borrow(value);
    if (scalars_.find(type) != nullptr) {
      last_ = type;
      return nb::borrow(value);
    }
    shared = shared || Py_REFCNT(value) > 1;
    if (const ArrayFields* const array = finder_.find(value); array != nullptr) {
      return make_array(value, *array, shared);
    }
    if (depth < kMaxDepth && PyDict_CheckExact(value)) return make_dict(value, shared, depth + 1);
    if (depth < kMaxDepth && PyTuple_CheckExact(value)) return make_tuple(value, shared, depth + 1);
    if (change_ == Change::kOwn && !shared && owns_parts(value, depth)) return nb::borrow(value);
    return nb::object(other_(nb::handle(value), shared));
  }

 private:
  [[nodiscard]] nb::object make_array(nb::handle array, const ArrayFields& fields,
                                      bool shared) const {
    const bool writeable = fields.is_writeable();
    if (change_ != Change::kFreeze) {
      return writeable && !shared ? nb::borrow(array) : arrays_.copy(array, fields);
    }
    if (!writeable) return nb::borrow(array);
    nb::object view = array.attr("view")();
    view.attr("setflags")(false);
    return view;
  }

  // Whether a value is a column all of whose arrays may be written to.
  [[nodiscard]] bool owns_parts(PyObject* value, int depth) const {
    const nb::handle names = PyDict_GetItemWithError(
        parts_.ptr(), reinterpret_cast<PyObject*>(Py_TYPE(value)));  // borrowed
    if (!names.is_valid() && PyErr_Occurred() != nullptr) throw nb::python_error();
    if (!names.is_valid() || depth >= kMaxDepth) return false;
    for (const nb::handle name : nb::borrow<nb::tuple>(names)) {
      const auto part = nb::steal(PyObject_GetAttr(value, name.ptr()));
      if (!part.is_valid()) throw nb::python_error();
      const ArrayFields* const array = finder_.find(part.ptr());
      if (array == nullptr ? !owns_parts(part.ptr(), depth + 1) : !array->is_writeable())
        return false;
    }
    return true;
  }

  [[nodiscard]] nb::object make_dict(PyObject* value, bool shared, int depth) {
    const bool is_new = shared || change_ == Change::kFreeze;
    const auto result = is_new ? nb::steal(PyDict_Copy(value)) : nb::borrow(value);
    if (!result.is_valid()) throw nb::python_error();
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(result.ptr(), &position, &key, &item) != 0) {
      const nb::object made = make(item, shared, depth);
      if (made.is(item)) continue;
      if (PyDict_SetItem(result.ptr(), key, made.ptr()) != 0) throw nb::python_error();
    }
    return result;
  }

  [[nodiscard]] nb::object make_tuple(PyObject* value, bool shared, int depth) {
    const Py_ssize_t count = PyTuple_Size(value);
    nb::object result;  // made when a part becomes another
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* const item = PyTuple_GetItem(value, i);
      const nb::object made = make(item, shared, depth);
      if (made.is(item)) continue;
      if (!result.is_valid()) result = nb::steal(PySequence_List(value));
      if (!result.is_valid()) throw nb::python_error();
      if (PyList_SetItem(result.ptr(), i, nb::object(made).release().ptr()) != 0)
        throw nb::python_error();
    }
    return result.is_valid() ? nb::object(nb::tuple(result)) : nb::borrow(value);
  }

  Change change_;
  const nb::dict& parts_;
  nb::handle other_;
  const PyTypeObject* last_ = nullptr;  // a type of scalars
  const Scalars& scalars_ = Scalars::get();
  const ArrayFinder& finder_ = ArrayFinder::get();
  const NewArrays& arrays_ = NewArrays::get();
};

template <Change change>
nb::list change_all(const nb::list& elements, const nb::dict& parts, nb::handle other) {
  ElementChanger changer(change, parts, other);
  nb::list made;
  for (Py_ssize_t i = 0; i < PyList_Size(elements.ptr()); ++i) {
    made.append(changer.make(PyList_GetItem(elements.ptr(), i), change == Change::kCopy));
  }
  return made;
}

}  // namespace

void bind_own(nb::module_& module) {
  module.def(
      "own_elements", change_all<Change::kOwn>, nb::arg("elements"), nb::arg("parts"),
      nb::arg("other"),
      nb::sig("def own_elements(elements: list[typing.Any], "
              "parts: dict[type, tuple[str, ...]], "
              "other: collections.abc.Callable[[typing.Any, bool], typing.Any]) "
              "-> list[typing.Any]"),
      "The elements, to be handed to a consumer that may write to their arrays. An array that is\n"
      "marked read-only, or to which others than its element refer, becomes a copy. `parts` are\n"
      "the attributes of columns that hold arrays; `other` is called with a column that has such\n"
      "arrays, with what else is neither array, scalar, bytes, dict nor tuple, and with whether\n"
      "others have it.");
  module.def("copy_elements", change_all<Change::kCopy>, nb::arg("elements"), nb::arg("parts"),
             nb::arg("other"),
             nb::sig("def copy_elements(elements: list[typing.Any], "
                     "parts: dict[type, tuple[str, ...]], "
                     "other: collections.abc.Callable[[typing.Any, bool], typing.Any]) "
                     "-> list[typing.Any]"),
             "The same with copies of all arrays and dicts.");
  module.def("freeze_elements", change_all<Change::kFreeze>, nb::arg("elements"), nb::arg("parts"),
             nb::arg("other"),
             nb::sig("def freeze_elements(elements: list[typing.Any], "
                     "parts: dict[type, tuple[str, ...]], "
                     "other: collections.abc.Callable[[typing.Any, bool], typing.Any]) "
                     "-> list[typing.Any]"),
             "The elements with views that are marked read-only in the place of their arrays.");
}

}  // namespace tfrkit
