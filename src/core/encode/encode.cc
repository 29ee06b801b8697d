#include "core/encode/encode.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/bytes/wire.h"
#include "core/crc32c/crc32c.h"
#include "core/frames/layout.h"

namespace tfrkit {
namespace {

constexpr std::uint8_t kField1 = delimited_tag(1);  // the first field of every message here
constexpr std::uint8_t kField2 = delimited_tag(2);  // the value of a map entry
constexpr std::size_t kTailBytes = 6;
constexpr std::array<std::uint8_t, kTailBytes> kTail{kField2, 4, 0, 2, kField1, 0};
constexpr std::size_t kTailKind = 2;  // which byte of the tail names the kind
constexpr std::size_t kMaxTemplateKey = kTemplateBytes - 4 - kTailBytes;
constexpr std::size_t kMaxTemplateCount = std::size_t{1} << 24;
constexpr std::uint64_t kContinue = 0x8080808080808080U;
constexpr std::size_t kMaxShortEntry = 0x7f;  // whose length, and all lengths inside, are one byte
// Added to the tail of a single value for each of its bytes: all three lengths grow alike.
constexpr std::uint64_t kTailStep = 0x0000'0100'0100'0100U;

// Writers differ in whether they may write a few bytes too many, which the next ones overwrite. A
// fixed number of bytes is one or two instructions where an exact number is a call: 1.9 times as
// fast for records of 41 small features (benchmarks/encode_examples.py).
struct Loose {
  static constexpr bool kExact = false;
};
struct Exact {
  static constexpr bool kExact = true;
};

std::byte* put_byte(std::byte* at, std::uint8_t value) noexcept {
  *at = static_cast<std::byte>(value);
  return at + 1;
}

// Spreads the low 56 bits of `value` over 8 bytes, 7 in each.
std::uint64_t spread(std::uint64_t value) noexcept {
  value = ((value & 0x00fffffff0000000U) << 4) | (value & 0x000000000fffffffU);
  value = ((value & 0x0fffc0000fffc000U) << 2) | (value & 0x00003fff00003fffU);
  return ((value & 0x3f803f803f803f80U) << 1) | (value & 0x007f007f007f007fU);
}

// Writes a varint of `size` bytes.
template <typename Writer>
std::byte* put_sized(std::byte* at, std::uint64_t value, std::size_t size) noexcept {
  if constexpr (Writer::kExact) {
    return put_varint(at, value);
  } else {
    const std::uint64_t low = spread(value);
    if (size <= 8) [[likely]] {
      const std::uint64_t more = kContinue & ((std::uint64_t{1} << (8 * (size - 1))) - 1);
      store_le<std::uint64_t>(at, low | more);
      return at + size;
    }
    store_le<std::uint64_t>(at, low | kContinue);
    store_le<std::uint16_t>(
        at + 8, static_cast<std::uint16_t>(size == 9 ? value >> 56 : (value >> 56) | 0x180));
    return at + size;
  }
}

// Copies a few bytes without a call, and many with one.
std::byte* put_bytes(std::byte* at, Bytes bytes) noexcept {
  const std::size_t size = bytes.size();
  const std::byte* const from = bytes.data();
  if (size >= 8 && size <= 16) {
    const auto first = load_le<std::uint64_t>(from);
    const auto last = load_le<std::uint64_t>(from + size - 8);
    store_le(at, first);
    store_le(at + size - 8, last);
  } else if (size >= 4 && size < 8) {
    const auto first = load_le<std::uint32_t>(from);
    const auto last = load_le<std::uint32_t>(from + size - 4);
    store_le(at, first);
    store_le(at + size - 4, last);
  } else if (size > 16) {
    std::memcpy(at, from, size);
  } else {
    for (std::size_t i = 0; i < size; ++i) at[i] = from[i];
  }
  return at + size;
}

// Copies a template.
template <typename Writer>
void put_head(std::byte* at, const EncodeColumn& column) noexcept {
  if constexpr (Writer::kExact) {
    std::memcpy(at, column.head.data(), column.head_bytes);
  } else {
    std::memcpy(at, column.head.data(), 16);
    for (std::size_t done = 16; done < column.head_bytes; done += 16) {
      std::memcpy(at + done, column.head.data() + done, 16);
    }
  }
}

std::byte* put_floats(std::byte* at, const float* values, std::size_t count) noexcept {
  if constexpr (std::endian::native == std::endian::little) {
    return put_bytes(at, std::as_bytes(std::span(values, count)));
  } else {
    for (std::size_t i = 0; i < count; ++i, at += 4) {
      store_le(at, std::bit_cast<std::uint32_t>(values[i]));
    }
    return at;
  }
}

// The place of list i in the values.
struct Run {
  std::size_t first;
  std::size_t count;
};

Run run_of(const ValueLists& lists, std::size_t i) noexcept {
  if (lists.splits == nullptr) return {i * lists.count, lists.count};
  return {static_cast<std::size_t>(lists.splits[i]),
          static_cast<std::size_t>(lists.splits[i + 1] - lists.splits[i])};
}

std::uint64_t string_size(Bytes value) noexcept {
  return 1 + varint_size(value.size()) + value.size();
}

// Returns the bytes of the values of list i.
std::uint64_t body_of(const ValueLists& lists, std::size_t i, const Run& run) noexcept {
  if (lists.kind == Kind::kFloat) return 4 * run.count;
  if (needs_bodies(lists)) return lists.bodies[i];
  if (lists.kind == Kind::kInt64) return varint_size(static_cast<std::uint64_t>(lists.ints[i]));
  return lists.kind == Kind::kBytes ? string_size(lists.strings[i]) : lists.strings[i].size();
}

std::uint64_t feature_size_of(const ValueLists& lists, std::size_t i) noexcept {
  const Run run = run_of(lists, i);
  return feature_size(lists.kind, run.count, body_of(lists, i, run));
}

// The lists of a row.
RowRange steps_of(const EncodeColumn& column, std::size_t row) noexcept {
  return {static_cast<std::size_t>(column.steps[row]),
          static_cast<std::size_t>(column.steps[row + 1])};
}

// Returns the bytes of the FeatureList of a row.
std::uint64_t list_size(const EncodeColumn& column, std::size_t row) noexcept {
  const RowRange steps = steps_of(column, row);
  std::uint64_t total = 0;
  for (std::size_t i = steps.begin; i < steps.end; ++i) {
    const std::uint64_t size = feature_size_of(column.lists, i);
    total += 1 + varint_size(size) + size;
  }
  return total;
}

// Returns the bytes of an entry with its own tag and length, whose value has the size `value`.
std::uint64_t whole_entry_size(const EncodeColumn& column, std::uint64_t value) noexcept {
  const std::uint64_t entry = entry_size(column.key.size(), value);
  return 1 + varint_size(entry) + entry;
}

std::uint64_t feature_entry_size(const EncodeColumn& column, std::size_t row) noexcept {
  return whole_entry_size(column, feature_size_of(column.lists, row));
}

// Tells whether a single string of `size` bytes leaves the lengths of its template one byte each.
bool fits_template(const EncodeColumn& column, std::size_t size) noexcept {
  return size <= kMaxShortEntry + 2 - column.fixed_bytes;
}

bool is_present(const EncodeColumn& column, std::size_t row) noexcept {
  return column.present == nullptr || column.present[row] != 0;
}

// Adds the sizes of the entries of a column to those of the rows.
void add_sizes(const EncodeColumn& column, RowRange rows, std::uint64_t* sizes) noexcept {
  const ValueLists& lists = column.lists;
  if (column.head_bytes != 0 && column.present == nullptr) {
    if (lists.kind == Kind::kFloat) {
      for (std::size_t row = rows.begin; row < rows.end; ++row) sizes[row] += column.fixed_bytes;
    } else if (lists.kind == Kind::kBytes) {
      for (std::size_t row = rows.begin; row < rows.end; ++row) {
        const std::size_t size = lists.strings[row].size();
        sizes[row] += fits_template(column, size) ? column.fixed_bytes + size
                                                  : feature_entry_size(column, row);
      }
    } else {
      for (std::size_t row = rows.begin; row < rows.end; ++row) {
        sizes[row] += column.fixed_bytes + varint_size(static_cast<std::uint64_t>(lists.ints[row]));
      }
    }
    return;
  }
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    if (!is_present(column, row)) continue;
    sizes[row] += column.steps != nullptr ? whole_entry_size(column, list_size(column, row))
                                          : feature_entry_size(column, row);
  }
}

std::byte* put_length(std::byte* at, std::uint64_t value) noexcept {
  if (value < 0x80) return put_byte(at, static_cast<std::uint8_t>(value));
  return put_varint(at, value);
}

// From here on, `limit` is where the message must end; functions return null rather than pass it.
std::size_t room(const std::byte* at, const std::byte* limit) noexcept {
  return static_cast<std::size_t>(limit - at);
}

template <typename Writer>
std::byte* put_ints(std::byte* at, const std::byte* limit,
                    std::span<const std::int64_t> values) noexcept {
  for (const std::int64_t number : values) {
    const auto value = static_cast<std::uint64_t>(number);
    const std::size_t size = varint_size(value);
    if (size > room(at, limit)) return nullptr;
    at = put_sized<Writer>(at, value, size);
  }
  return at;
}

template <typename Writer>
std::byte* put_values(std::byte* at, const std::byte* limit, const ValueLists& lists,
                      const Run& run) noexcept {
  if (lists.kind == Kind::kFloat) return put_floats(at, lists.floats + run.first, run.count);
  if (lists.kind == Kind::kInt64) {
    return put_ints<Writer>(at, limit, {lists.ints + run.first, run.count});
  }
  if (lists.kind == Kind::kUnset) return put_bytes(at, lists.strings[run.first]);
  for (std::size_t i = run.first; i < run.first + run.count; ++i) {
    at = put_length(put_byte(at, kField1), lists.strings[i].size());
    at = put_bytes(at, lists.strings[i]);
  }
  return at;
}

// Writes a Feature up to its values.
std::byte* put_list_head(std::byte* at, Kind kind, std::size_t count, std::uint64_t body) noexcept {
  if (kind == Kind::kUnset) return at;
  at = put_byte(at, delimited_tag(static_cast<unsigned>(kind)));
  if (kind == Kind::kBytes) return put_length(at, body);
  if (count == 0) return put_byte(at, 0);
  at = put_length(at, 1 + varint_size(body) + body);
  return put_length(put_byte(at, kField1), body);
}

// Writes the Feature of list i. Precondition: it fits, unless its integers have changed.
template <typename Writer>
std::byte* put_feature(std::byte* at, const std::byte* limit, const ValueLists& lists,
                       std::size_t i) noexcept {
  const Run run = run_of(lists, i);
  at = put_list_head(at, lists.kind, run.count, body_of(lists, i, run));
  return put_values<Writer>(at, limit, lists, run);
}

// Writes an entry of a map up to its value, whose size is `value`.
std::byte* put_entry(std::byte* at, const EncodeColumn& column, std::uint64_t value) noexcept {
  at = put_byte(at, kField1);
  at = put_length(at, entry_size(column.key.size(), value));
  at = put_byte(at, kField1);
  at = put_length(at, column.key.size());
  at = put_bytes(at, column.key);
  at = put_byte(at, kField2);
  return put_length(at, value);
}

// Writes the entry of a column that is a feature.
template <typename Writer>
std::byte* put_general(std::byte* at, const std::byte* limit, const EncodeColumn& column,
                       std::size_t row) noexcept {
  const std::uint64_t size = feature_size_of(column.lists, row);
  if (whole_entry_size(column, size) > room(at, limit)) return nullptr;
  return put_feature<Writer>(put_entry(at, column, size), limit, column.lists, row);
}

// Writes the template of a single value of `size` bytes and returns the position after it.
template <typename Writer>
std::byte* put_single_head(std::byte* at, const EncodeColumn& column, std::size_t size) noexcept {
  put_head<Writer>(at, column);
  const std::uint64_t tail = column.tail + size * kTailStep;
  at[1] = static_cast<std::byte>(column.fixed_bytes - 2 + size);
  at += column.head_bytes;
  if constexpr (Writer::kExact) {
    for (std::size_t i = 0; i < kTailBytes; ++i) at[i] = static_cast<std::byte>(tail >> (8 * i));
  } else {
    store_le<std::uint64_t>(at, tail);
  }
  return at + kTailBytes;
}

// Writes the entry of a column that has a template.
template <typename Writer>
std::byte* put_templated(std::byte* at, const std::byte* limit, const EncodeColumn& column,
                         std::size_t row) noexcept {
  const ValueLists& lists = column.lists;
  if (lists.kind == Kind::kFloat) {
    if (column.fixed_bytes > room(at, limit)) return nullptr;
    put_head<Writer>(at, column);
    return put_floats(at + column.head_bytes, lists.floats + row * lists.count, lists.count);
  }
  if (lists.kind == Kind::kBytes) {
    const Bytes text = lists.strings[row];
    if (!fits_template(column, text.size())) return put_general<Writer>(at, limit, column, row);
    if (column.fixed_bytes + text.size() > room(at, limit)) return nullptr;
    return put_bytes(put_single_head<Writer>(at, column, text.size()), text);
  }
  const auto value = static_cast<std::uint64_t>(lists.ints[row]);
  const std::size_t size = varint_size(value);
  if (column.fixed_bytes + size > room(at, limit)) return nullptr;
  return put_sized<Writer>(put_single_head<Writer>(at, column, size), value, size);
}

// Writes the entry of a column that is a feature list.
template <typename Writer>
std::byte* put_steps(std::byte* at, const std::byte* limit, const EncodeColumn& column,
                     std::size_t row) noexcept {
  const std::uint64_t size = list_size(column, row);
  if (whole_entry_size(column, size) > room(at, limit)) return nullptr;
  at = put_entry(at, column, size);
  const RowRange steps = steps_of(column, row);
  for (std::size_t i = steps.begin; i < steps.end; ++i) {
    const std::uint64_t feature = feature_size_of(column.lists, i);
    if (1 + varint_size(feature) + feature > room(at, limit)) return nullptr;
    at = put_length(put_byte(at, kField1), feature);
    at = put_feature<Writer>(at, limit, column.lists, i);
    if (at == nullptr) return nullptr;
  }
  return at;
}

template <typename Writer>
std::byte* put_features(std::byte* at, const std::byte* limit,
                        std::span<const EncodeColumn> columns, std::size_t row) noexcept {
  for (const EncodeColumn& column : columns) {
    if (!is_present(column, row)) continue;
    at = column.head_bytes != 0    ? put_templated<Writer>(at, limit, column, row)
         : column.steps != nullptr ? put_steps<Writer>(at, limit, column, row)
                                   : put_general<Writer>(at, limit, column, row);
    if (at == nullptr) return nullptr;
  }
  return at;
}

// Writes the message of a row; returns false unless it ends at `limit`.
template <typename Writer>
bool put_message(std::byte* at, const std::byte* limit, std::span<const EncodeColumn> columns,
                 std::span<const EncodeColumn> list_columns, std::size_t row,
                 const RowSizes& sizes) noexcept {
  if (sizes.features[row] != 0) {
    at = put_length(put_byte(at, kField1), sizes.features[row]);
    at = put_features<Writer>(at, limit, columns, row);
    if (at == nullptr) return false;
  }
  if (sizes.lists != nullptr && sizes.lists[row] != 0) {
    if (1 + varint_size(sizes.lists[row]) > room(at, limit)) return false;
    at = put_length(put_byte(at, kField2), sizes.lists[row]);
    at = put_features<Writer>(at, limit, list_columns, row);
  }
  return at == limit;
}

// Writes the frame of a row and returns the position after it, or null.
template <typename Writer>
std::byte* put_frame(std::byte* frame, std::span<const EncodeColumn> columns,
                     std::span<const EncodeColumn> list_columns, std::size_t row,
                     const RowSizes& sizes) noexcept {
  const auto extend = crc32c_best().extend;
  const auto size = static_cast<std::size_t>(message_size(sizes, row));
  store_le<std::uint64_t>(frame, size);
  store_le<std::uint32_t>(frame + kLengthBytes, crc32c_mask(extend(0, Bytes(frame, kLengthBytes))));
  std::byte* const payload = frame + kHeaderBytes;
  std::byte* const end = payload + size;
  if (!put_message<Writer>(payload, end, columns, list_columns, row, sizes)) return nullptr;
  store_le<std::uint32_t>(end, crc32c_mask(extend(0, Bytes(payload, size))));
  return end + kCrcBytes;
}

}  // namespace

