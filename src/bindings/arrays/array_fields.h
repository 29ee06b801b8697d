// Numpy's arrays, looked into without a call into numpy.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>

namespace tfrkit {

namespace nb = nanobind;

// What follows the header of every array, as numpy's C interface has it.
struct ArrayFields {
  std::byte* data;
  int dimensions;
  const Py_ssize_t* sizes;
  const Py_ssize_t* strides;
  PyObject* base;
  PyObject* dtype;
  int flags;

  static constexpr int kContiguous = 0x1;
  static constexpr int kWriteable = 0x400;

  [[nodiscard]] bool is_contiguous() const noexcept { return (flags & kContiguous) != 0; }
  [[nodiscard]] bool is_writeable() const noexcept { return (flags & kWriteable) != 0; }
  [[nodiscard]] std::span<const Py_ssize_t> shape() const noexcept {
    return {sizes, static_cast<std::size_t>(dimensions)};
  }
};

// Finds the fields of arrays, if they are as they are thought to be: that is tried on some arrays
// when this is made. Use it with the GIL.
class ArrayFinder {
 public:
  // Returns the only instance, made at the first call. Throws what importing numpy throws.
  static const ArrayFinder& get();

  // Returns the fields of an array of exactly numpy's type; nullptr for everything else.
  [[nodiscard]] const ArrayFields* find(PyObject* value) const noexcept {
    return Py_TYPE(value) == type_ ? fields_of(value) : nullptr;
  }

 private:
  ArrayFinder();

  static const ArrayFields* fields_of(PyObject* array) noexcept {
    return reinterpret_cast<const ArrayFields*>(reinterpret_cast<const std::byte*>(array) +
                                                sizeof(PyObject));
  }
  static bool has_fields(const nb::object& array);

  const PyTypeObject* type_ = nullptr;  // nullptr: arrays are otherwise
};

}  // namespace tfrkit
