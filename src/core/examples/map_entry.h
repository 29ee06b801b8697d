// Map entries of Features and FeatureLists: the key, and the values.
#pragma once

#include "core/bytes/bytes.h"
#include "core/bytes/wire.h"

namespace tfrkit {

// Reads a map entry as far as its key, which is the last of several; false if it is damaged.
[[nodiscard]] inline bool read_key(Bytes entry, Bytes& key) noexcept {
  Wire wire(entry);
  while (!wire.at_end()) {
    std::uint32_t tag = 0;
    if (!wire.read_tag(tag)) return false;
    if (tag == delimited_tag(1) ? !wire.read_message(key)
                                : !wire.skip_field(tag, kMaxNesting - 2)) {
      return false;
    }
  }
  return true;
}

// Calls `visit` with every value of a map entry that read_key has been through: together they are
// one message. Ends with false if visit does.
template <typename Visit>
[[nodiscard]] bool for_each_value(Bytes entry, const Visit& visit) {
  Wire wire(entry);
  while (!wire.at_end()) {
    std::uint32_t tag = 0;
    Bytes value;
    if (!wire.read_tag(tag)) return false;
    if (tag != delimited_tag(2)) {
      if (!wire.skip_field(tag, kMaxNesting - 2)) return false;
    } else if (!wire.read_message(value) || !visit(value)) {
      return false;
    }
  }
  return true;
}

}  // namespace tfrkit
