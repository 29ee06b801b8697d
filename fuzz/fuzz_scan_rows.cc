// Delimited text of any format: rows are those that a plain reading finds, surveys and checks
// agree, and neither handing the text over in parts, nor asking for some rows at a time, nor
// reading the text piece by piece changes anything.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/rows/scan_rows.h"
#include "require.h"

namespace tfrkit {
namespace {

constexpr std::size_t kOptions = 5;
constexpr std::size_t kSmall = 300;  // bytes of a text that is also handed over byte by byte

struct Row {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::int64_t line = 0;  // of bad rows only
  int fault = 0;          // 0: none
  std::int64_t detail = 0;
  bool operator==(const Row&) const = default;
};

RowFormat format_of(std::span<const std::uint8_t> options) {
  RowFormat format;
  format.separator = options[0] % 2 != 0 ? ',' : '\t';
  if ((options[0] & 2U) != 0) format.quote = '"';
  if ((options[0] & 4U) != 0) format.escape = '\\';
  if ((options[0] & 8U) != 0) {
    format.list_separator = 2;
    format.map_separator = 3;
  }
  format.blank_rows = (options[0] & 16U) != 0;
  format.check_utf8 = (options[0] & 32U) != 0;
  if ((options[0] & 64U) != 0) format.nulls = {"\\N", "NA"};
  format.max_field = options[1] + 1U;
  format.max_row = format.max_field + options[2];
  return format;
}

struct Found {
  std::vector<Row> rows;
  std::int64_t lines = 0;
};

// Finds the rows byte by byte.
class PlainReading {
 public:
  PlainReading(const RowFormat& format, Bytes text, bool cut)
      : format_(format), text_(text), cut_(cut) {}

  Found rows(std::size_t columns) {
    Found found;
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      if (is_line_end() && !format_.blank_rows) {
        pass_line_end();
        ++found.lines;
        continue;
      }
      Row row{begin, 0, found.lines, 0, 0};
      const std::int64_t fields = pass_row();
      const bool too_long = content_end_ - begin > format_.max_row;
      if (fields == 0) {  // no end
        at_ = begin;
        while (at_ < text_.size() && !is_line_end()) ++at_;
        pass_line_end();
        row.fault = static_cast<int>(RowFault::kUnclosed);
      } else if (too_long) {
        row.fault = static_cast<int>(RowFault::kLongRow);
      } else if (fields != static_cast<std::int64_t>(columns)) {
        row.fault = static_cast<int>(RowFault::kFields);
        row.detail = fields;
      }
      row.end = at_;
      found.lines += lines_of(begin, at_);
      found.rows.push_back(row);
    }
    return found;
  }

 private:
  // Returns how many fields a row has, or 0 if it has no end.
  std::int64_t pass_row() {
    std::int64_t fields = 1;
    bool begins = true;
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      const bool first = begins;
      begins = false;
      if (is(format_.escape)) {
        if (++at_ == text_.size()) return 0;
      } else if (quoted) {
        if (!is(format_.quote)) continue;
        if (at_ + 1 < text_.size() && text_[at_ + 1] == text_[at_]) {
          ++at_;
        } else {
          quoted = false;
        }
      } else if (first && is(format_.quote)) {
        quoted = true;
      } else if (is(format_.separator)) {
        ++fields;
        begins = true;
      } else if (is_line_end()) {
        content_end_ = at_;
        pass_line_end();
        return fields;
      }
    }
    content_end_ = at_;
    return quoted || cut_ ? 0 : fields;
  }

  [[nodiscard]] bool is(int character) const {
    return character != kNoCharacter && static_cast<int>(text_[at_]) == character;
  }

  [[nodiscard]] bool is_line_end() const { return is('\n') || is('\r'); }

  void pass_line_end() {
    if (at_ == text_.size()) return;
    const bool first = is('\r');
    ++at_;
    if (first && at_ < text_.size() && is('\n')) ++at_;
  }

  [[nodiscard]] std::int64_t lines_of(std::size_t begin, std::size_t end) const {
    std::int64_t lines = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const bool half =
          text_[i] == std::byte{'\r'} && i + 1 < end && text_[i + 1] == std::byte{'\n'};
      if (half) continue;
      if (text_[i] == std::byte{'\r'} || text_[i] == std::byte{'\n'}) ++lines;
    }
    const bool line_end = text_[end - 1] == std::byte{'\r'} || text_[end - 1] == std::byte{'\n'};
    return lines + (line_end ? 0 : 1);
  }

  const RowFormat& format_;
  Bytes text_;
  bool cut_;
  std::size_t at_ = 0;
  std::size_t content_end_ = 0;
};

struct Parts {
  std::size_t size = 0;        // bytes that are handed over at first, and then more at a time
  std::int64_t max_rows = -1;  // of a call
  bool cut = false;
};

