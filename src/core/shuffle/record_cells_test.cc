#include "core/shuffle/record_cells.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
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

RecordCells::OwnMemory allocate(std::size_t size) {
  return RecordCells::OwnMemory(new std::byte[size]);
}

using Records = std::vector<std::vector<std::byte>>;

// Adds records, which are copied, or if they are kept stay where they are.
Numbers add(RecordCells& cells, const Records& records, std::int64_t first,
            RecordCells::Memory kept = nullptr) {
  const std::vector<Bytes> views(records.begin(), records.end());
  Numbers numbers(records.size());
  std::iota(numbers.begin(), numbers.end(), first);
  Numbers files(records.size(), first % 3);
  Numbers frames(records.size(), first * 100);
  Numbers found(records.size());
  cells.add(views, {files, numbers, frames}, numbers, std::move(kept), found);
  return found;
}

struct Taken {
  std::vector<Bytes> records;
  Numbers files, numbers, frames;
  std::vector<RecordCells::Memory> kept;
};

Taken take(RecordCells& cells, const Numbers& chosen) {
  Taken taken;
  taken.records.resize(chosen.size());
  for (Numbers* column : {&taken.files, &taken.numbers, &taken.frames}) {
    column->resize(chosen.size());
  }
  taken.kept.reserve(cells.runs());
  cells.take(chosen, taken.records, {taken.files, taken.numbers, taken.frames}, taken.kept);
  cells.let_go();
  return taken;
}

void check_record(const Taken& taken, std::size_t i, const std::vector<std::byte>& expected) {
  CHECK(std::ranges::equal(taken.records[i], expected));
}

TEST(records_of_every_size_come_back) {
  RecordCells cells(allocate);
  Records records;
  std::size_t total = 0;
  for (const std::size_t size :
       {0U,    1U,    15U,   16U,   17U,    511U,   512U,     513U,     4095U,    4096U,   4097U,
        5000U, 8191U, 8192U, 8193U, 65536U, 65537U, 1048575U, 1048576U, 1048577U, 3000000U}) {
    records.push_back(make_record(size, records.size()));
    total += size;
  }
  const Numbers found = add(cells, records, 5);
  CHECK_EQ(cells.held_bytes(), total);
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
  RecordCells cells(allocate);
  const std::size_t size = 700;
  const std::size_t count = 10'000;
  Records records;
  records.reserve(count);
  for (std::size_t i = 0; i < count; ++i) records.push_back(make_record(size, i));
  Numbers held = add(cells, records, 0);
  const std::size_t full = cells.held_bytes();
  for (std::size_t turn = 0; turn < 50; ++turn) {
    const Numbers some(held.begin(), held.begin() + 100);
    const Records more(100, make_record(size - turn % 40, turn));
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

TEST(records_stay_until_most_of_their_run_is_gone_and_are_moved_then) {
  RecordCells cells(allocate);
  std::vector<std::weak_ptr<const void>> runs;
  std::vector<Numbers> numbers;
  const std::size_t count = 1000;
  const auto made = [](std::size_t run, std::size_t i) {
    return make_record(600 + i % 3, i + run);
  };
  for (std::size_t run = 0; run < 40; ++run) {
    auto records = std::make_shared<Records>();
    for (std::size_t i = 0; i < count; ++i) records->push_back(made(run, i));
    runs.emplace_back(records);
    const Records& stay = *records;
    numbers.push_back(add(cells, stay, static_cast<std::int64_t>(run), std::move(records)));
    if (run == 0) continue;
    // Nine tenths of the run before are taken.
    const Numbers some(numbers[run - 1].begin(), numbers[run - 1].begin() + 900);
    const Taken taken = take(cells, some);
    for (std::size_t i = 0; i < some.size(); ++i) check_record(taken, i, made(run - 1, i));
    CHECK(cells.held_bytes() <= (run * 100 + count) * 603 * 3 / 2 + (1U << 20U));
  }
  CHECK(cells.runs() <= 20);
  CHECK(std::ranges::count_if(runs, [](const auto& run) { return run.expired(); }) > 30);
  CHECK(cells.copied_bytes() < std::size_t{40} * 100 * 603 * 2);
  for (std::size_t run = 0; run < 39; ++run) {
    const Taken taken = take(cells, {numbers[run].begin() + 900, numbers[run].end()});
    for (std::size_t i = 0; i < taken.records.size(); ++i) {
      check_record(taken, i, made(run, 900 + i));
    }
  }
  (void)take(cells, numbers[39]);
  CHECK_EQ(cells.held_bytes(), 0U);
  CHECK_EQ(cells.runs(), 0U);
}

TEST(what_was_taken_keeps_its_memory) {
  RecordCells cells(allocate);
  auto records = std::make_shared<Records>(Records{make_record(5, 1), {}, make_record(7, 2)});
  const std::weak_ptr<const void> alive = records;
  const Records& stay = *records;
  const Numbers found = add(cells, stay, 0, std::move(records));
  Taken first = take(cells, {found[0], found[1]});
  CHECK_EQ(first.kept.size(), 1U);
  Taken second = take(cells, {found[2]});
  CHECK_EQ(cells.runs(), 0U);
  first = {};
  CHECK(!alive.expired());
  check_record(second, 0, make_record(7, 2));
  second = {};
  CHECK(alive.expired());
}

TEST(runs_of_which_nothing_is_gone_are_not_copied) {
  RecordCells cells(allocate);
  auto old = std::make_shared<Records>(100, make_record(10'000, 1));
  const Records& stay = *old;
  const Numbers first = add(cells, stay, 0, std::move(old));
  for (std::size_t turn = 0; turn < 20; ++turn) {
    auto records = std::make_shared<Records>(300, make_record(10'000, 2));
    const Records& all = *records;
    const Numbers found = add(cells, all, 0, std::move(records));
    (void)take(cells, {found.begin() + 1, found.end()});
    CHECK(cells.held_bytes() <= (101 + turn) * 15'000 + (1U << 20U));
  }
  CHECK(cells.copied_bytes() < std::size_t{40} * 10'000);
  CHECK_EQ(take(cells, first).records.size(), 100U);
}

TEST(places_of_records_are_told) {
  RecordCells cells(allocate);
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
