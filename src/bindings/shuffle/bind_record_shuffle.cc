#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.h"
#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/arrays/pool.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "bindings/frames/record_inputs.h"
#include "bindings/lock.h"
#include "core/shuffle/record_cells.h"
#include "core/shuffle/shuffle.h"

namespace tfrkit {
namespace {

constexpr std::int64_t kFrameBytes = 16;  // round a record: header and footer

// Memory for copies of records, which serves again.
RecordCells::OwnMemory pooled(std::size_t size_bytes) {
  const PoolBlock block = pool_take(size_bytes);
  if (block.memory == nullptr) throw std::bad_alloc();
  return {block.memory, [block](std::byte*) { pool_give(block); }};
}

// Python threads may share it: one at a time works on it.
struct RecordShuffle {
  RecordShuffle() : buffer(0, 0), cells(pooled) {}
  ShuffleBuffer buffer;  // of rows that are numbers of cells; their chunk is always 0
  RecordCells cells;
  std::vector<std::int64_t> zeros, waiting, sizes;  // of records that are held and not yet added
  std::size_t next = 0;                             // of those that are held
  std::mutex lock;

  // Returns records that are held. Precondition: the lock is held. Throws if there are fewer.
  [[nodiscard]] AddedRows take_waiting(std::size_t count) {
    if (count > waiting.size() - next) throw nb::value_error("there are not so many records held");
    const std::size_t at = std::exchange(next, next + count);
    return {std::span(zeros).subspan(at, count), std::span(waiting).subspan(at, count),
            std::span(sizes).subspan(at, count)};
  }
};

// Records that go out, without the GIL until arrays() are made.
class Outgoing {
 public:
  // Has all memory that is needed, so that nothing is lost for want of some. Precondition: the lock
  // of the cells is held.
  Outgoing(std::size_t count, const RecordCells& cells)
      : zeros_(count), cells_(count), numbers_(4 * count * sizeof(std::int64_t)) {
    refs_.records.resize(count);
    refs_.kept.reserve(std::min(count, cells.runs()));
  }
  [[nodiscard]] DrawnRows rows() noexcept { return {zeros_, cells_}; }

  void take_from(RecordCells& cells) noexcept {
    cells.take(cells_, refs_.records, {column(1), column(2), column(3)}, refs_.kept);
    std::ranges::transform(refs_.records, column(0).begin(), [](const Bytes& record) {
      return static_cast<std::int64_t>(record.size());
    });
  }

  // Returns the records, lengths, files, numbers and frames.
  [[nodiscard]] nb::tuple arrays() {
    const ArrayMaker make;
    const std::size_t count = cells_.size();
    const nb::object memory = nb::cast(std::move(numbers_));
    const auto view = [&](std::size_t i) {
      return make.view(memory, ArrayType::kInt64, count, i * count * sizeof(std::int64_t));
    };
    return nb::make_tuple(nb::cast(std::move(refs_)), view(0), view(1), view(2), view(3));
  }

 private:
  [[nodiscard]] std::span<std::int64_t> column(std::size_t i) const noexcept {
    const std::size_t count = cells_.size();
    return numbers_in<std::int64_t>(numbers_, count, i * count * sizeof(std::int64_t));
  }

