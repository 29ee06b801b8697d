#include "core/shuffle/shuffle.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

using Numbers = std::vector<std::int64_t>;

struct Drawn {
  explicit Drawn(std::size_t count) : chunks(count), rows(count) {}
  [[nodiscard]] DrawnRows target() { return {chunks, rows}; }
  Numbers chunks;
  Numbers rows;
};

// Elements: consecutive rows of one chunk.
struct Added {
  Added(std::int64_t chunk, std::int64_t first_row, Numbers sizes_bytes)
      : chunks(sizes_bytes.size(), chunk), rows(sizes_bytes.size()), sizes(std::move(sizes_bytes)) {
    std::iota(rows.begin(), rows.end(), first_row);
  }
  [[nodiscard]] AddedRows some(std::size_t first, std::size_t count) const {
    return {std::span(chunks).subspan(first, count), std::span(rows).subspan(first, count),
            std::span(sizes).subspan(first, count)};
  }
  [[nodiscard]] AddedRows all() const { return {chunks, rows, sizes}; }
  Numbers chunks;
  Numbers rows;
  Numbers sizes;
};

Numbers copy(std::span<const std::int64_t> numbers) { return {numbers.begin(), numbers.end()}; }

// One epoch over the rows 0 .. count - 1 of chunk 0: fill, exchange in runs of `run`, drain.
Numbers epoch(ShuffleBuffer& buffer, std::size_t count, std::size_t size, std::size_t run) {
  Numbers order;
  const Added rows(0, 0, Numbers(count, 10));
  std::size_t at = std::min(count, size - 1);
  buffer.append(rows.some(0, at));
  while (at < count) {
    const std::size_t step = std::min(run, count - at);
    Drawn drawn(step);
    buffer.exchange(rows.some(at, step), drawn.target(), ShuffleBuffer::kWhole);
    order.insert(order.end(), drawn.rows.begin(), drawn.rows.end());
    at += step;
  }
  Drawn rest(buffer.size());
  buffer.draw(rest.target(), ShuffleBuffer::kWhole);
  order.insert(order.end(), rest.rows.begin(), rest.rows.end());
  return order;
}

// The same with a plain list and one number at a time.
Numbers plain_epoch(std::uint64_t seed, std::uint64_t seed2, std::size_t count, std::size_t size) {
  Philox random(seed, seed2);
  Numbers order;
  std::deque<std::int64_t> window;
  for (std::size_t next = 0;;) {
    while (next < count && window.size() < size) {
      window.push_back(static_cast<std::int64_t>(next++));
    }
    if (window.empty()) return order;
    std::int64_t& chosen = window[random.next() % window.size()];
    order.push_back(chosen);
    chosen = window.front();
    window.pop_front();
  }
}

TEST(orders_of_tensorflow) {
  // tf.data.Dataset.range(12).shuffle(5, seed=42), without reshuffling.
  ShuffleBuffer buffer(87654321, 42);
  CHECK((epoch(buffer, 12, 5, 3) == Numbers{2, 5, 1, 7, 0, 8, 9, 10, 6, 3, 4, 11}));
}

TEST(equals_the_plain_buffer) {
  for (const std::size_t count : {0U, 1U, 2U, 15U, 16U, 17U, 200U, 1000U}) {
    for (const std::size_t size : {1U, 2U, 3U, 16U, 100U, 1000U, 5000U}) {
      for (const std::size_t run : {1U, 7U, 64U, 65U, 1000U}) {
        ShuffleBuffer buffer(9, count);
        CHECK(epoch(buffer, count, size, run) == plain_epoch(9, count, count, size));
        CHECK_EQ(buffer.live_bytes(), 0);
      }
    }
  }
}

TEST(a_window_keeps_to_the_oldest) {
  for (const std::size_t run : {1U, 3U, 100U}) {
    ShuffleBuffer buffer(1, 2);
    buffer.append(Added(0, 0, Numbers(100, 1)).all());
    const Added next(1, 0, Numbers(100, 1));
    Numbers order;
    for (std::size_t at = 0; at < 100;) {
      const std::size_t step = std::min<std::size_t>(run, 100 - at);
      Drawn drawn(step);
      buffer.exchange(next.some(at, step), drawn.target(), 100 - at);
      CHECK(drawn.chunks == Numbers(step, 0));
      order.insert(order.end(), drawn.rows.begin(), drawn.rows.end());
      at += step;
    }
    CHECK(order == plain_epoch(1, 2, 100, 100));
    buffer.reseed(3, 4, 0);
    Drawn drawn(60);
    buffer.draw(drawn.target(), 60);
    CHECK(drawn.rows == plain_epoch(3, 4, 60, 60));
    CHECK_EQ(buffer.size(), 40U);
  }
}

