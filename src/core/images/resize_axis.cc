#include "core/images/resize_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tfrkit {
namespace {

constexpr std::int64_t kTableSize = 1024;  // steps of a cubic's table between two pixels
constexpr float kLeastSum = 1000.0F * std::numeric_limits<float>::min();

// Returns the greatest integer that is not above `x`, |x| < 2^62. The baseline of x86-64 has no
// instruction for std::floor.
std::int64_t floor_of(float x) noexcept {
  const auto whole = static_cast<std::int64_t>(x);
  return whole - static_cast<std::int64_t>(static_cast<float>(whole) > x);
}

std::int64_t ceil_of(float x) noexcept { return -floor_of(-x); }

// Returns `index` moved into the image, times the step.
std::uint32_t place(const ResizeAxis& axis, std::int64_t index) noexcept {
  const auto last = static_cast<std::int64_t>(axis.in) - 1;
  const auto inside = static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, last));
  return static_cast<std::uint32_t>(inside * axis.step);
}

// Returns where output pixel `i` lies in the input.
float position(const ResizeAxis& axis, float scale, std::size_t i) noexcept {
  const auto at = static_cast<float>(i);
  return axis.centers == Centers::kHalfPixel ? (at + 0.5F) * scale - 0.5F : at * scale;
}

// Entry 2 * i is the value of the cubic of Keys at i / 1024, entry 2 * i + 1 that at 1 + i / 1024.
using CubicCoefficients = std::array<float, (kTableSize + 1) * 2>;

consteval CubicCoefficients make_coefficients(double a) noexcept {
  CubicCoefficients table{};
  for (std::size_t i = 0; i * 2 < table.size(); ++i) {
    const auto x = static_cast<float>(static_cast<double>(i) / static_cast<double>(kTableSize));
    const double near = x;
    table[2 * i] = static_cast<float>(((a + 2) * near - (a + 3)) * near * near + 1);
    const double far = static_cast<float>(near + 1.0);
    table[2 * i + 1] = static_cast<float>(((a * far - 5 * a) * far + 8 * a) * far - 4 * a);
  }
  return table;
}

constexpr CubicCoefficients kKeys = make_coefficients(-0.5);
constexpr CubicCoefficients kLegacy = make_coefficients(-0.75);

// Zeroes the weights of what lies outside the image, and makes the others sum up to 1 again.
void drop_outside(const ResizeAxis& axis, std::int64_t start,
                  std::span<float, 4> weights) noexcept {
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const std::int64_t index = start + static_cast<std::int64_t>(k);
    if (index < 0 || index >= static_cast<std::int64_t>(axis.in)) weights[k] = 0.0F;
  }
  const float sum = weights[0] + weights[1] + weights[2] + weights[3];
  if (std::abs(sum) < kLeastSum) return;
  const float factor = 1.0F / sum;
  for (float& weight : weights) weight *= factor;
}

// Returns how much of the pixel from `index` to `index + 1` lies between `start` and `end`.
float covered(std::int64_t index, float start, float end, float scale) noexcept {
  const auto left = static_cast<float>(index);
  const auto right = static_cast<float>(index + 1);
  if (left < start) return right > end ? scale : right - start;
  return right > end ? end - left : 1.0F;
}

}  // namespace

float axis_scale(const ResizeAxis& axis) noexcept {
  if (axis.centers == Centers::kAligned && axis.out > 1 && axis.in > 1) {
    return static_cast<float>(axis.in - 1) / static_cast<float>(axis.out - 1);
  }
  return static_cast<float>(axis.in) / static_cast<float>(axis.out);
}

void fill_nearest(const ResizeAxis& axis, std::span<std::uint32_t> target) noexcept {
  const float scale = axis_scale(axis);
  for (std::size_t i = 0; i < target.size(); ++i) {
    const auto at = static_cast<float>(i);
    if (axis.centers == Centers::kAligned) {
      target[i] = place(axis, static_cast<std::int64_t>(std::round(at * scale)));
    } else {
      const bool half = axis.centers == Centers::kHalfPixel;
      target[i] = place(axis, floor_of(half ? (at + 0.5F) * scale : at * scale));
    }
  }
}

void fill_lerps(const ResizeAxis& axis, const LerpTable& table) noexcept {
  const float scale = axis_scale(axis);
  for (std::size_t i = 0; i < table.lerp.size(); ++i) {
    const float x = position(axis, scale, i);
    const std::int64_t below = floor_of(x);
    table.lower[i] = place(axis, below);
    table.upper[i] = place(axis, ceil_of(x));
    table.lerp[i] = x - static_cast<float>(below);
  }
}

void fill_cubic(const ResizeAxis& axis, const CubicTable& table) noexcept {
  const bool keys = axis.centers == Centers::kHalfPixel;
  const CubicCoefficients& values = keys ? kKeys : kLegacy;
  const float scale = axis_scale(axis);
  for (std::size_t i = 0; i < axis.out; ++i) {
    const float x = position(axis, scale, i);
    const std::int64_t below = floor_of(x);
    const float rest = x - static_cast<float>(below);
    const auto at = static_cast<std::size_t>(std::lrint(rest * static_cast<float>(kTableSize)));
    const std::size_t back = kTableSize - at;
    for (std::size_t k = 0; k < 4; ++k) {
      table.indices[4 * i + k] = place(axis, below - 1 + static_cast<std::int64_t>(k));
    }
    const std::span<float, 4> weights = table.weights.subspan(4 * i).first<4>();
    weights[0] = values[2 * at + 1];
    weights[1] = values[2 * at];
    weights[2] = values[2 * back];
    weights[3] = values[2 * back + 1];
    if (keys) drop_outside(axis, below - 1, weights);
  }
}

void fill_area(const ResizeAxis& axis, const AreaTable& table) noexcept {
  const float scale = axis_scale(axis);
  for (std::size_t i = 0; i < axis.out; ++i) {
    const float start = static_cast<float>(i) * scale;
    const float end = static_cast<float>(i + 1) * scale;
    const std::int64_t first = floor_of(start);
    const std::int64_t last = ceil_of(end) - 1;
    table.first[i] = static_cast<std::uint32_t>(first);
    table.count[i] = static_cast<std::uint32_t>(last + 1 - first);
    table.ends[2 * i] = covered(first, start, end, scale);
    table.ends[2 * i + 1] = covered(last, start, end, scale);
  }
}

}  // namespace tfrkit
