// SequenceExamples as TensorFlow's parser reads them, case by case.
//
// It first finds the serialized value of every wanted feature in all records, then counts the
// values, then reads them. Counting and reading differ in one point, on which some of its messages
// hang: a string that claims more bytes than there are is counted, but cannot be read. (Where that
// makes it write outside its memory, it is reported here as for ragged features.)
#include <algorithm>

#include "core/bytes/wire.h"
#include "core/sequences/sequence_canonical.h"

namespace tfrkit {
namespace {

// The value of a feature or of a feature list in one record.
struct FoundValue {
  bool present = false;
  Bytes value;
};

// Finds the entries of one map; the last of a key counts.
bool find_entries(const SequencePlan& plan, bool lists, Wire& map, std::span<FoundValue> found) {
  while (!map.at_end()) {
    std::uint32_t length = 0;
    if (!map.expect(delimited_tag(1)) || !map.read_length32(length)) return false;
    Wire entry = map.limit(length);
    Bytes key;
    Bytes value;
    if (!entry.expect(delimited_tag(1)) || !entry.read_string32(key) ||
        !entry.expect(delimited_tag(2)) || !entry.read_string32(value) || !entry.at_end()) {
      return false;
    }
    map.move_to(entry.position());
    const int slot = lists ? plan.find_list(key) : plan.find_context(key);
    if (slot >= 0) found[static_cast<std::size_t>(slot)] = {true, value};
  }
  return true;
}

// Finds the value of every slot; false if the record is not a SequenceExample.
bool find_values(const SequencePlan& plan, Bytes record, std::span<FoundValue> found) {
  std::fill(found.begin(), found.end(), FoundValue{});
  if (record.size() > kMaxLength) return false;
  Wire wire(record);
  while (!wire.at_end()) {
    const bool context = wire.expect(delimited_tag(1));
    if (!context && !wire.expect(delimited_tag(2))) {
      if (!wire.skip_extraneous()) return false;
      continue;
    }
    std::uint32_t length = 0;
    if (!wire.read_length32(length)) return false;
    Wire map = wire.limit(length);
    if (!find_entries(plan, !context, map, found)) return false;
    wire.move_to(map.position());
  }
  return true;
}

// Reads lists, one after the other; `readable` stays false once a string was cut.
struct ListReader {
  ListValues values;  // of the last list
  std::int64_t count = 0;
  bool readable = true;

  // Reads a list of `kind` with its tag. False: another kind, or damaged. Behind a packed run the
  // rest of the list stays unread in `wire`.
  bool read(Kind kind, Wire& wire) {
    values.clear();
    count = 0;
    std::uint32_t length = 0;
    if (!wire.expect(delimited_tag(static_cast<unsigned>(kind))) || !wire.read_length32(length)) {
      return false;
    }
    if (length == 0) return true;
    Wire list = wire.limit(length);
    const bool good = kind == Kind::kBytes ? read_strings(list) : read_numbers(kind, list);
    wire.move_to(list.position());
    return good;
  }

 private:
  bool read_strings(Wire& list) {
    while (!list.at_end()) {
      std::uint32_t length = 0;
      if (!list.expect(delimited_tag(1)) || !list.read_length32(length)) return false;
      Bytes string;
      ++count;
      if (length > list.left()) {  // a length over 31 bits skips nothing
        readable = false;
        if (length <= kMaxLength) list.move_to(list.position() + list.left());
      } else if (list.read_bytes(length, string)) {
        values.strings.push_back(string);
      }
    }
    return true;
  }

  bool read_numbers(Kind kind, Wire& list) {
    const std::uint8_t unpacked = kind == Kind::kFloat ? fixed32_tag(1) : varint_tag(1);
    if (list.peek() == unpacked) {
      while (!list.at_end()) {
        if (!list.expect(unpacked) || !read_number(kind, list)) return false;
      }
      return true;
    }
    std::uint32_t length = 0;
    if (!list.expect(delimited_tag(1)) || !list.read_length32(length)) return false;
    Wire run = list.limit(length);
    while (!run.at_end()) {
      if (!read_number(kind, run)) return false;
    }
    list.move_to(run.position());
    return true;
  }

  bool read_number(Kind kind, Wire& wire) {
    ++count;
    if (kind == Kind::kFloat) return wire.read_fixed32(values.floats.emplace_back());
    return wire.read_varint(values.ints.emplace_back());
  }
};

// Returns the kind that the first byte of a Feature names.
Kind first_kind(Wire wire) noexcept {
  switch (wire.peek()) {
    case delimited_tag(1):
      return Kind::kBytes;
    case delimited_tag(2):
      return Kind::kFloat;
    case delimited_tag(3):
      return Kind::kInt64;
    default:
      return Kind::kUnset;
  }
}

// Reads one step at a time of a feature list.
struct StepReader {
  explicit StepReader(Bytes value) noexcept : wire(value) {}

