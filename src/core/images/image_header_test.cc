#include "core/images/image_header.h"

#include <cstddef>
#include <span>
#include <string>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

using namespace std::string_literals;

const std::string kTable = "\xff\xdb\x00\x04\x01\x02"s;
const std::string kFrame = "\xff\xc2\x00\x0b\x08\x00\x10\x01\x20\x01\x01\x11\x00"s;
const std::string kScan = "\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"s;

std::string jpeg(const std::string& header, const std::string& pixels = "\x12\xff\x00\x34"s) {
  return "\xff\xd8" + header + kScan + pixels + "\xff\xd9";
}

bool is_usual(const std::string& file, JpegFrame& frame) {
  return read_usual_jpeg(std::as_bytes(std::span(file)), frame);
}

bool is_usual(const std::string& file) {
  JpegFrame frame;
  return is_usual(file, frame);
}

TEST(a_usual_jpeg_says_its_size) {
  JpegFrame frame;
  CHECK(is_usual(jpeg(kTable + kFrame + kTable), frame));
  CHECK_EQ(frame.height, 0x10U);
  CHECK_EQ(frame.width, 0x120U);
  CHECK_EQ(frame.channels, 1U);
  CHECK(is_usual(jpeg(kFrame, "")));
}

TEST(every_truncation_of_a_jpeg_is_unusual) {
  const std::string file = jpeg(kTable + kFrame);
  for (std::size_t size = 0; size < file.size(); ++size) CHECK(!is_usual(file.substr(0, size)));
}

TEST(every_truncation_with_an_end_is_read_within_its_bytes) {
  const std::string file = jpeg(kTable + kFrame);
  const std::size_t header = 2 + kTable.size() + kFrame.size() + kScan.size();
  for (std::size_t size = 0; size < file.size(); ++size) {
    CHECK_EQ(is_usual(file.substr(0, size) + "\xff\xd9"), size >= header);
  }
}

TEST(anything_else_is_left_to_the_exact_reader) {
  CHECK(!is_usual(jpeg(kTable)));                        // no frame
  CHECK(!is_usual(jpeg("\xff" + kFrame)));               // a fill byte
  CHECK(!is_usual(jpeg("\x00"s + kFrame)));              // bytes between segments
  CHECK(!is_usual(jpeg("\xff\xd0" + kFrame)));           // a restart
  CHECK(!is_usual(jpeg("\xff\x01" + kFrame)));           // a marker without a length
  CHECK(!is_usual(jpeg("\xff\xd8\x00\x02"s + kFrame)));  // begins twice
  CHECK(!is_usual(jpeg("\xff\xdb\x00\x01"s + kFrame)));  // too short to have a length
  CHECK(!is_usual(jpeg("\xff\xc0\x00\x04\x08\x00"s)));   // a frame that is too short
  CHECK(!is_usual(jpeg("\xff\xc0\x00\x08\x08\x00\x00\x00\x01\x01"s)));  // no rows
  CHECK(!is_usual(jpeg("\xff\xc0\x00\x08\x08\x00\x01\x00\x00\x01"s)));  // no columns
  CHECK(!is_usual(jpeg(kFrame) + "x"));                                 // bytes after the end
  std::string many;
  for (int i = 0; i < 1001; ++i) many += kTable;
  CHECK(!is_usual(jpeg(many + kFrame)));
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
