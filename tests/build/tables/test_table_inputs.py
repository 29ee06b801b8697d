"""Which files are inputs, what their paths say, and of which format they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tfrkit.build.tables.table_inputs import find_inputs, guess_format
from tfrkit.errors import InvalidArgumentError, NotFoundError


def make(folder: Path, *names: str, content: bytes = b"{}\n") -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def names(found) -> list[str]:
    return [file.name for file in found]


def test_folder_is_all_files_below_it_but_hidden_ones(tmp_path):
    make(tmp_path, "b.jsonl", "sub/a.jsonl", "_SUCCESS", ".b.crc", "_temporary/0/x.jsonl", ".git/y.jsonl")
    assert names(find_inputs([tmp_path])) == ["b.jsonl", "sub/a.jsonl"]


def test_files_keep_the_order_in_which_they_are_given(tmp_path):
    make(tmp_path, "a.jsonl", "b.jsonl")
    assert names(find_inputs([tmp_path / "b.jsonl", tmp_path / "a.jsonl"])) == ["b.jsonl", "a.jsonl"]


def test_pattern_is_sorted_and_may_match_folders(tmp_path):
    make(tmp_path, "d/dt=2/x", "d/dt=1/x", "d/dt=1/_SUCCESS", "d/other")
    assert names(find_inputs([f"{tmp_path}/d/dt=*"])) == ["dt=1/x", "dt=2/x"]
    assert names(find_inputs([f"{tmp_path}/d/**/x"])) == ["dt=1/x", "dt=2/x"]


def test_file_whose_name_is_a_pattern_is_itself(tmp_path):
    make(tmp_path, "a[1].jsonl", "a1.jsonl")
    assert names(find_inputs([tmp_path / "a[1].jsonl"])) == ["a[1].jsonl"]


def test_list_names_inputs_one_a_line(tmp_path, monkeypatch):
    monkeypatch.chdir(make(tmp_path, "a.jsonl", "d/b.jsonl"))
    Path("list.txt").write_bytes(b"\xef\xbb\xbfa.jsonl\r\n\n# not this\nd/*.jsonl\n")
    assert names(find_inputs(["@list.txt"])) == ["a.jsonl", "b.jsonl"]


def test_missing_list_is_an_error(tmp_path):
    with pytest.raises(NotFoundError, match=r"list\.txt"):
        find_inputs([f"@{tmp_path}/list.txt"])


def test_missing_file_and_pattern_are_errors(tmp_path):
    with pytest.raises(NotFoundError, match=r"no\.csv; No such file"):
        find_inputs([tmp_path / "no.csv"])
    with pytest.raises(NotFoundError, match="No files matched pattern"):
        find_inputs([f"{tmp_path}/*.csv"])


def test_folder_without_files_is_an_error(tmp_path):
    make(tmp_path, "_SUCCESS")
    with pytest.raises(NotFoundError, match="No files are in this folder"):
        find_inputs([tmp_path])


def test_input_that_is_given_twice_is_an_error(tmp_path):
    make(tmp_path, "a.jsonl")
    with pytest.raises(InvalidArgumentError, match="given twice"):
        find_inputs([tmp_path, tmp_path / "a.jsonl"])


def test_links_in_a_circle_end(tmp_path):
    make(tmp_path, "d/a.jsonl")
    os.symlink(tmp_path, tmp_path / "d" / "up")
    assert names(find_inputs([tmp_path / "d"])) == ["a.jsonl"]


def test_link_to_nothing_names_the_file(tmp_path):
    os.symlink(tmp_path / "gone", tmp_path / "a.jsonl")
    with pytest.raises(NotFoundError, match=r"a\.jsonl"):
        find_inputs([tmp_path])


def test_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidArgumentError, match="pipe or device"):
        find_inputs([tmp_path / "pipe"])


def test_output_folder_is_no_input(tmp_path):
    make(tmp_path, "a.jsonl", "out/b.jsonl")
    assert names(find_inputs([tmp_path], out=str(tmp_path / "out"))) == ["a.jsonl"]
    with pytest.raises(InvalidArgumentError, match="this is the output folder, too"):
        find_inputs([tmp_path], out=str(tmp_path))


def test_same_names_are_told_apart_by_their_folders(tmp_path):
    make(tmp_path, "x/a.jsonl", "y/a.jsonl", "b.jsonl")
    found = find_inputs([tmp_path / "x" / "a.jsonl", tmp_path / "y/a.jsonl", tmp_path / "b.jsonl"])
    assert names(found) == ["x/a.jsonl", "y/a.jsonl", "b.jsonl"]


def test_names_in_any_bytes(tmp_path):
    name = os.fsdecode(b"\xff\xe4 x.jsonl")
    make(tmp_path, name, "数据 1.jsonl")
    assert sorted(names(find_inputs([tmp_path]))) == sorted([name, "数据 1.jsonl"])


def test_folders_become_columns_as_hive_writes_them(tmp_path):
    make(tmp_path, "t/dt=2024-01-01/city=S%C3%A3o%20Paulo%2F1/000000_0")
    [file] = find_inputs([tmp_path / "t"])
    assert file.partition == {"dt": "2024-01-01", "city": "São Paulo/1"}
    [file] = find_inputs([tmp_path / "t"], partitions=False)
    assert file.partition == {}


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", b"", "csv"),
        ("a.TSV", b"", "tsv"),
        ("a.csv.gz", b"", "csv"),
        ("a.ndjson", b"", "jsonl"),
        ("a.parquet", b"", "parquet"),
        ("a.feather", b"", "arrow"),
        ("000000_0", b"1\x012\n", "hive"),
        ("part-0", b"a\tb\n", "tsv"),
        ("part-0", b'\xef\xbb\xbf {"a": 1}\n', "jsonl"),
        ("part-0", b"PAR1....", "parquet"),
        ("part-0", b"ARROW1\0\0", "arrow"),
        ("part-0", b"\xff\xff\xff\xff\x10", "arrow"),
    ],
)
def test_format_is_told_by_suffix_or_content(tmp_path, name, content, expected):
    make(tmp_path, name, content=content)
    assert guess_format(find_inputs([tmp_path])) == expected


def test_empty_file_without_suffix_fits_the_others(tmp_path):
    make(tmp_path, "000000_0", content=b"")
    make(tmp_path, "000001_0", content=b"1\x012\n")
    assert guess_format(find_inputs([tmp_path])) == "hive"


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"a.csv": b"", "b.jsonl": b""}, "inputs of one format but .*a.csv is csv and .*b.jsonl is jsonl"),
        (
            {"a": b"hello world"},
            r"neither the suffix nor the content tells the format: it looks like text\. Pass",
        ),
        ({"a": b"\xfe\xfd\xfc"}, r"it looks like unknown data that begins with fefdfc\. Pass format="),
        ({"a": b"\x1f\x8b\x08"}, "got gzip"),
        ({"a": b"ORC1"}, r"got an ORC file\. Unpack or convert it first"),
        ({"a": b"II*\0\x08\0\0\0"}, r"got a TIFF image\. Unpack or convert it first"),
        ({"a": b"%PDF-1.7\n"}, r"got a PDF file\. Unpack or convert it first"),
        ({"a": b""}, "no format can be told from empty files"),
    ],
)
def test_format_that_cannot_be_told_is_an_error(tmp_path, files, text):
    for name, content in files.items():
        make(tmp_path, name, content=content)
    with pytest.raises(InvalidArgumentError, match=text):
        guess_format(find_inputs([tmp_path]))
