// SequenceExamples as columns: what is wanted of them, measure the records, fill the arrays.
//
// A record is first taken to be *canonical*: exact lengths, every key once, each list as one packed
// run. All dialects read such bytes alike, and what libraries write is of this form. Any other
// record is rewritten into that form by the rules of the dialect (sequence_canonical.h) and then
// measured like the rest, so the fast code knows one form and the exact code is not in its way.
// Measuring notes where the values of each slot stand; filling copies them to their final place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/examples/feature_kind.h"

namespace tfrkit {

// A feature wanted of the context.
struct ContextSlot {
  std::string key;
  Kind kind = Kind::kInt64;
  std::int64_t count = kVariable;
  bool has_fallback = false;        // only with a count over 0
  std::vector<std::byte> fallback;  // stands in for a missing feature: the value of a Feature
};

// A feature list wanted; `count` values a step.
struct ListSlot {
  std::string key;
  Kind kind = Kind::kInt64;
  std::int64_t count = kVariable;
  bool allow_missing = false;  // a list with a fixed count may be absent: no steps
};

// What is wanted of every record. Slots are numbered through: the context, then the lists. Keys are
// unique in each of the two. Immutable, so threads may share it.
class SequencePlan {
 public:
  SequencePlan(std::vector<ContextSlot> context, std::vector<ListSlot> lists);
  SequencePlan(const SequencePlan&) = delete;
  SequencePlan(SequencePlan&&) = delete;
  SequencePlan& operator=(const SequencePlan&) = delete;
  SequencePlan& operator=(SequencePlan&&) = delete;
  ~SequencePlan() = default;

  [[nodiscard]] std::span<const ContextSlot> context() const noexcept { return context_; }
  [[nodiscard]] std::span<const ListSlot> lists() const noexcept { return lists_; }
  [[nodiscard]] std::size_t slots() const noexcept { return context_.size() + lists_.size(); }

  // Returns the number of the slot with this key, or -1.
  [[nodiscard]] int find_context(Bytes key) const noexcept { return find(context_keys_, key); }
  [[nodiscard]] int find_list(Bytes key) const noexcept { return find(list_keys_, key); }

 private:
  using Keys = std::unordered_map<std::string_view, int>;

  [[nodiscard]] static int find(const Keys& keys, Bytes key) noexcept;

  std::vector<ContextSlot> context_;
  std::vector<ListSlot> lists_;
  Keys context_keys_;
  Keys list_keys_;
};

// Where one slot's part of one record stands, in canonical form. Context: the packed run (of bytes:
// the whole BytesList) and its values; list: the FeatureList and its steps.
struct SlotNote {
  const std::byte* data = nullptr;
  std::size_t size = 0;
  std::int64_t count = 0;
};

// How much of a slot there is in some records, or where in its column they begin.
struct SlotExtent {
  std::int64_t steps = 0;  // of lists
  std::int64_t values = 0;
  std::int64_t bytes = 0;  // of bytes values

  SlotExtent& operator+=(const SlotExtent& other) noexcept {
    steps += other.steps;
    values += other.values;
    bytes += other.bytes;
    return *this;
  }
};

// Measures records one after the other; one for each thread at work. Owns the rewritten records, to
// which notes point. Records must stay where they are as long as this is used.
class SequenceMeasure {
 public:
  SequenceMeasure(const SequencePlan& plan, Dialect dialect);

  // Notes every slot of `record`: slot s to notes[s * stride]. Adds its extents to extents().
  // Returns false and does neither if something wanted is missing or faulty; `diagnose_sequences`
  // says what. Throws std::bad_alloc only.
  [[nodiscard]] bool measure(Bytes record, SlotNote* notes, std::size_t stride);

  // How much the records measured so far hold, for each slot.
  [[nodiscard]] std::span<const SlotExtent> extents() const noexcept { return extents_; }

 private:
  struct Prediction {
    const std::byte* key;
    std::size_t size;
    int slot;
  };
  struct Measured {
    SlotNote note;
    SlotExtent extent;
  };

