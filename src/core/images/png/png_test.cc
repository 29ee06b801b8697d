#include "core/images/png/png.h"

#include <algorithm>
#include <vector>

#include "core/bytes/check.h"
#include "core/images/png/png_filter.h"

namespace tfrkit {
namespace {

using Row = std::vector<std::uint8_t>;

PngConversion as_channels(int channels) {
  PngConversion conversion;
  conversion.channels = channels;
  conversion.opaque = 255;
  return conversion;
}

// The samples of an image, or nothing if it is refused.
template <typename Out>
std::vector<Out> decode(const PngHeader& header, const PngConversion& conversion, const Row& raw,
                        Code expected = Code::kOk) {
  Row scratch(png_scratch_bytes(header));
  std::vector<Out> target(std::size_t{header.width} * header.height *
                          static_cast<std::size_t>(conversion.channels));
  const Code code = decode_png_rows(header, conversion, raw, scratch, std::span<Out>(target));
  CHECK(code == expected);
  return code == Code::kOk ? target : std::vector<Out>{};
}

PngHeader header_of(std::uint32_t width, std::uint32_t height, std::uint8_t depth, PngColor color,
                    bool interlaced = false) {
  return {width, height, depth, color, interlaced};
}

TEST(every_filter_adds_its_prediction) {
  const PngHeader header = header_of(3, 5, 8, PngColor::kGray);
  const Row raw{0, 10, 20, 30, 1, 1, 1, 1, 2, 5, 5, 5, 3, 0, 0, 0, 4, 1, 1, 1};
  const Row expected{10, 20, 30, 1, 2, 3, 6, 7, 8, 3, 5, 6, 4, 6, 7};
  CHECK(decode<std::uint8_t>(header, as_channels(1), raw) == expected);
}

TEST(filters_wrap_round) {
  const PngHeader header = header_of(2, 2, 8, PngColor::kGray);
  CHECK(decode<std::uint8_t>(header, as_channels(1), {1, 200, 100, 2, 100, 255}) ==
        (Row{200, 44, 44, 43}));
}

TEST(unknown_filter_is_bad_data) {
  const PngHeader header = header_of(1, 1, 8, PngColor::kGray);
  (void)decode<std::uint8_t>(header, as_channels(1), {5, 0}, Code::kBadData);
  (void)decode<std::uint16_t>(header, as_channels(1), {255, 0}, Code::kBadData);
}

TEST(few_bits_are_spread_in_gray_and_numbers_in_palettes) {
  CHECK(decode<std::uint8_t>(header_of(9, 1, 1, PngColor::kGray), as_channels(1),
                             {0, 0b10100000, 0b10000000}) ==
        (Row{255, 0, 255, 0, 0, 0, 0, 0, 255}));
  CHECK(decode<std::uint8_t>(header_of(4, 1, 2, PngColor::kGray), as_channels(1),
                             {0, 0b00011011}) == (Row{0, 85, 170, 255}));
  PngConversion conversion = as_channels(3);
  conversion.palette[3] = 7;
  conversion.palette[5] = 9;
  CHECK(decode<std::uint8_t>(header_of(2, 1, 4, PngColor::kPalette), conversion, {0, 0x10}) ==
        (Row{7, 0, 9, 0, 0, 0}));
}

TEST(sixteen_bits_are_halved_and_eight_repeated) {
  const PngHeader wide = header_of(1, 1, 16, PngColor::kGray);
  CHECK(decode<std::uint8_t>(wide, as_channels(1), {0, 0xab, 0xcd}) == (Row{0xab}));
  CHECK(decode<std::uint16_t>(wide, as_channels(1), {0, 0xab, 0xcd}) ==
        (std::vector<std::uint16_t>{0xabcd}));
  CHECK(decode<std::uint16_t>(header_of(1, 1, 8, PngColor::kGray), as_channels(1), {0, 0xab}) ==
        (std::vector<std::uint16_t>{0xabab}));
}

TEST(gray_of_colors_is_cut_off_in_8_bits_and_rounded_in_16) {
  CHECK(decode<std::uint8_t>(header_of(2, 1, 8, PngColor::kRgb), as_channels(1),
                             {0, 133, 246, 5, 7, 7, 7}) == (Row{184, 7}));
  CHECK(decode<std::uint16_t>(header_of(1, 1, 16, PngColor::kRgb), as_channels(1),
                              {0, 0, 1, 0, 1, 0, 0}) == (std::vector<std::uint16_t>{1}));
}

TEST(transparent_color_and_missing_alpha) {
  PngConversion conversion = as_channels(4);
  const PngHeader header = header_of(2, 1, 8, PngColor::kRgb);
  const Row raw{0, 1, 2, 3, 4, 5, 6};
  CHECK(decode<std::uint8_t>(header, conversion, raw) == (Row{1, 2, 3, 255, 4, 5, 6, 255}));
  conversion.has_key = true;
  conversion.key = {4, 5, 6};
  CHECK(decode<std::uint8_t>(header, conversion, raw) == (Row{1, 2, 3, 255, 4, 5, 6, 0}));
}

TEST(tables_make_gray_in_another_space) {
  std::vector<std::uint16_t> half(256);
  std::vector<std::uint16_t> twice(256);
  for (std::size_t i = 0; i < 256; ++i) {
    half[i] = static_cast<std::uint16_t>(i / 2);
    twice[i] = static_cast<std::uint16_t>(i * 2 % 256);
  }
  PngConversion conversion = as_channels(1);
  conversion.to_linear = half;
  conversion.from_linear = twice;
  conversion.equal = half;
  CHECK(decode<std::uint8_t>(header_of(2, 1, 8, PngColor::kRgb), conversion,
                             {0, 10, 10, 11, 10, 10, 10}) == (Row{10, 5}));
}

TEST(interlaced_pixels_come_to_their_places) {
  const PngHeader header = header_of(3, 3, 8, PngColor::kGray, true);
  // Passes 1 (one pixel), 4 (one), 5 (two), 6 (two rows of one), 7 (three).
  const Row raw{0, 1, 0, 2, 0, 3, 4, 0, 5, 0, 6, 0, 7, 8, 9};
  CHECK_EQ(png_raw_bytes(header), raw.size());
  CHECK(decode<std::uint8_t>(header, as_channels(1), raw) == (Row{1, 5, 2, 7, 8, 9, 3, 6, 4}));
}

TEST(sizes_that_do_not_fit_are_refused) {
  const PngHeader header = header_of(2, 2, 8, PngColor::kGray);
  const PngConversion conversion = as_channels(1);
  const Row raw(6);
  Row scratch(png_scratch_bytes(header));
  Row target(4);
  const auto run = [&](std::size_t rows, std::size_t room, std::size_t out) {
    return decode_png_rows(header, conversion, Octets(raw).first(rows),
                           std::span(scratch).first(room), std::span(target).first(out));
  };
  CHECK(run(6, scratch.size(), 4) == Code::kOk);
  CHECK(run(5, scratch.size(), 4) == Code::kOutOfRange);
  CHECK(run(6, scratch.size() - 1, 4) == Code::kOutOfRange);
  CHECK(run(6, scratch.size(), 3) == Code::kOutOfRange);
}

TEST(only_headers_that_can_be_are_valid) {
  CHECK(is_valid(header_of(1, kMaxPngSide, 16, PngColor::kRgba)));
  CHECK(!is_valid(header_of(0, 1, 8, PngColor::kGray)));
  CHECK(!is_valid(header_of(1, kMaxPngSide + 1, 8, PngColor::kGray)));
  CHECK(!is_valid(header_of(1, 1, 16, PngColor::kPalette)));
  CHECK(!is_valid(header_of(1, 1, 4, PngColor::kRgb)));
  CHECK(!is_valid(header_of(1, 1, 3, PngColor::kGray)));
}

TEST(encoded_rows_decode_to_themselves_in_every_width_of_pixels) {
  for (const std::size_t step : {1U, 2U, 3U, 4U, 6U, 8U}) {
    const std::size_t row_bytes = 7 * step;
    Row rows(5 * row_bytes);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i] = static_cast<std::uint8_t>(i < row_bytes ? i * i * 7 : i * 3 + i / 40);
    }
    Row scratch((kPngFilters + 1) * row_bytes);
    Row filtered(rows.size() + 5);
    CHECK(encode_png_rows(rows, row_bytes, step, scratch, filtered) == Code::kOk);
    Row above(row_bytes);
    Row row(row_bytes);
    for (std::size_t j = 0; j < 5; ++j) {
      const std::uint8_t* at = filtered.data() + j * (row_bytes + 1);
      CHECK(unfilter_png_row(at[0], at + 1, above.data(), row_bytes, step, row.data()));
      CHECK(std::equal(row.begin(), row.end(), rows.data() + j * row_bytes));
      above = row;
    }
  }
}

TEST(encoding_refuses_rows_that_are_not_whole) {
  Row scratch(12);
  Row target(6);
  CHECK(encode_png_rows(Row(3), 2, 1, scratch, target) == Code::kOutOfRange);
  CHECK(encode_png_rows(Row(4), 2, 1, scratch, std::span(target).first(5)) == Code::kOutOfRange);
  CHECK(encode_png_rows(Row(4), 2, 1, scratch, target) == Code::kOk);
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
