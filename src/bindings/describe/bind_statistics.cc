#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/frames/record_inputs.h"
#include "bindings/lock.h"
#include "bindings/parallel.h"
#include "core/describe/statistics.h"

namespace tfrkit {
namespace {

// A part of a batch that one thread reads: so many bytes or records, whichever comes first.
constexpr std::size_t kPartBytes = std::size_t{1} << 20;
constexpr std::size_t kPartRecords = 4096;

// Statistics that Python threads may share: one at a time works on them.
struct SharedStatistics {
  explicit SharedStatistics(std::optional<FeatureColumns::Names> columns)
      : statistics(std::move(columns)) {}
  Statistics statistics;
  std::vector<FeatureColumns> columns;  // of the last batch; their memory serves the next
  std::mutex lock;
};

[[nodiscard]] std::vector<std::span<const Bytes>> cut(std::span<const Bytes> records) {
  std::vector<std::span<const Bytes>> parts;
  while (!records.empty()) {
    std::size_t count = 0;
    for (std::size_t bytes = 0;
         count < std::min(records.size(), kPartRecords) && bytes < kPartBytes;) {
      bytes += records[count++].size();
    }
    parts.push_back(records.first(count));
    records = records.subspan(count);
  }
  return parts;
}

// Calls body(i) for all i < count on several threads; throws std::bad_alloc if one did.
template <typename Body>
void run_all(std::size_t count, int threads, const Body& body) {
  std::atomic<bool> no_memory = false;
  parallel_for(count, threads, [&](std::size_t i) noexcept {
    try {
      body(i);
    } catch (const std::bad_alloc&) {
      no_memory = true;
    }
  });
  if (no_memory) throw std::bad_alloc();
}

void add(SharedStatistics& self, nb::handle pieces, int threads) {
  const Pieces gathered(pieces);
  const nb::gil_scoped_release released;
  const std::scoped_lock locked(self.lock);
  const auto parts = cut(gathered.records());
  if (self.columns.size() < parts.size()) self.columns.resize(parts.size());
  const std::span<FeatureColumns> columns = std::span(self.columns).first(parts.size());
  Statistics& statistics = self.statistics;
  run_all(parts.size(), threads,
          [&](std::size_t i) { columns[i].read(parts[i], statistics.wanted()); });
  const std::size_t features = statistics.begin(columns);
  run_all(features, threads, [&](std::size_t i) { statistics.add_feature(i); });
}

void merge(SharedStatistics& self, SharedStatistics& other) {
  if (&self == &other) throw nb::value_error("expected other statistics but got the same");
  const nb::gil_scoped_release released;
  const std::scoped_lock locked(self.lock, other.lock);
  self.statistics.merge(other.statistics);
}

// Numbers with their counts or weights, gathered to become two arrays.
class Weighted {
 public:
  explicit Weighted(NumberKind kind) : kind_(kind) {}
  void add(std::uint64_t key, std::uint64_t weight) {
    values_.push_back(static_cast<std::int64_t>(bits_of_key(kind_, key)));
    weights_.push_back(static_cast<std::int64_t>(weight));
  }
  [[nodiscard]] nb::tuple arrays() const {
    const std::size_t size = values_.size();
    const Int64Batch batch(2 * size);
    std::ranges::copy(values_, batch.span(0, size).begin());
    std::ranges::copy(weights_, batch.span(size, size).begin());
    return nb::make_tuple(batch.array(0, size), batch.array(size, size));
  }

