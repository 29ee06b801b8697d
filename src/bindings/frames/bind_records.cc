#include <nanobind/nanobind.h>

#include <memory>
#include <span>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"

namespace tfrkit {
namespace {

// The records of blocks, one by one: a block's bytes objects are made only when they are asked for,
// without running Python code in between. An error of the source passes through; the next call asks
// the source again.
struct RecordCursor {
  explicit RecordCursor(nb::object source) : blocks(std::move(source)) {}

  nb::object blocks;  // an iterator of blocks
  nb::object block;   // the current one; keeps what follows alive
  std::unique_ptr<InputBytes> data;
  Int64Input offsets;
  Int64Input lengths;
  std::size_t at = 0;
  std::size_t count = 0;
  bool asking = false;  // the source is running: it must not come back here
};

void leave_block(RecordCursor& cursor) {
  cursor.at = cursor.count = 0;
  cursor.data.reset();
  cursor.offsets = Int64Input();
  cursor.lengths = Int64Input();
  cursor.block.reset();
}

// Returns false at the end of the source. Throws what the source raised.
bool enter_next_block(RecordCursor& cursor) {
  leave_block(cursor);  // so that the source may use the buffer again
  if (cursor.asking) throw nb::value_error("the record iterator is already executing");
  cursor.asking = true;
  const nb::object block = nb::steal(PyIter_Next(cursor.blocks.ptr()));
  cursor.asking = false;
  if (!block.is_valid()) {
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    return false;
  }
  auto data = std::make_unique<InputBytes>();
  if (!data->hold(block.attr("data"))) throw nb::type_error("expected an iterator of blocks");
  auto offsets = nb::cast<Int64Input>(block.attr("offsets"));
  auto lengths = nb::cast<Int64Input>(block.attr("lengths"));
  check_same_size("offsets", offsets.shape(0), "lengths", lengths.shape(0));
  cursor.at = 0;
  cursor.count = offsets.shape(0);
  cursor.block = block;
  cursor.data = std::move(data);
  cursor.offsets = std::move(offsets);
  cursor.lengths = std::move(lengths);
  return true;
}

// Returns the next record as a new reference, or nullptr at the end.
PyObject* next_record(RecordCursor& cursor) {
  while (cursor.at == cursor.count) {
    if (!enter_next_block(cursor)) return nullptr;
  }
  const std::size_t i = cursor.at++;
  const Bytes bytes = cursor.data->bytes();
  const auto limit = static_cast<std::int64_t>(bytes.size());
  const std::int64_t start = cursor.offsets.data()[i];
  const std::int64_t size = cursor.lengths.data()[i];
  if (start < 0 || size < 0 || start > limit || size > limit - start) {
    raise_out_of_range("offsets and lengths", i, bytes.size());
  }
  return PyBytes_FromStringAndSize(as_chars(bytes) + start, size);
}

PyObject* iterate(PyObject* self) {
  Py_INCREF(self);
  return self;
}

PyObject* iterate_next(PyObject* self) {
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_TypeError, "RecordCursor.__init__ was not called");
    return nullptr;
  }
  try {
    return next_record(*nb::inst_ptr<RecordCursor>(self));
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::builtin_exception& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const RecordCursor& cursor = *nb::inst_ptr<RecordCursor>(self);
  Py_VISIT(cursor.blocks.ptr());
  Py_VISIT(cursor.block.ptr());
  return 0;
}

int clear(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  RecordCursor& cursor = *nb::inst_ptr<RecordCursor>(self);
  leave_block(cursor);
  cursor.blocks.reset();
  return 0;
}

PyType_Slot cursor_slots[] = {{Py_tp_iter, reinterpret_cast<void*>(iterate)},
                              {Py_tp_iternext, reinterpret_cast<void*>(iterate_next)},
                              {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear)},
                              {0, nullptr}};

}  // namespace

void bind_records(nb::module_& module) {
  nb::class_<RecordCursor>(module, "RecordCursor", nb::type_slots(cursor_slots),
                           "Iterator over the records of an iterator of blocks, as bytes objects.")
      .def(nb::init<nb::object>(), nb::arg("blocks"));
}

}  // namespace tfrkit
