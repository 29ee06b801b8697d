#include "bindings/pipelines/collate.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "bindings/arrays/array_fields.h"
#include "bindings/arrays/pool.h"
#include "bindings/examples/keys.h"

namespace tfrkit {
namespace {

Bytes view_bytes(PyObject* value) noexcept {
  const char* const text = PyBytes_AsString(value);
  return std::as_bytes(std::span(text, static_cast<std::size_t>(PyBytes_Size(value))));
}

// A copy whose size the compiler knows is one instruction.
void copy_value(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (size == 8) {
    std::memcpy(to, from, 8);
  } else if (size == 4) {
    std::memcpy(to, from, 4);
  } else {
    std::memcpy(to, from, size);
  }
}

}  // namespace

bool CollatedPlace::look_at(PyObject* value, std::size_t rows, std::size_t& size, int depth) {
  type_ = Py_TYPE(value);
  rows_ = rows;
  if (PyTuple_CheckExact(value)) return look_at_tuple(value, rows, size, depth);
  if (PyDict_CheckExact(value)) return look_at_dict(value, rows, size, depth);
  scalar_ = Scalars::get().find(type_);
  if (scalar_ != nullptr || look_at_array(value)) {
    if (form_ != Form::kArray) {
      form_ = Form::kScalar;
      each_ = scalar_->size;
    }
    offset_ = size;
    size += (rows * each_ + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    return true;
  }
  form_ = PyBytes_CheckExact(value) ? Form::kBytes : Form::kOther;
  values_.reserve(rows);
  return true;
}

// Returns false for what is no array, or one that is better left to numpy.
bool CollatedPlace::look_at_array(PyObject* value) {
  const ArrayFields* const array = ArrayFinder::get().find(value);
  if (array == nullptr || !array->is_contiguous() || array->dimensions == 0) return false;
  const ScalarType* const kind = Scalars::get().find_dtype(array->dtype);
  if (kind == nullptr) return false;
  each_ = kind->size;
  for (const Py_ssize_t count : array->shape()) each_ *= static_cast<std::size_t>(count);
  if (each_ == 0 || rows_ > std::numeric_limits<std::size_t>::max() / 2 / each_) return false;
  if (each_ > kLargeBytes) large_.reserve(rows_);
  form_ = Form::kArray;
  scalar_ = kind;
  shape_.assign(array->shape().begin(), array->shape().end());
  return true;
}

bool CollatedPlace::look_at_tuple(PyObject* value, std::size_t rows, std::size_t& size, int depth) {
  form_ = Form::kTuple;
  if (depth == kMaxDepth) return false;
  const Py_ssize_t count = PyTuple_Size(value);
  parts_.resize(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    CollatedPlace& part = parts_[static_cast<std::size_t>(i)];
    if (!part.look_at(PyTuple_GetItem(value, i), rows, size, depth + 1)) return false;
  }
  return true;
}

bool CollatedPlace::look_at_dict(PyObject* value, std::size_t rows, std::size_t& size, int depth) {
  form_ = Form::kDict;
  if (depth == kMaxDepth) return false;
  PyObject* key = nullptr;
  PyObject* item = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(value, &position, &key, &item) != 0) {
    keys_.push_back(nb::borrow(key));
    if (!parts_.emplace_back().look_at(item, rows, size, depth + 1)) return false;
  }
  return true;
}

void CollatedPlace::attach(std::byte* memory) noexcept {
  next_ = memory + offset_;
  for (CollatedPlace& part : parts_) part.attach(memory);
}

bool CollatedPlace::read(PyObject* value) {
  if (Py_TYPE(value) != type_) return false;
  switch (form_) {
    case Form::kScalar:
      copy_value(next_, Scalars::place(value), scalar_->size);
      next_ += scalar_->size;
      return true;
    case Form::kArray:
      return read_array(value);
    case Form::kTuple:
      return read_tuple(value);
    case Form::kDict:
      return read_dict(value);
    default:
      values_.push_back(nb::borrow(value));
      return true;
  }
}

bool CollatedPlace::read_array(PyObject* value) {
  const ArrayFields& array = *ArrayFinder::get().find(value);
  if (array.dtype != scalar_->dtype.ptr() || !array.is_contiguous()) return false;
  if (!std::ranges::equal(array.shape(), shape_)) return false;
  if (each_ > kLargeBytes) {
    large_.push_back({nb::borrow(value), array.data});
    return true;
  }
  std::memcpy(next_, array.data, each_);
  next_ += each_;
  return true;
}

bool CollatedPlace::read_tuple(PyObject* value) {
  if (static_cast<std::size_t>(PyTuple_Size(value)) != parts_.size()) return false;
  Py_ssize_t i = 0;
  for (CollatedPlace& part : parts_) {
    if (!part.read(PyTuple_GetItem(value, i++))) return false;
  }
  return true;
}

bool CollatedPlace::read_dict(PyObject* value) {
  if (static_cast<std::size_t>(PyDict_Size(value)) != parts_.size()) return false;
  PyObject* key = nullptr;
  PyObject* item = nullptr;
  Py_ssize_t position = 0;
  for (std::size_t i = 0; PyDict_Next(value, &position, &key, &item) != 0; ++i) {
    if (!same_key(key, keys_[i].ptr()) || !parts_[i].read(item)) return false;
  }
  return true;
}

bool CollatedPlace::has_large() const noexcept {
  return !large_.empty() || std::ranges::any_of(parts_, &CollatedPlace::has_large);
}

void CollatedPlace::copy_large() const noexcept {
  std::byte* to = next_;
  for (const LargeArray& from : large_) {
    std::memcpy(to, from.numbers, each_);
    to += each_;
  }
  for (const CollatedPlace& part : parts_) part.copy_large();
}

nb::object CollatedPlace::finish(const ColumnMakers& make) const {
  if (form_ == Form::kScalar || form_ == Form::kArray) {
    return make.arrays.view(nb::borrow(make.numbers), scalar_->dtype, shape(), offset_);
  }
  if (form_ == Form::kBytes) return finish_bytes(make);
  if (form_ == Form::kOther) {
    nb::list values;
    for (const nb::object& value : values_) values.append(value);
    return make.stack(values);
  }
  if (form_ == Form::kTuple) {
    nb::list items;
    for (const CollatedPlace& part : parts_) items.append(part.finish(make));
    return nb::tuple(items);
  }
  nb::dict result;
  for (std::size_t i = 0; i < parts_.size(); ++i) result[keys_[i]] = parts_[i].finish(make);
  return result;
}

nb::object CollatedPlace::shape() const {
  if (form_ == Form::kScalar) return nb::int_(rows_);
  nb::list sizes;
  sizes.append(rows_);
  for (const Py_ssize_t count : shape_) sizes.append(count);
  return nb::tuple(sizes);
}

nb::object CollatedPlace::finish_bytes(const ColumnMakers& make) const {
  std::size_t total = 0;
  for (const nb::object& value : values_) total += view_bytes(value.ptr()).size();
  Buffer data(total);
  Buffer offsets((values_.size() + 1) * sizeof(std::int64_t));
  const auto ends = numbers_in<std::int64_t>(offsets, values_.size() + 1);
  std::size_t end = 0;
  ends[0] = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Bytes text = view_bytes(values_[i].ptr());
    if (!text.empty()) std::memcpy(data.bytes().data() + end, text.data(), text.size());
    end += text.size();
    ends[i + 1] = static_cast<std::int64_t>(end);
  }
  return make.bytes(make.arrays.own(std::move(data), ArrayType::kUint8, total),
                    make.arrays.own(std::move(offsets), ArrayType::kInt64, values_.size() + 1));
}

}  // namespace tfrkit
