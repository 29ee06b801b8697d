// A record and some rules cut from the input: what was measured is filled, dropping and keeping
// share the entries between them, and what was selected can be selected again without a change.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/examples/select.h"
#include "core/frames/frame.h"
#include "core/frames/layout.h"
#include "require.h"

namespace tfrkit {
namespace {

std::vector<std::byte> select(Bytes record, const SelectRules& rules, SelectCode& code) {
  std::vector<SelectMark> marks(rules.rules.size());
  const SelectSize size = measure_selected(record, rules, marks, 2);
  code = size.code;
  if (code != SelectCode::kOk) return {};
  std::vector<std::byte> frame(size.bytes + kFrameOverheadBytes);
  REQUIRE(fill_selected(record, rules, frame));
  REQUIRE(check_frame(frame, true) == Code::kOk);
  return {frame.begin() + kHeaderBytes, frame.end() - kCrcBytes};
}

void run(Bytes input) {
  if (input.size() < 3) return;
  const std::size_t key_bytes = std::to_integer<std::size_t>(input[0]) % 8;
  const std::size_t name_bytes = std::to_integer<std::size_t>(input[1]) % 8;
  const bool keep_others = (std::to_integer<int>(input[2]) & 1) != 0;
  input = input.subspan(3);
  if (input.size() < key_bytes + name_bytes) return;
  const Bytes key = input.first(key_bytes);
  const Bytes name = input.subspan(key_bytes, name_bytes);
  const Bytes record = input.subspan(key_bytes + name_bytes);

  SelectCode code = SelectCode::kOk;
  const std::vector<std::byte> same = select(record, {{}, true}, code);
  if (code == SelectCode::kOk) {
    REQUIRE(same.size() == record.size() && std::equal(same.begin(), same.end(), record.begin()));
  }
  const SelectRule drop{key, {}, true, 0};
  const std::vector<std::byte> less = select(record, {{&drop, 1}, keep_others}, code);
  if (code == SelectCode::kOk) {
    REQUIRE(less.size() <= record.size() + 8);
    const std::vector<std::byte> again = select(less, {{&drop, 1}, keep_others}, code);
    REQUIRE(code == SelectCode::kOk && again == less);
  }
  const SelectRule rename{key, name, false, 0};
  const std::vector<std::byte> renamed = select(record, {{&rename, 1}, keep_others}, code);
  if (code == SelectCode::kOk) {
    (void)select(renamed, {{}, true}, code);
    REQUIRE(code == SelectCode::kOk);
  }
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run(tfrkit::as_input(data, size));
  return 0;
}
