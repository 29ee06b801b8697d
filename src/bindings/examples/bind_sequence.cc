#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.h"
#include "bindings/arrays/buffer.h"
#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "bindings/frames/record_inputs.h"
#include "bindings/parallel.h"
#include "core/sequences/sequence.h"
#include "core/sequences/sequence_canonical.h"

namespace tfrkit {
namespace {

using FloatInput = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A chunk is what one thread takes at a time: in bytes, so that both passes find it in the cache.
constexpr std::size_t kChunkBytes = 256 << 10;
constexpr std::size_t kMinChunkRecords = 16;

[[noreturn]] void raise_value(const std::string& text) { throw nb::value_error(text.c_str()); }

Kind to_kind(int number) {
  if (number < 1 || number > 3) {
    raise_value("expected a kind from 1 to 3 but got " + std::to_string(number));
  }
  return static_cast<Kind>(number);
}

std::int64_t check_count(std::int64_t count) {
  if (count < kVariable) {
    raise_value("expected a count of at least -1 but got " + std::to_string(count));
  }
  return count;
}

// Returns the default of a slot as the value of a Feature.
std::vector<std::byte> to_fallback(Kind kind, std::int64_t count, nb::handle value) {
  ListValues values;
  if (kind == Kind::kInt64) {
    for (const std::int64_t entry : entries(nb::cast<Int64Input>(value))) {
      values.ints.push_back(static_cast<std::uint64_t>(entry));
    }
  } else if (kind == Kind::kFloat) {
    const auto array = nb::cast<FloatInput>(value);
    for (std::size_t i = 0; i < array.shape(0); ++i) {
      values.floats.push_back(std::bit_cast<std::uint32_t>(array.data()[i]));
    }
  } else {
    for (const nb::handle item : nb::cast<nb::sequence>(value)) {
      const auto string = nb::cast<nb::bytes>(item);
      values.strings.push_back(
          std::as_bytes(std::span(string.c_str(), string.size())));  // alive in `value`
    }
  }
  if (values.size() != count) {
    raise_value("expected a default of " + std::to_string(count) + " values but got " +
                std::to_string(values.size()));
  }
  std::vector<std::byte> fallback;
  append_feature(fallback, kind, values);
  return fallback;
}

ContextSlot to_context(nb::handle item) {
  const auto fields = nb::cast<nb::tuple>(item);
  if (fields.size() != 5) raise_value("expected (key, kind, count, stride, default)");
  ContextSlot slot;
  slot.key = nb::cast<std::string>(fields[0]);
  slot.kind = to_kind(nb::cast<int>(fields[1]));
  slot.count = check_count(nb::cast<std::int64_t>(fields[2]));
  if (nb::cast<std::int64_t>(fields[3]) > 1) raise_value("expected a stride of 1 in a context");
  if (!fields[4].is_none()) {
    slot.fallback = to_fallback(slot.kind, slot.count, fields[4]);
    slot.has_fallback = slot.count > 0;  // an empty default counts as none
  }
  return slot;
}

ListSlot to_list(nb::handle item) {
  const auto fields = nb::cast<nb::tuple>(item);
  if (fields.size() != 4) raise_value("expected (key, kind, count, allow_missing)");
  return {nb::cast<std::string>(fields[0]), to_kind(nb::cast<int>(fields[1])),
          check_count(nb::cast<std::int64_t>(fields[2])), nb::cast<bool>(fields[3])};
}

template <typename Slot, typename Convert>
std::vector<Slot> to_slots(const nb::sequence& items, const Convert& convert) {
  std::vector<Slot> slots;
  std::set<std::string> keys;
  for (const nb::handle item : items) {
    try {
      slots.push_back(convert(item));
    } catch (const std::bad_cast&) {
      throw nb::type_error("expected tuples of a key, numbers, and a default of the slot's kind");
    }
    if (!keys.insert(slots.back().key).second) {
      raise_value("expected every key once but got '" + slots.back().key + "' twice");
    }
  }
  return slots;
}

void make_plan(SequencePlan* self, const nb::sequence& context, const nb::sequence& lists) {
  new (self)
      SequencePlan(to_slots<ContextSlot>(context, to_context), to_slots<ListSlot>(lists, to_list));
}

// Pooled memory for `count` entries, at least one; not zeroed.
struct Memory {
  Buffer buffer;
  ArrayType type;
  std::size_t count;