 private:
  NumberKind kind_;
  std::vector<std::int64_t> values_;
  std::vector<std::int64_t> weights_;
};

template <std::size_t Limbs>
nb::bytes limbs_of(const WideSum<Limbs>& sum) {
  std::vector<std::byte> bytes(sizeof(std::uint64_t) * Limbs);
  for (std::size_t i = 0; i < Limbs; ++i) store_le(bytes.data() + 8 * i, sum.limbs()[i]);
  return nb::bytes(bytes.data(), bytes.size());
}

nb::dict sketches_of(const NumberStats& stats) {
  const NumberStats::Sketches& sketches = *stats.sketches();
  Weighted top(stats.kind());
  sketches.frequent.table().for_each(
      [&](const auto& entry) { top.add(entry.key.bits, entry.count); });
  nb::dict result;
  result["count"] = sketches.count;
  result["least"] = static_cast<std::int64_t>(bits_of_key(stats.kind(), sketches.least));
  result["greatest"] = static_cast<std::int64_t>(bits_of_key(stats.kind(), sketches.greatest));
  result["distinct"] = sketches.distinct.estimate();
  result["distinct_error"] = sketches.distinct.standard_error();
  result["rank_error"] = sketches.quantiles.rank_error();
  result["top"] = top.arrays();
  result["top_error"] = sketches.frequent.error();
  return result;
}

nb::dict numbers_of(const NumberStats& stats) {
  Weighted values(stats.kind());
  nb::dict result;
  if (stats.sketches() != nullptr) {
    stats.sketches()->quantiles.for_each(
        [&](std::uint64_t key, std::uint64_t weight) { values.add(key, weight); });
    result["sketches"] = sketches_of(stats);
  } else {
    stats.counts().for_each([&](const auto& entry) { values.add(entry.key.bits, entry.count); });
    result["sketches"] = nb::none();
  }
  const Moments moments = stats.moments();
  result["values"] = values.arrays();
  result["sums"] = nb::make_tuple(limbs_of(moments.positive), limbs_of(moments.negative),
                                  limbs_of(moments.squares));
  return result;
}

// Strings with their counts: the most frequent ones, of equals the first in order.
nb::list most_frequent(const ByteStats& stats, std::size_t top) {
  struct Counted {
    Text text;
    bool known;
    std::uint64_t count;
    std::uint64_t hash;
  };
  const auto& table =
      stats.sketches() != nullptr ? stats.sketches()->frequent.table() : stats.counts();
  const Digest empty = digest_of({});
  std::vector<Counted> all;
  all.reserve(table.size());
  table.for_each([&](const auto& entry) {
    const Text text = stats.text_of(entry.key);
    const bool known = text.size != 0 || entry.key == TextKey{empty.high, empty.low, kNoText};
    all.push_back({text, known, entry.count, entry.key.high});
  });
  const std::size_t kept = std::min(top, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                    [](const Counted& a, const Counted& b) {
                      if (a.count != b.count) return a.count > b.count;
                      if (a.known != b.known) return a.known;
                      if (a.text.head != b.text.head) return a.text.head < b.text.head;
                      return a.hash < b.hash;
                    });
  nb::list result;
  for (const Counted& one : std::span(all).first(kept)) {
    nb::object text = nb::none();
    if (one.known) text = nb::bytes(one.text.head.data(), one.text.head.size());
    result.append(nb::make_tuple(text, one.text.size, one.count));
  }
  return result;
}

nb::dict strings_of(const ByteStats& stats, std::size_t top) {
  const ImageStats& images = stats.images();
  nb::dict result;
  result["count"] = stats.count();
  result["utf8"] = stats.utf8();
  result["lengths"] = numbers_of(stats.lengths());
  nb::list formats;
  for (const std::uint64_t count : images.formats) formats.append(count);
  result["formats"] = formats;
  result["image_sizes"] = nb::make_tuple(images.sized, images.least_width, images.greatest_width,
                                         images.least_height, images.greatest_height);
  result["top"] = most_frequent(stats, top);
  if (const ByteStats::Sketches* const sketches = stats.sketches()) {
    result["sketches"] =
        nb::make_tuple(sketches->distinct.estimate(), sketches->distinct.standard_error(),
                       sketches->frequent.error());
  } else {
    result["sketches"] = nb::none();
    result["distinct"] = stats.counts().size();
  }
  return result;
}

nb::dict kind_of(const KindTotals& totals, std::size_t top) {
  nb::dict result;
  result["records"] = totals.records;
  if (totals.strings) {
    result["strings"] = strings_of(*totals.strings, top);
  } else {
    result["numbers"] = numbers_of(*totals.numbers);
    result["special"] = nb::make_tuple(totals.special.nans, totals.special.infinities,
                                       totals.special.negative_infinities);
  }
  return result;
}

nb::dict feature(SharedStatistics& self, std::size_t index, bool is_list, std::size_t top) {
  const PatientLock locked(self.lock);
  const auto& all = is_list ? self.statistics.lists() : self.statistics.features();
  if (index >= all.size()) throw nb::index_error("there is no such feature");
  const FeatureTotals& totals = *all[index];
  nb::dict result;
  result["records"] = totals.records();
  result["empty"] = totals.empty();
  result["unset"] = totals.unset();
  result["counts"] = numbers_of(totals.counts());
  result["steps"] = numbers_of(totals.steps());
  nb::dict kinds;
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    if (const KindTotals* const found = totals.of(kind)) {
      kinds[nb::int_(static_cast<int>(kind))] = kind_of(*found, top);
    }
  }
  result["kinds"] = kinds;
  return result;
}

nb::list names(SharedStatistics& self, bool lists) {
  const PatientLock locked(self.lock);
  nb::list result;
  for (const auto& totals : lists ? self.statistics.lists() : self.statistics.features()) {
    result.append(nb::str(totals->key().data(), totals->key().size()));
  }
  return result;
}

nb::tuple records(SharedStatistics& self) {
  const PatientLock locked(self.lock);
  const Statistics& statistics = self.statistics;
  return nb::make_tuple(statistics.records(RecordKind::kExample),
                        statistics.records(RecordKind::kSequenceExample),
                        statistics.records(RecordKind::kOther), statistics.not_followed());
}

}  // namespace

void bind_statistics(nb::module_& module) {
  nb::class_<SharedStatistics>(module, "Statistics", "Statistics of the records that were added.")
      .def(nb::init<std::optional<FeatureColumns::Names>>(), nb::arg("columns").none(),
           "Count all features, or only those with some names.")
      .def("add", add, nb::arg("pieces"), nb::arg("threads"),
           nb::sig("def add(self, pieces: collections.abc.Sequence[object], threads: int) -> None"),
           "Add records; on so many threads, 0 is one for each core.")
      .def("merge", merge, nb::arg("other"), "Add what other statistics know.")
      .def("records", records, nb::sig("def records(self) -> tuple[int, int, int, int]"),
           "Return how many are Examples, SequenceExamples and others, and how many features were\n"
           "passed over as there were too many names.")
      .def("names", names, nb::arg("lists"), nb::sig("def names(self, lists: bool) -> list[str]"),
           "Return the features, or the feature lists, in order of appearance.")
      .def("feature", feature, nb::arg("index"), nb::arg("is_list"), nb::arg("top"),
           nb::sig("def feature(self, index: int, is_list: bool, top: int) -> dict[str, "
                   "typing.Any]"),
           "Return what is known of one: records; empty and unset Features; counts of values,\n"
           "steps of lists; kinds by number: records, and either\n"
           "  numbers, special: (NaNs, inf, -inf), or\n"
           "  strings: count, utf8, lengths, formats and image_sizes, distinct, the `top` most\n"
           "    frequent as (beginning or None, size, count), sketches: None, or (distinct, its\n"
           "    standard error, by how much a count may be too low).\n"
           "Numbers are: values (bits of floats) and their counts; sums of the positive ones, the\n"
           "negative ones and the squares in bytes; sketches: None, or what is known besides, and\n"
           "then values have weights.");
}

}  // namespace tfrkit
