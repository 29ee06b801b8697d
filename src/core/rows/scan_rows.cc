#include "core/rows/scan_rows.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/bytes/utf8.h"
#include "core/rows/row_walk.h"

namespace tfrkit {
namespace {

bool is_null(const RowFormat& format, std::string_view text) noexcept {
  return std::ranges::any_of(format.nulls, [&](const std::string& null) { return null == text; });
}

// Calls `each` with the items of a list until it returns false.
template <typename Each>
bool for_items(std::string_view text, std::string_view separator, Each each) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (!each(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + separator.size());
  }
}

// Notes what the fields of good rows hold.
class SurveyVisitor {
 public:
  static constexpr bool kListsBad = false;

  SurveyVisitor(const RowFormat& format, std::size_t columns, RowsFound& found)
      : format_(format), columns_(columns), found_(found), seen_(found.seen), row_(columns) {
    seen_.assign(2 * columns, 0);
    found.kinds.assign(2 * columns * kValueKinds, 0);
    if (format.list_separator != kNoCharacter) {
      list_.assign(1, static_cast<char>(format.list_separator));
      row_.resize(2 * columns);  // the second half is for the values of maps
    }
  }

  void begin_row() {
    long_field_ = -1;
    news_.clear();
    line_ = found_.lines;
  }

  void field(std::size_t column, const Field& field) {
    if (field.size > format_.max_field && long_field_ < 0) {
      long_field_ = static_cast<std::int64_t>(column);
    }
    if (column >= columns_) return;
    row_[column] = kind(field, column);
    look_for_news(column, field.text);
    if (maps_) look_for_news(columns_ + column, field.text);
  }

  // Returns a fault of the values, or none.
  [[nodiscard]] bool fault(BadRow& bad) const {
    if (long_field_ < 0) return false;
    bad.fault = RowFault::kLongField;
    bad.detail = long_field_;
    return true;
  }

  void end_row(bool good, std::int64_t, std::int64_t) {
    if (good) {
      // By pointers of its own: bytes may alias whatever members point to.
      const std::uint8_t* const row = row_.data();
      std::uint8_t* const seen = seen_.data();
      std::int64_t* const kinds = found_.kinds.data();
      for (std::size_t i = 0, end = row_.size(); i < end; ++i) {
        const std::uint8_t bits = row[i];
        seen[i] |= bits;
        ++kinds[i * kValueKinds + kKindOf[bits]];
      }
      for (const auto& [place, text] : news_) {
        found_.firsts.push_back(
            {place, ValueKind{kKindOf[row_[place]]}, line_, std::string(text.substr(0, kShown))});
      }
    }
    if (maps_) std::fill(row_.begin(), row_.end(), std::uint8_t{0});
  }

 private:
  static constexpr std::size_t kShown = 120;  // bytes of a value that are kept

  // By the flags of what was seen in a field, the kind that it counts for: the widest.
  static constexpr auto kKindOf = [] {
    std::array<std::uint8_t, 64> kinds{};
    for (std::size_t seen = 0; seen < kinds.size(); ++seen) {
      const ValueKind kind = (seen & kSeenText) != 0    ? ValueKind::kText
                             : (seen & kSeenFloat) != 0 ? ValueKind::kFloat
                             : (seen & kSeenInt) != 0   ? ValueKind::kInt
                                                        : ValueKind::kNone;
      kinds[seen] = static_cast<std::uint8_t>(kind);
    }
    return kinds;
  }();

  // Notes a field of a kind that its column had not until now, in case its row is good.
  void look_for_news(std::size_t place, std::string_view text) {
    const std::uint8_t kind = kKindOf[row_[place]];
    if (kind != static_cast<std::uint8_t>(ValueKind::kNone) &&
        found_.kinds[place * kValueKinds + kind] == 0) {
      news_.emplace_back(place, text);
    }
  }

  std::uint8_t kind(const Field& field, std::size_t column) {
    const std::string_view text = field.text;
    if (text.empty() || is_null(format_, text)) return kSeenNull;
    if (!list_.empty()) return kind_of_items(field, column);
    return kind_of_one(text, field.plain);
  }

  static std::uint8_t kind_of_one(std::string_view text, bool plain) noexcept {
    // Most texts begin with a letter, and of numbers only nan and inf do.
    const bool letter =
        !text.empty() && text[0] > '9' && (text[0] | 0x20) != 'n' && (text[0] | 0x20) != 'i';
    if (!plain || letter) return kSeenText;
    return static_cast<std::uint8_t>(number_kind(text) & ~(kFitsInt | kFitsFloat));
  }

  std::uint8_t kind_of_items(const Field& field, std::size_t column) {
    const auto map = static_cast<char>(format_.map_separator);
    const bool is_map =
        format_.map_separator != kNoCharacter && field.text.find(map) != std::string_view::npos;
    std::uint8_t seen = 0;
    std::int64_t items = 0;
    for_items(field.text, list_, [&](std::string_view item) {
      const std::size_t key = is_map ? std::min(item.find(map), item.size()) : item.size();
      seen |= kind_of_one(item.substr(0, key), field.plain);
      if (key < item.size()) {
        row_[columns_ + column] |= kind_of_one(item.substr(key + 1), field.plain);
      }
      ++items;
      return true;
    });
    maps_ |= is_map;
    return static_cast<std::uint8_t>(seen | (items > 1 ? kSeenList : 0) | (is_map ? kSeenMap : 0));
  }

