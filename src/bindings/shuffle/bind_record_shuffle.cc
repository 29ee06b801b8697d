#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.h"
#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "bindings/frames/record_inputs.h"
#include "bindings/lock.h"
#include "core/shuffle/record_cells.h"
#include "core/shuffle/shuffle.h"

namespace tfrkit {
namespace {

constexpr std::int64_t kFrameBytes = 16;  // round a record: header and footer

// Python threads may share it: one at a time works on it.
struct RecordShuffle {
  RecordShuffle() : buffer(0, 0) {}
  ShuffleBuffer buffer;  // of rows that are numbers of cells; their chunk is always 0
  RecordCells cells;
  std::mutex lock;
};

// Records that Python hands in. Make and destroy it with the GIL.
class Incoming {
 public:
  Incoming(nb::handle pieces, const Int64Input& files, const Int64Input& numbers,
           const Int64Input& frames, const Int64Input& elements)
      : pieces_(pieces),
        places_{entries(files), entries(numbers), entries(frames)},
        elements_(entries(elements)) {
    const std::size_t count = pieces_.records().size();
    check_same_size("records", count, "files", places_.files.size());
    check_same_size("records", count, "numbers", places_.numbers.size());
    check_same_size("records", count, "frames", places_.frames.size());
    check_same_size("records", count, "elements", elements_.size());
    zeros_.resize(count);
    cells_.resize(count);
    sizes_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      sizes_[i] = static_cast<std::int64_t>(pieces_.records()[i].size()) + kFrameBytes;
    }
  }
  [[nodiscard]] std::size_t count() const noexcept { return cells_.size(); }

  // Copies the records into cells. What is returned refers to this object.
  [[nodiscard]] AddedRows add_to(RecordCells& cells) {
    cells.add(pieces_.records(), places_, elements_, cells_);
    return {zeros_, cells_, sizes_};
  }

 private:
  RecordInputs pieces_;
  RecordPlaces<const std::int64_t> places_;
  std::span<const std::int64_t> elements_;
  std::vector<std::int64_t> zeros_;
  std::vector<std::int64_t> cells_;
  std::vector<std::int64_t> sizes_;
};

// Records that go out, without the GIL until arrays() are made.
class Outgoing {
 public:
  explicit Outgoing(std::size_t count)
      : zeros_(count), cells_(count), numbers_(5 * count * sizeof(std::int64_t)) {}
  [[nodiscard]] DrawnRows rows() noexcept { return {zeros_, cells_}; }

  // Returns the memory that the records are in now.
  [[nodiscard]] Buffer take_from(RecordCells& cells) {
    Buffer data(cells.measure(cells_));
    cells.take(cells_, data.bytes(), column(0), column(1), {column(2), column(3), column(4)});
    return data;
  }

  // Returns data, offsets, lengths, files, numbers and frames. Precondition: take_from() returned
  // the data.
  [[nodiscard]] nb::tuple arrays(Buffer&& taken) {
    const ArrayMaker make;
    const std::size_t count = cells_.size();
    const std::size_t size = taken.size();
    const nb::object data = make.own(std::move(taken), ArrayType::kUint8, size);
    const nb::object memory = nb::cast(std::move(numbers_));
    const auto view = [&](std::size_t i) {
      return make.view(memory, ArrayType::kInt64, count, i * count * sizeof(std::int64_t));
    };
    return nb::make_tuple(data, view(0), view(1), view(2), view(3), view(4));
  }

 private:
  [[nodiscard]] std::span<std::int64_t> column(std::size_t i) const noexcept {
    const std::size_t count = cells_.size();
    return numbers_in<std::int64_t>(numbers_, count, i * count * sizeof(std::int64_t));
  }

