#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "core/crc32c/crc32c.h"

namespace tfrkit {
namespace {

// Below this, a CRC takes less time than giving up the GIL and getting it back.
constexpr std::size_t kReleaseFromBytes = 2048;

std::uint32_t run(const Crc32cVariant& variant, Bytes data, std::uint32_t crc) {
  if (data.size() < kReleaseFromBytes) return variant.extend(crc, data);
  const nb::gil_scoped_release released;
  return variant.extend(crc, data);
}

std::uint32_t crc32c_of(const InputBytes& data, std::uint32_t crc) {
  return run(crc32c_best(), data.bytes(), crc);
}

std::uint32_t crc32c_masked_of(const InputBytes& data) {
  return crc32c_mask(run(crc32c_best(), data.bytes(), 0));
}

std::vector<std::string> variant_names() {
  std::vector<std::string> names;
  for (const Crc32cVariant* variant : crc32c_variants()) names.emplace_back(variant->name);
  return names;
}

std::uint32_t crc32c_with(const std::string& name, const InputBytes& data) {
  for (const Crc32cVariant* variant : crc32c_variants()) {
    if (name == variant->name) return run(*variant, data.bytes(), 0);
  }
  throw nb::value_error(("this CPU has no CRC-32C variant '" + name + "'").c_str());
}

}  // namespace

void bind_crc32c(nb::module_& module) {
  module.def("crc32c", crc32c_of, nb::arg("data"), nb::arg("crc") = 0,
             "Return the CRC-32C of the bytes that produced `crc`, followed by `data`.");
  module.def("crc32c_masked", crc32c_masked_of, nb::arg("data"),
             "Return the CRC-32C of `data` in the masked form that frames store.");
  module.def("crc32c_variants", variant_names,
             "Return the names of the implementations this CPU can run, best first.");
  module.def("crc32c_with", crc32c_with, nb::arg("variant"), nb::arg("data"),
             "Return the CRC-32C of `data` by one named implementation.");
}

}  // namespace tfrkit
