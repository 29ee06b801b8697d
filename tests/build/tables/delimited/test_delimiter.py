"""A delimiter that is not the one of the format is noticed and named; files of one column are built."""

from __future__ import annotations

import gzip

import pytest

from tests.build.support.tables import build, one_by_one
from tfrkit.cli.main import run
from tfrkit.errors import InvalidArgumentError


def text(other: str, path: object, own: str = ",", rows: int = 3, width: int = 2) -> str:
    return (
        f"{path}: {own!r} does not separate the first row, but {other!r} cuts each of the first {rows} rows into "
        f"{width} fields. Pass delimiter={other!r} (--delimiter {other!r}), or delimiter={own!r} "
        f"(--delimiter {own!r}) if it is one column."
    )


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("other", [";", "\t", "|", "\x01"])
def test_other_delimiter_is_named_with_the_remedy(other, packed, tmp_path):
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    data = f"id{other}name\n1{other}x\n2{other}y".encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    with pytest.raises(InvalidArgumentError) as caught:
        build(path, tmp_path / "out")
    assert str(caught.value) == text(other, path)
    assert not list(tmp_path.glob("out/*.tfrecord"))
    assert one_by_one(path, tmp_path / "out", delimiter=other) == [
        {"id": [1], "name": [b"x"]},
        {"id": [2], "name": [b"y"]},
    ]


def test_remedy_of_the_message_works_in_the_command(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_bytes(b"id\tname\n1\tx\n2\ty\n")
    assert run(["build", "table", str(path), str(tmp_path / "out")]) == 1
    assert "--delimiter '\\t'" in " ".join(capsys.readouterr().err.split())
    assert run(["build", "table", str(path), str(tmp_path / "out"), "--delimiter", "\\t"]) == 0
    assert "columns: id: int64, name: bytes" in capsys.readouterr().err
    assert run(["build", "table", str(path), str(tmp_path / "one"), "--delimiter", ","]) == 0


@pytest.mark.parametrize(
    ("data", "width"),
    [
        (b"a;b\n1,5;2\n2,5;3\n", 2),  # decimal commas
        (b'"a";"b"\n"x;y";1\n"line\nend";2\n', 2),
        (b"a;b;c|d\n1;2;3|4\n5;6;7|8\n", 3),  # two of them: the one with more fields
    ],
)
def test_commas_and_quotes_in_fields_do_not_hide_it(data, width, tmp_path):
    (tmp_path / "a.csv").write_bytes(data)
    with pytest.raises(InvalidArgumentError) as caught:
        build(tmp_path / "a.csv", tmp_path / "out")
    assert str(caught.value) == text(";", tmp_path / "a.csv", width=width)


def test_names_that_no_row_has_fields_for(tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"1,x\n2,y\n3,z\n")
    with pytest.raises(InvalidArgumentError) as caught:
        build(tmp_path / "a.tsv", tmp_path / "out", names=["id", "name"])
    assert str(caught.value) == text(",", tmp_path / "a.tsv", own="\t")


def test_rows_without_a_header_are_looked_at(tmp_path):
    (tmp_path / "000000_0").write_bytes(b"1\tx\n2\ty\n")
    with pytest.raises(InvalidArgumentError) as caught:
        build(tmp_path / "000000_0", tmp_path / "out", format="hive")
    assert str(caught.value) == text("\t", tmp_path / "000000_0", own="\x01", rows=2)


@pytest.mark.parametrize(
    ("data", "options", "rows"),
    [
        (b"text\na;b\nc;d\n", {}, [b"a;b", b"c;d"]),  # the header has none
        (b"a;b\n1;2\n3\n", {}, [b"1;2", b"3"]),  # not in all rows
        (b"a;b\n1;2\n3;4;5\n", {}, [b"1;2", b"3;4;5"]),
        (b"a\n1\n2\n", {}, [1, 2]),
        (b"a;b\n1;2\n", {"delimiter": ","}, [b"1;2"]),  # said to be one column
        (b"1;2\n3;4\n", {"names": ["a;b"]}, [b"1;2", b"3;4"]),
        (b"1;2\n", {"header": False}, [b"1;2"]),  # one row proves nothing
        (b'"a;b"\n"1;2"\n', {}, [b"1;2"]),
    ],
)
def test_file_of_one_column_is_built(data, options, rows, tmp_path):
    (tmp_path / "a.csv").write_bytes(data)
    found = one_by_one(tmp_path / "a.csv", tmp_path / "out", **options)
    assert [value for row in found for [value] in row.values()] == rows
