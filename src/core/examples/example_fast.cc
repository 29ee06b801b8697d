// The fast path: Examples as every usual writer makes them.
//
// Records of one file mostly carry the same keys in the same order. So the entries of a record are
// compared with those of one before, tags and lengths and key at once (EntryPattern), without
// looking up anything. Where the order differs, the entry is looked up by its key and the
// comparison continues after it.
#include <algorithm>
#include <array>
#include <cstring>

#include "core/bytes/wire.h"
#include "core/examples/example_parts.h"

namespace tfrkit {
namespace {

constexpr std::size_t kSlack = 16;  // bytes after a pattern that may be loaded
// The end of a record is copied to where loads may run over it.
constexpr std::size_t kTailBytes = 192;
constexpr std::size_t kTailPadding = 192;
constexpr std::array<std::byte, kTailPadding> kZeros{};

constexpr unsigned kMaxWrongGuesses = 4;  // then the rest of the record is looked up by key

// Reads a length of up to 4 bytes, which every dialect reads alike.
inline bool read_length(const std::byte*& at, const std::byte* end, std::size_t& length) noexcept {
  std::size_t value = 0;
  for (unsigned shift = 0; shift < 28; shift += 7) {
    if (at == end) return false;
    const auto byte = std::to_integer<std::size_t>(*at++);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      length = value;
      return value <= static_cast<std::size_t>(end - at);
    }
  }
  return false;
}

// Reads a tag and a length that is followed by that many bytes.
inline bool read_field(const std::byte*& at, const std::byte* end, std::uint8_t tag,
                       std::size_t& length) noexcept {
  if (at == end || std::to_integer<std::uint8_t>(*at) != tag) return false;
  ++at;
  return read_length(at, end, length);
}

// Tells whether the entry at `at` begins with `pattern`; sets its last byte. Precondition:
// pattern.size bytes are readable.
inline bool matches(const EntryPattern& pattern, const std::byte* at,
                    std::uint32_t& last) noexcept {
  last = std::to_integer<std::uint32_t>(at[pattern.size - 1]);
  const std::uint64_t head = load_le<std::uint64_t>(at) - pattern.head - last * pattern.head_step;
  const std::uint64_t tail =
      load_le<std::uint64_t>(at + pattern.size - 8) - pattern.tail - last * pattern.tail_step;
  if ((head | tail) != 0 || last - pattern.min_last > pattern.span) return false;
  return pattern.size <= 16 || std::memcmp(at + 8, pattern.middle, pattern.size - 16) == 0;
}

// Returns the varint in the low `size` bytes of a word, whose high bits do not count.
template <bool kPext>
[[gnu::always_inline]] inline std::uint64_t compress_word(std::uint64_t word) noexcept {
#ifdef __x86_64__
  if constexpr (kPext) {
    std::uint64_t value = 0;
    // Not by its intrinsic, for which all of this file would have to be compiled again.
    __asm__("pext %2, %1, %0" : "=r"(value) : "r"(word), "r"(~kHighBits));
    return value;
  }
#endif
  return compress_groups(word & ~kHighBits);
}

// Decodes the varint that fills `size` <= 8 bytes at `at` exactly. Precondition: 8 are readable.
template <bool kPext = false>
[[gnu::always_inline]] inline bool decode_whole(const std::byte* at, std::uint32_t size,
                                                std::int64_t& value) noexcept {
  const std::uint64_t word = load_le<std::uint64_t>(at) << (64 - 8 * size);
  // All bytes but the last have the high bit.
  constexpr std::uint64_t kAllButLast = kHighBits >> 8;
  if ((word & kHighBits) != ((kHighBits << (64 - 8 * size)) & kAllButLast)) return false;
  value = static_cast<std::int64_t>(compress_word<kPext>(word >> (64 - 8 * size)));
  return true;
}

// One record on its way through the fast path.
class FastRecord {
 public:
  FastRecord(const ExampleBatch& batch, Bytes features, std::size_t row) noexcept
      : batch_(batch),
        order_(batch.parts.order),
        row_(row),
        at_(features.data()),
        end_(at_ + features.size()),
        readable_end_(end_),
        origin_end_(end_) {}

  bool parse();

