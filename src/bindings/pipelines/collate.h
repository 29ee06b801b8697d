// Elements of a pipeline, one Python object each, to columns.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bindings/arrays/arrays.h"
#include "bindings/arrays/buffer.h"
#include "bindings/arrays/scalars.h"
#include "core/bytes/bytes.h"

namespace tfrkit {

// What makes columns of what was read.
struct ColumnMakers {
  const ArrayMaker& arrays;
  nb::handle numbers;  // the memory of all columns of scalars and arrays
  nb::handle bytes;    // called with data and offsets
  nb::handle stack;    // called with a list of values of one type that are not known here
};

// One leaf, or the dict or tuple of others, as the first element has it, with the values of all
// elements. Reading runs no Python code, so that nothing moves meanwhile. Use it with the GIL.
class CollatedPlace {
 public:
  // Looks at the first element, and adds the memory that its columns of numbers need to `size`.
  // Returns false if it is nested too deep. Throws std::bad_alloc.
  [[nodiscard]] bool look_at(PyObject* value, std::size_t rows, std::size_t& size, int depth = 0);

  // Takes the memory for numbers, of the size that look_at found.
  void attach(std::byte* memory) noexcept;

  // Takes the value of the next element; false if it is not like the first. Precondition: attach
  // was called, and no more than `rows` values are read. Large arrays are only noted, and held.
  [[nodiscard]] bool read(PyObject* value);

  // Returns whether there is something for copy_large to do.
  [[nodiscard]] bool has_large() const noexcept;

  // Copies what `read` has left for now: the numbers of large arrays. Without the GIL.
  void copy_large() const noexcept;

  // Makes the columns, in the structure of the first element. Precondition: all rows were read and
  // large ones copied.
  [[nodiscard]] nb::object finish(const ColumnMakers& make) const;

 private:
  enum class Form : std::uint8_t { kScalar, kArray, kBytes, kOther, kTuple, kDict };
  static constexpr int kMaxDepth = 32;
  static constexpr std::size_t kLargeBytes = 4096;  // arrays of more are copied without the GIL

  // An array that is copied later, when its element may be gone already.
  struct LargeArray {
    nb::object owner;
    const std::byte* numbers;
  };

  [[nodiscard]] bool look_at_array(PyObject* value);

  [[nodiscard]] bool look_at_tuple(PyObject* value, std::size_t rows, std::size_t& size, int depth);
  [[nodiscard]] bool look_at_dict(PyObject* value, std::size_t rows, std::size_t& size, int depth);
  [[nodiscard]] bool read_array(PyObject* value);
  [[nodiscard]] bool read_tuple(PyObject* value);
  [[nodiscard]] bool read_dict(PyObject* value);
  [[nodiscard]] nb::object shape() const;
  [[nodiscard]] nb::object finish_bytes(const ColumnMakers& make) const;

  Form form_ = Form::kOther;
  const PyTypeObject* type_ = nullptr;  // of all values
  const ScalarType* scalar_ = nullptr;  // of numbers
  std::vector<Py_ssize_t> shape_;       // of arrays
  std::size_t rows_ = 0;
  std::size_t each_ = 0;            // numbers: bytes of a row
  std::size_t offset_ = 0;          // numbers: of the column in the memory
  std::byte* next_ = nullptr;       // where in it
  std::vector<LargeArray> large_;   // of each row, if its numbers are many
  std::vector<nb::object> values_;  // bytes and others
  std::vector<nb::object> keys_;
  std::vector<CollatedPlace> parts_;
};

}  // namespace tfrkit
