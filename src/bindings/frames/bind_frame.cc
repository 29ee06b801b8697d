#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "core/frames/frame.h"

namespace tfrkit {
namespace {

// What scan_frames returns to Python.
struct Scan {
  FrameScan scan;
  nb::object offsets;
  nb::object lengths;
};

// Outputs of a scan, grown as it goes; what Python gets is an exact copy.
class ScanOutputs {
 public:
  explicit ScanOutputs(std::size_t capacity) { grow(capacity); }

  void grow(std::size_t capacity) {
    auto larger = std::make_unique_for_overwrite<std::int64_t[]>(2 * capacity);
    std::copy_n(memory_.get(), used_, larger.get());
    std::copy_n(memory_.get() + capacity_, used_, larger.get() + capacity);
    memory_ = std::move(larger);
    capacity_ = capacity;
  }

  void use(std::size_t count) noexcept { used_ += count; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  [[nodiscard]] std::int64_t* offsets() const noexcept { return memory_.get(); }
  [[nodiscard]] std::int64_t* lengths() const noexcept { return memory_.get() + capacity_; }
  [[nodiscard]] std::span<std::int64_t> free_offsets() const noexcept {
    return {offsets() + used_, capacity_ - used_};
  }
  [[nodiscard]] std::span<std::int64_t> free_lengths() const noexcept {
    return {lengths() + used_, capacity_ - used_};
  }

 private:
  std::unique_ptr<std::int64_t[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
};

Scan scan(const InputBytes& data, std::int64_t start, std::int64_t stop, bool check_data,
          std::uint64_t max_record_bytes) {
  check_range(start, stop, data.bytes().size());
  const Bytes bytes = data.bytes().first(static_cast<std::size_t>(stop));
  const FrameChecks checks{check_data, max_record_bytes};
  const auto first = static_cast<std::size_t>(start);
  ScanOutputs outputs(std::clamp<std::size_t>((bytes.size() - first) / 256, 16, 16384));
  FrameScan result;
  {
    const nb::gil_scoped_release released;
    result.end = first;
    for (;;) {
      result =
          scan_frames(bytes, result.end, checks, outputs.free_offsets(), outputs.free_lengths());
      outputs.use(result.count);
      if (result.code != Code::kOutputFull) break;
      outputs.grow(2 * outputs.capacity());
    }
  }
  const std::size_t count = outputs.used();
  const Int64Batch batch(2 * count);
  std::copy_n(outputs.offsets(), count, batch.span(0, count).data());
  std::copy_n(outputs.lengths(), count, batch.span(count, count).data());
  return {result, batch.array(0, count).cast(), batch.array(count, count).cast()};
}

std::tuple<std::int64_t, std::uint32_t, std::uint32_t> check(const InputBytes& data,
                                                             const Int64Input& offsets,
                                                             const Int64Input& lengths) {
  const auto starts = entries(offsets);
  const auto sizes = entries(lengths);
  check_same_size("offsets", starts.size(), "lengths", sizes.size());
  FrameCheck result;
  {
    const nb::gil_scoped_release released;
    result = check_frames(data.bytes(), starts, sizes);
  }
  if (result.code == Code::kOutOfRange) {
    raise_out_of_range("offsets and lengths", result.index, data.bytes().size());
  }
  if (result.code == Code::kOk) return {-1, 0, 0};
  return {static_cast<std::int64_t>(result.index), result.stored, result.computed};
}

// Records of a Python sequence as spans; keeps every one alive, and exported where it is mutable.
class Payloads {
 public:
  explicit Payloads(bool accept_str) : accept_str_(accept_str) {}
  Payloads(const Payloads&) = delete;
  Payloads(Payloads&&) = delete;
  Payloads& operator=(const Payloads&) = delete;
  Payloads& operator=(Payloads&&) = delete;
  ~Payloads() {
    for (PyObject* owner : owners_) Py_DECREF(owner);
  }

  // Returns the bytes of `item`, which are not added yet. Raises TypeError for any other type.
  [[nodiscard]] Bytes view(PyObject* item, std::size_t index) {
    char* text = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_Check(item)) {
      PyBytes_AsStringAndSize(item, &text, &size);
      return as_bytes(text, size);
    }
    if (accept_str_ && PyUnicode_Check(item)) {
      const char* const utf8 = PyUnicode_AsUTF8AndSize(item, &size);
      if (utf8 == nullptr) throw nb::python_error();
      return as_bytes(utf8, size);
    }
    const char* const expected = accept_str_ ? "bytes or str" : "bytes";
    if (!PyByteArray_Check(item) && !PyMemoryView_Check(item)) {
      raise_item_type(expected, item, index);
    }
    auto exported = std::make_unique<InputBytes>();
    if (!exported->hold(item)) raise_item_type("contiguous memory", item, index);
    exports_.push_back(std::move(exported));
    return exports_.back()->bytes();
  }

  // Adds `item` with its bytes.
  void add(PyObject* item, Bytes payload) {
    payloads_.push_back(payload);
    owners_.push_back(item);
    Py_INCREF(item);
  }

  [[nodiscard]] std::span<const Bytes> payloads() const noexcept { return payloads_; }

 private:
  static Bytes as_bytes(const char* text, Py_ssize_t size) noexcept {
    return std::as_bytes(std::span(text, static_cast<std::size_t>(size)));
  }

  bool accept_str_;
  std::vector<Bytes> payloads_;
  std::vector<PyObject*> owners_;
  std::vector<std::unique_ptr<InputBytes>> exports_;
};

std::tuple<Buffer, std::size_t, std::size_t> frame_records(nb::handle records, std::int64_t first,
                                                           std::int64_t max_bytes,
                                                           bool accept_str) {
  const bool is_list = PyList_Check(records.ptr());
  if (!is_list && !PyTuple_Check(records.ptr())) {
    throw nb::type_error("expected a list or a tuple of records");
  }
  const Py_ssize_t count = is_list ? PyList_Size(records.ptr()) : PyTuple_Size(records.ptr());
  if (first < 0 || first > count) {
    throw nb::value_error(
        ("expected first from 0 to " + std::to_string(count) + " but got " + std::to_string(first))
            .c_str());
  }
  const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(max_bytes, 0));
  Payloads gathered(accept_str);
  std::size_t used = 0;
  Py_ssize_t next = first;
  for (; next < count; ++next) {
    PyObject* const item =
        is_list ? PyList_GetItem(records.ptr(), next) : PyTuple_GetItem(records.ptr(), next);
    if (item == nullptr) throw nb::python_error();
    const Bytes payload = gathered.view(item, static_cast<std::size_t>(next));
    const std::size_t frame = payload.size() + kFrameOverheadBytes;
    if (next > first && (used > limit || frame > limit - used)) break;
    gathered.add(item, payload);
    used += frame;
  }
  Buffer buffer(used);
  {
    const nb::gil_scoped_release released;
    write_frames(gathered.payloads(), buffer.bytes());
  }
  return {std::move(buffer), used, static_cast<std::size_t>(next)};
}

Buffer frame_block(const InputBytes& data, const Int64Input& offsets, const Int64Input& lengths) {
  const auto starts = entries(offsets);
  const auto sizes = entries(lengths);
  check_same_size("offsets", starts.size(), "lengths", sizes.size());
  std::size_t size = 0;
  const std::size_t good = measure_block(data.bytes(), starts, sizes, size);
  if (good != starts.size()) raise_out_of_range("offsets and lengths", good, data.bytes().size());
  Buffer buffer(size);
  Code code = Code::kOk;
  {
    const nb::gil_scoped_release released;
    code = fill_block(data.bytes(), starts, sizes, buffer.bytes());
  }
  if (code != Code::kOk) throw nb::value_error("offsets or lengths changed during the call");
  return buffer;
}

void bind_scan(nb::module_& module) {
  nb::class_<Scan>(module, "Scan", "What scan_frames found, and why it stopped.")
      .def_prop_ro(
          "offsets", [](const Scan& self) { return self.offsets; },
          nb::for_getter(nb::sig("def offsets(self) -> numpy.typing.NDArray[numpy.int64]")),
          "Start of each payload in the data.")
      .def_prop_ro(
          "lengths", [](const Scan& self) { return self.lengths; },
          nb::for_getter(nb::sig("def lengths(self) -> numpy.typing.NDArray[numpy.int64]")),
          "Size of each payload in bytes.")
      .def_prop_ro(
          "end", [](const Scan& self) { return self.scan.end; },
          "Position just after the last accepted frame.")
      .def_prop_ro(
          "code", [](const Scan& self) { return static_cast<int>(self.scan.code); },
          "Why the scan stopped: OK, NEED_MORE, BAD_LENGTH, BAD_DATA or TOO_LARGE.")
      .def_prop_ro(
          "need", [](const Scan& self) { return self.scan.need; },
          "NEED_MORE: bytes needed from `end` on to go further.")
      .def_prop_ro(
          "length", [](const Scan& self) { return self.scan.length; },
          "Length claimed by the frame at `end`, where its header is there, else 0.")
      .def_prop_ro(
          "stored", [](const Scan& self) { return self.scan.stored; },
          "BAD_LENGTH, BAD_DATA: the masked CRC in the frame.")
      .def_prop_ro(
          "computed", [](const Scan& self) { return self.scan.computed; },
          "BAD_LENGTH, BAD_DATA: the masked CRC it should have.");
}

}  // namespace

void bind_frame(nb::module_& module) {
  module.attr("OK") = static_cast<int>(Code::kOk);
  module.attr("NEED_MORE") = static_cast<int>(Code::kNeedMore);
  module.attr("BAD_LENGTH") = static_cast<int>(Code::kBadLength);
  module.attr("BAD_DATA") = static_cast<int>(Code::kBadData);
  module.attr("TOO_LARGE") = static_cast<int>(Code::kTooLarge);
  bind_scan(module);
  module.def("scan_frames", scan, nb::arg("data"), nb::arg("start"), nb::arg("stop"),
             nb::arg("check_data"), nb::arg("max_record_bytes"),
             "Walk the frames in data[start:stop] up to the first that is cut or damaged.");
  module.def(
      "check_frames", check, nb::arg("data"), nb::arg("offsets"), nb::arg("lengths"),
      "Check the CRCs of payloads whose footers follow them: (index of the first bad one or\n"
      "-1, stored masked CRC, computed masked CRC).");
  module.def(
      "frame_records", frame_records, nb::arg("records"), nb::arg("first"), nb::arg("max_bytes"),
      nb::arg("accept_str") = true,
      nb::sig("def frame_records(records: collections.abc.Sequence[bytes | bytearray | "
              "memoryview | str], first: int, max_bytes: int, accept_str: bool = True) -> "
              "tuple[Buffer, int, int]"),
      "Write the frames of records[first:], as many as fit in `max_bytes` but at least one:\n"
      "(buffer, bytes used, index of the next record).");
  module.def("frame_block", frame_block, nb::arg("data"), nb::arg("offsets"), nb::arg("lengths"),
             "Return the frames of the payloads at `offsets` in `data`.");
}

}  // namespace tfrkit
