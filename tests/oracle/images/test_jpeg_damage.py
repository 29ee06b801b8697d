"""decode_jpeg in TensorFlow and in tfrkit: files that are cut, changed, or claim what they have not."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrkit.image
from tests.oracle.support.jpeg_compare import attempt, both
from tests.oracle.support.jpeg_files import jpeg
from tests.oracle.support.jpeg_writer import Layout, write
from tests.oracle.support.oracle import Failure, tensorflow
from tests.support.rules import tf_rule

INVALID = "jpeg::Uncompress failed. Invalid JPEG data or crop window."
SAMPLINGS = [
    ((1, 1),),
    ((2, 2),),
    ((1, 1), (1, 1), (1, 1)),
    ((2, 1), (1, 1), (1, 1)),
    ((2, 2), (1, 1), (1, 1)),
    ((1, 2), (1, 1), (1, 1)),
    ((4, 1), (1, 1), (1, 1)),
]


def scan_of(contents: bytes) -> int:
    """Offset of the first scan's marker."""
    return contents.index(b"\xff\xda")


def sample(chosen: random.Random, seed: int) -> bytes:
    """A small file of one scan."""
    if chosen.random() < 0.3:
        return jpeg(chosen.choice([8, 17, 40]), chosen.choice([9, 33]), chosen.choice(["RGB", "L"]), seed)
    size = chosen.choice([1, 8, 17, 40, 130]), chosen.choice([1, 5, 16, 33, 130])
    restart, density = chosen.choice([0, 0, 0, 2, 7]), chosen.choice([0, 1, 4, 40])
    return write(Layout(*size, chosen.choice(SAMPLINGS), restart=restart, density=density), seed)


@tf_rule("6 decode_jpeg cut")
@pytest.mark.parametrize("contents", [jpeg(20, 30), jpeg(20, 30, "L"), jpeg(20, 30, progressive=True)])
def test_every_cut_of_a_file(contents):
    for size in range(3, len(contents), 7):
        assert both(contents[:size], what=size).message == INVALID
    assert both(contents[:-1]).message == INVALID


@tf_rule("6 decode_jpeg damage")
@pytest.mark.parametrize("progressive", [False, True])
def test_changed_bytes(progressive, caplog):
    """Damage is an error or is logged; pixels that come without a word are TensorFlow's."""
    chosen = random.Random(5)
    values = 0
    for seed in range(250):
        contents = bytearray(
            jpeg(chosen.choice([8, 17, 40]), 33, chosen.choice(["RGB", "L"]), seed % 5, progressive=True)
            if progressive
            else sample(chosen, seed)
        )
        for _ in range(chosen.choice([1, 1, 2])):
            at = chosen.randrange(chosen.choice([3, scan_of(contents) + 12]), len(contents))
            contents[at] = chosen.choice(
                [0, 255, chosen.randrange(256), contents[at] ^ 1 << chosen.randrange(8)]
            )
            if scan_of(contents + b"\xff\xda") > len(contents) - 20:
                break
        frame = contents.find(b"\xff\xc2" if progressive else b"\xff\xc0")
        if frame < 0 or np.prod(struct.unpack_from(">HH", contents, frame + 5), dtype=float) > 1e6:
            continue
        values += pixels_or_a_word(bytes(contents), caplog, what=seed, exact=not progressive)
    assert values > 50


def pixels_or_a_word(contents: bytes, caplog: pytest.LogCaptureFixture, *, what: object, exact: bool) -> bool:
    """See that a file gives TensorFlow's pixels, an error, or a logged warning; and whether it gives pixels.

    Of progressive files, in which damage may hide scans, only the shape is compared.
    """
    caplog.clear()
    found = attempt(lambda: tfrkit.image.decode_jpeg(contents))
    if isinstance(found, Failure):
        assert found.name in ("InvalidArgumentError", "UnimplementedError"), (what, found)
        return False
    if not caplog.records:
        reference = attempt(lambda: tensorflow().io.decode_jpeg(contents).numpy())
        assert not isinstance(reference, Failure), (what, reference)
        assert found.shape == reference.shape, what
        assert not exact or np.array_equal(found, reference), what
    return True


@tf_rule("6 decode_jpeg damage")
@pytest.mark.parametrize(
    "inserted",
    [b"\xff\xd3", b"\xff\xd9", b"\xff\0\x12\x99", b"\xff\xe5\0\5abc", b"\xff\xc3", b"\xff\x02"],
    ids=str,
)
def test_markers_within_a_scan(inserted, caplog):
    for contents in (jpeg(40, 33), write(Layout(40, 33, restart=2))):
        at = scan_of(contents) + 60
        pixels_or_a_word(contents[:at] + inserted + contents[at:], caplog, what=inserted, exact=True)


@tf_rule("6 decode_jpeg damage")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60), st.integers(0, 400))
def test_any_bytes_behind_a_beginning(caplog, tail, size):
    contents = b"\xff\xd8\xff" + (jpeg(17, 9, "L")[:size] + tail)[3:]
    pixels_or_a_word(contents, caplog, what=contents, exact=True)


@tf_rule("6 decode_jpeg size limit")
def test_sizes_that_are_only_claimed():
    contents = jpeg(8, 8)
    at = contents.index(b"\xff\xc0") + 5
    for height, width in ((65_500, 65_500), (65_535, 65_535), (40_000, 4_474)):
        claimed = contents[:at] + struct.pack(">HH", height, width) + contents[at + 4 :]
        assert both(claimed).message == INVALID
    assert isinstance(both(contents[:at] + b"\0\0\0\x08" + contents[at + 4 :]), Failure)
    assert isinstance(both(contents[:at] + b"\0\x08\0\0" + contents[at + 4 :]), Failure)
