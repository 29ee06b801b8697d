#include "core/bytes/pad.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

// The padded rows one after another, or "bad".
std::string pad(std::string_view values, const std::vector<std::int64_t>& splits,
                std::size_t item_bytes, std::size_t width, std::string_view filler) {
  const Rows rows{std::as_bytes(std::span(values)), splits, item_bytes};
  std::string target(rows.count() * width * item_bytes, '?');
  const bool good = pad_rows(rows, 0, width, std::as_bytes(std::span(filler)),
                             std::as_writable_bytes(std::span(target)));
  return good ? target : "bad";
}

TEST(short_rows_are_filled) {
  CHECK(pad("abcd", {0, 3, 3, 4}, 1, 3, ".") == "abc...d..");
  CHECK(pad("aabbccdd", {0, 3, 3, 4}, 2, 3, "<>") == "aabbcc<><><>dd<><>");
}

TEST(zero_is_a_filler_like_any_other) {
  CHECK(pad("ab", {0, 1, 2}, 1, 2, std::string_view("\0", 1)) == std::string("a\0b\0", 4));
}

TEST(long_rows_are_cut) {
  CHECK(pad("abcdef", {0, 4, 6}, 1, 2, ".") == "abef");
  CHECK(pad("abcdef", {0, 4, 6}, 1, 0, ".").empty());
}

TEST(rows_in_the_middle_can_be_had_alone) {
  const std::string_view values = "abcd";
  const std::vector<std::int64_t> splits{0, 1, 3, 4};
  std::string target(4, '?');
  CHECK(pad_rows({std::as_bytes(std::span(values)), splits, 1}, 1, 2,
                 std::as_bytes(std::span(std::string_view("."))),
                 std::as_writable_bytes(std::span(target))));
  CHECK(target == "bcd.");
}

TEST(no_rows_are_nothing) {
  CHECK(pad("", {}, 1, 3, ".").empty());
  CHECK(pad("", {0}, 1, 3, ".").empty());
  CHECK(pad("", {0, 0}, 0, 3, "").empty());
}

TEST(rows_outside_the_values_are_refused) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  CHECK(pad("abc", {0, 4}, 1, 1, ".") == "bad");
  CHECK(pad("abc", {0, 2}, 2, 1, "..") == "bad");
  CHECK(pad("abc", {2, 1}, 1, 1, ".") == "bad");
  CHECK(pad("abc", {-1, 1}, 1, 1, ".") == "bad");
  CHECK(pad("abc", {kMax, kMax}, 1, 1, ".") == "bad");
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
