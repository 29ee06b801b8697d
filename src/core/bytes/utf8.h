// UTF-8: tell whether bytes are text.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bytes/bytes.h"

namespace tfrkit {

// Returns how many bytes the character at the front of `text` takes, or 0 if none is there: also
// for overlong forms, surrogates, and numbers above U+10FFFF. Precondition: `text` is not empty.
[[nodiscard]] inline std::size_t utf8_character(Bytes text) noexcept {
  const auto lead = std::to_integer<std::uint32_t>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return 0;
  std::uint32_t code = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = std::to_integer<std::uint32_t>(text[i]);
    if ((next & 0xc0) != 0x80) return 0;
    code = (code << 6) | (next & 0x3f);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return overlong || surrogate || code > 0x10ffff ? 0 : size;
}

// Tells whether all of `text` is UTF-8, by the rules that protobuf has for its strings.
[[nodiscard]] inline bool is_utf8(Bytes text) noexcept {
  while (!text.empty()) {
    while (text.size() >= 8 && (load_le<std::uint64_t>(text.data()) & 0x8080808080808080U) == 0) {
      text = text.subspan(8);
    }
    if (text.empty()) break;
    const std::size_t size = utf8_character(text);
    if (size == 0) return false;
    text = text.subspan(size);
  }
  return true;
}

}  // namespace tfrkit
