// The protobuf wire format: varints, tags, lengths and nested messages, read from hostile bytes.
//
// Knows no message. Two readers share it: protobuf's own rules (`read_tag`, `read_message`,
// `skip_field`) and the laxer ones of TensorFlow's fast parser (`expect`, `read_length32`, `limit`,
// `skip_extraneous`), which reads lengths as 32-bit numbers and cuts a nested message that claims
// too much at the end of its parent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/bytes/bytes.h"

namespace tfrkit {

inline constexpr std::size_t kMaxVarintBytes = 10;
inline constexpr std::size_t kMaxTagBytes = 5;   // of protobuf; TensorFlow takes kMaxVarintBytes
inline constexpr std::size_t kMaxNesting = 100;  // groups in groups, as in protobuf
inline constexpr std::uint64_t kMaxLength = 0x7fffffff;  // of anything nested, as in protobuf

enum class WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kDelimited = 2,
  kGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

// Tags of one byte: a field number up to 15 and how its value is written.
[[nodiscard]] constexpr std::uint8_t varint_tag(unsigned field) noexcept {
  return static_cast<std::uint8_t>(field << 3);
}
[[nodiscard]] constexpr std::uint8_t delimited_tag(unsigned field) noexcept {
  return static_cast<std::uint8_t>((field << 3) | 2);
}
[[nodiscard]] constexpr std::uint8_t fixed32_tag(unsigned field) noexcept {
  return static_cast<std::uint8_t>((field << 3) | 5);
}

// The part of a message that is not read yet. Every read_ function returns false, and leaves the
// position anywhere, if what it should read is not there.
class Wire {
 public:
  Wire() = default;
  explicit Wire(Bytes bytes) noexcept : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  [[nodiscard]] bool at_end() const noexcept { return at_ == end_; }
  [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] const std::byte* position() const noexcept { return at_; }
  [[nodiscard]] Bytes rest() const noexcept { return {at_, left()}; }

  // Goes to `position`, which an inner reader of the same bytes has reached.
  void move_to(const std::byte* position) noexcept { at_ = position; }

  // Returns the next byte, or 0 if there is none.
  [[nodiscard]] std::uint8_t peek() const noexcept {
    return at_ == end_ ? std::uint8_t{0} : std::to_integer<std::uint8_t>(*at_);
  }

  // Takes the next byte if it is `tag`.
  [[nodiscard]] bool expect(std::uint8_t tag) noexcept {
    if (at_ == end_ || std::to_integer<std::uint8_t>(*at_) != tag) return false;
    ++at_;
    return true;
  }

  // Reads up to 10 bytes; bits above the 64th are dropped.
  [[nodiscard]] bool read_varint(std::uint64_t& value) noexcept {
    return read_varint_of(kMaxVarintBytes, value);
  }

  // Reads a varint and drops all but its low 32 bits: a length as TensorFlow sees it.
  [[nodiscard]] bool read_length32(std::uint32_t& length) noexcept {
    std::uint64_t value = 0;
    if (!read_varint(value)) return false;
    length = static_cast<std::uint32_t>(value);
    return true;
  }

  [[nodiscard]] bool read_fixed32(std::uint32_t& value) noexcept {
    if (left() < sizeof(value)) return false;
    value = load_le<std::uint32_t>(at_);
    at_ += sizeof(value);
    return true;
  }

  // Takes the next `length` bytes.
  [[nodiscard]] bool read_bytes(std::uint64_t length, Bytes& bytes) noexcept {
    if (length > left()) return false;
    bytes = {at_, static_cast<std::size_t>(length)};
    at_ += length;
    return true;
  }

  // Reads a tag as protobuf does: at most 5 bytes, 32 bits, and a field number that is not 0.
  [[nodiscard]] bool read_tag(std::uint32_t& tag) noexcept { return read_any_tag(tag) && tag >= 8; }

  // Reads a length and takes as many bytes; protobuf's rule: all of them must be there.
  [[nodiscard]] bool read_message(Bytes& bytes) noexcept {
    std::uint64_t length = 0;
    return read_varint_of(kMaxTagBytes, length) && length <= kMaxLength &&
           read_bytes(length, bytes);
  }