  Wire wire;
  ListReader list;
  Kind found = Kind::kUnset;

  // Reads the next step; kOk, kMalformedList or kListKind. What a step leaves unread of its bytes
  // is taken for the next step, as in TensorFlow.
  SequenceCode next(Kind kind) {
    list.values.clear();
    list.count = 0;
    std::uint32_t length = 0;
    if (!wire.expect(delimited_tag(1)) || !wire.read_length32(length)) {
      return SequenceCode::kMalformedList;
    }
    if (length == 0) return SequenceCode::kOk;
    if (length == 1) return SequenceCode::kMalformedList;
    found = first_kind(wire);
    if (length > 2) {
      Wire step = wire.limit(length);
      const bool good = list.read(kind, step);
      wire.move_to(step.position());
      return good ? SequenceCode::kOk : SequenceCode::kListKind;
    }
    std::uint32_t empty = 0;
    const bool good = wire.expect(delimited_tag(static_cast<unsigned>(kind))) &&
                      wire.read_length32(empty) && empty == 0;
    return good ? SequenceCode::kOk : SequenceCode::kListKind;
  }
};

// Appends the canonical form of a feature list.
bool rewrite_list(Kind kind, Bytes value, std::vector<std::byte>& out) {
  std::vector<std::byte> feature;
  StepReader reader(value);
  while (!reader.wire.at_end()) {
    if (reader.next(kind) != SequenceCode::kOk) return false;
    feature.clear();
    append_feature(feature, kind, reader.list.values);
    append_field(out, delimited_tag(1), feature);
  }
  return reader.list.readable;
}

// Appends the canonical form of a context feature; one that is empty has no values.
bool rewrite_context(Kind kind, Bytes value, std::vector<std::byte>& out) {
  ListReader reader;
  Wire wire(value);
  if (!value.empty() && (!reader.read(kind, wire) || !reader.readable)) return false;
  append_feature(out, kind, reader.values);
  return true;
}

// What is remembered of one slot while a batch is looked through: faults of its kind, then of its
// counts; of each the first.
struct SlotDiagnosis {
  SequenceFault kind;
  SequenceFault counts;
  std::int64_t maximum = 0;       // the most values in a record
  std::int64_t maximum_row = -1;  // the first record with that many
  bool unreadable = false;
  std::int64_t unreadable_row = -1;

