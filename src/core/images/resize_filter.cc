// The filters: which input pixels of an axis make an output pixel, with which weights.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/images/resize_axis.h"

namespace tfrkit {
namespace {

constexpr float kPi = 3.14159265359F;
constexpr float kLeastSum = 1000.0F * std::numeric_limits<float>::min();
constexpr float kGaussianRadius = 1.5F;

// Returns how far from its centre a filter is not 0.
float radius_of(ResizeMethod method) noexcept {
  switch (method) {
    case ResizeMethod::kKeysCubic:
    case ResizeMethod::kMitchellCubic:
      return 2.0F;
    case ResizeMethod::kGaussian:
      return kGaussianRadius;
    case ResizeMethod::kLanczos3:
      return 3.0F;
    case ResizeMethod::kLanczos5:
      return 5.0F;
    default:
      return 1.0F;
  }
}

float keys_cubic(float x) noexcept {
  if (x >= 2.0F) return 0.0F;
  if (x >= 1.0F) return ((-0.5F * x + 2.5F) * x - 4.0F) * x + 2.0F;
  return ((1.5F * x - 2.5F) * x) * x + 1.0F;
}

float mitchell_cubic(float x) noexcept {
  if (x >= 2.0F) return 0.0F;
  if (x >= 1.0F) {
    return (((-7.0F / 18.0F) * x + 2.0F) * x - 10.0F / 3.0F) * x + 16.0F / 9.0F;
  }
  return (((7.0F / 6.0F) * x - 2.0F) * x) * x + 8.0F / 9.0F;
}

float gaussian(float x) noexcept {
  constexpr float kSigma = kGaussianRadius / 3.0F;
  if (x >= kGaussianRadius) return 0.0F;
  return static_cast<float>(std::exp(static_cast<double>(-x * x) / (2.0 * kSigma * kSigma)));
}

float lanczos(float x, float radius) noexcept {
  if (x > radius) return 0.0F;
  if (x <= 1e-3) return 1.0F;
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}

// Returns the value of a filter at `x` from its centre.
float filter_at(ResizeMethod method, float x) noexcept {
  x = std::abs(x);
  switch (method) {
    case ResizeMethod::kKeysCubic:
      return keys_cubic(x);
    case ResizeMethod::kMitchellCubic:
      return mitchell_cubic(x);
    case ResizeMethod::kGaussian:
      return gaussian(x);
    case ResizeMethod::kLanczos3:
    case ResizeMethod::kLanczos5:
      return lanczos(x, radius_of(method));
    default:
      return x < 1.0F ? 1.0F - x : 0.0F;
  }
}

// The steps between the pixels of both images.
struct FilterScale {
  float inverse;  // input pixels per output pixel, as TensorFlow comes by it
  float spread;   // by which the filter is wider than its radius
};

FilterScale filter_scale(const ResizeAxis& axis, bool antialias) noexcept {
  const float scale = static_cast<float>(axis.out) / static_cast<float>(axis.in);
  const float inverse = 1.0F / scale;
  return {inverse, antialias ? std::max(inverse, 1.0F) : 1.0F};
}

// Returns the input pixel that `edge`, an edge of the filter, rounds to, moved into the image.
std::int64_t pixel_at(float edge, const ResizeAxis& axis) noexcept {
  const auto last = static_cast<std::int64_t>(axis.in) - 1;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(edge), 0, last);
}

}  // namespace

std::size_t filter_width(const ResizeAxis& axis, ResizeMethod method, bool antialias) noexcept {
  const float spread = filter_scale(axis, antialias).spread;
  const auto side = static_cast<std::size_t>(std::ceil(radius_of(method) * spread));
  return std::min(2 * side + 1, axis.in);
}

void fill_filter(const ResizeAxis& axis, ResizeMethod method, bool antialias, bool padded,
                 const SpanTable& table) noexcept {
  const FilterScale scale = filter_scale(axis, antialias);
  const float radius = radius_of(method) * scale.spread;
  const float narrow = 1.0F / scale.spread;
  for (std::size_t i = 0; i < axis.out; ++i) {
    const float centre = (static_cast<float>(i) + 0.5F) * scale.inverse;
    table.first[i] = 0;
    table.count[i] = 0;
    if (centre < 0.0F || centre > static_cast<float>(axis.in)) continue;
    const std::int64_t first = pixel_at(std::ceil(centre - radius - 0.5F), axis);
    const std::int64_t last = pixel_at(std::floor(centre + radius - 0.5F), axis);
    if (last < first) continue;
    const auto count = std::min(static_cast<std::size_t>(last - first + 1), table.width);
    const std::span<float> weights = table.weights.subspan(i * table.width, count);
    float sum = 0.0F;
    for (std::size_t k = 0; k < count; ++k) {
      const auto pixel = static_cast<float>(first + static_cast<std::int64_t>(k));
      weights[k] = filter_at(method, (pixel + 0.5F - centre) * narrow);
      sum += weights[k];
    }
    if (std::abs(sum) >= kLeastSum) {
      const float factor = 1.0F / sum;
      for (float& weight : weights) weight *= factor;
    }
    const std::size_t wide =
        padded ? std::min(table.width, axis.in - static_cast<std::size_t>(first)) : count;
    std::fill_n(weights.end(), wide - count, 0.0F);
    table.first[i] = static_cast<std::uint32_t>(first);
    table.count[i] = static_cast<std::uint32_t>(wide);
  }
}

}  // namespace tfrkit
