// The exact half of parsing SequenceExamples: rewrite any record into canonical form by the rules
// of a dialect, and say what is wrong where that cannot be done.
//
// Written for exactness, not speed: a file of usual records never gets here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/examples/feature_kind.h"
#include "core/sequences/sequence.h"

namespace tfrkit {

// The values of one list of any kind.
struct ListValues {
  std::vector<std::uint64_t> ints;
  std::vector<std::uint32_t> floats;  // their bits
  std::vector<Bytes> strings;

  void clear() noexcept {
    ints.clear();
    floats.clear();
    strings.clear();
  }
  [[nodiscard]] std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(ints.size() + floats.size() + strings.size());
  }
};

// Appends the field `tag` with these bytes.
void append_field(std::vector<std::byte>& out, std::uint8_t tag, Bytes bytes);

// Appends the value of a Feature of this kind: one list, packed. kUnset appends nothing.
void append_feature(std::vector<std::byte>& out, Kind kind, const ListValues& values);

// Appends the map entry of `key`: in a SequenceExample, the context or the lists with one entry.
void append_entry(std::vector<std::byte>& out, bool list, std::string_view key, Bytes value);

// Appends to `out` a SequenceExample that holds, in canonical form, what the dialect sees in
// `record` of the slots of `plan`. False if a part of it cannot be read or is of another kind;
// `out` is then of no use. Counts and missing features are not looked at.
[[nodiscard]] bool rewrite_sequence(const SequencePlan& plan, Dialect dialect, Bytes record,
                                    std::vector<std::byte>& out);

// The same for one dialect; and the diagnosis of a batch, see diagnose_sequences.
[[nodiscard]] bool rewrite_tensorflow(const SequencePlan& plan, Bytes record,
                                      std::vector<std::byte>& out);
[[nodiscard]] bool rewrite_protobuf(const SequencePlan& plan, Bytes record,
                                    std::vector<std::byte>& out);
[[nodiscard]] SequenceFault diagnose_tensorflow(const SequencePlan& plan,
                                                std::span<const Bytes> records);
[[nodiscard]] SequenceFault diagnose_protobuf(const SequencePlan& plan,
                                              std::span<const Bytes> records);

}  // namespace tfrkit
