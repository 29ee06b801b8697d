// Elements of a pipeline, one Python object each, to columns.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "arrays.h"
#include "buffer.h"
#include "bytes.h"
#include "scalars.h"

namespace tfrkit {

// What Python does for the columns.
struct ColumnMakers {
  nb::handle bytes;  // called with data and offsets
  nb::handle stack;  // called with a list of values of one type that are not known here
};

// One leaf, or the dict or tuple of others, as the first element has it, with the values of all
// elements. Reading runs no Python code, so that nothing moves meanwhile. Use it with the GIL.
class CollatedPlace {
 public:
  // Looks at the first element. Returns false if it is nothing for this: a dict or tuple of another
  // class, no leaf at all, or too deep. Throws std::bad_alloc.
  [[nodiscard]] bool look_at(PyObject* value, std::size_t rows, int depth = 0);

  // Takes the value of the next element; false if it is not like the first. Precondition: look_at
  // returned true, and no more than `rows` values are read.
  [[nodiscard]] bool read(PyObject* value);

  // Moves the columns to Python, in the structure of the first element.
  [[nodiscard]] nb::object finish(const ArrayMaker& arrays, const ColumnMakers& make);

 private:
  enum class Form : std::uint8_t { kScalar, kBytes, kOther, kTuple, kDict };
  static constexpr int kMaxDepth = 32;

  [[nodiscard]] bool look_at_tuple(PyObject* value, std::size_t rows, int depth);
  [[nodiscard]] bool look_at_dict(PyObject* value, std::size_t rows, int depth);
  [[nodiscard]] bool read_tuple(PyObject* value);
  [[nodiscard]] bool read_dict(PyObject* value);
  [[nodiscard]] nb::object finish_bytes(const ArrayMaker& arrays, const ColumnMakers& make) const;

  Form form_ = Form::kOther;
  const PyTypeObject* type_ = nullptr;  // of all values
  const ScalarType* scalar_ = nullptr;
  std::unique_ptr<Buffer> column_;  // scalars: their values
  std::byte* next_ = nullptr;       // where in the column
  std::vector<nb::object> values_;  // bytes and others
  std::vector<nb::object> keys_;
  std::vector<CollatedPlace> parts_;
};

}  // namespace tfrkit
