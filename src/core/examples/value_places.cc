#include "core/examples/value_places.h"

#include <algorithm>
#include <cstring>

#include "core/bytes/utf8.h"
#include "core/bytes/varint.h"
#include "core/bytes/wire.h"

namespace tfrkit {
namespace {

constexpr std::uint8_t kFirstTag = delimited_tag(1);
constexpr std::uint8_t kSecondTag = delimited_tag(2);

[[nodiscard]] bool same(Bytes left, Bytes right) noexcept {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0);
}

// Reads a message that is all there is left.
[[nodiscard]] bool read_only_message(Wire& wire, std::uint8_t tag, Bytes& content) noexcept {
  return wire.expect(tag) && wire.read_message(content) && wire.at_end();
}

[[nodiscard]] bool count_strings(Bytes list, std::size_t& count) noexcept {
  Bytes value;
  for (Wire wire(list); !wire.at_end(); ++count) {
    if (!wire.expect(kFirstTag) || !wire.read_message(value)) return false;
  }
  return true;
}

[[nodiscard]] bool count_numbers(FoundValues& found) noexcept {
  if (found.list.empty()) return true;
  Wire wire(found.list);
  if (!read_only_message(wire, kFirstTag, found.list)) return false;
  if (found.kind == Kind::kFloat) {
    found.count = found.list.size() / sizeof(float);
    return found.list.size() % sizeof(float) == 0;
  }
  const VarintRun run = count_varints(found.list);
  found.count = run.count;
  return run.good;
}

[[nodiscard]] bool read_feature(Bytes feature, FoundValues& found) noexcept {
  if (feature.empty()) return true;
  Wire wire(feature);
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    const std::uint8_t tag = delimited_tag(static_cast<unsigned>(kind));
    if (wire.peek() != tag) continue;
    found.kind = kind;
    if (!read_only_message(wire, tag, found.list)) return false;
    return kind == Kind::kBytes ? count_strings(found.list, found.count) : count_numbers(found);
  }
  return false;
}

}  // namespace

bool find_in_entry(Bytes entry, std::span<const Bytes> keys,
                   std::span<FoundValues> found) noexcept {
  Bytes key;
  Bytes feature;
  Wire wire(entry);
  if (!wire.expect(kFirstTag) || !wire.read_message(key) || !is_utf8(key)) return false;
  if (!read_only_message(wire, kSecondTag, feature)) return false;
  const auto wanted =
      std::ranges::find_if(keys, [&](Bytes each) noexcept { return same(each, key); });
  if (wanted == keys.end()) return true;
  FoundValues& values = found[static_cast<std::size_t>(wanted - keys.begin())];
  return values.kind == Kind::kUnset && read_feature(feature, values);
}

bool find_values(Bytes record, std::span<const Bytes> keys, std::span<FoundValues> found) noexcept {
  std::ranges::fill(found, FoundValues{});
  if (record.empty()) return true;
  if (record.size() > kMaxLength) return false;
  Bytes features;
  Wire whole(record);
  if (!read_only_message(whole, kFirstTag, features)) return false;
  for (Wire wire(features); !wire.at_end();) {
    Bytes entry;
    if (!wire.expect(kFirstTag) || !wire.read_message(entry)) return false;
    if (!find_in_entry(entry, keys, found)) return false;
  }
  return true;
}

bool place_strings(Bytes list, const std::byte* origin, std::span<std::int64_t> offsets,
                   std::span<std::int64_t> lengths) noexcept {
  Wire wire(list);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    Bytes value;
    if (!wire.expect(kFirstTag) || !wire.read_message(value)) return false;
    offsets[i] = value.data() - origin;
    lengths[i] = static_cast<std::int64_t>(value.size());
  }
  return wire.at_end();
}

}  // namespace tfrkit
