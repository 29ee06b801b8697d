// One row of delimited text: where its fields and its line end are.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/bytes/bytes.h"
#include "core/rows/scan_rows.h"

namespace tfrkit {

using Place = const char*;

inline bool is_line_end(char c) noexcept { return c == '\n' || c == '\r'; }

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
inline Place behind_line_end(Place at, Place end, bool last) noexcept {
  if (*at == '\n') return at + 1;
  if (at + 1 == end) return last ? end : nullptr;
  return at[1] == '\n' ? at + 2 : at + 1;
}

inline std::int64_t count_line_ends(Place at, Place end) noexcept {
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

// Where in a row that is too long a text ends; the lines before that are counted above these bits.
enum class Inside : std::uint8_t { kField = 1, kPlain, kQuotes, kFirstLine };
inline constexpr int kInsideBits = 3;

struct Passed {
  Place at;
  Inside inside;
  bool ended;  // after the row's line end; else at what needs more bytes to be understood
};

// Goes to the end of a row as RowWalk does, but from anywhere in it, however long it is.
class LongRowWalk {
 public:
  LongRowWalk(const RowFormat& format, Place end, bool last) noexcept
      : format_(format), end_(end), last_(last) {}

  [[nodiscard]] Passed walk(Place at, Inside inside) const noexcept {
    while (at != end_) {
      Place next = nullptr;
      if (inside == Inside::kField) {
        const bool quoted = is(*at, format_.quote);
        next = quoted ? at + 1 : at;
        inside = quoted ? Inside::kQuotes : Inside::kPlain;
      } else if (inside == Inside::kQuotes) {
        next = pass_quotes(at, inside);
      } else {
        at = find_stop(at, inside);
        if (at == end_) break;
        if (is_line_end(*at)) {
          next = behind_line_end(at, end_, last_);
          if (next != nullptr) return {next, inside, true};
        } else if (*at == format_.separator) {
          inside = Inside::kField;
          next = at + 1;
        } else {
          next = behind_escape(at);
        }
      }
      if (next == nullptr) break;
      at = next;
    }
    return {at, inside, false};
  }

 private:
  static bool is(char c, int character) noexcept {
    return character != kNoCharacter && c == static_cast<char>(character);
  }

  // Returns the next byte outside of quotes that means something.
  [[nodiscard]] Place find_stop(Place at, Inside inside) const noexcept {
    if (inside == Inside::kFirstLine) return find_any(at, end_, '\n', '\r');
    if (format_.escape == kNoCharacter) return find_any(at, end_, format_.separator, '\n', '\r');
    return find_any(at, end_, format_.separator, '\n', '\r', static_cast<char>(format_.escape));
  }

  // Returns the place after the next quote or escape; if there is none, moves `at` to what needs
  // more bytes.
  Place pass_quotes(Place& at, Inside& inside) const noexcept {
    const char quote = static_cast<char>(format_.quote);
    at = format_.escape == kNoCharacter
             ? find_any(at, end_, quote)
             : find_any(at, end_, quote, static_cast<char>(format_.escape));
    if (at == end_) {
      if (!last_ && at[-1] == '\r') --at;  // may be half of a line end
      return nullptr;
    }
    if (*at != quote) return behind_escape(at);
    if (at + 1 == end_ && !last_) return nullptr;
    if (at + 1 != end_ && at[1] == quote) return at + 2;
    inside = Inside::kPlain;
    return at + 1;
  }

  [[nodiscard]] Place behind_escape(Place at) const noexcept {
    if (end_ - at < 2 || (end_ - at == 2 && at[1] == '\r' && !last_)) return nullptr;
    return at + 2;
  }

  const RowFormat& format_;
  Place end_;
  bool last_;
};

// One row: hands its fields to a visitor.
template <typename Visitor>
class RowWalk {
 public:
  RowWalk(const RowFormat& format, Place row, Place end, TextPlace place) noexcept
      : format_(format), row_(row), at_(row), end_(end), last_(place.last), cut_(place.cut) {}

  // Goes to the end of the row, after its line end if it is whole.
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

  // Where to stop looking: after the last byte that a row may have, and its line end.
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
    const Place stop = bound();
    if (format_.quote != kNoCharacter && at_ < stop && *at_ == static_cast<char>(format_.quote)) {
      one_line_ = false;
      const Ending ending = pass_quotes<kEscapes>(field);
      if (ending != Ending::kRow) return ending;
      ++text;
      text_end = at_ - 1;
    }
    const Place behind_quotes = at_;
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

  // Moves past the closing quote; returns kRow if there is one.
  template <bool kEscapes>
  Ending pass_quotes(Field& field) {
    const char quote = static_cast<char>(format_.quote);
    const Place stop = bound();
    ++at_;
    while (true) {
      at_ = kEscapes ? find_any(at_, stop, quote, static_cast<char>(format_.escape))
                     : find_any(at_, stop, quote);
      if (at_ >= stop) {
        if (too_long(stop)) return Ending::kTooLong;
        return last_ ? Ending::kUnclosed : Ending::kMore;
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

}  // namespace tfrkit
