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

#include "resize_rows.h"

namespace tfrkit::resize_loops {

struct Half {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};

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
    constexpr std::uint32_t kInfinity = 0x7c00;
    constexpr auto kRescale = std::bit_cast<float>((127U + 112U) << 23);  // 2^112
    const std::uint32_t magnitude = half & 0x7fffU;
    const std::uint32_t sign = (half & 0x8000U) << 16;
    // The multiplication moves the exponent to its place, and is exact for subnormals too.
    const float finite = std::bit_cast<float>(magnitude << 13) * kRescale;
    const std::uint32_t special = 0x7f800000U | (magnitude << 13);
    const std::uint32_t bits =
        magnitude >= kInfinity ? special : std::bit_cast<std::uint32_t>(finite);
    return std::bit_cast<float>(bits | sign);
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

  template <typename T>
  static void convert(const std::byte* row, std::span<float> target) noexcept {
    for (std::size_t i = 0; i < target.size(); ++i) target[i] = get<T>(row, i);
  }

  template <typename T>
  static void lerp(Bytes row, const LerpColumns& columns, std::span<float> target) noexcept {
    const LerpTable& table = columns.table;
    with_channels(columns.channels, [&](auto channels) noexcept {
      for (std::size_t x = 0; x < table.lerp.size(); ++x) {
        const float lerp = table.lerp[x];
        const std::size_t lower = table.lower[x];
        const std::size_t upper = table.upper[x];
        for (std::size_t c = 0; c < channels; ++c) {
          target[x * channels + c] =
              mixed(get<T>(row.data(), lower + c), get<T>(row.data(), upper + c), lerp);
        }
      }
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
  static void sum(const std::byte* row, const AreaColumns& columns,
                  std::span<float> target) noexcept {
    const AreaTable& table = columns.table;
    const std::size_t end = columns.in - 1;
    with_channels(columns.channels, [&](auto channels) noexcept {
      for (std::size_t x = 0; x < table.first.size(); ++x) {
        const std::size_t first = std::min<std::size_t>(table.first[x], end);
        const std::size_t behind = std::size_t{table.first[x]} + table.count[x];
        const std::size_t last = behind == 0 ? 0 : std::min(behind - 1, end);
        for (std::size_t c = 0; c < channels; ++c) {
          float total = get<T>(row, first * channels + c) * table.ends[2 * x];
          if (table.count[x] != 1) {
            for (std::size_t v = table.first[x] + std::size_t{1}; v + 1 < behind; ++v) {
              total += get<T>(row, std::min(v, end) * channels + c);
            }
            total += get<T>(row, last * channels + c) * table.ends[2 * x + 1];
          }
          target[x * channels + c] = total;
        }
      }
    });
  }

  template <typename T>
  static void add(const std::byte* row, float weight, std::span<float> target) noexcept {
    for (std::size_t i = 0; i < target.size(); ++i) target[i] += get<T>(row, i) * weight;
  }

  static void lerp_rows(std::span<const float> top, std::span<const float> bottom, float lerp,
                        std::span<float> target) noexcept {
    for (std::size_t i = 0; i < target.size(); ++i) target[i] = mixed(top[i], bottom[i], lerp);
  }

  static void cubic_columns(std::span<const float> row, const CubicColumns& columns,
                            std::span<float> target) noexcept {
    const CubicTable& table = columns.table;
    with_channels(columns.channels, [&](auto channels) noexcept {
      for (std::size_t x = 0; 4 * x < table.indices.size(); ++x) {
        const auto at = table.indices.subspan(4 * x).template first<4>();
        const auto weights = table.weights.subspan(4 * x).template first<4>();
        for (std::size_t c = 0; c < channels; ++c) {
          target[x * channels + c] = row[at[0] + c] * weights[0] + row[at[1] + c] * weights[1] +
                                     row[at[2] + c] * weights[2] + row[at[3] + c] * weights[3];
        }
      }
    });
  }

  static void span_columns(std::span<const float> row, const SpanColumns& columns,
                           std::span<float> target) noexcept {
    const SpanTable& table = columns.table;
    with_channels(columns.channels, [&](auto channels) noexcept {
      for (std::size_t x = 0; x < table.first.size(); ++x) {
        const float* const weights = table.weights.data() + x * table.width;
        for (std::size_t c = 0; c < channels; ++c) {
          float total = 0.0F;
          const float* at = row.data() + table.first[x] * channels + c;
          for (std::size_t k = 0; k < table.count[x]; ++k, at += channels) {
            total += *at * weights[k];
          }
          target[x * channels + c] = total;
        }
      }
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
    return {convert<T>, lerp<T>, mix<T>, sum<T>, add<T>};
  }

  static constexpr ResizeVariant variant(const char* name) noexcept {
    return {
        name,
        {pixel_loops<std::uint8_t>(), pixel_loops<std::int8_t>(), pixel_loops<std::uint16_t>(),
         pixel_loops<std::int16_t>(), pixel_loops<std::int32_t>(), pixel_loops<std::int64_t>(),
         pixel_loops<Half>(), pixel_loops<Bfloat16>(), pixel_loops<float>(), pixel_loops<double>()},
        lerp_rows,
        cubic_columns,
        span_columns,
        add_row,
        multiply,
        divide};
  }
};

}  // namespace tfrkit::resize_loops
