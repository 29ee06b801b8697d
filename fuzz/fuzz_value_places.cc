// Which key, and a record: what is found lies in the record, strings can be placed,
// and a record of the usual form is one that the walk of `select.h` takes too.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/examples/select.h"
#include "core/examples/value_places.h"
#include "require.h"

namespace tfrkit {
namespace {

constexpr std::array<std::string_view, 4> kKeys = {"ids", "at", "name", "label"};

bool is_inside(Bytes part, Bytes whole) {
  return part.data() >= whole.data() && part.data() <= whole.data() + whole.size() &&
         part.size() <= static_cast<std::size_t>(whole.data() + whole.size() - part.data());
}

void run(Bytes input) {
  if (input.empty()) return;
  const std::size_t number = std::to_integer<std::size_t>(input[0]) % kKeys.size();
  const Bytes key = std::as_bytes(std::span(kKeys[number]));
  const Bytes record = input.subspan(1);
  FoundValues found;
  if (!find_values(record, {&key, 1}, {&found, 1})) return;
  REQUIRE(measure_selected(record, {{}, true}, {}, 2).code == SelectCode::kOk);
  if (found.list.empty()) {
    REQUIRE(found.count == 0);
    return;
  }
  REQUIRE(is_inside(found.list, record));
  if (found.kind != Kind::kBytes) return;
  std::vector<std::int64_t> offsets(found.count);
  std::vector<std::int64_t> lengths(found.count);
  REQUIRE(place_strings(found.list, record.data(), offsets, lengths));
  for (std::size_t i = 0; i < found.count; ++i) {
    REQUIRE(offsets[i] >= 0 && lengths[i] >= 0);
    REQUIRE(static_cast<std::size_t>(offsets[i] + lengths[i]) <= record.size());
  }
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run(tfrkit::as_input(data, size));
  return 0;
}
