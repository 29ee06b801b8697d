#include "core/shuffle/record_cells.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

using Numbers = std::vector<std::int64_t>;

// Bytes that tell records of different size and number apart.
std::vector<std::byte> make_record(std::size_t size, std::size_t number) {
  std::vector<std::byte> record(size);
  for (std::size_t i = 0; i < size; ++i) {
    record[i] = static_cast<std::byte>((number * 31 + i * 7 + size) & 0xff);
  }
  return record;
}

Numbers add(RecordCells& cells, const std::vector<std::vector<std::byte>>& records,
            std::int64_t first, bool stay = false) {
  const std::vector<Bytes> views(records.begin(), records.end());
  Numbers numbers(records.size());
  std::iota(numbers.begin(), numbers.end(), first);
  Numbers files(records.size(), first % 3);
  Numbers frames(records.size(), first * 100);
  Numbers found(records.size());
  cells.add(views, {files, numbers, frames}, numbers, stay, found);
  return found;
}

struct Taken {
  std::vector<std::byte> data;
  Numbers offsets, lengths, files, numbers, frames;
};

Taken take(RecordCells& cells, const Numbers& chosen) {
  Taken taken;
  taken.data.resize(cells.measure(chosen));
  for (Numbers* column :
       {&taken.offsets, &taken.lengths, &taken.files, &taken.numbers, &taken.frames}) {
    column->resize(chosen.size());
  }
  cells.take(chosen, taken.data, taken.offsets, taken.lengths,
             {taken.files, taken.numbers, taken.frames});
  return taken;
}

void check_record(const Taken& taken, std::size_t i, const std::vector<std::byte>& expected) {
  CHECK_EQ(static_cast<std::size_t>(taken.lengths[i]), expected.size());
  const auto found = Bytes(taken.data)
                         .subspan(static_cast<std::size_t>(taken.offsets[i]),
                                  static_cast<std::size_t>(taken.lengths[i]));
  CHECK(std::ranges::equal(found, expected));
}

TEST(records_of_every_size_come_back) {
  RecordCells cells;
  std::vector<std::vector<std::byte>> records;
  std::size_t total = 0;
  for (const std::size_t size :
       {0U,    1U,    15U,   16U,   17U,    511U,   512U,     513U,     4095U,    4096U,   4097U,
        5000U, 8191U, 8192U, 8193U, 65536U, 65537U, 1048575U, 1048576U, 1048577U, 3000000U}) {
    records.push_back(make_record(size, records.size()));
    total += size;
  }
  const Numbers found = add(cells, records, 5);
  CHECK(cells.held_bytes() >= total);
  CHECK(cells.held_bytes() <= total + total / 8 + (2U << 20U));
  const Numbers reversed(found.rbegin(), found.rend());
  const Taken taken = take(cells, reversed);
  for (std::size_t i = 0; i < records.size(); ++i) {
    check_record(taken, i, records[records.size() - 1 - i]);
    CHECK_EQ(taken.numbers[i], static_cast<std::int64_t>(5 + records.size() - 1 - i));
    CHECK_EQ(taken.files[i], 2);
    CHECK_EQ(taken.frames[i], 500);
  }
}

TEST(memory_serves_again_and_goes_back) {
  RecordCells cells;
  const std::size_t size = 700;
  const std::size_t count = 10'000;
  std::vector<std::vector<std::byte>> records;
  records.reserve(count);
  for (std::size_t i = 0; i < count; ++i) records.push_back(make_record(size, i));
  Numbers held = add(cells, records, 0);
  const std::size_t full = cells.held_bytes();
  for (std::size_t turn = 0; turn < 50; ++turn) {
    const Numbers some(held.begin(), held.begin() + 100);
    const std::vector<std::vector<std::byte>> more(100, make_record(size - turn % 40, turn));
    const Numbers added = add(cells, more, 0);
    (void)take(cells, some);
    held.erase(held.begin(), held.begin() + 100);
    held.insert(held.end(), added.begin(), added.end());
    CHECK(cells.held_bytes() <= full * 3 / 2 + (2U << 20U));
    CHECK(cells.count() <= count + 100);
  }
  while (!held.empty()) {
    const std::size_t step = std::min<std::size_t>(997, held.size());
    const Numbers some(held.end() - static_cast<std::ptrdiff_t>(step), held.end());
    (void)take(cells, some);
    held.resize(held.size() - step);
    CHECK(cells.held_bytes() <= held.size() * 704 * 3 / 2 + (3U << 20U));
  }
}

TEST(records_that_stay_are_copied_when_most_of_their_run_is_gone) {
  RecordCells cells;
  std::vector<std::vector<std::vector<std::byte>>> runs;
  std::vector<Numbers> numbers;
  for (std::size_t run = 0; run < 40; ++run) {
    runs.emplace_back();
    for (std::size_t i = 0; i < 1000; ++i) runs[run].push_back(make_record(600 + i % 3, i + run));
    numbers.push_back(add(cells, runs[run], static_cast<std::int64_t>(run), true));
    // Nine tenths of the run before are drawn, and all of those of an older one that were left.
    if (run == 0) continue;
    const std::size_t before = cells.copied_bytes();
    const Numbers some(numbers[run - 1].begin(), numbers[run - 1].begin() + 900);
    const Taken taken = take(cells, some);
    for (std::size_t i = 0; i < some.size(); ++i) check_record(taken, i, runs[run - 1][i]);
    CHECK(cells.copied_bytes() >= before + taken.data.size());
    CHECK(cells.first_run() <= run);
    for (std::size_t gone = 0; gone < cells.first_run(); ++gone) runs[gone].assign(1000, {});
    CHECK(cells.held_bytes() <= (run * 100 + 1000) * 700 * 3 / 2 + (4U << 20U));
  }
  CHECK(cells.first_run() > 20);
  for (std::size_t run = 0; run < 39; ++run) {
    const Numbers rest(numbers[run].begin() + 900, numbers[run].end());
    const Taken taken = take(cells, rest);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      check_record(taken, i, make_record(600 + (900 + i) % 3, 900 + i + run));
    }
  }
  (void)take(cells, numbers[39]);
  CHECK_EQ(cells.first_run(), 40U);
}

TEST(places_of_records_are_told) {
  RecordCells cells;
  const Numbers first = add(cells, {make_record(3, 0), make_record(4, 1)}, 7);
  const Numbers second = add(cells, {make_record(5, 2)}, 11);
  const Numbers asked{second[0], first[1], first[0]};
  Numbers files(3);
  Numbers numbers(3);
  Numbers frames(3);
  Numbers elements(3);
  cells.locate(asked, {files, numbers, frames}, elements);
  CHECK((elements == Numbers{11, 8, 7}));
  CHECK((numbers == Numbers{11, 8, 7}));
  CHECK((files == Numbers{2, 1, 1}));
  CHECK((frames == Numbers{1100, 700, 700}));
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
