#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/frames/record_inputs.h"
#include "bindings/parallel.h"
#include "core/digest/record_digest.h"

namespace tfrkit {
namespace {

constexpr std::size_t kPartRecords = 256;  // that one thread takes at once

using Halves = std::tuple<Int64Array, Int64Array>;
using Failure = std::tuple<std::size_t, int>;

// Calls body(i, digester) for all i < count on several threads; throws std::bad_alloc if one did.
template <typename Body>
void for_all(std::size_t count, std::span<const std::string> keys, int threads, const Body& body) {
  std::atomic<bool> no_memory = false;
  parallel_for((count + kPartRecords - 1) / kPartRecords, threads, [&](std::size_t part) noexcept {
    try {
      RecordDigester digester(keys);
      const std::size_t end = std::min(count, (part + 1) * kPartRecords);
      for (std::size_t i = part * kPartRecords; i < end; ++i) body(i, digester);
    } catch (const std::bad_alloc&) {
      no_memory = true;
    }
  });
  if (no_memory) throw std::bad_alloc();
}

void store(const Int64Batch& batch, std::size_t count, std::size_t i, const Digest& digest) {
  batch.span(0, count)[i] = static_cast<std::int64_t>(digest.high);
  batch.span(count, count)[i] = digest.low;
}

Halves digest_records(nb::handle pieces, bool meaning, int threads) {
  const RecordInputs gathered(pieces);
  const auto records = gathered.records();
  const std::size_t count = records.size();
  const Int64Batch batch(2 * count);
  {
    const nb::gil_scoped_release released;
    for_all(count, {}, threads, [&](std::size_t i, RecordDigester& digester) {
      store(batch, count, i, meaning ? digester.meaning_of(records[i]) : digest_of(records[i]));
    });
  }
  return {batch.array(0, count), batch.array(count, count)};
}

std::tuple<Int64Array, Int64Array, std::optional<Failure>> digest_keys(
    nb::handle pieces, const std::vector<std::string>& keys, int threads) {
  const RecordInputs gathered(pieces);
  const auto records = gathered.records();
  const std::size_t count = records.size();
  const Int64Batch batch(2 * count);
  std::vector<KeyState> states(count);
  {
    const nb::gil_scoped_release released;
    for_all(count, keys, threads, [&](std::size_t i, RecordDigester& digester) {
      Digest digest;
      states[i] = digester.key_of(records[i], digest);
      store(batch, count, i, digest);
    });
  }
  std::optional<Failure> failure;
  const auto bad =
      std::ranges::find_if(states, [](KeyState state) { return state != KeyState::kFound; });
  if (bad != states.end()) {
    failure.emplace(static_cast<std::size_t>(bad - states.begin()), static_cast<int>(*bad));
  }
  return {batch.array(0, count), batch.array(count, count), failure};
}

}  // namespace

void bind_record_digest(nb::module_& module) {
  module.attr("KEY_MISSING") = static_cast<int>(KeyState::kMissing);
  module.attr("KEY_NOT_ONE") = static_cast<int>(KeyState::kNotOne);
  module.attr("KEY_FLOATS") = static_cast<int>(KeyState::kFloats);
  module.def("digest_records", digest_records, nb::arg("pieces"), nb::arg("meaning"),
             nb::arg("threads") = 0,
             "Digest records in 96 bits: (the high 64, the low 32). With `meaning` records that\n"
             "hold the same features and values have the same digest, whatever their bytes.");
  module.def("digest_keys", digest_keys, nb::arg("pieces"), nb::arg("keys"), nb::arg("threads") = 0,
             "Digest the values of features that identify records: (the high 64 bits, the low 32,\n"
             "None), or if one has no such key (..., (index, why)).");
}

}  // namespace tfrkit