  template <typename T>
  [[nodiscard]] T* data() const noexcept {
    return numbers_in<T>(buffer, count).data();
  }
};

Memory take_memory(ArrayType type, std::size_t size, std::int64_t count) {
  const auto entries = static_cast<std::size_t>(count);
  return {Buffer(std::max<std::size_t>(entries, 1) * size), type, entries};
}

// The arrays of one column, in the order in which Python gets them.
class Column {
 public:
  Column(Kind kind, bool variable, bool list, const SlotExtent& size, std::size_t rows) {
    if (kind == Kind::kBytes) {
      arrays_.data = add(ArrayType::kUint8, 1, size.bytes).data<std::byte>();
      arrays_.offsets = add_splits(size.values);
    } else if (kind == Kind::kFloat) {
      arrays_.floats = add(ArrayType::kFloat32, sizeof(float), size.values).data<float>();
    } else {
      arrays_.ints = add(ArrayType::kInt64, sizeof(std::int64_t), size.values).data<std::int64_t>();
    }
    if (list && variable) arrays_.inner = add_splits(size.steps);
    if (list || variable) arrays_.rows = add_splits(static_cast<std::int64_t>(rows));
  }

  [[nodiscard]] const SlotArrays& arrays() const noexcept { return arrays_; }

  // Returns the arrays as a tuple, or the only one by itself. They take the memory.
  [[nodiscard]] nb::object to_python(const ArrayMaker& maker) && {
    nb::list parts;
    for (Memory& part : parts_) {
      parts.append(maker.own(std::move(part.buffer), part.type, part.count));
    }
    if (parts.size() == 1) return parts[0];
    return nb::tuple(parts);
  }

 private:
  const Memory& add(ArrayType type, std::size_t size, std::int64_t count) {
    return parts_.emplace_back(take_memory(type, size, count));
  }

  std::int64_t* add_splits(std::int64_t count) {
    auto* const splits =
        add(ArrayType::kInt64, sizeof(std::int64_t), count + 1).data<std::int64_t>();
    *splits = 0;
    return splits;
  }

  SlotArrays arrays_;
  std::vector<Memory> parts_;
};

// One call of parse: measure all chunks, size the columns, fill all chunks. Without the GIL.
class Parse {
 public:
  Parse(const SequencePlan& plan, Dialect dialect, int threads, std::span<const Bytes> records)
      : plan_(plan),
        dialect_(dialect),
        threads_(threads),
        records_(records),
        chunk_(choose_chunk(records)),
        measures_((records.size() + chunk_ - 1) / chunk_),
        notes_(std::max<std::size_t>(records.size() * plan.slots(), 1) * sizeof(SlotNote)) {}

  [[nodiscard]] SequenceFault run() {
    if (!measure() || (records_.empty() && dialect_ != Dialect::kProtobuf)) {
      const SequenceFault fault = diagnose_sequences(plan_, dialect_, records_);
      if (fault.code != SequenceCode::kOk) return fault;
      if (!records_.empty()) throw std::runtime_error("the records changed during the call");
    }
    make_columns();
    parallel_for(measures_.size(), threads_, [this](std::size_t chunk) { fill_chunk(chunk); });
    return {};
  }

  [[nodiscard]] std::vector<Column>& columns() noexcept { return columns_; }

 private:
  static std::size_t choose_chunk(std::span<const Bytes> records) noexcept {
    std::size_t bytes = 0;
    for (const Bytes record : records) bytes += record.size();
    const std::size_t average = records.empty() ? 1 : bytes / records.size() + 1;
    return std::max(kChunkBytes / average, kMinChunkRecords);
  }

