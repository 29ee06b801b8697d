"""One image through a decoder of TensorFlow and through tfrkit's of the same name."""

from __future__ import annotations

import numpy as np

import tfrkit as tfr
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.parsed import core


def ours(name):
    """The function of tfrkit."""
    return getattr(tfr.image, name)


def attempt(call):
    """The array that a call gives, or its failure with the core of its text."""
    try:
        made = call()
    except Exception as error:
        return Failure(type(error).__name__, core(str(getattr(error, "message", error))))
    return np.asarray(made.numpy() if hasattr(made, "numpy") else made)


def same(name, contents, *, what="", **options):
    """What TensorFlow gives, after seeing that tfrkit gives the same: every value, or the error and its text."""
    reference = attempt(lambda: getattr(tensorflow().io, name)(contents, **options))
    found = attempt(lambda: ours(name)(contents, **options))
    told = (what, name, options, reference, found)
    if isinstance(reference, Failure):
        assert isinstance(found, Failure), told
        assert found.name == reference.name, told
        assert found.message.startswith(reference.message), told
    else:
        assert not isinstance(found, Failure), told
        assert (found.dtype, found.shape) == (reference.dtype, reference.shape), told
        assert np.array_equal(found, reference), told
    return reference


def mutated(data, generator, start):
    """The bytes with one to three small damages behind `start`."""
    made = bytearray(data)
    for _ in range(generator.choice((1, 1, 2, 3))):
        if len(made) <= start:
            break
        at = generator.randrange(start, len(made))
        kind = generator.random()
        if kind < 0.6:
            made[at] = generator.randrange(256)
        elif kind < 0.75:
            made[at] ^= 1 << generator.randrange(8)
        elif kind < 0.85:
            del made[at : at + generator.randrange(1, 6)]
        elif kind < 0.95:
            made[at:at] = generator.randbytes(generator.randrange(1, 6))
        else:
            del made[at:]
    return bytes(made)
