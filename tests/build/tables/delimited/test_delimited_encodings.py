"""Delimited text in other encodings, with byte order marks, and in compressed files."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from unittest import mock

import pytest

from tests.build.support.delimited import read_table
from tfrkit.build.tables.delimited import row_windows
from tfrkit.build.tables.text_source import canonical_encoding
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.optional import require

TEXT = "编号,名\n1,中文\n2,日本\n"
VALUES = {"编号": [1, 2], "名": ["中文".encode(), "日本".encode()]}


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "UTF8", "gbk", "GB18030", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "shift_jis", "big5"],
)
def test_text_of_any_encoding_becomes_utf8(tmp_path: Path, encoding: str) -> None:
    text = TEXT.replace("编号", "id") if encoding in ("shift_jis", "big5") else TEXT
    text = text.replace("名", "n")
    table = read_table(tmp_path, text.encode(encoding), encoding=encoding)
    assert list(table.values.values()) == [[1, 2], ["中文".encode(), "日本".encode()]]
    assert not table.bad


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16-le", "utf-8-sig"])
def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path, encoding: str) -> None:
    data = "\ufeff".encode(encoding.removesuffix("-sig")) + TEXT.encode(encoding.removesuffix("-sig"))
    assert read_table(tmp_path, data, encoding=encoding).values == VALUES


def test_bytes_of_characters_are_no_separators(tmp_path: Path) -> None:
    text = "a|b\n丂|亅\n"  # in GBK both characters end with a byte that is a letter or sign in ASCII
    assert "|" in "亅".encode("gbk").decode("latin-1")
    table = read_table(tmp_path, text.encode("gbk"), encoding="gbk", delimiter="|")
    assert table.values == {"a": ["丂".encode()], "b": ["亅".encode()]}


def test_lines_that_are_not_of_the_encoding_are_bad(tmp_path: Path) -> None:
    utf8 = read_table(tmp_path, b"a,b\n1,\xd6\xd0\n2,\xe4\xb8\xad\n3,\xff\n4,x\n")
    assert utf8.values == {"a": [2, 4], "b": ["中".encode(), b"x"]}
    assert utf8.bad_lines == [(2, "not valid utf-8"), (4, "not valid utf-8")]
    gbk = read_table(tmp_path, b"a,b\n1,\xd6\xd0\n2,\xff\xff\n3,\x81\n4,x\n", encoding="gbk")
    assert gbk.values == {"a": [1, 4], "b": ["中".encode(), b"x"]}
    assert gbk.bad_lines == [(3, "not valid gbk"), (4, "not valid gbk")]


def test_binary_takes_bytes_as_they_are(tmp_path: Path) -> None:
    assert read_table(tmp_path, b"a\tb\n1\t\xff\xfe\n", kind="tsv", encoding="binary").values == {
        "a": [1],
        "b": [b"\xff\xfe"],
    }


def test_utf16_that_was_not_announced_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match=r"byte order mark of utf-16.*--encoding utf-16"):
        read_table(tmp_path, TEXT.encode("utf-16"))


def test_an_encoding_that_does_not_exist_is_an_error() -> None:
    for name in ("utf-9", "base64", ""):
        with pytest.raises(InvalidArgumentError, match="Expected the name of a text encoding"):
            canonical_encoding(name)


def test_a_header_of_another_encoding_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"line 1: the names .* not of the file's encoding.*--encoding"
    ):
        read_table(tmp_path, TEXT.encode("gbk"))


def zstd(data: bytes) -> bytes:
    compressed: bytes = require("zstandard", "the test").ZstdCompressor().compress(data)
    return compressed


@pytest.mark.parametrize(
    "compress", [gzip.compress, bz2.compress, lzma.compress, zstd], ids=["gzip", "bzip2", "xz", "zstd"]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_compressed_files_are_read_through(tmp_path: Path, compress: object, encoding: str) -> None:
    assert callable(compress)
    data = b"id,s\n" + b"".join(b"%d,x%d\n" % (i, i) for i in range(3000)) + b"bad\n3000,y\n"
    with mock.patch.object(row_windows, "WINDOW_BYTES", 4096):
        table = read_table(tmp_path, compress(data.decode().encode(encoding)), encoding=encoding)
    assert table.values["id"] == list(range(3001))
    assert table.bad_lines == [(3002, "wrong number of fields")]
    assert [(piece.rows, piece.first_line) for piece in table.survey.pieces] == [(3002, 2)]


def test_a_compressed_file_that_ends_too_early_is_an_error(tmp_path: Path) -> None:
    data = gzip.compress(TEXT.encode() * 1000)
    for cut in (data[:-20], bz2.compress(TEXT.encode() * 1000)[:-9]):
        with pytest.raises(DataLossError, match="table"):
            read_table(tmp_path, cut)
