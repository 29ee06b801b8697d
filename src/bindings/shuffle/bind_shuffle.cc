#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "bindings/lock.h"
#include "core/shuffle/philox.h"
#include "core/shuffle/shuffle.h"

namespace tfrkit {
namespace {

using Uint32Array = nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<1>>;
using Uint8Input = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using RowArrays = std::pair<Int64Array, Int64Array>;

// Python threads may share both: one at a time works on it.
struct SharedPhilox {
  SharedPhilox(std::uint64_t seed, std::uint64_t seed2, std::uint64_t block)
      : random(seed, seed2, block) {}
  Philox random;
  std::mutex lock;
};

struct SharedShuffle {
  SharedShuffle(std::uint64_t seed, std::uint64_t seed2) : buffer(seed, seed2) {}
  ShuffleBuffer buffer;
  std::mutex lock;
};

Uint32Array uint32(SharedPhilox& self, std::size_t count) {
  auto memory = std::make_unique_for_overwrite<std::uint32_t[]>(count);
  {
    const nb::gil_scoped_release released;
    const std::scoped_lock locked(self.lock);
    self.random.fill({memory.get(), count});
  }
  std::uint32_t* const data = memory.get();
  const nb::capsule owner(data,
                          [](void* held) noexcept { delete[] static_cast<std::uint32_t*>(held); });
  (void)memory.release();
  return {data, {count}, owner};
}

// The two arrays that rows go into.
class Target {
 public:
  explicit Target(std::size_t count) : memory_(2 * count), count_(count) {}
  [[nodiscard]] DrawnRows rows() const noexcept {
    return {memory_.span(0, count_), memory_.span(count_, count_)};
  }
  [[nodiscard]] RowArrays arrays() const {
    return {memory_.array(0, count_), memory_.array(count_, count_)};
  }

 private:
  Int64Batch memory_;
  std::size_t count_;
};

// Elements that Python hands in, checked.
class Added {
 public:
  Added(const Int64Input& chunks, const Int64Input& rows, const Int64Input& sizes)
      : rows_{entries(chunks), entries(rows), entries(sizes)} {
    check_same_size("chunks", rows_.chunks.size(), "rows", rows_.rows.size());
    check_same_size("chunks", rows_.chunks.size(), "sizes", rows_.sizes_bytes.size());
    const std::size_t good = ShuffleBuffer::check(rows_);
    if (good != rows_.chunks.size()) {
      throw nb::index_error("expected chunks and rows of 0 to 2^31 - 2");
    }
  }
  [[nodiscard]] const AddedRows& rows() const noexcept { return rows_; }

