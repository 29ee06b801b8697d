"""decode_compressed in TensorFlow and in tfrkit."""

from __future__ import annotations

import gzip
import zlib

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.parsed import core
from tests.support.rules import tf_rule

TEXT = b"hello" * 3
PACKED = {
    "ZLIB": zlib.compress(TEXT),
    "GZIP": gzip.compress(TEXT, mtime=0),
    "ZSTD": zstandard.compress(TEXT),
}
SKIPPABLE = b"\x50\x2a\x4d\x18\x02\0\0\0ab"


def attempt(function, *arguments, **options):
    try:
        found = function(*arguments, **options)
    except Exception as error:
        return Failure(type(error).__name__, core(str(getattr(error, "message", error))))
    if hasattr(found, "numpy"):
        found = found.numpy()
    return (
        found
        if isinstance(found, bytes)
        else np.asarray(found.to_numpy() if isinstance(found, tfr.BytesColumn) else found).tolist()
    )


def both(*arguments, **options):
    """What TensorFlow gives, after seeing that tfrkit gives the same, or an error that begins so."""
    reference = attempt(tensorflow().io.decode_compressed, *arguments, **options)
    found = attempt(tfr.decode_compressed, *arguments, **options)
    if isinstance(reference, Failure) and isinstance(found, Failure):
        assert found.name == reference.name
        assert found.message.startswith(reference.message)
    else:
        assert found == reference
    return reference


@tf_rule("3 decode_compressed")
@pytest.mark.parametrize("kind", ["", "ZLIB", "GZIP", "ZSTD", "zlib", "SNAPPY", None, b"GZIP"], ids=repr)
def test_types(kind):
    for data in (*PACKED.values(), b"", b"abc"):
        both(data, kind)


@tf_rule("3 decode_compressed")
@pytest.mark.parametrize("size", [262_143, 262_144, 262_145, 900_000])
@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_strings_larger_than_a_window(size, kind):
    for content in (bytes(size), np.random.default_rng(size).bytes(size)):
        packed = zlib.compress(content) if kind == "ZLIB" else gzip.compress(content, mtime=0)
        assert both(packed, kind) == content
        for cut in (1, 6, 100, len(packed) // 2):
            both(packed[:-cut], kind)


@tf_rule("3 decode_compressed shape")
def test_shape():
    both([[PACKED["ZLIB"]] * 2] * 3, "ZLIB")
    both(np.zeros((0, 2), object), "ZLIB")
    assert both([PACKED["GZIP"], b"junk"], "GZIP").name == "DataLossError"


@tf_rule("3 decode_compressed cut")
@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_every_cut(kind):
    for end in range(len(PACKED[kind])):
        assert TEXT.startswith(both(PACKED[kind][:end], kind))


@tf_rule("3 decode_compressed behind")
@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
@pytest.mark.parametrize(
    "behind", [b"j", b"junk", b"\0" * 9, b"\x1f\x8b", PACKED["ZLIB"], PACKED["GZIP"], PACKED["GZIP"][:-9]]
)
def test_what_follows_a_stream(kind, behind):
    both(PACKED[kind] + behind, kind)


@tf_rule("3 decode_compressed empty member")
def test_an_empty_member_ends_the_string_in_tensorflow_only():
    data = gzip.compress(b"", mtime=0) + PACKED["GZIP"]
    assert tensorflow().io.decode_compressed(data, "GZIP").numpy() == b""
    assert tfr.decode_compressed(data, "GZIP") == TEXT


@tf_rule("3 decode_compressed damage")
@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_every_damaged_byte(kind):
    for at in range(len(PACKED[kind])):
        for flip in (0x01, 0x02, 0x80, 0xFF):
            data = bytearray(PACKED[kind])
            data[at] ^= flip
            both(bytes(data), kind)
    both(b"\x78\xbb\0\0\0\1abc", "ZLIB")
    both(b"\x78\x9c" + b"\xff" * 10, "ZLIB")


@tf_rule("3 decode_compressed zstd")
@pytest.mark.parametrize(
    "data",
    [
        PACKED["ZSTD"] + PACKED["ZSTD"], PACKED["ZSTD"] + b"junk", PACKED["ZSTD"] + b"junkjunk",
        PACKED["ZSTD"] + SKIPPABLE, PACKED["ZSTD"] + SKIPPABLE[:-1], SKIPPABLE, SKIPPABLE + PACKED["ZSTD"],
        zstandard.compress(b""), zstandard.compress(b"") + PACKED["ZSTD"], PACKED["ZSTD"] + zstandard.compress(b""),
        zstandard.compress(b"") + b"junkjunk", zstandard.compress(bytes(300_000)),
        zstandard.ZstdCompressor(write_content_size=False).compress(TEXT),
        zstandard.ZstdCompressor(write_checksum=True).compress(TEXT)[:-1] + b"\0",
        PACKED["ZSTD"][:6] + b"\xff" * 9, PACKED["ZSTD"][:5] + b"\x09" + PACKED["ZSTD"][6:],
        PACKED["ZSTD"][:5] + b"\x1f" + PACKED["ZSTD"][6:], *(PACKED["ZSTD"][:end] for end in (0, 1, 4, 5, 6, 12, 19)),
    ],
)  # fmt: skip
def test_zstd(data):
    both(data, "ZSTD")


@tf_rule("3 decode_compressed arguments")
def test_wrong_arguments():
    assert both(PACKED["ZLIB"], 5).name == "TypeError"
    assert both(5, "ZLIB").name == "TypeError"
    assert both(None, "ZLIB").name == "ValueError"


@tf_rule("3 decode_compressed")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=3), st.integers(0, 9), st.sampled_from(["ZLIB", "GZIP"]))
def test_any_strings(contents, level, kind):
    bits = 15 if kind == "ZLIB" else 31
    packed = []
    for content in contents:
        engine = zlib.compressobj(level, zlib.DEFLATED, bits)
        packed.append(engine.compress(content) + engine.flush())
    assert both(np.array(packed, object), kind) == contents
