#include "core/images/png/png_file.h"

#include <cstdint>
#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

using Row = std::vector<std::uint8_t>;

// 3 x 2 pixels of gray: rows without a filter, and with differences to the left.
const Row kFile{137, 80,  78, 71,  13,  10, 26, 10,  0,  0,   0,   13, 73,  72,  68, 82, 0,  0,  0,
                3,   0,   0,  0,   2,   8,  0,  0,   0,  0,   184, 31, 57,  198, 0,  0,  0,  16, 73,
                68,  65,  84, 120, 218, 99, 96, 100, 98, 102, 228, 98, 100, 4,   0,  0,  79, 0,  20,
                112, 111, 80, 255, 0,   0,  0,  0,   73, 69,  78,  68, 174, 66,  96, 130};
const Row kPixels{1, 2, 3, 10, 11, 12};
constexpr std::size_t kHeaderEnd = 33;
// A chunk of text with its checksum, and one that readers must know.
const Row kText{0, 0, 0, 1, 't', 'E', 'X', 't', 'a', 117, 243, 139, 41};
const Row kPalette{0, 0, 0, 3, 'P', 'L', 'T', 'E', 1, 2, 3, 13, 135, 100, 213};

Row decode(const Row& file, std::uint32_t height = 2, std::uint32_t width = 3, int channels = 1) {
  PngFileDecoder decoder(height, width, channels);
  Row target(std::size_t{height} * width * static_cast<std::size_t>(channels));
  return decoder.decode(file, target) ? target : Row{};
}

Row with_chunk(const Row& chunk) {
  Row file = kFile;
  file.insert(file.begin() + kHeaderEnd, chunk.begin(), chunk.end());
  return file;
}

TEST(a_plain_file_is_decoded) { CHECK(decode(kFile) == kPixels); }

TEST(one_decoder_takes_many_files) {
  PngFileDecoder decoder(2, 3, 1);
  for (int i = 0; i < 3; ++i) {
    Row target(6);
    CHECK(!decoder.decode({}, target));
    CHECK(decoder.decode(kFile, target));
    CHECK(target == kPixels);
  }
}

TEST(other_sizes_and_channels_are_left) {
  CHECK(decode(kFile, 3, 2).empty());
  CHECK(decode(kFile, 2, 3, 3).empty());
  CHECK(decode(kFile, 1, 6).empty());
}

TEST(every_cut_is_left) {
  for (std::size_t length = 0; length < kFile.size(); ++length) {
    CHECK(decode(Row(kFile.begin(), kFile.begin() + static_cast<std::ptrdiff_t>(length))).empty());
  }
}

TEST(a_changed_bit_is_left) {
  for (std::size_t bit = 0; bit < 8 * kFile.size(); ++bit) {
    Row changed = kFile;
    changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ (1U << (bit % 8)));
    CHECK(decode(changed).empty());
  }
}

TEST(text_changes_nothing_and_what_must_be_known_is_left) {
  CHECK(decode(with_chunk(kText)) == kPixels);
  CHECK(decode(with_chunk(kPalette)).empty());
  CHECK(decode(with_chunk({0, 0, 0, 1, 't', 'E', 'X', 't', 'b', 117, 243, 139, 41})).empty());
}

TEST(sides_are_limited) {
  CHECK(is_plain_png(28, 28, 1) && is_plain_png(1, 1'000'000, 4));
  CHECK(!is_plain_png(0, 1, 1) && !is_plain_png(1, 1'000'001, 1));
  CHECK(!is_plain_png(1U << 19, 1U << 10, 1) && !is_plain_png(1, 1, 2));
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
