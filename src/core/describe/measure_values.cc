#include "core/describe/measure_values.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/bytes/wire.h"

namespace tfrkit {
namespace {

void add_int(std::uint64_t bits, Values& values) noexcept {
  const auto value = static_cast<std::int64_t>(bits);
  values.low = std::min(values.low, value);
  values.high = std::max(values.high, value);
  ++values.count;
}

void add_bytes(Bytes value, Values& values) noexcept {
  if (values.count++ == 0) values.first = value;
  values.shortest = std::min<std::uint64_t>(values.shortest, value.size());
  values.longest = std::max<std::uint64_t>(values.longest, value.size());
  values.sum += value.size();
  if (values.bounded) values.bounds.add(value);
}

// Adds packed varints; false if the last one is not whole, or one is too long.
bool add_packed_ints(Bytes packed, Values& values) noexcept {
  Wire wire(packed);
  std::int64_t low = values.low;
  std::int64_t high = values.high;
  std::uint64_t count = 0;
  while (!wire.at_end()) {
    std::uint64_t bits = 0;
    if (!wire.read_varint(bits)) return false;
    const auto value = static_cast<std::int64_t>(bits);
    low = std::min(low, value);
    high = std::max(high, value);
    ++count;
  }
  values.low = low;
  values.high = high;
  values.count += count;
  return true;
}

// Some floats at once: if all are finite, and none is beyond the range so far, there is nothing to
// do for each. Which of two zeros is the least is a matter of their order, so a new bound is looked
// for one by one.
bool add_packed_floats(Bytes packed, Values& values) noexcept {
  constexpr std::size_t kAtOnce = 64;
  constexpr std::size_t kLanes = 8;
  if (packed.size() % 4 != 0) return false;
  values.count += packed.size() / 4;
  for (; packed.size() >= 4 * kAtOnce; packed = packed.subspan(4 * kAtOnce)) {
    std::array<float, kLanes> low;
    std::array<float, kLanes> high;
    low.fill(values.low_float);
    high.fill(values.high_float);
    std::array<std::uint32_t, kLanes> not_finite{};
    for (std::size_t at = 0; at < 4 * kAtOnce; at += 4 * kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const auto bits = load_le<std::uint32_t>(packed.data() + at + 4 * lane);
        const auto value = std::bit_cast<float>(bits);
        not_finite[lane] |= (bits & 0x7fffffffU) + 0x00800000U;  // the highest bit if it is not
        low[lane] = value < low[lane] ? value : low[lane];
        high[lane] = value > high[lane] ? value : high[lane];
      }
    }
    std::uint32_t unusual = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const bool beyond = low[lane] < values.low_float || high[lane] > values.high_float;
      unusual |= (not_finite[lane] >> 31) | static_cast<std::uint32_t>(beyond);
    }
    if (unusual == 0) continue;
    for (std::size_t at = 0; at < 4 * kAtOnce; at += 4) {
      values.add_float(load_le<std::uint32_t>(packed.data() + at));
    }
  }
  for (std::size_t at = 0; at < packed.size(); at += 4) {
    values.add_float(load_le<std::uint32_t>(packed.data() + at));
  }
  return true;
}

// Adds the values of a list that is given whole: a BytesList, FloatList or Int64List.
bool add_list(Bytes list, std::size_t level, Values& values) noexcept {
  Wire wire(list);
  while (!wire.at_end()) {
    std::uint32_t tag = 0;
    Bytes bytes;
    std::uint64_t varint = 0;
    std::uint32_t fixed = 0;
    if (!wire.read_tag(tag)) return false;
    if (tag == delimited_tag(1)) {
      if (!wire.read_message(bytes)) return false;
      if (values.kind == Kind::kBytes) {
        add_bytes(bytes, values);
      } else if (values.kind == Kind::kFloat ? !add_packed_floats(bytes, values)
                                             : !add_packed_ints(bytes, values)) {
        return false;
      }
    } else if (values.kind == Kind::kInt64 && tag == varint_tag(1)) {
      if (!wire.read_varint(varint)) return false;
      add_int(varint, values);
    } else if (values.kind == Kind::kFloat && tag == fixed32_tag(1)) {
      if (!wire.read_fixed32(fixed)) return false;
      values.add_float(fixed);
      ++values.count;
    } else if (!wire.skip_field(tag, kMaxNesting - level)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool measure_feature(Bytes feature, std::size_t level, Values& values) noexcept {
  Wire wire(feature);
  while (!wire.at_end()) {
    std::uint32_t tag = 0;
    Bytes list;
    if (!wire.read_tag(tag)) return false;
    const std::uint32_t field = tag >> 3;
    if (field > index_of(Kind::kInt64) || tag != delimited_tag(field)) {
      if (!wire.skip_field(tag, kMaxNesting - level)) return false;
      continue;
    }
    const auto kind = static_cast<Kind>(field);
    if (kind != values.kind) {
      const bool bounded = values.bounded;
      values = Values{};
      values.bounded = bounded;
      values.kind = kind;
    }
    if (!wire.read_message(list) || !add_list(list, level + 1, values)) return false;
  }
  return true;
}

void Ranges::add(const Values& more) noexcept {
  counts[index_of(more.kind)] += more.count;
  switch (more.kind) {
    case Kind::kInt64:
      values.low = std::min(values.low, more.low);
      values.high = std::max(values.high, more.high);
      break;
    case Kind::kFloat:
      values.low_float = std::min(values.low_float, more.low_float);
      values.high_float = std::max(values.high_float, more.high_float);
      values.nans += more.nans;
      values.infinities += more.infinities;
      values.negative_infinities += more.negative_infinities;
      break;
    case Kind::kBytes:
      values.shortest = std::min(values.shortest, more.shortest);
      values.longest = std::max(values.longest, more.longest);
      values.sum += more.sum;
      values.bounds.merge(more.bounds);
      break;
    default:
      break;
  }
}

void Ranges::merge(const Ranges& other) noexcept {
  Values more = other.values;
  for (const Kind kind : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    more.kind = kind;
    more.count = other.counts[index_of(kind)];
    add(more);
  }
}

}  // namespace tfrkit
