// Delimited text of any format: surveys and checks agree, rows follow one another inside the text,
// and handing the text over in two parts changes nothing.
#include <cstdint>
#include <string>
#include <vector>

#include "require.h"
#include "scan_rows.h"

namespace tfrkit {
namespace {

constexpr std::size_t kOptions = 5;

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

void check_rows(const RowsFound& found, std::size_t size) {
  REQUIRE(found.begins.size() == static_cast<std::size_t>(found.rows));
  REQUIRE(found.consumed <= size);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < found.begins.size(); ++i) {
    REQUIRE(found.begins[i] >= at);
    REQUIRE(found.ends[i] >= found.begins[i]);
    at = found.ends[i];
  }
  REQUIRE(static_cast<std::size_t>(at) <= found.consumed);
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
  const RowsFound whole = scanner.check(text, {}, checks);
  check_rows(whole, text.size());
  REQUIRE(whole.consumed == text.size());
  REQUIRE(whole.bad.size() == static_cast<std::size_t>(whole.bad_rows));
  const RowsFound surveyed = scanner.survey(text, {});
  REQUIRE(surveyed.rows == whole.rows);
  REQUIRE(surveyed.lines == whole.lines);
  REQUIRE(surveyed.bad_rows <= whole.bad_rows);

  const std::size_t cut = text.empty() ? 0 : input[4] % text.size();
  TextPlace place{false, false, -1, false};
  const RowsFound first = scanner.check(text.first(cut), place, checks);
  check_rows(first, cut);
  // With quotes, rows that are over the limit or not closed may be cut elsewhere in parts than in
  // the whole.
  if (format.quote != kNoCharacter) return;
  place = {true, first.in_long_row, -1, false};
  const RowsFound second = scanner.check(text.subspan(first.consumed), place, checks);
  REQUIRE(first.rows + second.rows == whole.rows);
  REQUIRE(first.lines + second.lines == whole.lines);
  REQUIRE(first.bad.size() + second.bad.size() == whole.bad.size());
}

}  // namespace
}  // namespace tfrkit

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfrkit::run({data, size});
  return 0;
}
