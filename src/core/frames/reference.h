// Slow and obvious versions of the kernels, for tests and fuzzers to compare with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/bytes/status.h"
#include "core/frames/layout.h"
#include "core/frames/resync.h"

namespace tfrkit::reference {

// Returns the CRC-32C of the bytes that produced `crc` followed by `data`, bit by bit.
[[nodiscard]] inline std::uint32_t crc32c(Bytes data, std::uint32_t crc = 0) {
  crc = ~crc;
  for (const std::byte byte : data) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

// Returns the masked CRC-32C of `data`.
[[nodiscard]] inline std::uint32_t masked(Bytes data) {
  const std::uint32_t crc = crc32c(data);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

// Appends `value`, little-endian.
template <typename T>
void append(std::vector<std::byte>& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
  }
}

// Appends the header of a frame that claims `length`.
inline void append_header(std::vector<std::byte>& out, std::uint64_t length) {
  append(out, length);
  append(out, masked(Bytes(out).last(kLengthBytes)));
}

// Appends the frame of `payload`.
inline void append_frame(std::vector<std::byte>& out, Bytes payload) {
  append_header(out, payload.size());
  out.insert(out.end(), payload.begin(), payload.end());
  append(out, masked(payload));
}

// Returns the bytes of `text`, which must outlive them.
[[nodiscard]] inline Bytes as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Tells whether the 12 bytes at `at` are a header with a right CRC; there may be fewer.
[[nodiscard]] inline bool is_header(Bytes data, std::size_t at) {
  if (data.size() - at < kHeaderBytes) return false;
  return load_le<std::uint32_t>(data.data() + at + kLengthBytes) ==
         masked(data.subspan(at, kLengthBytes));
}

// Tells whether a whole frame with two right CRCs stands at `at`.
[[nodiscard]] inline bool is_frame(Bytes data, std::size_t at) {
  if (at > data.size() || data.size() - at < kFrameOverheadBytes || !is_header(data, at)) {
    return false;
  }
  const auto length = load_le<std::uint64_t>(data.data() + at);
  if (length > data.size() - at - kFrameOverheadBytes) return false;
  const Bytes payload = data.subspan(at + kHeaderBytes, static_cast<std::size_t>(length));
  return load_le<std::uint32_t>(payload.data() + payload.size()) == masked(payload);
}

// find_frame by trying every position: quadratic.
[[nodiscard]] inline FoundFrame find_frame(Bytes data, std::size_t start, bool at_eof,
                                           std::uint64_t max_record_bytes) {
  FoundFrame found;
  for (std::size_t at = start; at < data.size(); ++at) {
    if (!is_header(data, at)) continue;
    const auto length = load_le<std::uint64_t>(data.data() + at);
    if (length > max_record_bytes || length > kMaxRecordBytes) continue;
    const std::size_t left = data.size() - at;
    const bool whole = left >= kFrameOverheadBytes && length <= left - kFrameOverheadBytes;
    if (!whole && at_eof) continue;
    if (whole && !is_frame(data, at)) continue;
    found.code = whole ? Code::kOk : Code::kNeedMore;
    found.position = at;
    found.need = whole ? 0 : length + kFrameOverheadBytes;
    return found;
  }
  const std::size_t kept = at_eof ? 0 : std::min<std::size_t>(11, data.size() - start);
  found.position = data.size() - kept;
  return found;
}

}  // namespace tfrkit::reference
