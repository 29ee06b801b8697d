// Records cut from the input: what is counted adds up, and is the same in parts as in one go.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/describe/statistics.h"
#include "require.h"

namespace tfrkit {
namespace {

// Cuts the input into records; the first byte of each says how long it is, 255 means all the rest.
std::vector<Bytes> cut(Bytes input) {
  std::vector<Bytes> records;
  while (!input.empty()) {
    const auto wanted = std::to_integer<std::size_t>(input[0]);
    input = input.subspan(1);
    const std::size_t size = wanted == 255 ? input.size() : std::min(wanted, input.size());
    records.push_back(input.first(size));
    input = input.subspan(size);
  }
  return records;
}

std::uint64_t total(const NumberStats& stats) {
  if (stats.sketches() != nullptr) return stats.sketches()->count;
  std::uint64_t sum = 0;
  stats.counts().for_each([&](const auto& entry) { sum += entry.count; });
  return sum;
}

std::uint64_t values_of(const KindTotals& totals) {
  if (totals.strings) return totals.strings->count();
  const SpecialFloats& special = totals.special;
  return total(*totals.numbers) + special.nans + special.infinities + special.negative_infinities;
}

void check_same(const FeatureTotals& one, const FeatureTotals& other) {
  REQUIRE(one.key() == other.key() && one.records() == other.records());
  REQUIRE(one.empty() == other.empty() && one.unset() == other.unset());
  REQUIRE(total(one.counts()) == total(other.counts()));
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    REQUIRE((one.of(kind) == nullptr) == (other.of(kind) == nullptr));
    if (one.of(kind) == nullptr) continue;
    REQUIRE(one.of(kind)->records == other.of(kind)->records);
    REQUIRE(values_of(*one.of(kind)) == values_of(*other.of(kind)));
  }
}

void run(Bytes input) {
  const std::vector<Bytes> records = cut(input);
  Statistics whole(std::nullopt);
  whole.add(records);
  Statistics parts(std::nullopt);
  FeatureColumns columns;  // used again and again
  for (const Bytes& record : records) {
    columns.read({&record, 1}, nullptr);
    const std::size_t features = parts.begin({&columns, 1});
    for (std::size_t i = 0; i < features; ++i) parts.add_feature(i);
  }
  REQUIRE(whole.features().size() == parts.features().size());
  REQUIRE(whole.lists().size() == parts.lists().size());
  for (std::size_t i = 0; i < whole.features().size(); ++i) {
    check_same(*whole.features()[i], *parts.features()[i]);
  }
  for (std::size_t i = 0; i < whole.lists().size(); ++i) {
    check_same(*whole.lists()[i], *parts.lists()[i]);
  }
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run(tfrkit::as_input(data, size));
  return 0;
}
