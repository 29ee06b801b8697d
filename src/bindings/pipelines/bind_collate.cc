#include <nanobind/nanobind.h>

#include <utility>

#include "bindings/arrays/array_fields.h"
#include "bindings/arrays/buffer.h"
#include "bindings/bind.h"
#include "bindings/pipelines/collate.h"

namespace tfrkit {
namespace {

// Made at the first call and never destroyed, as the interpreter may be gone by then.
const ArrayMaker& shared_arrays() {
  static const ArrayMaker* only = nullptr;
  if (only == nullptr) only = new ArrayMaker();
  return *only;
}

nb::object collate(const nb::list& list, nb::handle make_bytes, nb::handle stack) {
  (void)Scalars::get();  // these import numpy, which must not happen while elements are read
  (void)ArrayFinder::get();
  const ArrayMaker& arrays = shared_arrays();
  const auto elements = nb::steal(PyList_AsTuple(list.ptr()));  // which no other code changes
  if (!elements.is_valid()) throw nb::python_error();
  const Py_ssize_t count = PyTuple_Size(elements.ptr());
  if (count == 0) throw nb::value_error("expected at least one element but got none");
  CollatedPlace root;
  std::size_t size = 0;
  PyObject* const first = PyTuple_GetItem(elements.ptr(), 0);
  if (!root.look_at(first, static_cast<std::size_t>(count), size)) return nb::none();
  Buffer memory(size);
  root.attach(memory.bytes().data());
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!root.read(PyTuple_GetItem(elements.ptr(), i))) return nb::none();
  }
  if (root.has_large()) {
    const nb::gil_scoped_release released;
    root.copy_large();
  }
  const nb::object numbers = size == 0 ? nb::none() : nb::cast(std::move(memory));
  return root.finish({arrays, numbers, make_bytes, stack});
}

}  // namespace

void bind_collate(nb::module_& module) {
  module.def(
      "collate", collate, nb::arg("elements"), nb::arg("make_bytes"), nb::arg("stack"),
      nb::sig("def collate(elements: list[typing.Any], "
              "make_bytes: collections.abc.Callable[..., typing.Any], "
              "stack: collections.abc.Callable[[list[typing.Any]], typing.Any]) "
              "-> typing.Any | None"),
      "One batch of elements of the same structure; None if they are unlike, or unusual.\n\n"
      "make_bytes gets data and offsets of bytes, stack a list of all values of a leaf that\n"
      "are of one type which is neither a scalar of numpy nor bytes.");
}

}  // namespace tfrkit
