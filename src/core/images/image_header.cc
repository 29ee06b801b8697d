#include "core/images/image_header.h"

#include <string_view>

namespace tfrkit {
namespace {

[[nodiscard]] std::uint32_t byte_at(Bytes bytes, std::size_t at) noexcept {
  return std::to_integer<std::uint32_t>(bytes[at]);
}

[[nodiscard]] std::uint32_t big16(Bytes bytes, std::size_t at) noexcept {
  return byte_at(bytes, at) << 8 | byte_at(bytes, at + 1);
}

[[nodiscard]] std::uint32_t little16(Bytes bytes, std::size_t at) noexcept {
  return load_le<std::uint16_t>(bytes.data() + at);
}

[[nodiscard]] std::uint32_t little24(Bytes bytes, std::size_t at) noexcept {
  return little16(bytes, at) | byte_at(bytes, at + 2) << 16;
}

[[nodiscard]] bool has_at(Bytes bytes, std::size_t at, std::string_view text) noexcept {
  return bytes.size() >= at + text.size() && as_text(bytes.subspan(at, text.size())) == text;
}

[[nodiscard]] ImageHeader sized(ImageFormat format, std::uint32_t width,
                                std::uint32_t height) noexcept {
  return {format, true, width, height};
}

// Starts of frames: C0 to CF but the tables C4, C8 and CC.
[[nodiscard]] constexpr bool is_frame(std::uint32_t marker) noexcept {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

// Walks the segments to the frame header.
[[nodiscard]] ImageHeader read_jpeg(Bytes bytes) noexcept {
  std::size_t at = 2;
  while (at < bytes.size() && bytes.size() - at >= 9 && byte_at(bytes, at) == 0xff) {
    const std::uint32_t marker = byte_at(bytes, at + 1);
    if (marker == 0xff) {  // a fill byte
      ++at;
    } else if (is_frame(marker)) {
      return sized(ImageFormat::kJpeg, big16(bytes, at + 7), big16(bytes, at + 5));
    } else if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {  // without a length
      at += 2;
    } else {
      at += 2 + big16(bytes, at + 2);
    }
  }
  return {ImageFormat::kJpeg};
}

[[nodiscard]] ImageHeader read_webp(Bytes bytes) noexcept {
  constexpr std::uint32_t kSizeBits = 0x3fff;
  if (bytes.size() < 30) return {ImageFormat::kWebp};
  if (has_at(bytes, 12, "VP8X")) {
    return sized(ImageFormat::kWebp, little24(bytes, 24) + 1, little24(bytes, 27) + 1);
  }
  if (has_at(bytes, 12, "VP8L")) {
    const auto bits = load_le<std::uint32_t>(bytes.data() + 21);
    return sized(ImageFormat::kWebp, (bits & kSizeBits) + 1, (bits >> 14 & kSizeBits) + 1);
  }
  if (has_at(bytes, 12, "VP8 ")) {
    return sized(ImageFormat::kWebp, little16(bytes, 26) & kSizeBits,
                 little16(bytes, 28) & kSizeBits);
  }
  return {ImageFormat::kWebp};
}

[[nodiscard]] ImageHeader read_bmp(Bytes bytes) noexcept {
  if (bytes.size() < 26) return {ImageFormat::kBmp};
  const auto width = load_le<std::uint32_t>(bytes.data() + 18);
  const auto height = load_le<std::uint32_t>(bytes.data() + 22);
  // Rows from top to bottom have a negative height.
  return sized(ImageFormat::kBmp, width, height >> 31 != 0 ? 0U - height : height);
}

}  // namespace

ImageHeader read_image_header(Bytes bytes, std::size_t file_bytes) noexcept {
  using namespace std::string_view_literals;
  if (has_at(bytes, 0, "\xff\xd8\xff"sv)) return read_jpeg(bytes);
  if (has_at(bytes, 0, "\x89PNG\r\n\x1a\n"sv)) {
    if (bytes.size() < 24) return {ImageFormat::kPng};
    return sized(ImageFormat::kPng, big16(bytes, 16) << 16 | big16(bytes, 18),
                 big16(bytes, 20) << 16 | big16(bytes, 22));
  }
  if (has_at(bytes, 0, "GIF87a") || has_at(bytes, 0, "GIF89a")) {
    if (bytes.size() < 10) return {ImageFormat::kGif};
    return sized(ImageFormat::kGif, little16(bytes, 6), little16(bytes, 8));
  }
  if (has_at(bytes, 0, "RIFF") && has_at(bytes, 8, "WEBP")) return read_webp(bytes);
  // Two letters are not much: the file must be as long as it says.
  if (has_at(bytes, 0, "BM") && bytes.size() >= 6 &&
      load_le<std::uint32_t>(bytes.data() + 2) == file_bytes) {
    return read_bmp(bytes);
  }
  return {};
}

bool read_usual_jpeg(Bytes file, JpegFrame& frame) noexcept {
  constexpr std::size_t kMostSegments = 1000;
  constexpr std::uint32_t kScan = 0xda;
  using namespace std::string_view_literals;
  if (!has_at(file, 0, "\xff\xd8\xff"sv) || !has_at(file, file.size() - 2, "\xff\xd9"sv)) {
    return false;
  }
  bool found = false;
  const Bytes body = file.first(file.size() - 2);
  std::size_t at = 2;
  for (std::size_t i = 0; i < kMostSegments && body.size() - at >= 4; ++i) {
    const std::uint32_t marker = byte_at(body, at + 1);
    const std::size_t size = big16(body, at + 2);
    // From C0 on all but restarts, beginning and end have a length.
    const bool usual = marker >= 0xc0 && marker != 0xff && (marker < 0xd0 || marker > 0xd9);
    if (byte_at(body, at) != 0xff || !usual || size < 2 || size > body.size() - at - 2)
      return false;
    if (marker == kScan) return found;
    if (is_frame(marker) && !found) {
      if (size < 8) return false;
      frame = {big16(body, at + 5), big16(body, at + 7), byte_at(body, at + 9)};
      if (frame.height == 0 || frame.width == 0) return false;
      found = true;
    }
    at += 2 + size;
  }
  return false;
}

}  // namespace tfrkit
