from __future__ import annotations

import pytest

from tfrkit.records.record_names import parse_record_name, record_suffix, shard_name, shard_prefix


def test_prefix_of_a_name():
    assert shard_prefix("a-b-00000-of-00001.tfrecord.zst") == "a-b"
    assert shard_prefix("a-b.tfrecord") == "a-b"
    assert shard_prefix("a-b.tfrecord.xz") == "a-b"
    assert shard_prefix("a-b.txt") is None


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB", "XZ", "ZSTD"])
def test_names_that_are_written_are_taken_apart_again(compression):
    assert parse_record_name(shard_name("a-b", 3, 17, compression)) == ("a-b", "-00003-of-00017")
    assert parse_record_name("a-b" + record_suffix(compression)) == ("a-b", "")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a.tfrecord.tfrecord", ("a.tfrecord", "")),
        (".tfrecord", ("", "")),
        ("-00000-of-00001.tfrecord", ("", "-00000-of-00001")),
        ("a-0-of-1.tfrecord", ("a-0-of-1", "")),
        ("a\nb.tfrecord.gz", ("a\nb", "")),
        ("a.tfrecord.gzip", None),  # not what tfrkit writes
        ("a.tfrecord.bz2", None),
        ("a.TFRECORD", None),
        ("a.tfrecord.gz.bak", None),
        ("a.gz", None),
    ],
)
def test_other_names(name, parts):
    assert parse_record_name(name) == parts
