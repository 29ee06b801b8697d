#include "core/rows/scan_rows.h"

#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/check.h"

namespace tfrkit {
namespace {

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

RowFormat csv() {
  RowFormat format;
  format.quote = '"';
  format.max_field = 1000;
  format.max_row = 2000;
  return format;
}

RowFormat hive() {
  RowFormat format = csv();
  format.separator = ';';
  format.quote = kNoCharacter;
  format.list_separator = '|';
  format.map_separator = ':';
  format.nulls = {"\\N"};
  return format;
}

// Rows as "begin-end", bad ones with their line and fault. A row that began in a text before this
// one has its beginning there.
std::string shown(const RowsFound& found, std::int64_t offset = 0, std::int64_t lines = 0,
                  std::int64_t long_begin = -1) {
  std::string text;
  std::size_t bad = 0;
  for (std::size_t i = 0; i < found.begins.size(); ++i) {
    std::string fault;
    if (bad < found.bad.size() && found.bad[bad].row == static_cast<std::int64_t>(i)) {
      const BadRow& row = found.bad[bad++];
      fault = "!" + std::to_string(row.line + lines) + ":" +
              std::to_string(static_cast<int>(row.fault)) + ":" + std::to_string(row.detail);
    }
    const bool carried = i == 0 && long_begin >= 0;
    text += std::to_string(carried ? long_begin : found.begins[i] + offset) + "-" +
            std::to_string(found.ends[i] + offset) + fault + " ";
  }
  CHECK_EQ(bad, found.bad.size());
  return text;
}

std::string check_all(const RowFormat& format, std::string_view text,
                      const std::vector<ColumnCheck>& checks) {
  return shown(RowScanner(format, checks.size()).check(bytes_of(text), {}, checks));
}

// The same, handing over `size` bytes more at a time, and asking for `max_rows` rows.
std::string check_split(const RowFormat& format, std::string_view text,
                        const std::vector<ColumnCheck>& checks, std::size_t size,
                        std::int64_t max_rows) {
  const RowScanner scanner(format, checks.size());
  std::string result;
  TextPlace place;
  place.max_rows = max_rows;
  std::size_t begin = 0;
  std::size_t long_begin = 0;
  std::size_t end = size;
  std::int64_t lines = 0;
  while (begin < text.size()) {
    place.last = end >= text.size();
    const std::string_view part =
        text.substr(begin, place.last ? text.size() - begin : end - begin);
    const RowsFound found = scanner.check(bytes_of(part), place, checks);
    if (place.long_row == 0) long_begin = begin;
    result += shown(found, static_cast<std::int64_t>(begin), lines,
                    place.long_row == 0 ? -1 : static_cast<std::int64_t>(long_begin));
    begin += found.consumed;
    lines += found.lines;
    place.long_row = found.long_row;
    if (place.last && found.long_row != 0) {
      begin = long_begin;
      end = begin;
    }
    CHECK(found.consumed != 0 || !place.last);
    if (found.consumed == 0 || begin >= end) end += size;
  }
  CHECK_EQ(begin, text.size());
  return result;
}

std::string seen(const RowFormat& format, std::string_view text, std::size_t columns) {
  const RowsFound found = RowScanner(format, columns).survey(bytes_of(text), {});
  std::string result;
  for (const std::uint8_t bits : found.seen) result += std::to_string(+bits) + " ";
  return result + "rows " + std::to_string(found.rows) + " lines " + std::to_string(found.lines) +
         " bad " + std::to_string(found.bad_rows);
}

const std::vector<ColumnCheck> kTwo(2);

TEST(line_ends_of_all_kinds_end_rows) {
  CHECK(check_all(csv(), "a,b\nc,d\r\ne,f\rg,h", kTwo) == "0-4 4-9 9-13 13-16 ");
  CHECK(check_all(csv(), "", kTwo).empty());
}

TEST(blank_lines_are_nothing_or_rows) {
  CHECK(check_all(csv(), "\n\na,b\n\r\n\rc,d\n\n", kTwo) == "2-6 9-13 ");
  RowFormat format = csv();
  format.blank_rows = true;
  CHECK(check_all(format, "a\n\nb\n", std::vector<ColumnCheck>(1)) == "0-2 2-3 3-5 ");
}

TEST(rows_of_another_width_are_bad_and_numbered) {
  CHECK(check_all(csv(), "a,b\n\na\na,b,c\n,\n", kTwo) == "0-4 5-7!2:1:1 7-13!3:1:3 13-15 ");
}

TEST(quotes_hold_separators_and_line_ends) {
  CHECK(check_all(csv(), "\"a,\n\"\"\",b\n\"x\"y,\"\"\nc\"d,e\n1\n", kTwo) ==
        "0-10 10-18 18-24 24-26!4:1:1 ");
}

TEST(a_quote_that_is_not_closed_costs_its_line) {
  CHECK(check_all(csv(), "a,b\nc,\"d\ne,f\ng,h", kTwo) == "0-4 4-9!1:5:0 9-13 13-16 ");
  CHECK(check_all(csv(), "a,\"", kTwo) == "0-3!0:5:0 ");
  CHECK(check_all(csv(), "a,\"\"", kTwo) == "0-4 ");
  RowFormat format = csv();
  format.max_row = 12;
  CHECK(check_all(format, "a,\"b\nc,d\ne,f\ng,h\n", kTwo) == "0-5!0:5:0 5-9 9-13 13-17 ");
}

TEST(escapes_make_plain_characters) {
  RowFormat format = csv();
  format.escape = '\\';
  CHECK(check_all(format, "a\\,a,b\\\nb\n\"\\\"\",\\\\\nx\n", kTwo) == "0-10 10-18 18-20!3:1:1 ");
  CHECK(check_all(format, "a,b\\", kTwo) == "0-4!0:5:0 ");
}

TEST(long_fields_and_rows_are_bad) {
  RowFormat format = csv();
  format.max_field = 4;
  format.max_row = 10;
  CHECK(check_all(format, "abcd,b\nabcde,b\n", kTwo) == "0-7 7-15!1:3:0 ");
  CHECK(check_all(format, "a,123456789012345\nb,c\n", kTwo) == "0-18!0:4:0 18-22 ");
  CHECK(check_all(format, "\"123456789012345\nb,c\n", kTwo) == "0-17!0:5:0 17-21 ");
  CHECK(check_all(format, "\"12345678901", kTwo) == "0-12!0:5:0 ");
}

TEST(lines_in_the_quotes_of_a_long_row_are_no_rows) {
  RowFormat format = csv();
  format.max_row = 12;
  CHECK(check_all(format, "a,\"b\nc,d\ne,f\ng,h\"\ni,\n\nj\n", kTwo) ==
        "0-18!0:4:0 18-21 22-24!6:1:1 ");
  CHECK(check_all(format, "a,12345678901234,\"\nc,d\n\"\"\r\n\"x\rb,c\n", kTwo) ==
        "0-30!0:4:0 30-34 ");
  format.escape = '\\';
  CHECK(check_all(format, "a,12345678901234\\\nb,\"\\\"\n\"\nc,d\n", kTwo) == "0-26!0:4:0 26-30 ");
}

TEST(text_that_is_not_utf8_is_bad) {
  CHECK(check_all(csv(), "a,\xc3\xa4\nb,\xc3\nc,d\n", kTwo) == "0-5 5-9!1:6:0 9-13 ");
  RowFormat format = csv();
  format.check_utf8 = false;
  CHECK(check_all(format, "b,\xc3\n", kTwo) == "0-4 ");
}

TEST(values_must_fit) {
  const std::vector<ColumnCheck> checks{{kFitsInt, 0, false, false, ""},
                                        {kFitsFloat, 0, false, false, ""}};
  CHECK(check_all(csv(), "1,0.5\n007,1\n,\n\"3\",\"4\"\nx,1\n1.5,2\n1,y\n\"\"\"\",1\n", checks) ==
        "0-6 6-12 12-14 14-22 22-26!4:2:0 26-32!5:2:0 32-36!6:2:1 36-43!7:2:0 ");
}

TEST(lists_and_maps_are_checked_by_item) {
  const std::vector<ColumnCheck> checks{{kFitsInt, 0, true, false, "|"},
                                        {0, kFitsFloat, false, true, "|"}};
  CHECK(check_all(hive(), "1|2;a:1|b:.5\n;\n\\N;\\N\n1||2;\n1|\\N;\n1;a\n1;a:x\n", checks) ==
        "0-13 13-15 15-21 21-27!3:2:0 27-33!4:7:0 33-37!5:8:1 37-43!6:2:1 ");
}

TEST(texts_for_null_are_marked) {
  const std::vector<ColumnCheck> checks(2);
  const RowsFound found = RowScanner(hive(), 2).check(bytes_of("a;\\N\n\\N;\n"), {}, checks);
  CHECK((found.nulls == std::vector<std::uint8_t>{0, 1, 1, 0}));
}

TEST(a_survey_says_what_good_rows_hold) {
  CHECK(seen(csv(), "1,2\n,0.5\n\"3\",x\nno\nx,y,z\n", 2) == "3 14 0 0 rows 5 lines 5 bad 2");
  CHECK(seen(hive(), "\\N;a:1|b:2\n1|2;c:x\n", 2) == "19 56 0 10 rows 2 lines 2 bad 0");
  CHECK(seen(csv(), "", 2) == "0 0 0 0 rows 0 lines 0 bad 0");
}

// Values of each kind by column, and the first of each as "column:kind@line=text".
std::string kinds(const RowFormat& format, std::string_view text, std::size_t columns) {
  const RowsFound found = RowScanner(format, columns).survey(bytes_of(text), {});
  std::string result;
  for (std::size_t place = 0; place < 2 * columns; ++place) {
    for (std::size_t kind = 0; kind < 3; ++kind) {
      result += std::to_string(found.kinds[place * kValueKinds + kind]) + (kind < 2 ? "/" : " ");
    }
  }
  for (const FirstValue& first : found.firsts) {
    result += std::to_string(first.column) + ":" + std::to_string(static_cast<int>(first.kind)) +
              "@" + std::to_string(first.line) + "=" + first.text + " ";
  }
  return result;
}

TEST(a_survey_counts_kinds_and_keeps_the_first_value_of_each) {
  CHECK(kinds(csv(), "1,a\n\n2,\nx\n3,\"b\nc\"\n4.5,5\noops,7\n", 2) ==
        "3/1/1 2/0/2 0/0/0 0/0/0 0:0@0=1 1:2@0=a 0:1@6=4.5 1:0@6=5 0:2@7=oops ");
  CHECK(kinds(hive(), "\\N;a:1|b:2\n1|2;c:x\n", 2) ==
        "1/0/0 0/0/2 0/0/0 1/0/1 1:2@0=a:1|b:2 3:0@0=a:1|b:2 0:0@1=1|2 3:2@1=c:x ");
  CHECK(kinds(csv(), "", 1) == "0/0/0 0/0/0 ");
}

TEST(the_first_rows_alone_can_be_asked_for) {
  TextPlace place;
  place.max_rows = 1;
  const RowsFound found = RowScanner(csv(), 0).check(bytes_of("\na,b,c\nd\n"), place, {});
  CHECK_EQ(found.consumed, 7U);
  CHECK(shown(found) == "1-7!1:1:3 ");
}

TEST(every_split_gives_the_same_rows) {
  RowFormat escaped = csv();
  escaped.escape = '\\';
  RowFormat small = csv();
  small.max_field = 3;
  small.max_row = 6;
  RowFormat tiny = escaped;
  tiny.max_field = 1;
  tiny.max_row = 4;
  const std::string_view texts[] = {
      "a,b\r\nc,\"d\r\n\"\"e\"\r\n\r\n\rx\nlong,12345678901,\xc3\xa4\n\xff,b\n\"z,\"",
      "a,\"b\nc,d\n\"\"\ne,f\n",
      "1\\,\\\n,2\\\r\n3,4\\",
      "\",\n\",\",\n\"\x01",
      "ab,cd,\"\r\n\"\n1,\"2\r\"\"\n3\"\r\n4,\"5\\\"\n\"\n",
      "a,b,\\\r\n\"c\r\n,\r\nd,\"\",\\\r\ne",
  };
  for (const RowFormat& format : {csv(), escaped, small, tiny}) {
    for (const std::string_view text : texts) {
      const std::string whole = check_all(format, text, kTwo);
      for (std::size_t size = 1; size <= text.size(); ++size) {
        for (const std::int64_t max_rows : {-1, 1, 2}) {
          CHECK(check_split(format, text, kTwo, size, max_rows) == whole);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tfrkit

TFRKIT_TEST_MAIN
