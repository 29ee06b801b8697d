// Features taken out of records or given other names, on the wire: nothing else is decoded.
//
// A record is an Example or a SequenceExample: field 1 holds features and field 2 feature lists,
// both as maps from key to value. Entries that stay are copied byte for byte, and so is every field
// that is neither, known or not. Where a record says a key twice, both go the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes/bytes.h"

namespace tfrkit {

// What becomes of one key.
struct SelectRule {
  Bytes key;
  Bytes name;              // what it is called afterwards
  bool drop = false;       // or it is left out
  std::uint32_t slot = 0;  // the same for rules of the same name
};

// All rules, sorted by the length of the key and then by its bytes, each key once.
struct SelectRules {
  std::span<const SelectRule> rules;
  bool keep_others = true;  // what becomes of all other keys
};

// Which rule has last written to a slot, and when.
struct SelectMark {
  std::uint64_t stamp = 0;
  std::uint32_t rule = 0;
};

enum class SelectCode : std::uint8_t {
  kOk = 0,
  kMalformed = 1,  // the record is no message, or not one of features
  kClash = 2,      // two keys of the record would have one name afterwards
};

struct SelectSize {
  SelectCode code = SelectCode::kOk;
  std::size_t bytes = 0;   // of the record afterwards
  std::uint32_t slot = 0;  // kClash: of the name
};

// Tells whether `left` is before `right` in the order of the rules.
[[nodiscard]] bool select_before(Bytes left, Bytes right) noexcept;

// Returns how large the record is afterwards. `marks` has an entry for each slot; `stamp` is
// another for every call with the same marks, even and at least 2.
[[nodiscard]] SelectSize measure_selected(Bytes record, const SelectRules& rules,
                                          std::span<SelectMark> marks,
                                          std::uint64_t stamp) noexcept;

// Writes the frame of the record afterwards to `frame`, which it must fill exactly; returns false,
// with anything in it, if it does not, because the record has changed since it was measured.
[[nodiscard]] bool fill_selected(Bytes record, const SelectRules& rules,
                                 std::span<std::byte> frame) noexcept;

}  // namespace tfrkit
