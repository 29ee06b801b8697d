#include <nanobind/nanobind.h>

#include "bind.h"
#include "collate.h"

namespace tfrkit {
namespace {

nb::object collate(const nb::list& elements, nb::handle make_bytes, nb::handle stack) {
  const Py_ssize_t count = PyList_Size(elements.ptr());
  if (count == 0) throw nb::value_error("expected at least one element but got none");
  (void)Scalars::get();  // imports numpy, which must not happen while elements are read
  const ArrayMaker arrays;
  CollatedPlace root;
  if (!root.look_at(PyList_GetItem(elements.ptr(), 0), static_cast<std::size_t>(count))) {
    return nb::none();
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!root.read(PyList_GetItem(elements.ptr(), i))) return nb::none();
  }
  return root.finish(arrays, {make_bytes, stack});
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