TEST(counts_by_chunk) {
  ShuffleBuffer buffer(1, 2);
  buffer.append(Added(2, 0, {100, 20, 3}).all());
  buffer.append(Added(0, 5, {100}).all());
  CHECK_EQ(buffer.size(), 4U);
  CHECK_EQ(buffer.live_bytes(), 223);
  CHECK((copy(buffer.live()) == Numbers{1, 0, 3}));
  CHECK((copy(buffer.live_bytes_of()) == Numbers{100, 0, 123}));
  CHECK(buffer.take_empty().empty());
  Drawn drawn(4);
  buffer.draw(drawn.target(), ShuffleBuffer::kWhole);
  CHECK_EQ(buffer.live_bytes(), 0);
  std::vector<std::int32_t> empty = buffer.take_empty();
  std::ranges::sort(empty);
  CHECK((empty == std::vector<std::int32_t>{0, 2}));
  CHECK(buffer.take_empty().empty());
}

TEST(a_chunk_that_was_empty_for_a_while_is_not_named) {
  ShuffleBuffer buffer(1, 2);
  const Added rows(0, 0, Numbers(100, 1));
  Drawn drawn(100);
  buffer.exchange(rows.all(), drawn.target(), ShuffleBuffer::kWhole);  // empty before and after
  CHECK((buffer.take_empty() == std::vector<std::int32_t>{0}));
  buffer.exchange(rows.all(), drawn.target(), ShuffleBuffer::kWhole);
  buffer.append(rows.all());
  CHECK(buffer.take_empty().empty());
}

TEST(huge_sizes_count_as_what_fits) {
  ShuffleBuffer buffer(1, 2);
  buffer.append(Added(0, 0, {std::int64_t{1} << 40, -1}).all());
  CHECK_EQ(buffer.live_bytes(), 0xffffffffLL);
}

TEST(numbers_that_do_not_fit_are_found) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  CHECK_EQ(ShuffleBuffer::check(Added(0, 0, {1, 1}).all()), 2U);
  CHECK_EQ(ShuffleBuffer::check(Added(0, kMost - 1, {1, 1}).all()), 1U);
  CHECK_EQ(ShuffleBuffer::check(Added(0, -1, {1, 1}).all()), 0U);
  CHECK_EQ(ShuffleBuffer::check(Added(-1, 0, {1, 1}).all()), 0U);
  CHECK_EQ(ShuffleBuffer::check(Added(kMost, 0, {1, 1}).all()), 0U);
}

TEST(relocating_changes_names_only) {
  ShuffleBuffer moved(3, 4);
  ShuffleBuffer kept(3, 4);
  for (ShuffleBuffer* buffer : {&moved, &kept}) {
    for (std::int64_t chunk = 0; chunk < 3; ++chunk) {
      buffer->append(Added(chunk, 10 * chunk, {5, 6, 7, 8}).all());
    }
  }
  const std::vector<std::uint8_t> chosen{1, 0, 1};
  CHECK_EQ(moved.count_chosen(chosen), 8U);
  Drawn source(8);
  Numbers places(8);
  moved.contents(chosen, source.target(), places);
  CHECK((places == Numbers{0, 1, 2, 3, 8, 9, 10, 11}));
  CHECK((source.chunks == Numbers{0, 0, 0, 0, 2, 2, 2, 2}));
  CHECK((source.rows == Numbers{0, 1, 2, 3, 20, 21, 22, 23}));
  moved.relocate(places, Added(5, 0, Numbers(8, 0)).all());
  CHECK((moved.take_empty() == std::vector<std::int32_t>{0, 2}));
  CHECK_EQ(moved.live_bytes(), kept.live_bytes());
  CHECK_EQ(moved.live()[5], 8);
  CHECK_EQ(moved.live_bytes_of()[5], 52);
  Drawn one(12);
  Drawn other(12);
  moved.draw(one.target(), ShuffleBuffer::kWhole);
  kept.draw(other.target(), ShuffleBuffer::kWhole);
  for (std::size_t i = 0; i < 12; ++i) {
    const bool same = one.chunks[i] != 5;
    const auto row = static_cast<std::size_t>(one.rows[i]);
    CHECK_EQ(same ? one.chunks[i] : source.chunks[row], other.chunks[i]);
    CHECK_EQ(same ? one.rows[i] : source.rows[row], other.rows[i]);
  }
}

TEST(a_listed_buffer_goes_on_in_another) {
  ShuffleBuffer buffer(3, 4);
  const Added rows(0, 0, Numbers(50, 1));
  buffer.append(rows.all());
  Drawn drawn(21);
  buffer.draw(drawn.target(), ShuffleBuffer::kWhole);
  const std::vector<std::uint8_t> all{1};
  Drawn listed(buffer.size());
  Numbers places(buffer.size());
  buffer.contents(all, listed.target(), places);
  ShuffleBuffer other(0, 0);
  other.reseed(3, 4, 21);
  other.append(rows.some(0, 29));
  Drawn rest(29);
  Drawn again(29);
  buffer.draw(rest.target(), ShuffleBuffer::kWhole);
  other.draw(again.target(), ShuffleBuffer::kWhole);
  for (std::size_t i = 0; i < 29; ++i) {
    CHECK_EQ(rest.rows[i], listed.rows[static_cast<std::size_t>(again.rows[i])]);
  }
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
