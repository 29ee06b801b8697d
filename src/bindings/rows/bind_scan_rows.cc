#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays/convert.h"
#include "bindings/bind.h"
#include "core/rows/scan_rows.h"

namespace tfrkit {
namespace {

Int64Array copy_of(std::span<const std::int64_t> numbers) {
  const Int64Batch memory(numbers.size());
  std::ranges::copy(numbers, memory.span(0, numbers.size()).begin());
  return memory.array(0, numbers.size());
}

nb::bytes bytes_of(const std::vector<std::uint8_t>& numbers) {
  return nb::bytes(numbers.data(), numbers.size());
}

std::string text_of(nb::handle bytes) {
  const auto typed = nb::cast<nb::bytes>(bytes);
  return {typed.c_str(), typed.size()};
}

int character(int code) {
  if (code < kNoCharacter || code > 127) {
    throw nb::value_error("expected a character below 128, or -1");
  }
  return code;
}

void init(RowScanner* self, std::size_t columns, int separator, int quote, int escape,
          std::pair<int, int> inner, std::pair<bool, bool> flags,
          std::pair<std::size_t, std::size_t> limits, const nb::list& nulls) {
  RowFormat format;
  if (character(separator) == kNoCharacter) throw nb::value_error("expected a separator");
  format.separator = static_cast<char>(separator);
  format.quote = character(quote);
  format.escape = character(escape);
  format.list_separator = character(inner.first);
  format.map_separator = character(inner.second);
  format.blank_rows = flags.first;
  format.check_utf8 = flags.second;
  format.max_field = limits.first;
  format.max_row = limits.second;
  for (const nb::handle null : nulls) format.nulls.push_back(text_of(null));
  new (self) RowScanner(std::move(format), columns);
}

// Returns four numbers for each bad row: there may be as many as bytes.
Int64Array bad_of(const RowsFound& found) {
  const Int64Batch memory(4 * found.bad.size());
  auto next = memory.span(0, 4 * found.bad.size()).begin();
  for (const BadRow& row : found.bad) {
    *next++ = row.row;
    *next++ = row.line;
    *next++ = static_cast<std::int64_t>(row.fault);
    *next++ = row.detail;
  }
  return memory.array(0, 4 * found.bad.size());
}

// Returns (place, kind, line, text) of each.
nb::list firsts_of(const RowsFound& found) {
  nb::list made;
  for (const FirstValue& first : found.firsts) {
    made.append(nb::make_tuple(first.column, static_cast<int>(first.kind), first.line,
                               nb::bytes(first.text.data(), first.text.size())));
  }
  return made;
}

nb::tuple survey(const RowScanner& self, const InputBytes& text, bool last, std::int64_t long_row,
                 std::int64_t max_rows) {
  RowsFound found;
  {
    const nb::gil_scoped_release released;
    found = self.survey(text.bytes(), {last, long_row, max_rows, false});
  }
  return nb::make_tuple(found.consumed, found.rows, found.lines, found.long_row,
                        bytes_of(found.seen), copy_of(found.kinds), firsts_of(found));
}

ColumnCheck check_of(nb::handle item) {
  const auto fields = nb::cast<nb::tuple>(item);
  if (fields.size() != 5) throw nb::value_error("expected five values for each column");
  ColumnCheck check;
  check.fits = nb::cast<std::uint8_t>(fields[0]);
  check.value_fits = nb::cast<std::uint8_t>(fields[1]);
  check.list = nb::cast<bool>(fields[2]);
  check.map = nb::cast<bool>(fields[3]);
  check.separator = text_of(fields[4]);
  if ((check.list || check.map) && check.separator.empty()) {
    throw nb::value_error("expected a separator for the items of a list");
  }
  return check;
}

nb::tuple check(const RowScanner& self, const InputBytes& text, const nb::list& columns, bool last,
                std::int64_t long_row, std::int64_t max_rows, bool cut) {
  std::vector<ColumnCheck> checks;
  for (const nb::handle column : columns) checks.push_back(check_of(column));
  if (checks.size() != self.columns()) throw nb::value_error("expected as many checks as columns");
  RowsFound found;
  {
    const nb::gil_scoped_release released;
    found = self.check(text.bytes(), {last, long_row, max_rows, cut}, checks);
  }
  return nb::make_tuple(found.consumed, found.lines, found.long_row, copy_of(found.begins),
                        copy_of(found.ends), bad_of(found), bytes_of(found.nulls));
}

}  // namespace

void bind_scan_rows(nb::module_& module) {
  nb::class_<RowScanner>(module, "RowScanner", "Finds the rows of delimited text.")
      .def("__init__", init, nb::arg("columns"), nb::arg("separator"), nb::arg("quote"),
           nb::arg("escape"), nb::arg("inner"), nb::arg("flags"), nb::arg("limits"),
           nb::arg("nulls"),
           nb::sig("def __init__(self, columns: int, separator: int, quote: int, escape: int, "
                   "inner: tuple[int, int], flags: tuple[bool, bool], limits: tuple[int, int], "
                   "nulls: list[bytes]) -> None"),
           "Characters are codes, -1 for none; inner: between items, and key and value; flags:\n"
           "blank lines are rows, text must be UTF-8; limits: bytes of a field, of a row.")
      .def("survey", survey, nb::arg("text"), nb::arg("last"), nb::arg("long_row"),
           nb::arg("max_rows") = -1,
           nb::sig("def survey(self, text: typing_extensions.Buffer, last: bool, long_row: int, "
                   "max_rows: int = -1) -> tuple[int, int, int, int, bytes, "
                   "numpy.typing.NDArray[numpy.int64], list[tuple[int, int, int, bytes]]]"),
           "Return bytes consumed, rows, lines, where in a row that is too long the text ended (0: "
           "in\n"
           "none), and of each column and then of the values of maps: what was seen, how many\n"
           "values are integers, other numbers, texts and nothing of these, and the first of each\n"
           "kind (place, kind, lines before its row, beginning of the value).")
      .def("check", check, nb::arg("text"), nb::arg("columns"), nb::arg("last"),
           nb::arg("long_row"), nb::arg("max_rows") = -1, nb::arg("cut") = false,
           nb::sig("def check(self, text: typing_extensions.Buffer, "
                   "columns: list[tuple[int, int, bool, bool, bytes]], last: bool, "
                   "long_row: int, max_rows: int = -1, cut: bool = False) -> tuple[int, int, int, "
                   "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], "
                   "numpy.typing.NDArray[numpy.int64], bytes]"),
           "Take for each column (fits, fits of a map's values, is a list, is a map, separator).\n"
           "`cut`: other rows follow in the file, so that the last has a line end.\n"
           "Return bytes consumed, lines, where in a row that is too long the text ended (0: in\n"
           "none), where rows begin and end, the bad ones (four numbers each: row, lines before "
           "it, fault,\n"
           "detail), and which fields are one of the texts for null (rows x columns; empty if\n"
           "there are none).");
}

}  // namespace tfrkit
