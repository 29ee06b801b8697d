// Resize images as TensorFlow does, bit for bit: all arithmetic is float32, step by step in its
// order, and nothing is fused (these files are compiled with -ffp-contract=off).
//
// Images are C-contiguous, channels last. The caller measures first, passes scratch memory, and
// gets float32, except from kNearest, which keeps the type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes/bytes.h"
#include "core/bytes/status.h"

namespace tfrkit {

// The types that images can have, under the numbers that Python uses.
enum class PixelType : std::uint8_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kHalf = 6,
  kBfloat16 = 7,
  kFloat32 = 8,
  kFloat64 = 9,
};
inline constexpr int kPixelTypes = 10;

// How output pixels are made. The first four are kernels of their own; the others are filters that
// are spread over more input pixels when `antialias` is set.
enum class ResizeMethod : std::uint8_t {
  kNearest = 0,
  kBilinear = 1,
  kBicubic = 2,
  kArea = 3,
  kTriangle = 4,
  kKeysCubic = 5,
  kMitchellCubic = 6,
  kGaussian = 7,
  kLanczos3 = 8,
  kLanczos5 = 9,
};
inline constexpr int kResizeMethods = 10;

// Where the pixels lie. Filters know only kHalfPixel, and kArea knows all but that.
enum class Centers : std::uint8_t {
  kHalfPixel = 0,  // in the middle of their squares
  kCorner = 1,     // at the upper left corners of their squares, as in TensorFlow 1
  kAligned = 2,    // so that the corner pixels of both images coincide
};
inline constexpr int kCenters = 3;

// What is done with every number of the output at last.
enum class After : std::uint8_t { kNothing = 0, kMultiply = 1, kDivide = 2 };

struct ResizeTask {
  PixelType type;
  ResizeMethod method;
  Centers centers;
  bool antialias;
  std::size_t images;
  std::size_t height;  // of the input, as width
  std::size_t width;
  std::size_t channels;
  std::size_t out_height;
  std::size_t out_width;
  After after = After::kNothing;
  float factor = 1.0F;
};

// The memory that a task needs. `row_bytes` and the rest are within std::int64_t.
struct ResizeSizes {
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
  std::size_t indices = 0;  // numbers of scratch
  std::size_t floats = 0;
};

// Scratch memory of at least the measured sizes; what it holds does not matter.
struct ResizeScratch {
  std::span<std::uint32_t> indices;
  std::span<float> floats;
};

// No side of an image is longer, as in TensorFlow; nor has a row more numbers.
inline constexpr std::size_t kMaxSide = 0x7fffffff;

// Returns the bytes of one pixel's channel.
[[nodiscard]] std::size_t pixel_bytes(PixelType type) noexcept;

// Finds out the sizes. Returns kOutOfRange if a side or the channels are 0, and kTooLarge if a side
// or a row is over kMaxSide or a size over what std::int64_t holds.
[[nodiscard]] Code measure_resize(const ResizeTask& task, ResizeSizes& sizes) noexcept;

// Resizes with any method but kNearest. Returns kOutOfRange, with nothing written, if a span is not
// of the measured size.
[[nodiscard]] Code resize_images(const ResizeTask& task, Bytes input, const ResizeScratch& scratch,
                                 std::span<float> output) noexcept;

// The same with kNearest, into bytes of the input's type. `after` is ignored.
[[nodiscard]] Code resize_nearest(const ResizeTask& task, Bytes input, const ResizeScratch& scratch,
                                  std::span<std::byte> output) noexcept;

}  // namespace tfrkit
