// Filling: the second pass over notes of records that were measured.
//
// Nothing is written outside the extent that was measured; where the bytes say otherwise now
// (other code wrote into them meanwhile), zeros stand in for what is not there.
#include <algorithm>
#include <bit>
#include <cstring>

#include "core/sequences/sequence.h"
#include "core/sequences/sequence_step.h"

namespace tfrkit {
namespace {

[[nodiscard]] std::size_t distance(const std::byte* from, const std::byte* to) noexcept {
  return static_cast<std::size_t>(to - from);
}

// Writes the first `count` varints of `run`; returns how many there were.
std::int64_t copy_varints(Bytes run, std::int64_t* out, std::int64_t count) noexcept {
  if (run.size() > canonical::kMaxTinyRun) {
    const VarintRun counted = count_varints(run);
    if (counted.good && counted.count <= static_cast<std::size_t>(count)) {
      decode_varints(run, {out, counted.count});
      return static_cast<std::int64_t>(counted.count);
    }
  }
  Wire wire(run);
  std::int64_t done = 0;
  std::uint64_t value = 0;
  while (done < count && wire.read_varint(value)) out[done++] = static_cast<std::int64_t>(value);
  return done;
}

// Writes the first `count` floats of `run`; returns how many there were.
std::int64_t copy_floats(Bytes run, float* out, std::int64_t count) noexcept {
  const std::int64_t done = std::min(count, static_cast<std::int64_t>(run.size() / 4));
  if constexpr (std::endian::native == std::endian::little) {
    if (done > 0) std::memcpy(out, run.data(), static_cast<std::size_t>(done) * 4);
  } else {
    for (std::int64_t i = 0; i < done; ++i) {
      out[i] = std::bit_cast<float>(load_le<std::uint32_t>(run.data() + 4 * i));
    }
  }
  return done;
}

// Where the next entries of a column go.
class Writer {
 public:
  Writer(Kind kind, const SlotExtent& start, const SlotExtent& stop,
         const SlotArrays& arrays) noexcept
      : kind_(kind), at_(start), stop_(stop), arrays_(arrays) {}

  [[nodiscard]] const SlotExtent& at() const noexcept { return at_; }
  [[nodiscard]] std::int64_t values_left() const noexcept { return stop_.values - at_.values; }

  // Writes the first `count` values of the body of a list, and zeros for those it has not.
  void copy(Bytes body, std::int64_t count) noexcept {
    const std::int64_t last = at_.values + std::min(count, values_left());
    copy_some(body, last - at_.values);
    pad(last);
  }

  // Writes all values of the body of a list.
  void copy_all(Bytes body) noexcept { copy_some(body, values_left()); }

  // Writes zeros up to the end of the column's part.
  void finish() noexcept {
    pad(stop_.values);
    while (at_.steps < stop_.steps) end_step();
  }

  // Ends a step.
  void end_step() noexcept {
    ++at_.steps;
    if (arrays_.inner != nullptr) arrays_.inner[at_.steps] = at_.values;
  }

  // Takes up what a fast loop has written.
  void advance(std::int64_t steps, std::int64_t values) noexcept {
    at_.steps += steps;
    at_.values += values;
  }

 private:
  void copy_some(Bytes body, std::int64_t count) noexcept {
    if (kind_ == Kind::kBytes) return copy_strings(body, count);
    at_.values += kind_ == Kind::kFloat ? copy_floats(body, arrays_.floats + at_.values, count)
                                        : copy_varints(body, arrays_.ints + at_.values, count);
  }

  void copy_strings(Bytes list, std::int64_t count) noexcept {
    const std::byte* at = list.data();
    const std::byte* const end = at + list.size();
    std::size_t size = 0;
    for (; count > 0 && canonical::read_head(at, end, delimited_tag(1), size); --count) {
      const auto room = static_cast<std::size_t>(stop_.bytes - at_.bytes);
      if (size > room) return;
      if (size != 0) std::memcpy(arrays_.data + at_.bytes, at, size);
      at += size;
      at_.bytes += static_cast<std::int64_t>(size);
      arrays_.offsets[++at_.values] = at_.bytes;
    }
  }

  void pad(std::int64_t last) noexcept {
    while (at_.values < last) {
      if (kind_ == Kind::kBytes) {
        arrays_.offsets[at_.values + 1] = at_.bytes;
      } else if (kind_ == Kind::kFloat) {
        arrays_.floats[at_.values] = 0.0F;
      } else {
        arrays_.ints[at_.values] = 0;
      }
      ++at_.values;
    }
  }

