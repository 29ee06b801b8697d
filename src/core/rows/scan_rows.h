// Rows of delimited text: where they end, what their fields hold, and which are bad.
//
// The grammar is that of pyarrow's reader and of Python's csv module. A line ends with \n, \r\n or
// \r. A field that begins with the quote continues to the next quote that is not doubled; what
// follows that up to the separator belongs to the field too. A quote elsewhere is a character like
// others. An escape makes the next byte a plain character, line ends included.
//
// A row that is too long is one bad row up to where it ends, quotes and all. Where quotes have no
// end, the row's first line is bad, and the next row begins after that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/bytes/bytes.h"
#include "core/bytes/number_text.h"

namespace tfrkit {

inline constexpr int kNoCharacter = -1;

// How the text is written. Characters are bytes below 128, or kNoCharacter.
struct RowFormat {
  char separator = ',';
  int quote = kNoCharacter;
  int escape = kNoCharacter;
  int list_separator = kNoCharacter;  // between items, where the format itself has lists
  int map_separator = kNoCharacter;   // between key and value of an item
  bool blank_rows = false;  // a blank line is a row of one empty field; else it is nothing
  bool check_utf8 = true;
  std::size_t max_field = 0;  // bytes; a longer field makes its row bad
  std::size_t max_row = 0;    // a longer row is bad, and need not be in one text
  std::vector<std::string> nulls;
};

// Why a row is bad. The numbers are part of the Python module.
enum class RowFault : std::uint8_t {
  kFields = 1,     // another number of fields; detail: how many
  kValue = 2,      // a value of another kind; detail: its column
  kLongField = 3,  // detail: its column
  kLongRow = 4,
  kUnclosed = 5,  // a quote is not closed, or the text ends in an escape
  kUtf8 = 6,
  kNullItem = 7,  // a null inside a list; detail: its column
  kNoKey = 8,     // an item of a map without a key; detail: its column
};

struct BadRow {
  std::int64_t row = 0;   // number in this text
  std::int64_t line = 0;  // line ends before it in this text
  RowFault fault = RowFault::kFields;
  std::int64_t detail = 0;
};

// What is asked of a column where types are settled.
struct ColumnCheck {
  std::uint8_t fits = 0;        // kFits flags of which the value needs one; 0: anything
  std::uint8_t value_fits = 0;  // the same for the values of a map
  bool list = false;
  bool map = false;
  std::string separator;  // between the items of a list or map
};

// The kinds that values are counted by; what is null, or nothing, counts for none of them.
enum class ValueKind : std::uint8_t { kInt = 0, kFloat = 1, kText = 2, kNone = 3 };
inline constexpr std::size_t kValueKinds = 4;

// The first value of a kind in a column.
struct FirstValue {
  std::size_t column = 0;  // place in `seen`: the values of maps come after all columns
  ValueKind kind = ValueKind::kNone;
  std::int64_t line = 0;  // line ends before its row in this text
  std::string text;       // its beginning
};

// The result of scanning a text.
struct RowsFound {
  std::size_t consumed = 0;  // bytes of whole rows, and of blank lines
  std::int64_t rows = 0;     // bad ones included
  std::int64_t lines = 0;    // line ends in the consumed bytes; the end of the text may be one
  // Not 0: the text ended in a row that is too long. Hand this to the next call; the row counts
  // where it ends. If there is no next text, its quotes have no end: hand this over with the text
  // from where the row began, which is the text whose call returned the first such number.
  std::int64_t long_row = 0;
  std::int64_t bad_rows = 0;
  std::vector<BadRow> bad;           // check: why, in order
  std::vector<std::uint8_t> seen;    // survey: of each column, then of the values of maps
  std::vector<std::int64_t> kinds;   // survey: values of each kind, for each place in `seen`
  std::vector<FirstValue> firsts;    // survey: of each kind and place in `seen`
  std::vector<std::int64_t> begins;  // check: where each row begins and ends
  std::vector<std::int64_t> ends;
  std::vector<std::uint8_t> nulls;  // check, if there are texts for null: rows x columns
};

// Where in a file a text stands.
struct TextPlace {
  bool last = true;           // nothing follows: the end of the text ends a row
  std::int64_t long_row = 0;  // as the call for the text before has said
  std::int64_t max_rows = -1;
  bool cut =
      false;  // other rows follow, though nothing of these: a row without a line end has none
};

class RowScanner {
 public:
  RowScanner(RowFormat format, std::size_t columns)
      : format_(std::move(format)), columns_(columns) {}

  // Looks at what good rows hold. Rows of another number of fields are bad.
  [[nodiscard]] RowsFound survey(Bytes text, TextPlace place) const;

  // Finds the rows, and those that do not fit. Precondition: as many checks as columns.
  [[nodiscard]] RowsFound check(Bytes text, TextPlace place,
                                std::span<const ColumnCheck> checks) const;

  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }

 private:
  RowFormat format_;
  std::size_t columns_;
};

}  // namespace tfrkit
