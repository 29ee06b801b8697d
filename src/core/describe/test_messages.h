// Messages for tests, written by hand: Features, Examples and SequenceExamples.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/bytes/wire.h"
#include "core/frames/reference.h"

namespace tfrkit::messages {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

inline std::string field(unsigned number, std::string_view content) {
  return varint(delimited_tag(number)) + varint(content.size()) + std::string(content);
}

inline std::string floats(const std::vector<float>& values) {
  std::string packed;
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (unsigned i = 0; i < 4; ++i) packed.push_back(static_cast<char>(bits >> (8 * i)));
  }
  return field(2, field(1, packed));
}

inline std::string ints(const std::vector<std::int64_t>& values) {
  std::string packed;
  for (const std::int64_t value : values) packed += varint(static_cast<std::uint64_t>(value));
  return field(3, field(1, packed));
}

inline std::string texts(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += field(1, value);
  return field(1, list);
}

inline std::string entry(std::string_view key, std::string_view feature) {
  return field(1, field(1, key) + field(2, feature));
}

inline std::string example(const std::vector<std::string>& entries) {
  std::string features;
  for (const std::string& one : entries) features += one;
  return field(1, features);
}

inline std::string sequence(const std::string& context, std::string_view key,
                            const std::vector<std::string>& steps) {
  std::string list;
  for (const std::string& step : steps) list += field(1, step);
  return context + field(2, field(1, field(1, key) + field(2, list)));
}

// The records as spans, which must live as long as the strings.
inline std::vector<Bytes> spans_of(const std::vector<std::string>& records) {
  std::vector<Bytes> spans;
  spans.reserve(records.size());
  for (const std::string& record : records) spans.push_back(reference::as_bytes(record));
  return spans;
}

}  // namespace tfrkit::messages
