#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/errors.h"
#include "core/shuffle/permutation.h"

namespace tfrkit {
namespace {

[[nodiscard]] Permutation checked(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch) {
  if (size > kMaxPermutationSize) throw nb::value_error("expected a size of at most 2^62");
  return make_permutation(size, seed, epoch);
}

Int64Array at(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch,
              const Int64Input& indices) {
  const Permutation permutation = checked(size, seed, epoch);
  const std::size_t count = indices.shape(0);
  const Int64Batch target(count);
  std::size_t done = 0;
  {
    const nb::gil_scoped_release released;
    done = permute_indices(permutation, entries(indices), target.span(0, count));
  }
  if (done != count) {
    const std::string index = std::to_string(entries(indices)[done]);
    throw nb::index_error(("index " + index + " is out of range: the permutation has " +
                           std::to_string(size) + " entries")
                              .c_str());
  }
  return target.array(0, count);
}

Int64Array run(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch, std::int64_t start,
               std::int64_t stop) {
  const Permutation permutation = checked(size, seed, epoch);
  check_range(start, stop, size);
  const auto count = static_cast<std::size_t>(stop - start);
  const Int64Batch target(count);
  {
    const nb::gil_scoped_release released;
    permute_run(permutation, static_cast<std::uint64_t>(start), target.span(0, count));
  }
  return target.array(0, count);
}

}  // namespace

void bind_permutation(nb::module_& module) {
  module.def("permute_indices", at, nb::arg("size"), nb::arg("seed"), nb::arg("epoch"),
             nb::arg("indices"), "Return what the permutation of [0, size) has at each index.");
  module.def("permute_run", run, nb::arg("size"), nb::arg("seed"), nb::arg("epoch"),
             nb::arg("start"), nb::arg("stop"),
             "Return what the permutation of [0, size) has at the indices from start up to stop.");
}

}  // namespace tfrkit
