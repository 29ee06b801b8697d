from __future__ import annotations

import re
from pathlib import Path

import pytest

from tfrkit.codecs.table import all_codecs, canonical, codec, from_suffix, names, record_codecs, sniff
from tfrkit.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (None, ""),
        ("", ""),
        ("none", ""),
        ("NONE", ""),
        ("gzip", "GZIP"),
        ("Zlib", "ZLIB"),
        ("xz", "XZ"),
        ("zstd", "ZSTD"),
    ],
)
def test_names_are_accepted_in_any_case(given, name):
    assert canonical(given) == name
    assert name in names()


def test_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(InvalidArgumentError) as caught:
        canonical("lz4")
    assert str(caught.value) == "Unknown compression 'lz4': expected none, GZIP, ZLIB, XZ or ZSTD."
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.tfrecord", ""),
        ("a.tfrecord.gz", "GZIP"),
        ("a.GZIP", "GZIP"),
        ("a.zlib", "ZLIB"),
        ("a.zz", "ZLIB"),
        ("a.xz", "XZ"),
        ("a.zst", "ZSTD"),
        ("a.ZSTD", "ZSTD"),
        ("gz", ""),
        ("folder.gz/a", ""),
    ],
)
def test_suffix_promises_a_compression(path, name):
    assert from_suffix(path) == name


def test_what_is_only_read_is_no_compression_of_records():
    assert [each.name for each in all_codecs() if each not in record_codecs()] == ["BZIP2"]
    assert sniff(b"BZh91AY&SY").name == "BZIP2"
    assert from_suffix("a.bz2") == ""
    with pytest.raises(InvalidArgumentError, match="Unknown compression 'bzip2'"):
        canonical("bzip2")


def test_suffixes_and_first_bytes_are_told_apart():
    suffixes = [suffix for each in all_codecs() for suffix in each.suffixes]
    assert len(suffixes) == len(set(suffixes))
    magics = [magic for each in all_codecs() for magic in each.magic]
    assert not [(a, b) for a in magics for b in magics if a is not b and a.startswith(b)]


def table_of_page() -> dict[str, list[str]]:
    page = Path(__file__).parents[2] / "docs" / "compression.md"
    table = page.read_text("utf-8").split("| suffix |", 1)[1].split("\n\n", 1)[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    return {row[0]: row[1:] for row in rows}


def test_the_table_of_the_documentation_is_that_of_the_code():
    rows = table_of_page()
    assert {row.partition(",")[0] for row in rows} == {name or "none" for name in names()}
    for title, (suffixes, tensorflow, parallel, seeks, levels, needs) in rows.items():
        each = codec(canonical(title.partition(",")[0]))
        if each.name:
            assert tuple(re.findall(r"`([^`]+)`", suffixes)) == each.suffixes, title
            members = "members (default)" in title
            level = each.members.default_level if members and each.members else each.default_level
            low = max(each.levels[0], 0) if each.tensorflow else each.levels[0]  # -1 is TensorFlow's default
            assert levels == f"{low}-{each.levels[1]}, default {level}"
        assert (tensorflow == "yes") == each.tensorflow
        if "one stream" not in title:
            assert (parallel == "yes", seeks == "yes") == (each.seeks, each.seeks)
        assert needs.strip("`") == (f"pip install 'tfrkit[{each.extra}]'" if each.extra else "")


@pytest.mark.parametrize(
    ("given", "meant"), [("gz", "GZIP"), ("gzp", "GZIP"), ("zst", "ZSTD"), ("Zlb", "ZLIB")]
)
def test_a_compression_that_was_meant_is_suggested(given, meant):
    with pytest.raises(InvalidArgumentError) as caught:
        canonical(given)
    assert str(caught.value) == (
        f"Unknown compression {given!r}: expected none, GZIP, ZLIB, XZ or ZSTD. Did you mean {meant!r}?"
    )