  [[nodiscard]] std::size_t first_row(std::size_t chunk) const noexcept { return chunk * chunk_; }
  [[nodiscard]] std::size_t last_row(std::size_t chunk) const noexcept {
    return std::min(records_.size(), (chunk + 1) * chunk_);
  }
  [[nodiscard]] SlotNote* notes(std::size_t slot, std::size_t row) const noexcept {
    return numbers_in<SlotNote>(notes_, records_.size() * plan_.slots()).data() +
           slot * records_.size() + row;
  }

  // Returns false if a record is faulty.
  [[nodiscard]] bool measure() {
    std::atomic<bool> faulty = false;
    std::atomic<bool> no_memory = false;
    parallel_for(measures_.size(), threads_, [&](std::size_t chunk) {
      if (faulty.load(std::memory_order_relaxed)) return;
      try {
        if (!measure_chunk(chunk)) faulty = true;
      } catch (const std::bad_alloc&) {
        no_memory = true;
      }
    });
    if (no_memory) throw std::bad_alloc();
    return !faulty;
  }

  [[nodiscard]] bool measure_chunk(std::size_t chunk) {
    measures_[chunk] = std::make_unique<SequenceMeasure>(plan_, dialect_);
    for (std::size_t row = first_row(chunk); row < last_row(chunk); ++row) {
      if (!measures_[chunk]->measure(records_[row], notes(0, row), records_.size())) return false;
    }
    return true;
  }

  // Adds up the extents of the chunks, and makes columns of the size of all.
  void make_columns() {
    const std::size_t slots = plan_.slots();
    starts_.resize((measures_.size() + 1) * slots);
    for (std::size_t chunk = 0; chunk < measures_.size(); ++chunk) {
      for (std::size_t slot = 0; slot < slots; ++slot) {
        SlotExtent& next = starts_[(chunk + 1) * slots + slot];
        next = starts_[chunk * slots + slot];
        next += measures_[chunk]->extents()[slot];
      }
    }
    const SlotExtent* const sizes = starts_.data() + measures_.size() * slots;
    const std::size_t context = plan_.context().size();
    columns_.reserve(slots);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const bool list = slot >= context;
      const Kind kind = list ? plan_.lists()[slot - context].kind : plan_.context()[slot].kind;
      const std::int64_t count =
          list ? plan_.lists()[slot - context].count : plan_.context()[slot].count;
      columns_.emplace_back(kind, count == kVariable, list, sizes[slot], records_.size());
    }
  }

  void fill_chunk(std::size_t chunk) const noexcept {
    const std::size_t slots = plan_.slots();
    const std::size_t context = plan_.context().size();
    const std::size_t row = first_row(chunk);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const SlotExtent& start = starts_[chunk * slots + slot];
      const SlotExtent& stop = starts_[(chunk + 1) * slots + slot];
      const std::span<const SlotNote> part(notes(slot, row), last_row(chunk) - row);
      if (slot < context) {
        fill_context(plan_.context()[slot], part, row, start, stop, columns_[slot].arrays());
      } else {
        fill_list(plan_.lists()[slot - context], part, row, start, stop, columns_[slot].arrays());
      }
    }
  }

  const SequencePlan& plan_;
  Dialect dialect_;
  int threads_;
  std::span<const Bytes> records_;
  std::size_t chunk_;
  std::vector<std::unique_ptr<SequenceMeasure>> measures_;
  Buffer notes_;                    // SlotNotes, slot by slot
  std::vector<SlotExtent> starts_;  // of the chunks, slot by slot; then the sizes of all
  std::vector<Column> columns_;
};