  const RowFormat& format_;
  std::size_t columns_;
  RowsFound& found_;
  std::vector<std::uint8_t>& seen_;
  std::vector<std::uint8_t> row_;
  std::vector<std::pair<std::size_t, std::string_view>> news_;
  std::int64_t line_ = 0;
  std::string list_;
  bool maps_ = false;
  std::int64_t long_field_ = -1;
};

// Compares the fields with what is asked of their columns.
class CheckVisitor {
 public:
  static constexpr bool kListsBad = true;

  CheckVisitor(const RowFormat& format, std::span<const ColumnCheck> checks, RowsFound& found)
      : format_(format), checks_(checks), found_(found), with_nulls_(!format.nulls.empty()) {
    if (with_nulls_) nulls_.assign(checks.size(), 0);
  }

  void begin_row() {
    faulty_ = false;
    if (with_nulls_) std::fill(nulls_.begin(), nulls_.end(), std::uint8_t{0});
  }

  void field(std::size_t column, const Field& field) {
    if (field.size > format_.max_field) note(RowFault::kLongField, column);
    if (column >= checks_.size()) return;
    const ColumnCheck& check = checks_[column];
    if (with_nulls_ && is_null(format_, field.text)) {
      nulls_[column] = 1;
      return;
    }
    if (field.text.empty()) return;
    if (check.list || check.map) {
      check_items(column, check, field);
    } else if (!fits(field.text, field.plain, check.fits)) {
      note(RowFault::kValue, column);
    }
  }

  [[nodiscard]] bool fault(BadRow& bad) const {
    if (!faulty_) return false;
    bad.fault = fault_;
    bad.detail = static_cast<std::int64_t>(column_);
    return true;
  }

  void end_row(bool, std::int64_t begin, std::int64_t end) {
    found_.begins.push_back(begin);
    found_.ends.push_back(end);
    found_.nulls.insert(found_.nulls.end(), nulls_.begin(), nulls_.end());
  }

 private:
  static bool fits(std::string_view text, bool plain, std::uint8_t wanted) noexcept {
    return wanted == 0 || (plain && (number_kind(text) & wanted) != 0);
  }

  // The first fault of a row counts, but a field that is too long before all.
  void note(RowFault fault, std::size_t column) {
    if (faulty_ && (fault != RowFault::kLongField || fault_ == fault)) return;
    faulty_ = true;
    fault_ = fault;
    column_ = column;
  }

  void check_items(std::size_t column, const ColumnCheck& check, const Field& field) {
    const auto map = static_cast<char>(format_.map_separator);
    for_items(field.text, check.separator, [&](std::string_view item) {
      if (!item.empty() && with_nulls_ && is_null(format_, item)) {
        note(RowFault::kNullItem, column);
        return false;
      }
      if (check.map) {
        const std::size_t key = item.find(map);
        if (key == std::string_view::npos) {
          note(RowFault::kNoKey, column);
          return false;
        }
        if (!fits(item.substr(key + 1), field.plain, check.value_fits)) {
          note(RowFault::kValue, column);
          return false;
        }
        item = item.substr(0, key);
      }
      if (fits(item, field.plain, check.fits)) return true;
      note(RowFault::kValue, column);
      return false;
    });
  }

  const RowFormat& format_;
  std::span<const ColumnCheck> checks_;
  RowsFound& found_;
  bool with_nulls_;
  bool faulty_ = false;
  RowFault fault_ = RowFault::kValue;
  std::size_t column_ = 0;
  std::vector<std::uint8_t> nulls_;
};

// All rows of a text.
template <typename Visitor>
class TextWalk {
 public:
  TextWalk(const RowFormat& format, std::size_t columns, Bytes text, TextPlace place,
           RowsFound& found)
      : format_(format),
        columns_(columns),
        begin_(as_text(text).data()),
        end_(begin_ + text.size()),
        place_(place),
        found_(found),
        check_utf8_(format.check_utf8 && !is_utf8(text)) {}

  void walk(Visitor& visit) {
    Place at = begin_;
    if (place_.long_row != 0) at = end_long_row(visit);
    while (at < end_ && found_.long_row == 0 &&
           (place_.max_rows < 0 || found_.rows < place_.max_rows)) {
      Place next = nullptr;
      if (is_line_end(*at) && !format_.blank_rows) {
        next = behind_line_end(at, end_, place_.last);
        if (next != nullptr) ++found_.lines;
      } else {
        next = row(at, visit);
      }
      if (next == nullptr) break;
      at = next;
    }
    found_.consumed = static_cast<std::size_t>(at - begin_);
  }

