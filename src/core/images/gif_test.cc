#include "core/images/gif.h"

#include <utility>
#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

using Row = std::vector<std::uint8_t>;

// Puts codes together, each with its number of bits, in one block with an empty one behind.
Row block_of(std::uint8_t code_size, const std::vector<std::pair<unsigned, unsigned>>& codes) {
  Row bytes;
  std::uint32_t held = 0;
  unsigned count = 0;
  for (const auto& [code, bits] : codes) {
    held |= code << count;
    for (count += bits; count >= 8; count -= 8, held >>= 8) {
      bytes.push_back(static_cast<std::uint8_t>(held));
    }
  }
  if (count > 0) bytes.push_back(static_cast<std::uint8_t>(held));
  Row file{code_size, static_cast<std::uint8_t>(bytes.size())};
  file.insert(file.end(), bytes.begin(), bytes.end());
  file.push_back(0);
  return file;
}

// The pixels of a frame; measuring must say the same.
Row decode(const Row& file, const GifSize& size, GifEnd expected = GifEnd::kOk) {
  Row pixels(size.width * size.height, 99);
  const GifFrame frame = decode_gif_frame(file, 0, size, pixels);
  const GifFrame measured = measure_gif_frame(file, 0, size);
  CHECK(frame.end == expected);
  CHECK(measured.end == expected);
  CHECK_EQ(frame.position, measured.position);
  if (expected == GifEnd::kOk) CHECK_EQ(frame.position, file.size());
  return pixels;
}

constexpr unsigned kClear = 4;
constexpr unsigned kEnd = 5;

TEST(codes_stand_for_strings) {
  // 6 is the pair that the two codes before it made, 8 the one that it makes itself.
  const Row file = block_of(2, {{kClear, 3}, {1, 3}, {2, 3}, {6, 3}, {8, 4}, {3, 4}, {kEnd, 4}});
  CHECK(decode(file, {4, 2, false}) == (Row{1, 2, 1, 2, 1, 2, 1, 3}));
}

TEST(interlaced_rows_come_to_their_places) {
  const Row file = block_of(
      2, {{kClear, 3}, {0, 3}, {1, 3}, {2, 3}, {3, 4}, {0, 4}, {1, 4}, {2, 4}, {3, 4}, {0, 4}});
  // Rows 0 and 8, then 4, then 2 and 6, then the odd ones.
  CHECK(decode(file, {1, 9, true}) == (Row{0, 1, 3, 2, 2, 3, 0, 0, 1}));
}

TEST(end_code_before_the_last_pixel_is_too_soon) {
  (void)decode(block_of(2, {{kClear, 3}, {1, 3}, {kEnd, 3}}), {2, 1, false}, GifEnd::kTooSoon);
}

TEST(empty_block_before_the_last_pixel_is_defective) {
  (void)decode({2, 0}, {1, 1, false}, GifEnd::kDefective);
}

TEST(first_code_must_be_a_pixel) {
  (void)decode(block_of(2, {{kClear, 3}, {7, 3}}), {1, 1, false}, GifEnd::kDefective);
}

TEST(every_cut_is_seen) {
  const Row file = block_of(2, {{kClear, 3}, {1, 3}, {2, 3}, {6, 3}, {8, 4}, {3, 4}, {kEnd, 4}});
  for (std::size_t size = 0; size < file.size(); ++size) {
    (void)decode(Row(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)), {4, 2, false},
                 GifEnd::kCut);
  }
}

TEST(code_size_is_at_most_8) { (void)decode({9, 1, 0, 0}, {1, 1, false}, GifEnd::kCut); }

TEST(claims_need_no_memory_to_be_refused) {
  const Row file = block_of(2, {{kClear, 3}, {1, 3}, {kEnd, 3}});
  CHECK(measure_gif_frame(file, 0, {65535, 65535, false}).end == GifEnd::kTooSoon);
}

TEST(frames_are_painted_where_they_lie_on_the_canvas) {
  const Row colors{1, 2, 3, 4, 5, 6};
  const Row pixels{0, 1, 1, 0};
  Row canvas(18);
  const auto paint = [&](std::size_t left, std::size_t top, int transparent) {
    return paint_gif_frame({left, top, 2, 2, 3, 2, transparent}, pixels, colors, canvas);
  };
  CHECK_EQ(paint(2, 1, -1), -1);
  CHECK(canvas == (Row{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3}));
  CHECK_EQ(paint(1, 0, 0), -1);
  CHECK(canvas == (Row{0, 0, 0, 0, 0, 0, 4, 5, 6, 0, 0, 0, 4, 5, 6, 1, 2, 3}));
  CHECK_EQ(paint(3, 0, -1), -1);
  CHECK_EQ(paint(0, 2, -1), -1);
}

TEST(number_without_a_color_is_told) {
  Row canvas(6);
  CHECK_EQ(paint_gif_frame({0, 0, 2, 1, 2, 1, -1}, Row{0, 9}, Row{1, 2, 3}, canvas), 9);
  CHECK_EQ(paint_gif_frame({0, 0, 2, 1, 2, 1, 9}, Row{0, 9}, Row{1, 2, 3}, canvas), -1);
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
