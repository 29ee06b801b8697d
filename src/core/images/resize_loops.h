// The portable text of the inner loops, compiled once for each instruction set.
//
// `Set` only keeps the copies apart, so that none is taken for another by the linker. A set may
// replace loops by its own.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/images/resize_rows.h"

namespace tfrkit::resize_loops {

struct Half {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};

// Four numbers in one register.
using Quad [[gnu::vector_size(4 * sizeof(float))]] = float;

template <typename Set>
struct Loops {
  // Returns number `i` of a row as float32, rounded to the nearest even.
  template <typename T>
  static float get(const std::byte* row, std::size_t i) noexcept {
    T value;
    std::memcpy(&value, row + i * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, Half>) {
      return from_half(value.bits);
    } else if constexpr (std::is_same_v<T, Bfloat16>) {
      return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
    } else {
      return static_cast<float>(value);
    }
  }

  static float from_half(std::uint32_t half) noexcept {
    constexpr std::uint32_t kSmallest = 0x0400;  // of the normal ones
    constexpr std::uint32_t kInfinity = 0x7c00;
    constexpr std::uint32_t kRebias = 112U << 23;
    constexpr std::uint32_t kBase = 113U << 23;  // 2^-14, the smallest normal one
    const std::uint32_t magnitude = (half & 0x7fffU) << 13;
    // No step has a subnormal operand or result, which would be taken for 0.
    const float tiny = std::bit_cast<float>(magnitude + kBase) - std::bit_cast<float>(kBase);
    std::uint32_t bits = magnitude + kRebias;
    if ((half & 0x7fffU) < kSmallest) bits = std::bit_cast<std::uint32_t>(tiny);
    if ((half & 0x7fffU) >= kInfinity) bits = magnitude | 0x7f800000U;
    return std::bit_cast<float>(bits | ((half & 0x8000U) << 16));
  }

  static float mixed(float from, float to, float lerp) noexcept {
    return from + (to - from) * lerp;
  }

  // Calls body(channels) with the usual numbers of channels as constants.
  template <typename Body>
  static void with_channels(std::size_t channels, const Body& body) noexcept {
    switch (channels) {
      case 1:
        return body(std::integral_constant<std::size_t, 1>());
      case 3:
        return body(std::integral_constant<std::size_t, 3>());
      case 4:
        return body(std::integral_constant<std::size_t, 4>());
      default:
        return body(channels);
    }
  }

  static Quad load_quad(const void* at) noexcept {
    Quad quad;
    std::memcpy(&quad, at, sizeof(quad));
    return quad;
  }

  // Writes pixels of three or four channels that make(x) returns as quads; of three, the fourth
  // number is written over by the next pixel.
  template <typename Make>
  static void each_quad(std::size_t channels, std::span<float> target, const Make& make) noexcept {
    const std::size_t last = target.size() / channels - 1;
    for (std::size_t x = 0; x < last; ++x) {
      const Quad quad = make(x);
      std::memcpy(target.data() + x * channels, &quad, sizeof(quad));
    }
    const Quad quad = make(last);
    std::memcpy(target.data() + last * channels, &quad, channels * sizeof(float));
  }

  // Writes all numbers as make(x, channel) returns them.
  template <typename Make>
  static void each_number(std::size_t channels, std::span<float> target,
                          const Make& make) noexcept {
    with_channels(channels, [&](auto count) noexcept {
      const std::size_t pixels = target.size() / channels;
      for (std::size_t x = 0; x < pixels; ++x) {
        for (std::size_t c = 0; c < count; ++c) target[x * count + c] = make(x, c);
      }
    });
  }

  template <typename T>
  static void convert(const std::byte* row, std::span<float> target) noexcept {
    for (std::size_t i = 0; i < target.size(); ++i) target[i] = get<T>(row, i);
  }

  template <typename T>
  static void lerp(Bytes row, const LerpColumns& columns, std::span<float> target) noexcept {
    const LerpTable& table = columns.table;
    const std::size_t readable = (std::size_t{table.upper.back()} + 4) * sizeof(T);
    if constexpr (std::is_same_v<T, float>) {
      if ((columns.channels == 3 || columns.channels == 4) && readable <= row.size()) {
        return each_quad(columns.channels, target, [&](std::size_t x) noexcept {
          const Quad from = load_quad(row.data() + table.lower[x] * sizeof(float));
          const Quad to = load_quad(row.data() + table.upper[x] * sizeof(float));
          return from + (to - from) * table.lerp[x];
        });
      }
    }
    each_number(columns.channels, target, [&](std::size_t x, std::size_t c) noexcept {
      return mixed(get<T>(row.data(), table.lower[x] + c), get<T>(row.data(), table.upper[x] + c),
                   table.lerp[x]);
    });
  }

  template <typename T>
  static void mix(std::span<const std::byte* const, 4> rows, std::span<const float, 4> weights,
                  std::span<float> target) noexcept {
    for (std::size_t i = 0; i < target.size(); ++i) {
      target[i] = get<T>(rows[0], i) * weights[0] + get<T>(rows[1], i) * weights[1] +
                  get<T>(rows[2], i) * weights[2] + get<T>(rows[3], i) * weights[3];
    }
  }

