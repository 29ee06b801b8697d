// Examples from columns: the bytes of many Example or SequenceExample messages, in frames.
//
// A message is a tree of lengths, so sizes are known before anything is written: `measure_bodies`
// and `measure_rows` find them, column by column, and `fill_frames` writes, row by row, into memory
// of exactly that size. Keys are written in the order of the columns. Splits and steps are trusted;
// numbers and masks may change under the kernel, as arrays of Python can, and then an error is
// returned and nothing is written outside the output.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes/bytes.h"
#include "core/bytes/status.h"
#include "core/examples/feature_kind.h"

namespace tfrkit {

inline constexpr std::size_t kTemplateBytes = 64;
inline constexpr std::size_t kSlackBytes = 16;
inline constexpr std::uint64_t kMaxMessageBytes = 0x7fffffff;  // no protobuf reads a larger one

// Lists of values of one kind. List i has the values [splits[i], splits[i + 1]), or without splits
// the `count` values from i * count on. Of kind kUnset are lists of one string each, which is the
// whole Feature as it is on the wire: empty if it has no kind.
struct ValueLists {
  Kind kind = Kind::kInt64;
  const std::int64_t* ints = nullptr;  // kInt64
  const float* floats = nullptr;       // kFloat
  const Bytes* strings = nullptr;      // kBytes, kUnset
  const std::int64_t* splits = nullptr;
  std::size_t count = 1;
  std::uint64_t* bodies = nullptr;  // where needs_bodies: for each list the bytes of its values
};

// One feature (or list of features) of every row.
struct EncodeColumn {
  Bytes key;
  ValueLists lists;
  const std::uint8_t* present =
      nullptr;                          // for each row 1, or 0 to leave it out; null: always there
  const std::int64_t* steps = nullptr;  // feature lists: row r has the lists [steps[r], steps[r+1])

  // What precedes the values in every row, where that is so; set by prepare_column.
  std::array<std::byte, kTemplateBytes> head{};
  bool prepared = false;
  std::size_t head_bytes = 0;   // 0: there is no template
  std::uint64_t tail = 0;       // the six bytes between key and value of a single one
  std::size_t fixed_bytes = 0;  // of the whole entry without the value
};

// A run of rows.
struct RowRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Where the message of each row lies and what its parts measure.
struct RowSizes {
  std::uint64_t* features = nullptr;  // bytes of Features: of an Example, or the context
  std::uint64_t* lists = nullptr;     // bytes of FeatureLists; null: the messages are Examples
};

// Returns how many bytes `value` takes as a varint.
[[nodiscard]] constexpr std::size_t varint_size(std::uint64_t value) noexcept {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) * 9 + 64) / 64;
}

// Tells whether `bodies` must have room for an entry of each list.
[[nodiscard]] constexpr bool needs_bodies(const ValueLists& lists) noexcept {
  return lists.kind != Kind::kFloat && (lists.splits != nullptr || lists.count != 1);
}

// Sets what `column` needs besides what the caller has set.
void prepare_column(EncodeColumn& column) noexcept;

// Fills the `bodies` of the lists of these rows, where they are needed.
void measure_bodies(const EncodeColumn& column, RowRange rows) noexcept;

// Sets the sizes of these rows from columns whose bodies are measured. `columns` are the features,
// `list_columns` the feature lists.
void measure_rows(std::span<const EncodeColumn> columns, std::span<const EncodeColumn> list_columns,
                  RowRange rows, const RowSizes& sizes) noexcept;

// Returns the size of the message of a row.
[[nodiscard]] std::uint64_t message_size(const RowSizes& sizes, std::size_t row) noexcept;

// Writes the frames of these rows, one after the other, to `out`, which they fill exactly. Returns
// kOutOfRange if they no longer do, because values have changed since they were measured.
[[nodiscard]] Code fill_frames(std::span<const EncodeColumn> columns,
                               std::span<const EncodeColumn> list_columns, RowRange rows,
                               const RowSizes& sizes, std::span<std::byte> out) noexcept;

// Writes the message of row 0, without a frame, as fill_frames does. Precondition: `out` has the
// size of the message; with kSlackBytes more, which are overwritten with anything, it is faster.
[[nodiscard]] Code fill_message(std::span<const EncodeColumn> columns, const RowSizes& sizes,
                                std::span<std::byte> out) noexcept;

// Writes `value` as a varint and returns the position after it.
[[nodiscard]] std::byte* put_varint(std::byte* at, std::uint64_t value) noexcept;

// Returns the size of a Feature of `count` values whose bytes are `body`.
[[nodiscard]] constexpr std::uint64_t feature_size(Kind kind, std::uint64_t count,
                                                   std::uint64_t body) noexcept {
  if (kind == Kind::kUnset) return body;
  const std::uint64_t list = kind == Kind::kBytes ? body
                             : count == 0         ? 0
                                                  : 1 + varint_size(body) + body;
  return 1 + varint_size(list) + list;
}

// Returns the size of a map entry, without its own tag and length.
[[nodiscard]] constexpr std::uint64_t entry_size(std::uint64_t key, std::uint64_t value) noexcept {
  return 1 + varint_size(key) + key + 1 + varint_size(value) + value;
}

}  // namespace tfrkit
