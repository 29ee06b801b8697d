// Rows of columns as elements, each on memory of its own.
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "bindings/arrays/array_fields.h"
#include "bindings/arrays/new_arrays.h"
#include "bindings/arrays/scalars.h"
#include "bindings/bind.h"

namespace tfrkit {
namespace {

// An array of numbers in row-major order, as rows.
struct Table {
  const ArrayFields* array;
  const ScalarType* kind;
  std::size_t row_bytes;

  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(array->sizes[0]); }
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t first, std::size_t count) const {
    return {array->data + (first * row_bytes), count * row_bytes};
  }
};

// Returns false if it is something else.
bool find_table(nb::handle value, Table& table) {
  table.array = ArrayFinder::get().find(value.ptr());
  if (table.array == nullptr || table.array->dimensions == 0 || !table.array->is_contiguous())
    return false;
  table.kind = Scalars::get().find_dtype(table.array->dtype);
  if (table.kind == nullptr) return false;
  table.row_bytes = table.kind->size;
  for (const Py_ssize_t size : table.array->shape().subspan(1))
    table.row_bytes *= static_cast<std::size_t>(size);
  return true;
}

// Puts what `make(row)` returns into a list.
template <typename Make>
nb::object list_of(std::size_t count, Make make) {
  const auto list = nb::steal(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!list.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < count; ++i) {
    if (PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i), make(i)) != 0)
      throw nb::python_error();
  }
  return list;
}

PyObject* make_scalar(const Table& table, std::size_t row) {
  auto* const type = reinterpret_cast<PyTypeObject*>(table.kind->type.ptr());
  PyObject* const scalar = table.kind->allocate(type, 0);
  if (scalar == nullptr) throw nb::python_error();
  std::memcpy(Scalars::place(scalar), table.bytes(row, 1).data(), table.row_bytes);
  return scalar;
}

nb::object cut_rows(nb::handle array) {
  Table table{};
  if (!find_table(array, table)) return nb::none();
  if (table.array->dimensions == 1) {
    if (table.kind->allocate == nullptr) return nb::none();
    return list_of(table.rows(), [&](std::size_t row) { return make_scalar(table, row); });
  }
  const NewArrays& arrays = NewArrays::get();
  const std::span<const Py_ssize_t> sizes = table.array->shape().subspan(1);
  return list_of(table.rows(), [&](std::size_t row) {
    return arrays.make(table.array->dtype, sizes, table.bytes(row, 1)).release().ptr();
  });
}

template <typename T>
nb::object cut_runs_at(const Table& table, const Table& splits) {
  const NewArrays& arrays = NewArrays::get();
  const std::span<const Py_ssize_t> shape = table.array->shape();
  std::vector<Py_ssize_t> sizes(shape.begin(), shape.end());
  const auto split = [&](std::size_t i) {
    T found = 0;
    std::memcpy(&found, splits.bytes(i, 1).data(), sizeof(T));
    return found;
  };
  return list_of(splits.rows() - 1, [&](std::size_t row) {
    const T begin = split(row);
    const T end = split(row + 1);
    if (begin < 0 || end < begin || end > shape[0])
      throw nb::value_error("expected ascending splits within the values");
    sizes[0] = end - begin;
    const auto run =
        table.bytes(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    return arrays.make(table.array->dtype, sizes, run).release().ptr();
  });
}

nb::object cut_runs(nb::handle values, nb::handle splits) {
  Table table{};
  Table bounds{};
  if (!find_table(values, table) || !find_table(splits, bounds)) return nb::none();
  if (bounds.array->dimensions != 1 || bounds.rows() == 0) return nb::none();
  const auto is = [&](const char* type) {
    return nb::object(bounds.kind->dtype.attr("name")).equal(nb::str(type));
  };
  if (is("int64")) return cut_runs_at<std::int64_t>(table, bounds);
  if (is("int32")) return cut_runs_at<std::int32_t>(table, bounds);
  return nb::none();
}

// A copy of a dict takes over the table of its keys: with 41 of them a row takes 1.1 us, and 2.1 us
// as dict(zip(...)) in Python (benchmarks/pipelines_filter.py).
nb::list zip_dicts(const nb::tuple& names, const nb::list& values, std::size_t count) {
  nb::dict pattern;
  for (const nb::handle name : names) pattern[name] = nb::none();
  const auto width = static_cast<Py_ssize_t>(nb::len(names));
  if (nb::len(values) != nb::len(names)) throw nb::value_error("expected a list for each name");
  for (const nb::handle column : values) {
    if (!PyList_CheckExact(column.ptr()) || nb::len(column) != count)
      throw nb::value_error("expected lists of one length");
  }
  return nb::borrow<nb::list>(list_of(count, [&](std::size_t row) {
    nb::object element = nb::steal(PyDict_Copy(pattern.ptr()));
    if (!element.is_valid()) throw nb::python_error();
    for (Py_ssize_t i = 0; i < width; ++i) {
      PyObject* const column = PyList_GetItem(values.ptr(), i);
      PyObject* const value = PyList_GetItem(column, static_cast<Py_ssize_t>(row));
      if (value == nullptr ||
          PyDict_SetItem(element.ptr(), PyTuple_GetItem(names.ptr(), i), value) != 0)
        throw nb::python_error();
    }
    return element.release().ptr();
  }));
}

}  // namespace

void bind_rows(nb::module_& module) {
  module.def(
      "cut_rows", cut_rows, nb::arg("array"),
      nb::sig("def cut_rows(array: numpy.typing.NDArray[typing.Any]) "
              "-> list[typing.Any] | None"),
      "The rows of an array, as copies; those of one dimension as scalars. None for one that\n"
      "is not of numbers, in row-major order.");
  module.def(
      "cut_runs", cut_runs, nb::arg("values"), nb::arg("splits"),
      nb::sig("def cut_runs(values: numpy.typing.NDArray[typing.Any], "
              "splits: numpy.typing.NDArray[typing.Any]) -> list[typing.Any] | None"),
      "Copies of the parts of an array between one split and the next. None as in cut_rows,\n"
      "or if the splits are neither int64 nor int32.");
  module.def(
      "zip_dicts", zip_dicts, nb::arg("names"), nb::arg("values"), nb::arg("count"),
      nb::sig("def zip_dicts(names: tuple[str, ...], values: list[list[typing.Any]], count: int) "
              "-> list[dict[str, typing.Any]]"),
      "A dict for each row of lists of one length, which stand under the names.");
}

}  // namespace tfrkit
