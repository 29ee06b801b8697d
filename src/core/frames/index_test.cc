#include "core/frames/index.h"

#include <limits>
#include <string>
#include <vector>

#include "core/bytes/check.h"
#include "core/frames/reference.h"

namespace tfrkit {
namespace {

using ByteVector = std::vector<std::byte>;
using Entries = std::vector<std::int64_t>;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// The contents of an index, `frames` without the stream's end.
struct Index {
  std::uint32_t compression = 0;
  std::uint32_t tail_crc = 0;
  std::uint64_t shard_bytes = 0;
  Entries frames;
  std::uint64_t stream_bytes = 0;
  Entries member_file;
  Entries member_stream;

  friend bool operator==(const Index&, const Index&) = default;
};

Index plain() { return {0, 0xdeadbeef, 96, {0, 16, 50}, 96, {}, {}}; }
Index gzip() { return {2, 7, 60, {0, 20, 40}, 100, {0, 25, 59}, {0, 20, 100}}; }

IndexStatus encode(const Index& index, ByteVector& out) {
  const IndexHeader header{index.compression, index.tail_crc, index.shard_bytes,
                           index.frames.size(), index.member_file.size()};
  out.resize(measure_index(header.frames, header.members));
  return encode_index(header, index.frames, index.stream_bytes, index.member_file,
                      index.member_stream, out);
}

IndexCode code_of(const Index& index) {
  ByteVector out;
  return encode(index, out).code;
}

Index decode(const ByteVector& data) {
  IndexHeader header;
  CHECK(check_index(data, header).code == IndexCode::kOk);
  Index index{header.compression,
              header.tail_crc,
              header.shard_bytes,
              Entries(header.frames + 1),
              0,
              Entries(header.members),
              Entries(header.members)};
  decode_index_unchecked(data, header, index.frames, index.member_file, index.member_stream);
  index.stream_bytes = static_cast<std::uint64_t>(index.frames.back());
  index.frames.pop_back();
  return index;
}

// Replaces the last four bytes by the right CRC.
void seal(ByteVector& data) {
  store_le(data.data() + data.size() - 4, reference::crc32c(Bytes(data).first(data.size() - 4)));
}

TEST(round_trip) {
  const Index empty_gzip{2, 0, 20, {}, 0, {0}, {0}};
  for (const Index& index : {Index{}, plain(), gzip(), empty_gzip}) {
    ByteVector bytes;
    CHECK(encode(index, bytes).code == IndexCode::kOk);
    CHECK_EQ(bytes.size(), 52 + 8 * index.frames.size() + 16 * index.member_file.size());
    CHECK(decode(bytes) == index);
  }
}

TEST(golden_bytes) {
  ByteVector bytes;
  CHECK(encode({0, 0x04030201, 20, {0}, 20, {}, {}}, bytes).code == IndexCode::kOk);
  std::string head = "TFRKIDX1";
  head.append("\x00\x00\x00\x00\x01\x02\x03\x04", 8).append("\x14\x00\x00\x00\x00\x00\x00\x00", 8);
  head.append("\x01\x00\x00\x00\x00\x00\x00\x00", 8).append(8, '\0').append(8, '\0');
  head.append("\x14\x00\x00\x00\x00\x00\x00\x00", 8);
  ByteVector expected(reference::as_bytes(head).begin(), reference::as_bytes(head).end());
  reference::append(expected, reference::crc32c(expected));
  CHECK(bytes == expected);
}

TEST(every_truncation_is_rejected) {
  ByteVector bytes;
  CHECK(encode(gzip(), bytes).code == IndexCode::kOk);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    IndexHeader header;
    const IndexCode code = check_index(Bytes(bytes).first(size), header).code;
    CHECK(code == (size < kMinIndexBytes ? IndexCode::kTooShort : IndexCode::kSize));
  }
  IndexHeader header;
  bytes.push_back(std::byte{0});
  CHECK(check_index(bytes, header).code == IndexCode::kSize);
}

TEST(every_flipped_bit_is_rejected) {
  ByteVector bytes;
  CHECK(encode(gzip(), bytes).code == IndexCode::kOk);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      bytes[at] ^= static_cast<std::byte>(1U << bit);
      IndexHeader header;
      const IndexCode code = check_index(bytes, header).code;
      const IndexCode expected = at < 8                ? IndexCode::kMagic
                                 : at >= 24 && at < 40 ? IndexCode::kSize
                                                       : IndexCode::kChecksum;
      CHECK(code == expected);
      bytes[at] ^= static_cast<std::byte>(1U << bit);
    }
  }
}

