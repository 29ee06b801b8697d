"""decode_jpeg in TensorFlow and in tfrkit: files of unusual structure."""

from __future__ import annotations

import random

import pytest

from tests.oracle.support.jpeg_compare import both, is_unimplemented
from tests.oracle.support.jpeg_files import jpeg
from tests.oracle.support.jpeg_writer import Layout, segment, write
from tests.oracle.support.oracle import Failure
from tests.support.rules import tf_rule

JFIF = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")
SAMPLINGS = [
    ((1, 1),),
    ((2, 2),),
    ((1, 1), (1, 1), (1, 1)),
    ((2, 1), (1, 1), (1, 1)),
    ((2, 2), (1, 1), (1, 1)),
    ((1, 2), (1, 1), (1, 1)),
    ((4, 1), (1, 1), (1, 1)),
    ((1, 1), (1, 1), (1, 1), (1, 1)),
    ((2, 2), (1, 1), (1, 1), (2, 2)),
]
UNUSUAL = [
    ((4, 2), (1, 1), (1, 1)),
    ((2, 4), (1, 1), (1, 1)),
    ((4, 4), (1, 1), (1, 1)),
    ((1, 1), (2, 1), (1, 1)),
]


def adobe(transform: int) -> bytes:
    """Adobe's segment with the number of a colour transform."""
    return segment(0xEE, b"Adobe\0\x64\0\0\0\0" + bytes([transform]))


def options(chosen: random.Random) -> dict[str, object]:
    """Any options of decode_jpeg."""
    return {
        "channels": chosen.choice([0, 0, 1, 3]),
        "ratio": chosen.choice([1, 1, 2, 4, 8]),
        "fancy_upscaling": chosen.random() < 0.6,
        "dct_method": chosen.choice(["", "INTEGER_ACCURATE"]),
    }


@tf_rule("6 decode_jpeg structure")
@pytest.mark.parametrize("samplings", SAMPLINGS, ids=str)
def test_samplings_restarts_and_separate_scans(samplings):
    chosen = random.Random(1)
    for seed in range(24):
        layout = Layout(
            chosen.choice([1, 3, 8, 17, 40]),
            chosen.choice([1, 3, 9, 16, 65]),
            samplings,
            restart=chosen.choice([0, 0, 1, 7]),
            separate=chosen.random() < 0.3,
            step=chosen.choice([1, 8, 30, 300]),
            density=chosen.choice([0, 4, 20]),
        )
        assert not is_unimplemented(both(write(layout, seed), what=layout, **options(chosen)))


@tf_rule("6 decode_jpeg colour spaces")
@pytest.mark.parametrize("names", [(), tuple(b"RGB"), (0, 1, 2), (1, 2, 5)], ids=str)
@pytest.mark.parametrize(
    "before",
    [b"", JFIF, adobe(0), adobe(1), adobe(2), JFIF + adobe(0)],
    ids=lambda before: before.hex()[-40:],
)
def test_colour_spaces_of_three_components(names, before):
    for samplings in (SAMPLINGS[2], SAMPLINGS[4]):
        contents = write(Layout(17, 33, samplings, names=names, before=before))
        for channels in (0, 1):
            both(contents, what=(names, before, samplings), channels=channels)


@tf_rule("6 decode_jpeg print")
@pytest.mark.parametrize(
    "before", [b"", JFIF, adobe(0), adobe(1), adobe(2)], ids=lambda before: before.hex()[-40:]
)
def test_four_components_become_rgb(before):
    for samplings in SAMPLINGS[-2:]:
        contents = write(Layout(17, 33, samplings, before=before, step=20))
        assert both(contents).shape == (17, 33, 3)
        assert isinstance(both(contents, channels=1), Failure)


@tf_rule("6 decode_jpeg print")
def test_four_components_of_an_encoder():
    assert both(jpeg(20, 30, "CMYK")).shape == (20, 30, 3)
    assert both(jpeg(20, 30, "CMYK", progressive=True), channels=3, ratio=2).shape == (10, 15, 3)


@tf_rule("6 decode_jpeg unusual sampling")
@pytest.mark.parametrize("samplings", UNUSUAL, ids=str)
def test_unusual_samplings_give_the_same_or_are_refused(samplings):
    chosen = random.Random(2)
    refused = 0
    for seed in range(30):
        layout = Layout(chosen.choice([1, 9, 40]), chosen.choice([3, 16, 65]), samplings)
        refused += is_unimplemented(both(write(layout, seed), what=layout, **options(chosen)))
    assert refused < 20


@tf_rule("6 decode_jpeg components")
@pytest.mark.parametrize("count", [2, 5])
def test_other_numbers_of_components(count):
    assert isinstance(both(write(Layout(9, 9, ((1, 1),) * count))), Failure)
    assert isinstance(both(write(Layout(9, 9, ((1, 1),) * count)), channels=3), Failure)


@tf_rule("6 decode_jpeg coding")
@pytest.mark.parametrize("marker", range(0xC0, 0xD0), ids=hex)
def test_kinds_of_coding(marker):
    found = both(write(Layout(17, 23, marker=marker)))
    assert isinstance(found, Failure) == (marker not in (0xC0, 0xC1, 0xC9))


@tf_rule("6 decode_jpeg coding")
@pytest.mark.parametrize("precision", [1, 7, 9, 12, 16])
def test_other_precisions(precision):
    assert isinstance(both(write(Layout(17, 23, precision=precision))), Failure)


@tf_rule("6 decode_jpeg header")
@pytest.mark.parametrize(
    ("before", "fine"),
    [
        (b"abc", True),
        (b"\xff\xff\xff", True),
        (b"\xff\xd0", True),
        (b"\xff\x01", True),
        (b"\xff\xdc\0\4\0\1", True),
        (b"\xff\xe0\0\0", True),
        (segment(0xE0, b"JFIF\0\2\1\0\0\1\0\1\0\0"), True),
        (segment(0xFE, b"text"), True),
        (b"\xff\x02\0\2", False),
        (b"\xff\xf0\0\2", False),
        (b"\xff\xd8", False),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_stands_between_segments(before, fine):
    contents = write(Layout(17, 23))
    at = contents.index(b"\xff\xc0")
    assert isinstance(both(contents[:at] + before + contents[at:]), Failure) != fine
