#include "core/bytes/number_text.h"

#include <string>
#include <string_view>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

constexpr int kBoth = kFitsInt | kFitsFloat;

int kind(std::string_view text) { return number_kind(text); }

TEST(integers_of_64_bits_are_integers) {
  for (const char* text : {"0", "7", "-7", "10", "9223372036854775807", "-9223372036854775808",
                           " 5", "5\t", "  -12  "}) {
    CHECK_EQ(kind(text), kSeenInt | kBoth);
  }
}

TEST(integers_beyond_64_bits_are_texts) {
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "18446744073709551616",
                           "12345678901234567890123"}) {
    CHECK_EQ(kind(text), kSeenText | kFitsFloat);
  }
  CHECK_EQ(kind(std::string(1000, '9')), kSeenText | kFitsFloat);
}

TEST(leading_zeros_make_a_text_that_can_be_read_as_a_number) {
  for (const char* text : {"007", "-01", "00", "0000000000000000000000000005"}) {
    CHECK_EQ(kind(text), kSeenText | kBoth);
  }
  CHECK_EQ(kind("00.5"), kSeenText | kFitsFloat);
  CHECK_EQ(kind("+5"), kSeenText | kFitsFloat);
  CHECK_EQ(kind("+0.5"), kSeenText | kFitsFloat);
}

TEST(other_numbers_are_floats) {
  for (const char* text : {"0.1", "-.5", "1.", "1e5", "1E+5", "2.5e-30", "nan", "NaN", "-inf",
                           "Infinity", "INF", "1e400", " 0.5 "}) {
    CHECK_EQ(kind(text), kSeenFloat | kFitsFloat);
  }
  CHECK_EQ(kind("-0"), kSeenFloat | kBoth);
}

TEST(everything_else_is_text) {
  for (const char* text :
       {"",       " ",    "-",       "+",     ".",     "-.",          "e5",  "1e",
        "1e+",    "1 2",  "1,5",     "0x10",  "1_000", "true",        "--1", "+-1",
        "nan(1)", "+nan", "infinit", "1.5.2", "1e5.0", "\xef\xbc\x91"}) {
    CHECK_EQ(kind(text), +kSeenText);
  }
  CHECK_EQ(kind(std::string_view("1\0", 2)), +kSeenText);
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
