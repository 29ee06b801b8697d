#include "core/shuffle/permutation.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

using Values = std::vector<std::int64_t>;

Values run(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch, std::uint64_t start,
           std::uint64_t stop) {
  Values found(static_cast<std::size_t>(stop - start));
  permute_run(make_permutation(size, seed, epoch), start, found);
  return found;
}

Values upto(std::size_t count) {
  Values numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Version 1: these must never change. tests/values/test_permutation.py has more of them.
TEST(known_values) {
  CHECK((run(10, 42, 0, 0, 4) == Values{3, 6, 2, 4}));
  CHECK((run(1000000, 0, 0, 0, 4) == Values{253090, 455803, 139915, 625809}));
  CHECK((run(1000000000000U, ~std::uint64_t{0}, 3, 123456789, 123456793) ==
         Values{791441261155, 481093708704, 19038067285, 280009401723}));
  CHECK(
      (run(4611686018427387904U, 1, 1, 4611686018427387900U, 4611686018427387904U) ==
       Values{122418721086401164, 1727802213408382692, 4117414797213723660, 3134217861167582315}));
}

TEST(bits_are_the_fewest_but_ten) {
  const auto bits = [](std::uint64_t size) {
    const Permutation made = make_permutation(size, 0, 0);
    CHECK(made.low_bits - made.high_bits <= 1);
    return made.high_bits + made.low_bits;
  };
  for (const std::uint64_t size : {0U, 1U, 2U, 1023U, 1024U}) CHECK_EQ(bits(size), 10U);
  CHECK_EQ(bits(1025), 11U);
  for (unsigned power = 10; power <= 62; ++power) {
    CHECK_EQ(bits(std::uint64_t{1} << power), power);
    CHECK_EQ(bits((std::uint64_t{1} << power) - 1), power);
    if (power < 62) CHECK_EQ(bits((std::uint64_t{1} << power) + 1), power + 1);
  }
}

TEST(every_index_occurs_once) {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 10U, 511U, 512U, 513U, 1000U, 1024U, 1025U, 5000U,
                                 65535U, 65536U, 65537U, 100'000U}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      Values found = run(size, seed, seed, 0, size);
      std::ranges::sort(found);
      CHECK(found == upto(size));
    }
  }
}

TEST(any_part_of_a_run_is_that_part_of_the_whole) {
  const Values whole = run(2000, 5, 6, 0, 2000);
  for (const std::uint64_t start : {0U, 1U, 511U, 512U, 1999U, 2000U}) {
    for (const std::uint64_t count : {0U, 1U, 2U, 511U, 512U, 513U, 1025U}) {
      const std::uint64_t stop = std::min<std::uint64_t>(2000, start + count);
      CHECK(std::ranges::equal(run(2000, 5, 6, start, stop),
                               std::span(whole).subspan(start, stop - start)));
    }
  }
}

TEST(indices_in_any_order_give_what_a_run_has_there) {
  const Permutation made = make_permutation(1500, 7, 8);
  const Values whole = run(1500, 7, 8, 0, 1500);
  Values indices = upto(1500);
  std::ranges::reverse(indices);
  indices.push_back(3);
  Values found(indices.size());
  CHECK_EQ(permute_indices(made, indices, found), indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    CHECK_EQ(found[i], whole[static_cast<std::size_t>(indices[i])]);
  }
  CHECK_EQ(permute_indices(made, indices, indices), indices.size());
  CHECK(indices == found);
}

TEST(the_first_index_out_of_range_ends_it) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Permutation made = make_permutation(1300, 1, 2);
  const Values whole = run(1300, 1, 2, 0, 1300);
  for (const std::int64_t wrong : {kLeast, std::int64_t{-1}, std::int64_t{1300}, kMost}) {
    for (const std::size_t place : {0U, 1U, 511U, 512U, 513U, 1299U}) {
      Values indices = upto(1300);
      indices[place] = wrong;
      Values found(indices.size(), -7);
      CHECK_EQ(permute_indices(made, indices, found), place);
      CHECK(std::ranges::equal(std::span(found).first(place), std::span(whole).first(place)));
      CHECK_EQ(found[place], -7);
    }
  }
  Values none{0};
  CHECK_EQ(permute_indices(make_permutation(0, 1, 2), none, none), 0U);
}

TEST(largest_size) {
  const std::uint64_t size = kMaxPermutationSize;
  for (const std::int64_t value : run(size, 1, 1, size - 1000, size)) {
    CHECK(value >= 0 && static_cast<std::uint64_t>(value) < size);
  }
}

TEST(seed_epoch_and_size_all_count) {
  const Values first = run(100, 1, 2, 0, 100);
  CHECK(first == run(100, 1, 2, 0, 100));
  CHECK(first != run(100, 2, 1, 0, 100));
  CHECK(first != run(100, 2, 2, 0, 100));
  CHECK(first != run(100, 1, 3, 0, 100));
  CHECK(first != run(101, 1, 2, 0, 100));
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
