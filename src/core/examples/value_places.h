// Where the values of some features lie in an Example, without decoding or copying them.
//
// Only in records as writers make them: each key once, one list in a feature, numbers packed in one
// piece. Of any other record, unusual or damaged, nothing is said; the kernel of `example.h` reads
// it. A record of hundreds of MB takes as long as it has features and asked-for byte strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes/bytes.h"
#include "core/examples/feature_kind.h"

namespace tfrkit {

// The values of one feature.
struct FoundValues {
  Kind kind = Kind::kUnset;  // kUnset: the record has no such feature, or one without a list
  Bytes list;                // kBytes: the BytesList; numbers: their packed bytes
  std::size_t count = 0;
};

// Sets `found`, as many as `keys`, which must differ; false, with anything in it, if the record is
// not of the usual form.
[[nodiscard]] bool find_values(Bytes record, std::span<const Bytes> keys,
                               std::span<FoundValues> found) noexcept;

// Does the same with a single map entry of a record.
[[nodiscard]] bool find_in_entry(Bytes entry, std::span<const Bytes> keys,
                                 std::span<FoundValues> found) noexcept;

// Sets where each byte string of a BytesList begins, counted from `origin`, and its length; false
// if there are not as many as the spans have entries. `list` lies after `origin` in the same bytes.
[[nodiscard]] bool place_strings(Bytes list, const std::byte* origin,
                                 std::span<std::int64_t> offsets,
                                 std::span<std::int64_t> lengths) noexcept;

}  // namespace tfrkit