 private:
  [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

  // Returns the address in the record of what is at `at`, which may be in the copy of its end.
  [[nodiscard]] const std::byte* origin(const std::byte* at) const noexcept {
    return origin_end_ - (end_ - at);
  }

  // Makes at least `size` bytes readable; false if the record's end is too far away for a copy.
  bool make_readable(std::size_t size) noexcept {
    if (static_cast<std::size_t>(readable_end_ - at_) >= size) [[likely]]
      return true;
    const std::size_t rest = left();
    if (rest > kTailBytes || size > kTailPadding) return false;
    if (rest != 0) std::memmove(tail_.data(), at_, rest);
    std::memcpy(tail_.data() + rest, kZeros.data(), kTailPadding);  // memset is a slow loop here
    at_ = tail_.data();
    end_ = at_ + rest;
    readable_end_ = end_ + kTailPadding;
    return true;
  }

  template <bool kPext>
  std::size_t take_in_order() noexcept;
  void mark_steps(std::size_t count) noexcept;
  // Takes the entry at the current position if it fits `pattern`.
  bool take(const EntryPattern& pattern) noexcept;
  bool place(const EntryPattern& pattern, const std::byte* payload, std::uint32_t size) noexcept;
  bool place_number(const ExampleSlot& wanted, const ExampleColumn& column,
                    const std::byte* payload, std::uint32_t size) noexcept;

  // Goes on entry by entry, in any order. `done` steps fitted already.
  bool parse_any_order(std::size_t done);
  bool take_any(std::size_t& step);
  bool take_by_key(std::uint32_t& slot) noexcept;
  void take_many_by_key() noexcept;
  bool take_usual(std::uint32_t& slot, Bytes& key) noexcept;
  bool place_feature(std::size_t slot, const std::byte* at, const std::byte* end) noexcept;
  bool count_bytes(const std::byte* at, const std::byte* end, CheckedList& list) const noexcept;
  bool mark(std::uint32_t slot, bool is_set) noexcept;
  bool finish();
  void learn(std::uint32_t slot, Bytes key);
  void finish_learning();
  void write_states() const noexcept;

  const ExampleBatch& batch_;
  KeyOrder& order_;
  std::size_t row_;
  const std::byte* at_;
  const std::byte* end_;
  const std::byte* readable_end_;
  const std::byte* origin_end_;
  bool is_learning_ = false;
  unsigned wrong_guesses_ = 0;  // in a row: places where another entry was expected
  std::size_t present_ = 0;
  std::array<std::byte, kTailBytes + kTailPadding> tail_;
};

// The body of a feature whose pattern fitted. False: leave the record to the exact path.
inline bool FastRecord::place(const EntryPattern& pattern, const std::byte* payload,
                              std::uint32_t size) noexcept {
  if (pattern.form == EntryForm::kOther) return true;
  const ExampleColumn& column = batch_.columns[pattern.slot];
  switch (pattern.form) {
    case EntryForm::kOneFloat:
      std::memcpy(column.floats + row_, payload, sizeof(float));
      return true;
    case EntryForm::kOneInt64:
      if (size <= 8) [[likely]]
        return decode_whole(payload, size, column.int64s[row_]);
      break;
    case EntryForm::kOneBytes:
      // The list begins with the tag and the length of its only value.
      column.lists[row_] = {origin(payload - 2), size, 1};
      return true;
    default:
      break;
  }
  return place_number(batch_.plan.slots()[pattern.slot], column, payload, size);
}

// Numbers in any count.
bool FastRecord::place_number(const ExampleSlot& wanted, const ExampleColumn& column,
                              const std::byte* payload, std::uint32_t size) noexcept {
  std::size_t count = size / sizeof(float);
  if (wanted.kind == Kind::kFloat) {
    if (size % sizeof(float) != 0) return false;
  } else {
    const VarintRun run = count_varints(Bytes(payload, size));
    if (!run.good) return false;
    count = run.count;
  }
  if (!wanted.is_fixed()) {
    if (wanted.stride > 1 && count % wanted.stride != 0) return false;
    column.lists[row_] = {origin(payload), size, static_cast<std::uint32_t>(count)};
    return true;
  }
  if (count != static_cast<std::size_t>(wanted.count)) return false;
  if (count == 0) return true;
  if (wanted.kind == Kind::kFloat) {
    std::memcpy(column.floats + row_ * count, payload, size);
  } else {
    decode_varints(Bytes(payload, size), {column.int64s + row_ * count, count});
  }
  return true;
}

inline bool FastRecord::take(const EntryPattern& pattern) noexcept {
  std::uint32_t last = 0;
  if (!matches(pattern, at_, last)) return false;
  const std::byte* const payload = at_ + pattern.size;
  const std::byte* const next = payload + last;
  if (next > end_) [[unlikely]]
    return false;
  if (!place(pattern, payload, last)) return false;
  at_ = next;
  return true;
}

// Takes entries as long as they come in the expected order; returns how many. The position is kept
// in registers here: through members it is 1.3 x slower, since any store might change them.
template <bool kPext>
std::size_t FastRecord::take_in_order() noexcept {
  const std::span<const EntryStep> steps(order_.steps);
  const ExampleColumn* const columns = batch_.columns.data();
  const std::size_t row = row_;
  const std::byte* at = at_;
  const std::byte* end = end_;
  const std::byte* readable_end = readable_end_;
  std::size_t done = 0;
  for (; done < steps.size(); ++done) {
    const EntryPattern& pattern = steps[done].pattern;
    if (static_cast<std::size_t>(readable_end - at) < pattern.size + kSlack) [[unlikely]] {
      at_ = at;
      if (!make_readable(pattern.size + kSlack)) break;
      at = at_;
      end = end_;
      readable_end = readable_end_;
    }
    std::uint32_t last = 0;
    if (!matches(pattern, at, last)) break;
    const std::byte* const payload = at + pattern.size;
    if (last > static_cast<std::size_t>(end - payload)) [[unlikely]]
      break;
    if (pattern.form == EntryForm::kOneFloat) {
      std::memcpy(columns[pattern.slot].floats + row, payload, sizeof(float));
    } else if (pattern.form == EntryForm::kOneInt64 && last <= 8) {
      if (!decode_whole<kPext>(payload, last, columns[pattern.slot].int64s[row])) break;
    } else if (pattern.form != EntryForm::kOther && !place(pattern, payload, last)) {
      break;
    }
    at = payload + last;
  }
  at_ = at;
  return done;
}

const bool kHasFastPext = has_fast_pext();

bool FastRecord::parse() {
  const std::size_t done = kHasFastPext ? take_in_order<true>() : take_in_order<false>();
  if (done == order_.steps.size() && at_ == end_ && done != 0) [[likely]] {
    order_.misses = 0;
    for (const std::uint32_t slot : order_.missing) {
      const ExampleSlot& wanted = batch_.plan.slots()[slot];
      if (wanted.is_fixed() && !wanted.has_default) return false;
      place_missing(batch_, slot, row_);
      if (batch_.columns[slot].states != nullptr) {
        batch_.columns[slot].states[row_] = static_cast<std::uint8_t>(FeatureState::kAbsent);
      }
    }
    return true;
  }
  return parse_any_order(done);
}

// Notes the slots of the first steps of the order.
void FastRecord::mark_steps(std::size_t count) noexcept {
  for (const EntryStep& step : std::span(order_.steps).first(count)) {
    if (step.pattern.slot != ExamplePlan::kNone) static_cast<void>(mark(step.pattern.slot, true));
  }
}

// Notes that the record has this slot; false if it has it twice.
bool FastRecord::mark(std::uint32_t slot, bool is_set) noexcept {
  std::uint64_t& seen = batch_.parts.seen[slot];
  if (seen >> 1 == batch_.parts.stamp) return false;
  seen = 2 * batch_.parts.stamp + static_cast<std::uint64_t>(is_set);
  present_ += static_cast<std::size_t>(is_set);
  return true;
}

bool FastRecord::parse_any_order(std::size_t done) {
  ++batch_.parts.stamp;
  ++order_.misses;
  // An order that keeps on changing is not worth learning each time.
  is_learning_ = (order_.misses & (order_.misses - 1)) == 0;
  std::vector<EntryStep>& learned = batch_.parts.learned;
  if (is_learning_) {
    learned.assign(order_.steps.begin(), order_.steps.begin() + static_cast<std::ptrdiff_t>(done));
  }
  mark_steps(done);
  std::size_t step = done;
  while (at_ != end_) {
    if (wrong_guesses_ == kMaxWrongGuesses && !is_learning_) {
      take_many_by_key();
      if (at_ == end_) break;
    }
    if (!take_any(step)) return false;
  }
  return finish();
}

// Takes one entry. `step` is the place in the order where it is expected, and then that of the
// next.
bool FastRecord::take_any(std::size_t& step) {
  if (step < order_.steps.size() && wrong_guesses_ < kMaxWrongGuesses) {
    const EntryStep& expected = order_.steps[step];
    const EntryPattern& pattern = expected.pattern;
    if (make_readable(pattern.size + kSlack) && take(pattern)) {
      wrong_guesses_ = 0;
      ++step;
      if (is_learning_) batch_.parts.learned.push_back(expected);
      return pattern.slot == ExamplePlan::kNone || mark(pattern.slot, true);
    }
    ++wrong_guesses_;
  }
  std::uint32_t slot = ExamplePlan::kNone;
  Bytes key;
  if (!take_by_key(slot) && !take_usual(slot, key)) return false;
  if (slot != ExamplePlan::kNone && order_.next_step[slot] != 0) step = order_.next_step[slot];
  if (is_learning_) learn(slot, key);
  return true;
}

// Takes a short entry by a look at its key; false if it is no such, or not asked for.
bool FastRecord::take_by_key(std::uint32_t& slot) noexcept {
  if (!make_readable(4 + kMaxShortKey + kSlack)) return false;
  const auto size = std::to_integer<std::size_t>(at_[3]);
  if (size > kMaxShortKey) return false;
  const std::uint32_t found = batch_.plan.guess_unchecked(at_ + 4, size);
  if (found == ExamplePlan::kNone) return false;
  if (batch_.parts.seen[found] >> 1 == batch_.parts.stamp) return false;
  const EntryPattern& pattern = batch_.plan.pattern(found);
  if (!make_readable(pattern.size + kSlack) || !take(pattern)) return false;
  slot = found;
  return mark(found, true);
}

// Takes short entries by their keys as long as they are asked for. The place of the next entry
// comes from the length of this one, so that looking up the next does not wait for this: with 41
// keys in random order 680 ns a record, before 860.
void FastRecord::take_many_by_key() noexcept {
  ExampleScratch::Parts& parts = batch_.parts;
  const std::byte* at = at_;
  while (static_cast<std::size_t>(readable_end_ - at) >= 4 + kMaxShortKey + kSlack) {
    const std::size_t entry_size = 2 + std::to_integer<std::size_t>(at[1]);
    const auto size = std::to_integer<std::size_t>(at[3]);
    if (size > kMaxShortKey) break;
    const std::uint32_t slot = batch_.plan.guess_unchecked(at + 4, size);
    if (slot == ExamplePlan::kNone || parts.seen[slot] >> 1 == parts.stamp) break;
    const EntryPattern& pattern = batch_.plan.pattern(slot);
    const auto left = static_cast<std::size_t>(readable_end_ - at);
    std::uint32_t last = 0;
    if (left < pattern.size + kSlack || !matches(pattern, at, last) ||
        entry_size > static_cast<std::size_t>(end_ - at)) {
      break;
    }
    if (!place(pattern, at + pattern.size, last)) break;
    parts.seen[slot] = 2 * parts.stamp + 1;
    ++present_;
    at += entry_size;
  }
  at_ = at;
}

// Takes any entry that has a key and then a value, and in it one list in one run.
bool FastRecord::take_usual(std::uint32_t& slot, Bytes& key) noexcept {
  const std::byte* at = at_;
  std::size_t length = 0;
  if (!read_field(at, end_, delimited_tag(1), length)) return false;
  const std::byte* const entry_end = at + length;
  if (!read_field(at, entry_end, delimited_tag(1), length)) return false;
  key = Bytes(at, length);
  at += length;
  if (!read_field(at, entry_end, delimited_tag(2), length)) return false;
  if (at + length != entry_end) return false;
  slot = batch_.plan.find(key);
  at_ = entry_end;
  if (slot == ExamplePlan::kNone) return true;
  if (length == 0) return mark(slot, false);
  return mark(slot, true) && place_feature(slot, at, entry_end);
}

bool FastRecord::place_feature(std::size_t slot, const std::byte* at,
                               const std::byte* end) noexcept {
  const ExampleSlot& wanted = batch_.plan.slots()[slot];
  const ExampleColumn& column = batch_.columns[slot];
  std::size_t length = 0;
  if (!read_field(at, end, delimited_tag(static_cast<unsigned>(wanted.kind)), length)) return false;
  if (at + length != end) return false;
  if (wanted.kind == Kind::kBytes) {
    CheckedList list;
    if (!count_bytes(at, end, list)) return false;
    if (wanted.is_fixed() && list.count != static_cast<std::size_t>(wanted.count)) return false;
    if (wanted.stride > 1 && list.count % wanted.stride != 0) return false;
    place_list(batch_, slot, row_, list);
    return true;
  }
  const bool is_empty = at == end;
  const bool is_run = read_field(at, end, delimited_tag(1), length) && at + length == end;
  if (!is_run && !is_empty) return false;
  return place_number(wanted, column, at, static_cast<std::uint32_t>(end - at));
}

// Walks a list of bytes.
bool FastRecord::count_bytes(const std::byte* at, const std::byte* end,
                             CheckedList& list) const noexcept {
  list.data = origin(at);
  while (at != end) {
    std::size_t length = 0;
    if (!read_field(at, end, delimited_tag(1), length)) return false;
    at += length;
    list.size += length;
    ++list.count;
  }
  return true;
}

// All entries are read: what is missing gets its default.
bool FastRecord::finish() {
  const auto slots = batch_.plan.slots();
  if (present_ != slots.size()) {
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      if (batch_.parts.seen[slot] == 2 * batch_.parts.stamp + 1) continue;
      if (slots[slot].is_fixed() && !slots[slot].has_default) return false;
      place_missing(batch_, slot, row_);
    }
  }
  if (!batch_.columns.empty() && batch_.columns[0].states != nullptr) write_states();
  if (is_learning_) finish_learning();
  return true;
}

void FastRecord::learn(std::uint32_t slot, Bytes key) {
  std::vector<EntryStep>& learned = batch_.parts.learned;
  if (learned.size() == kMaxSteps) return;
  EntryStep& step = learned.emplace_back();
  if (slot != ExamplePlan::kNone) {
    step.pattern = batch_.plan.pattern(slot);
  } else if (!make_other_pattern(key, step.key, step.pattern)) {
    step.pattern = kNoPattern;
  }
}

// Takes the order of this record for the next ones.
void FastRecord::finish_learning() {
  order_.steps.swap(batch_.parts.learned);
  std::fill(order_.next_step.begin(), order_.next_step.end(), 0U);
  order_.missing.clear();
  std::uint32_t place = 0;
  for (EntryStep& step : order_.steps) {
    ++place;
    if (step.pattern.slot == ExamplePlan::kNone) {
      step.pattern.middle = step.key.data() + 4;
    } else {
      order_.next_step[step.pattern.slot] = place;
    }
  }
  for (std::uint32_t slot = 0; slot < order_.next_step.size(); ++slot) {
    if (order_.next_step[slot] == 0) order_.missing.push_back(slot);
  }
}

void FastRecord::write_states() const noexcept {
  const std::uint64_t stamp = batch_.parts.stamp;
  for (std::size_t slot = 0; slot < batch_.columns.size(); ++slot) {
    const std::uint64_t seen = batch_.parts.seen[slot];
    FeatureState state = FeatureState::kAbsent;
    if (seen >> 1 == stamp) {
      state = (seen & 1) != 0 ? FeatureState::kPresent : FeatureState::kUnset;
    }
    batch_.columns[slot].states[row_] = static_cast<std::uint8_t>(state);
  }
}

}  // namespace

bool parse_fast(const ExampleBatch& batch, Bytes record, std::size_t row) {
  if (record.empty()) return FastRecord(batch, record, row).parse();
  const std::byte* at = record.data();
  const std::byte* const end = at + record.size();
  std::size_t length = 0;
  if (!read_field(at, end, delimited_tag(1), length) || at + length != end) return false;
  return FastRecord(batch, Bytes(at, length), row).parse();
}

}  // namespace tfrkit
