// The inner loops of resizing, over whole rows: one set of them for each instruction set.
//
// Rows of pixels are bytes of a PixelType, `numbers` of them in a row; intermediate rows are
// float32. None of these checks anything: the tables point into the rows.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "core/bytes/bytes.h"
#include "core/images/resize.h"
#include "core/images/resize_axis.h"

namespace tfrkit {

// Tells of a row of columns how to mix it.
struct LerpColumns {
  LerpTable table;          // steps of `channels`
  std::span<float> spread;  // lerp, once for every channel, and 0 where lower == upper
  std::size_t channels = 0;
};

struct AreaColumns {
  AreaTable table;
  std::size_t in = 0;  // pixels of the row
  std::size_t channels = 0;
};

struct SpanColumns {
  SpanTable table;
  std::size_t channels = 0;
};

struct CubicColumns {
  CubicTable table;  // steps of `channels`
  std::size_t channels = 0;
};

// The loops that read pixels, for one type. Target and row are of the size that the tables say;
// `row` may be longer, in bytes that can be read and do not matter.
struct PixelLoops {
  void (*convert)(const std::byte* row, std::span<float> target) noexcept;
  void (*lerp)(Bytes row, const LerpColumns& columns, std::span<float> target) noexcept;
  void (*mix)(std::span<const std::byte* const, 4> rows, std::span<const float, 4> weights,
              std::span<float> target) noexcept;
  // target += row * weight, row by row
  void (*add)(std::span<const std::byte* const> rows, std::span<const float> weights,
              std::span<float> target) noexcept;
};

struct ResizeVariant {
  const char* name;
  std::array<PixelLoops, kPixelTypes> pixels;  // by the number of the type
  // target = top + (bottom - top) * lerp
  void (*lerp_rows)(std::span<const float> top, std::span<const float> bottom, float lerp,
                    std::span<float> target) noexcept;
  // These read rows of float32, after which there is one more number.
  void (*cubic_columns)(std::span<const float> row, const CubicColumns& columns,
                        std::span<float> target) noexcept;
  void (*area_columns)(std::span<const float> row, const AreaColumns& columns,
                       std::span<float> target) noexcept;
  void (*span_columns)(std::span<const float> row, const SpanColumns& columns,
                       std::span<float> target) noexcept;
  // target += row * weight
  void (*add_row)(std::span<const float> row, float weight, std::span<float> target) noexcept;
  void (*multiply)(float factor, std::span<float> target) noexcept;
  void (*divide)(float factor, std::span<float> target) noexcept;
};

extern const ResizeVariant kResizePortable;
#ifdef TFRKIT_HAVE_AVX2
extern const ResizeVariant kResizeAvx2;
#endif

// Returns the variants this CPU can run, the best first; the last is the portable one.
[[nodiscard]] std::span<const ResizeVariant* const> resize_variants() noexcept;

}  // namespace tfrkit
