// SequenceExamples as protobuf reads them: whatever comes several times is merged, the last kind of
// a Feature and the last entry of a key win, unknown fields are passed over.
//
// To merge a message is to read its parts one after the other, so a value is kept as its parts.
#include "core/bytes/wire.h"
#include "core/sequences/sequence_canonical.h"

namespace tfrkit {
namespace {

using Parts = std::vector<Bytes>;

// How deep groups may be nested in the messages on the way to a value; each takes one level.
constexpr std::size_t kInMap = kMaxNesting - 1;
constexpr std::size_t kInEntry = kMaxNesting - 2;
constexpr std::size_t kInValue = kMaxNesting - 3;  // a Feature of the context, or a FeatureList
constexpr std::size_t kInStep = kMaxNesting - 4;   // a Feature of a list

// The value of a feature or of a feature list in one record.
struct FoundParts {
  bool present = false;
  Parts parts;
};

// Reads a map entry: the last key, and all parts of the value.
bool read_entry(Bytes entry, Bytes& key, Parts& parts) {
  Wire wire(entry);
  key = {};
  parts.clear();
  while (!wire.at_end()) {
    std::uint32_t tag = 0;
    if (!wire.read_tag(tag)) return false;
    if (tag == delimited_tag(1)) {
      if (!wire.read_message(key)) return false;
    } else if (tag == delimited_tag(2)) {
      if (!wire.read_message(parts.emplace_back())) return false;
    } else if (!wire.skip_field(tag, kInEntry)) {
      return false;
    }
  }
  return true;
}

// Finds the entries of one map; the last of a key replaces the others.
bool find_entries(const SequencePlan& plan, bool lists, Bytes map, std::span<FoundParts> found) {
  Wire wire(map);
  Bytes key;
  Parts parts;
  while (!wire.at_end()) {
    std::uint32_t tag = 0;
    Bytes entry;
    if (!wire.read_tag(tag)) return false;
    if (tag != delimited_tag(1)) {
      if (!wire.skip_field(tag, kInMap)) return false;
      continue;
    }
    if (!wire.read_message(entry) || !read_entry(entry, key, parts)) return false;
    const int slot = lists ? plan.find_list(key) : plan.find_context(key);
    if (slot >= 0) found[static_cast<std::size_t>(slot)] = {true, parts};
  }
  return true;
}

// Finds the value of every slot; false if the record is not a SequenceExample.
bool find_parts(const SequencePlan& plan, Bytes record, std::span<FoundParts> found) {
  for (FoundParts& value : found) value = {};
  if (record.size() > kMaxLength) return false;
  Wire wire(record);
  while (!wire.at_end()) {
    std::uint32_t tag = 0;
    Bytes map;
    if (!wire.read_tag(tag)) return false;
    if (tag != delimited_tag(1) && tag != delimited_tag(2)) {
      if (!wire.skip_field(tag)) return false;
    } else if (!wire.read_message(map) ||
               !find_entries(plan, tag == delimited_tag(2), map, found)) {
      return false;
    }
  }
  return true;
}

// A Feature: what its oneof holds after all parts were read.
struct FeatureReader {
  explicit FeatureReader(std::size_t nesting) noexcept : depth(nesting) {}

  std::size_t depth;  // for groups
  Kind kind = Kind::kUnset;
  ListValues values;

  void clear() noexcept {
    kind = Kind::kUnset;
    values.clear();
  }

  // Reads one part; false if it is damaged.
  bool read(Bytes part) {
    Wire wire(part);
    while (!wire.at_end()) {
      std::uint32_t tag = 0;
      if (!wire.read_tag(tag)) return false;
      if ((tag & 7) != 2 || tag >> 3 > 3) {
        if (!wire.skip_field(tag, depth)) return false;
        continue;
      }
      Bytes list;
      if (!wire.read_message(list)) return false;
      const auto found = static_cast<Kind>(tag >> 3);
      if (found != kind) values.clear();
      kind = found;
      if (!read_list(list)) return false;
    }
    return true;
  }

 private:
  bool read_list(Bytes list) {
    Wire wire(list);
    while (!wire.at_end()) {
      std::uint32_t tag = 0;
      if (!wire.read_tag(tag)) return false;
      if (!read_value(tag, wire)) return false;
    }
    return true;
  }

  // Reads one field of a list: a value, a packed run of them, or something unknown.
  bool read_value(std::uint32_t tag, Wire& wire) {
    if (tag == delimited_tag(1)) {
      Bytes bytes;
      if (!wire.read_message(bytes)) return false;
      if (kind != Kind::kBytes) return read_run(bytes);
      values.strings.push_back(bytes);
      return true;
    }
    if (kind == Kind::kFloat && tag == fixed32_tag(1)) {
      return wire.read_fixed32(values.floats.emplace_back());
    }
    if (kind == Kind::kInt64 && tag == varint_tag(1)) {
      return wire.read_varint(values.ints.emplace_back());
    }
    return wire.skip_field(tag, depth - 1);
  }

