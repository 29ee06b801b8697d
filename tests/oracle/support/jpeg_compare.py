"""JPEG functions of TensorFlow and of tfrkit on the same file, with what went wrong where they differ."""

from __future__ import annotations

from typing import Any

import numpy as np

import tfrkit.image
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.parsed import core


def attempt(call: Any) -> Any:
    """What a call gives, as an array, or its failure."""
    try:
        return np.asarray(call())
    except Exception as error:
        return Failure(type(error).__name__, core(str(getattr(error, "message", error))))


def both(
    contents: Any, *arguments: Any, function: str = "decode_jpeg", what: object = "", **options: Any
) -> Any:
    """What TensorFlow gives, after seeing that tfrkit gives the same.

    Where tfrkit says that its codec cannot do it, that is given: a Failure of UnimplementedError.
    """
    reference = attempt(lambda: getattr(tensorflow().io, function)(contents, *arguments, **options).numpy())
    found = attempt(lambda: getattr(tfrkit.image, function)(contents, *arguments, **options))
    case = (what, arguments, options)
    if isinstance(found, Failure) and found.name == "UnimplementedError":
        return found
    if isinstance(reference, Failure):
        assert isinstance(found, Failure), (case, reference)
        assert found.name == reference.name, (case, reference, found)
        assert found.message.startswith(reference.message), (case, reference, found)
        return reference
    assert not isinstance(found, Failure), (case, found)
    assert (found.dtype, found.shape) == (reference.dtype, reference.shape), case
    assert np.array_equal(found, reference), (case, np.argwhere(found != reference)[:3])
    return reference


def is_unimplemented(found: Any) -> bool:
    """Say whether tfrkit said so."""
    return isinstance(found, Failure) and found.name == "UnimplementedError"
