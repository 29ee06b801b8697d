#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "bindings/arrays/arrays.h"
#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "core/images/png.h"

namespace tfrkit {
namespace {

using Tables = nb::ndarray<const std::uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using HeaderFields = std::array<std::uint32_t, 5>;
using KeyFields = std::array<std::uint16_t, 3>;

PngHeader header_of(const HeaderFields& fields) {
  const auto small = [](std::uint32_t value) {
    return static_cast<std::uint8_t>(std::min<std::uint32_t>(value, 255));
  };
  const PngHeader header{fields[0], fields[1], small(fields[2]),
                         static_cast<PngColor>(small(fields[3])), fields[4] != 0};
  if (!is_valid(header)) throw nb::value_error("there is no such PNG image");
  return header;
}

template <std::size_t kSize>
void fill(std::array<std::uint8_t, kSize>& target, const InputBytes& source) {
  const Octets given = as_octets(source.bytes());
  std::copy_n(given.begin(), std::min(given.size(), kSize), target.begin());
}

void set_tables(PngConversion& conversion, const PngHeader& header, const Tables& tables) {
  const std::size_t entries = header.depth == 16 ? 65536 : 256;
  if (tables.shape(0) != 3 || tables.shape(1) != entries) {
    throw nb::value_error("expected three tables with an entry for every sample");
  }
  conversion.to_linear = {tables.data(), entries};
  conversion.from_linear = {tables.data() + entries, entries};
  conversion.equal = {tables.data() + 2 * entries, entries};
}

std::uint64_t raw_bytes(const HeaderFields& header) { return png_raw_bytes(header_of(header)); }

template <typename Out>
Code decode_into(const PngHeader& header, const PngConversion& conversion, const InputBytes& raw,
                 std::size_t count, const Buffer& target) {
  const std::size_t scratch_bytes = png_scratch_bytes(header);
  const auto scratch = std::make_unique_for_overwrite<std::uint8_t[]>(scratch_bytes);
  const nb::gil_scoped_release released;
  return decode_png_rows(header, conversion, as_octets(raw.bytes()),
                         std::span(scratch.get(), scratch_bytes), numbers_in<Out>(target, count));
}

nb::object decode(const InputBytes& raw, const HeaderFields& fields, int channels, int bits,
                  const InputBytes& palette, const InputBytes& opacities,
                  const std::optional<KeyFields>& key, std::uint16_t opaque,
                  const std::optional<Tables>& tables) {
  const PngHeader header = header_of(fields);
  if (channels < 1 || channels > 4 || (channels == 2 && header.color != PngColor::kGrayAlpha) ||
      (bits != 8 && bits != 16)) {
    throw nb::value_error("there is no such conversion of a PNG image");
  }
  // Whoever claims a large image has to bring its rows first.
  if (raw.bytes().size() != png_raw_bytes(header)) {
    throw nb::value_error("expected the bytes of all rows, no more and no less");
  }
  PngConversion conversion;
  conversion.channels = channels;
  conversion.opaque = opaque;
  conversion.has_key = key.has_value();
  if (key) conversion.key = *key;
  fill(conversion.palette, palette);
  fill(conversion.opacities, opacities);
  if (tables) set_tables(conversion, header, *tables);
  const std::size_t count =
      std::size_t{header.width} * header.height * static_cast<std::size_t>(channels);
  Buffer buffer(count * static_cast<std::size_t>(bits / 8));
  const Code code = bits == 8 ? decode_into<std::uint8_t>(header, conversion, raw, count, buffer)
                              : decode_into<std::uint16_t>(header, conversion, raw, count, buffer);
  if (code != Code::kOk) return nb::none();
  const nb::object dtype = nb::str(bits == 8 ? "uint8" : "uint16");
  return ArrayMaker().view(nb::cast(std::move(buffer)), dtype,
                           nb::make_tuple(header.height, header.width, channels));
}

nb::object encode(const InputBytes& rows, std::size_t row_bytes, std::size_t step) {
  const Octets given = as_octets(rows.bytes());
  if (row_bytes == 0 || step == 0 || given.size() % row_bytes != 0) {
    throw nb::value_error("expected whole rows");
  }
  const std::size_t count = given.size() + given.size() / row_bytes;
  Buffer buffer(count);
  const auto scratch = std::make_unique_for_overwrite<std::uint8_t[]>(6 * row_bytes);
  {
    const nb::gil_scoped_release released;
    (void)encode_png_rows(given, row_bytes, step, std::span(scratch.get(), 6 * row_bytes),
                          numbers_in<std::uint8_t>(buffer, count));
  }
  return ArrayMaker().own(std::move(buffer), ArrayType::kUint8, count);
}

}  // namespace

void bind_png(nb::module_& module) {
  module.def("png_raw_bytes", raw_bytes, nb::arg("header"),
             nb::sig("def png_raw_bytes(header: tuple[int, int, int, int, int]) -> int"),
             "Return how many bytes the filtered rows of an image have: width, height, depth, "
             "colour type and whether it is interlaced.");
  module.def(
      "decode_png_rows", decode, nb::arg("raw"), nb::arg("header"), nb::arg("channels"),
      nb::arg("bits"), nb::arg("palette"), nb::arg("opacities"), nb::arg("key").none(),
      nb::arg("opaque"), nb::arg("tables").none(),
      nb::sig("def decode_png_rows(raw: typing_extensions.Buffer, header: tuple[int, int, int, "
              "int, int], channels: int, bits: int, palette: typing_extensions.Buffer, opacities: "
              "typing_extensions.Buffer, key: tuple[int, int, int] | None, opaque: int, tables: "
              "numpy.typing.NDArray[numpy.uint16] | None) -> "
              "numpy.typing.NDArray[numpy.uint8 | numpy.uint16] | None"),
      "Return the image that filtered rows hold, or None if a filter is unknown.");
  module.def("encode_png_rows", encode, nb::arg("rows"), nb::arg("row_bytes"), nb::arg("step"),
             nb::sig("def encode_png_rows(rows: typing_extensions.Buffer, row_bytes: int, step: "
                     "int) -> numpy.typing.NDArray[numpy.uint8]"),
             "Return rows with the filter that suits each.");
}

}  // namespace tfrkit
