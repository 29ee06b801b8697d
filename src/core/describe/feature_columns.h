// FeatureColumns: the features of some records side by side, to be counted feature by feature.
//
// SingleValue values are copied; of lists it is noted where they are, so that memory stays in
// proportion to the records. Pure: what is found does not depend on other records than these.
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
#include "core/describe/outline.h"
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

// What is found out about features.
enum class Detail : std::uint8_t {
  kOutline,  // what a schema needs
  kBounds,   // the same, and of features the bounds of byte strings
  kValues,   // all values too; of the outline neither counts nor examples
};

// The values of one kind that a feature has.
struct KindColumn {
  // A map entry with a list of values, after the first `before` single ones.
  struct List {
    std::size_t before = 0;
    Bytes entry;
  };
  std::vector<std::uint64_t> keys;  // single numbers but for NaN and infinities, see NumberStats
  std::vector<Bytes> strings;       // single byte strings
  std::vector<List> lists;
};

// A feature, or a feature list. All but the outline is filled for Detail::kValues only.
struct FeatureColumn {
  Outline outline;
  Kind first_kind = Kind::kUnset;
  Runs counts;                 // values of each Feature that has a kind
  Runs steps;                  // lists: Features in each
  std::vector<Bytes> entries;  // lists: their map entries; what is in them is not in `kinds`
  std::array<std::unique_ptr<KindColumn>, kKinds> kinds;

  [[nodiscard]] KindColumn& of(Kind kind);
  // Begins anew; keeps the memory.
  void clear();
};

// Throws std::bad_alloc if there is no memory.
class FeatureColumns {
 public:
  using Names = std::set<std::string>;
  // What to read: only features that are `wanted`, if that is not nullptr.
  struct Request {
    Detail detail = Detail::kValues;
    const Names* wanted = nullptr;
  };

  // Reads records, of which the first has the number `first`, and which must be there as long as
  // the columns are used. The request is the same each time. What was read before is forgotten, but
  // not its memory, nor the order of the keys.
  void read(std::span<const Bytes> records, std::int64_t first, const Request& request);

  [[nodiscard]] const RecordCounts& records() const noexcept { return records_; }
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
  struct UsualFeature {
    Bytes key;
    Kind kind = Kind::kUnset;
    FeatureColumn* column = nullptr;
    std::size_t word = 0;  // where its value is in a row
  };

  void clear();
  void commit(RecordKind kind, Bytes record, const Names* wanted);
  [[nodiscard]] bool take_usual(Bytes record);
  void flush();
  void learn();
  void add_strings(const UsualFeature& step);
  void add_bounds(const UsualFeature& step) const;
  void add_numbers(const UsualFeature& step) const;
  void commit_feature(const FoundFeature& found);
  void commit_single(FeatureColumn& column, Kind kind, const FoundFeature& found);
  void commit_list(const FoundList& found);

  RecordReader reader_;
  Detail detail_ = Detail::kValues;
  std::int64_t number_ = 0;  // of the record that is read
  RecordCounts records_;
  OutlineBudget budget_;
  std::uint64_t not_followed_ = 0;
  Table features_;
  Table lists_;

  // Records mostly have the same keys with one value each in the same order. Of those the values
  // are gathered row by row and put into the columns many rows at a time.
  std::vector<UsualFeature> usual_;
  std::size_t misses_ = 0;  // records in a row that were not so
  std::size_t row_words_ = 0;
  std::size_t rows_ = 0;
  std::vector<std::uint64_t> words_;  // numbers: their bits; strings: size, then address
};

}  // namespace tfrkit
