#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "bindings/arrays/arrays.h"
#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "bindings/parallel.h"
#include "core/bytes/pad.h"

namespace tfrkit {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;  // of output; less is not worth a thread

nb::object pad(const InputBytes& values, const Int64Input& splits, std::int64_t width,
               const InputBytes& filler) {
  const Rows rows{values.bytes(), entries(splits), filler.bytes().size()};
  const std::size_t count = rows.count();
  if (width < 0) throw nb::value_error("expected a width of at least 0");
  const auto items = static_cast<std::size_t>(width);
  constexpr auto kMax = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  if (rows.item_bytes != 0 && items > kMax / rows.item_bytes) throw std::bad_alloc();
  const std::size_t row_bytes = items * rows.item_bytes;
  if (row_bytes != 0 && count > kMax / row_bytes) throw std::bad_alloc();
  Buffer buffer(count * row_bytes);
  const std::size_t step =
      std::max<std::size_t>(1, kChunkBytes / std::max<std::size_t>(row_bytes, 1));
  std::atomic<bool> good = true;
  {
    const nb::gil_scoped_release released;
    parallel_for((count + step - 1) / step, 0, [&](std::size_t chunk) noexcept {
      const std::size_t first = chunk * step;
      const std::size_t last = std::min(first + step, count);
      const auto target = buffer.bytes().subspan(first * row_bytes, (last - first) * row_bytes);
      if (!pad_rows(rows, first, items, filler.bytes(), target)) good = false;
    });
  }
  if (!good) throw nb::index_error("a row lies outside the values");
  return ArrayMaker().own(std::move(buffer), ArrayType::kUint8, count * row_bytes);
}

}  // namespace

void bind_pad(nb::module_& module) {
  module.def(
      "pad_rows", pad, nb::arg("values"), nb::arg("splits"), nb::arg("width"), nb::arg("filler"),
      nb::sig("def pad_rows(values: typing_extensions.Buffer, splits: "
              "numpy.typing.NDArray[numpy.int64], width: int, filler: "
              "typing_extensions.Buffer) -> numpy.typing.NDArray[numpy.uint8]"),
      "Return rows of items, each as wide as the filler, cut and filled up to `width` items.");
}

}  // namespace tfrkit
