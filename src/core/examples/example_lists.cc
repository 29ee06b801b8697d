// The lists of one feature in the exact path, by the rules of TensorFlow and of protobuf.
#include <algorithm>
#include <cstring>

#include "core/bytes/wire.h"
#include "core/examples/example_parts.h"

namespace tfrkit {
namespace {

// Writes a canonical list to the arena, value by value. What is written is never longer than what
// it was read from: the arena has room.
class ListWriter {
 public:
  explicit ListWriter(CopyArena& arena) noexcept : arena_(arena), at_(arena.top()) {
    arena.set_end_of_copy(at_);
  }

  void restart() noexcept {
    at_ = arena_.top();
    count_ = 0;
    content_ = 0;
  }

  void add_int64(std::uint64_t value) noexcept {
    add_varint(value);
    ++count_;
  }

  void add_fixed32(std::uint32_t value) noexcept {
    store_le(at_, value);
    at_ += sizeof(value);
    ++count_;
  }

  void add_bytes(Bytes content) noexcept {
    *at_++ = std::byte{delimited_tag(1)};
    add_varint(content.size());
    if (!content.empty()) std::memcpy(at_, content.data(), content.size());
    at_ += content.size();
    content_ += content.size();
    ++count_;
  }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }

  // Returns the list, and sets where it ends in the arena.
  [[nodiscard]] CheckedList list(Kind kind) noexcept {
    arena_.set_end_of_copy(at_);
    const auto size = static_cast<std::size_t>(at_ - arena_.top());
    return {arena_.top(), kind == Kind::kBytes ? content_ : size, count_};
  }

 private:
  void add_varint(std::uint64_t value) noexcept {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<std::byte>((value & 0x7f) | 0x80);
    *at_++ = static_cast<std::byte>(value);
  }

  CopyArena& arena_;
  std::byte* at_;
  std::size_t count_ = 0;
  std::size_t content_ = 0;
};

ExampleFailure failed(ParseCode code, Kind kind, std::uint64_t count = 0) noexcept {
  return {.code = code, .kind = kind, .count = count};
}

// Checks the count of a list that could be read.
ExampleFailure check_count(const ExampleSlot& slot, std::uint64_t count) noexcept {
  if (slot.is_fixed() && count != static_cast<std::uint64_t>(slot.count)) {
    return failed(ParseCode::kWrongCount, slot.kind, count);
  }
  if (!slot.is_fixed() && slot.stride > 1 && count % slot.stride != 0) {
    return failed(ParseCode::kWrongStride, slot.kind, count);
  }
  return {};
}

// --- TensorFlow: one list, packed in one run or not packed at all ---

bool read_int64_tensorflow(Wire values, ListWriter& writer, CheckedList& list) noexcept {
  if (values.at_end()) return true;
  std::uint32_t length = 0;
  if (values.expect(delimited_tag(1))) {
    if (!values.read_length32(length)) return false;
    const Bytes run = values.limit(length).rest();  // what follows is ignored
    const VarintRun counted = count_varints(run);
    list = {run.data(), run.size(), counted.count};
    return counted.good;
  }
  while (!values.at_end()) {
    std::uint64_t value = 0;
    if (!values.expect(varint_tag(1)) || !values.read_varint(value)) return false;
    writer.add_int64(value);
  }
  list = writer.list(Kind::kInt64);
  return true;
}

// The claimed length of a packed run counts, but only what the slot has room for is read: so a
// fixed list that claims too much has a wrong count although the values are not there.
bool read_float_tensorflow(const ExampleSlot& slot, Wire values, ListWriter& writer,
                           CheckedList& list) noexcept {
  if (values.at_end()) return true;
  std::uint32_t length = 0;
  if (values.expect(delimited_tag(1))) {
    if (!values.read_length32(length)) return false;
    const std::uint64_t claimed = length / sizeof(float);
    std::uint64_t wanted = claimed;
    if (slot.is_fixed()) wanted = std::min(claimed, static_cast<std::uint64_t>(slot.count));
    if (wanted > values.left() / sizeof(float)) return false;
    list = {values.position(), wanted * sizeof(float), claimed};
    return true;
  }
  while (!values.at_end()) {
    std::uint32_t value = 0;
    if (!values.expect(fixed32_tag(1)) || !values.read_fixed32(value)) return false;
    writer.add_fixed32(value);
  }
  list = writer.list(Kind::kFloat);
  return true;
}

bool read_bytes_tensorflow(const ExampleSlot& slot, Wire values, ListWriter& writer,
                           CheckedList& list) noexcept {
  while (!values.at_end()) {
    Bytes content;
    if (!values.expect(delimited_tag(1)) || !values.read_string32(content)) return false;
    // One value too many is the same error as damage.
    if (slot.is_fixed() && writer.count() == static_cast<std::size_t>(slot.count)) return false;
    writer.add_bytes(content);
  }
  list = writer.list(Kind::kBytes);
  return true;
}

// --- protobuf: any number of Features, lists and runs, of which the last kind counts ---

bool read_int64_protobuf(Wire list, ListWriter& writer) noexcept {
  std::uint32_t tag = 0;
  std::uint64_t value = 0;
  while (!list.at_end()) {
    if (!list.read_tag(tag)) return false;
    if (tag == varint_tag(1)) {
      if (!list.read_varint(value)) return false;
      writer.add_int64(value);
    } else if (tag == delimited_tag(1)) {
      Bytes run;
      if (!list.read_message(run)) return false;
      Wire values(run);
      while (!values.at_end()) {
        if (!values.read_varint(value)) return false;
        writer.add_int64(value);
      }
    } else if (!list.skip_field(tag, kMaxNesting - 4)) {
      return false;
    }
  }
  return true;
}

bool read_float_protobuf(Wire list, ListWriter& writer) noexcept {
  std::uint32_t tag = 0;
  std::uint32_t value = 0;
  while (!list.at_end()) {
    if (!list.read_tag(tag)) return false;
    if (tag == fixed32_tag(1)) {
      if (!list.read_fixed32(value)) return false;
      writer.add_fixed32(value);
    } else if (tag == delimited_tag(1)) {
      Bytes run;
      if (!list.read_message(run) || run.size() % sizeof(float) != 0) return false;
      Wire values(run);
      while (values.read_fixed32(value)) writer.add_fixed32(value);
    } else if (!list.skip_field(tag, kMaxNesting - 4)) {
      return false;
    }
  }
  return true;
}

bool read_bytes_protobuf(Wire list, ListWriter& writer) noexcept {
  std::uint32_t tag = 0;
  while (!list.at_end()) {
    if (!list.read_tag(tag)) return false;
    if (tag == delimited_tag(1)) {
      Bytes content;
      if (!list.read_message(content)) return false;
      writer.add_bytes(content);
    } else if (!list.skip_field(tag, kMaxNesting - 4)) {
      return false;
    }
  }
  return true;
}

bool read_feature_protobuf(Wire feature, Kind& kind, ListWriter& writer) noexcept {
  std::uint32_t tag = 0;
  while (!feature.at_end()) {
    if (!feature.read_tag(tag)) return false;
    if (tag != delimited_tag(1) && tag != delimited_tag(2) && tag != delimited_tag(3)) {
      if (!feature.skip_field(tag, kMaxNesting - 3)) return false;
      continue;
    }
    Bytes list;
    if (!feature.read_message(list)) return false;
    const auto found = static_cast<Kind>(tag >> 3);
    if (found != kind) writer.restart();
    kind = found;
    const bool good = found == Kind::kBytes   ? read_bytes_protobuf(Wire(list), writer)
                      : found == Kind::kFloat ? read_float_protobuf(Wire(list), writer)
                                              : read_int64_protobuf(Wire(list), writer);
    if (!good) return false;
  }
  return true;
}

}  // namespace