TEST(hostile_counts_are_rejected_by_the_size) {
  for (const std::uint64_t count :
       {~std::uint64_t{0}, ~std::uint64_t{0} / 8, ~std::uint64_t{0} / 8 + 1,
        ~std::uint64_t{0} / 16 + 1, std::uint64_t{1} << 63, std::uint64_t{1} << 61,
        std::uint64_t{1} << 60, std::uint64_t{1} << 32}) {
    for (const std::size_t field : {24UL, 32UL}) {
      ByteVector bytes;
      CHECK(encode(gzip(), bytes).code == IndexCode::kOk);
      store_le(bytes.data() + field, count);
      seal(bytes);
      IndexHeader header;
      CHECK(check_index(bytes, header).code == IndexCode::kSize);
    }
  }
  CHECK_EQ(measure_index(~std::uint64_t{0}, 0), 0U);
  CHECK_EQ(measure_index(0, ~std::uint64_t{0}), 0U);
}

TEST(rules_of_the_header) {
  Index index = plain();
  index.compression = 3;
  CHECK(code_of(index) == IndexCode::kCompression);
  index = gzip();
  index.shard_bytes = std::uint64_t{1} << 63;
  CHECK(code_of(index) == IndexCode::kShardBytes);
  index = gzip();
  index.compression = 1;
  CHECK(code_of(index) == IndexCode::kMembers);
  index.member_file.clear();
  index.member_stream.clear();
  CHECK(code_of(index) == IndexCode::kOk);
}

TEST(rules_of_the_frames) {
  Index index = plain();
  index.frames[0] = 1;
  CHECK(code_of(index) == IndexCode::kFirstFrame);
  index = plain();
  index.stream_bytes = 95;
  CHECK(code_of(index) == IndexCode::kStreamEnd);
  index = Index{};
  index.stream_bytes = 1;
  CHECK(code_of(index) == IndexCode::kFirstFrame);
  for (const std::int64_t start : {std::int64_t{15}, std::int64_t{-1}, std::int64_t{35}, kMax}) {
    index = plain();
    index.frames[1] = start;
    ByteVector bytes;
    const IndexStatus status = encode(index, bytes);
    CHECK(status.code == IndexCode::kFrameOrder);
    CHECK_EQ(status.entry, start == 35 || start == kMax ? 2U : 1U);
  }
  index = plain();
  index.stream_bytes = 65;  // the last frame has less than 16 bytes
  CHECK(code_of(index) == IndexCode::kFrameOrder);
  index = gzip();
  index.stream_bytes = static_cast<std::uint64_t>(kMax) + 1;
  CHECK(code_of(index) == IndexCode::kFrameOrder);
  index.stream_bytes = static_cast<std::uint64_t>(kMax);
  CHECK(code_of(index) == IndexCode::kOk);
}

TEST(rules_of_the_members) {
  Index index = gzip();
  index.member_file[0] = 1;
  CHECK(code_of(index) == IndexCode::kMemberRange);
  index = gzip();
  index.member_stream[0] = 1;
  CHECK(code_of(index) == IndexCode::kMemberRange);
  index = gzip();
  index.member_file[2] = 25;
  CHECK(code_of(index) == IndexCode::kMemberOrder);
  index = gzip();
  index.member_stream[2] = 20;
  CHECK(code_of(index) == IndexCode::kMemberOrder);
  index = gzip();
  index.member_file[2] = 60;
  ByteVector bytes;
  const IndexStatus status = encode(index, bytes);
  CHECK(status.code == IndexCode::kMemberRange);
  CHECK_EQ(status.entry, 2U);
  index = gzip();
  index.member_stream[2] = 101;
  CHECK(code_of(index) == IndexCode::kMemberRange);
  index = gzip();
  index.member_stream[2] = -1;
  CHECK(code_of(index) == IndexCode::kMemberRange);
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