  [[nodiscard]] bool measure_canonical(Bytes record);
  [[nodiscard]] bool measure_map(Bytes map, bool lists);
  [[nodiscard]] bool measure_entry(Bytes entry, bool lists);
  [[nodiscard]] int slot_of(const std::byte* key, std::size_t size, bool lists);
  [[nodiscard]] bool measure_missing();
  [[nodiscard]] bool measure_context(std::size_t slot, Bytes value);
  [[nodiscard]] bool measure_list(std::size_t slot, Bytes value);

  const SequencePlan& plan_;
  Dialect dialect_;
  std::vector<Measured> row_;         // of the record at hand
  std::vector<std::uint64_t> stamp_;  // the last record that has the slot
  std::uint64_t record_ = 0;
  std::size_t seen_ = 0;
  std::vector<Prediction> order_[2];  // keys of the last record: context, lists
  std::size_t next_[2] = {0, 0};
  std::vector<SlotExtent> extents_;
  std::vector<std::byte> scratch_;
  std::vector<std::unique_ptr<std::byte[]>> rewritten_;
};

// The memory of one column; what a kind of column has not is nullptr. Entry 0 of `offsets`, `inner`
// and `rows` is the caller's.
struct SlotArrays {
  std::int64_t* ints = nullptr;
  float* floats = nullptr;
  std::byte* data = nullptr;        // bytes values end to end
  std::int64_t* offsets = nullptr;  // where they end in `data`
  std::int64_t* inner = nullptr;    // lists with a variable count: values up to the end of a step
  std::int64_t* rows = nullptr;     // values (context) or steps (list) up to the end of a row
};

// Fills the part of a column that belongs to the rows [row, row + notes.size()), and to the extent
// [start, stop). Writes nowhere else, even if the records changed since they were measured.
void fill_context(const ContextSlot& slot, std::span<const SlotNote> notes, std::size_t row,
                  const SlotExtent& start, const SlotExtent& stop,
                  const SlotArrays& arrays) noexcept;
void fill_list(const ListSlot& slot, std::span<const SlotNote> notes, std::size_t row,
               const SlotExtent& start, const SlotExtent& stop, const SlotArrays& arrays) noexcept;

// What is wrong; the comment is TensorFlow's text for it.
enum class SequenceCode : std::uint8_t {
  kOk = 0,
  kMalformedSequence = 1,  // Invalid protocol message input
  kContextKind = 2,        // Context feature: Data types don't match
  kMalformedList = 3,      // Error in sequence feature
  kListKind = 4,           // Feature list: Data types don't match
  kContextMaximum = 5,     // Inconsistent max number of elements
  kContextMissing = 6,     // is required but could not be found
  kContextCount = 7,       // Unexpected number of elements in example
  kContextTotal = 8,       // Unexpected total number of elements in feature
  kListTotal = 9,          // Feature list has an unexpected number of values
  kListMissing = 10,       // Feature list is required but could not be found
  kStepCount = 11,         // Number of values != expected
  kListElements = 12,      // Unexpected number of elements for feature
  kMalformedContext = 13,  // none: protobuf's dialect only
};

// The fault that is reported of a batch. Numbers that say nothing for `code` are -1, `kind` kUnset.
struct SequenceFault {
  SequenceCode code = SequenceCode::kOk;
  std::int64_t row = -1;
  std::int64_t slot = -1;   // in the context or in the lists, as `code` says
  std::int64_t index = -1;  // of the step
  std::int64_t count = -1;  // values found
  Kind kind = Kind::kUnset;
};

// Returns the fault of `records` that the dialect reports, or kOk. Protobuf's: the first faulty
// record, in it the first slot. TensorFlow's: it takes the batch in steps (structure of all
// records; kinds of the context; lists; counts of the context; counts of the lists) and reports the
// first step's fault, in it that of the first slot, in it that of the first record. Where its own
// order is that of a hash table, this one is by slot too. Throws std::bad_alloc only.
[[nodiscard]] SequenceFault diagnose_sequences(const SequencePlan& plan, Dialect dialect,
                                               std::span<const Bytes> records);

}  // namespace tfrkit