  bool read_run(Bytes bytes) {
    Wire run(bytes);
    while (!run.at_end()) {
      const bool good = kind == Kind::kFloat ? run.read_fixed32(values.floats.emplace_back())
                                             : run.read_varint(values.ints.emplace_back());
      if (!good) return false;
    }
    return true;
  }
};

// Reads the steps of a feature list and hands each to `take`, which returns false to stop. False if
// it was stopped or a step is damaged; `index` is then the number of that step.
template <typename Take>
bool read_steps(const Parts& parts, FeatureReader& reader, std::int64_t& index, const Take& take) {
  index = 0;
  for (const Bytes part : parts) {
    Wire wire(part);
    while (!wire.at_end()) {
      std::uint32_t tag = 0;
      Bytes step;
      if (!wire.read_tag(tag)) return false;
      if (tag != delimited_tag(1)) {
        if (!wire.skip_field(tag, kInValue)) return false;
        continue;
      }
      reader.clear();
      if (!wire.read_message(step) || !reader.read(step) || !take()) return false;
      ++index;
    }
  }
  return true;
}

bool read_feature(const Parts& parts, FeatureReader& reader) {
  reader.clear();
  for (const Bytes part : parts) {
    if (!reader.read(part)) return false;
  }
  return true;
}

SequenceFault diagnose_context(const ContextSlot& slot, const FoundParts& found, SequenceFault at) {
  FeatureReader reader(kInValue);
  if (!read_feature(found.parts, reader)) {
    at.code = SequenceCode::kMalformedContext;
    return at;
  }
  at.kind = reader.kind;
  at.count = reader.values.size();
  if (reader.kind == Kind::kUnset) {
    const bool missing = slot.count != kVariable && !slot.has_fallback;
    at.code = missing ? SequenceCode::kContextMissing : SequenceCode::kOk;
  } else if (reader.kind != slot.kind) {
    at.code = SequenceCode::kContextKind;
  } else if (slot.count != kVariable && at.count != slot.count) {
    at.code = SequenceCode::kContextCount;
  }
  return at;
}

SequenceFault diagnose_list(const ListSlot& slot, const FoundParts& found, SequenceFault at) {
  if (!found.present) {
    if (slot.count != kVariable && !slot.allow_missing) at.code = SequenceCode::kListMissing;
    return at;
  }
  FeatureReader reader(kInStep);
  SequenceCode code = SequenceCode::kMalformedList;
  const bool good = read_steps(found.parts, reader, at.index, [&] {
    at.kind = reader.kind;
    at.count = reader.values.size();
    if (reader.kind != slot.kind && reader.kind != Kind::kUnset) {
      code = SequenceCode::kListKind;
    } else if (slot.count != kVariable && at.count != slot.count) {
      code = SequenceCode::kStepCount;
    }
    return code == SequenceCode::kMalformedList;
  });
  if (!good) at.code = code;
  return at;
}

}  // namespace

bool rewrite_protobuf(const SequencePlan& plan, Bytes record, std::vector<std::byte>& out) {
  std::vector<FoundParts> found(plan.slots());
  if (!find_parts(plan, record, found)) return false;
  FeatureReader feature(kInValue);
  FeatureReader reader(kInStep);
  std::vector<std::byte> value;
  std::vector<std::byte> step;
  const std::size_t context = plan.context().size();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].present) continue;
    value.clear();
    if (i < context) {
      if (!read_feature(found[i].parts, feature)) return false;
      if (feature.kind == Kind::kUnset) continue;  // as if it were not there
      append_feature(value, feature.kind, feature.values);
      append_entry(out, false, plan.context()[i].key, value);
      continue;
    }
    std::int64_t index = 0;
    const bool good = read_steps(found[i].parts, reader, index, [&] {
      step.clear();
      append_feature(step, reader.kind, reader.values);
      append_field(value, delimited_tag(1), step);
      return true;
    });
    if (!good) return false;
    append_entry(out, true, plan.lists()[i - context].key, value);
  }
  return true;
}

SequenceFault diagnose_protobuf(const SequencePlan& plan, std::span<const Bytes> records) {
  std::vector<FoundParts> found(plan.slots());
  const std::size_t context = plan.context().size();
  for (std::size_t row = 0; row < records.size(); ++row) {
    SequenceFault at;
    at.row = static_cast<std::int64_t>(row);
    if (!find_parts(plan, records[row], found)) {
      at.code = SequenceCode::kMalformedSequence;
      return at;
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      at.slot = static_cast<std::int64_t>(i < context ? i : i - context);
      const SequenceFault fault = i < context
                                      ? diagnose_context(plan.context()[i], found[i], at)
                                      : diagnose_list(plan.lists()[i - context], found[i], at);
      if (fault.code != SequenceCode::kOk) return fault;
    }
  }
  return {};
}

}  // namespace tfrkit
