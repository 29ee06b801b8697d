// Python's columns as Arrow structures, without copying.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tfrkit {

namespace nb = nanobind;

// Memory of a Python object, exported until the last Arrow structure that points into it is
// released. That may happen on any thread, with or without the GIL, and after the interpreter's
// end: then the memory is left alone.
class HeldBuffer {
 public:
  // Raises TypeError unless `source` has a contiguous buffer.
  explicit HeldBuffer(nb::handle source);
  HeldBuffer(const HeldBuffer&) = delete;
  HeldBuffer(HeldBuffer&&) = delete;
  HeldBuffer& operator=(const HeldBuffer&) = delete;
  HeldBuffer& operator=(HeldBuffer&&) = delete;
  ~HeldBuffer();

  [[nodiscard]] const void* data() const noexcept { return view_.buf; }

 private:
  Py_buffer view_{};
};

// One column: what its schema and its array say.
struct Layout {
  std::string format;
  std::string name;
  std::int64_t flags = 0;
  std::int64_t length = 0;
  std::int64_t null_count = 0;
  std::vector<std::unique_ptr<HeldBuffer>> buffers;  // null where there is none
  std::vector<Layout> children;
};

using SharedLayout = std::shared_ptr<const Layout>;

// Returns the layout that a tuple (format, name, flags, length, null_count, buffers, children)
// describes.
[[nodiscard]] SharedLayout read_layout(nb::handle tuple);

[[nodiscard]] nb::object schema_capsule(const SharedLayout& layout);
[[nodiscard]] nb::object array_capsule(const SharedLayout& layout);
[[nodiscard]] nb::object stream_capsule(SharedLayout schema, std::vector<SharedLayout> batches);

// Tells HeldBuffer that the interpreter is about to end.
void note_interpreter_end() noexcept;

}  // namespace tfrkit
