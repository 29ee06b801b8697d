// Rows of any header and conversion: decoding stays within its memory, returns the same in 8 bits
// as the upper half of 16, and what is encoded decodes to itself.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/images/png/png.h"
#include "require.h"

namespace tfrkit {
namespace {

constexpr std::size_t kOptions = 8;
constexpr std::uint64_t kMostPixels = 1 << 16;

constexpr PngColor kColors[] = {PngColor::kGray, PngColor::kRgb, PngColor::kPalette,
                                PngColor::kGrayAlpha, PngColor::kRgba};

PngHeader header_of(Octets options) {
  return {options[0] + 256U * (options[1] % 4U), options[2] + 1U,
          static_cast<std::uint8_t>(1U << (options[3] % 6)), kColors[options[4] % 5],
          options[5] % 2 != 0};
}

PngConversion conversion_of(Octets options, const PngHeader& header,
                            std::span<const std::uint16_t> table) {
  constexpr int kChannels[] = {1, 3, 4};
  PngConversion conversion;
  conversion.channels = kChannels[options[6] % 3];
  conversion.opaque = 255;
  if (header.color == PngColor::kGrayAlpha && options[6] % 4 == 3) conversion.channels = 2;
  conversion.has_key = options[7] % 2 != 0;
  conversion.key = {options[6], options[7], options[6]};
  if (options[7] % 4 >= 2) {
    const auto entries = table.first(header.depth == 16 ? 65536 : 256);
    conversion.to_linear = conversion.from_linear = conversion.equal = entries;
  }
  return conversion;
}

void check_decoding(const PngHeader& header, const PngConversion& conversion, Octets data) {
  std::vector<std::uint8_t> raw(png_raw_bytes(header));
  std::copy_n(data.begin(), std::min(raw.size(), data.size()), raw.begin());
  std::vector<std::uint8_t> scratch(png_scratch_bytes(header));
  const std::size_t count =
      std::size_t{header.width} * header.height * static_cast<std::size_t>(conversion.channels);
  std::vector<std::uint8_t> narrow(count);
  std::vector<std::uint16_t> wide(count);
  const Code code = decode_png_rows(header, conversion, raw, scratch, std::span(narrow));
  REQUIRE(code == decode_png_rows(header, conversion, raw, scratch, std::span(wide)));
  REQUIRE(code == Code::kOk || code == Code::kBadData);
  if (code != Code::kOk) return;
  for (std::size_t i = 0; i < count; ++i) REQUIRE(wide[i] >> 8 == narrow[i]);
}

void check_encoding(std::size_t row_bytes, std::size_t step, Octets data) {
  const Octets rows = data.first(data.size() / row_bytes * row_bytes);
  if (rows.empty()) return;
  const std::size_t count = rows.size() / row_bytes;
  std::vector<std::uint8_t> scratch(6 * row_bytes);
  std::vector<std::uint8_t> filtered(rows.size() + count);
  REQUIRE(encode_png_rows(rows, row_bytes, step, scratch, filtered) == Code::kOk);
  const PngHeader header{static_cast<std::uint32_t>(row_bytes / step),
                         static_cast<std::uint32_t>(count), 8, kColors[step == 3 ? 1 : 0], false};
  std::vector<std::uint8_t> room(png_scratch_bytes(header));
  std::vector<std::uint8_t> target(rows.size());
  PngConversion conversion;
  conversion.channels = static_cast<int>(step);
  REQUIRE(decode_png_rows(header, conversion, filtered, room, std::span(target)) == Code::kOk);
  REQUIRE(std::equal(target.begin(), target.end(), rows.begin()));
}

void run(Octets input) {
  if (input.size() < kOptions) return;
  static const std::vector<std::uint16_t> table(65536, 200);
  const Octets data = input.subspan(kOptions);
  const PngHeader header = header_of(input);
  if (is_valid(header) && std::uint64_t{header.width} * header.height <= kMostPixels) {
    check_decoding(header, conversion_of(input, header, table), data);
  }
  check_encoding(input[0] + 1U, 1, data);
  check_encoding(3 * (input[0] + 1U), 3, data);
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run({data, size});
  return 0;
}
