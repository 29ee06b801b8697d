#include "core/messages/parse_proto.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "core/bytes/utf8.h"
#include "core/bytes/varint.h"
#include "core/bytes/wire.h"

namespace tfrkit {
namespace {

constexpr std::size_t kFirstBytes = 64;  // of memory that grows

constexpr WireType wire_type_of(ProtoKind kind) noexcept {
  switch (kind) {
    case ProtoKind::kFixed32:
      return WireType::kFixed32;
    case ProtoKind::kFixed64:
      return WireType::kFixed64;
    case ProtoKind::kBytes:
      return WireType::kDelimited;
    case ProtoKind::kGroup:
      return WireType::kGroup;
    default:
      return WireType::kVarint;
  }
}

// Returns the bits of the value that a varint stands for.
constexpr std::uint64_t value_of(ProtoKind kind, std::uint64_t varint) noexcept {
  switch (kind) {
    case ProtoKind::kBool:
      return varint != 0 ? 1 : 0;
    case ProtoKind::kZigzag64:
      return (varint >> 1) ^ (~(varint & 1) + 1);
    case ProtoKind::kZigzag32: {
      const auto low = static_cast<std::uint32_t>(varint);
      return (low >> 1) ^ (~(low & 1) + 1);
    }
    default:
      return varint;
  }
}

// Writes the low bytes of `bits` as a number in memory.
void store_number(std::byte* target, std::size_t width, std::uint64_t bits) noexcept {
  if (width == sizeof(std::uint64_t)) {
    std::memcpy(target, &bits, sizeof(bits));
  } else if (width == sizeof(std::uint32_t)) {
    const auto low = static_cast<std::uint32_t>(bits);
    std::memcpy(target, &low, sizeof(low));
  } else {
    *target = static_cast<std::byte>(bits & 0xff);
  }
}

void store_reference(std::byte* target, Bytes reference) noexcept {
  std::memcpy(target, &reference, sizeof(Bytes));
}

void store_default(std::byte* target, const ProtoSlot& slot) noexcept {
  if (is_bytes(slot.kind)) {
    store_reference(target, slot.default_bytes);
  } else {
    store_number(target, width_of(slot.kind), slot.default_bits);
  }
}

}  // namespace

void ValueMemory::grow(std::size_t size) {
  if (size > SIZE_MAX / 4 - size_) throw std::bad_alloc();
  const std::size_t wanted = std::max({kFirstBytes, 2 * capacity_, size_ + size});
  auto larger = std::make_unique_for_overwrite<std::byte[]>(wanted);
  if (size_ != 0) std::memcpy(larger.get(), memory_.get(), size_);
  memory_ = std::move(larger);
  capacity_ = wanted;
}

ProtoChunk::ProtoChunk(const ProtoPlan& plan)
    : columns_(plan.slots().size()), scopes_(plan.scopes().size()) {
  for (std::size_t slot = 0; slot < columns_.size(); ++slot) {
    if (plan.slots()[slot].repeated) columns_[slot].splits.push_back(0);
  }
  for (std::size_t scope = 1; scope < scopes_.size(); ++scope) scopes_[scope].splits.push_back(0);
}

// Reads the records of a chunk. Its functions return false for a fault, and throw std::bad_alloc.
class ProtoReader {
 public:
  ProtoReader(const ProtoPlan& plan, std::span<std::byte* const> direct, ProtoChunk& chunk) noexcept
      : plan_(plan), direct_(direct), chunk_(chunk) {}

  [[nodiscard]] const ProtoFailure& failure() const noexcept { return failure_; }

  // Writes the defaults of rows [first, last) where slots are direct.
  void begin(std::size_t first, std::size_t last) noexcept {
    for (const std::uint32_t slot : plan_.scopes()[0].singles) {
      const std::size_t width = width_of(plan_.slots()[slot].kind);
      for (std::size_t row = first; row < last; ++row) {
        store_default(direct_[slot] + row * width, plan_.slots()[slot]);
      }
    }
  }

  [[nodiscard]] bool read_record(Bytes record, std::size_t row) {
    record_ = record.data();
    row_ = row;
    if (!read_message(record, 0, kNoIndex, 0)) {
      failure_.row = row;
      return false;
    }
    end_entry(0);
    return true;
  }

