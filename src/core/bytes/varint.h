// Packed varints: count them, and decode them into int64.
//
// Works on the payload of a packed field, a run of varints side by side. One portable version and
// one for each instruction set that pays; all return the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes/bytes.h"

namespace tfrkit {

inline constexpr std::uint64_t kHighBits = 0x8080808080808080U;

// Tells whether this processor has the instruction PEXT, and not a slow one.
[[nodiscard]] bool has_fast_pext() noexcept;

// Returns the varint in the low bytes of `word`, whose bits 7, 15, ... and those after the varint
// are 0: the groups of 7 bits moved together.
[[nodiscard]] inline std::uint64_t compress_groups(std::uint64_t word) noexcept {
  word = ((word & 0x7f007f007f007f00U) >> 1) | (word & 0x007f007f007f007fU);
  word = ((word & 0x3fff00003fff0000U) >> 2) | (word & 0x00003fff00003fffU);
  return ((word & 0x0fffffff00000000U) >> 4) | (word & 0x000000000fffffffU);
}

// How a run of varints is built.
struct VarintRun {
  std::size_t count = 0;
  bool good = false;  // it ends with a varint, and none has more than 10 bytes
};

// Decodes every varint of `run` into `values`. Precondition: `run` is good and has values.size()
// varints. Bits above the 64th are dropped. If the run has changed since it was counted, nothing is
// read or written elsewhere, and zeros stand in for what is not there.
using DecodeVarints = void (*)(Bytes run, std::span<std::int64_t> values) noexcept;

struct VarintVariant {
  const char* name;
  DecodeVarints decode;
};

// Returns the variants this CPU can run, the best first; the last is the portable one.
[[nodiscard]] std::span<const VarintVariant* const> varint_variants() noexcept;

// Counts the varints of `run`, one for each byte without the high bit.
[[nodiscard]] VarintRun count_varints(Bytes run) noexcept;

// Decodes with the best variant; see DecodeVarints.
void decode_varints(Bytes run, std::span<std::int64_t> values) noexcept;

}  // namespace tfrkit