std::byte* put_varint(std::byte* at, std::uint64_t value) noexcept {
  while (value >= 0x80) {
    at = put_byte(at, static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  return put_byte(at, static_cast<std::uint8_t>(value));
}

void prepare_column(EncodeColumn& column) noexcept {
  column.prepared = true;
  column.head_bytes = 0;
  const ValueLists& lists = column.lists;
  const bool single =
      (lists.kind == Kind::kInt64 || lists.kind == Kind::kBytes) && lists.count == 1;
  const bool fixed = lists.splits == nullptr && column.steps == nullptr;
  if (!fixed || column.key.size() > kMaxTemplateKey || !(single || lists.kind == Kind::kFloat)) {
    return;
  }
  // Four lengths of up to four bytes each must fit, where they are not all of one byte.
  const bool short_list = lists.count <= 16;
  if (!short_list &&
      (column.key.size() > kMaxTemplateKey - 12 || lists.count >= kMaxTemplateCount)) {
    return;
  }
  std::byte* const begin = column.head.data();
  const std::uint64_t body = single ? 0 : 4 * lists.count;
  // A single integer or string is laid out for a value of no bytes; put_templated adds its size.
  const std::uint64_t feature =
      single ? kTailBytes - 2 : feature_size(lists.kind, lists.count, body);
  std::byte* end = put_entry(begin, column, feature);
  const std::uint64_t entry = entry_size(column.key.size(), feature);
  column.fixed_bytes = static_cast<std::size_t>(1 + varint_size(entry) + entry);
  if (single) {
    end -= 2;
    column.tail = 0;
    for (std::size_t i = 0; i < kTailBytes; ++i) {
      const std::uint8_t byte =
          i == kTailKind ? delimited_tag(static_cast<unsigned>(lists.kind)) : kTail[i];
      column.tail |= std::uint64_t{byte} << (8 * i);
    }
  } else {
    end = put_list_head(end, lists.kind, lists.count, body);
  }
  column.head_bytes = static_cast<std::size_t>(end - begin);
}

void measure_bodies(const EncodeColumn& column, RowRange rows) noexcept {
  const ValueLists& lists = column.lists;
  if (!needs_bodies(lists)) return;
  if (column.steps != nullptr && rows.begin != rows.end) {
    rows = {steps_of(column, rows.begin).begin, steps_of(column, rows.end - 1).end};
  }
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    const Run run = run_of(lists, i);
    std::uint64_t total = 0;
    if (lists.kind == Kind::kInt64) {
      for (std::size_t k = 0; k < run.count; ++k) {
        total += varint_size(static_cast<std::uint64_t>(lists.ints[run.first + k]));
      }
    } else {
      for (std::size_t k = 0; k < run.count; ++k) {
        total += string_size(lists.strings[run.first + k]);
      }
    }
    lists.bodies[i] = total;
  }
}

void measure_rows(std::span<const EncodeColumn> columns, std::span<const EncodeColumn> list_columns,
                  RowRange rows, const RowSizes& sizes) noexcept {
  std::fill(sizes.features + rows.begin, sizes.features + rows.end, 0);
  for (const EncodeColumn& column : columns) add_sizes(column, rows, sizes.features);
  if (sizes.lists == nullptr) return;
  std::fill(sizes.lists + rows.begin, sizes.lists + rows.end, 0);
  for (const EncodeColumn& column : list_columns) add_sizes(column, rows, sizes.lists);
}

std::uint64_t message_size(const RowSizes& sizes, std::size_t row) noexcept {
  const auto part = [](std::uint64_t size) -> std::uint64_t {
    return size == 0 ? 0 : 1 + varint_size(size) + size;
  };
  return part(sizes.features[row]) + (sizes.lists == nullptr ? 0 : part(sizes.lists[row]));
}

Code fill_frames(std::span<const EncodeColumn> columns, std::span<const EncodeColumn> list_columns,
                 RowRange rows, const RowSizes& sizes, std::span<std::byte> out) noexcept {
  if (rows.begin == rows.end) return Code::kOk;
  std::byte* at = out.data();
  // Behind the message of any row but the last are its footer and the next header: kSlackBytes.
  for (std::size_t row = rows.begin; row + 1 < rows.end; ++row) {
    at = put_frame<Loose>(at, columns, list_columns, row, sizes);
    if (at == nullptr) return Code::kOutOfRange;
  }
  at = put_frame<Exact>(at, columns, list_columns, rows.end - 1, sizes);
  return at == nullptr ? Code::kOutOfRange : Code::kOk;
}

Code fill_message(std::span<const EncodeColumn> columns, const RowSizes& sizes,
                  std::span<std::byte> out) noexcept {
  const auto size = static_cast<std::size_t>(message_size(sizes, 0));
  std::byte* const begin = out.data();
  const bool good = out.size() >= size + kSlackBytes
                        ? put_message<Loose>(begin, begin + size, columns, {}, 0, sizes)
                        : put_message<Exact>(begin, begin + size, columns, {}, 0, sizes);
  return good ? Code::kOk : Code::kOutOfRange;
}

}  // namespace tfrkit