 private:
  AddedRows rows_;
};

// Precondition: the lock is held.
void check_window(const SharedShuffle& self, std::size_t count, std::size_t window) {
  if (!self.buffer.has(count, window)) throw nb::value_error("there are not so many elements");
}

void append(SharedShuffle& self, const Int64Input& chunks, const Int64Input& rows,
            const Int64Input& sizes) {
  const Added added(chunks, rows, sizes);
  const nb::gil_scoped_release released;
  const std::scoped_lock locked(self.lock);
  self.buffer.append(added.rows());
}

RowArrays draw(SharedShuffle& self, std::size_t count, std::size_t window) {
  const Target target(count);
  {
    const nb::gil_scoped_release released;
    const std::scoped_lock locked(self.lock);
    check_window(self, count, window);
    self.buffer.draw(target.rows(), window);
  }
  return target.arrays();
}

RowArrays exchange(SharedShuffle& self, const Int64Input& chunks, const Int64Input& rows,
                   const Int64Input& sizes, std::size_t window) {
  const Added added(chunks, rows, sizes);
  const std::size_t count = chunks.shape(0);
  const Target target(count);
  {
    const nb::gil_scoped_release released;
    const std::scoped_lock locked(self.lock);
    if (window != ShuffleBuffer::kWhole) check_window(self, count, window);
    self.buffer.exchange(added.rows(), target.rows(), window);
  }
  return target.arrays();
}

[[nodiscard]] std::span<const std::uint8_t> marks_of(const Uint8Input& chosen) noexcept {
  return {chosen.data(), chosen.shape(0)};
}

std::tuple<Int64Array, Int64Array, Int64Array> contents(SharedShuffle& self,
                                                        const Uint8Input& chosen) {
  const auto count = [&] {
    const PatientLock locked(self.lock);
    return self.buffer.count_chosen(marks_of(chosen));
  };
  const Target target(count());
  const std::size_t size = target.rows().rows.size();
  const Int64Batch places(size);
  {
    const nb::gil_scoped_release released;
    const std::scoped_lock locked(self.lock);
    if (self.buffer.count_chosen(marks_of(chosen)) != size) {
      throw nb::value_error("the buffer changed during the call");
    }
    self.buffer.contents(marks_of(chosen), target.rows(), places.span(0, size));
  }
  const auto [chunks, rows] = target.arrays();
  return {chunks, rows, places.array(0, size)};
}

void relocate(SharedShuffle& self, const Int64Input& places, const Int64Input& chunks,
              const Int64Input& rows) {
  const Added names(chunks, rows, rows);
  check_same_size("places", places.shape(0), "chunks", chunks.shape(0));
  const nb::gil_scoped_release released;
  const std::scoped_lock locked(self.lock);
  const auto size = static_cast<std::int64_t>(self.buffer.size());
  if (!std::ranges::all_of(entries(places), [&](auto at) { return at >= 0 && at < size; })) {
    throw nb::index_error("expected places of elements");
  }
  self.buffer.relocate(entries(places), names.rows());
}

Int64Array copy_of(std::span<const std::int64_t> numbers) {
  const Int64Batch memory(numbers.size());
  std::ranges::copy(numbers, memory.span(0, numbers.size()).begin());
  return memory.array(0, numbers.size());
}

void bind_philox(nb::module_& module) {
  nb::class_<SharedPhilox>(module, "Philox", "A stream of Philox4x32-10, as TensorFlow seeds it.")
      .def(nb::init<std::uint64_t, std::uint64_t, std::uint64_t>(), nb::arg("seed"),
           nb::arg("seed2"), nb::arg("block") = 0,
           "Start at block `block` of the stream whose key is `seed`; `seed2` is the high half of\n"
           "the counter.")
      .def("uint32", uint32, nb::arg("count"), "Return the next numbers.")
      .def(
          "skip",
          [](SharedPhilox& self, std::uint64_t count) {
            const PatientLock locked(self.lock);
            self.random.skip(count);
          },
          nb::arg("count"), "Pass over numbers, in constant time.");
}

}  // namespace

void bind_shuffle(nb::module_& module) {
  bind_philox(module);
  nb::class_<SharedShuffle>(module, "ShuffleBuffer",
                            "References (chunk, row) to elements, given out in TensorFlow's order.")
      .def(nb::init<std::uint64_t, std::uint64_t>(), nb::arg("seed"), nb::arg("seed2"))
      .def("__len__", [](const SharedShuffle& self) { return self.buffer.size(); })
      .def("append", append, nb::arg("chunks"), nb::arg("rows"), nb::arg("sizes"),
           "Add elements: row rows[i] of chunk chunks[i], of sizes[i] bytes.")
      .def("draw", draw, nb::arg("count"), nb::arg("window") = ShuffleBuffer::kWhole,
           "Draw from the oldest `window` elements (0: all); return chunks and rows.")
      .def("exchange", exchange, nb::arg("chunks"), nb::arg("rows"), nb::arg("sizes"),
           nb::arg("window") = ShuffleBuffer::kWhole,
           "Add elements, and draw one after each; return the chunks and rows of the drawn.")
      .def("contents", contents, nb::arg("chosen"),
           "Return chunks, rows and places of all elements of the marked chunks, in order.")
      .def("relocate", relocate, nb::arg("places"), nb::arg("chunks"), nb::arg("rows"),
           "Assign other chunks and rows to the elements at places that `contents` returned.")
      .def(
          "reseed",
          [](SharedShuffle& self, std::uint64_t seed, std::uint64_t seed2, std::uint64_t drawn) {
            const PatientLock locked(self.lock);
            self.buffer.reseed(seed, seed2, drawn);
          },
          nb::arg("seed"), nb::arg("seed2"), nb::arg("drawn") = 0,
          "Begin another stream of random numbers, after its first `drawn`.")
      .def(
          "take_empty",
          [](SharedShuffle& self) {
            const PatientLock locked(self.lock);
            return self.buffer.take_empty();
          },
          "Return the chunks that lost their last element since the last call.")
      .def_prop_ro("live_bytes", [](const SharedShuffle& self) { return self.buffer.live_bytes(); })
      .def(
          "live",
          [](SharedShuffle& self) {
            const PatientLock locked(self.lock);
            return std::pair(copy_of(self.buffer.live()), copy_of(self.buffer.live_bytes_of()));
          },
          "Return how many elements are live, and how many bytes, by chunk.");
}

}  // namespace tfrkit
