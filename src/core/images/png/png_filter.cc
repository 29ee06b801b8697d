#include "core/images/png/png_filter.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tfrkit {
namespace {

enum Filter : std::uint8_t { kNone, kSub, kUp, kAverage, kPaeth };

// Of left, above and above left the one that is nearest to left + above - corner; the earlier of
// equals.
std::uint8_t paeth_of(int left, int above, int corner) noexcept {
  const int to_left = std::abs(above - corner);
  const int to_above = std::abs(left - corner);
  const int to_corner = std::abs(left + above - 2 * corner);
  const int nearer = to_above <= to_corner ? above : corner;
  return static_cast<std::uint8_t>(to_left <= std::min(to_above, to_corner) ? left : nearer);
}

// Eight samples of 16 bits: room for one pixel of any size, and for what sums of bytes need.
using Lanes = std::int16_t __attribute__((vector_size(16)));
using Packed = std::uint8_t __attribute__((vector_size(8)));

template <std::size_t kStep>
Lanes load(const std::uint8_t* source, std::size_t left) noexcept {
  Packed bytes{};
  // A whole load where there are enough bytes; what follows the pixel is not stored.
  if (left >= sizeof(bytes)) {
    std::memcpy(&bytes, source, sizeof(bytes));
  } else {
    std::memcpy(&bytes, source, kStep);
  }
  return __builtin_convertvector(bytes, Lanes);
}

Lanes magnitude(Lanes value) noexcept { return value > -value ? value : -value; }

Lanes paeth(Lanes left, Lanes above, Lanes corner) noexcept {
  const Lanes across = above - corner;
  const Lanes down = left - corner;
  const Lanes to_left = magnitude(across);
  const Lanes to_above = magnitude(down);
  const Lanes to_corner = magnitude(across + down);
  const Lanes least = to_above < to_corner ? to_above : to_corner;
  const Lanes nearer = to_above <= to_corner ? above : corner;
  return to_left <= least ? left : nearer;
}

// The pixel to the left stays in registers, all its samples side by side: byte by byte through
// memory, Paeth took 2.6 times as long (benchmarks/png.py).
template <std::size_t kStep, typename Predict>
void restore(const std::uint8_t* filtered, const std::uint8_t* above, std::size_t size,
             std::uint8_t* row, Predict predict) noexcept {
  Lanes left{};
  Lanes corner{};
  for (std::size_t at = 0; at + kStep <= size; at += kStep) {
    const Lanes up = load<kStep>(above + at, size - at);
    left = (load<kStep>(filtered + at, size - at) + predict(left, up, corner)) & 255;
    corner = up;
    const Packed bytes = __builtin_convertvector(left, Packed);
    std::memcpy(row + at, &bytes, kStep);
  }
}

template <std::size_t kStep>
void unfilter(std::uint8_t filter, const std::uint8_t* filtered, const std::uint8_t* above,
              std::size_t size, std::uint8_t* row) noexcept {
  switch (filter) {
    case kSub:
      restore<kStep>(filtered, above, size, row, [](Lanes left, Lanes, Lanes) { return left; });
      break;
    case kAverage:
      restore<kStep>(filtered, above, size, row,
                     [](Lanes left, Lanes up, Lanes) { return (left + up) >> 1; });
      break;
    default:
      restore<kStep>(filtered, above, size, row,
                     [](Lanes left, Lanes up, Lanes corner) { return paeth(left, up, corner); });
  }
}

// How far a difference is from zero in either direction, modulo 256.
std::uint64_t weight(std::uint8_t difference) noexcept {
  return difference < 128 ? difference : 256U - difference;
}

template <typename Predict>
std::uint64_t subtract(const std::uint8_t* row, const std::uint8_t* above, std::size_t size,
                       std::size_t step, std::uint8_t* filtered, Predict predict) noexcept {
  std::uint64_t sum = 0;
  const std::size_t first = std::min(step, size);
  for (std::size_t i = 0; i < first; ++i) {
    filtered[i] = static_cast<std::uint8_t>(row[i] - predict(0, above[i], 0));
    sum += weight(filtered[i]);
  }
  for (std::size_t i = first; i < size; ++i) {
    filtered[i] =
        static_cast<std::uint8_t>(row[i] - predict(row[i - step], above[i], above[i - step]));
    sum += weight(filtered[i]);
  }
  return sum;
}

}  // namespace

bool unfilter_png_row(std::uint8_t filter, const std::uint8_t* filtered, const std::uint8_t* above,
                      std::size_t size, std::size_t step, std::uint8_t* row) noexcept {
  if (filter == kNone) {
    std::memmove(row, filtered, size);
    return true;
  }
  if (filter == kUp) {
    for (std::size_t i = 0; i < size; ++i) {
      row[i] = static_cast<std::uint8_t>(filtered[i] + above[i]);
    }
    return true;
  }
  if (filter > kPaeth) return false;
  switch (step) {
    case 1:
      unfilter<1>(filter, filtered, above, size, row);
      break;
    case 2:
      unfilter<2>(filter, filtered, above, size, row);
      break;
    case 3:
      unfilter<3>(filter, filtered, above, size, row);
      break;
    case 4:
      unfilter<4>(filter, filtered, above, size, row);
      break;
    case 6:
      unfilter<6>(filter, filtered, above, size, row);
      break;
    default:
      unfilter<8>(filter, filtered, above, size, row);
  }
  return true;
}

std::uint64_t filter_png_row(std::uint8_t filter, const std::uint8_t* row,
                             const std::uint8_t* above, std::size_t size, std::size_t step,
                             std::uint8_t* filtered) noexcept {
  switch (filter) {
    case kNone:
      return subtract(row, above, size, step, filtered, [](int, int, int) { return 0; });
    case kSub:
      return subtract(row, above, size, step, filtered, [](int left, int, int) { return left; });
    case kUp:
      return subtract(row, above, size, step, filtered, [](int, int up, int) { return up; });
    case kAverage:
      return subtract(row, above, size, step, filtered,
                      [](int left, int up, int) { return (left + up) / 2; });
    default:
      return subtract(row, above, size, step, filtered, paeth_of);
  }
}

}  // namespace tfrkit
