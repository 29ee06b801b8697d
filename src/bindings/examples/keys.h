// Keys of dicts.
#pragma once

#include <nanobind/nanobind.h>

namespace tfrkit {

// Whether two keys are the same; false also if that cannot be said without running Python code.
[[nodiscard]] inline bool same_key(PyObject* left, PyObject* right) noexcept {
  if (left == right) return true;
  return PyUnicode_CheckExact(left) && PyUnicode_CheckExact(right) &&
         PyUnicode_Compare(left, right) == 0;
}

}  // namespace tfrkit
