// One frame of a GIF file: LZW codes in blocks of up to 255 bytes, and their colours on a canvas.
//
// Knows no other parts of the file. Codes that cannot be are treated as giflib does,
// so that damaged files give what TensorFlow gives of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tfrkit {

// How a frame ended; part of the Python module under the same numbers.
enum class GifEnd : std::uint8_t {
  kOk = 0,
  kCut = 1,        // the file ends before the frame does
  kDefective = 2,  // codes or blocks that cannot be
  kTooSoon = 3,    // the end code comes before the last pixel
};

struct GifFrame {
  GifEnd end;
  std::size_t position;  // behind the frame, if it is whole
};

struct GifSize {
  std::size_t width;
  std::size_t height;
  bool interlaced;
};

// Writes the colour numbers of a frame to `pixels`, row by row in the order of the image, and finds
// its end. The codes begin at `position` with their size. On failure some pixels are not written.
// Precondition: `pixels` has width * height entries, at least one.
[[nodiscard]] GifFrame decode_gif_frame(std::span<const std::uint8_t> data, std::size_t position,
                                        const GifSize& size,
                                        std::span<std::uint8_t> pixels) noexcept;

// The same without pixels: tells what decode_gif_frame would say, so that nobody has to allocate
// what a header merely claims.
[[nodiscard]] GifFrame measure_gif_frame(std::span<const std::uint8_t> data, std::size_t position,
                                         const GifSize& size) noexcept;

// Where a frame stands on a canvas, of which it may lie partly or wholly outside.
struct GifPlace {
  std::size_t left;
  std::size_t top;
  std::size_t width;
  std::size_t height;
  std::size_t canvas_width;
  std::size_t canvas_height;
  int transparent;  // number of the colour that is not painted, -1 for none
};

// Paints colour numbers on a canvas of 3 bytes a pixel; `colors` has 3 bytes for each number.
// Returns -1, or the first number that has no colour, with the pixels before it painted.
// Precondition: pixels and canvas are as large as the place says, with sides of at most 65,535.
[[nodiscard]] int paint_gif_frame(const GifPlace& place, std::span<const std::uint8_t> pixels,
                                  std::span<const std::uint8_t> colors,
                                  std::span<std::uint8_t> canvas) noexcept;

}  // namespace tfrkit
