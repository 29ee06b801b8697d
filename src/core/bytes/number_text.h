// Texts that are numbers: what a field of a table can become.
#pragma once

#include <cstdint>
#include <string_view>

namespace tfrkit {

// What was seen in a column; the first five are part of the Python module under the same numbers.
inline constexpr std::uint8_t kSeenNull = 1;  // empty, or one of the texts that mean null
inline constexpr std::uint8_t kSeenInt =
    2;  // an integer that int64 holds, written in the usual way
inline constexpr std::uint8_t kSeenFloat = 4;  // another number
inline constexpr std::uint8_t kSeenText = 8;   // everything else
inline constexpr std::uint8_t kSeenList = 16;  // more than one item
inline constexpr std::uint8_t kSeenMap = 32;   // items with a key

// What a text can be read as where the type is given.
inline constexpr std::uint8_t kFitsInt = 64;
inline constexpr std::uint8_t kFitsFloat = 128;

// Returns one of kSeenInt, kSeenFloat, kSeenText, and the kFits flags. Blanks and tabs around a
// number do not count. Integers with leading zeros or beyond int64, and numbers with a plus sign,
// are seen as texts, as a number would lose something of them; "-0" is seen as a float.
[[nodiscard]] std::uint8_t number_kind(std::string_view text) noexcept;

}  // namespace tfrkit
