#include <nanobind/nanobind.h>

#include <cstdint>
#include <new>
#include <utility>

#include "bindings/arrays/buffer.h"
#include "bindings/bind.h"

namespace tfrkit {

namespace nb = nanobind;

Buffer::Buffer(std::size_t size) : block_(pool_take(size)), size_(size) {
  if (block_.memory == nullptr) throw std::bad_alloc();
}

Buffer::Buffer(Buffer&& other) noexcept
    : block_(std::exchange(other.block_, {})), size_(std::exchange(other.size_, 0)) {}

Buffer::~Buffer() { pool_give(block_); }

namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_BufferError, "the Buffer has no memory: __init__ was not called");
    return -1;
  }
  const Buffer* const buffer = nb::inst_ptr<Buffer>(self);
  return PyBuffer_FillInfo(view, self, buffer->bytes().data(),
                           static_cast<Py_ssize_t>(buffer->size()), 0, flags);
}

PyType_Slot slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {0, nullptr},
};

void make_buffer(Buffer* self, std::int64_t size) {
  if (size < 0) throw nb::value_error("expected a size of at least 0 bytes");
  new (self) Buffer(static_cast<std::size_t>(size));
}

}  // namespace

void bind_buffer(nb::module_& module) {
  nb::class_<Buffer>(
      module, "Buffer", nb::type_slots(slots), nb::is_final(),
      "Memory from a process-wide pool, 64-byte aligned and not zeroed.\n\n"
      "Supports the buffer protocol, writable. The memory goes back to the pool when the last\n"
      "view of it is gone.")
      .def("__init__", make_buffer, nb::arg("size"))
      .def("__len__", &Buffer::size);
}

}  // namespace tfrkit
