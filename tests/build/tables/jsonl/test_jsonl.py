"""JSON lines: every value as the line says, bad lines with their numbers, nothing that ends the process."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import lzma
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit
from tests.build.support.tables import build, one_by_one, write_lines
from tfrkit.build.job.job import TaskReporter
from tfrkit.build.tables import line_runs
from tfrkit.build.tables.jsonl import jsonl
from tfrkit.build.tables.jsonl.jsonl_block import parse_block
from tfrkit.build.tables.line_format import LineFormat
from tfrkit.build.tables.table_format import InputFile, Seen
from tfrkit.build.tables.table_schema import ColumnChoice, settle
from tfrkit.engines.local import Stop
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.optional import require

USUAL = b'{"n": 1}'


def bad(report) -> list[tuple[int | None, str]]:
    return [(found.line, found.reason) for found in report.listed]


@pytest.fixture(params=["block", "line by line"])
def way(request, monkeypatch):
    """Both ways of reading lines, which must agree."""
    if request.param == "line by line":
        monkeypatch.setattr(jsonl, "parse_block", lambda *_: None)
    return request.param


@pytest.mark.usefixtures("way")
class TestBothWays:
    def test_values_have_the_kind_that_json_gives_them(self, tmp_path):
        path = write_lines(
            tmp_path / "a.jsonl",
            {"i": 1, "f": 1.0, "s": "1", "b": True, "l": [1, 2], "t": ["x"], "o": {"p": {"q": 2.5}}},
            {"i": -(2**63), "f": 2.5, "s": "", "b": False, "l": [], "t": ["y", "z"], "o": {"p": None}},
        )
        assert one_by_one(path, tmp_path / "out") == [
            {"i": [1], "f": [1.0], "s": [b"1"], "b": [1], "l": [1, 2], "t": [b"x"], "o/p/q": [2.5]},
            {"i": [-(2**63)], "f": [2.5], "s": [b""], "b": [0], "l": [], "t": [b"y", b"z"]},
        ]

    def test_null_and_missing_are_absent(self, tmp_path):
        path = write_lines(tmp_path / "a.jsonl", {"a": 1, "b": None}, {"b": "x"}, {})
        assert one_by_one(path, tmp_path / "out") == [{"a": [1]}, {"b": [b"x"]}, {}]

    def test_null_value_stands_for_null_and_missing(self, tmp_path):
        path = write_lines(tmp_path / "a.jsonl", {"a": 1, "b": None, "l": [1, None]}, {"b": "x", "l": None})
        found = one_by_one(path, tmp_path / "out", null_value={"a": -1, "b": "?", "l": 0})
        assert found == [{"a": [1], "b": [b"?"], "l": [1, 0]}, {"a": [-1], "b": [b"x"], "l": [0]}]

    def test_texts_that_look_like_times_stay_texts(self, tmp_path):
        texts = [
            "2024-01-01",
            "2024-01-01T00:00:00Z",
            "2024-01-01 10:00:00",
            "12:30:00",
            "2024-01-01T00:00:00.120",
        ]
        lines = [{"t": text, "l": [text], "o": {"t": text}} for text in texts]
        found = one_by_one(write_lines(tmp_path / "a.jsonl", *lines), tmp_path / "out")
        expected = [[text.encode()] for text in texts]
        assert [row["t"] for row in found] == expected
        assert [row["l"] for row in found] == expected
        assert [row["o/t"] for row in found] == expected

    def test_integers_among_fractions_are_floats(self, tmp_path):
        path = write_lines(tmp_path / "a.jsonl", {"a": 1}, {"a": 2.5}, {"a": True})
        assert one_by_one(path, tmp_path / "out") == [{"a": [1.0]}, {"a": [2.5]}, {"a": [1.0]}]

    def test_integers_beyond_int64_make_texts(self, tmp_path):
        path = write_lines(tmp_path / "a.jsonl", {"a": 9007199254740993}, {"a": 2**63}, {"a": 10**30})
        found = one_by_one(path, tmp_path / "out")
        assert found == [
            {"a": [b"9007199254740993"]},
            {"a": [b"9223372036854775808"]},
            {"a": [b"1" + b"0" * 30]},
        ]

    def test_large_integers_are_exact(self, tmp_path):
        numbers = [2**53 + 1, 2**63 - 1, -(2**63) + 1]
        path = write_lines(tmp_path / "a.jsonl", *({"a": number} for number in numbers))
        assert [row["a"] for row in one_by_one(path, tmp_path / "out")] == [[number] for number in numbers]

    def test_mixed_kinds_are_texts(self, tmp_path):
        path = write_lines(
            tmp_path / "a.jsonl", {"a": 12}, {"a": "x"}, {"a": 2.50}, {"a": True}, {"a": [1, "y"]}
        )
        found = [row["a"] for row in one_by_one(path, tmp_path / "out")]
        assert found == [[b"12"], [b"x"], [b"2.5"], [b"true"], [b"1", b"y"]]

    def test_values_and_lists_mix(self, tmp_path):
        path = write_lines(tmp_path / "a.jsonl", {"a": 1}, {"a": [2, 3]}, {"a": []}, {})
        assert one_by_one(path, tmp_path / "out") == [{"a": [1]}, {"a": [2, 3]}, {"a": []}, {}]

    def test_nan_and_infinity_are_floats(self, tmp_path):
        path = write_lines(
            tmp_path / "a.jsonl", b'{"a": NaN}', b'{"a": Infinity}', b'{"a": -Infinity}', b'{"a": 1e400}'
        )
        found = [row["a"][0] for row in one_by_one(path, tmp_path / "out")]
        assert np.isnan(found[0])
        assert found[1:] == [np.inf, -np.inf, np.inf]

    def test_unicode_and_escapes(self, tmp_path):
        path = write_lines(tmp_path / "a.jsonl", '{"名": "中\\u0000\\ud83d\\ude00\\/"}'.encode())
        assert one_by_one(path, tmp_path / "out") == [{"名": ["中\0😀/".encode()]}]

    def test_bytes_come_as_base64(self, tmp_path):
        def text(data: bytes) -> str:
            return base64.b64encode(data).decode()

        path = write_lines(
            tmp_path / "a.jsonl",
            {"a": {"$base64": text(b"\xff")}, "l": {"$base64": [text(b"\x80"), ""]}},
            {"a": {"$base64": text(b"abc")}, "l": {"$base64": []}},
        )
        assert one_by_one(path, tmp_path / "out") == [
            {"a": [b"\xff"], "l": [b"\x80", b""]},
            {"a": [b"abc"], "l": []},
        ]

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (b"{", "not valid JSON"),
            (b'{"n": 01}', "not valid JSON"),
            (b'{"n": 1,}', "not valid JSON"),
            (b"{'n': 1}", "not valid JSON"),
            (b'{"n": 1} {"n": 2}', "not valid JSON"),
            (b'{"n": Inf}', "not valid JSON"),
            (b'{"n": "a\tb"}', "not valid JSON"),
            (b'{"n": {"$base64": "?"}}', "a value does not fit its column"),
            (b'{"n": {"$base64": null}}', "a value does not fit its column"),
            (b'{"$feature_lists": 3}', "not valid JSON"),
            (b"[1]", "not a JSON object"),
            (b"null", "not a JSON object"),
            (b'"x"', "not a JSON object"),
            (b'{"n": 1, "n": 2}', "duplicate key"),
            (b'{"o": {"n": 1}, "o/n": 2}', "duplicate key"),
            (b'{"n": "\xff"}', "not UTF-8"),
            (b'{"n": "\\ud800"}', "not Unicode"),
            (b'{"x": ' + b"[" * 20_000 + b"]" * 20_000 + b"}", "nested too deep"),
            (b'{"x": ' + b'{"y": ' * 20_000 + b"1" + b"}" * 20_001, "nested too deep"),
            (b'{"x": "]", "y": ' + b"[" * 20_000, "nested too deep"),
            (b'{"n": "' + b"x" * 5000 + b'"}', "line longer than max_field"),
        ],
    )
    def test_bad_line_is_reported_with_its_number(self, tmp_path, line, reason):
        path = write_lines(tmp_path / "a.jsonl", USUAL, b"", line, b"  \t", b'{"n": 3}\r')
        found, report = build(path, tmp_path / "out", max_field=4000 if b"xxx" in line else 1 << 20)
        assert found == [{"n": [1]}, {"n": [3]}]
        assert bad(report) == [(3, reason)]
        assert dict(report.bad) == {reason: 1}
        assert report.listed[0].source == "a.jsonl"

    def test_misfit_of_a_given_kind_is_a_bad_line(self, tmp_path):
        path = write_lines(
            tmp_path / "a.jsonl", {"a": 1}, {"a": 2.0}, {"a": "3"}, {"a": 4.5}, {"a": "x"}, {"a": 2**64}
        )
        found, report = build(path, tmp_path / "out", column=["a:int64"])
        assert found == [{"a": [1]}, {"a": [2]}, {"a": [3]}]
        assert [(item.line, item.detail) for item in report.listed] == [
            (4, "column 'a': 4.5 is not an int64"),
            (5, "column 'a': 'x' is not an int64"),
            (6, "column 'a': 18446744073709551616 is not an int64"),
        ]

    def test_null_inside_a_list_is_a_bad_line(self, tmp_path):
        path = write_lines(tmp_path / "a.jsonl", {"a": [1]}, {"a": [1, None]})
        found, report = build(path, tmp_path / "out")
        assert found == [{"a": [1]}]
        assert (
            report.listed[0].detail
            == "column 'a': a null inside a list; give a value for nulls (--null-value)"
        )

    def test_nested_list_among_values_is_a_bad_line(self, tmp_path):
        path = write_lines(tmp_path / "a.jsonl", {"a": [1]}, {"a": [[1]]}, {"a": [{"b": 1}]})
        found, report = build(path, tmp_path / "out")
        assert found == [{"a": [1]}]
        assert [item.line for item in report.listed] == [2, 3]

    def test_column_of_nested_lists_is_refused_unless_dropped(self, tmp_path):
        path = write_lines(tmp_path / "a.jsonl", {"a": [[1]], "b": 1}, {"a": [{"c": 1}], "b": 2})
        with pytest.raises(InvalidArgumentError, match=r"column 'a': lists of lists or of objects.*--drop a"):
            build(path, tmp_path / "out")
        assert one_by_one(path, tmp_path / "out", drop=["a"]) == [{"b": [1]}, {"b": [2]}]

    def test_texts_are_cut_at_separators(self, tmp_path):
        path = write_lines(
            tmp_path / "a.jsonl", {"t": "a|b", "i": "1,2"}, {"t": "", "i": "3"}, {"t": None, "i": ""}
        )
        found = one_by_one(path, tmp_path / "out", column=["t:bytes[|]", "i:int64[,]"])
        assert found == [{"t": [b"a", b"b"], "i": [1, 2]}, {"t": [], "i": [3]}, {"i": []}]


def test_both_ways_agree_on_mixed_data_however_it_is_cut(tmp_path, monkeypatch):
    lines = []
    for n in range(300):
        line = {
            "id": n,
            "x": n / 7 if n % 3 else n,
            "s": f"2024-01-{n % 28 + 1:02d}",
            "m": n if n % 50 else "odd",
        }
        if n % 40 == 0:
            line["big"] = 2**60 + n
        lines.append(line)
    path = write_lines(tmp_path / "a.jsonl", *lines, b"{bad", *lines)
    quick, report = build(path, tmp_path / "quick", shards=7)
    monkeypatch.setattr(line_runs, "BLOCK_BYTES", 1000)
    small, again = build(path, tmp_path / "small", shards=3)
    monkeypatch.setattr(jsonl, "parse_block", lambda *_: None)
    slow, _ = build(path, tmp_path / "slow", shards=5)
    assert quick == small == slow
    assert bad(report) == bad(again) == [(301, "not valid JSON")]


def test_usual_blocks_are_not_read_line_by_line(tmp_path, monkeypatch):
    def refuse(*_):
        raise AssertionError("line by line")

    monkeypatch.setattr(LineFormat, "columns", refuse)
    lines = [
        {"id": n, "x": n / 3, "t": "2024-01-01", "text": "[{" * 200, "l": [n] * (n % 3)} for n in range(50)
    ]
    assert len(one_by_one(write_lines(tmp_path / "a.jsonl", *lines), tmp_path / "out")) == 50


def test_block_with_ids_for_keys_is_read_line_by_line():
    lines = b"".join(b'{"u%d": 1}\n' % n for n in range(20_000))
    assert parse_block(lines) is None
    assert parse_block(b'{"u": 1}\n' * 20_000) is not None


def test_objects_over_several_lines_or_several_in_a_line_are_no_rows():
    assert parse_block(b'{"a": 1}{"a": 2}\n\n') is None
    assert parse_block(b'{"a":\n1}\n{"a": 2}{"a": 3}\n') is None
    assert parse_block(b'{"a": {}\n}\n') is None


def test_memory_of_parsing_does_not_depend_on_keys(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", *({f"u{n}": n} for n in range(3000)))
    found = one_by_one(path, tmp_path / "out", columns=["u7", "u2999"])
    assert found[7] == {"u7": [7]}
    assert found[2999] == {"u2999": [2999]}


def test_line_that_is_too_long_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(line_runs, "PIECE_BYTES", 100)
    long = b'{"n": "' + b"x" * 2000 + b'"}'
    path = write_lines(tmp_path / "a.jsonl", *[USUAL] * 40, long, *[USUAL] * 3, long)
    found, report = build(path, tmp_path / "out", max_field=1000, shards=3)
    assert len(found) == 43
    assert [(item.line, item.detail) for item in report.listed] == [(41, "2010 bytes"), (45, "2010 bytes")]


def test_last_line_needs_no_end_and_the_first_may_have_a_mark(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"a": 1}\n{"a": 2}')
    assert one_by_one(tmp_path / "a.jsonl", tmp_path / "out") == [{"a": [1]}, {"a": [2]}]


def test_numbers_beyond_float_are_infinite_without_a_warning(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", b'{"a": 1e300}', b'{"a": [1, -1e300]}', b'{"a":')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, report = build(path, tmp_path / "out", workers=1)
    assert found == [{"a": [np.inf]}, {"a": [1.0, -np.inf]}]
    assert report.bad == {"not valid JSON": 1}


@pytest.mark.parametrize("packed", [False, True])
def test_one_object_over_several_lines_is_refused(tmp_path, packed):
    path = tmp_path / ("a.json.gz" if packed else "a.json")
    data = json.dumps({"rows": [{"a": 1}, {"a": 2}]}, indent=1).replace("{\n   ", "{").encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    with pytest.raises(InvalidArgumentError) as caught:
        build(path, tmp_path / "out")
    assert str(caught.value) == (
        f"{path}: expected one JSON object a line but got one over several lines. Write each on one line (jq -c . FILE "
        "> rows.jsonl); if the rows are a list inside of it, write that list alone: jq '.NAME' FILE > rows.json."
    )


def test_list_of_rows_in_one_object_is_named(tmp_path):
    path = write_lines(tmp_path / "a.json", {"v": 1, "data": {"rows": [{"a": 1}, {"a": 2}]}})
    with pytest.raises(InvalidArgumentError) as caught:
        build(path, tmp_path / "out")
    assert str(caught.value) == (
        f"{path}: column 'data/rows': lists of lists or of objects have no place in a feature. If its elements are the "
        "rows, write them alone (jq '.data.rows' FILE > rows.json), or leave it out: --drop data/rows."
    )
    assert one_by_one(path, tmp_path / "out", drop=["data/rows"]) == [{"v": [1]}]


def test_array_in_a_file_of_lines_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps([{"a": 1}], indent=1))
    with pytest.raises(InvalidArgumentError) as caught:
        build(tmp_path / "a.jsonl", tmp_path / "out")
    assert str(caught.value) == (
        f"{tmp_path}/a.jsonl: expected one JSON object a line but got a JSON array. "
        "Pass format='json' (--format json)."
    )


def test_first_line_that_is_cut_is_one_bad_line(tmp_path):
    path = write_lines(tmp_path / "a.json", b'{"n": 1,', USUAL, b'"x"')
    found, report = build(path, tmp_path / "out")
    assert found == [{"n": [1]}]
    assert bad(report) == [(1, "not valid JSON"), (3, "not a JSON object")]


PACKED = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: require("zstandard", "zstd").compress(data),
}


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json", "part-0"])
def test_compressed_lines_are_read(tmp_path, name, suffix):
    rows = [{"n": n, "s": f"{n:05d}" * 20} for n in range(12_000)]
    path = write_lines(tmp_path / name, *rows)
    (tmp_path / "packed").mkdir()
    packed = tmp_path / "packed" / (name + suffix if "." in name else name)  # by suffix, or by content
    packed.write_bytes(PACKED[suffix](path.read_bytes()))
    tfrkit.build.table(path, tmp_path / "plain", shards=3)
    for workers in (1, 2):
        out = tmp_path / f"out-{workers}"
        tfrkit.build.table(packed, out, shards=3, workers=workers)
        assert shards_of(out) == shards_of(tmp_path / "plain")


def shards_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.tfrecord")}


def test_bad_lines_of_compressed_files_have_their_numbers(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'\xef\xbb\xbf{"n": 1}\n\n{"n":\n{"n": 2}'))
    found, report = build(tmp_path / "a.jsonl.gz", tmp_path / "out", shards=2)
    assert found == [{"n": [1]}, {"n": [2]}]
    assert bad(report) == [(3, "not valid JSON")]


def test_long_line_of_a_compressed_file_is_not_kept(tmp_path):
    long = b'{"n": "' + b"x" * (3 << 20) + b'"}'
    path = write_lines(tmp_path / "a.jsonl", USUAL, long, USUAL, long)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    found, report = build(tmp_path / "a.jsonl.gz", tmp_path / "out", max_field=1000)
    assert len(found) == 2
    assert bad(report) == [(2, "line longer than max_field"), (4, "line longer than max_field")]


def test_compressed_lines_that_are_cut_are_an_error(tmp_path):
    data = gzip.compress(b'{"a": 1}\n' * 1000)
    (tmp_path / "a.jsonl.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(
        DataLossError,
        match=r"a\.jsonl\.gz: the compressed data ends too early\. Copy the file again\.$",
    ):
        build(tmp_path / "a.jsonl.gz", tmp_path / "out")


def test_options_of_delimited_text_are_refused(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {"a": 1})
    for options in ({"delimiter": ";"}, {"names": ["a"]}, {"encoding": "gbk"}, {"nulls": ["x"]}):
        with pytest.raises(
            InvalidArgumentError, match="this option is for delimited text, and the input is jsonl"
        ):
            build(path, tmp_path / "out", **options)


def test_long_line_is_bad_whatever_is_around_it(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", USUAL, {"n": 2, "s": "x" * 200}, {"n": 3, "s": "x" * 50})
    found, report = build(path, tmp_path / "out", max_field=100)
    assert [row["n"] for row in found] == [[1], [3]]
    assert [item.shown for item in report.listed] == [
        "a.jsonl, line 2: line longer than max_field: 217 bytes"
    ]
    assert [column.kind for column in report.columns] == ["int64", "bytes"]


@pytest.mark.parametrize("packed", [False, True])
def test_other_encoding_is_refused_with_what_to_do(tmp_path, packed):
    path = tmp_path / ("a.jsonl.gz" if packed else "a.jsonl")
    data = '{"a": 1}\n'.encode("utf-16")
    path.write_bytes(gzip.compress(data) if packed else data)
    with pytest.raises(InvalidArgumentError) as caught:
        build(path, tmp_path / "out")
    assert str(caught.value) == (
        f"{path}: the file begins with the byte order mark of utf-16, which is not utf-8. "
        "Write it as UTF-8 first (iconv -f utf-16 -t utf-8)."
    )


def test_on_bad_raise_ends_at_the_first_bad_line(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", USUAL, b"x", b"y")
    with pytest.raises(
        InvalidArgumentError, match=r"a.jsonl, line 2: not valid JSON: Expecting value.*--on-bad skip"
    ):
        build(path, tmp_path / "out", on_bad="raise")


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-5, 5),
    st.floats(width=32),
    st.text(max_size=3),
    st.sampled_from(["2024-01-01", "2024-01-01T10:00:00Z", "12", "[", '{"a"', "\u2028", "Inf"]),
)
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.lists(st.lists(st.integers(0, 3), max_size=2), max_size=2),
    st.dictionaries(st.sampled_from(["x", "y", "$base64"]), SCALARS, max_size=2),
    st.just({"$base64": "/+8="}),
)
LINES = st.one_of(
    st.dictionaries(st.sampled_from(["a", "b", "c", "a/x"]), VALUES, max_size=4).map(
        lambda line: json.dumps(line).encode()
    ),
    st.sampled_from(
        [b"", b" ", b"{", b"[]", b'{"a": 1}{"a": 2}', b'{"a": Inf}', b'{"a": -NaN}', b'{"a":\r1}', b"\r"]
    ),
)


@given(
    lines=st.lists(LINES, max_size=12),
    kind=st.sampled_from([None, "int64", "float", "bytes"]),
    size=st.sampled_from([20, 10_000]),
)
@settings(max_examples=60)
def test_both_ways_agree_on_anything(lines, kind, size):
    found = []
    for parse in (parse_block, lambda *_: None):
        with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
            patch.setattr(jsonl, "parse_block", parse)
            patch.setattr(line_runs, "BLOCK_BYTES", size)
            found.append(read_all(Path(folder), b"\n".join(lines), kind))
    assert found[0] == found[1]


def read_all(folder: Path, data: bytes, kind: str | None):
    """The survey of some bytes, the records, and the bad lines."""
    (folder / "a").write_bytes(data)
    form = jsonl.JsonlFormat()
    reporter = TaskReporter(Stop(), "skip", lambda *_: None)
    survey = form.survey(InputFile(str(folder / "a"), "a", {}, len(data)), reporter)
    # Integers among fractions need not be seen.
    seen = {
        name: found & ~Seen.INT if Seen.FLOAT in found else found for name, found in survey.columns.items()
    }
    names = sorted(set(survey.columns) - set(survey.refused))
    if not names:
        return seen, dict(survey.refused)
    kept = replace(survey, columns={name: survey.columns[name] for name in names})
    columns = settle([kept], ColumnChoice(kinds={} if kind is None else {names[0]: (kind, None)}))
    records = [
        record
        for piece in survey.pieces
        for batch in form.read(piece, range(piece.rows), columns, reporter)
        if len(next(iter(batch.values())))
        for record in tfrkit.encode_examples({column.feature: batch[column.key] for column in columns})
    ]
    return seen, dict(survey.refused), records, reporter.listed
