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

// A part of a batch that one thread reads: that many bytes or records, whichever comes first.
constexpr std::size_t kPartBytes = std::size_t{1} << 20;
constexpr std::size_t kPartRecords = 4096;

// Statistics that Python threads may share: one at a time works on them.
struct SharedStatistics {
  SharedStatistics(std::optional<FeatureColumns::Names> columns, bool outline_only, bool bounds)
      : outline_only(outline_only || bounds),
        bounds(bounds),
        statistics(std::move(columns), bounds         ? Detail::kBounds
                                       : outline_only ? Detail::kOutline
                                                      : Detail::kValues) {}
  bool outline_only;
  bool bounds;
  Statistics statistics;
  std::vector<FeatureColumns> columns;  // of the last batch; their memory serves the next
  std::mutex lock;
};

[[nodiscard]] std::vector<std::span<const Bytes>> split(std::span<const Bytes> records) {
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
  const RecordInputs gathered(pieces);
  const nb::gil_scoped_release released;
  const std::scoped_lock locked(self.lock);
  const auto records = gathered.records();
  const auto parts = split(records);
  if (self.columns.size() < parts.size()) self.columns.resize(parts.size());
  const std::span<FeatureColumns> columns = std::span(self.columns).first(parts.size());
  Statistics& statistics = self.statistics;
  const std::int64_t first = statistics.next_record();
  const FeatureColumns::Request request = statistics.request();
  run_all(parts.size(), threads, [&](std::size_t i) {
    columns[i].read(parts[i], first + (parts[i].data() - records.data()), request);
  });
  const auto at_once = self.outline_only ? 1 : thread_count(threads);
  const std::size_t tasks = statistics.begin(columns, static_cast<std::size_t>(at_once));
  run_all(tasks, at_once, [&](std::size_t i) { statistics.run_task(i); });
}

