#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "core/images/image_header.h"

namespace tfrkit {
namespace {

constexpr std::array<const char*, kImageFormats> kNames{"", "JPEG", "PNG", "GIF", "WebP", "BMP"};

nb::object read_header(const InputBytes& head, std::size_t file_bytes) {
  const ImageHeader header = read_image_header(head.bytes(), file_bytes);
  if (header.format == ImageFormat::kNone) return nb::none();
  return nb::make_tuple(kNames[static_cast<std::size_t>(header.format)], header.width,
                        header.height);
}

nb::object read_jpeg(const InputBytes& data, std::size_t begin, std::size_t end) {
  const Bytes bytes = data.bytes();
  if (begin > end || end > bytes.size()) throw nb::index_error("begin and end are not in the data");
  JpegFrame frame;
  if (!read_usual_jpeg(bytes.subspan(begin, end - begin), frame)) return nb::none();
  return nb::make_tuple("JPEG", frame.height, frame.width, frame.channels);
}

}  // namespace

void bind_image_header(nb::module_& module) {
  module.def("read_image_header", read_header, nb::arg("head"), nb::arg("file_bytes"),
             nb::sig("def read_image_header(head: typing_extensions.Buffer, file_bytes: int) -> "
                     "tuple[str, int, int] | None"),
             "Return the format, width and height of an image whose file begins with `head`, or "
             "None if it is not an image. The sizes are 0 where `head` does not say them.");
  module.def(
      "read_usual_jpeg", read_jpeg, nb::arg("data"), nb::arg("begin"), nb::arg("end"),
      nb::sig("def read_usual_jpeg(data: typing_extensions.Buffer, begin: int, end: int) -> "
              "tuple[str, int, int, int] | None"),
      "Return \"JPEG\", height, width and channels of the JPEG file that lies in `data` from\n"
      "`begin` to `end`; None if it is not a whole one in its usual form.");
}

}  // namespace tfrkit