nb::tuple parse(const SequencePlan& plan, nb::handle pieces, int dialect, int threads) {
  if (dialect < 0 || dialect > 2) {
    raise_value("expected a dialect from 0 to 2 but got " + std::to_string(dialect));
  }
  const RecordInputs gathered(pieces);
  SequenceFault fault;
  std::optional<Parse> work;
  {
    const nb::gil_scoped_release released;
    work.emplace(plan, static_cast<Dialect>(dialect), threads, gathered.records());
    fault = work->run();
  }
  nb::list context;
  nb::list lists;
  if (fault.code != SequenceCode::kOk) return nb::make_tuple(context, lists, nb::cast(fault));
  const ArrayMaker maker;
  const std::size_t count = plan.context().size();
  for (std::size_t slot = 0; slot < plan.slots(); ++slot) {
    (slot < count ? context : lists).append(std::move(work->columns()[slot]).to_python(maker));
  }
  return nb::make_tuple(context, lists, nb::none());
}

void bind_codes(nb::module_& module) {
  const std::pair<const char*, SequenceCode> codes[] = {
      {"MALFORMED_SEQUENCE", SequenceCode::kMalformedSequence},
      {"CONTEXT_KIND", SequenceCode::kContextKind},
      {"MALFORMED_FEATURE_LIST", SequenceCode::kMalformedList},
      {"LIST_KIND", SequenceCode::kListKind},
      {"CONTEXT_MAXIMUM", SequenceCode::kContextMaximum},
      {"CONTEXT_MISSING", SequenceCode::kContextMissing},
      {"CONTEXT_COUNT", SequenceCode::kContextCount},
      {"CONTEXT_TOTAL", SequenceCode::kContextTotal},
      {"LIST_TOTAL", SequenceCode::kListTotal},
      {"LIST_MISSING", SequenceCode::kListMissing},
      {"STEP_COUNT", SequenceCode::kStepCount},
      {"LIST_ELEMENTS", SequenceCode::kListElements},
      {"MALFORMED_CONTEXT", SequenceCode::kMalformedContext},
  };
  for (const auto& [name, code] : codes) module.attr(name) = static_cast<int>(code);
}

void bind_failure(nb::module_& module) {
  nb::class_<SequenceFault>(module, "SequenceFailure",
                            "Why records could not be parsed. What says nothing is -1.")
      .def_prop_ro(
          "code", [](const SequenceFault& self) { return static_cast<int>(self.code); },
          "One of the constants MALFORMED_SEQUENCE to MALFORMED_CONTEXT.")
      .def_ro("row", &SequenceFault::row, "The record; -1 if none is to blame.")
      .def_ro("slot", &SequenceFault::slot, "The slot of the context or of the lists.")
      .def_prop_ro(
          "kind", [](const SequenceFault& self) { return static_cast<int>(self.kind); },
          "The kind found, 0 if none.")
      .def_ro("count", &SequenceFault::count, "How many values were found.")
      .def_ro("index", &SequenceFault::index, "The step of the feature list.");
}

}  // namespace

void bind_sequence(nb::module_& module) {
  bind_codes(module);
  bind_failure(module);
  nb::class_<SequencePlan>(module, "SequencePlan",
                           "What is wanted of SequenceExamples. Immutable; threads may share it.")
      .def("__init__", make_plan, nb::arg("context"), nb::arg("lists"),
           nb::sig("def __init__(self, context: collections.abc.Sequence[tuple[str, int, int, "
                   "int, object]], lists: collections.abc.Sequence[tuple[str, int, int, bool]]) "
                   "-> None"),
           "Take slots of the context (key, kind, count or -1, 1, default or None) and of the\n"
           "lists (key, kind, count a step or -1, allow_missing).")
      .def(
          "parse", parse, nb::arg("pieces"), nb::arg("dialect"), nb::arg("threads") = 0,
          nb::sig("def parse(self, pieces: collections.abc.Sequence[object], dialect: int, "
                  "threads: int = 0) -> tuple[list[typing.Any], list[typing.Any], "
                  "SequenceFailure | None]"),
          "Parse the records of all pieces: (columns of the context, columns of the lists, None),\n"
          "or ([], [], why not).");
}

}  // namespace tfrkit
