// PNG files of one size and kind to pixels, many one after another.
//
// Takes files as encoders write them: 8 bits, no palette, not interlaced, pixels in one piece,
// every checksum right. It answers only whether a file is such; all others, the damaged ones too,
// are left to the decoder that knows every rule of libpng.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/images/png/png.h"

namespace tfrkit {

class PngFileDecoder {
 public:
  // For images of this size, with 1, 3 or 4 samples a pixel. Throws std::bad_alloc.
  // Precondition: is_plain_png.
  PngFileDecoder(std::uint32_t height, std::uint32_t width, int channels);

  // Writes the pixels of a file, height * width * channels of them. Returns false, with anything in
  // the target, if the file has another size or is not beyond doubt.
  [[nodiscard]] bool decode(Octets file, std::span<std::uint8_t> target) noexcept;

 private:
  PngHeader header_;
  PngConversion conversion_;
  std::array<std::uint8_t, 13> expected_;  // the content of IHDR
  std::vector<std::uint8_t> rows_;
  std::vector<std::uint8_t> scratch_;
};

// Returns whether there are such images: the sides are 1 to kMaxPngSide, and less than libpng's
// pixels in all.
[[nodiscard]] bool is_plain_png(std::uint64_t height, std::uint64_t width,
                                std::uint64_t channels) noexcept;

}  // namespace tfrkit
