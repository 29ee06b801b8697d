"""A JSON array: each element is a row, with the bytes that JSON lines give, however it is written and cut."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit
from tests.build.support.tables import build, one_by_one, write_lines
from tfrkit.build.tables import line_runs, text_source
from tfrkit.build.tables.jsonl.json_array import JsonArrayFormat
from tfrkit.build.tables.table_inputs import find_inputs, guess_format
from tfrkit.cli.main import run
from tfrkit.errors import DataLossError, InvalidArgumentError

ROWS = [
    {
        "id": n,
        "x": n / 7,
        "s": 'a "quote" \\ [{,]} ' + "é" * (n % 5),
        "l": [n, n + 1],
        "o": {"p": [], "q": str(n)},
    }
    for n in range(200)
]
WAYS = {
    "one line": json.dumps(ROWS),
    "no blanks": json.dumps(ROWS, separators=(",", ":")),
    "a row a line": "[\n" + ",\n".join(map(json.dumps, ROWS)) + "\n]\n",
    "commas first": "[" + "\n,".join(map(json.dumps, ROWS)) + "]",
    "pretty": json.dumps(ROWS, indent=4),
    "pretty, with returns": json.dumps(ROWS, indent="\t").replace("\n", "\r\n") + "\r\n",
    "mark": "\ufeff \n" + json.dumps(ROWS, ensure_ascii=False),
}
MEND = "Fix the file, or write one object a line (JSON lines), of which only bad lines are left out."


def shards_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.tfrecord")}


@pytest.fixture
def expected(tmp_path):
    """The shards that JSON lines give."""
    tfrkit.build.table(write_lines(tmp_path / "lines.jsonl", *ROWS), tmp_path / "expected", shards=3)
    return shards_of(tmp_path / "expected")


@pytest.mark.parametrize("chunk", [13, 4 << 20])
@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize("way", WAYS)
def test_array_gives_what_lines_give(way, packing, chunk, tmp_path, monkeypatch, expected):
    monkeypatch.setattr(line_runs, "PIECE_BYTES", chunk)
    monkeypatch.setattr(text_source, "_STREAM_BYTES", chunk)
    data = WAYS[way].encode()
    (tmp_path / f"a.json{packing}").write_bytes(gzip.compress(data) if packing else data)
    for workers in (1, 3):
        out = tmp_path / f"out-{workers}"
        report = tfrkit.build.table(tmp_path / f"a.json{packing}", out, shards=3, workers=workers)
        assert not report.bad
        assert shards_of(out) == expected


@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "part-0", "a.txt"])
def test_array_is_found_by_suffix_by_content_or_by_name(name, tmp_path, capsys):
    data = b'\xef\xbb\xbf\n[ {"a": 1}, {"a": 2} ]'
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("z") else data)
    arguments = ["--format", "json"] if name == "a.txt" else []
    assert run(["build", "table", str(tmp_path / name), str(tmp_path / "out"), *arguments]) == 0
    assert "columns: a: int64" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "form"),
    [(b'{"a": 1}', "jsonl"), (b" \n[]", "json"), (b"[", "json"), (b'["x"]', "json"), (b"x", "jsonl")],
)
def test_content_decides_between_lines_and_array(content, form, tmp_path):
    (tmp_path / "a.json").write_bytes(content)
    assert guess_format(find_inputs([tmp_path])) == form


def test_lines_and_arrays_are_not_mixed(tmp_path):
    (tmp_path / "a.json").write_bytes(b'[{"a": 1}]')
    (tmp_path / "b.json").write_bytes(b'{"a": 1}')
    (tmp_path / "c.json").write_bytes(b"")
    with pytest.raises(
        InvalidArgumentError,
        match=r"Expected inputs of one format but .*a\.json is json and .*b\.json is jsonl\. Build them one after",
    ):
        build(tmp_path, tmp_path / "out")


def test_array_without_elements_is_fine_among_others(tmp_path):
    (tmp_path / "a.json").write_bytes(b"[]")
    with pytest.raises(InvalidArgumentError, match=r"No rows in the input: .*a\.json"):
        build(tmp_path / "a.json", tmp_path / "out")
    (tmp_path / "b.json").write_bytes(b' [ {"a": 1} ] ')
    (tmp_path / "c.json").write_bytes(b"\n[\n]\n")
    (tmp_path / "d.json").write_bytes(b" \n")
    assert one_by_one(tmp_path, tmp_path / "out", format="json") == [{"a": [1]}]


def test_bad_elements_are_named_with_number_line_and_byte(tmp_path):
    lines = [
        '[{"n": 1}, 5',
        ', {"n": 2,}, ["x", {"n": 3}],',
        '{"n": "a',
        'b"}, {"n": 4}, {"n": 1, "n": 2}, {"n": 3} 4]',
    ]
    (tmp_path / "a.json").write_text("\n".join(lines))
    found, report = build(tmp_path / "a.json", tmp_path / "out", column=["n:int64"])
    assert found == [{"n": [1]}, {"n": [4]}]
    assert [item.shown for item in report.listed] == [
        "a.json, line 1: not a JSON object: element 2, byte 11: 5",
        (
            "a.json, line 2: not valid JSON: element 3, byte 15: Expecting property name enclosed in double quotes at "
            "character 9"
        ),
        "a.json, line 2: not a JSON object: element 4, byte 26: a list",
        "a.json, line 3: not valid JSON: element 5, byte 43: Invalid control character at character 9",
        "a.json, line 4: duplicate key: element 7, byte 67: 'n' is there twice",
        "a.json, line 4: not valid JSON: element 8, byte 85: Extra data at character 10",
    ]
    with pytest.raises(
        InvalidArgumentError, match=r"^a\.json, line 1: not a JSON object: element 2, byte 11: 5\. Fix"
    ):
        build(tmp_path / "a.json", tmp_path / "raise", on_bad="raise")


def test_value_that_does_not_fit_is_named_with_number_line_and_byte(tmp_path):
    (tmp_path / "a.json").write_text('[{"n": 1},\n {"n": "x"}]')
    _, report = build(tmp_path / "a.json", tmp_path / "out", column=["n:int64"])
    assert [item.shown for item in report.listed] == [
        "a.json, line 2: a value does not fit its column: element 2, byte 12: column 'n': 'x' is not an int64"
    ]


@pytest.mark.parametrize("chunk", [64, 4 << 20])
def test_long_element_is_bad_and_not_kept(chunk, tmp_path, monkeypatch):
    monkeypatch.setattr(line_runs, "PIECE_BYTES", chunk)
    long = '{"n": "' + r"x\\\" " * 500 + '",\n "m": [\n]}'
    rows = ['{"n": 1}', long, '{"n": 2}', '{"n": 3}', long]
    (tmp_path / "a.json").write_text("[\n" + ",\n".join(rows) + "\n]")
    found, report = build(tmp_path / "a.json", tmp_path / "out", max_field=1000, shards=2)
    assert found == [{"n": [1]}, {"n": [2]}, {"n": [3]}]
    assert [(item.line, item.reason) for item in report.listed] == [
        (3, "element longer than max_field"),
        (8, "element longer than max_field"),
    ]
    starts = [item.detail.partition(":")[0] for item in report.listed]
    assert starts == ["element 2, byte 12", f"element 5, byte {12 + len(long) + 22}"]


CUT = "Copy the file again, or close the quote or bracket that is open there."


@pytest.mark.parametrize("chunk", [3, 4 << 20])
@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[", "before its first element"),
        ('[{"a": 1},\n', "after element 1"),
        ('[{"a": 1},\n {"a"', "inside element 2, which begins in line 2 at byte 12"),
        ('[{"a": 1},\n {"a": 2}', "inside element 2, which begins in line 2 at byte 12"),
        ('[{"a": [1}, {"a": 2}]', "inside element 1, which begins in line 1 at byte 1"),
        ('[\n\n{"a": "x}, {"a": 2}]', "inside element 1, which begins in line 3 at byte 3"),
    ],
)
def test_cut_array_is_an_error_that_says_so(text, where, chunk, tmp_path, monkeypatch):
    monkeypatch.setattr(line_runs, "PIECE_BYTES", chunk)
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataLossError) as caught:
        build(tmp_path / "a.json", tmp_path / "out")
    assert str(caught.value) == f"{tmp_path}/a.json: the array is cut: the file ends {where}. {CUT}"
    assert not list((tmp_path).glob("out/*.tfrecord"))


def test_array_that_is_cut_anywhere_is_never_built(tmp_path):
    text = b' [{"a": "x\\\\"}, {"a": "\\"]"},\n{"b": [1, {}]}] '
    assert json.loads(text)
    for size in range(2, text.rindex(b"]")):
        (tmp_path / "a.json").write_bytes(text[:size])
        with pytest.raises(DataLossError, match=r"the array is cut: the file ends (inside|after|before)"):
            build(tmp_path / "a.json", tmp_path / "out")


def test_cut_long_element_is_an_error_that_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(line_runs, "PIECE_BYTES", 100)
    (tmp_path / "a.json").write_text('[1,\n "' + "x" * 5000)
    with pytest.raises(
        DataLossError, match=r"ends inside element 2, which begins in line 2 at byte 5\. Copy"
    ):
        build(tmp_path / "a.json", tmp_path / "out", max_field=1000)


@pytest.mark.parametrize("chunk", [3, 4 << 20])
@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ('[{"a": 1},,8]', "line 1, byte 10", "a value as element 2, and no comma too many, but got ',8]'"),
        ('[{"a": 1},\n]', "line 2, byte 11", "a value as element 2, and no comma too many, but got ']'"),
        ("[,]", "line 1, byte 1", "a value as element 1, and no comma too many, but got ',]'"),
        ('[{"a": 1}}\n', "line 1, byte 9", "',' or ']' after element 1 but got '}\\n'"),
        ('[{"a": 1}]\n\n [2]', "line 3, byte 13", "nothing after the end of the array but got '[2]'"),
        ("\n 17", "line 2, byte 2", "a JSON array, which begins with '[', but got '17'"),
    ],
)
def test_what_is_no_array_is_refused_with_its_place(text, place, what, chunk, tmp_path, monkeypatch):
    monkeypatch.setattr(line_runs, "PIECE_BYTES", chunk)  # of which the rest may be cut
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InvalidArgumentError) as caught:
        build(tmp_path / "a.json", tmp_path / "out", format="json")
    text = str(caught.value)
    if chunk > 3:
        assert text == f"{tmp_path}/a.json, {place}: expected {what}. {MEND}"
    assert text.startswith(f"{tmp_path}/a.json, {place}: expected {what.partition(' but got')[0]} but got ")


def test_object_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "a.json").write_text('{"rows": [{"a": 1}, {"a": 2}]}')
    with pytest.raises(InvalidArgumentError) as caught:
        build(tmp_path / "a.json", tmp_path / "out", format="json")
    assert str(caught.value) == (
        f"{tmp_path}/a.json: expected a JSON array but got a JSON object. If every line is an object, pass "
        "format='jsonl' (--format jsonl); if the rows are a list inside of it, write that list alone: "
        "jq '.NAME' FILE > rows.json."
    )


def test_compressed_array_that_is_cut_is_an_error(tmp_path):
    data = gzip.compress(json.dumps(ROWS).encode())
    (tmp_path / "a.json.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(
        DataLossError, match=r"a\.json\.gz: the compressed data ends too early\. Copy the file"
    ):
        build(tmp_path / "a.json.gz", tmp_path / "out")


def chunks_of(text: bytes, size: int) -> Iterator[bytes]:
    return (text[at : at + size] for at in range(0, len(text), size))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=4)
    | st.sampled_from(['"', "\\", '\\"', "[{", ",]"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(
    values=st.lists(VALUES, max_size=6),
    indent=st.sampled_from([None, 0, 3]),
    ascii_only=st.booleans(),
    size=st.integers(1, 40),
)
def test_elements_are_those_of_the_parser(values, indent, ascii_only, size):
    text = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode()
    found = []
    for one in JsonArrayFormat().runs(chunks_of(text, size), 7, "a", None):
        lines = one.data.split(b"\n")[:-1]
        assert len(lines) == one.rows == len(one.begins) == len(one.numbers)
        for line, begin in zip(lines, one.begins, strict=True):
            assert text.replace(b"\n", b"\r")[begin - 7 :].startswith(line)
        found += map(json.loads, lines)
    assert found == values


def test_memory_does_not_depend_on_the_length_of_a_line():
    element = b'{"a": [1, 2, 3], "text": "' + b"x" * 1000 + b'"}'

    def chunks() -> Iterator[bytes]:
        yield b"["
        for _ in range(64):
            yield (element + b", ") * 1000  # a megabyte
        yield element + b"]"

    tracemalloc.start()
    try:
        rows = sum(one.rows for one in JsonArrayFormat().runs(chunks(), 0, "a", None))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rows == 64_001
    assert peak < 16 << 20
