#include "core/bytes/varint.h"

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/bytes/check.h"
#include "core/bytes/wire.h"

namespace tfrkit {
namespace {

using ByteVector = std::vector<std::byte>;

void append_varint(ByteVector& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>((value & 0x7f) | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

// Reads a run with the plain reader; false if it is not good.
bool read_all(Bytes run, std::vector<std::int64_t>& values) {
  Wire wire(run);
  while (!wire.at_end()) {
    std::uint64_t value = 0;
    if (!wire.read_varint(value)) return false;
    values.push_back(static_cast<std::int64_t>(value));
  }
  return true;
}

// Compares counting and every variant with the plain reader. The run is in memory of its own size,
// so that sanitizers see a step over its end.
void check_run(const ByteVector& source) {
  ByteVector exact(source);
  exact.shrink_to_fit();
  std::vector<std::int64_t> expected;
  const bool good = read_all(exact, expected);
  const VarintRun run = count_varints(exact);
  CHECK_EQ(run.good, good);
  if (!good) return;
  CHECK_EQ(run.count, expected.size());
  for (const VarintVariant* const variant : varint_variants()) {
    std::vector<std::int64_t> values(expected.size(), -7);
    variant->decode(exact, values);
    CHECK(values == expected);
  }
}

TEST(empty_run_is_good) {
  CHECK(count_varints({}).good);
  CHECK_EQ(count_varints({}).count, 0U);
  check_run({});
}

TEST(every_size_of_a_varint_decodes) {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    const std::uint64_t value =
        bits == 0 ? 0 : std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
    for (std::size_t copies = 1; copies < 100; copies += 7) {
      ByteVector run;
      for (std::size_t i = 0; i < copies; ++i) append_varint(run, value - (i & 1) * (value / 3));
      check_run(run);
    }
  }
}

TEST(mixed_runs_decode_in_every_variant) {
  std::mt19937_64 generator(11);
  for (int round = 0; round < 2000; ++round) {
    ByteVector run;
    const std::size_t count = generator() % 120;
    for (std::size_t i = 0; i < count; ++i) append_varint(run, generator() >> (generator() % 64));
    check_run(run);
  }
}

TEST(runs_of_mostly_short_varints_decode_in_every_variant) {
  std::mt19937_64 generator(14);
  for (int round = 0; round < 4000; ++round) {
    ByteVector run;
    const std::size_t count = generator() % 600;
    const unsigned most_bits = 1 + static_cast<unsigned>(generator() % 30);
    const std::size_t long_ones = generator() % 4;  // of 100
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned bits = generator() % 100 < long_ones ? 64 : most_bits;
      append_varint(run, generator() >> (64 - bits));
    }
    check_run(run);
  }
}

// Groups of one to four bytes each, in every order, at every distance from the end of the run.
TEST(every_four_sizes_decode_wherever_they_stand) {
  for (unsigned sizes = 0; sizes < 256; ++sizes) {
    for (std::size_t before = 0; before < 70; before += 3) {
      ByteVector run;
      for (std::size_t i = 0; i < before; ++i) append_varint(run, i + 1);
      for (unsigned lane = 0; lane < 4; ++lane) {
        const unsigned size = ((sizes >> (2 * lane)) & 3) + 1;
        append_varint(run, (std::uint64_t{1} << (7 * size - 1)) + lane);
      }
      for (std::size_t i = 0; i < 90 - before; ++i) append_varint(run, 3 * i + 1);
      check_run(run);
    }
  }
}

TEST(any_bytes_are_judged_as_by_the_plain_reader) {
  std::mt19937_64 generator(12);
  for (int round = 0; round < 20'000; ++round) {
    ByteVector run(generator() % 100);
    const auto ones = static_cast<unsigned>(generator() % 16);  // more or less continuation bytes
    for (std::byte& byte : run) {
      byte = static_cast<std::byte>(generator() & 0x7f);
      if (generator() % 16 < ones) byte |= std::byte{0x80};
    }
    check_run(run);
  }
}

TEST(varints_of_eleven_bytes_are_bad_wherever_they_stand) {
  for (std::size_t before = 0; before < 40; ++before) {
    for (std::size_t size = 1; size < 30; ++size) {
      ByteVector run(before, std::byte{5});
      run.insert(run.end(), size - 1, std::byte{0xff});
      run.push_back(std::byte{1});
      run.insert(run.end(), 13, std::byte{6});
      CHECK_EQ(count_varints(run).good, size <= kMaxVarintBytes);
      check_run(run);
    }
  }
}

TEST(a_run_must_end_with_a_varint) {
  for (std::size_t size = 1; size < 40; ++size) {
    ByteVector run(size, std::byte{1});
    run.back() = std::byte{0x81};
    CHECK(!count_varints(run).good);
  }
}

TEST(bits_above_the_64th_are_dropped) {
  ByteVector run(9, std::byte{0xff});
  run.push_back(std::byte{0x7f});
  check_run(run);
}

// A run may be in memory that another thread writes to.
TEST(runs_that_changed_since_they_were_counted_stay_inside) {
  constexpr std::int64_t kGuard = -7;
  std::mt19937_64 generator(13);
  for (int round = 0; round < 3000; ++round) {
    ByteVector run(generator() % 400);
    const auto ones = static_cast<unsigned>(generator() % 17);
    for (std::byte& byte : run) {
      byte = static_cast<std::byte>(generator() & 0x7f);
      if (generator() % 16 < ones) byte |= std::byte{0x80};
    }
    run.shrink_to_fit();
    std::vector<std::int64_t> expected;
    const bool good = read_all(run, expected);
    const std::size_t counted = generator() % 420;
    for (const VarintVariant* const variant : varint_variants()) {
      std::vector<std::int64_t> values(counted + 2, kGuard);
      variant->decode(run, std::span(values).subspan(1, counted));
      CHECK(values.front() == kGuard && values.back() == kGuard);
      for (std::size_t i = 0; good && i < counted; ++i) {
        CHECK_EQ(values[i + 1], i < expected.size() ? expected[i] : 0);
      }
    }
  }
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
