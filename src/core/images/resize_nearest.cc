// Nearest neighbours: pixels are copied as they are.
#include <cstring>

#include "core/images/resize.h"
#include "core/images/resize_axis.h"

namespace tfrkit {
namespace {

// Copies pixels of `kBytes`; 0 if that is not known before.
template <std::size_t kBytes>
void copy_pixels(const std::byte* row, std::span<const std::uint32_t> columns, std::size_t bytes,
                 std::byte* target) noexcept {
  const std::size_t size = kBytes == 0 ? bytes : kBytes;
  for (const std::uint32_t x : columns) {
    if constexpr (kBytes == 0) {
      std::memcpy(target, row + x * size, size);
    } else {
      std::memcpy(target, row + x * kBytes, kBytes);
    }
    target += size;
  }
}

using CopyPixels = void (*)(const std::byte*, std::span<const std::uint32_t>, std::size_t,
                            std::byte*) noexcept;

CopyPixels copier(std::size_t bytes) noexcept {
  switch (bytes) {
    case 1:
      return copy_pixels<1>;
    case 2:
      return copy_pixels<2>;
    case 3:
      return copy_pixels<3>;
    case 4:
      return copy_pixels<4>;
    case 6:
      return copy_pixels<6>;
    case 8:
      return copy_pixels<8>;
    case 12:
      return copy_pixels<12>;
    case 16:
      return copy_pixels<16>;
    default:
      return copy_pixels<0>;
  }
}

}  // namespace

Code resize_nearest(const ResizeTask& task, Bytes input, const ResizeScratch& scratch,
                    std::span<std::byte> output) noexcept {
  ResizeSizes sizes;
  if (task.method != ResizeMethod::kNearest || measure_resize(task, sizes) != Code::kOk ||
      input.size() != sizes.input_bytes || output.size() != sizes.output_bytes ||
      scratch.indices.size() < sizes.indices) {
    return Code::kOutOfRange;
  }
  const std::span<std::uint32_t> rows = scratch.indices.first(task.out_height);
  const std::span<std::uint32_t> columns = scratch.indices.subspan(task.out_height, task.out_width);
  fill_nearest({task.height, task.out_height, 1, task.centers}, rows);
  fill_nearest({task.width, task.out_width, 1, task.centers}, columns);
  const std::size_t pixel = task.channels * pixel_bytes(task.type);
  const CopyPixels copy = copier(pixel);
  const std::size_t out_bytes = task.out_width * pixel;
  std::byte* target = output.data();
  for (std::size_t image = 0; image < task.images; ++image) {
    const std::byte* const start = input.data() + image * task.height * task.width * pixel;
    for (std::size_t y = 0; y < task.out_height; ++y, target += out_bytes) {
      if (y != 0 && rows[y] == rows[y - 1]) {
        std::memcpy(target, target - out_bytes, out_bytes);
      } else {
        copy(start + rows[y] * task.width * pixel, columns, pixel, target);
      }
    }
  }
  return Code::kOk;
}

}  // namespace tfrkit
