from __future__ import annotations

import pytest

from tfrkit.codecs.compression import COMPRESSIONS, canonical, from_suffix
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
    assert name in COMPRESSIONS


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