Found check_parts(const RowScanner& scanner, std::span<const ColumnCheck> checks, Bytes text,
                  Parts parts) {
  Found all;
  std::size_t begin = 0;
  std::size_t end = std::min(parts.size, text.size());
  std::size_t long_begin = 0;
  TextPlace place;
  while (begin < text.size()) {
    place.last = end == text.size();
    place.max_rows = parts.max_rows;
    place.cut = parts.cut && place.last;
    const RowsFound found = scanner.check(text.subspan(begin, end - begin), place, checks);
    REQUIRE(found.consumed <= end - begin);
    REQUIRE(parts.max_rows < 0 || found.rows <= parts.max_rows);
    REQUIRE(found.begins.size() == static_cast<std::size_t>(found.rows));
    REQUIRE(found.bad.size() == static_cast<std::size_t>(found.bad_rows));
    auto bad = found.bad.begin();
    for (std::size_t i = 0; i < found.begins.size(); ++i) {
      Row row{begin + static_cast<std::size_t>(found.begins[i]),
              begin + static_cast<std::size_t>(found.ends[i]), 0, 0, 0};
      if (i == 0 && place.long_row != 0) row.begin = long_begin;
      if (bad != found.bad.end() && bad->row == static_cast<std::int64_t>(i)) {
        row.line = all.lines + bad->line;
        row.fault = static_cast<int>(bad->fault);
        row.detail = bad->detail;
        ++bad;
      }
      all.rows.push_back(row);
    }
    REQUIRE(bad == found.bad.end());
    all.lines += found.lines;
    if (found.long_row != 0 && place.long_row == 0) long_begin = begin;
    place.long_row = found.long_row;
    const bool stuck = found.consumed == 0;
    begin += found.consumed;
    if (place.last && found.long_row != 0) {  // quotes without an end
      begin = long_begin;
      end = std::min(begin + parts.size, text.size());
      continue;
    }
    REQUIRE(!place.last || !stuck);
    if (stuck || end == begin) end = std::min(end + parts.size, text.size());
  }
  return all;
}

// A plain reading knows the rows, and these faults of theirs.
void compare_with_plain(const Found& found, const Found& plain) {
  REQUIRE(found.lines == plain.lines);
  REQUIRE(found.rows.size() == plain.rows.size());
  for (std::size_t i = 0; i < plain.rows.size(); ++i) {
    const Row& row = found.rows[i];
    const Row& expected = plain.rows[i];
    REQUIRE(row.begin == expected.begin && row.end == expected.end);
    if (row.fault != 0) REQUIRE(row.line == expected.line);
    const auto fault = static_cast<RowFault>(row.fault);
    const bool known =
        fault == RowFault::kUnclosed || fault == RowFault::kLongRow || fault == RowFault::kFields;
    REQUIRE((known ? row.fault : 0) == expected.fault);
    REQUIRE((known ? row.detail : 0) == expected.detail);
  }
}

void compare(const Found& left, const Found& right) {
  REQUIRE(left.lines == right.lines);
  REQUIRE(left.rows == right.rows);
}

// What follows the end of a row is read alike without what comes before.
void compare_pieces(const RowScanner& scanner, std::span<const ColumnCheck> checks, Bytes text,
                    const Found& whole, Parts parts) {
  if (whole.rows.empty()) return;
  const std::size_t last = parts.size % whole.rows.size();
  const std::size_t end = whole.rows[last].end;
  parts.cut = end < text.size();
  Found both = check_parts(scanner, checks, text.first(end), parts);
  REQUIRE(both.rows.size() == last + 1);
  parts.cut = false;
  const Found rest = check_parts(scanner, checks, text.subspan(end), parts);
  for (Row row : rest.rows) {
    row.begin += end;
    row.end += end;
    if (row.fault != 0) row.line += both.lines;
    both.rows.push_back(row);
  }
  both.lines += rest.lines;
  compare(both, whole);
}

void run(std::span<const std::uint8_t> input) {
  if (input.size() < kOptions) return;
  const RowFormat format = format_of(input);
  const std::size_t columns = input[3] % 8;
  const Bytes text = std::as_bytes(input.subspan(kOptions));
  std::vector<ColumnCheck> checks(columns);
  if (columns > 0) checks[0].fits = kFitsInt;
  if (columns > 1) checks[1] = {kFitsFloat, 0, true, false, "|"};
  if (columns > 2) checks[2] = {0, kFitsFloat, false, true, "\x02"};
  const RowScanner scanner(format, columns);
  const Found whole = check_parts(scanner, checks, text, {text.size(), -1, false});
  compare_with_plain(whole, PlainReading(format, text, false).rows(columns));
  const RowsFound surveyed = scanner.survey(text, {});
  REQUIRE(surveyed.consumed == text.size());
  REQUIRE(surveyed.rows == static_cast<std::int64_t>(whole.rows.size()));
  REQUIRE(surveyed.lines == whole.lines);
  REQUIRE(surveyed.bad_rows <=
          std::ranges::count_if(whole.rows, [](const Row& row) { return row.fault != 0; }));

  for (std::size_t column = 0; column < columns; ++column) {
    const auto counted = std::span(surveyed.kinds).subspan(column * kValueKinds, kValueKinds);
    REQUIRE(std::accumulate(counted.begin(), counted.end(), std::int64_t{0}) ==
            surveyed.rows - surveyed.bad_rows);
  }
  for (const FirstValue& first : surveyed.firsts) {
    const std::size_t place = first.column * kValueKinds + static_cast<std::size_t>(first.kind);
    REQUIRE(surveyed.kinds[place] > 0 && first.line < std::max<std::int64_t>(surveyed.lines, 1));
  }

  const Found cut = check_parts(scanner, checks, text, {text.size(), -1, true});
  compare_with_plain(cut, PlainReading(format, text, true).rows(columns));
  std::vector<std::size_t> sizes{input[4] + 1U, input[4] % 16U + 1U};
  if (text.size() <= kSmall) sizes.push_back(1);
  if (!text.empty()) sizes.push_back(text.size() - input[4] % text.size());
  for (const std::size_t size : sizes) {
    for (const std::int64_t max_rows : {-1, 1, 3}) {
      compare(check_parts(scanner, checks, text, {size, max_rows, false}), whole);
      compare(check_parts(scanner, checks, text, {size, max_rows, true}), cut);
      compare_pieces(scanner, checks, text, whole, {size, max_rows, false});
    }
  }
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run({data, size});
  return 0;
}
