// `RecordInputs`: the records that a batch kernel works on, from whatever Python holds them in.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bindings/arrays/convert.h"
#include "bindings/errors.h"
#include "core/bytes/bytes.h"

namespace tfrkit {

// Records wherever they lie, and what keeps them there. Destroy it with the GIL.
struct RecordRefs {
  std::vector<Bytes> records;
  std::vector<std::shared_ptr<const void>> kept;
};

// Records gathered from a sequence of pieces. A piece is one of
//   (data, offsets, lengths), or a RecordRefs: all records of a block;
//   ([block, ...], which, rows): record rows[i] of block which[i], of the first if which is None;
//   a list or tuple of bytes.
// Keeps everything they lie in alive and exported. Make and destroy it with the GIL; read it
// without. The constructor raises TypeError for other types and IndexError for offsets outside the
// data and rows outside the blocks.
class RecordInputs {
 public:
  explicit RecordInputs(nb::handle pieces) {
    const nb::object items = as_tuple(pieces);
    const Py_ssize_t count = PyTuple_Size(items.ptr());
    for (Py_ssize_t i = 0; i < count; ++i) {
      add_piece(PyTuple_GetItem(items.ptr(), i), static_cast<std::size_t>(i));
    }
  }
  RecordInputs(const RecordInputs&) = delete;
  RecordInputs(RecordInputs&&) = delete;
  RecordInputs& operator=(const RecordInputs&) = delete;
  RecordInputs& operator=(RecordInputs&&) = delete;
  ~RecordInputs() = default;

  [[nodiscard]] std::span<const Bytes> records() const noexcept { return records_; }

 private:
  // Returns a tuple that no other code can change while the GIL is released.
  static nb::object as_tuple(nb::handle sequence) {
    if (PyTuple_Check(sequence.ptr())) return nb::borrow(sequence);
    if (!PyList_Check(sequence.ptr())) throw nb::type_error("expected a list or a tuple");
    auto tuple = nb::steal(PyList_AsTuple(sequence.ptr()));
    if (!tuple.is_valid()) throw nb::python_error();
    return tuple;
  }

  // A tuple of three whose second is not bytes is a block, and so are RecordRefs; else the items
  // are records.
  static bool is_block(PyObject* piece) {
    if (!PyTuple_Check(piece)) return nb::isinstance<RecordRefs>(nb::handle(piece));
    return PyTuple_Size(piece) == 3 && !PyBytes_Check(PyTuple_GetItem(piece, 1));
  }

  // A tuple of three that begins with a list, as no record is one.
  static bool is_selection(PyObject* piece) {
    return PyTuple_Check(piece) && PyTuple_Size(piece) == 3 &&
           PyList_Check(PyTuple_GetItem(piece, 0));
  }

  void add_piece(PyObject* piece, std::size_t index) {
    if (is_selection(piece)) {
      add_selection(piece, index);
    } else if (is_block(piece)) {
      add_block(hold_block(piece, index));
    } else if (PyList_Check(piece) || PyTuple_Check(piece)) {
      add_records(piece);
    } else {
      raise_item_type("(data, offsets, lengths) or a list of bytes", piece, index);
    }
  }

  // The records of a block: where they lie in its buffer, or anywhere.
  struct Block {
    Bytes bytes;
    std::span<const std::int64_t> offsets;
    std::span<const std::int64_t> lengths;
    std::span<const Bytes> records;  // if there is no buffer

    [[nodiscard]] std::size_t count() const noexcept { return offsets.size() + records.size(); }
  };

  // Keeps an array of numbers.
  std::span<const std::int64_t> hold_numbers(PyObject* array) {
    numbers_.push_back(nb::cast<Int64Input>(nb::handle(array)));
    return entries(numbers_.back());
  }

  Block hold_block(PyObject* piece, std::size_t index) {
    if (!PyTuple_Check(piece)) {
      owners_.push_back(nb::borrow(piece));
      return {.records = nb::cast<const RecordRefs&>(nb::handle(piece)).records};
    }
    auto data = std::make_unique<InputBytes>();
    if (!data->hold(PyTuple_GetItem(piece, 0))) {
      raise_item_type("contiguous memory", PyTuple_GetItem(piece, 0), index);
    }
    const Bytes bytes = data->bytes();
    exports_.push_back(std::move(data));
    const Block block{.bytes = bytes,
                      .offsets = hold_numbers(PyTuple_GetItem(piece, 1)),
                      .lengths = hold_numbers(PyTuple_GetItem(piece, 2))};
    check_same_size("offsets", block.offsets.size(), "lengths", block.lengths.size());
    return block;
  }

  void add_block(const Block& block) {
    records_.reserve(records_.size() + block.count());
    for (std::size_t i = 0; i < block.count(); ++i) add_record(block, i);
  }

  void add_record(const Block& block, std::size_t i) {
    if (!block.records.empty()) {
      records_.push_back(block.records[i]);
      return;
    }
    const std::int64_t start = block.offsets[i];
    const std::int64_t size = block.lengths[i];
    const auto limit = static_cast<std::int64_t>(block.bytes.size());
    if (start < 0 || size < 0 || start > limit || size > limit - start) {
      raise_out_of_range("offsets and lengths", i, block.bytes.size());
    }
    records_.push_back(
        block.bytes.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(size)));
  }

  void add_selection(PyObject* piece, std::size_t index) {
    const nb::object items = as_tuple(PyTuple_GetItem(piece, 0));
    std::vector<Block> blocks;
    for (Py_ssize_t i = 0; i < PyTuple_Size(items.ptr()); ++i) {
      PyObject* const item = PyTuple_GetItem(items.ptr(), i);
      if (!is_block(item)) raise_item_type("(data, offsets, lengths)", item, index);
      blocks.push_back(hold_block(item, index));
    }
    const auto rows = nb::cast<Int64Input>(nb::handle(PyTuple_GetItem(piece, 2)));
    const nb::handle numbers = PyTuple_GetItem(piece, 1);
    std::optional<Int64Input> which;
    if (!numbers.is_none()) {
      which = nb::cast<Int64Input>(numbers);
      check_same_size("which", which->shape(0), "rows", rows.shape(0));
    }
    records_.reserve(records_.size() + rows.shape(0));
    for (std::size_t i = 0; i < rows.shape(0); ++i) {
      const auto number = static_cast<std::size_t>(which ? which->data()[i] : 0);
      if (number >= blocks.size()) throw nb::index_error("a record is not of any of the blocks");
      const auto row = static_cast<std::size_t>(rows.data()[i]);
      if (row >= blocks[number].count()) throw nb::index_error("a row lies outside its block");
      add_record(blocks[number], row);
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
  std::vector<Int64Input> numbers_;
  std::vector<std::unique_ptr<InputBytes>> exports_;
};

}  // namespace tfrkit