  std::vector<std::int64_t> zeros_;
  std::vector<std::int64_t> cells_;
  Buffer numbers_;
  RecordRefs refs_;
};

void hold(RecordShuffle& self, nb::handle pieces, const Int64Input& files,
          const Int64Input& numbers, const Int64Input& frames, const Int64Input& elements,
          bool stay) {
  const auto inputs = std::make_shared<const RecordInputs>(pieces);
  const std::span<const Bytes> records = inputs->records();
  const RecordPlaces<const std::int64_t> places{entries(files), entries(numbers), entries(frames)};
  check_same_size("records", records.size(), "files", places.files.size());
  check_same_size("records", records.size(), "numbers", places.numbers.size());
  check_same_size("records", records.size(), "frames", places.frames.size());
  check_same_size("records", records.size(), "elements", elements.shape(0));
  const PatientLock locked(self.lock);
  if (self.next != self.waiting.size()) throw nb::value_error("some records are held already");
  std::vector<std::int64_t> sizes(records.size());
  std::vector<std::int64_t> cells(records.size());
  std::ranges::transform(records, sizes.begin(), [](const Bytes& record) {
    return static_cast<std::int64_t>(record.size()) + kFrameBytes;
  });
  self.zeros.assign(records.size(), 0);
  {
    const nb::gil_scoped_release released;
    self.cells.add(records, places, entries(elements), stay ? inputs : nullptr, cells);
  }
  self.waiting = std::move(cells);
  self.sizes = std::move(sizes);
  self.next = 0;
  self.cells.let_go();
}

void append(RecordShuffle& self, std::size_t count) {
  const PatientLock locked(self.lock);
  const AddedRows added = self.take_waiting(count);
  const nb::gil_scoped_release released;
  self.buffer.append(added);
}

// Draws records; if kAdds, after each of as many that are held and come into the buffer.
template <bool kAdds>
nb::tuple draw(RecordShuffle& self, std::size_t count, std::size_t window) {
  const PatientLock locked(self.lock);
  if ((!kAdds || window != ShuffleBuffer::kWhole) && !self.buffer.has(count, window)) {
    throw nb::value_error("there are not so many elements");
  }
  Outgoing outgoing(count, self.cells);
  const AddedRows added = kAdds ? self.take_waiting(count) : AddedRows{};
  {
    const nb::gil_scoped_release released;
    if constexpr (kAdds) {
      self.buffer.exchange(added, outgoing.rows(), window);
    } else {
      self.buffer.draw(outgoing.rows(), window);
    }
    outgoing.take_from(self.cells);
  }
  self.cells.let_go();
  return outgoing.arrays();
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
  nb::class_<RecordShuffle>(module, "RecordShuffle", "Records, given out in TensorFlow's order.")
      .def(nb::init<>())
      .def("__len__",
           [](RecordShuffle& self) {
             const PatientLock locked(self.lock);
             return self.buffer.size();
           })
      .def("hold", hold, nb::arg("pieces"), nb::arg("files"), nb::arg("numbers"), nb::arg("frames"),
           nb::arg("elements"), nb::arg("stay"),
           "Keep records, where each stands, and the number that it is known by. If they may stay\n"
           "where they are, their blocks are kept, until most of their records are gone.")
      .def("append", append, nb::arg("count"), "Add the next records that are held.")
      .def("draw", draw<false>, nb::arg("count"), nb::arg("window") = ShuffleBuffer::kWhole,
           nb::sig("def draw(self, count: int, window: int = 0) -> "
                   "tuple[RecordRefs, numpy.typing.NDArray[numpy.int64], "
                   "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], "
                   "numpy.typing.NDArray[numpy.int64]]"),
           "Draw from the oldest `window` records (0: all). Return them where they lie, their\n"
           "lengths, and where they stand: files, numbers, frames.")
      .def("exchange", draw<true>, nb::arg("count"), nb::arg("window") = ShuffleBuffer::kWhole,
           nb::sig("def exchange(self, count: int, window: int = 0) -> "
                   "tuple[RecordRefs, numpy.typing.NDArray[numpy.int64], "
                   "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], "
                   "numpy.typing.NDArray[numpy.int64]]"),
           "Add the next records that are held, and draw one after each; return what `draw` does.")
      .def("places", places, "Return of all records, in order: files, numbers, frames, elements.")
      .def(
          "reseed",
          [](RecordShuffle& self, std::uint64_t seed, std::uint64_t seed2, std::uint64_t drawn) {
            const PatientLock locked(self.lock);
            self.buffer.reseed(seed, seed2, drawn);
          },
          nb::arg("seed"), nb::arg("seed2"), nb::arg("drawn") = 0,
          "Begin another stream of random numbers, after its first `drawn`.")
      .def_prop_ro("live_bytes",
                   [](RecordShuffle& self) {
                     const PatientLock locked(self.lock);
                     return self.buffer.live_bytes();
                   })
      .def_prop_ro("held_bytes",
                   [](RecordShuffle& self) {
                     const PatientLock locked(self.lock);
                     return self.cells.held_bytes();
                   })
      .def_prop_ro("copied_bytes", [](RecordShuffle& self) {
        const PatientLock locked(self.lock);
        return self.cells.copied_bytes();
      });
}

}  // namespace tfrkit
