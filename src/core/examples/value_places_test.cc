#include "core/examples/value_places.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

using namespace std::string_literals;

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// A field of wire type 2.
std::string field(int number, const std::string& body) {
  return std::string(1, static_cast<char>((number << 3) | 2)) +
         std::string(1, static_cast<char>(body.size())) + body;
}

std::string entry(const std::string& key, const std::string& feature) {
  return field(1, field(1, key) + field(2, feature));
}

const std::string kStrings = field(1, field(1, "ab") + field(1, "") + field(1, "xyz"));
const std::string kFloats = field(2, field(1, "\0\0\x80\x3f\0\0\0\0"s));
const std::string kInts = field(3, field(1, "\x05\x80\x01"s));

std::string example(const std::string& entries) { return field(1, entries); }

const std::string kUsual =
    example(entry("s", kStrings) + entry("f", kFloats) + entry("other", kInts) + entry("i", kInts));

bool find(const std::string& record, std::span<FoundValues> found) {
  const std::array<Bytes, 3> keys{bytes_of("s"), bytes_of("f"), bytes_of("i")};
  return find_values(bytes_of(record), keys, found);
}

bool find(const std::string& record) {
  std::array<FoundValues, 3> found;
  return find(record, found);
}

TEST(values_are_found_where_they_lie) {
  std::array<FoundValues, 3> found;
  CHECK(find(kUsual, found));
  CHECK(found[0].kind == Kind::kBytes && found[1].kind == Kind::kFloat &&
        found[2].kind == Kind::kInt64);
  CHECK_EQ(found[0].count, 3U);
  CHECK_EQ(found[1].count, 2U);
  CHECK_EQ(found[2].count, 2U);
  CHECK_EQ(found[1].list.size(), 8U);

  std::array<std::int64_t, 3> offsets{};
  std::array<std::int64_t, 3> lengths{};
  const std::byte* const origin = bytes_of(kUsual).data();
  CHECK(place_strings(found[0].list, origin, offsets, lengths));
  std::vector<std::string> texts;
  texts.reserve(3);
  for (std::size_t i = 0; i < 3; ++i) {
    texts.push_back(
        kUsual.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
  }
  CHECK(texts == std::vector<std::string>({"ab", "", "xyz"}));
  const std::span<std::int64_t> fewer(offsets.data(), 2);
  CHECK(!place_strings(found[0].list, origin, fewer, fewer));
}

TEST(what_is_absent_has_no_kind) {
  std::array<FoundValues, 3> found;
  CHECK(find(example(entry("f", "")), found));
  for (const FoundValues& each : found) CHECK(each.kind == Kind::kUnset && each.count == 0);
  CHECK(find("", found));
  CHECK(find(example(entry("f", field(2, "")) + entry("i", field(3, field(1, "")))), found));
  CHECK(found[1].kind == Kind::kFloat && found[1].count == 0);
  CHECK(found[2].kind == Kind::kInt64 && found[2].count == 0);
}

TEST(unusual_records_are_left_to_others) {
  CHECK(!find(example(entry("s", kStrings) + entry("s", kStrings))));            // twice
  CHECK(!find(kUsual + kUsual));                                                 // features twice
  CHECK(!find(kUsual + field(7, "")));                                           // another field
  CHECK(!find(example(field(1, field(2, kInts) + field(1, "i")))));              // the value first
  CHECK(!find(example(entry("i", kInts + kInts))));                              // two lists
  CHECK(!find(example(entry("i", field(3, field(1, "\1") + field(1, "\2"))))));  // two pieces
  CHECK(!find(example(entry("i", field(3, "\x08\x01")))));                       // not packed
  CHECK(!find(example(entry("f", field(2, field(1, "abc"))))));                  // no floats
  CHECK(!find(example(entry("i", field(3, field(1, "\x80"))))));                 // no varint
  CHECK(!find(example(entry("s", field(4, "")))));                               // no such kind
  CHECK(!find(example(entry("\xff", kInts))));                                   // no text
  CHECK(!find(example(entry("s", field(1, field(2, "a"))))));                    // no string
}

TEST(every_cut_is_refused) {
  for (std::size_t size = 1; size < kUsual.size(); ++size) CHECK(!find(kUsual.substr(0, size)));
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