ExampleFailure read_list_tensorflow(const ExampleSlot& slot, Bytes entry, CopyArena& arena,
                                    CheckedList& list) noexcept {
  const auto found = static_cast<Kind>(std::to_integer<unsigned>(entry[0]) >> 3);
  if (found != slot.kind) return failed(ParseCode::kWrongKind, found);
  Wire feature(entry.subspan(1));
  std::uint32_t length = 0;
  if (!feature.read_length32(length)) return failed(ParseCode::kMalformedList, found);
  const Wire values = feature.limit(length);
  ListWriter writer(arena);
  const bool good = found == Kind::kBytes   ? read_bytes_tensorflow(slot, values, writer, list)
                    : found == Kind::kFloat ? read_float_tensorflow(slot, values, writer, list)
                                            : read_int64_tensorflow(values, writer, list);
  if (!good) return failed(ParseCode::kMalformedList, found);
  return check_count(slot, list.count);
}

ExampleFailure read_list_protobuf(const ExampleSlot& slot, Bytes entry, CopyArena& arena,
                                  CheckedList& list) noexcept {
  Wire fields(entry);
  ListWriter writer(arena);
  Kind kind = Kind::kUnset;
  std::uint32_t tag = 0;
  while (!fields.at_end()) {
    Bytes feature;
    bool good = fields.read_tag(tag);
    if (good && tag != delimited_tag(2)) {
      good = fields.skip_field(tag, kMaxNesting - 2);
    } else if (good) {
      good = fields.read_message(feature) && read_feature_protobuf(Wire(feature), kind, writer);
    }
    if (!good) return failed(ParseCode::kMalformedList, kind);
  }
  if (kind != slot.kind) return failed(ParseCode::kWrongKind, kind);
  list = writer.list(kind);
  return check_count(slot, list.count);
}

}  // namespace tfrkit
