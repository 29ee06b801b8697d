#include "core/images/png/png_inflate.h"

#include <cstdint>
#include <string>
#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

using Row = std::vector<std::uint8_t>;

// What zlib made of short texts, one stream of each kind of blocks.
const Row kStored{120, 1,  1,   12,  0,   243, 255, 104, 101, 108, 108, 111,
                  44,  32, 104, 101, 108, 108, 111, 28,  218, 4,   117};
const Row kFixed{120, 1, 75, 76, 74, 78, 132, 161, 148, 10, 44, 0, 0, 233, 17, 14, 93};
const Row kDynamic{120, 218, 5,   193, 139, 14,  64,  32,  0,   0,   192, 30,  210, 136,
                   104, 197, 100, 73,  91,  89,  53,  83,  252, 255, 207, 185, 3,   0,
                   64,  132, 9,   237, 24,  23,  106, 51,  46,  228, 2,   233, 40,  181,
                   139, 165, 25,  148, 185, 10,  153, 180, 127, 90,  97,  18,  226, 123,
                   68,  211, 113, 211, 37,  192, 217, 189, 220, 86,  126, 126, 194, 227,
                   53,  247, 22,  168, 196, 28,  214, 85,  230, 31,  246, 233, 6,   218};

Row dynamic_content() {
  Row content;
  for (unsigned i = 0; i < 80; ++i) content.push_back(static_cast<std::uint8_t>(i * i / 7 % 50));
  return content;
}

Row as_row(const std::string& text) { return {text.begin(), text.end()}; }

// The content, or nothing if the stream is refused; what is after the slack must stay as it is.
Row inflate(const Row& stream, std::size_t size) {
  constexpr std::uint8_t kMark = 171;
  Row room(size + kInflateSlack + 1, kMark);
  if (!inflate_zlib(stream, size, std::span(room).first(size + kInflateSlack))) room.clear();
  CHECK(room.empty() || room.back() == kMark);
  room.resize(room.empty() ? 0 : size);
  return room;
}

TEST(stored_blocks_are_copied) { CHECK(inflate(kStored, 12) == as_row("hello, hello")); }

TEST(fixed_codes_and_copies_that_overlap) {
  CHECK(inflate(kFixed, 33) == as_row("abcabcabcabcd" + std::string(20, 'x')));
}

TEST(codes_of_the_block) { CHECK(inflate(kDynamic, 80) == dynamic_content()); }

TEST(other_sizes_are_refused) {
  for (const std::size_t size : {0U, 79U, 81U, 1000U}) CHECK(inflate(kDynamic, size).empty());
}

TEST(every_cut_and_every_longer_stream_is_refused) {
  for (const auto& [stream, size] : {std::pair(kStored, 12U), {kFixed, 33U}, {kDynamic, 80U}}) {
    for (std::size_t length = 0; length < stream.size(); ++length) {
      const Row cut(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(length));
      CHECK(inflate(cut, size).empty());
    }
    Row longer = stream;
    longer.push_back(0);
    CHECK(inflate(longer, size).empty());
  }
}

TEST(a_changed_bit_is_refused_or_means_the_same) {
  for (const auto& [stream, size] : {std::pair(kStored, 12U), {kFixed, 33U}, {kDynamic, 80U}}) {
    const Row content = inflate(stream, size);
    for (std::size_t bit = 0; bit < 8 * stream.size(); ++bit) {
      Row changed = stream;
      changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ (1U << (bit % 8)));
      const Row found = inflate(changed, size);
      CHECK(found.empty() || found == content);
    }
  }
}

TEST(copies_from_before_the_beginning_are_refused) {
  // Fixed codes: a length of 3 at a distance of 1, first of all.
  CHECK(inflate({120, 1, 3, 2, 0, 0, 0, 0, 1}, 3).empty());
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