  Kind kind_;
  SlotExtent at_;
  SlotExtent stop_;
  const SlotArrays& arrays_;
};

// Copies steps of `Count` floats (0: of `count`) as long as they have the usual header.
template <std::size_t Count>
std::int64_t copy_float_steps(const std::byte*& at, const std::byte* end, std::size_t count,
                              std::int64_t steps, float* out) noexcept {
  const std::size_t run = 4 * (Count == 0 ? count : Count);
  const std::size_t step = canonical::kStepHeader + run;
  const std::uint64_t header = canonical::step_header(Kind::kFloat, run);
  std::int64_t done = 0;
  while (done < steps && distance(at, end) >= step &&
         (load_le<std::uint64_t>(at) & canonical::kHeaderMask) == header) {
    std::memcpy(out, at + canonical::kStepHeader, run);
    out += run / 4;
    at += step;
    ++done;
  }
  return done;
}

std::int64_t copy_float_steps(const std::byte*& at, const std::byte* end, std::size_t count,
                              std::int64_t steps, float* out) noexcept {
  if (4 * count > canonical::kMaxShortRun || std::endian::native != std::endian::little) return 0;
  switch (count) {
    case 0:
      return 0;
    case 1:
      return copy_float_steps<1>(at, end, count, steps, out);
    case 2:
      return copy_float_steps<2>(at, end, count, steps, out);
    case 4:
      return copy_float_steps<4>(at, end, count, steps, out);
    case 8:
      return copy_float_steps<8>(at, end, count, steps, out);
    default:
      return copy_float_steps<0>(at, end, count, steps, out);
  }
}

// Copies steps of one varint of up to eight bytes each as long as they have the usual form.
std::int64_t copy_scalar_steps(const std::byte*& at, const std::byte* end, std::int64_t steps,
                               std::int64_t* out) noexcept {
  std::int64_t done = 0;
  while (done < steps && distance(at, end) >= canonical::kWordStep) {
    const auto size = std::to_integer<std::size_t>(at[canonical::kStepHeader - 1]);
    if (size - 1 > 7 || (load_le<std::uint64_t>(at) & canonical::kHeaderMask) !=
                            canonical::step_header(Kind::kInt64, size)) {
      break;
    }
    const auto word = load_le<std::uint64_t>(at + canonical::kStepHeader);
    const std::uint64_t own = word << (64 - 8 * size) >> (64 - 8 * size);
    out[done++] = static_cast<std::int64_t>(compress_groups(own & ~kHighBits));
    at += canonical::kStepHeader + size;
  }
  return done;
}

// Copies what the fast loops take of one list with a fixed count.
void copy_fixed_steps(const ListSlot& slot, const std::byte*& at, const std::byte* end,
                      std::int64_t steps, const SlotArrays& arrays, Writer& writer) noexcept {
  std::int64_t done = 0;
  if (slot.kind == Kind::kFloat && slot.count > 0) {
    done = copy_float_steps(at, end, static_cast<std::size_t>(slot.count), steps,
                            arrays.floats + writer.at().values);
  } else if (slot.kind == Kind::kInt64 && slot.count == 1) {
    done = copy_scalar_steps(at, end, steps, arrays.ints + writer.at().values);
  }
  writer.advance(done, done * slot.count);
}

// Copies one step, whatever it looks like.
void copy_step(const ListSlot& slot, const std::byte*& at, const std::byte* end,
               Writer& writer) noexcept {
  Bytes body;
  if (!canonical::read_step(at, end, slot.kind, body)) {
    at = end;
    body = {};
  }
  if (slot.count == kVariable) {
    writer.copy_all(body);
  } else {
    writer.copy(body, slot.count);
  }
  writer.end_step();
}

}  // namespace

void fill_context(const ContextSlot& slot, std::span<const SlotNote> notes, std::size_t row,
                  const SlotExtent& start, const SlotExtent& stop,
                  const SlotArrays& arrays) noexcept {
  Writer writer(slot.kind, start, stop, arrays);
  for (const SlotNote& note : notes) {
    writer.copy({note.data, note.size}, note.count);
    ++row;
    if (arrays.rows != nullptr) arrays.rows[row] = writer.at().values;
  }
}

void fill_list(const ListSlot& slot, std::span<const SlotNote> notes, std::size_t row,
               const SlotExtent& start, const SlotExtent& stop, const SlotArrays& arrays) noexcept {
  Writer writer(slot.kind, start, stop, arrays);
  for (const SlotNote& note : notes) {
    const std::byte* at = note.data;
    const std::byte* const end = at + note.size;
    const std::int64_t last = writer.at().steps + note.count;
    while (writer.at().steps < last) {
      copy_fixed_steps(slot, at, end, last - writer.at().steps, arrays, writer);
      if (writer.at().steps < last) copy_step(slot, at, end, writer);
    }
    arrays.rows[++row] = writer.at().steps;
  }
  writer.finish();
}

}  // namespace tfrkit