 private:
  // The fields of a message, which field `holder` holds.
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the plan, kMaxProtoDepth
  [[nodiscard]] bool read_message(Bytes message, std::size_t node, std::int32_t holder,
                                  std::size_t depth) {
    Wire wire(message);
    while (!wire.at_end()) {
      const std::byte* const begin = wire.position();
      std::uint32_t tag = 0;
      if (!wire.read_tag(tag)) return fail(ProtoCode::kMalformed, holder, begin);
      const std::int32_t found = plan_.find(node, tag >> 3);
      if (found == kNoIndex) {
        if (!wire.skip_field(tag, kMaxNesting - depth)) {
          return fail(ProtoCode::kMalformed, holder, begin);
        }
      } else if (!read_field(wire, tag, found, depth)) {
        return fail(ProtoCode::kMalformed, found, begin);
      }
    }
    return true;
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  [[nodiscard]] bool read_field(Wire& wire, std::uint32_t tag, std::int32_t index,
                                std::size_t depth) {
    const ProtoField& field = plan_.fields()[static_cast<std::size_t>(index)];
    const auto type = static_cast<WireType>(tag & 7);
    if (type != wire_type_of(field.kind)) {
      if (type == WireType::kDelimited && field.packable) return read_run(wire, field);
      note_mismatch(index);
      return wire.skip_field(tag, kMaxNesting - depth);
    }
    Bytes content;
    switch (field.kind) {
      case ProtoKind::kBytes:
        return wire.read_message(content) && take_bytes(field, index, content, depth);
      case ProtoKind::kGroup:
        return wire.read_group(field.number, kMaxNesting - depth, content) &&
               take_bytes(field, index, content, depth);
      default:
        return read_number(wire, field);
    }
  }

  [[nodiscard]] bool read_number(Wire& wire, const ProtoField& field) {
    std::uint64_t bits = 0;
    Bytes fixed;
    switch (wire_type_of(field.kind)) {
      case WireType::kFixed32:
        if (!wire.read_bytes(sizeof(std::uint32_t), fixed)) return false;
        bits = load_le<std::uint32_t>(fixed.data());
        break;
      case WireType::kFixed64:
        if (!wire.read_bytes(sizeof(std::uint64_t), fixed)) return false;
        bits = load_le<std::uint64_t>(fixed.data());
        break;
      default:
        if (!wire.read_varint(bits)) return false;
        bits = value_of(field.kind, bits);
    }
    if (field.closed && !is_known(field, bits)) return true;
    if (field.oneof != kNoIndex) set_member(field);
    if (field.slot == kNoIndex) return true;
    store_number(place_of(field), width_of(field.kind), bits);
    return true;
  }

  // A run of packed numbers.
  [[nodiscard]] bool read_run(Wire& wire, const ProtoField& field) {
    Bytes run;
    if (!wire.read_message(run)) return false;
    return wire_type_of(field.kind) == WireType::kVarint ? read_varints(field, run)
                                                         : read_fixed(field, run);
  }

  [[nodiscard]] bool read_varints(const ProtoField& field, Bytes run) {
    const VarintRun found = count_varints(run);
    if (!found.good) return false;
    if (field.slot == kNoIndex) return true;
    ValueMemory& values = column_of(field).values;
    chunk_.run_.resize(found.count);
    decode_varints(run, chunk_.run_);
    if (field.closed) {
      std::erase_if(chunk_.run_, [&](std::int64_t value) {
        return !is_known(field, static_cast<std::uint64_t>(value));
      });
    }
    const std::size_t width = width_of(field.kind);
    std::byte* target = values.extend(chunk_.run_.size() * width);
    if (field.kind == ProtoKind::kVarint64) {
      if (!run.empty()) std::memcpy(target, chunk_.run_.data(), chunk_.run_.size() * width);
      return true;
    }
    for (const std::int64_t value : chunk_.run_) {
      store_number(target, width, value_of(field.kind, static_cast<std::uint64_t>(value)));
      target += width;
    }
    return true;
  }

  [[nodiscard]] bool read_fixed(const ProtoField& field, Bytes run) {
    const std::size_t width = width_of(field.kind);
    if (run.size() % width != 0) return false;
    if (field.slot == kNoIndex || run.empty()) return true;
    std::byte* target = column_of(field).values.extend(run.size());
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(target, run.data(), run.size());
    } else {
      for (std::size_t at = 0; at < run.size(); at += width) {
        const std::byte* const source = run.data() + at;
        const bool is_long = width == sizeof(std::uint64_t);
        store_number(target + at, width,
                     is_long ? load_le<std::uint64_t>(source) : load_le<std::uint32_t>(source));
      }
    }
    return true;
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  [[nodiscard]] bool take_bytes(const ProtoField& field, std::int32_t index, Bytes content,
                                std::size_t depth) {
    if (field.utf8 && !is_utf8(content)) return fail(ProtoCode::kNotUtf8, index, content.data());
    if (field.oneof != kNoIndex) set_member(field);
    if (field.slot != kNoIndex) {
      std::byte* const place = place_of(field);
      store_reference(place, field.merged ? joined(field, place, content) : content);
    }
    if (field.child == kNoIndex) return true;
    const auto child = static_cast<std::size_t>(field.child);
    if (!field.repeated) return read_message(content, child, index, depth + 1);
    const std::uint32_t scope = plan_.scope_of_node(child);
    begin_entry(scope);
    if (!read_message(content, child, index, depth + 1)) return false;
    end_entry(scope);
    return true;
  }

  // Returns all of a message that comes in several parts. The parts before grow in one piece of
  // memory, so that any number of them takes linear time.
  [[nodiscard]] Bytes joined(const ProtoField& field, const std::byte* place, Bytes content) {
    const Bytes before = load_reference(place, 0);
    if (before.empty()) return content;
    if (content.empty()) return before;
    ProtoChunk::Column& column = column_of(field);
    const std::size_t entry = entry_of(field) + 1;
    if (column.joined_entry != entry) {
      column.joined.emplace_back(before.begin(), before.end());
      column.joined_entry = entry;
    }
    std::vector<std::byte>& whole = column.joined.back();
    whole.insert(whole.end(), content.begin(), content.end());
    return whole;
  }

  // Sets the member of a oneof; values of the one before are forgotten.
  void set_member(const ProtoField& field) noexcept {
    const auto slot = static_cast<std::size_t>(field.oneof);
    std::byte* const place = entry_place(slot);
    std::uint32_t before = 0;
    std::memcpy(&before, place, sizeof(before));
    if (before == field.number) return;
    store_number(place, sizeof(before), field.number);
    const std::int32_t other = before == 0 ? kNoIndex : plan_.find(field.node, before);
    if (other != kNoIndex) forget(plan_.below(static_cast<std::size_t>(other)));
  }

  void forget(const ProtoPlan::Below& below) noexcept {
    for (const std::uint32_t slot : below.slots) {
      const ProtoSlot& there = plan_.slots()[slot];
      ProtoChunk::Column& column = chunk_.columns_[slot];
      column.joined_entry = 0;
      if (there.repeated) {
        cut_list(slot);
      } else {
        store_default(entry_place(slot), there);
      }
    }
    for (const std::uint32_t scope : below.scopes) {
      cut_scope(scope, static_cast<std::size_t>(chunk_.scopes_[scope].splits.back()));
    }
  }

  // Drops values of a list after those of whole entries.
  void cut_list(std::uint32_t slot) noexcept {
    ProtoChunk::Column& column = chunk_.columns_[slot];
    column.values.cut(static_cast<std::size_t>(column.splits.back()) *
                      width_of(plan_.slots()[slot].kind));
  }

  // Drops the entries of a scope after the first `count`.
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the plan
  void cut_scope(std::uint32_t scope, std::size_t count) noexcept {
    chunk_.scopes_[scope].count = count;
    const ProtoPlan::Scope& there = plan_.scopes()[scope];
    for (const std::uint32_t slot : there.singles) {
      chunk_.columns_[slot].joined_entry = 0;
      chunk_.columns_[slot].values.cut(count * width_of(plan_.slots()[slot].kind));
    }
    for (const std::uint32_t slot : there.lists) {
      chunk_.columns_[slot].splits.resize(count + 1);
      cut_list(slot);
    }
    for (const std::uint32_t inner : there.scopes) {
      std::vector<std::int64_t>& splits = chunk_.scopes_[inner].splits;
      splits.resize(count + 1);
      cut_scope(inner, static_cast<std::size_t>(splits.back()));
    }
  }

  void begin_entry(std::uint32_t scope) {
    ++chunk_.scopes_[scope].count;
    for (const std::uint32_t slot : plan_.scopes()[scope].singles) {
      const ProtoSlot& there = plan_.slots()[slot];
      store_default(chunk_.columns_[slot].values.extend(width_of(there.kind)), there);
    }
  }

  void end_entry(std::uint32_t scope) {
    const ProtoPlan::Scope& there = plan_.scopes()[scope];
    for (const std::uint32_t slot : there.lists) {
      ProtoChunk::Column& column = chunk_.columns_[slot];
      const std::size_t values = column.values.size() / width_of(plan_.slots()[slot].kind);
      column.splits.push_back(static_cast<std::int64_t>(values));
    }
    for (const std::uint32_t inner : there.scopes) {
      ProtoChunk::Scope& below = chunk_.scopes_[inner];
      below.splits.push_back(static_cast<std::int64_t>(below.count));
    }
  }

  [[nodiscard]] ProtoChunk::Column& column_of(const ProtoField& field) const noexcept {
    return chunk_.columns_[static_cast<std::size_t>(field.slot)];
  }

  [[nodiscard]] std::size_t entry_of(const ProtoField& field) const noexcept {
    const std::uint32_t scope = plan_.scope_of_node(field.node);
    return scope == 0 ? row_ : chunk_.scopes_[scope].count - 1;
  }

  // Returns where the value of a singular slot is for the entry that is being read.
  [[nodiscard]] std::byte* entry_place(std::size_t slot) const noexcept {
    const std::size_t width = width_of(plan_.slots()[slot].kind);
    if (direct_[slot] != nullptr) return direct_[slot] + row_ * width;
    const std::span<std::byte> values = chunk_.columns_[slot].values.bytes();
    return values.data() + (values.size() - width);
  }

  // Returns where the next value of a field is written: a new place in a list.
  [[nodiscard]] std::byte* place_of(const ProtoField& field) {
    if (field.repeated) return column_of(field).values.extend(width_of(field.kind));
    return entry_place(static_cast<std::size_t>(field.slot));
  }

  [[nodiscard]] static bool is_known(const ProtoField& field, std::uint64_t bits) noexcept {
    return std::ranges::binary_search(field.enum_numbers, static_cast<std::int32_t>(bits));
  }

  void note_mismatch(std::int32_t field) noexcept {
    ProtoMismatch& mismatch = chunk_.mismatch_;
    if (mismatch.count++ != 0) return;
    mismatch.field = field;
    mismatch.row = row_;
  }

  // The innermost fault counts.
  [[nodiscard]] bool fail(ProtoCode code, std::int32_t field, const std::byte* at) noexcept {
    if (failure_.code != ProtoCode::kOk) return false;
    failure_.code = code;
    failure_.field = field;
    failure_.offset = static_cast<std::size_t>(at - record_);
    return false;
  }

  const ProtoPlan& plan_;
  std::span<std::byte* const> direct_;
  ProtoChunk& chunk_;
  const std::byte* record_ = nullptr;
  std::size_t row_ = 0;
  ProtoFailure failure_;
};

ProtoFailure parse_proto(const ProtoPlan& plan, std::span<const Bytes> records, std::size_t first,
                         std::size_t last, std::span<std::byte* const> direct,
                         ProtoChunk& chunk) noexcept {
  std::size_t row = first;
  try {
    ProtoReader reader(plan, direct, chunk);
    reader.begin(first, last);
    for (; row < last; ++row) {
      if (!reader.read_record(records[row], row)) return reader.failure();
    }
  } catch (...) {  // std::bad_alloc
    return {.code = ProtoCode::kNoMemory, .row = row};
  }
  return {};
}

std::size_t sum_references(const std::byte* references, std::size_t count) noexcept {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += load_reference(references, i).size();
  return sum;
}

void fill_references(const std::byte* references, std::size_t start, std::span<std::byte> data,
                     std::span<std::int64_t> ends) noexcept {
  std::size_t at = start;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Bytes value = load_reference(references, i);
    if (!value.empty()) std::memcpy(data.data() + at, value.data(), value.size());
    at += value.size();
    ends[i] = static_cast<std::int64_t>(at);
  }
}

}  // namespace tfrkit