void merge(SharedStatistics& self, SharedStatistics& other) {
  if (&self == &other) throw nb::value_error("expected other statistics but got the same");
  if (self.outline_only || other.outline_only) {
    throw nb::value_error("expected statistics made without outline_only");
  }
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

nb::dict kind_of(const KindTotals& totals, std::uint64_t records, const Values& range,
                 std::size_t top) {
  nb::dict result;
  result["records"] = records;
  if (totals.strings) {
    result["strings"] = strings_of(*totals.strings, top);
  } else {
    result["numbers"] = numbers_of(*totals.numbers);
    result["special"] = nb::make_tuple(range.nans, range.infinities, range.negative_infinities);
  }
  return result;
}

nb::dict feature(SharedStatistics& self, std::size_t index, bool is_list, std::size_t top) {
  const PatientLock locked(self.lock);
  const auto& all = is_list ? self.statistics.lists() : self.statistics.features();
  if (index >= all.size()) throw nb::index_error("there is no such feature");
  const FeatureTotals& totals = *all[index];
  const Outline& outline = totals.outline();
  nb::dict result;
  result["records"] = outline.records;
  result["empty"] = outline.empty;
  result["unset"] = outline.unset;
  result["counts"] = numbers_of(totals.counts());
  result["steps"] = numbers_of(totals.steps());
  nb::dict kinds;
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    if (const KindTotals* const found = totals.of(kind)) {
      kinds[nb::int_(static_cast<int>(kind))] =
          kind_of(*found, outline.kind_records[index_of(kind)], outline.ranges.values, top);
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
  const auto& counts = statistics.records().counts;
  return nb::make_tuple(counts[0], counts[1], counts[2], statistics.not_followed());
}

nb::bytes head_of(const ExampleBytes& example) {
  return nb::bytes(example.head.data(), example.head.size());
}

nb::tuple tuple_of(const ByteHead& head) {
  const auto bytes = head.bytes();
  const std::size_t kept = std::min<std::size_t>(head.size, bytes.size());
  return nb::make_tuple(nb::bytes(bytes.data(), kept), head.size > kept);
}

nb::tuple tuple_of(const CountMap& counts) {
  const auto [usual, times] = counts.usual();
  return nb::make_tuple(counts.least(), counts.greatest(), usual, times, counts.total());
}

nb::dict outline_of(const Outline& outline, bool bounds) {
  const Values& values = outline.ranges.values;
  nb::list kinds;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    kinds.append(nb::make_tuple(outline.kind_records[kind], outline.kind_first[kind],
                                outline.ranges.counts[kind]));
  }
  nb::list examples;
  for (const ExampleBytes& example : outline.examples) {
    examples.append(nb::make_tuple(head_of(example), example.size));
  }
  nb::dict result;
  result["records"] = outline.records;
  result["kinds"] = kinds;
  result["empty"] = outline.empty;
  result["unset"] = outline.unset;
  result["counts"] = tuple_of(outline.counts);
  result["steps"] = tuple_of(outline.steps);
  result["ints"] = nb::make_tuple(values.low, values.high);
  result["floats"] = nb::make_tuple(values.low_float, values.high_float, values.nans,
                                    values.infinities, values.negative_infinities);
  result["lengths"] = nb::make_tuple(values.shortest, values.longest, values.sum);
  const bool has_strings = bounds && outline.ranges.counts[index_of(Kind::kBytes)] != 0;
  result["bounds"] = has_strings ? nb::object(nb::make_tuple(tuple_of(values.bounds.least),
                                                             tuple_of(values.bounds.greatest)))
                                 : nb::none();
  result["examples"] = examples;
  return result;
}

nb::dict outlines_of(const Statistics::Totals& all, bool bounds) {
  nb::dict result;
  for (const auto& totals : all) {
    const std::string& key = totals->key();  // UTF-8: records with other keys are not Examples
    result[nb::str(key.data(), key.size())] = outline_of(totals->outline(), bounds);
  }
  return result;
}

nb::dict outline(SharedStatistics& self) {
  const PatientLock locked(self.lock);
  if (!self.outline_only) throw nb::value_error("expected statistics made with outline_only");
  const RecordCounts& counts = self.statistics.records();
  nb::list records;
  for (std::size_t kind = 0; kind < counts.counts.size(); ++kind) {
    records.append(nb::make_tuple(counts.counts[kind], counts.first[kind]));
  }
  nb::list others;
  for (const OtherRecord& other : counts.others) {
    others.append(nb::make_tuple(other.record, head_of(other.bytes), other.bytes.size));
  }
  nb::dict result;
  result["records"] = records;
  result["features"] = outlines_of(self.statistics.features(), self.bounds);
  result["lists"] = outlines_of(self.statistics.lists(), false);
  result["others"] = others;
  result["not_followed"] = self.statistics.not_followed();
  return result;
}

}  // namespace

void bind_statistics(nb::module_& module) {
  nb::class_<SharedStatistics>(module, "Statistics", "Statistics of the records that were added.")
      .def(nb::init<std::optional<FeatureColumns::Names>, bool, bool>(), nb::arg("columns").none(),
           nb::arg("outline_only") = false, nb::arg("bounds") = false,
           "Count all features, or only those with some names; with `outline_only` just what\n"
           "`outline` returns, which is several times as fast; with `bounds` also that of bytes.")
      .def("add", add, nb::arg("pieces"), nb::arg("threads"),
           nb::sig("def add(self, pieces: collections.abc.Sequence[object], threads: int) -> None"),
           "Add records on `threads` threads, 0 is one for each core. Records are numbered from 0\n"
           "in the order in which they are added.")
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
           "then values have weights.")
      .def("outline", outline, nb::sig("def outline(self) -> dict[str, typing.Any]"),
           "Return what a schema needs, if made with `outline_only`:\n"
           "  records: (count, first or -1) of Examples, SequenceExamples, others\n"
           "  features, lists: by key, in order of appearance\n"
           "    records; kinds: (records, first or -1, values) of unset, bytes, float, int64\n"
           "    counts, steps: (least, greatest, usual, how often that, how many) of values in\n"
           "      a Feature with a kind, of Features in a list\n"
           "    ints: (least, greatest); floats: the same of finite ones, NaNs, inf, -inf\n"
           "    lengths: (least, greatest, sum) of bytes; examples: (beginning, length) of some\n"
           "    bounds: if made with `bounds`, of the least and the greatest of the bytes of a\n"
           "      feature (first 16 bytes, whether it is longer); else None\n"
           "  others: (number, beginning, length) of the first records that are neither\n"
           "  not_followed: features passed over as there were too many keys");
}

}  // namespace tfrkit
