// The pixels of a PNG image: filtered rows, as they are inflated, to samples of one size, and back.
//
// Knows no chunks and no deflate. All five filters, 1 to 16 bits, Adam7, palettes and transparency;
// gray is made of colours with libpng's fixed-point weights, so that results equal TensorFlow's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes/status.h"

namespace tfrkit {

inline constexpr std::uint32_t kMaxPngSide = 1'000'000;  // libpng's limit, in pixels

using Octets = std::span<const std::uint8_t>;

// The format's own numbers.
enum class PngColor : std::uint8_t { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgba = 6 };

// What the header says.
struct PngHeader {
  std::uint32_t width;
  std::uint32_t height;
  std::uint8_t depth;  // bits of a sample: 1, 2, 4, 8 or 16, as the colour allows
  PngColor color;
  bool interlaced;
};

// What the samples mean and what becomes of them.
struct PngConversion {
  int channels = 1;                           // 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA
  std::array<std::uint8_t, 768> palette{};    // red, green, blue of each index
  std::array<std::uint8_t, 256> opacities{};  // alpha of each index
  bool has_key = false;                       // gray or RGB of this colour is transparent
  std::array<std::uint16_t, 3> key{};         // as wide as the samples are after gray was spread
  std::uint16_t opaque = 0;                   // alpha where the image says nothing about it
  // How gray is made of colours in a space that is not linear: sample to linear, linear to gray,
  // and gray of three equal samples. 256 or 65,536 entries each, by the depth, or all empty.
  std::span<const std::uint16_t> to_linear;
  std::span<const std::uint16_t> from_linear;
  std::span<const std::uint16_t> equal;
};

// Returns whether such an image can be: depth and colour fit, and the sides are 1 to kMaxPngSide.
[[nodiscard]] bool is_valid(const PngHeader& header) noexcept;

// Returns the number of bytes of all filtered rows. Precondition: the header is valid.
[[nodiscard]] std::uint64_t png_raw_bytes(const PngHeader& header) noexcept;

// Returns the room that decode_png_rows works in. Precondition: the header is valid.
[[nodiscard]] std::size_t png_scratch_bytes(const PngHeader& header) noexcept;

// Writes the image row by row, `channels` samples a pixel. Samples of 8 bits or less become v * 257
// in 16, samples of 16 bits their upper half in 8. Returns kBadData, with some rows written, for an
// unknown filter; kOutOfRange if one of the spans has another size than it must have.
// Preconditions: the header is valid, and the conversion is one that the colour allows: 2 channels
// of kGrayAlpha only.
[[nodiscard]] Code decode_png_rows(const PngHeader& header, const PngConversion& conversion,
                                   Octets raw, std::span<std::uint8_t> scratch,
                                   std::span<std::uint8_t> target) noexcept;
[[nodiscard]] Code decode_png_rows(const PngHeader& header, const PngConversion& conversion,
                                   Octets raw, std::span<std::uint8_t> scratch,
                                   std::span<std::uint16_t> target) noexcept;

// Writes rows of `row_bytes` each with one filter byte before it, choosing for every row the filter
// whose differences add up to least. A pixel has `step` bytes. Returns kOutOfRange if the rows are
// not whole, or target or scratch (6 rows) have not the right size.
[[nodiscard]] Code encode_png_rows(Octets rows, std::size_t row_bytes, std::size_t step,
                                   std::span<std::uint8_t> scratch,
                                   std::span<std::uint8_t> target) noexcept;

}  // namespace tfrkit