  // Reads a length as TensorFlow does and takes as many bytes, which must be there.
  [[nodiscard]] bool read_string32(Bytes& bytes) noexcept {
    std::uint32_t length = 0;
    return read_length32(length) && read_bytes(length, bytes);
  }

  // Returns a reader of the next `length` bytes, or of all there are if they are fewer (or the
  // length is over 31 bits), as TensorFlow's nested limits do. Does not move; see move_to.
  [[nodiscard]] Wire limit(std::uint32_t length) const noexcept {
    const std::size_t size = length > kMaxLength ? left() : std::min<std::size_t>(length, left());
    return Wire(Bytes(at_, size));
  }

  // Skips the value of a field whose tag was read, by protobuf's rules; groups too, up to `depth`
  // in one another, which is kMaxNesting less the messages round this one.
  [[nodiscard]] bool skip_field(std::uint32_t tag, std::size_t depth = kMaxNesting) noexcept {
    std::uint64_t ignored = 0;
    const std::byte* ignored_end = nullptr;
    Bytes bytes;
    switch (static_cast<WireType>(tag & 7)) {
      case WireType::kVarint:
        return read_varint(ignored);
      case WireType::kFixed64:
        return read_bytes(8, bytes);
      case WireType::kDelimited:
        return read_message(bytes);
      case WireType::kFixed32:
        return read_bytes(4, bytes);
      case WireType::kGroup:
        return depth != 0 && skip_group(tag >> 3, depth - 1, ignored_end);
      default:
        return false;
    }
  }

  // Takes the content of a group whose start tag was read, and skips its end tag; `depth` as of
  // skip_field.
  [[nodiscard]] bool read_group(std::uint32_t field, std::size_t depth, Bytes& content) noexcept {
    const std::byte* const begin = at_;
    const std::byte* end = at_;
    if (depth == 0 || !skip_group(field, depth - 1, end)) return false;
    content = {begin, static_cast<std::size_t>(end - begin)};
    return true;
  }

  // Skips an unknown field with its tag as TensorFlow's parser does at the top of an Example: a
  // length that claims too much goes to the end, one over 31 bits is not followed at all.
  [[nodiscard]] bool skip_extraneous() noexcept {
    std::uint32_t tag = 0;
    std::uint32_t length = 0;
    std::uint64_t ignored = 0;
    Bytes bytes;
    if (!read_length32(tag)) return false;
    switch (static_cast<WireType>(tag & 7)) {
      case WireType::kVarint:
        return read_varint(ignored);
      case WireType::kFixed64:
        return read_bytes(8, bytes);
      case WireType::kDelimited:
        if (!read_length32(length)) return false;
        if (length <= kMaxLength) at_ += std::min<std::size_t>(length, left());
        return true;
      case WireType::kFixed32:
        return read_bytes(4, bytes);
      default:
        return false;
    }
  }

 private:
  // The same with any field number, as protobuf reads tags inside unknown groups.
  [[nodiscard]] bool read_any_tag(std::uint32_t& tag) noexcept {
    std::uint64_t value = 0;
    if (!read_varint_of(kMaxTagBytes, value) || value > 0xffffffffU) return false;
    tag = static_cast<std::uint32_t>(value);
    return true;
  }

  [[nodiscard]] bool read_varint_of(std::size_t max_bytes, std::uint64_t& value) noexcept {
    if (at_ != end_ && std::to_integer<std::uint8_t>(*at_) < 0x80) {
      value = std::to_integer<std::uint64_t>(*at_++);
      return true;
    }
    const std::size_t limit = std::min(max_bytes, left());
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < limit; ++i) {
      const auto byte = std::to_integer<std::uint64_t>(at_[i]);
      result |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) {
        at_ += i + 1;
        value = result;
        return true;
      }
    }
    return false;
  }

  // Skips to the end of a group whose start tag was read, which `end` is set to: before its end
  // tag. Recursion ends with `depth`.
  [[nodiscard]] bool skip_group(std::uint32_t field, std::size_t depth,
                                const std::byte*& end) noexcept {
    for (;;) {
      std::uint32_t tag = 0;
      end = at_;
      if (!read_any_tag(tag)) return false;
      if (static_cast<WireType>(tag & 7) == WireType::kEndGroup) return tag >> 3 == field;
      if (!skip_field(tag, depth)) return false;
    }
  }

  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
};

}  // namespace tfrkit
