"""Files of Examples for the tests, and hypothesis strategies for what is in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tfrkit import make_example, make_sequence_example
from tfrkit.model.no_bytes import NoBytes
from tfrkit.testing.reference import frames

__all__ = ["example", "example_dicts", "plain", "sequence", "write"]

_ints = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3).map(lambda values: np.array(values, np.int64))
_floats = st.lists(st.floats(width=32, allow_nan=False), max_size=3).map(
    lambda values: np.array(values, np.float32)
)
_texts = st.lists(st.binary(max_size=4), max_size=3).map(lambda values: values or NoBytes())


def example_dicts(*, conflicts: bool) -> st.SearchStrategy[dict[str, Any]]:
    """What to_dict gives: some of a few keys, of one kind each unless `conflicts`, or without a kind."""
    none = st.none()
    anything = st.one_of(_ints, _floats, _texts, none)
    kinds = {"i": _ints, "f": _floats, "b": _texts, "one": st.just(np.array([1])), "none": none, "ü": _texts}
    fields = {
        key: anything if conflicts else (value if key == "one" else st.one_of(value, none))
        for key, value in kinds.items()
    }
    return st.fixed_dictionaries({}, optional=fields)


def example(**features: Any) -> bytes:
    """A serialised Example."""
    return make_example(features).SerializeToString()


def sequence(context: dict[str, Any], lists: dict[str, Any]) -> bytes:
    """A serialised SequenceExample."""
    return make_sequence_example(context, lists).SerializeToString()


def write(path: Path, *records: bytes) -> Path:
    """Write a plain file."""
    path.write_bytes(frames(records))
    return path


def plain(value: Any) -> Any:
    """Arrays as (dtype, list), so that examples can be compared with ==."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tolist()
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value
