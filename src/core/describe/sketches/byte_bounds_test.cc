#include "core/describe/sketches/byte_bounds.h"

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

using namespace std::string_literals;

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string head_of(const ByteHead& head) {
  const auto bytes = head.bytes();
  return std::string(as_text(Bytes(bytes)).substr(0, std::min<std::size_t>(head.size, kHeadBytes)));
}

TEST(heads_are_ordered_as_strings_are) {
  const std::vector<std::string> ordered = {
      ""s,
      "\0"s,
      "\0\0"s,
      std::string(16, '\0'),
      std::string(17, '\0'),
      "a"s,
      "a\0"s,
      "ab"s,
      "b234567890123456"s,
      "b2345678901234567"s,
      "b234567890123457"s,
      "\xff"s,
      std::string(16, '\xff'),
      std::string(40, '\xff'),
  };
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t k = 0; k < ordered.size(); ++k) {
      CHECK_EQ(ByteHead::of(bytes_of(ordered[i])) < ByteHead::of(bytes_of(ordered[k])), i < k);
    }
  }
}

TEST(a_head_keeps_sixteen_bytes_and_whether_more_follow) {
  CHECK(head_of(ByteHead::of(bytes_of("abc"s))) == "abc"s);
  CHECK_EQ(ByteHead::of(bytes_of("abc"s)).size, 3U);
  CHECK(head_of(ByteHead::of(bytes_of("1234567890123456"s))) == "1234567890123456"s);
  CHECK_EQ(ByteHead::of(bytes_of("1234567890123456"s)).size, 16U);
  CHECK(head_of(ByteHead::of(bytes_of("1234567890123456789"s))) == "1234567890123456"s);
  CHECK_EQ(ByteHead::of(bytes_of("1234567890123456789"s)).size, 17U);
}

TEST(bounds_are_those_of_random_strings) {
  std::mt19937 random(7);  // NOLINT: the same strings every time
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> strings(1 + random() % 5);
    ByteBounds bounds;
    ByteBounds later;
    for (std::size_t i = 0; i < strings.size(); ++i) {
      strings[i].resize(random() % 20);
      for (char& letter : strings[i]) letter = "\0a\xff"[random() % 3];
      (i < 2 ? bounds : later).add(bytes_of(strings[i]));
    }
    bounds.merge(later);
    const auto [least, greatest] = std::ranges::minmax(strings);
    CHECK(head_of(bounds.least) == least.substr(0, kHeadBytes));
    CHECK(head_of(bounds.greatest) == greatest.substr(0, kHeadBytes));
    CHECK_EQ(bounds.greatest.size > kHeadBytes, greatest.size() > kHeadBytes);
  }
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
