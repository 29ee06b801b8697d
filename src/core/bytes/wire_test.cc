#include "core/bytes/wire.h"

#include <initializer_list>
#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

using ByteVector = std::vector<std::byte>;

ByteVector bytes(std::initializer_list<int> values) {
  ByteVector out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

TEST(varints_have_up_to_ten_bytes) {
  std::uint64_t value = 0;
  const ByteVector longest = bytes({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01});
  Wire wire{Bytes(longest)};
  CHECK(wire.read_varint(value));
  CHECK_EQ(value, ~std::uint64_t{0});
  CHECK(wire.at_end());
  for (std::size_t size = 0; size < longest.size(); ++size) {
    CHECK(!Wire(Bytes(longest).first(size)).read_varint(value));
  }
  const ByteVector eleven(11, std::byte{0x80});
  CHECK(!Wire(Bytes(eleven)).read_varint(value));
}

TEST(tags_have_five_bytes_and_a_number) {
  std::uint32_t tag = 0;
  const ByteVector good = bytes({0x8a, 0x00});
  CHECK(Wire(Bytes(good)).read_tag(tag));
  CHECK_EQ(tag, 10U);
  const ByteVector zero = bytes({0x02});
  CHECK(!Wire(Bytes(zero)).read_tag(tag));
  const ByteVector six = bytes({0x8a, 0x80, 0x80, 0x80, 0x80, 0x00});
  CHECK(!Wire(Bytes(six)).read_tag(tag));
  const ByteVector wide = bytes({0xff, 0xff, 0xff, 0xff, 0x1f});
  CHECK(!Wire(Bytes(wide)).read_tag(tag));
}

TEST(messages_must_be_whole) {
  Bytes message;
  const ByteVector data = bytes({0x02, 0x61, 0x62, 0x63});
  Wire wire{Bytes(data)};
  CHECK(wire.read_message(message));
  CHECK_EQ(message.size(), 2U);
  CHECK_EQ(wire.left(), 1U);
  CHECK(!Wire(Bytes(data).first(2)).read_message(message));
  const ByteVector huge = bytes({0xff, 0xff, 0xff, 0xff, 0x0f});
  CHECK(!Wire(Bytes(huge)).read_message(message));
}

TEST(limits_are_cut_at_the_end) {
  const ByteVector data = bytes({1, 2, 3});
  const Wire wire{Bytes(data)};
  CHECK_EQ(wire.limit(2).left(), 2U);
  CHECK_EQ(wire.limit(3).left(), 3U);
  CHECK_EQ(wire.limit(4).left(), 3U);
  CHECK_EQ(wire.limit(0x80000000U).left(), 3U);
  CHECK_EQ(wire.limit(0).left(), 0U);
}

TEST(lengths_of_32_bits_drop_the_rest) {
  std::uint32_t length = 0;
  const ByteVector data = bytes({0x82, 0x80, 0x80, 0x80, 0x10});
  CHECK(Wire(Bytes(data)).read_length32(length));
  CHECK_EQ(length, 2U);
}

TEST(groups_are_skipped_to_their_own_end) {
  const auto skips = [](const ByteVector& data, std::size_t depth) {
    Wire wire{Bytes(data)};
    std::uint32_t tag = 0;
    return wire.read_tag(tag) && wire.skip_field(tag, depth) && wire.at_end();
  };
  CHECK(skips(bytes({0x0b, 0x0c}), 1));
  CHECK(!skips(bytes({0x0b, 0x0c}), 0));
  CHECK(!skips(bytes({0x0b, 0x14}), 9));
  CHECK(!skips(bytes({0x0b}), 9));
  CHECK(!skips(bytes({0x0c}), 9));
  CHECK(skips(bytes({0x0b, 0x13, 0x14, 0x08, 0x01, 0x0c}), 2));
  CHECK(!skips(bytes({0x0b, 0x13, 0x14, 0x0c}), 1));
  CHECK(skips(bytes({0x0b, 0x05, 1, 2, 3, 4, 0x00, 0x0a, 0x0c}), 1));  // number 0 inside
}

TEST(extraneous_fields_may_claim_too_much) {
  const auto skips = [](const ByteVector& data, std::size_t left) {
    Wire wire{Bytes(data)};
    return wire.skip_extraneous() && wire.left() == left;
  };
  CHECK(skips(bytes({0x10, 0x05, 0x77}), 1));
  CHECK(skips(bytes({0x12, 0x01, 0x61, 0x77}), 1));
  CHECK(skips(bytes({0x12, 0x7f, 0x61}), 0));
  CHECK(skips(bytes({0x12, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x61}), 1));
  CHECK(!skips(bytes({0x1d, 1, 2, 3}), 0));
  CHECK(!skips(bytes({0x19, 1, 2, 3, 4, 5, 6, 7}), 0));
  CHECK(!skips(bytes({0x0b, 0x0c}), 0));
  CHECK(!skips(bytes({0x0f}), 0));
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
