#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <vector>

#include "bindings/arrays/arrays.h"
#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "bindings/parallel.h"
#include "core/images/png/png.h"
#include "core/images/png/png_file.h"

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

// Height, width, channels.
using ImageShape = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

// A chunk takes some 100 us: long against waking a thread up, short against a batch.
constexpr std::size_t kChunkBytes = 65'536;

// Decodes files, and marks those that are left to the caller.
void decode_chunk(const ImageShape& shape, Octets data, std::span<const std::int64_t> offsets,
                  std::span<std::uint8_t> target, std::span<std::uint8_t> left) noexcept {
  const std::size_t size = target.size() / left.size();
  try {
    const auto [height, width, channels] = shape;
    PngFileDecoder decoder(static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width),
                           static_cast<int>(channels));
    for (std::size_t i = 0; i < left.size(); ++i) {
      const auto begin = static_cast<std::size_t>(offsets[i]);
      const Octets file = data.subspan(begin, static_cast<std::size_t>(offsets[i + 1]) - begin);
      if (decoder.decode(file, target.subspan(i * size, size))) left[i] = 0;
    }
  } catch (const std::bad_alloc&) {
    return;  // the caller finds out whether there is memory for one
  }
}

std::vector<std::size_t> decode_files(const InputBytes& files, const Int64Input& offsets,
                                      const ImageShape& shape, nb::handle target, int threads) {
  const std::span<const std::int64_t> places = entries(offsets);
  const Octets data = as_octets(files.bytes());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < (i == 0 ? 0 : places[i - 1]) ||
        static_cast<std::size_t>(places[i]) > data.size()) {
      raise_out_of_range("offsets", i, data.size());
    }
  }
  const std::size_t count = places.empty() ? 0 : places.size() - 1;
  std::vector<std::uint8_t> left(count, 1);
  const auto [height, width, channels] = shape;
  if (is_plain_png(height, width, channels)) {
    const OutputBytes output(target);
    const std::span<std::uint8_t> pixels(reinterpret_cast<std::uint8_t*>(output.bytes().data()),
                                         output.bytes().size());
    const std::size_t size = height * width * channels;
    if (pixels.size() / size != count || pixels.size() % size != 0) {
      throw nb::value_error("expected a target of the size of all images");
    }
    const nb::gil_scoped_release released;
    const std::size_t each = std::max<std::size_t>(1, kChunkBytes / size);
    parallel_for((count + each - 1) / each, threads, [&](std::size_t chunk) noexcept {
      const std::size_t first = chunk * each;
      const std::size_t rows = std::min(each, count - first);
      decode_chunk(shape, data, places.subspan(first, rows + 1),
                   pixels.subspan(first * size, rows * size), std::span(left).subspan(first, rows));
    });
  }
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < count; ++i) {
    if (left[i] != 0) rows.push_back(i);
  }
  return rows;
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
  module.def(
      "decode_png_files", decode_files, nb::arg("files"), nb::arg("offsets"), nb::arg("shape"),
      nb::arg("target"), nb::arg("threads") = 0,
      nb::sig("def decode_png_files(files: typing_extensions.Buffer, offsets: "
              "numpy.typing.NDArray[numpy.int64], shape: tuple[int, int, int], target: "
              "typing_extensions.Buffer, threads: int = 0) -> list[int]"),
      "Decode PNG files of 8 bits and one (height, width, channels) into writable memory, file i\n"
      "being files[offsets[i]:offsets[i + 1]]. Return the numbers of those that are left to the\n"
      "caller: of another size or kind, unusual, or damaged. Their pixels are undefined.");
  module.def("encode_png_rows", encode, nb::arg("rows"), nb::arg("row_bytes"), nb::arg("step"),
             nb::sig("def encode_png_rows(rows: typing_extensions.Buffer, row_bytes: int, step: "
                     "int) -> numpy.typing.NDArray[numpy.uint8]"),
             "Return rows with the filter that suits each.");
}

}  // namespace tfrkit