 private:
  // Returns where the next row begins, or nullptr if this one is not whole.
  Place row(Place begin, Visitor& visit) {
    visit.begin_row();
    RowWalk<Visitor> walk(format_, begin, end_, place_);
    const Ending ending = walk.walk(visit);
    if (ending == Ending::kMore) return nullptr;
    if (ending != Ending::kRow) {
      return give_up(begin, ending == Ending::kTooLong ? Inside::kField : Inside::kFirstLine,
                     visit);
    }
    BadRow bad{found_.rows, found_.lines, RowFault::kFields, 0};
    const bool good = !is_bad(bad, begin, walk, visit);
    found_.lines += walk.one_line() ? 1 : count_lines(begin, walk.at());
    add_row(visit, good ? nullptr : &bad, begin, walk.at());
    return walk.at();
  }

  void add_row(Visitor& visit, const BadRow* bad, Place begin, Place end) {
    if (bad != nullptr) {
      ++found_.bad_rows;
      if (Visitor::kListsBad) found_.bad.push_back(*bad);
    }
    visit.end_row(bad == nullptr, begin - begin_, end - begin_);
    ++found_.rows;
  }

  bool is_bad(BadRow& bad, Place begin, const RowWalk<Visitor>& walk, const Visitor& visit) const {
    if (walk.fields() != columns_) {
      bad.detail = static_cast<std::int64_t>(walk.fields());
      return true;
    }
    if (check_utf8_ && !is_utf8(std::as_bytes(std::span(begin, walk.at())))) {
      BadRow other = bad;
      const bool too_long = visit.fault(other) && other.fault == RowFault::kLongField;
      bad.fault = RowFault::kUtf8;
      if (too_long) bad = other;
      return true;
    }
    return visit.fault(bad);
  }

  // Leaves a row that is too long, or of which only the first line is left since it has no end.
  // Returns nullptr if the next text must begin with it.
  Place give_up(Place begin, Inside inside, Visitor& visit) {
    Passed passed = LongRowWalk(format_, end_, place_.last).walk(begin, inside);
    if (is_unclosed(passed)) {
      passed = LongRowWalk(format_, end_, true).walk(begin, Inside::kFirstLine);
    }
    if (!passed.ended && !place_.last && begin != begin_) return nullptr;
    return leave(begin, passed, 0, visit);
  }

  // Goes to the end of a row that began in a text before this one.
  Place end_long_row(Visitor& visit) {
    found_.long_row = place_.long_row;
    if (begin_ == end_) return end_;
    visit.begin_row();
    const auto inside = static_cast<Inside>(place_.long_row & ((1 << kInsideBits) - 1));
    const Passed passed = LongRowWalk(format_, end_, place_.last).walk(begin_, inside);
    if (is_unclosed(passed)) {
      found_.long_row = static_cast<std::int64_t>(Inside::kFirstLine);
      return end_;
    }
    return leave(begin_, passed, place_.long_row >> kInsideBits, visit);
  }

  Place leave(Place begin, const Passed& passed, std::int64_t lines, Visitor& visit) {
    if (!passed.ended && !place_.last) {
      lines += count_line_ends(begin, passed.at);
      found_.long_row = (lines << kInsideBits) | static_cast<std::int64_t>(passed.inside);
      return passed.at;
    }
    const BadRow bad{found_.rows, found_.lines,
                     passed.inside == Inside::kFirstLine ? RowFault::kUnclosed : RowFault::kLongRow,
                     0};
    found_.lines += lines + count_lines(begin, passed.at);
    found_.long_row = 0;
    add_row(visit, &bad, begin, passed.at);
    return passed.at;
  }

  // Whether the last text has ended inside of quotes, or an escape; see TextPlace::cut.
  [[nodiscard]] bool is_unclosed(const Passed& passed) const noexcept {
    return place_.last && !passed.ended && passed.inside != Inside::kFirstLine &&
           (passed.at != end_ || passed.inside == Inside::kQuotes || place_.cut);
  }

  // The end of the last text ends a line.
  std::int64_t count_lines(Place begin, Place end) const {
    const std::int64_t ends = count_line_ends(begin, end);
    return ends + (end == end_ && place_.last && !is_line_end(end[-1]) ? 1 : 0);
  }

  const RowFormat& format_;
  std::size_t columns_;
  Place begin_;
  Place end_;
  TextPlace place_;
  RowsFound& found_;
  bool check_utf8_;
};

}  // namespace

RowsFound RowScanner::survey(Bytes text, TextPlace place) const {
  RowsFound found;
  SurveyVisitor visit(format_, columns_, found);
  TextWalk<SurveyVisitor>(format_, columns_, text, place, found).walk(visit);
  return found;
}

RowsFound RowScanner::check(Bytes text, TextPlace place,
                            std::span<const ColumnCheck> checks) const {
  RowsFound found;
  CheckVisitor visit(format_, checks, found);
  TextWalk<CheckVisitor>(format_, columns_, text, place, found).walk(visit);
  return found;
}

}  // namespace tfrkit
