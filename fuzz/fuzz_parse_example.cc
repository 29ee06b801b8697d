// The fast path and the exact one return the same, for any bytes, any plan and every dialect. The
// input is a plan, then records.
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/examples/example.h"
#include "core/examples/parsed_batch.h"
#include "core/frames/reference.h"
#include "lay_out.h"
#include "require.h"

namespace tfrkit {
namespace {

constexpr std::array<std::string_view, 6> kKeys{
    "a", "bb", "", "label", "a_key_of_more_than_sixteen_bytes", "z"};

// One byte chooses kind, count, stride and default of a slot; the bits of the first choose the
// keys.
std::vector<ExampleSlot> take_slots(Bytes& input) {
  std::vector<ExampleSlot> slots;
  const std::size_t chosen = take(input);
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    if (((chosen >> i) & 1) == 0) continue;
    const std::size_t options = take(input);
    ExampleSlot slot;
    const Bytes key = reference::as_bytes(kKeys[i]);
    slot.key.assign(key.begin(), key.end());
    slot.kind = static_cast<Kind>(1 + options % 3);
    slot.count = static_cast<std::int64_t>((options / 3) % 5) - 1;
    if (!slot.is_fixed()) slot.stride = static_cast<std::uint32_t>((options / 15) % 4);
    slot.has_default = slot.count > 0 && (options & 0x80) != 0;
    if (slot.has_default) {
      const auto count = static_cast<std::size_t>(slot.count);
      const std::size_t size = slot.kind == Kind::kInt64 ? 8 : slot.kind == Kind::kFloat ? 4 : 3;
      slot.default_list.assign(count * size, std::byte{1});
      if (slot.kind == Kind::kBytes) {
        for (std::size_t value = 0; value < count; ++value) {
          slot.default_list[3 * value] = std::byte{0x0a};
        }
        slot.default_bytes = static_cast<std::uint32_t>(count);
      }
    }
    slots.push_back(std::move(slot));
  }
  return slots;
}

// Copies of the records in memory of exactly their size.
std::vector<std::vector<std::byte>> take_records(Bytes& input) {
  std::vector<std::vector<std::byte>> records;
  while (!input.empty()) {
    const std::size_t size = take(input);
    const Bytes record = take_bytes(input, size == 0xff ? input.size() : size);
    records.emplace_back(record.begin(), record.end());
    // Records of one file are alike: most often the same comes again.
    if (size % 2 == 0) records.push_back(records.back());
  }
  return records;
}

void run(Bytes input) {
  const ExamplePlan plan(take_slots(input));
  const auto records = take_records(input);
  const std::vector<Bytes> spans(records.begin(), records.end());
  for (const Dialect dialect :
       {Dialect::kProtobuf, Dialect::kTensorflowBatch, Dialect::kTensorflowSingle}) {
    const ParsedBatch fast = parse_batch(plan, dialect, spans, Path::kFastThenExact);
    const ParsedBatch exact = parse_batch(plan, dialect, spans, Path::kExactOnly);
    REQUIRE(fast == exact);
    // What is said of a row does not depend on the rows before it.
    if (exact.failure.code == ParseCode::kOk) continue;
    const std::vector<Bytes> alone{spans[exact.failure.row]};
    const ParsedBatch again = parse_batch(plan, dialect, alone, Path::kFastThenExact);
    REQUIRE(again.failure.code == exact.failure.code);
    REQUIRE(again.failure.slot == exact.failure.slot);
  }
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run(tfrkit::as_input(data, size));
  return 0;
}
