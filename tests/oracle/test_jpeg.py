"""decode_jpeg in TensorFlow and in tfrkit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.oracle.jpeg_files import SIZES, any_jpeg, jpeg
from tests.oracle.oracle import Failure, tensorflow
from tests.oracle.parsed import core
from tests.rules import tf_rule
from tfrkit.ops.jpeg import decode_jpeg


def attempt(call):
    """The pixels that a call gives, or its failure."""
    try:
        return np.asarray(call())
    except Exception as error:
        return Failure(type(error).__name__, core(str(getattr(error, "message", error))))


def both(contents, what="", **options):
    """What TensorFlow gives, after seeing that tfrkit gives the same."""
    reference = attempt(lambda: tensorflow().io.decode_jpeg(contents, **options).numpy())
    found = attempt(lambda: decode_jpeg(contents, **options))
    if isinstance(reference, Failure):
        assert isinstance(found, Failure), (what, options, reference)
        assert found.name == reference.name, (what, options, reference)
        assert found.message.startswith(reference.message), (what, options, reference)
    else:
        assert not isinstance(found, Failure), (what, options, found)
        assert found.dtype == reference.dtype == np.uint8
        assert found.shape == reference.shape, (what, options)
        assert np.array_equal(found, reference), (what, options)
    return reference


@tf_rule("6 decode_jpeg pixels")
@pytest.mark.parametrize("height", SIZES)
def test_sizes(height):
    for width in SIZES:
        for subsampling in ("4:2:0", "4:2:2", "4:4:4"):
            found = both(jpeg(height, width, subsampling=subsampling), f"{width} {subsampling}")
            assert found.shape == (height, width, 3)


@tf_rule("6 decode_jpeg options")
@pytest.mark.parametrize("seed", range(6))
def test_any_options(seed):
    chosen = random.Random(seed)
    for _ in range(100):
        contents, what = any_jpeg(chosen)
        both(
            contents,
            what,
            channels=chosen.choice([0, 0, 1, 3]),
            ratio=chosen.choice([1, 1, 2, 4, 8]),
            fancy_upscaling=chosen.random() < 0.6,
            dct_method=chosen.choice(["", "INTEGER_FAST", "INTEGER_ACCURATE"]),
        )
