// FeatureColumns: the features of some records side by side, to be counted feature by feature.
//
// Single values are copied; of lists it is noted where they are, so that memory stays in proportion
// to the records. Pure: what is found does not depend on other records than these.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/describe/key_table.h"
#include "core/describe/measure_values.h"
#include "core/describe/record_reader.h"
#include "core/examples/feature_kind.h"

namespace tfrkit {

// Numbers, and how often each came in a row.
class Runs {
 public:
  void clear() noexcept { runs_.clear(); }
  void add(std::uint64_t number, std::uint64_t times) {
    if (runs_.empty() || runs_.back().first != number) runs_.emplace_back(number, 0);
    runs_.back().second += times;
  }
  [[nodiscard]] std::span<const std::pair<std::uint64_t, std::uint64_t>> all() const noexcept {
    return runs_;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs_;
};

// Floats that are no part of the order.
struct SpecialFloats {
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
  std::uint64_t negative_infinities = 0;

  // Returns true, having counted it, if this is one.
  bool take(std::uint32_t bits) noexcept {
    if ((bits & 0x7f800000U) != 0x7f800000U) return false;
    const bool below = bits >> 31 != 0;
    ++((bits & 0x007fffffU) != 0 ? nans : below ? negative_infinities : infinities);
    return true;
  }
  void merge(const SpecialFloats& other) noexcept {
    nans += other.nans;
    infinities += other.infinities;
    negative_infinities += other.negative_infinities;
  }
};

// The values of one kind that a feature has.
struct KindColumn {
  // A map entry with a list of values, behind the first `before` single ones.
  struct List {
    std::size_t before = 0;
    Bytes entry;
  };
  std::uint64_t records = 0;
  std::vector<std::uint64_t> keys;  // single numbers, see NumberStats
  std::vector<Bytes> strings;       // single byte strings
  std::vector<List> lists;
  SpecialFloats special;  // of the single ones
};

// A feature, or a feature list.
struct FeatureColumn {
  std::uint64_t records = 0;
  std::uint64_t empty = 0;
  std::uint64_t unset = 0;
  Kind first_kind = Kind::kUnset;
  Runs counts;                 // values of each Feature that has a kind
  Runs steps;                  // lists: Features in each
  std::vector<Bytes> entries;  // lists: their map entries; what is in them is not in `kinds`
  std::array<std::unique_ptr<KindColumn>, kKinds> kinds;

  [[nodiscard]] KindColumn& of(Kind kind);
  // Begins anew; keeps the memory.
  void clear() noexcept;
};

// Throws std::bad_alloc if there is no memory.
class FeatureColumns {
 public:
  using Names = std::set<std::string>;

  // Reads records, which must be there as long as the columns are used; only features that are
  // `wanted`, if that is not nullptr: the same ones each time. What was read before is forgotten,
  // but not its memory, nor the order of the keys.
  void read(std::span<const Bytes> records, const Names* wanted);

  [[nodiscard]] std::uint64_t records(RecordKind kind) const noexcept {
    return records_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::uint64_t not_followed() const noexcept { return not_followed_; }

  // Columns by slot; nullptr for a key that is not wanted.
  struct Table {
    std::vector<std::unique_ptr<FeatureColumn>> columns;
    void follow(const KeyTable& keys, const Names* wanted);
  };
  [[nodiscard]] const Table& features() const noexcept { return features_; }
  [[nodiscard]] const Table& lists() const noexcept { return lists_; }
  [[nodiscard]] const std::string& feature_key(std::size_t slot) {
    return reader_.features().key(slot);
  }
  [[nodiscard]] const std::string& list_key(std::size_t slot) { return reader_.lists().key(slot); }

 private:
  // A feature with one value, at its place in the usual record.
  struct Step {
    Bytes key;
    Kind kind = Kind::kUnset;
    FeatureColumn* column = nullptr;
    std::size_t word = 0;  // where its value is in a row
  };

  void clear();
  [[nodiscard]] bool take_usual(Bytes record);
  void flush();
  static void add_number(KindColumn& values, Kind kind, std::uint64_t bits);
  void learn();
  void add_strings(const Step& step, KindColumn& values) const;
  void add_numbers(const Step& step, KindColumn& values) const;
  void commit_feature(const FoundFeature& found);
  void commit_list(const FoundList& found);

  RecordReader reader_;
  std::array<std::uint64_t, 3> records_{};
  std::uint64_t not_followed_ = 0;
  Table features_;
  Table lists_;

  // Records mostly have the same keys with one value each in the same order. Of those the values
  // are gathered row by row and put into the columns many rows at a time.
  std::vector<Step> steps_;
  std::size_t misses_ = 0;  // records in a row that were not so
  std::size_t row_words_ = 0;
  std::size_t rows_ = 0;
  std::vector<std::uint64_t> words_;  // numbers: their bits; strings: size, then address
};

}  // namespace tfrkit
