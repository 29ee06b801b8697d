// Numpy's arrays on memory of their own, made quickly.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>

#include "bindings/arrays/array_fields.h"

namespace tfrkit {

namespace nb = nanobind;

// Calls numpy's C interface, if it is a version that is known: 0.1 us for an array, where a call of
// `copy` takes 0.5. Use it with the GIL.
class NewArrays {
 public:
  // Returns the only instance, made at the first call. Throws what importing numpy throws.
  static const NewArrays& get();

  // Returns an array of these sizes with a copy of the bytes, which must be as many as it has.
  // Precondition: `dtype` is one that Scalars knows.
  [[nodiscard]] nb::object make(PyObject* dtype, std::span<const Py_ssize_t> sizes,
                                std::span<const std::byte> bytes) const;

  // Returns a copy of an array with the same values; in row-major order, if it is of numbers.
  [[nodiscard]] nb::object copy(nb::handle array, const ArrayFields& fields) const;

 private:
  using NewFromDescr = PyObject* (*)(PyTypeObject*, PyObject*, int, const Py_ssize_t*,
                                     const Py_ssize_t*, void*, int, PyObject*);

  NewArrays();

  nb::object ndarray_;
  nb::object empty_;
  NewFromDescr new_ = nullptr;  // nullptr: numpy is another
};

}  // namespace tfrkit