  std::vector<std::int64_t> zeros_;
  std::vector<std::int64_t> cells_;
  Buffer numbers_;
};

void append(RecordShuffle& self, nb::handle pieces, const Int64Input& files,
            const Int64Input& numbers, const Int64Input& frames, const Int64Input& elements) {
  Incoming incoming(pieces, files, numbers, frames, elements);
  const nb::gil_scoped_release released;
  const std::scoped_lock locked(self.lock);
  self.buffer.append(incoming.add_to(self.cells));
}

void check_window(const RecordShuffle& self, std::size_t count, std::size_t window) {
  if (!self.buffer.has(count, window)) throw nb::value_error("there are not so many elements");
}

nb::tuple draw(RecordShuffle& self, std::size_t count, std::size_t window) {
  {
    const PatientLock locked(self.lock);
    check_window(self, count, window);
  }
  Outgoing outgoing(count);
  return outgoing.arrays([&] {
    const nb::gil_scoped_release released;
    const std::scoped_lock locked(self.lock);
    check_window(self, count, window);
    self.buffer.draw(outgoing.rows(), window);
    return outgoing.take_from(self.cells);
  }());
}

nb::tuple exchange(RecordShuffle& self, nb::handle pieces, const Int64Input& files,
                   const Int64Input& numbers, const Int64Input& frames, const Int64Input& elements,
                   std::size_t window) {
  Incoming incoming(pieces, files, numbers, frames, elements);
  Outgoing outgoing(incoming.count());
  return outgoing.arrays([&] {
    const nb::gil_scoped_release released;
    const std::scoped_lock locked(self.lock);
    if (window != ShuffleBuffer::kWhole) check_window(self, incoming.count(), window);
    self.buffer.exchange(incoming.add_to(self.cells), outgoing.rows(), window);
    return outgoing.take_from(self.cells);
  }());
}

std::tuple<Int64Array, Int64Array, Int64Array, Int64Array> places(RecordShuffle& self) {
  const PatientLock locked(self.lock);
  const std::size_t count = self.buffer.size();
  const Int64Batch memory(4 * count);
  std::vector<std::int64_t> zeros(count);
  std::vector<std::int64_t> cells(count);
  std::vector<std::int64_t> order(count);
  const std::uint8_t all = 1;
  self.buffer.contents({&all, 1}, {zeros, cells}, order);
  self.cells.locate(
      cells, {memory.span(0, count), memory.span(count, count), memory.span(2 * count, count)},
      memory.span(3 * count, count));
  return {memory.array(0, count), memory.array(count, count), memory.array(2 * count, count),
          memory.array(3 * count, count)};
}

}  // namespace

void bind_record_shuffle(nb::module_& module) {
  nb::class_<RecordShuffle>(module, "RecordShuffle",
                            "Copies of records, given out in TensorFlow's order.")
      .def(nb::init<>())
      .def("__len__", [](const RecordShuffle& self) { return self.buffer.size(); })
      .def("append", append, nb::arg("pieces"), nb::arg("files"), nb::arg("numbers"),
           nb::arg("frames"), nb::arg("elements"),
           "Add records, where each stands, and the number that it is known by.")
      .def("draw", draw, nb::arg("count"), nb::arg("window") = ShuffleBuffer::kWhole,
           nb::sig("def draw(self, count: int, window: int = 0) -> "
                   "tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.int64], "
                   "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], "
                   "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]"),
           "Draw from the oldest `window` records (0: all). Return the memory that they are in,\n"
           "their offsets and lengths there, and where they stand: files, numbers, frames.")
      .def("exchange", exchange, nb::arg("pieces"), nb::arg("files"), nb::arg("numbers"),
           nb::arg("frames"), nb::arg("elements"), nb::arg("window") = ShuffleBuffer::kWhole,
           nb::sig("def exchange(self, pieces: object, files: "
                   "numpy.typing.NDArray[numpy.int64], numbers: "
                   "numpy.typing.NDArray[numpy.int64], frames: "
                   "numpy.typing.NDArray[numpy.int64], elements: "
                   "numpy.typing.NDArray[numpy.int64], window: int = 0) -> "
                   "tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.int64], "
                   "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], "
                   "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]"),
           "Add records, and draw one after each; return what `draw` does.")
      .def("places", places, "Return of all records, in order: files, numbers, frames, elements.")
      .def(
          "reseed",
          [](RecordShuffle& self, std::uint64_t seed, std::uint64_t seed2, std::uint64_t drawn) {
            const PatientLock locked(self.lock);
            self.buffer.reseed(seed, seed2, drawn);
          },
          nb::arg("seed"), nb::arg("seed2"), nb::arg("drawn") = 0,
          "Begin another stream of random numbers, after its first `drawn`.")
      .def_prop_ro("live_bytes", [](const RecordShuffle& self) { return self.buffer.live_bytes(); })
      .def_prop_ro("held_bytes", [](const RecordShuffle& self) { return self.cells.held_bytes(); });
}

}  // namespace tfrkit
