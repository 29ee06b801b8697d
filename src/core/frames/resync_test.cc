#include "core/frames/resync.h"

#include <limits>
#include <random>
#include <vector>

#include "core/bytes/check.h"
#include "core/frames/reference.h"

namespace tfrkit {
namespace {

using ByteVector = std::vector<std::byte>;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

FoundFrame run(Bytes data, std::size_t start, bool at_eof, std::uint64_t limit = kNoLimit) {
  std::vector<std::uint32_t> checkpoints(measure_checkpoints(data.size() - start));
  return find_frame(data, start, at_eof, limit, checkpoints);
}

void check_same(const FoundFrame& found, const FoundFrame& expected) {
  CHECK(found.code == expected.code);
  CHECK_EQ(found.position, expected.position);
  CHECK_EQ(found.need, expected.need);
}

ByteVector random_bytes(std::mt19937& generator, std::size_t size) {
  ByteVector bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(generator() & 0xff);
  return bytes;
}

void append_all(ByteVector& out, const ByteVector& more) {
  out.insert(out.end(), more.begin(), more.end());
}

// A valid header every 12 bytes, each claiming `length` bytes that never have a right CRC.
ByteVector hostile(std::size_t size, std::uint64_t length) {
  ByteVector header;
  reference::append_header(header, length);
  ByteVector data;
  while (data.size() + header.size() <= size) append_all(data, header);
  return data;
}

TEST(finds_a_frame_behind_noise_at_every_distance) {
  std::mt19937 generator(1);
  for (std::size_t distance = 0; distance < 300; ++distance) {
    ByteVector data = random_bytes(generator, distance);
    reference::append_frame(data, random_bytes(generator, distance));
    const FoundFrame found = run(data, 0, true);
    CHECK(found.code == Code::kOk);
    CHECK_EQ(found.position, distance);
    CHECK_EQ(found.need, 0U);
  }
}

TEST(starts_where_told) {
  ByteVector data;
  reference::append_frame(data, reference::as_bytes("one"));
  reference::append_frame(data, reference::as_bytes("two"));
  CHECK_EQ(run(data, 0, true).position, 0U);
  CHECK_EQ(run(data, 1, true).position, 19U);
  CHECK(run(data, 20, true).code == Code::kBadLength);
  CHECK_EQ(run(data, 20, true).position, 38U);
  CHECK_EQ(run(data, 38, false).position, 38U);
}

TEST(every_truncation_needs_more_or_is_nothing) {
  ByteVector data;
  reference::append_frame(data, reference::as_bytes("payload"));
  for (std::size_t size = 0; size < data.size(); ++size) {
    const Bytes cut = Bytes(data).first(size);
    const FoundFrame open = run(cut, 0, false);
    if (size < kHeaderBytes) {
      CHECK(open.code == Code::kBadLength);
      CHECK_EQ(open.position, 0U);
    } else {
      CHECK(open.code == Code::kNeedMore);
      CHECK_EQ(open.position, 0U);
      CHECK_EQ(open.need, data.size());
    }
    const FoundFrame closed = run(cut, 0, true);
    CHECK(closed.code == Code::kBadLength);
    CHECK_EQ(closed.position, size);
  }
}

TEST(goes_on_with_the_last_eleven_bytes) {
  std::mt19937 generator(2);
  const ByteVector noise = random_bytes(generator, 100);
  CHECK_EQ(run(noise, 0, false).position, 89U);
  CHECK_EQ(run(noise, 95, false).position, 95U);
  CHECK_EQ(run(noise, 0, true).position, 100U);
}

TEST(every_split_of_a_buffer_comes_to_the_same) {
  std::mt19937 generator(3);
  ByteVector data = random_bytes(generator, 40);
  reference::append_frame(data, random_bytes(generator, 50));
  for (std::size_t split = 0; split <= data.size(); ++split) {
    const FoundFrame first = run(Bytes(data).first(split), 0, false);
    if (first.code == Code::kOk) {
      CHECK_EQ(split, data.size());
      continue;
    }
    const FoundFrame second = run(data, first.position, true);
    CHECK(second.code == Code::kOk);
    CHECK_EQ(second.position, 40U);
  }
}

TEST(lengths_over_the_limit_are_no_candidates) {
  ByteVector data;
  reference::append_frame(data, reference::as_bytes("long payload"));
  const std::size_t second = data.size();
  reference::append_frame(data, reference::as_bytes("short"));
  CHECK_EQ(run(data, 0, false, 11).position, second);
  CHECK_EQ(run(data, 0, false, 12).position, 0U);
  for (const std::uint64_t length : {kNoLimit, kNoLimit - 15, kNoLimit / 2 + 1}) {
    ByteVector hidden;
    reference::append_header(hidden, length);
    const std::size_t behind = hidden.size();
    append_all(hidden, data);
    CHECK_EQ(run(hidden, 0, true).position, behind);
    CHECK_EQ(run(hidden, 0, false, 100).position, behind);
    const FoundFrame open = run(hidden, 0, false);
    CHECK(open.code == (length > kMaxRecordBytes ? Code::kOk : Code::kNeedMore));
  }
}

TEST(finds_a_frame_inside_a_frame_that_is_damaged) {
  ByteVector inner;
  reference::append_frame(inner, reference::as_bytes("inner"));
  ByteVector data;
  reference::append_frame(data, inner);
  data.back() ^= std::byte{1};
  CHECK_EQ(run(data, 0, true).position, kHeaderBytes);
}

// Frames, lone headers and noise in random order, then some bytes damaged.
ByteVector random_damage(std::mt19937& generator) {
  ByteVector data;
  const std::size_t pieces = generator() % 12;
  for (std::size_t i = 0; i < pieces; ++i) {
    switch (generator() % 4) {
      case 0:
        append_all(data, random_bytes(generator, generator() % 30));
        break;
      case 1:
        reference::append_header(data, generator() % 600);
        break;
      default:
        reference::append_frame(data, random_bytes(generator, generator() % 400));
        break;
    }
  }
  const std::size_t damages = generator() % 6;
  for (std::size_t i = 0; i < damages && !data.empty(); ++i) {
    data[generator() % data.size()] ^= static_cast<std::byte>(1U << (generator() % 8));
  }
  return data;
}

TEST(agrees_with_the_naive_model_on_random_damage) {
  std::mt19937 generator(4);
  for (int round = 0; round < 300; ++round) {
    const ByteVector data = random_damage(generator);
    const std::uint64_t limit = generator() % 2 == 0 ? kNoLimit : generator() % 500;
    const bool at_eof = generator() % 2 == 0;
    for (std::size_t start = 0; start <= data.size(); start += 1 + generator() % 97) {
      check_same(run(data, start, at_eof, limit),
                 reference::find_frame(data, start, at_eof, limit));
    }
  }
}

TEST(agrees_with_the_naive_model_after_many_false_candidates) {
  // Direct checks are used up by the headers, so that the last frames are found by checkpoints.
  std::mt19937 generator(5);
  for (std::size_t extra = 0; extra < 300; extra += 7) {
    ByteVector data = hostile(6000, 3000);
    append_all(data, random_bytes(generator, extra));
    const std::size_t expected = data.size();
    reference::append_frame(data, random_bytes(generator, 1000 + extra));
    append_all(data, random_bytes(generator, 2500));
    const FoundFrame found = run(data, 5, true);
    check_same(found, reference::find_frame(data, 5, true, kNoLimit));
    CHECK(found.code == Code::kOk);
    CHECK_EQ(found.position, expected);
    CHECK(found.summed_bytes > data.size());
  }
}

TEST(takes_linear_time_on_hostile_data) {
  std::uint64_t before = 0;
  for (const std::size_t size : {1UL << 18, 1UL << 19, 1UL << 20, 1UL << 21}) {
    const ByteVector data = hostile(size, size / 2);
    const FoundFrame found = run(data, 0, true);
    CHECK(found.code == Code::kBadLength);
    // Direct checks and checkpoints each see the data once, a candidate less than 512 bytes more.
    CHECK(found.summed_bytes <= 2 * size + size / kHeaderBytes * 2 * kCheckpointBytes);
    CHECK(found.summed_bytes > 2 * before - before / 4);
    CHECK(before == 0 || found.summed_bytes < 2 * before + before / 4);
    before = found.summed_bytes;
  }
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
