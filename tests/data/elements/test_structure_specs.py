from __future__ import annotations

import numpy as np
import pytest

from tfrkit import BytesColumn, Ragged, RaggedTensorSpec, Sparse, SparseTensorSpec, TensorSpec
from tfrkit.data.elements.columns import Padded
from tfrkit.data.elements.structure_specs import (
    batched,
    check_same_state,
    merged,
    spec_of,
    spec_of_columns,
    unbatched,
)
from tfrkit.errors import InvalidArgumentError

RAGGED = Ragged.from_list([[1, 2], [3]])


def test_of_an_element():
    element = {
        "a": (np.int64(1), b"x"),
        "b": RAGGED,
        "c": Sparse([[0]], [1.5], [4]),
        "d": np.zeros((2, 0), "u1"),
    }
    assert spec_of(element) == {
        "a": (TensorSpec([], "int64"), TensorSpec([], "string")),
        "b": RaggedTensorSpec([2, None], "int64"),
        "c": SparseTensorSpec([4], "float64"),
        "d": TensorSpec([2, 0], "uint8"),
    }


def test_of_rows_of_columns():
    columns = (np.zeros((5, 2)), BytesColumn.from_list([b"a"]), RAGGED, Padded(RAGGED))
    assert spec_of_columns(columns) == (
        TensorSpec([2], "float64"),
        TensorSpec([], "string"),
        RaggedTensorSpec([None], "int64", 0),
        TensorSpec([None], "int64"),
    )


def test_batched_and_back():
    spec = (TensorSpec([2], "int32"), RaggedTensorSpec([None], "int64", 0), SparseTensorSpec([3]))
    more = (TensorSpec([7, 2], "int32"), RaggedTensorSpec([7, None], "int64"), SparseTensorSpec([7, 3]))
    assert batched(spec, 7) == more
    assert unbatched(more) == spec
    assert unbatched(RaggedTensorSpec([None], "int64", 0)) == TensorSpec([], "int64")
    assert batched(TensorSpec(None), 3) == unbatched(TensorSpec(None)) == TensorSpec(None)
    with pytest.raises(ValueError, match=r"^Unbatching a tensor is only supported for rank >= 1$"):
        unbatched(TensorSpec([]))


def test_merged():
    assert merged((TensorSpec([2, 3]),), (TensorSpec([2, 4]),)) == (TensorSpec([2, None]),)
    assert merged(TensorSpec([2]), (TensorSpec([2]),)) is None
    assert merged({"a": TensorSpec([2])}, {"a": TensorSpec([2], "int32")}) is None


def test_states_of_a_fold():
    check_same_state((np.int32(1), b""), (np.int32(7), b"x"))
    with pytest.raises(TypeError, match=r"Expected \(tf\.int32,\) but got \(tf\.string,\)\.$"):
        check_same_state((np.int32(1),), (b"x",))
    with pytest.raises(InvalidArgumentError, match=r"\(initial_state=1, output=2\)\.$"):
        check_same_state(np.int32(1), (np.int32(1), np.int32(2)))
