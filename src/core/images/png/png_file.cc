#include "core/images/png/png_file.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/images/png/png_inflate.h"

namespace tfrkit {
namespace {

constexpr std::array<std::uint8_t, 8> kSignature{137, 80, 78, 71, 13, 10, 26, 10};
constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 29;
constexpr std::size_t kAround = 12;  // length, name and checksum of a chunk
constexpr std::uint8_t kAncillary = 0x20;

using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

consteval CrcTables make_crc_tables() {
  CrcTables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320U : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t i = 1; i < tables.size(); ++i) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[i - 1][byte];
      tables[i][byte] = crc >> 8 ^ tables[0][crc & 255];
    }
  }
  return tables;
}

constexpr CrcTables kCrc = make_crc_tables();

// CRC-32 as in zlib, eight bytes at a time.
std::uint32_t crc32(Octets bytes) noexcept {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::memcpy(&low, bytes.data(), 4);
    std::memcpy(&high, bytes.data() + 4, 4);
    low ^= crc;
    crc = kCrc[7][low & 255] ^ kCrc[6][low >> 8 & 255] ^ kCrc[5][low >> 16 & 255] ^
          kCrc[4][low >> 24] ^ kCrc[3][high & 255] ^ kCrc[2][high >> 8 & 255] ^
          kCrc[1][high >> 16 & 255] ^ kCrc[0][high >> 24];
  }
  for (const std::uint8_t byte : bytes) crc = crc >> 8 ^ kCrc[0][(crc ^ byte) & 255];
  return ~crc;
}

std::uint32_t number_at(const std::uint8_t* bytes) noexcept {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

bool is_letter(std::uint8_t byte) noexcept {
  const auto small = static_cast<std::uint8_t>(byte | kAncillary);
  return small >= 'a' && small <= 'z';
}

// A chunk whose checksum holds.
struct Chunk {
  Octets name;
  Octets body;

  [[nodiscard]] bool is(const char* wanted) const noexcept {
    return std::memcmp(name.data(), wanted, name.size()) == 0;
  }
};

// Cuts a chunk off the front of `file`; false if it is cut, damaged or no chunk.
bool next_chunk(Octets& file, Chunk& chunk) noexcept {
  if (file.size() < kAround) return false;
  const std::size_t length = number_at(file.data());
  if (length > file.size() - kAround) return false;
  chunk.name = file.subspan(4, 4);
  chunk.body = file.subspan(8, length);
  const std::uint32_t stored = number_at(file.data() + 8 + length);
  if (!std::ranges::all_of(chunk.name, is_letter)) return false;
  if (stored != crc32(file.subspan(4, 4 + length))) return false;
  file = file.subspan(kAround + length);
  return true;
}

// Returns the compressed pixels, or nothing. What other chunks say does not change pixels that keep
// their colours, except those that every reader must know.
Octets find_pixels(Octets file, Octets header) noexcept {
  if (file.size() < kSignature.size() ||
      !std::ranges::equal(file.first(kSignature.size()), kSignature)) {
    return {};
  }
  file = file.subspan(kSignature.size());
  Chunk chunk;
  if (!next_chunk(file, chunk) || !chunk.is("IHDR") || !std::ranges::equal(chunk.body, header)) {
    return {};
  }
  Octets pixels;
  while (next_chunk(file, chunk)) {
    if (chunk.is("IEND")) return pixels;
    if (chunk.is("IDAT")) {
      if (!pixels.empty()) return {};
      pixels = chunk.body;
    } else if ((chunk.name[0] & kAncillary) == 0) {
      return {};
    }
  }
  return {};
}

PngColor color_of(int channels) noexcept {
  return channels == 1 ? PngColor::kGray : channels == 3 ? PngColor::kRgb : PngColor::kRgba;
}

}  // namespace

PngFileDecoder::PngFileDecoder(std::uint32_t height, std::uint32_t width, int channels)
    : header_{width, height, 8, color_of(channels), false},
      rows_(png_raw_bytes(header_) + kInflateSlack),
      scratch_(png_scratch_bytes(header_)) {
  conversion_.channels = channels;
  for (unsigned i = 0; i < 4; ++i) {
    expected_[i] = static_cast<std::uint8_t>(width >> (24 - 8 * i));
    expected_[i + 4] = static_cast<std::uint8_t>(height >> (24 - 8 * i));
  }
  expected_[8] = 8;
  expected_[9] = static_cast<std::uint8_t>(header_.color);
  expected_[10] = expected_[11] = expected_[12] = 0;  // methods; not interlaced
}

bool PngFileDecoder::decode(Octets file, std::span<std::uint8_t> target) noexcept {
  const Octets pixels = find_pixels(file, expected_);
  const std::size_t size = rows_.size() - kInflateSlack;
  return inflate_zlib(pixels, size, rows_) &&
         decode_png_rows(header_, conversion_, Octets(rows_).first(size), scratch_, target) ==
             Code::kOk;
}

bool is_plain_png(std::uint64_t height, std::uint64_t width, std::uint64_t channels) noexcept {
  return height > 0 && width > 0 && height <= kMaxPngSide && width <= kMaxPngSide &&
         height * width < kMostPixels && (channels == 1 || channels == 3 || channels == 4);
}

}  // namespace tfrkit
