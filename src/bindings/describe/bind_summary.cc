#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/frames/record_inputs.h"
#include "bindings/lock.h"
#include "core/describe/summary.h"

namespace tfrkit {
namespace {

// A summary that Python threads may share: one at a time works on it.
struct SharedSummary {
  Summary summary;
  std::mutex lock;
};

void add(SharedSummary& self, nb::handle pieces, std::int64_t first) {
  const Pieces gathered(pieces);
  const nb::gil_scoped_release released;
  const std::scoped_lock locked(self.lock);
  self.summary.add(gathered.records(), first);
}

void expect(SharedSummary& self, std::string_view key) {
  const PatientLock locked(self.lock);
  self.summary.expect(std::as_bytes(std::span(key)));
}

void merge(SharedSummary& self, SharedSummary& other) {
  if (&self == &other) throw nb::value_error("expected another summary but got the same");
  const nb::gil_scoped_release released;
  const std::scoped_lock locked(self.lock, other.lock);
  self.summary.merge(other.summary);
}

nb::bytes head_of(const ExampleBytes& example) {
  return nb::bytes(example.head.data(), example.head.size());
}

nb::list examples_of(const FeatureStats& stats) {
  nb::list examples;
  for (const ExampleBytes& example : stats.examples) {
    examples.append(nb::make_tuple(head_of(example), example.size));
  }
  return examples;
}

nb::tuple tally_of(const Tally& tally) {
  const auto [usual, times] = tally.usual();
  return nb::make_tuple(tally.least(), tally.greatest(), usual, times, tally.total());
}

nb::dict stats_of(const FeatureStats& stats) {
  const Values& values = stats.ranges.values;
  const auto& counts = stats.ranges.counts;
  nb::list kinds;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    kinds.append(nb::make_tuple(stats.kind_records[kind], stats.kind_first[kind], counts[kind]));
  }
  nb::dict result;
  result["records"] = stats.records;
  result["kinds"] = kinds;
  result["empty"] = stats.empty;
  result["unset"] = stats.unset;
  result["counts"] = tally_of(stats.counts);
  result["steps"] = tally_of(stats.steps);
  result["ints"] = nb::make_tuple(values.low, values.high);
  result["floats"] = nb::make_tuple(values.low_float, values.high_float, values.nans,
                                    values.infinities, values.negative_infinities);
  result["lengths"] = nb::make_tuple(values.shortest, values.longest, values.sum);
  result["examples"] = examples_of(stats);
  return result;
}

nb::dict table_of(const FeatureTable& table) {
  nb::dict result;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].records == 0) continue;    // expected, and not met
    const std::string& key = table[i].key;  // UTF-8: records with other keys are not Examples
    result[nb::str(key.data(), key.size())] = stats_of(table[i]);
  }
  return result;
}

nb::dict result(SharedSummary& self) {
  const PatientLock locked(self.lock);
  const Summary& summary = self.summary;
  nb::list records;
  for (const RecordKind kind :
       {RecordKind::kExample, RecordKind::kSequenceExample, RecordKind::kOther}) {
    records.append(nb::make_tuple(summary.records(kind), summary.first_record(kind)));
  }
  nb::list others;
  for (const OtherRecord& other : summary.others()) {
    others.append(nb::make_tuple(other.record, head_of(other.bytes), other.bytes.size));
  }
  nb::dict result;
  result["records"] = records;
  result["features"] = table_of(summary.features());
  result["lists"] = table_of(summary.lists());
  result["others"] = others;
  result["not_followed"] = summary.not_followed();
  return result;
}

}  // namespace

void bind_summary(nb::module_& module) {
  nb::class_<SharedSummary>(module, "Summary", "What is in the records that were added.")
      .def(nb::init<>())
      .def("add", add, nb::arg("pieces"), nb::arg("first"),
           nb::sig("def add(self, pieces: collections.abc.Sequence[object], first: int) -> None"),
           "Add records, of which the first has the number `first`.")
      .def("expect", expect, nb::arg("key"),
           "Follow a key however many others come before it; call it before `add`.")
      .def("merge", merge, nb::arg("other"), "Add what another summary knows.")
      .def("result", result, nb::sig("def result(self) -> dict[str, typing.Any]"),
           "Return all that is known:\n"
           "  records: (count, first or -1) of Examples, SequenceExamples, others\n"
           "  features, lists: by key, in order of appearance\n"
           "    records; kinds: (records, first or -1, values) of unset, bytes, float, int64\n"
           "    counts, steps: (least, greatest, usual, how often that, how many) of values in\n"
           "      a Feature with a kind, of Features in a list\n"
           "    ints: (least, greatest); floats: the same of finite ones, NaNs, inf, -inf\n"
           "    lengths: (least, greatest, sum) of bytes; examples: (beginning, length) of some\n"
           "  others: (number, beginning, length) of the first records that are neither\n"
           "  not_followed: features passed over as there were too many keys");
}

}  // namespace tfrkit
