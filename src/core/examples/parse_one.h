// Features with one value, written the usual way: most of what tables are made of, read at a
// glance.
//
// What is read here means the same to the general reader.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bytes/bytes.h"
#include "core/bytes/varint.h"
#include "core/bytes/wire.h"
#include "core/examples/feature_kind.h"

namespace tfrkit {

// A map entry of Features with one value.
struct SingleValue {
  Bytes key;
  Kind kind = Kind::kUnset;
  std::uint64_t bits = 0;  // of an int64 or a float; the size of a byte string
  const std::byte* data = nullptr;
};

// Tells whether `count` bytes are equal; inline, for keys, which are short.
[[nodiscard]] inline bool same_bytes(const std::byte* one, const std::byte* other,
                                     std::size_t count) noexcept {
  if (count >= 8) {
    for (std::size_t i = 0; i + 8 <= count; i += 8) {
      if (load_le<std::uint64_t>(one + i) != load_le<std::uint64_t>(other + i)) return false;
    }
    return load_le<std::uint64_t>(one + count - 8) == load_le<std::uint64_t>(other + count - 8);
  }
  if (count >= 4) {
    return load_le<std::uint32_t>(one) == load_le<std::uint32_t>(other) &&
           load_le<std::uint32_t>(one + count - 4) == load_le<std::uint32_t>(other + count - 4);
  }
  if (count >= 2) {
    return load_le<std::uint16_t>(one) == load_le<std::uint16_t>(other) &&
           load_le<std::uint16_t>(one + count - 2) == load_le<std::uint16_t>(other + count - 2);
  }
  return count == 0 || *one == *other;
}

// Reads one varint that fills `packed`, which is not empty; false if it does not. `readable` bytes
// are there from its first on.
[[nodiscard]] inline bool read_lone_varint(Bytes packed, std::size_t readable,
                                           std::uint64_t& bits) noexcept {
  const std::size_t size = packed.size();
  if (size <= 8 && readable >= 8) {
    const std::uint64_t word = load_le<std::uint64_t>(packed.data()) << (8 * (8 - size));
    // Shifted to the top, every byte but the last has the high bit.
    if ((word & kHighBits) != (kHighBits << (8 * (8 - size)) & ~(std::uint64_t{1} << 63))) {
      return false;
    }
    bits = compress_groups((word >> (8 * (8 - size))) & ~kHighBits);
    return true;
  }
  Wire wire(packed);
  return wire.read_varint(bits) && wire.at_end();
}

// Reads the entry with its tag at the front of `map`: a key, then a Feature of one list of one
// value, packed if it is a number, all lengths in one byte. Returns how many bytes it takes, or 0
// if it is not like that.
[[nodiscard]] inline std::size_t read_single_value(Bytes map, SingleValue& single) noexcept {
  const std::byte* const at = map.data();
  const auto byte = [at](std::size_t i) noexcept { return std::to_integer<std::size_t>(at[i]); };
  // Tag and length of: the entry, the key; after the key: the value, the list, the element.
  if (map.size() < 10 || byte(0) != delimited_tag(1) || byte(2) != delimited_tag(1)) return 0;
  const std::size_t entry = byte(1);
  const std::size_t key = byte(3);
  const std::size_t end = 2 + entry;
  if (entry >= 0x80 || end > map.size() || key + 8 > entry) return 0;
  const std::size_t head = 4 + key;
  const std::size_t size = end - head - 6;  // what is left for the element
  const auto kind = static_cast<Kind>(byte(head + 2) >> 3);
  if (byte(head) != delimited_tag(2) || byte(head + 1) != size + 4 || (byte(head + 2) & 7) != 2 ||
      byte(head + 3) != size + 2 || byte(head + 4) != delimited_tag(1) || byte(head + 5) != size) {
    return 0;
  }
  single.key = {at + 4, key};
  single.kind = kind;
  const Bytes element(at + head + 6, size);
  switch (kind) {
    case Kind::kInt64:
      return size != 0 && read_lone_varint(element, map.size() - (head + 6), single.bits) ? end : 0;
    case Kind::kFloat:
      if (size != 4) return 0;
      single.bits = load_le<std::uint32_t>(element.data());
      return end;
    case Kind::kBytes:
      single.bits = size;
      single.data = element.data();
      return end;
    default:
      return 0;
  }
}

}  // namespace tfrkit
