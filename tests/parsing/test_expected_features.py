"""What is wrong with a spec is said in TensorFlow's words."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tfrkit as tfr
from tests.parsing.support.made import example
from tfrkit.errors import InvalidArgumentError
from tfrkit.parsing.expected_features import Attributes, find_expected

Fixed, Var, Sequence, Sparse, Ragged = (
    tfr.FixedLenFeature,
    tfr.VarLenFeature,
    tfr.FixedLenSequenceFeature,
    tfr.SparseFeature,
    tfr.RaggedFeature,
)
ALL = (Fixed, Var, Sequence, Sparse, Ragged)

WRONG = [
    (5, ValueError, "Unsupported int 5 for key 'a'"),
    (None, ValueError, "Unsupported NoneType None for key 'a'"),
    (
        Fixed([None], "int64"),
        ValueError,
        (
            "First dimension of shape for feature a unknown. Consider using FixedLenSequenceFeature. "
            "Received feature=FixedLenFeature(shape=[None], dtype='int64', default_value=None)."
        ),
    ),
    (
        Fixed([2, None], "int64"),
        ValueError,
        "All dimensions of shape for feature a need to be known but received [2, None].",
    ),
    (
        Fixed(None, "int64"),
        ValueError,
        "Missing shape for feature a. Received feature=FixedLenFeature(shape=None, dtype='int64', default_value=None).",
    ),
    (
        Fixed([], None),
        ValueError,
        "Missing type for feature a. Received feature=FixedLenFeature(shape=[], dtype=None, default_value=None).",
    ),
    (Var(None), ValueError, "Missing type for feature a. Received feature=VarLenFeature(dtype=None)"),
    (
        Sequence([], None, True),
        ValueError,
        (
            "Missing type for feature a. Received feature=FixedLenSequenceFeature("
            "shape=[None], dtype=None, allow_missing=True, default_value=None)."
        ),
    ),
    (
        Sequence([], "int64"),
        ValueError,
        "Unsupported: FixedLenSequenceFeature requires allow_missing to be True.",
    ),
    (Sequence(None, "int64", True), TypeError, "'NoneType' object is not iterable"),
    (
        Sequence([2, None], "int64", True),
        InvalidArgumentError,
        "dense_shapes[0] has unknown rank or unknown inner dimensions: [?,2,?]",
    ),
    (
        Sparse([], "v", "int64", 3),
        ValueError,
        (
            "Missing index_key for SparseFeature SparseFeature("
            "index_key=[], value_key='v', dtype='int64', size=3, already_sorted=False)."
        ),
    ),
    (
        Sparse("i", "", "int64", 3),
        ValueError,
        (
            "Missing value_key for SparseFeature SparseFeature("
            "index_key='i', value_key='', dtype='int64', size=3, already_sorted=False)."
        ),
    ),
    (
        Fixed([], "int32"),
        InvalidArgumentError,
        "Value for attr 'Tdense' of int32 is not in the list of allowed values: float, int64, string",
    ),
    (
        Fixed([], np.float64),
        InvalidArgumentError,
        "Value for attr 'Tdense' of double is not in the list of allowed values: float, int64, string",
    ),
    (
        Var("bool"),
        InvalidArgumentError,
        "Value for attr 'sparse_types' of bool is not in the list of allowed values: float, int64, string",
    ),
    (Fixed([], "foo"), TypeError, "Cannot convert the argument `type_value`: 'foo' to a TensorFlow DType."),
    (Var("foo"), TypeError, "Expected DataType for argument 'sparse_types' not 'foo'."),
    (
        Sparse("i", "v", "int64", [3]),
        TypeError,
        "vocab_size has to be a Tensor or Python int. Found <class 'list'>",
    ),
    (
        Sparse(["i"], "v", "int64", 3),
        TypeError,
        "vocab_size has to be a list of Tensors or Python ints. Found <class 'int'>",
    ),
    (Sparse(["i"], "v", "int64", [3, 4]), ValueError, "sp_ids and vocab_size have to have equal lengths."),
    (Sparse("i", "v", "int64", -3), ValueError, "Dimension -3 must be >= 0"),
]


@pytest.mark.parametrize(("feature", "error", "text"), WRONG, ids=[str(case[0]) for case in WRONG])
def test_wrong_feature(feature, error, text):
    for serialized in (example(), [example()]):
        with pytest.raises(error) as caught:
            tfr.parse_example(serialized, {"a": feature})
        assert str(caught.value) == text


CONFLICTS = [
    (
        {"v": Var("float32"), "s": Sparse("i", "v", "int64", 3)},
        "Conflicting type int64 vs float32 for feature v.",
    ),
    (
        {"i": Var("float32"), "s": Sparse("i", "v", "float32", 3)},
        "Conflicting type float32 vs <dtype: 'int64'> for feature i.",
    ),
    (
        {"a": Ragged("int64", "v"), "b": Ragged("float32", "v")},
        "Conflicting type <dtype: 'int64'> vs <dtype: 'float32'> for feature v.",
    ),
    (
        {"a": Ragged("bytes", "v", [Ragged.RowSplits("v")])},
        "Conflicting type <dtype: 'string'> vs <dtype: 'int64'> for feature v.",
    ),
    (
        {"a": Ragged("int64", "v"), "b": Ragged("int64", "v", row_splits_dtype="int64")},
        "Conflicting partition type <dtype: 'int32'> vs <dtype: 'int64'> for feature v.",
    ),
    (
        {"v": Fixed([], "int64"), "s": Sparse("i", "v", "int64", 3)},
        "Dense and sparse keys must not intersect; dense_keys: ['v'], sparse_keys: ['i', 'v'], intersection: {'v'}",
    ),
    (
        {"v": Var("int64"), "r": Ragged("int64", "v")},
        "Ragged and sparse keys must not intersect; ragged_keys: ['v'], sparse_keys: ['v'], intersection: {'v'}",
    ),
    (
        {"v": Fixed([], "int64"), "r": Ragged("int64", "v")},
        "Dense and ragged keys must not intersect; dense_keys: ['v'], ragged_keys: ['v'], intersection: {'v'}",
    ),
]


@pytest.mark.parametrize(("spec", "text"), CONFLICTS, ids=[case[1][:50] for case in CONFLICTS])
def test_conflicting_features(spec, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        tfr.parse_example([example()], spec)


def test_spec_must_have_features():
    with pytest.raises(ValueError, match=r"^Argument `features` cannot be None or falsy. Got \{\}$"):
        tfr.parse_example([], {})
    with pytest.raises(ValueError, match=r"^Argument `features` cannot be None or falsy. Got None$"):
        tfr.parse_example([], None)
    with pytest.raises(ValueError, match=r"^Invalid argument: features cannot be None\.$"):
        tfr.parse_single_example(b"", None)
    with pytest.raises(ValueError, match=r"^Invalid argument: features cannot be empty\.$"):
        tfr.parse_single_example(b"", {})


def test_names_of_features_are_text():
    with pytest.raises(TypeError, match=r"^Cannot convert \[5\] to EagerTensor of dtype string$"):
        tfr.parse_example([], {5: Var("int64")})


def test_a_key_that_several_features_read_is_one_slot():
    spec = {"s": Sparse("i", "v", "int64", 3), "t": Sparse("i", "w", "float32", 3), "v": Var("int64")}
    slots = find_expected(spec, ALL, Attributes()).slots
    assert [(slot.key, slot.form, slot.type) for slot in slots] == [
        ("i", "sparse", "int64"),
        ("v", "sparse", "int64"),
        ("w", "sparse", "float32"),
    ]


def test_features_are_checked_in_the_order_of_their_keys():
    with pytest.raises(ValueError, match="for key 'a'"):
        tfr.parse_example([], {"b": 6, "a": 5})


@pytest.mark.parametrize("shape", [[2**31], [2**40], [2**62, 4]])
def test_a_shape_that_no_example_can_fill_is_refused(shape):
    for feature in (tfr.FixedLenFeature(shape, "int64"), tfr.FixedLenSequenceFeature(shape, "int64", True)):
        with pytest.raises(
            InvalidArgumentError, match="expected at most 2147483647 values, as no Example holds more"
        ):
            tfr.parse_example([b""], {"a": feature})


def test_a_large_dimension_beside_none_is_no_values():
    result = tfr.parse_example([], {"a": tfr.FixedLenFeature([2**40, 0], "int64")})
    assert result["a"].shape == (0, 2**40, 0)
