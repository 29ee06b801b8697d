from __future__ import annotations

import pickle

import numpy as np
import pytest

from tfrkit import BytesColumn, NoneTensorSpec, Ragged, RaggedTensorSpec, Sparse, SparseTensorSpec, TensorSpec
from tfrkit.model.element_spec import spec_of_value

ALL = [
    TensorSpec([None, 2], "int32", name="x"),
    TensorSpec(None),
    RaggedTensorSpec([2, None], "string", row_splits_dtype="int32"),
    SparseTensorSpec([2, None], "bool"),
    NoneTensorSpec(),
]


@pytest.mark.parametrize("spec", ALL, ids=repr)
def test_specs_are_values(spec):
    again = pickle.loads(pickle.dumps(spec))
    assert again == spec
    assert hash(again) == hash(spec)
    assert sum(spec == other for other in ALL) == 1
    assert spec.most_specific_common_supertype([spec]) == spec
    assert spec.is_subtype_of(spec)


def test_reprs_are_tensorflows():
    assert [repr(spec) for spec in ALL] == [
        "TensorSpec(shape=(None, 2), dtype=tf.int32, name='x')",
        "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)",
        "RaggedTensorSpec(TensorShape([2, None]), tf.string, 1, tf.int32)",
        "SparseTensorSpec(TensorShape([2, None]), tf.bool)",
        "NoneTensorSpec()",
    ]


@pytest.mark.parametrize(
    ("spec", "value", "fits"),
    [
        (TensorSpec([None], "int64"), np.arange(3), True),
        (TensorSpec([2], "int64"), np.arange(3), False),
        (TensorSpec([None], "int32"), np.arange(3), False),
        (TensorSpec([], "string"), b"x", True),
        (TensorSpec([None], "string"), BytesColumn.from_list([b"x"]), True),
        (TensorSpec(None, "float64"), np.float64(1), True),
        (TensorSpec([2], "int64"), TensorSpec([None], "int64"), True),
        (RaggedTensorSpec([None, None], "int64"), Ragged.from_list([[1], []]), True),
        (RaggedTensorSpec([None], "int64", 0), np.arange(3), True),
        (RaggedTensorSpec([None, None], "int64"), np.zeros((1, 1), np.int64), False),
        (SparseTensorSpec([None], "int64"), Sparse([[0]], [1], [4]), True),
        (NoneTensorSpec(), None, True),
        (NoneTensorSpec(), b"x", False),
    ],
)
def test_compatible_with(spec, value, fits):
    assert spec.is_compatible_with(value) is fits


def test_the_common_supertype_is_as_exact_as_can_be():
    first, second = TensorSpec([2, 3]), TensorSpec([2, 4])
    assert first.most_specific_compatible_type(second) == TensorSpec([2, None])
    assert first.is_subtype_of(TensorSpec([None, 3]))
    assert not TensorSpec([None, 3]).is_subtype_of(first)
    with pytest.raises(ValueError, match=r"^No TypeSpec is compatible with both TensorSpec"):
        first.most_specific_compatible_type(SparseTensorSpec([2, 3]))


def test_what_is_no_value_has_no_spec():
    with pytest.raises(
        TypeError, match=r"^expected numpy values, bytes or columns in an element but got \[1\]$"
    ):
        spec_of_value([1])
