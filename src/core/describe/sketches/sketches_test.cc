#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes/check.h"
#include "core/bytes/digest.h"
#include "core/describe/byte_stats.h"
#include "core/describe/number_stats.h"
#include "core/describe/sketches/count_table.h"
#include "core/describe/sketches/distinct.h"
#include "core/describe/sketches/moments.h"
#include "core/describe/sketches/quantiles.h"
#include "core/images/image_header.h"

namespace tfrkit {
namespace {

using namespace std::string_literals;

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::vector<std::uint64_t> some_order(unsigned order, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = i;
  if (order == 1) std::ranges::reverse(keys);
  if (order == 2) std::ranges::shuffle(keys, std::mt19937_64(1));
  if (order == 3) {
    for (std::size_t i = 0; i < count; ++i) keys[i] = i % 2 != 0 ? count - i : i;
  }
  if (order == 4) {
    for (std::size_t i = 0; i < count; ++i) keys[i] = i % 3 == 0 ? 7 : i;
  }
  return keys;
}

TEST(tables_count_as_a_map_does) {
  std::mt19937_64 random(2);
  CountTable<NumberKey> table;
  std::map<std::uint64_t, std::uint64_t> expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t key = random() % 3000 << (random() % 4 * 16);
    table.add({key}, NumberKey{key}.hash(), 1 + key % 3);
    expected[key] += 1 + key % 3;
  }
  std::map<std::uint64_t, std::uint64_t> found;
  table.for_each([&](const auto& entry) { found[entry.key.bits] = entry.count; });
  CHECK(found == expected);
  for (const std::size_t capacity : {2000U, 100U, 0U}) {
    std::vector<std::uint64_t> counts;
    counts.reserve(expected.size());
    for (const auto& [key, count] : expected) counts.push_back(count);
    std::ranges::sort(counts, std::greater<>());
    const std::uint64_t least = table.reduce(capacity);
    CHECK_EQ(least, counts[capacity]);
    std::erase_if(expected, [&](const auto& one) { return one.second <= least; });
    for (auto& [key, count] : expected) count -= least;
    CHECK_EQ(table.size(), expected.size());
    CHECK(table.size() <= capacity);
    table.for_each([&](const auto& entry) { CHECK_EQ(entry.count, expected[entry.key.bits]); });
  }
}

TEST(frequent_keys_are_the_same_when_many_are_added_at_once) {
  for (const std::uint64_t different : {30U, 150U, 100'000U}) {
    for (const std::size_t at_once : {1U, 3U, 1000U}) {
      Frequent<NumberKey> one_by_one(50);
      Frequent<NumberKey> together(50);
      std::mt19937_64 random(5);
      std::vector<NumberKey> keys(5000);
      std::vector<std::uint64_t> hashes;
      for (NumberKey& key : keys) {
        key = {random() % 3 == 0 ? random() % 9 : random() % different};
        hashes.push_back(key.hash());
        one_by_one.add(key, hashes.back(), 1);
      }
      for (std::size_t at = 0; at < keys.size(); at += at_once) {
        const std::size_t count = std::min(at_once, keys.size() - at);
        together.add_each(std::span<const NumberKey>(keys).subspan(at, count), &hashes[at]);
      }
      CHECK_EQ(together.error(), one_by_one.error());
      std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
      one_by_one.table().for_each(
          [&](const auto& entry) { found.emplace_back(entry.key.bits, entry.count); });
      std::size_t place = 0;  // the order is the same, too: merging depends on it
      together.table().for_each([&](const auto& entry) {
        CHECK(found.at(place++) == std::pair(entry.key.bits, entry.count));
      });
      CHECK_EQ(place, found.size());
    }
  }
}

TEST(frequent_keys_keep_their_bound) {
  for (const std::size_t parts : {1U, 7U}) {
    std::map<std::uint64_t, std::uint64_t> expected;
    std::vector<Frequent<NumberKey>> sketches(parts, Frequent<NumberKey>(50));
    std::mt19937_64 random(4);
    for (std::size_t i = 0; i < 100'000; ++i) {
      const std::uint64_t key = i % 4 == 0 ? random() % 20 : 1000 + random() % 50'000;
      ++expected[key];
      sketches[i % parts].add({key}, NumberKey{key}.hash(), 1);
    }
    for (std::size_t i = 1; i < parts; ++i) sketches[0].merge(sketches[i]);
    CHECK(sketches[0].error() <= 100'000 / 51);
    std::map<std::uint64_t, std::uint64_t> found;
    sketches[0].table().for_each([&](const auto& entry) { found[entry.key.bits] = entry.count; });
    for (const auto& [key, count] : expected) {
      CHECK(found[key] <= count && count <= found[key] + sketches[0].error());
    }
  }
}

TEST(distinct_is_estimated_within_four_standard_errors) {
  for (const unsigned bits : {6U, 12U, 16U}) {
    for (const std::size_t count : {0U, 10U, 1000U, 100'000U, 1'000'000U}) {
      Distinct distinct(bits);
      for (std::size_t i = 0; i < count; ++i) distinct.add(mix_bits(i * 1'000'003));
      const double error = std::abs(distinct.estimate() - static_cast<double>(count));
      CHECK(error <= 4 * distinct.standard_error() * static_cast<double>(count) + 1e-9);
    }
  }
}

TEST(distinct_of_different_sizes_merge_into_the_smaller) {
  Distinct small(6);
  Distinct large(12);
  Distinct expected(6);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    (i % 3 == 0 ? small : large).add(mix_bits(i));
    expected.add(mix_bits(i));
  }
  Distinct both = large;
  both.merge(small);
  small.merge(large);
  CHECK_EQ(both.bits(), 6U);
  CHECK_EQ(both.estimate(), expected.estimate());
  CHECK_EQ(small.estimate(), expected.estimate());
}

TEST(ranks_of_quantiles_are_within_their_bound) {
  for (const std::size_t width : {8U, 64U}) {
    for (unsigned order = 0; order < 5; ++order) {
      std::vector<std::uint64_t> keys = some_order(order, 30'000);
      Quantiles whole(width);
      Quantiles weighted(width);
      std::array<Quantiles, 3> parts{Quantiles(width), Quantiles(width), Quantiles(width)};
      for (std::size_t i = 0; i < keys.size(); ++i) {
        whole.add(keys[i]);
        parts[i % 3].add(keys[i]);
        weighted.add(keys[i], 1);
      }
      parts[0].merge(parts[1]);
      parts[0].merge(parts[2]);
      std::ranges::sort(keys);
      for (const Quantiles* const sketch : {&whole, &parts[0], &weighted}) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> kept;
        std::uint64_t total = 0;
        sketch->for_each([&](std::uint64_t key, std::uint64_t weight) {
          kept.emplace_back(key, weight);
          total += weight;
        });
        CHECK_EQ(total, keys.size());
        std::ranges::sort(kept);
        std::uint64_t rank = 0;
        for (std::size_t i = 0; i < kept.size(); ++i) {
          rank += kept[i].second;
          if (i + 1 < kept.size() && kept[i + 1].first == kept[i].first) continue;
          const auto above = std::ranges::upper_bound(keys, kept[i].first);
          const auto exact = static_cast<std::uint64_t>(above - keys.begin());
          CHECK((rank > exact ? rank - exact : exact - rank) <= sketch->rank_error());
        }
        CHECK(sketch->rank_error() <= keys.size() * 13 / (4 * width) + 4 * width);
      }
    }
  }
}

TEST(quantiles_are_the_same_when_many_keys_are_added_at_once) {
  for (const std::uint64_t mask :
       {std::uint64_t{0xff}, std::uint64_t{0xffffffff}, ~std::uint64_t{0}}) {
    for (const std::size_t at_once : {1U, 5U, 64U, 3000U}) {
      std::mt19937_64 random(6);
      std::vector<std::uint64_t> keys(9000);
      for (std::uint64_t& key : keys) key = (random() & mask) | (~mask >> 1);
      Quantiles one_by_one(16);
      Quantiles together(16);
      for (std::uint64_t weight = 1; weight < 7; ++weight) {  // so that runs do not end with levels
        one_by_one.add(weight, weight);
        together.add(weight, weight);
      }
      for (const std::uint64_t key : keys) one_by_one.add(key);
      for (std::size_t at = 0; at < keys.size(); at += at_once) {
        const std::size_t count = std::min(at_once, keys.size() - at);
        together.add(std::span<const std::uint64_t>(keys).subspan(at, count));
      }
      CHECK_EQ(together.rank_error(), one_by_one.rank_error());
      std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;
      one_by_one.for_each(
          [&](std::uint64_t key, std::uint64_t weight) { expected.emplace_back(key, weight); });
      std::size_t place = 0;
      together.for_each([&](std::uint64_t key, std::uint64_t weight) {
        CHECK(expected.at(place++) == std::pair(key, weight));
      });
      CHECK_EQ(place, expected.size());
    }
  }
}

// Every other one of some keys in their order.
std::vector<std::uint64_t> every_other(std::vector<std::uint64_t> keys, std::size_t first) {
  std::ranges::sort(keys);
  std::vector<std::uint64_t> left;
  for (std::size_t i = first; i < keys.size(); i += 2) left.push_back(keys[i]);
  return left;
}

TEST(keys_that_go_up_are_every_other_one_of_those_in_order) {
  for (const std::uint64_t mask :
       {std::uint64_t{7}, std::uint64_t{0xffff00}, std::uint64_t{0xffffffff}, ~std::uint64_t{0}}) {
    for (const std::size_t width : {1U, 2U, 3U, 500U, 1024U, 2048U}) {
      std::mt19937_64 random(8);
      std::vector<std::uint64_t> keys(4 * width);
      for (std::uint64_t& key : keys) key = random() & mask;
      const auto half = keys.begin() + static_cast<std::ptrdiff_t>(2 * width);
      std::vector<std::uint64_t> level = every_other({keys.begin(), half}, 0);
      for (const std::uint64_t key : every_other({half, keys.end()}, 1)) level.push_back(key);
      Quantiles quantiles(width);
      quantiles.add(keys);
      std::vector<std::uint64_t> found;
      quantiles.for_each([&](std::uint64_t key, std::uint64_t weight) {
        CHECK_EQ(weight, 4U);
        found.push_back(key);
      });
      CHECK(found == every_other(level, 0));
    }
  }
}

TEST(a_level_of_three_runs_is_thinned_out_in_order) {
  for (const std::size_t first : {1U, 5U, 11U}) {
    Quantiles sketch(16);
    std::vector<std::uint64_t> keys(32);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      keys[i] = i < first ? 3 * i : i < 20 ? 2 * (i - first) + 1 : 4 * (i - 20);
    }
    sketch.add(keys);
    std::ranges::sort(keys);
    std::size_t place = 0;
    sketch.for_each([&](std::uint64_t key, std::uint64_t weight) {
      CHECK_EQ(key, keys[place]);
      CHECK_EQ(weight, 2U);
      place += 2;
    });
    CHECK_EQ(place, keys.size());
  }
}

TEST(weights_are_as_many_keys) {
  Quantiles sketch(16);
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    sketch.add(i, i * i * i);
    total += i * i * i;
  }
  sketch.for_each([&](std::uint64_t, std::uint64_t weight) { total -= weight; });
  CHECK_EQ(total, 0U);
}

TEST(sums_carry_through_all_limbs) {
  WideSum<6> sum;
  for (int i = 0; i < 3; ++i) sum.add(~UInt128{0}, 100);
  // 3 * (2^128 - 1) * 2^100 = 3 * 2^228 - 3 * 2^100
  CHECK_EQ(sum.limbs()[0], 0U);
  CHECK_EQ(sum.limbs()[1], ~std::uint64_t{0} - (std::uint64_t{3} << 36) + 1);
  CHECK_EQ(sum.limbs()[3], (std::uint64_t{3} << 36) - 1);
  WideSum<6> twice = sum;
  twice.merge(sum);
  CHECK_EQ(twice.limbs()[3], (std::uint64_t{6} << 36) - 1);
}

TEST(floats_and_integers_keep_their_order_as_keys) {
  const std::array<float, 9> floats{-INFINITY, -3.4e38F, -1,      -1e-45F, 0,
                                    1e-45F,    1,        3.4e38F, INFINITY};
  for (std::size_t i = 0; i + 1 < floats.size(); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(floats[i]);
    CHECK(float_key(bits) < float_key(std::bit_cast<std::uint32_t>(floats[i + 1])));
    CHECK_EQ(bits_of_key(NumberKind::kFloat, float_key(bits)), bits);
  }
  CHECK_EQ(float_key(0x80000000U), float_key(0));
  CHECK(int64_key(static_cast<std::uint64_t>(-1)) < int64_key(0));
}

TEST(moments_of_extremes_are_exact) {
  Moments moments;
  const std::uint64_t least = int64_key(std::uint64_t{1} << 63);
  moments.add(NumberKind::kInt64, least, std::uint64_t{1} << 40);
  CHECK_EQ(moments.negative.limbs()[1], std::uint64_t{1} << 39);  // 2^63 * 2^40 = 2^103
  CHECK_EQ(moments.squares.limbs()[2], std::uint64_t{1} << 38);   // 2^126 * 2^40 = 2^166
  Moments floats;
  floats.add(NumberKind::kFloat, float_key(0xff7fffffU), 1);  // the least float
  CHECK_EQ(floats.negative.limbs()[253 / 64], std::uint64_t{0xffffff} << (253 % 64));
  CHECK_EQ(floats.positive.limbs()[3], 0U);
  floats.add(NumberKind::kFloat, float_key(1), 3);  // the least above 0
  CHECK_EQ(floats.positive.limbs()[0], 3U);
}

TEST(moments_of_many_floats_are_those_of_each) {
  std::mt19937_64 random(7);
  for (const std::size_t count : {0U, 256U, 257U, 5000U, 140'000U}) {
    Moments one_by_one;
    std::vector<std::uint64_t> keys;
    while (keys.size() < count) {
      auto bits = static_cast<std::uint32_t>(random());
      if (keys.size() % 3 == 0) bits &= 0x80ffffffU;  // nothing, or next to nothing
      if (keys.size() % 5 == 0) bits = 0x7f7fffffU;   // the greatest
      if ((bits & 0x7f800000U) == 0x7f800000U) continue;
      keys.push_back(float_key(bits));
      one_by_one.add(NumberKind::kFloat, keys.back(), 1);
    }
    Moments together;
    together.add_floats(keys);
    CHECK(std::ranges::equal(together.positive.limbs(), one_by_one.positive.limbs()));
    CHECK(std::ranges::equal(together.negative.limbs(), one_by_one.negative.limbs()));
    CHECK(std::ranges::equal(together.squares.limbs(), one_by_one.squares.limbs()));
  }
}

TEST(exact_counts_become_sketches_behind_the_limit) {
  const Limits limits{100, 10, 16, 16, 0};
  NumberStats stats(NumberKind::kInt64, limits);
  for (std::uint64_t i = 0; i < 100; ++i) stats.add(int64_key(i), 2);
  CHECK(stats.sketches() == nullptr);
  stats.add(int64_key(100), 1);
  CHECK(stats.sketches() != nullptr);
  CHECK_EQ(stats.sketches()->count, 201U);
  CHECK_EQ(stats.moments().positive.limbs()[0], 100U * 99U + 100U);
  CHECK_EQ(stats.counts().size(), 0U);
}

TEST(digests_tell_strings_apart) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::string> seen;
  const auto check = [&](const std::string& text) {
    const Digest digest = digest_of(bytes_of(text));
    const auto [found, added] = seen.emplace(std::pair(digest.high, digest.low), text);
    CHECK(added || found->second == text);
  };
  for (std::size_t size = 0; size < 70; ++size) {
    check(std::string(size, '\0'));
    check(std::string(size, 'a'));
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      for (const char other : {'b', '\0', '\xff'}) {
        text[at] = other;
        check(text);
      }
    }
  }
  for (int i = 0; i < 50'000; ++i) check(std::to_string(i));
}

TEST(texts_are_kept_of_the_most_frequent) {
  const Limits limits{1000, 10, 64, 8, 2000};
  ByteStats stats(limits, limits);
  std::vector<std::string> texts;
  texts.reserve(500);
  for (int i = 0; i < 500; ++i) texts.push_back(std::string(100, 'x') + std::to_string(i));
  for (int round = 0; round < 4; ++round) {
    for (const std::string& one : texts) {
      const Bytes value = bytes_of(one);
      stats.add({&value, 1});
    }
    const Bytes often = bytes_of(texts[7]);
    for (int i = 0; i < 50; ++i) stats.add({&often, 1});
  }
  bool seen = false;
  stats.counts().for_each([&](const auto& entry) {
    if (entry.count > 50) seen = stats.text_of(entry.key).head == texts[7];
  });
  CHECK(seen);
  CHECK_EQ(stats.counts().size(), 500U);
}

TEST(images_are_read_from_every_cut) {
  const std::string jpeg =
      "\xff\xd8\xff\xe0\x00\x04\x01\x02\xff\xc0\x00\x0b\x08\x00\x10\x00\x20\x01\x01\x11\x00"s;
  const ImageHeader header = read_image_header(bytes_of(jpeg));
  CHECK(header.format == ImageFormat::kJpeg && header.has_size);
  CHECK_EQ(header.width, 0x20U);
  CHECK_EQ(header.height, 0x10U);
  const std::string webp =
      "RIFF\x20\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f\x04\x80\x00\x00\x00\x00\x00\x00\x00"s;
  CHECK_EQ(read_image_header(bytes_of(webp)).width, 5U);
  CHECK_EQ(read_image_header(bytes_of(webp)).height, 3U);
  for (const std::string& image : {jpeg, webp, "\x89PNG\r\n\x1a\n"s + std::string(16, '\1'),
                                   "GIF89a\5\0\3\0"s, "BM"s + std::string(40, '\0')}) {
    for (std::size_t size = 0; size <= image.size(); ++size) {
      const std::string cut = image.substr(0, size);
      CHECK(size >= 2 || read_image_header(bytes_of(cut)).format == ImageFormat::kNone);
    }
  }
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
