// Canonical lists: the body of a list, its values, the steps of a FeatureList.
//
// Every function here refuses (false or -1) what is not canonical; that is no error but a reason to
// leave the record to the exact code.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/bytes/bytes.h"
#include "core/bytes/varint.h"
#include "core/bytes/wire.h"
#include "core/examples/feature_kind.h"

namespace tfrkit::canonical {

inline constexpr std::uint64_t kHeaderMask = 0xffffffffffffU;  // six bytes
inline constexpr std::size_t kStepHeader = 6;  // tag, length of step, list, run: a byte each
inline constexpr std::size_t kMaxShortRun = 123;
inline constexpr std::size_t kMaxTinyRun = 10;             // no varint in it can be too long
inline constexpr std::size_t kWordStep = kStepHeader + 8;  // readable from a step's start on

[[nodiscard]] inline std::uint8_t byte_at(const std::byte* at) noexcept {
  return std::to_integer<std::uint8_t>(*at);
}

// Reads a length of up to five bytes and checks that as much is there.
[[nodiscard]] inline bool read_length(const std::byte*& at, const std::byte* end,
                                      std::size_t& length) noexcept {
  std::size_t value = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    if (at == end) return false;
    const std::size_t byte = byte_at(at++);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      length = value;
      return value <= kMaxLength && value <= static_cast<std::size_t>(end - at);
    }
  }
  return false;
}

// Reads `tag` and a length.
[[nodiscard]] inline bool read_head(const std::byte*& at, const std::byte* end, std::uint8_t tag,
                                    std::size_t& length) noexcept {
  if (at == end || byte_at(at) != tag) return false;
  ++at;
  return read_length(at, end, length);
}

[[nodiscard]] constexpr std::uint8_t kind_tag(Kind kind) noexcept {
  return delimited_tag(static_cast<unsigned>(kind));
}

// Finds the body of the list in the value of a Feature that is not empty: of numbers the contents
// of the packed run, of bytes the whole BytesList.
[[nodiscard]] inline bool read_feature(Bytes value, Kind kind, Bytes& body) noexcept {
  const std::byte* at = value.data();
  const std::byte* const end = at + value.size();
  std::size_t length = 0;
  if (!read_head(at, end, kind_tag(kind), length) || at + length != end) return false;
  const bool packed = kind != Kind::kBytes && length != 0;
  if (packed && (!read_head(at, end, delimited_tag(1), length) || at + length != end)) {
    return false;
  }
  body = {at, length};
  return true;
}

// Returns the number of varints in a packed run, or -1 if one is cut or longer than 10 bytes.
[[nodiscard]] inline std::int64_t count_run(Bytes run) noexcept {
  if (run.size() > kMaxTinyRun) {
    const VarintRun counted = count_varints(run);
    return counted.good ? static_cast<std::int64_t>(counted.count) : -1;
  }
  std::int64_t count = 0;
  for (const std::byte byte : run) count += std::to_integer<int>(byte >> 7) ^ 1;
  return run.empty() || std::to_integer<unsigned>(run.back()) < 0x80 ? count : -1;
}

// Counts the values of a BytesList and adds their sizes to `bytes`; -1 if it is not only values.
[[nodiscard]] inline std::int64_t count_strings(Bytes list, std::int64_t& bytes) noexcept {
  const std::byte* at = list.data();
  const std::byte* const end = at + list.size();
  std::int64_t count = 0;
  while (at != end) {
    std::size_t length = 0;
    if (!read_head(at, end, delimited_tag(1), length)) return -1;
    at += length;
    bytes += static_cast<std::int64_t>(length);
    ++count;
  }
  return count;
}

// Returns the number of values in the body of a list, or -1; adds the sizes of bytes to `bytes`.
[[nodiscard]] inline std::int64_t count_values(Kind kind, Bytes body,
                                               std::int64_t& bytes) noexcept {
  switch (kind) {
    case Kind::kBytes:
      return count_strings(body, bytes);
    case Kind::kFloat:
      return body.size() % 4 == 0 ? static_cast<std::int64_t>(body.size() / 4) : -1;
    default:
      return count_run(body);
  }
}

// Returns the six bytes that begin a step of one run of `size` bytes, as a little-endian number.
// Precondition: size <= kMaxShortRun.
[[nodiscard]] constexpr std::uint64_t step_header(Kind kind, std::uint64_t size) noexcept {
  const std::uint64_t tags = 0x0a0000000aU | (std::uint64_t{kind_tag(kind)} << 16);
  return tags | ((size + 4) << 8) | ((size + 2) << 24) | (size << 40);
}

// Takes one step off a FeatureList: the body of its list, as read_feature finds it; a step that is
// unset has an empty one.
[[nodiscard]] inline bool read_step(const std::byte*& at, const std::byte* end, Kind kind,
                                    Bytes& body) noexcept {
  if (end - at >= 8) {  // most steps are one short run: all lengths follow from the last
    const auto word = load_le<std::uint64_t>(at);
    const std::size_t run = (word >> 40) & 0xff;
    if (run <= kMaxShortRun && (word & kHeaderMask) == step_header(kind, run) &&
        kStepHeader + run <= static_cast<std::size_t>(end - at)) {
      const std::size_t head = kind == Kind::kBytes ? kStepHeader - 2 : kStepHeader;
      body = {at + head, kStepHeader + run - head};
      at += kStepHeader + run;
      return true;
    }
  }
  std::size_t length = 0;
  if (!read_head(at, end, delimited_tag(1), length)) return false;
  const Bytes value(at, length);
  at += length;
  body = {};
  return length == 0 || read_feature(value, kind, body);
}

}  // namespace tfrkit::canonical
