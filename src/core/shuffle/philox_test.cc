#include "core/shuffle/philox.h"

#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

constexpr std::uint32_t kOnes = 0xffffffffU;

std::vector<std::uint32_t> numbers(Philox& random, std::size_t count) {
  std::vector<std::uint32_t> found(count);
  random.fill(found);
  return found;
}

// The three vectors that the authors of Philox publish with their code, in kat_vectors.
TEST(published_blocks) {
  CHECK((philox_block({0, 0, 0, 0}, 0) ==
         PhiloxBlock{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
  CHECK((philox_block({kOnes, kOnes, kOnes, kOnes}, ~std::uint64_t{0}) ==
         PhiloxBlock{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
  CHECK((philox_block({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, 0x299f31d0'a4093822U) ==
         PhiloxBlock{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
}

TEST(seeds_are_key_and_high_counter) {
  Philox random(0x11111111'22222222U, 0x33333333'44444444U);
  const PhiloxBlock first = philox_block({0, 0, 0x44444444U, 0x33333333U}, 0x11111111'22222222U);
  const PhiloxBlock second = philox_block({1, 0, 0x44444444U, 0x33333333U}, 0x11111111'22222222U);
  for (const std::uint32_t number : first) CHECK_EQ(random.next(), number);
  for (const std::uint32_t number : second) CHECK_EQ(random.next(), number);
}

TEST(counter_carries_into_its_second_word) {
  Philox random(7, 8, 0xffffffffU);
  random.skip(4);
  CHECK_EQ(random.next(), philox_block({0, 1, 8, 0}, 7)[0]);
}

TEST(filling_equals_asking_one_by_one) {
  for (std::size_t before = 0; before < 9; ++before) {
    for (std::size_t count = 0; count < 14; ++count) {
      Philox one(3, 4);
      Philox many(3, 4);
      CHECK(numbers(one, before) == numbers(many, before));
      std::vector<std::uint32_t> expected(count);
      for (std::uint32_t& number : expected) number = one.next();
      CHECK(numbers(many, count) == expected);
      CHECK_EQ(many.next(), one.next());
    }
  }
}

TEST(skipping_equals_asking) {
  for (std::size_t before = 0; before < 9; ++before) {
    for (std::size_t count = 0; count < 14; ++count) {
      Philox asked(5, 6);
      Philox skipped(5, 6);
      (void)numbers(asked, before + count);
      (void)numbers(skipped, before);
      skipped.skip(count);
      CHECK_EQ(asked.next(), skipped.next());
    }
  }
  Philox far(5, 6);
  far.skip(std::uint64_t{1} << 40);
  CHECK_EQ(far.next(), philox_block({0, 1U << 6U, 6, 0}, 5)[0]);
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