  void see(std::int64_t row, std::int64_t count, bool readable) noexcept {
    if (count > maximum || maximum_row < 0) {
      maximum = count;
      maximum_row = row;
    }
    if (!readable && !unreadable) {
      unreadable = true;
      unreadable_row = row;
    }
  }
};

void keep_first(SequenceFault& kept, const SequenceFault& fault) noexcept {
  if (kept.code == SequenceCode::kOk) kept = fault;
}

void diagnose_context(const ContextSlot& slot, const FoundValue& found, SequenceFault at,
                      SlotDiagnosis& diagnosis) {
  ListReader reader;
  if (!found.value.empty()) {
    Wire wire(found.value);
    at.kind = first_kind(wire);
    if (!reader.read(slot.kind, wire)) {
      at.code = SequenceCode::kContextKind;
      return keep_first(diagnosis.kind, at);
    }
    diagnosis.see(at.row, reader.count, reader.readable);
  }
  at.count = reader.count;
  if (!found.present) {
    if (slot.has_fallback) return;
    at.code = SequenceCode::kContextMissing;
    keep_first(diagnosis.counts, at);
  } else if (reader.count != slot.count || !reader.readable) {
    at.code = SequenceCode::kContextCount;
    keep_first(diagnosis.counts, at);
  }
}

void diagnose_list(const ListSlot& slot, const FoundValue& found, SequenceFault at,
                   SlotDiagnosis& diagnosis) {
  if (!found.present && !slot.allow_missing) {
    at.code = SequenceCode::kListMissing;
    keep_first(diagnosis.counts, at);
  }
  if (found.value.empty()) return;
  StepReader reader(found.value);
  std::int64_t total = 0;
  for (at.index = 0; !reader.wire.at_end(); ++at.index) {
    const bool before = reader.list.readable;
    at.count = -1;
    at.code = reader.next(slot.kind);
    at.kind = reader.found;
    if (at.code != SequenceCode::kOk) return keep_first(diagnosis.kind, at);
    total += reader.list.count;
    at.count = reader.list.count;
    const bool cut = before && !reader.list.readable;
    if (cut || reader.list.count != slot.count) {
      at.code = cut ? SequenceCode::kMalformedList : SequenceCode::kStepCount;
      keep_first(diagnosis.counts, at);
    }
  }
  diagnosis.see(at.row, total, reader.list.readable);
}

// Chooses between the faults of the counts of a context feature.
SequenceFault judge_context(const ContextSlot& slot, const SlotDiagnosis& diagnosis,
                            std::int64_t number) noexcept {
  if (slot.count == kVariable) {
    if (!diagnosis.unreadable) return {};
    return {SequenceCode::kContextTotal, diagnosis.unreadable_row, number, -1, -1, slot.kind};
  }
  const std::int64_t most = std::max(diagnosis.maximum, slot.has_fallback ? slot.count : 0);
  if (most == slot.count) return diagnosis.counts;
  const std::int64_t row = diagnosis.maximum_row < 0 ? diagnosis.counts.row : diagnosis.maximum_row;
  return {SequenceCode::kContextMaximum, row, number, -1, most, slot.kind};
}

// The same of a feature list.
SequenceFault judge_list(const ListSlot& slot, const SlotDiagnosis& diagnosis,
                         std::int64_t number) noexcept {
  if (slot.count == kVariable) {
    if (!diagnosis.unreadable) return {};
    return {SequenceCode::kListElements, diagnosis.unreadable_row, number, -1, -1, slot.kind};
  }
  if (slot.count == 0 || diagnosis.maximum % slot.count == 0) return diagnosis.counts;
  return {
      SequenceCode::kListTotal, diagnosis.maximum_row, number, -1, diagnosis.maximum, slot.kind};
}

// Returns the first fault in TensorFlow's order: kinds of context and lists, then counts; of both
// parts the features with a fixed count before the variable ones.
SequenceFault judge(const SequencePlan& plan, std::span<const SlotDiagnosis> diagnoses) noexcept {
  for (const SlotDiagnosis& diagnosis : diagnoses) {
    if (diagnosis.kind.code != SequenceCode::kOk) return diagnosis.kind;
  }
  const std::size_t size = plan.context().size();
  for (const bool variable : {false, true}) {
    for (std::size_t i = 0; i < size; ++i) {
      const ContextSlot& slot = plan.context()[i];
      if ((slot.count == kVariable) != variable) continue;
      const auto fault = judge_context(slot, diagnoses[i], static_cast<std::int64_t>(i));
      if (fault.code != SequenceCode::kOk) return fault;
    }
  }
  for (const bool variable : {false, true}) {
    for (std::size_t i = 0; i < plan.lists().size(); ++i) {
      const ListSlot& slot = plan.lists()[i];
      if ((slot.count == kVariable) != variable) continue;
      const auto fault = judge_list(slot, diagnoses[size + i], static_cast<std::int64_t>(i));
      if (fault.code != SequenceCode::kOk) return fault;
    }
  }
  return {};
}

}  // namespace

bool rewrite_tensorflow(const SequencePlan& plan, Bytes record, std::vector<std::byte>& out) {
  std::vector<FoundValue> found(plan.slots());
  if (!find_values(plan, record, found)) return false;
  std::vector<std::byte> value;
  const std::size_t context = plan.context().size();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].present) continue;
    value.clear();
    const bool list = i >= context;
    const bool good = list ? rewrite_list(plan.lists()[i - context].kind, found[i].value, value)
                           : rewrite_context(plan.context()[i].kind, found[i].value, value);
    if (!good) return false;
    append_entry(out, list, list ? plan.lists()[i - context].key : plan.context()[i].key, value);
  }
  return true;
}

SequenceFault diagnose_tensorflow(const SequencePlan& plan, std::span<const Bytes> records) {
  std::vector<FoundValue> found(plan.slots());
  for (std::size_t row = 0; row < records.size(); ++row) {
    if (!find_values(plan, records[row], found)) {
      return {SequenceCode::kMalformedSequence,
              static_cast<std::int64_t>(row),
              -1,
              -1,
              -1,
              Kind::kUnset};
    }
  }
  std::vector<SlotDiagnosis> diagnoses(plan.slots());
  const std::size_t context = plan.context().size();
  for (std::size_t row = 0; row < records.size(); ++row) {
    if (!find_values(plan, records[row], found)) continue;
    for (std::size_t i = 0; i < found.size(); ++i) {
      SequenceFault at;
      at.row = static_cast<std::int64_t>(row);
      at.slot = static_cast<std::int64_t>(i >= context ? i - context : i);
      if (i >= context) {
        diagnose_list(plan.lists()[i - context], found[i], at, diagnoses[i]);
      } else {
        diagnose_context(plan.context()[i], found[i], at, diagnoses[i]);
      }
    }
  }
  return judge(plan, diagnoses);
}

}  // namespace tfrkit
