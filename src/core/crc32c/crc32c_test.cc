#include "core/crc32c/crc32c.h"

#include <array>
#include <random>
#include <string>
#include <vector>

#include "core/bytes/check.h"
#include "core/crc32c/crc32c_math.h"
#include "core/frames/layout.h"
#include "core/frames/reference.h"

namespace tfrkit {
namespace {

std::vector<std::byte> random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(generator() & 0xff);
  return bytes;
}

TEST(published_vectors) {
  std::vector<std::byte> ascending(32);
  for (std::size_t i = 0; i < 32; ++i) ascending[i] = static_cast<std::byte>(i);
  const std::vector<std::byte> descending(ascending.rbegin(), ascending.rend());
  // RFC 3720, appendix B.4.
  const std::array<std::byte, 48> scsi_read{
      std::byte{0x01}, std::byte{0xc0}, std::byte{0x00}, std::byte{0x00}, std::byte{0x00},
      std::byte{0x00}, std::byte{0x00}, std::byte{0x00}, std::byte{0x00}, std::byte{0x00},
      std::byte{0x00}, std::byte{0x00}, std::byte{0x00}, std::byte{0x00}, std::byte{0x00},
      std::byte{0x00}, std::byte{0x14}, std::byte{0x00}, std::byte{0x00}, std::byte{0x00},
      std::byte{0x00}, std::byte{0x00}, std::byte{0x04}, std::byte{0x00}, std::byte{0x00},
      std::byte{0x00}, std::byte{0x00}, std::byte{0x14}, std::byte{0x00}, std::byte{0x00},
      std::byte{0x00}, std::byte{0x18}, std::byte{0x28}, std::byte{0x00}, std::byte{0x00},
      std::byte{0x00}, std::byte{0x00}, std::byte{0x00}, std::byte{0x00}, std::byte{0x00},
      std::byte{0x02}, std::byte{0x00}, std::byte{0x00}, std::byte{0x00}, std::byte{0x00},
      std::byte{0x00}, std::byte{0x00}, std::byte{0x00}};
  for (const Crc32cVariant* variant : crc32c_variants()) {
    CHECK_EQ(variant->extend(0, Bytes()), 0U);
    CHECK_EQ(variant->extend(0, std::vector<std::byte>(32)), 0x8a9136aaU);
    CHECK_EQ(variant->extend(0, std::vector<std::byte>(32, std::byte{0xff})), 0x62a8ab43U);
    CHECK_EQ(variant->extend(0, ascending), 0x46dd794eU);
    CHECK_EQ(variant->extend(0, descending), 0x113fdb5cU);
    CHECK_EQ(variant->extend(0, scsi_read), 0xd9963a56U);
    CHECK_EQ(variant->extend(0, reference::as_bytes("123456789")), 0xe3069283U);
  }
}

TEST(mask_is_that_of_tensorflow) {
  CHECK_EQ(crc32c_mask(0), 0xa282ead8U);
  CHECK_EQ(crc32c_mask(crc32c(reference::as_bytes("hello"))), 0x191c1fbbU);
}

TEST(every_variant_agrees_at_every_length_and_alignment) {
  constexpr std::size_t kMaxLength = 600;
  const std::vector<std::byte> bytes = random_bytes(kMaxLength + 16, 1);
  for (std::size_t shift = 0; shift < 16; ++shift) {
    std::uint32_t expected = 0;
    for (std::size_t length = 0; length <= kMaxLength; ++length) {
      const Bytes data = Bytes(bytes).subspan(shift, length);
      if (length > 0) expected = reference::crc32c(data.last(1), expected);
      for (const Crc32cVariant* variant : crc32c_variants()) {
        CHECK_EQ(variant->extend(0, data), expected);
      }
    }
  }
}

TEST(every_variant_agrees_on_large_data) {
  const std::vector<std::byte> bytes = random_bytes(70'000, 2);
  // Around the sizes at which the streams change.
  for (const std::size_t around : {768UL, 3072UL, 6144UL, 12288UL, 18432UL, 65536UL}) {
    for (std::size_t length = around - 30; length <= around + 30; ++length) {
      const Bytes data = Bytes(bytes).first(length);
      const std::uint32_t expected = reference::crc32c(data);
      for (const Crc32cVariant* variant : crc32c_variants()) {
        CHECK_EQ(variant->extend(0, data), expected);
      }
    }
  }
}

TEST(extending_at_every_split_gives_the_same) {
  const std::vector<std::byte> bytes = random_bytes(700, 3);
  const Bytes data(bytes);
  for (const Crc32cVariant* variant : crc32c_variants()) {
    const std::uint32_t whole = variant->extend(0, data);
    for (std::size_t split = 0; split <= data.size(); ++split) {
      const std::uint32_t front = variant->extend(0, data.first(split));
      CHECK_EQ(variant->extend(front, data.subspan(split)), whole);
    }
  }
}

TEST(the_best_variant_is_the_first_and_portable_the_last) {
  const auto variants = crc32c_variants();
  CHECK(!variants.empty());
  CHECK(&crc32c_best() == variants.front());
  CHECK(std::string(variants.back()->name) == "portable");
  const std::vector<std::byte> bytes = random_bytes(100, 4);
  CHECK_EQ(crc32c(bytes), variants.front()->extend(0, bytes));
}

TEST(find_header_finds_the_first_at_every_position) {
  std::vector<std::byte> header;
  reference::append_header(header, 77);
  for (const Crc32cVariant* variant : crc32c_variants()) {
    for (std::size_t size = 0; size < 40; ++size) {
      const std::vector<std::byte> noise = random_bytes(size, 5);
      CHECK_EQ(variant->find_header(noise), size);
      for (std::size_t at = 0; at + kHeaderBytes <= size; ++at) {
        std::vector<std::byte> data = noise;
        std::copy(header.begin(), header.end(), data.begin() + static_cast<std::ptrdiff_t>(at));
        CHECK_EQ(variant->find_header(data), at);
        CHECK_EQ(variant->find_header(Bytes(data).first(at + kHeaderBytes - 1)),
                 at + kHeaderBytes - 1);
      }
    }
  }
}

TEST(shift_is_the_same_as_zero_bytes) {
  const std::vector<std::byte> zeros(5000);
  for (std::size_t count = 0; count <= zeros.size(); count += count < 300 ? 1 : 47) {
    const std::uint32_t state = 0x12345678;
    const std::uint32_t run = ~crc32c_extend(~state, Bytes(zeros).first(count));
    CHECK_EQ(crc32c_shift(state, count), run);
  }
}

TEST(shift_takes_counts_of_any_size) {
  const std::uint32_t state = 0x9abcdef0;
  for (int bit = 0; bit < 61; ++bit) {
    const std::uint64_t count = std::uint64_t{1} << bit;
    CHECK_EQ(crc32c_shift(crc32c_shift(state, count), count), crc32c_shift(state, 2 * count));
    CHECK_EQ(crc32c_shift(state, count), times(state, power_of_x(8 * count)));
  }
}

TEST(shift_tables_multiply) {
  static constexpr std::array<ByteTable, 4> kTables = make_shift_tables(300);
  for (std::uint32_t state = 1; state < 0xf0000000U; state = state * 3 + 1) {
    const std::uint32_t looked_up = kTables[0][state & 0xff] ^ kTables[1][(state >> 8) & 0xff] ^
                                    kTables[2][(state >> 16) & 0xff] ^ kTables[3][state >> 24];
    CHECK_EQ(looked_up, crc32c_shift(state, 300));
  }
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
