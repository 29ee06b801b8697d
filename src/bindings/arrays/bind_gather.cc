#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "core/bytes/gather.h"

namespace tfrkit {
namespace {

using ByteArray = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;

// Returns the memory as a numpy array that owns it.
ByteArray as_array(Buffer&& buffer) {
  auto moved = std::make_unique<Buffer>(std::move(buffer));
  const nb::capsule owner(moved.get(),
                          [](void* held) noexcept { delete static_cast<Buffer*>(held); });
  const std::span<std::byte> bytes = moved.release()->bytes();  // the capsule has it now
  return {reinterpret_cast<std::uint8_t*>(bytes.data()), {bytes.size()}, owner};
}

ByteArray gather_runs(const nb::typed<nb::list, nb::object>& data,
                      const std::optional<Int64Input>& which, const Int64Input& starts,
                      const Int64Input& lengths) {
  std::vector<std::unique_ptr<InputBytes>> held;
  std::vector<Bytes> buffers;
  for (const nb::handle item : data) {
    held.push_back(std::make_unique<InputBytes>());
    if (!held.back()->hold(item)) raise_item_type("contiguous memory", item, buffers.size());
    buffers.push_back(held.back()->bytes());
  }
  Runs runs{{}, entries(starts), entries(lengths)};
  check_same_size("starts", runs.starts.size(), "lengths", runs.lengths.size());
  if (which.has_value()) {
    runs.which = entries(*which);
    check_same_size("which", runs.which.size(), "starts", runs.starts.size());
  }
  std::size_t size = 0;
  std::size_t good = 0;
  {
    const nb::gil_scoped_release released;
    good = measure_runs(buffers, runs, size);
  }
  if (good != runs.starts.size()) {
    raise_out_of_range("starts and lengths", good, buffers.empty() ? 0 : buffers[0].size());
  }
  Buffer buffer(size);
  bool filled = false;
  {
    const nb::gil_scoped_release released;
    filled = fill_runs(buffers, runs, buffer.bytes());
  }
  if (!filled) throw nb::value_error("starts or lengths changed during the call");
  return as_array(std::move(buffer));
}

}  // namespace

void bind_gather(nb::module_& module) {
  module.def("gather_runs", gather_runs, nb::arg("data"), nb::arg("which").none(),
             nb::arg("starts"), nb::arg("lengths"),
             "Return the bytes of the runs one after another, a copy: run i is lengths[i] bytes\n"
             "from starts[i] on in data[which[i]], or in data[0] if `which` is None.");
}

}  // namespace tfrkit
