#include "scan_rows.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "utf8.h"

namespace tfrkit {
namespace {

using Place = const char*;

bool is_line_end(char c) noexcept { return c == '\n' || c == '\r'; }

// Eight copies of a byte.
constexpr std::uint64_t spread(char c) noexcept {
  return 0x0101010101010101U * static_cast<std::uint8_t>(c);
}

// Returns a mask whose lowest set bit is in the first byte of `word` that is zero.
constexpr std::uint64_t zero_bytes(std::uint64_t word) noexcept {
  return (word - 0x0101010101010101U) & ~word & 0x8080808080808080U;
}

// Returns the first of some characters, or `end`.
template <typename... Characters>
Place find_any(Place at, Place end, Characters... wanted) noexcept {
  while (end - at >= 8) {
    const auto word = load_le<std::uint64_t>(reinterpret_cast<const std::byte*>(at));
    const std::uint64_t found = (zero_bytes(word ^ spread(wanted)) | ...);
    if (found != 0) return at + std::countr_zero(found) / 8;
    at += 8;
  }
  while (at < end && !((*at == wanted) || ...)) ++at;
  return at;
}

// Returns the end of the line end at `at`, or nullptr if more bytes may belong to it.
Place behind_line_end(Place at, Place end, bool last) noexcept {
  if (*at == '\n') return at + 1;
  if (at + 1 == end) return last ? end : nullptr;
  return at[1] == '\n' ? at + 2 : at + 1;
}

std::int64_t count_line_ends(Place at, Place end) noexcept {
  std::int64_t count = 0;
  while ((at = find_any(at, end, '\n', '\r')) < end) {
    ++count;
    at = behind_line_end(at, end, true);
  }
  return count;
}

struct Field {
  std::string_view text;  // without the quotes around it
  bool plain = true;      // as it is written: no doubled quotes, no escapes
  std::size_t size = 0;   // with the quotes
};

enum class Ending : std::uint8_t { kRow, kMore, kUnclosed, kTooLong };

// One row: hands its fields to a visitor.
template <typename Visitor>
class RowWalk {
 public:
  RowWalk(const RowFormat& format, Place row, Place end, TextPlace place) noexcept
      : format_(format), row_(row), at_(row), end_(end), last_(place.last), cut_(place.cut) {}

  // Goes to the end of the row, behind its line end if it is whole.
  Ending walk(Visitor& visit) {
    while (true) {
      Field field;
      const Ending ending =
          format_.escape == kNoCharacter ? find_field<false>(field) : find_field<true>(field);
      if (ending != Ending::kRow) return ending;
      if (at_ != end_ && *at_ == format_.separator) {
        visit.field(fields_++, field);
        ++at_;
        continue;
      }
      if (at_ == end_) {
        if (cut_) return Ending::kUnclosed;
      } else {
        const Place behind = behind_line_end(at_, end_, last_);
        if (behind == nullptr) return Ending::kMore;
        at_ = behind;
      }
      visit.field(fields_++, field);
      return Ending::kRow;
    }
  }

  [[nodiscard]] Place at() const noexcept { return at_; }
  [[nodiscard]] std::size_t fields() const noexcept { return fields_; }
  [[nodiscard]] bool one_line() const noexcept { return one_line_; }

 private:
  [[nodiscard]] bool too_long(Place at) const noexcept {
    return static_cast<std::size_t>(at - row_) > format_.max_row;
  }

  // Where to stop looking: behind the last byte that a row may have, and its line end.
  [[nodiscard]] Place bound() const noexcept {
    const auto left = static_cast<std::size_t>(end_ - row_);
    return left > format_.max_row ? row_ + format_.max_row + 1 : end_;
  }

  // Returns kRow if the field ends: at a separator, a line end or the end of the last text.
  template <bool kEscapes>
  Ending find_field(Field& field) {
    const Place begin = at_;
    Place text = at_;
    Place text_end = nullptr;
    if (format_.quote != kNoCharacter && at_ < end_ && *at_ == static_cast<char>(format_.quote)) {
      one_line_ = false;
      const Ending ending = pass_quotes<kEscapes>(field);
      if (ending != Ending::kRow) return ending;
      ++text;
      text_end = at_ - 1;
    }
    const Place behind_quotes = at_;
    const Place stop = bound();
    while (true) {
      at_ = kEscapes ? find_any(at_, stop, format_.separator, '\n', '\r',
                                static_cast<char>(format_.escape))
                     : find_any(at_, stop, format_.separator, '\n', '\r');
      if (at_ == stop) {
        if (too_long(stop)) return Ending::kTooLong;
        if (!last_) return Ending::kMore;
        break;
      }
      if (!kEscapes || *at_ != static_cast<char>(format_.escape)) break;
      if (end_ - at_ < 2) return last_ ? Ending::kUnclosed : Ending::kMore;
      one_line_ = field.plain = false;
      at_ += 2;
      if (at_ > stop) return Ending::kTooLong;
    }
    if (text_end != nullptr && at_ != behind_quotes) {
      field.plain = false;
      text = begin;
    }
    const Place last = text_end == nullptr || text == begin ? at_ : text_end;
    field.text = {text, static_cast<std::size_t>(last - text)};
    field.size = static_cast<std::size_t>(at_ - begin);
    return Ending::kRow;
  }

