#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <memory>
#include <tuple>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "core/frames/resync.h"

namespace tfrkit {
namespace {

std::tuple<int, std::size_t, std::uint64_t> find(const InputBytes& data, std::int64_t start,
                                                 std::int64_t stop, bool at_eof,
                                                 std::uint64_t max_record_bytes) {
  check_range(start, stop, data.bytes().size());
  const Bytes bytes = data.bytes().first(static_cast<std::size_t>(stop));
  const auto first = static_cast<std::size_t>(start);
  const std::size_t count = measure_checkpoints(bytes.size() - first);
  const auto checkpoints = std::make_unique_for_overwrite<std::uint32_t[]>(count);
  FoundFrame found;
  {
    const nb::gil_scoped_release released;
    found = find_frame(bytes, first, at_eof, max_record_bytes, {checkpoints.get(), count});
  }
  return {static_cast<int>(found.code), found.position, found.need};
}

}  // namespace

void bind_resync(nb::module_& module) {
  module.def("find_frame", find, nb::arg("data"), nb::arg("start"), nb::arg("stop"),
             nb::arg("at_eof"), nb::arg("max_record_bytes"),
             "Find the first intact frame in data[start:stop]: (OK, position, 0), (NEED_MORE,\n"
             "position, bytes needed from there on) or (BAD_LENGTH, where to resume, 0).");
}

}  // namespace tfrkit