  template <typename T>
  static void add(std::span<const std::byte* const> rows, std::span<const float> weights,
                  std::span<float> target) noexcept {
    std::size_t k = 0;
    for (; k + 4 <= rows.size(); k += 4) {
      const std::array four{rows[k], rows[k + 1], rows[k + 2], rows[k + 3]};
      const std::array by{weights[k], weights[k + 1], weights[k + 2], weights[k + 3]};
      for (std::size_t i = 0; i < target.size(); ++i) {
        target[i] = target[i] + get<T>(four[0], i) * by[0] + get<T>(four[1], i) * by[1] +
                    get<T>(four[2], i) * by[2] + get<T>(four[3], i) * by[3];
      }
    }
    for (; k < rows.size(); ++k) {
      const std::byte* const row = rows[k];
      const float weight = weights[k];
      for (std::size_t i = 0; i < target.size(); ++i) target[i] += get<T>(row, i) * weight;
    }
  }

  static void lerp_rows(std::span<const float> top, std::span<const float> bottom, float lerp,
                        std::span<float> target) noexcept {
    for (std::size_t i = 0; i < target.size(); ++i) target[i] = mixed(top[i], bottom[i], lerp);
  }

  static void cubic_columns(std::span<const float> row, const CubicColumns& columns,
                            std::span<float> target) noexcept {
    const CubicTable& table = columns.table;
    const auto total = [&](std::size_t x, const auto& at) noexcept {
      const std::uint32_t* const index = table.indices.data() + 4 * x;
      const float* const weights = table.weights.data() + 4 * x;
      return at(index[0]) * weights[0] + at(index[1]) * weights[1] + at(index[2]) * weights[2] +
             at(index[3]) * weights[3];
    };
    const std::size_t channels = columns.channels;
    if (channels == 3 || channels == 4) {
      return each_quad(channels, target, [&](std::size_t x) noexcept {
        return total(x, [&](std::size_t i) noexcept { return load_quad(row.data() + i); });
      });
    }
    each_number(channels, target, [&](std::size_t x, std::size_t c) noexcept {
      return total(x, [&](std::size_t i) noexcept { return row[i + c]; });
    });
  }

  static void area_columns(std::span<const float> row, const AreaColumns& columns,
                           std::span<float> target) noexcept {
    const AreaTable& table = columns.table;
    const std::size_t channels = columns.channels;
    const std::size_t end = columns.in - 1;
    const auto total = [&](std::size_t x, const auto& at) noexcept {
      const std::size_t first = table.first[x];
      const std::size_t count = table.count[x];
      auto sum = at(std::min(first, end)) * table.ends[2 * x];
      if (count == 1) return sum;
      const std::size_t last = first + count - 1;
      for (std::size_t v = first + 1; v < std::min(last, columns.in); ++v) sum += at(v);
      for (std::size_t v = std::max(first + 1, columns.in); v < last; ++v) sum += at(end);
      return sum + at(std::min(last, end)) * table.ends[2 * x + 1];
    };
    if (channels == 3 || channels == 4) {
      return each_quad(channels, target, [&](std::size_t x) noexcept {
        return total(x,
                     [&](std::size_t v) noexcept { return load_quad(row.data() + v * channels); });
      });
    }
    each_number(channels, target, [&](std::size_t x, std::size_t c) noexcept {
      return total(x, [&](std::size_t v) noexcept { return row[v * channels + c]; });
    });
  }

  static void span_columns(std::span<const float> row, const SpanColumns& columns,
                           std::span<float> target) noexcept {
    const SpanTable& table = columns.table;
    const std::size_t channels = columns.channels;
    const auto total = [&](std::size_t x, auto sum, const auto& at) noexcept {
      const float* const weights = table.weights.data() + x * table.width;
      const std::size_t first = table.first[x];
      const std::size_t count = table.count[x];
      for (std::size_t k = 0; k < count; ++k) sum += at(first + k) * weights[k];
      return sum;
    };
    if (channels == 3 || channels == 4) {
      return each_quad(channels, target, [&](std::size_t x) noexcept {
        return total(x, Quad{},
                     [&](std::size_t v) noexcept { return load_quad(row.data() + v * channels); });
      });
    }
    each_number(channels, target, [&](std::size_t x, std::size_t c) noexcept {
      return total(x, 0.0F, [&](std::size_t v) noexcept { return row[v * channels + c]; });
    });
  }

  static void add_row(std::span<const float> row, float weight, std::span<float> target) noexcept {
    for (std::size_t i = 0; i < target.size(); ++i) target[i] += row[i] * weight;
  }

  static void multiply(float factor, std::span<float> target) noexcept {
    for (float& value : target) value *= factor;
  }

  static void divide(float factor, std::span<float> target) noexcept {
    for (float& value : target) value /= factor;
  }

  template <typename T>
  static constexpr PixelLoops pixel_loops() noexcept {
    return {convert<T>, lerp<T>, mix<T>, add<T>};
  }

  static constexpr ResizeVariant variant(const char* name) noexcept {
    return {
        name,
        {pixel_loops<std::uint8_t>(), pixel_loops<std::int8_t>(), pixel_loops<std::uint16_t>(),
         pixel_loops<std::int16_t>(), pixel_loops<std::int32_t>(), pixel_loops<std::int64_t>(),
         pixel_loops<Half>(), pixel_loops<Bfloat16>(), pixel_loops<float>(), pixel_loops<double>()},
        lerp_rows,
        cubic_columns,
        area_columns,
        span_columns,
        add_row,
        multiply,
        divide};
  }
};

}  // namespace tfrkit::resize_loops
