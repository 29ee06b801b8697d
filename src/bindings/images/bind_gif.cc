#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "bindings/arrays/arrays.h"
#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "core/images/gif.h"

namespace tfrkit {
namespace {

constexpr std::size_t kMaxSide = 65535;
// So many pixels a byte are believed; images that compress better are measured first.
constexpr std::size_t kPlausible = 64;

nb::object decode(const InputBytes& data, std::size_t position, std::size_t width,
                  std::size_t height, bool interlaced) {
  if (width == 0 || width > kMaxSide || height == 0 || height > kMaxSide) {
    throw nb::value_error("there is no such frame");
  }
  const auto file = as_octets(data.bytes());
  const GifSize size{width, height, interlaced};
  GifFrame frame{GifEnd::kOk, position};
  if (width * height > file.size() * kPlausible) {
    const nb::gil_scoped_release released;
    frame = measure_gif_frame(file, position, size);
  }
  if (frame.end != GifEnd::kOk) {
    return nb::make_tuple(static_cast<int>(frame.end), frame.position, nb::none());
  }
  Buffer buffer(width * height);
  {
    const nb::gil_scoped_release released;
    frame =
        decode_gif_frame(file, position, size, numbers_in<std::uint8_t>(buffer, width * height));
  }
  if (frame.end != GifEnd::kOk) {
    return nb::make_tuple(static_cast<int>(frame.end), frame.position, nb::none());
  }
  return nb::make_tuple(0, frame.position,
                        ArrayMaker().view(nb::cast(std::move(buffer)), nb::str("uint8"),
                                          nb::make_tuple(height, width)));
}

using Canvas = nb::ndarray<std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

int paint(const Canvas& canvas, const Numbers& pixels, std::size_t left, std::size_t top,
          const InputBytes& colors, int transparent) {
  const GifPlace place{
      left, top, pixels.shape(1), pixels.shape(0), canvas.shape(1), canvas.shape(0), transparent};
  if (canvas.shape(2) != 3 || left > kMaxSide || top > kMaxSide || place.width > kMaxSide ||
      place.height > kMaxSide) {
    throw nb::value_error("there is no such frame");
  }
  const nb::gil_scoped_release released;
  return paint_gif_frame(place, {pixels.data(), pixels.size()}, as_octets(colors.bytes()),
                         {canvas.data(), canvas.size()});
}

}  // namespace

void bind_gif(nb::module_& module) {
  module.def("decode_gif_frame", decode, nb::arg("data"), nb::arg("position"), nb::arg("width"),
             nb::arg("height"), nb::arg("interlaced"),
             nb::sig("def decode_gif_frame(data: typing_extensions.Buffer, position: int, width: "
                     "int, height: int, interlaced: bool) -> tuple[int, int, "
                     "numpy.typing.NDArray[numpy.uint8] | None]"),
             "Return how a frame ends (0 well, 1 cut, 2 defective, 3 too soon), where, and its "
             "colour numbers if it ends well.");
  module.def("paint_gif_frame", paint, nb::arg("canvas"), nb::arg("pixels"), nb::arg("left"),
             nb::arg("top"), nb::arg("colors"), nb::arg("transparent"),
             nb::sig("def paint_gif_frame(canvas: numpy.typing.NDArray[numpy.uint8], pixels: "
                     "numpy.typing.NDArray[numpy.uint8], left: int, top: int, colors: "
                     "typing_extensions.Buffer, transparent: int) -> int"),
             "Paint colour numbers on a canvas; return -1, or the first number without a colour.");
}

}  // namespace tfrkit
