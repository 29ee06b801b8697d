// The format of an image, and its size if the header says it, from the first bytes of the file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bytes/bytes.h"

namespace tfrkit {

// The numbers are part of the Python module.
enum class ImageFormat : std::uint8_t { kNone = 0, kJpeg, kPng, kGif, kWebp, kBmp };
inline constexpr std::size_t kImageFormats = 6;  // none is one of them

struct ImageHeader {
  ImageFormat format = ImageFormat::kNone;
  bool has_size = false;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

// Looks at the header only; of a JPEG at the segments before its frame. `bytes` may be the
// beginning of a file of `file_bytes`.
[[nodiscard]] ImageHeader read_image_header(Bytes bytes, std::size_t file_bytes) noexcept;

[[nodiscard]] inline ImageHeader read_image_header(Bytes bytes) noexcept {
  return read_image_header(bytes, bytes.size());
}

// What the frame header of a JPEG file says.
struct JpegFrame {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::uint32_t channels = 0;
};

// Reads the frame of a whole JPEG file in the usual form: segments that follow each other, a frame
// with pixels, a scan, and the end marker as the last two bytes. Returns false for any other bytes,
// which may be JPEG nevertheless; then `frame` says nothing.
[[nodiscard]] bool read_usual_jpeg(Bytes file, JpegFrame& frame) noexcept;

}  // namespace tfrkit
