"""TensorSpec, RaggedTensorSpec and SparseTensorSpec against TensorFlow's own, live."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.oracle.support.oracle import tensorflow
from tests.support.rules import tf_rule

SPECS = {
    "T([None, 2], 'int32')": lambda s: s.TensorSpec([None, 2], "int32"),
    "T(None)": lambda s: s.TensorSpec(None),
    "T(3, name)": lambda s: s.TensorSpec(3, "float32", name="x"),
    "T([])": lambda s: s.TensorSpec([], np.int64),
    "T string": lambda s: s.TensorSpec([2], "string"),
    "T negative": lambda s: s.TensorSpec([-1]),
    "T no type": lambda s: s.TensorSpec([2], "foo"),
    "R": lambda s: s.RaggedTensorSpec([None, None], "int32"),
    "R no rank": lambda s: s.RaggedTensorSpec(),
    "R of rank": lambda s: s.RaggedTensorSpec(None, "int32", 2),
    "R rank 0": lambda s: s.RaggedTensorSpec([3], "int32"),
    "R too deep": lambda s: s.RaggedTensorSpec([2, None], "int32", 5),
    "R splits": lambda s: s.RaggedTensorSpec([2, None], "int64", ragged_rank=1, row_splits_dtype="int32"),
    "R wrong rank": lambda s: s.RaggedTensorSpec([2], "int32", ragged_rank="a"),
    "S": lambda s: s.SparseTensorSpec([2, None], "int32"),
    "S()": lambda s: s.SparseTensorSpec(),
}


def told(call: Any, space: Any) -> Any:
    """A repr, or the class and text of an error."""
    try:
        return repr(call(space))
    except Exception as error:
        return type(error).__name__, str(error)


@tf_rule("5 element_spec")
@pytest.mark.parametrize("name", SPECS)
def test_specs_print_and_fail_as_tensorflows(name):
    tf = tensorflow()
    mine = told(SPECS[name], tfr)
    theirs = told(SPECS[name], tf)
    assert mine == theirs


@tf_rule("5 element_spec")
def test_specs_compare_as_tensorflows():
    tf = tensorflow()
    for first in SPECS.values():
        for second in SPECS.values():
            if isinstance(told(first, tf), tuple) or isinstance(told(second, tf), tuple):
                continue
            assert (first(tfr) == second(tfr)) == (first(tf) == second(tf))
            for verb in ("is_compatible_with", "is_subtype_of", "most_specific_compatible_type"):
                call = lambda s, verb=verb: getattr(first(s), verb)(second(s))  # noqa: B023, E731
                assert told(call, tfr) == told(call, tf), (first(tf), verb, second(tf))
