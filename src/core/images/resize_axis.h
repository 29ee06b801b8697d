// Where along one axis each output pixel looks, and with which weights.
//
// Pure tables: both axes of an image are computed alike. Indices are those of input pixels times
// `step`, the distance of neighbours in numbers: 1 for rows, the channels for columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/images/resize.h"

namespace tfrkit {

struct ResizeAxis {
  std::size_t in;
  std::size_t out;
  std::size_t step;
  Centers centers;
};

// Entry i lies `lerp[i]` of the way from `lower[i]` to `upper[i]`.
struct LerpTable {
  std::span<std::uint32_t> lower;
  std::span<std::uint32_t> upper;
  std::span<float> lerp;
};

// Entry i is the sum of indices[4 * i + k] times weights[4 * i + k] for k in 0..3.
struct CubicTable {
  std::span<std::uint32_t> indices;
  std::span<float> weights;
};

// Entry i is made of the inputs from first[i] to before first[i] + count[i], which are not
// multiplied by `step`. The first has the weight ends[2 * i], the last, if it is another, ends[2 *
// i + 1], and those between them 1. Inputs after the last of the image stand for that.
struct AreaTable {
  std::span<std::uint32_t> first;
  std::span<std::uint32_t> count;
  std::span<float> ends;
};

// Entry i is made of the inputs from first[i] to before first[i] + count[i], which are not
// multiplied by `step`, with the weights from i * width on. There may be none.
struct SpanTable {
  std::span<std::uint32_t> first;
  std::span<std::uint32_t> count;
  std::span<float> weights;
  std::size_t width = 0;
};

// Returns input pixels per output pixel.
[[nodiscard]] float axis_scale(const ResizeAxis& axis) noexcept;

// Writes the one input pixel of every entry.
void fill_nearest(const ResizeAxis& axis, std::span<std::uint32_t> target) noexcept;

void fill_lerps(const ResizeAxis& axis, const LerpTable& table) noexcept;

void fill_cubic(const ResizeAxis& axis, const CubicTable& table) noexcept;

void fill_area(const ResizeAxis& axis, const AreaTable& table) noexcept;

// Returns how many weights an entry of a filter can have.
[[nodiscard]] std::size_t filter_width(const ResizeAxis& axis, ResizeMethod method,
                                       bool antialias) noexcept;

// With `padded` every entry gets all the weights that it can have inside the image, zeros at the
// end: TensorFlow multiplies by them too, which shows where a pixel is not finite.
void fill_filter(const ResizeAxis& axis, ResizeMethod method, bool antialias, bool padded,
                 const SpanTable& table) noexcept;

}  // namespace tfrkit
