#include "bindings/arrays/array_fields.h"

#include <array>
#include <cstdint>

namespace tfrkit {

const ArrayFinder& ArrayFinder::get() {
  // Never destroyed; see Scalars::get.
  static const ArrayFinder* only = nullptr;
  if (only == nullptr) only = new ArrayFinder();
  return *only;
}

ArrayFinder::ArrayFinder() {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object type = numpy.attr("ndarray");
  const nb::object plain = numpy.attr("zeros")(nb::make_tuple(2, 3), "int16");
  const nb::object turned = plain.attr("T");
  const nb::object sealed = plain.attr("view")();
  sealed.attr("setflags")(false);
  const nb::object part = numpy.attr("arange")(7)[nb::slice(1, 6, 2)];
  const std::array samples = {plain, turned, sealed, part, nb::object(numpy.attr("array")(1.5))};
  const auto room = nb::cast<std::size_t>(type.attr("__basicsize__"));
  if (room < sizeof(PyObject) + sizeof(ArrayFields)) return;
  for (const nb::object& sample : samples) {
    if (!has_fields(sample)) return;
  }
  type_ = reinterpret_cast<const PyTypeObject*>(type.ptr());
}

// Whether the fields say what numpy says.
bool ArrayFinder::has_fields(const nb::object& array) {
  const ArrayFields& fields = *fields_of(array.ptr());
  if (fields.dimensions != nb::cast<int>(array.attr("ndim"))) return false;
  if (fields.dtype != nb::object(array.attr("dtype")).ptr()) return false;
  const nb::object flags = array.attr("flags");
  if (fields.is_contiguous() != nb::cast<bool>(flags.attr("c_contiguous"))) return false;
  if (fields.is_writeable() != nb::cast<bool>(flags.attr("writeable"))) return false;
  const nb::object place = array.attr("__array_interface__")["data"][0];
  if (reinterpret_cast<std::uintptr_t>(fields.data) != nb::cast<std::uintptr_t>(place))
    return false;
  const nb::object sizes = array.attr("shape");
  const nb::object strides = array.attr("strides");
  for (int i = 0; i < fields.dimensions; ++i) {
    if (fields.sizes[i] != nb::cast<Py_ssize_t>(sizes[i])) return false;
    if (fields.strides[i] != nb::cast<Py_ssize_t>(strides[i])) return false;
  }
  return true;
}

}  // namespace tfrkit
