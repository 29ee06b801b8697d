// The values of a Feature, measured without being stored: how many, and between which.
//
// Reads by protobuf's rules; see outline.h for what is done with many of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/bytes/bytes.h"
#include "core/describe/sketches/byte_bounds.h"
#include "core/examples/feature_kind.h"

namespace tfrkit {

inline constexpr std::size_t kKinds = 4;  // unset is one of them

[[nodiscard]] constexpr std::size_t index_of(Kind kind) noexcept {
  return static_cast<std::size_t>(kind);
}

// Whether these are the bits of a float that is neither infinite nor NaN.
[[nodiscard]] constexpr bool is_finite(std::uint32_t bits) noexcept {
  return (bits & 0x7f800000U) != 0x7f800000U;
}

// The values of one Feature. What belongs to other kinds says nothing.
struct Values {
  Kind kind = Kind::kUnset;
  std::uint64_t count = 0;
  std::int64_t low = std::numeric_limits<std::int64_t>::max();  // int64: the range of the values
  std::int64_t high = std::numeric_limits<std::int64_t>::min();
  float low_float = std::numeric_limits<float>::infinity();  // float: that of the finite ones
  float high_float = -std::numeric_limits<float>::infinity();
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
  std::uint64_t negative_infinities = 0;
  std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();  // bytes: the lengths
  std::uint64_t longest = 0;
  std::uint64_t sum = 0;
  bool bounded = false;  // whether they have bounds too
  ByteBounds bounds;
  Bytes first;  // bytes: the first of them, where the record is

  // Adds to the range of floats, and to what is no part of it; not to `count`.
  void add_float(std::uint32_t bits) noexcept {
    if (is_finite(bits)) {
      const auto value = std::bit_cast<float>(bits);
      low_float = std::min(low_float, value);
      high_float = std::max(high_float, value);
    } else if ((bits & 0x007fffffU) != 0) {
      ++nans;
    } else {
      ++((bits >> 31) != 0 ? negative_infinities : infinities);
    }
  }
};

// The values of many Features, each kind for itself.
struct Ranges {
  std::array<std::uint64_t, kKinds> counts{};  // values of each kind
  Values values;                               // the fields of all kinds; `kind`, `count` unused

  // Adds the values of one Feature.
  void add(const Values& more) noexcept;
  // Adds one value: the bits of an int64 or a float, or the size of a byte string, whose bounds are
  // left to the caller.
  void add_one(Kind kind, std::uint64_t bits) noexcept {
    ++counts[index_of(kind)];
    if (kind == Kind::kInt64) {
      values.low = std::min(values.low, static_cast<std::int64_t>(bits));
      values.high = std::max(values.high, static_cast<std::int64_t>(bits));
    } else if (kind == Kind::kFloat) {
      values.add_float(static_cast<std::uint32_t>(bits));
    } else {
      values.shortest = std::min(values.shortest, bits);
      values.longest = std::max(values.longest, bits);
      values.sum += bits;
    }
  }
  void merge(const Ranges& other) noexcept;
};

// Adds what a Feature holds to `values`, which are those of the parts of the same message before it
// (none: Values{}, perhaps `bounded`): a list of the same kind continues, one of another kind
// begins anew. Returns false if the Feature is damaged. `level` is how many messages are round it,
// which count as nesting.
[[nodiscard]] bool measure_feature(Bytes feature, std::size_t level, Values& values) noexcept;

}  // namespace tfrkit
