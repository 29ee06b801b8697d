#include "core/frames/frame.h"

#include <array>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/check.h"
#include "core/frames/reference.h"

namespace tfrkit {
namespace {

using ByteVector = std::vector<std::byte>;

constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();

// A scan with outputs of its own.
struct Scanned {
  FrameScan scan;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> lengths;
};

Scanned run(Bytes data, std::size_t start = 0, const FrameChecks& checks = {},
            std::size_t capacity = 100) {
  Scanned scanned{{}, std::vector<std::int64_t>(capacity), std::vector<std::int64_t>(capacity)};
  scanned.scan = scan_frames(data, start, checks, scanned.offsets, scanned.lengths);
  scanned.offsets.resize(scanned.scan.count);
  scanned.lengths.resize(scanned.scan.count);
  return scanned;
}

ByteVector from_hex(std::string_view text) {
  ByteVector bytes;
  std::string digits;
  for (const char c : text) {
    if (c == ' ') continue;
    digits.push_back(c);
    if (digits.size() == 2) {
      bytes.push_back(static_cast<std::byte>(std::stoi(digits, nullptr, 16)));
      digits.clear();
    }
  }
  return bytes;
}

// "hello", "", "xyz" as TensorFlow writes them.
ByteVector golden() {
  return from_hex(
      "0500000000000000 eab2043e 68656c6c6f bb1f1c19"
      "0000000000000000 29039807 d8ea82a2"
      "0300000000000000 b099490e 78797a 1e358d73");
}

constexpr std::array<std::size_t, 4> kGoldenStarts{0, 21, 37, 56};
constexpr std::array<std::int64_t, 3> kGoldenLengths{5, 0, 3};

// A header with a right CRC, and nothing after it.
ByteVector header_only(std::uint64_t length) {
  ByteVector bytes;
  reference::append_header(bytes, length);
  return bytes;
}

TEST(scan_finds_the_golden_frames) {
  const ByteVector data = golden();
  const Scanned found = run(data);
  CHECK(found.scan.code == Code::kOk);
  CHECK_EQ(found.scan.end, data.size());
  CHECK_EQ(found.scan.length, 0U);
  CHECK_EQ(found.scan.need, 0U);
  CHECK((found.offsets == std::vector<std::int64_t>{12, 33, 49}));
  CHECK((found.lengths == std::vector<std::int64_t>{5, 0, 3}));
}

TEST(scan_of_nothing_is_ok) {
  const Scanned found = run({});
  CHECK(found.scan.code == Code::kOk);
  CHECK_EQ(found.scan.count, 0U);
  const ByteVector data = golden();
  CHECK(run(data, data.size()).scan.code == Code::kOk);
  CHECK_EQ(run(data, data.size()).scan.end, data.size());
}

TEST(scan_starts_where_told) {
  const ByteVector data = golden();
  const Scanned found = run(data, 21);
  CHECK(found.scan.code == Code::kOk);
  CHECK((found.offsets == std::vector<std::int64_t>{33, 49}));
}

TEST(scan_of_every_truncation_needs_more) {
  const ByteVector data = golden();
  for (std::size_t size = 0; size <= data.size(); ++size) {
    const Scanned found = run(Bytes(data).first(size));
    std::size_t whole = 0;
    while (whole < 3 && kGoldenStarts[whole + 1] <= size) ++whole;
    CHECK_EQ(found.scan.count, whole);
    CHECK_EQ(found.scan.end, kGoldenStarts[whole]);
    const std::size_t left = size - kGoldenStarts[whole];
    if (left == 0) {
      CHECK(found.scan.code == Code::kOk);
      continue;
    }
    CHECK(found.scan.code == Code::kNeedMore);
    const bool header = left >= kHeaderBytes;
    const auto length = static_cast<std::uint64_t>(kGoldenLengths[whole]);
    CHECK_EQ(found.scan.length, header ? length : 0);
    CHECK_EQ(found.scan.need, header ? length + 16 : 12);
  }
}

TEST(scan_goes_on_from_every_split) {
  const ByteVector data = golden();
  for (std::size_t split = 0; split <= data.size(); ++split) {
    const Scanned front = run(Bytes(data).first(split));
    const Scanned rest = run(data, front.scan.end);
    CHECK(rest.scan.code == Code::kOk);
    CHECK_EQ(front.scan.count + rest.scan.count, 3U);
  }
}

TEST(scan_sees_every_flipped_bit) {
  const ByteVector data = golden();
  for (std::size_t at = 0; at < data.size(); ++at) {
    std::size_t frame = 0;
    while (kGoldenStarts[frame + 1] <= at) ++frame;
    const bool in_header = at - kGoldenStarts[frame] < kHeaderBytes;
    for (unsigned bit = 0; bit < 8; ++bit) {
      ByteVector damaged = data;
      damaged[at] ^= static_cast<std::byte>(1U << bit);
      const Scanned found = run(damaged);
      CHECK(found.scan.code == (in_header ? Code::kBadLength : Code::kBadData));
      CHECK_EQ(found.scan.end, kGoldenStarts[frame]);
      CHECK_EQ(found.scan.count, frame);
      CHECK(found.scan.stored != found.scan.computed);
      const Bytes bytes(damaged);
      const Bytes summed = in_header
                               ? bytes.subspan(kGoldenStarts[frame], kLengthBytes)
                               : bytes.subspan(kGoldenStarts[frame] + kHeaderBytes,
                                               static_cast<std::size_t>(kGoldenLengths[frame]));
      CHECK_EQ(found.scan.computed, reference::masked(summed));
      CHECK_EQ(found.scan.stored, load_le<std::uint32_t>(summed.data() + summed.size()));
    }
  }
}

TEST(scan_without_data_crc_passes_damaged_payloads) {
  ByteVector data = golden();
  data[13] ^= std::byte{1};
  const FrameChecks checks{.data_crc = false};
  CHECK(run(data, 0, checks).scan.code == Code::kOk);
  CHECK_EQ(run(data, 0, checks).scan.count, 3U);
}

TEST(scan_refuses_lengths_over_the_limit) {
  const ByteVector data = golden();
  const Scanned found = run(data, 0, {.data_crc = true, .max_record_bytes = 4});
  CHECK(found.scan.code == Code::kTooLarge);
  CHECK_EQ(found.scan.end, 0U);
  CHECK_EQ(found.scan.length, 5U);
  CHECK(run(data, 0, {.data_crc = true, .max_record_bytes = 5}).scan.code == Code::kOk);
  // Too large comes before cut.
  const Scanned cut = run(Bytes(data).first(12), 0, {.data_crc = true, .max_record_bytes = 4});
  CHECK(cut.scan.code == Code::kTooLarge);
}

TEST(scan_of_hostile_lengths) {
  // Over what any frame can have, whatever the caller's limit.
  for (const std::uint64_t length : {kMax64, kMax64 - 1, kMax64 - 4, kMax64 - 15}) {
    const Scanned found = run(header_only(length), 0, {.max_record_bytes = kMax64});
    CHECK(found.scan.code == Code::kTooLarge);
    CHECK_EQ(found.scan.length, length);
    CHECK_EQ(found.scan.end, 0U);
  }
  for (const std::uint64_t length :
       {kMax64 - 16, kMax64 / 2, kMax64 / 2 + 1, kMax64 / 2 + 2, std::uint64_t{1} << 62}) {
    ByteVector data = header_only(length);
    data.resize(100);
    const Scanned found = run(data);
    CHECK(found.scan.code == Code::kNeedMore);
    CHECK_EQ(found.scan.length, length);
    CHECK_EQ(found.scan.need, length + 16);
  }
}

TEST(scan_stops_when_the_output_is_full_and_goes_on) {
  const ByteVector data = golden();
  for (std::size_t capacity = 0; capacity < 3; ++capacity) {
    const Scanned found = run(data, 0, {}, capacity);
    CHECK(found.scan.code == Code::kOutputFull);
    CHECK_EQ(found.scan.count, capacity);
    CHECK_EQ(found.scan.end, kGoldenStarts[capacity]);
    CHECK_EQ(run(data, found.scan.end).scan.count, 3 - capacity);
  }
  CHECK(run(data, 0, {}, 3).scan.code == Code::kOk);
}

TEST(check_frames_finds_the_first_bad_one) {
  const ByteVector data = golden();
  const Scanned found = run(data);
  CHECK(check_frames(data, found.offsets, found.lengths).code == Code::kOk);
  for (std::size_t frame = 0; frame < 3; ++frame) {
    ByteVector damaged = data;
    damaged[kGoldenStarts[frame + 1] - 1] ^= std::byte{0x80};  // the last byte of the footer
    damaged[data.size() - 1] ^= std::byte{0x01};
    const FrameCheck check = check_frames(damaged, found.offsets, found.lengths);
    CHECK(check.code == Code::kBadData);
    CHECK_EQ(check.index, frame);
    CHECK_EQ(check.stored, load_le<std::uint32_t>(damaged.data() + kGoldenStarts[frame + 1] - 4));
    CHECK_EQ(check.computed, load_le<std::uint32_t>(data.data() + kGoldenStarts[frame + 1] - 4));
  }
}

TEST(check_frames_refuses_what_is_out_of_range) {
  const ByteVector data = golden();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::array<std::array<std::int64_t, 2>, 8> bad{{{-1, 0},
                                                        {0, -1},
                                                        {53, 0},
                                                        {12, 41},
                                                        {kMax, 0},
                                                        {0, kMax},
                                                        {kMax, kMax},
                                                        {-kMax - 1, -kMax - 1}}};
  for (const auto& [offset, length] : bad) {
    const std::array<std::int64_t, 2> offsets{12, offset};
    const std::array<std::int64_t, 2> lengths{5, length};
    const FrameCheck check = check_frames(data, offsets, lengths);
    CHECK(check.code == Code::kOutOfRange);
    CHECK_EQ(check.index, 1U);
  }
}

TEST(check_frame_tells_what_is_wrong) {
  const ByteVector data = golden();
  const Bytes hello = Bytes(data).first(21);
  CHECK(check_frame(hello, true) == Code::kOk);
  for (std::size_t size = 0; size < 16; ++size) {
    CHECK(check_frame(hello.first(size), true) == Code::kNeedMore);
  }
  for (std::size_t size = 16; size < 21; ++size) {
    CHECK(check_frame(hello.first(size), true) == Code::kBadLength);
  }
  for (std::size_t at = 0; at < 21; ++at) {
    ByteVector damaged(hello.begin(), hello.end());
    damaged[at] ^= std::byte{0x10};
    CHECK(check_frame(damaged, true) == (at < 12 ? Code::kBadLength : Code::kBadData));
    CHECK(check_frame(damaged, false) == (at < 12 ? Code::kBadLength : Code::kOk));
  }
}

TEST(write_frames_gives_the_golden_bytes) {
  const std::array<Bytes, 3> payloads{reference::as_bytes("hello"), Bytes(),
                                      reference::as_bytes("xyz")};
  ByteVector out(56);
  write_frames(payloads, out);
  CHECK(out == golden());
}

TEST(write_frame_of_large_payloads_scans_back) {
  std::mt19937 generator(7);
  for (const std::size_t size : {16383UL, 16384UL, 16385UL, 32768UL, 100'000UL}) {
    ByteVector payload(size);
    for (std::byte& byte : payload) byte = static_cast<std::byte>(generator() & 0xff);
    ByteVector out(size + kFrameOverheadBytes);
    CHECK_EQ(write_frame(payload, out), out.size());
    ByteVector expected;
    reference::append_frame(expected, payload);
    CHECK(out == expected);
    CHECK(run(out).scan.code == Code::kOk);
  }
}

TEST(fill_block_frames_payloads_of_one_buffer) {
  const std::array<std::int64_t, 3> offsets{1, 0, 6};
  const std::array<std::int64_t, 3> lengths{5, 0, 3};
  const Bytes data = reference::as_bytes("-helloxyz");
  std::size_t size = 0;
  CHECK_EQ(measure_block(data, offsets, lengths, size), 3U);
  CHECK_EQ(size, 56U);
  ByteVector out(size);
  CHECK(fill_block(data, offsets, lengths, out) == Code::kOk);
  CHECK(out == golden());
  CHECK(fill_block(data, offsets, lengths, std::span(out).first(55)) == Code::kOutOfRange);
  out.resize(57);
  CHECK(fill_block(data, offsets, lengths, out) == Code::kOutOfRange);
}

TEST(measure_block_refuses_what_is_out_of_range) {
  const Bytes data = reference::as_bytes("123456789");
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::array<std::array<std::int64_t, 2>, 6> bad{
      {{-1, 1}, {1, -1}, {10, 0}, {5, 5}, {kMax, kMax}, {1, kMax}}};
  for (const auto& [offset, length] : bad) {
    const std::array<std::int64_t, 3> offsets{0, 9, offset};
    const std::array<std::int64_t, 3> lengths{9, 0, length};
    std::size_t size = 0;
    CHECK_EQ(measure_block(data, offsets, lengths, size), 2U);
    ByteVector out(64);
    CHECK(fill_block(data, offsets, lengths, out) == Code::kOutOfRange);
  }
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
