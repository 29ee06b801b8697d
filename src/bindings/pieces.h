// `Pieces`: the records that a batch kernel works on, from whatever Python holds them in.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "bytes.h"
#include "convert.h"
#include "errors.h"

namespace tfrkit {

// Records gathered from a sequence of pieces, each (data, offsets, lengths) or a list or tuple of
// bytes. Keeps everything they lie in alive and exported. Make and destroy it with the GIL; read it
// without. The constructor raises TypeError for other types and IndexError for offsets outside the
// data.
class Pieces {
 public:
  explicit Pieces(nb::handle pieces) {
    const nb::object items = as_tuple(pieces);
    const Py_ssize_t count = PyTuple_Size(items.ptr());
    for (Py_ssize_t i = 0; i < count; ++i) {
      add_piece(PyTuple_GetItem(items.ptr(), i), static_cast<std::size_t>(i));
    }
  }
  Pieces(const Pieces&) = delete;
  Pieces(Pieces&&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  Pieces& operator=(Pieces&&) = delete;
  ~Pieces() = default;

  [[nodiscard]] std::span<const Bytes> records() const noexcept { return records_; }

 private:
  // Returns a tuple that nobody can change while the GIL is released.
  static nb::object as_tuple(nb::handle sequence) {
    if (PyTuple_Check(sequence.ptr())) return nb::borrow(sequence);
    if (!PyList_Check(sequence.ptr())) throw nb::type_error("expected a list or a tuple");
    auto tuple = nb::steal(PyList_AsTuple(sequence.ptr()));
    if (!tuple.is_valid()) throw nb::python_error();
    return tuple;
  }

  // A tuple of three whose first is not bytes is a block; else the items are records.
  static bool is_block(PyObject* piece) {
    return PyTuple_Check(piece) && PyTuple_Size(piece) == 3 &&
           !PyBytes_Check(PyTuple_GetItem(piece, 1));
  }

  void add_piece(PyObject* piece, std::size_t index) {
    if (is_block(piece)) {
      add_block(piece, index);
    } else if (PyList_Check(piece) || PyTuple_Check(piece)) {
      add_records(piece);
    } else {
      raise_item_type("(data, offsets, lengths) or a list of bytes", piece, index);
    }
  }

  void add_block(PyObject* piece, std::size_t index) {
    auto data = std::make_unique<InputBytes>();
    if (!data->hold(PyTuple_GetItem(piece, 0))) {
      raise_item_type("contiguous memory", PyTuple_GetItem(piece, 0), index);
    }
    const Bytes bytes = data->bytes();
    exports_.push_back(std::move(data));
    const auto offsets = nb::cast<Int64Input>(nb::handle(PyTuple_GetItem(piece, 1)));
    const auto lengths = nb::cast<Int64Input>(nb::handle(PyTuple_GetItem(piece, 2)));
    const auto starts = entries(offsets);
    const auto sizes = entries(lengths);
    check_same_size("offsets", starts.size(), "lengths", sizes.size());
    const auto limit = static_cast<std::int64_t>(bytes.size());
    records_.reserve(records_.size() + starts.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      if (starts[i] < 0 || sizes[i] < 0 || starts[i] > limit || sizes[i] > limit - starts[i]) {
        raise_out_of_range("offsets and lengths", i, bytes.size());
      }
      records_.push_back(
          bytes.subspan(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(sizes[i])));
    }
  }

  void add_records(PyObject* piece) {
    owners_.push_back(as_tuple(piece));
    PyObject* const items = owners_.back().ptr();
    const Py_ssize_t count = PyTuple_Size(items);
    records_.reserve(records_.size() + static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* const item = PyTuple_GetItem(items, i);
      char* text = nullptr;
      Py_ssize_t size = 0;
      if (!PyBytes_Check(item)) raise_item_type("bytes", item, static_cast<std::size_t>(i));
      PyBytes_AsStringAndSize(item, &text, &size);
      records_.push_back(std::as_bytes(std::span(text, static_cast<std::size_t>(size))));
    }
  }

  std::vector<Bytes> records_;
  std::vector<nb::object> owners_;
  std::vector<std::unique_ptr<InputBytes>> exports_;
};

}  // namespace tfrkit
