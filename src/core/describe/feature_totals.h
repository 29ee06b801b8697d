// FeatureTotals: all that statistics know of one feature, or of one feature list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/describe/byte_stats.h"
#include "core/describe/feature_columns.h"
#include "core/describe/measure_values.h"
#include "core/describe/number_stats.h"
#include "core/describe/outline.h"
#include "core/examples/feature_kind.h"

namespace tfrkit {

// How much a feature may keep; the first ones have the most.
inline constexpr std::size_t kTiers = 3;
inline constexpr std::array<Limits, kTiers> kValueLimits{{
    {100'000, 16, 4096, 2048, std::size_t{1} << 20},
    {1'000, 12, 512, 256, std::size_t{1} << 15},
    {100, 8, 64, 32, std::size_t{1} << 12},
}};
// Of lengths, which are less often all different.
inline constexpr std::array<Limits, kTiers> kLengthLimits{{
    {4'096, 12, 256, 512, 0},
    {1'000, 10, 64, 64, 0},
    {16, 6, 16, 8, 0},
}};

// The values of one kind.
struct KindTotals {
  KindTotals(Kind kind, std::size_t tier);

  std::unique_ptr<NumberStats> numbers;  // one of the two, by the kind
  std::unique_ptr<ByteStats> strings;
};

class ValueFeed;  // values on their way from lists into the totals

// Throws std::bad_alloc if there is no memory.
class FeatureTotals {
 public:
  FeatureTotals(std::string key, std::size_t tier);

  // Decides whether the next columns are added in shares, by several threads: then the values of
  // kinds that are estimated by now are. Returns false if there are none, or if not `wanted`; then
  // all is in the main share.
  [[nodiscard]] bool split(bool wanted) noexcept;
  // Adds a share of the column of a feature that was read by FeatureColumns, whose records are
  // still there.
  void add(const FeatureColumn& column, OutlineBudget& budget, Share share = Share::kMain);
  void merge(const FeatureTotals& other, OutlineBudget& budget);

  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  [[nodiscard]] const Outline& outline() const noexcept { return outline_; }
  [[nodiscard]] const NumberStats& counts() const noexcept { return counts_; }
  [[nodiscard]] const NumberStats& steps() const noexcept { return steps_; }
  // Returns nullptr if no values of this kind were kept.
  [[nodiscard]] const KindTotals* of(Kind kind) const noexcept {
    return kinds_[index_of(kind)].get();
  }

 private:
  [[nodiscard]] KindTotals& make(Kind kind);
  [[nodiscard]] bool aim(Kind kind, ValueFeed& feed);
  void add_kind(Kind kind, const KindColumn& column, ValueFeed& feed);
  void add_steps(Bytes entry, ValueFeed& feed);

  std::string key_;
  std::size_t tier_;
  Kind first_kind_ = Kind::kUnset;
  Outline outline_;
  NumberStats counts_;
  NumberStats steps_;
  std::array<std::unique_ptr<KindTotals>, kKinds> kinds_;
  std::array<bool, kKinds> split_{};  // whose values are added in shares
};

}  // namespace tfrkit
