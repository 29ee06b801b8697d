// What Python hands in and gets back: buffers as bytes, arrays of int64.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/bytes/bytes.h"

namespace tfrkit {

namespace nb = nanobind;

// An argument with the buffer protocol, C-contiguous, exported for as long as this lives.
class InputBytes {
 public:
  InputBytes() = default;
  InputBytes(const InputBytes&) = delete;
  InputBytes(InputBytes&&) = delete;
  InputBytes& operator=(const InputBytes&) = delete;
  InputBytes& operator=(InputBytes&&) = delete;
  ~InputBytes() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }

  // Returns false, without a Python error, if `source` has no such buffer.
  [[nodiscard]] bool hold(nb::handle source) noexcept {
    if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_SIMPLE) == 0) return true;
    PyErr_Clear();
    view_.obj = nullptr;
    return false;
  }

  [[nodiscard]] Bytes bytes() const noexcept {
    return {static_cast<const std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

// A buffer that is written to for as long as this lives.
class OutputBytes {
 public:
  explicit OutputBytes(nb::handle target) {
    if (PyObject_GetBuffer(target.ptr(), &view_, PyBUF_WRITABLE) != 0) throw nb::python_error();
  }
  OutputBytes(const OutputBytes&) = delete;
  OutputBytes(OutputBytes&&) = delete;
  OutputBytes& operator=(const OutputBytes&) = delete;
  OutputBytes& operator=(OutputBytes&&) = delete;
  ~OutputBytes() { PyBuffer_Release(&view_); }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept {
    return {static_cast<std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

// Returns the address of `bytes` in the type that Python's functions take.
[[nodiscard]] inline const char* as_chars(Bytes bytes) noexcept {
  return reinterpret_cast<const char*>(bytes.data());
}

using Int64Input = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Int64Array = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;

// Returns the entries of `array`, which must outlive the span.
[[nodiscard]] inline std::span<const std::int64_t> entries(const Int64Input& array) noexcept {
  return {array.data(), array.shape(0)};
}

// One allocation from which several arrays are cut; each of them keeps it alive.
class Int64Batch {
 public:
  explicit Int64Batch(std::size_t size);

  // Returns the memory of entries [start, start + count).
  [[nodiscard]] std::span<std::int64_t> span(std::size_t start, std::size_t count) const noexcept {
    return {data_ + start, count};
  }

  // Returns entries [start, start + count) as a numpy array, a view.
  [[nodiscard]] Int64Array array(std::size_t start, std::size_t count) const {
    return {data_ + start, {count}, owner_};
  }

 private:
  std::int64_t* data_;
  nb::capsule owner_;
};

inline Int64Batch::Int64Batch(std::size_t size) {
  auto memory = std::make_unique_for_overwrite<std::int64_t[]>(size);
  data_ = memory.get();
  owner_ =
      nb::capsule(data_, [](void* data) noexcept { delete[] static_cast<std::int64_t*>(data); });
  (void)memory.release();
}

}  // namespace tfrkit

template <>
struct nanobind::detail::type_caster<tfrkit::InputBytes> {
  // NOLINTNEXTLINE(readability-identifier-naming): the name that nanobind asks for
  static constexpr auto Name = const_name("typing_extensions.Buffer");
  template <typename T>
  using Cast = tfrkit::InputBytes&;
  template <typename T>
  static constexpr bool can_cast() {
    return true;
  }
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    return value.hold(source);
  }
  explicit operator tfrkit::InputBytes&() { return value; }
  tfrkit::InputBytes value;
};