  // Goes behind the closing quote; returns kRow if there is one.
  template <bool kEscapes>
  Ending pass_quotes(Field& field) {
    const char quote = static_cast<char>(format_.quote);
    const Place stop = bound();
    ++at_;
    while (true) {
      at_ = kEscapes ? find_any(at_, stop, quote, static_cast<char>(format_.escape))
                     : find_any(at_, stop, quote);
      if (at_ >= stop) {
        return too_long(stop) || last_ ? Ending::kUnclosed : Ending::kMore;
      }
      const bool escape = kEscapes && *at_ != quote;
      if (end_ - at_ < 2) {
        if (!last_) return Ending::kMore;
        if (escape) return Ending::kUnclosed;
        ++at_;
        return Ending::kRow;
      }
      if (!escape && at_[1] != quote) {
        ++at_;
        return Ending::kRow;
      }
      field.plain = false;
      at_ = std::min(at_ + 2, stop);
    }
  }

  const RowFormat& format_;
  Place row_;
  Place at_;
  Place end_;
  bool last_;
  bool cut_;
  bool one_line_ = true;
  std::size_t fields_ = 0;
};

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
      : format_(format), columns_(columns), seen_(found.seen), row_(columns) {
    seen_.assign(2 * columns, 0);
    if (format.list_separator != kNoCharacter) {
      list_.assign(1, static_cast<char>(format.list_separator));
      row_.resize(2 * columns);  // the second half is for the values of maps
    }
  }

  void begin_row() { long_field_ = -1; }

  void field(std::size_t column, const Field& field) {
    if (field.size > format_.max_field && long_field_ < 0) {
      long_field_ = static_cast<std::int64_t>(column);
    }
    if (column >= columns_) return;
    row_[column] = kind(field, column);
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
      for (std::size_t i = 0; i < row_.size(); ++i) seen_[i] |= row_[i];
    }
    if (maps_) std::fill(row_.begin(), row_.end(), std::uint8_t{0});
  }

 private:
  std::uint8_t kind(const Field& field, std::size_t column) {
    const std::string_view text = field.text;
    if (text.empty() || is_null(format_, text)) return kSeenNull;
    if (!list_.empty()) return kind_of_items(field, column);
    return kind_of_one(text, field.plain, seen_[column]);
  }

  // A column that has a text stays one, so that nobody need look closer.
  static std::uint8_t kind_of_one(std::string_view text, bool plain, std::uint8_t seen) noexcept {
    if (!plain || (seen & kSeenText) != 0) return kSeenText;
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
      seen |= kind_of_one(item.substr(0, key), field.plain, seen_[column]);
      if (key < item.size()) {
        row_[columns_ + column] |=
            kind_of_one(item.substr(key + 1), field.plain, seen_[columns_ + column]);
      }
      ++items;
      return true;
    });
    maps_ |= is_map;
    return static_cast<std::uint8_t>(seen | (items > 1 ? kSeenList : 0) | (is_map ? kSeenMap : 0));
  }

  const RowFormat& format_;
  std::size_t columns_;
  std::vector<std::uint8_t>& seen_;
  std::vector<std::uint8_t> row_;
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
    if (place_.in_long_row) at = pass_long_row(at);
    while (at < end_ && !found_.in_long_row && found_.rows != place_.max_rows) {
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
    BadRow bad{found_.rows, found_.lines, RowFault::kFields, 0};
    Place next = walk.at();
    bool good = false;
    if (ending == Ending::kRow) {
      good = !is_bad(bad, begin, walk, visit);
      found_.lines += walk.one_line() ? 1 : count_lines(begin, next);
    } else {
      next = give_up(bad, begin, ending);
      if (next == nullptr) return nullptr;
    }
    if (!good) {
      ++found_.bad_rows;
      if (Visitor::kListsBad) found_.bad.push_back(bad);
    }
    visit.end_row(good, begin - begin_, next - begin_);
    ++found_.rows;
    return next;
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

  // Leaves a row that has no end: its first line is bad, and the next row begins behind it.
  Place give_up(BadRow& bad, Place begin, Ending ending) {
    bad.fault = ending == Ending::kTooLong ? RowFault::kLongRow : RowFault::kUnclosed;
    const auto left = static_cast<std::size_t>(end_ - begin);
    const Place limit = left > format_.max_row ? begin + format_.max_row + 1 : end_;
    const Place first = find_any(begin, limit, '\n', '\r');
    if (ending == Ending::kUnclosed && first < limit) {
      const Place next = behind_line_end(first, end_, place_.last);
      if (next != nullptr) ++found_.lines;
      return next;
    }
    if (left > format_.max_row) bad.fault = RowFault::kLongRow;
    found_.lines += ending == Ending::kTooLong ? count_line_ends(begin, limit) : 0;
    return pass_long_row(limit);
  }

  // Goes behind the next line end, or to the end of the text.
  Place pass_long_row(Place at) {
    at = find_any(at, end_, '\n', '\r');
    const Place next = at == end_ ? nullptr : behind_line_end(at, end_, place_.last);
    found_.in_long_row = next == nullptr && !place_.last;
    if (next != nullptr || place_.last) ++found_.lines;
    return next == nullptr ? at : next;
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
