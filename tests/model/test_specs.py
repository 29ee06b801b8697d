"""The spec classes have TensorFlow's fields, defaults and errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit.model.dtypes import op_name, public_name, type_name
from tfrkit.model.shapes import as_dims, show_dims
from tfrkit.model.specs import as_feature

Ragged = tfr.RaggedFeature


class Foreign:
    """Stands for another library's dtype, which is known by its name."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"Foreign({self.name!r})"


class ForeignShape:
    def __init__(self, dims):
        self.rank = None if dims is None else len(dims)
        self.dims = dims

    def as_list(self):
        return list(self.dims)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("int64", "int64"),
        ("float32", "float32"),
        ("float", "float32"),
        ("bytes", "string"),
        ("string", "string"),
        ("str", "string"),
        (int, "int64"),
        (float, "float32"),
        (bytes, "string"),
        (str, "string"),
        (object, "string"),
        (bool, "bool"),
        (np.int64, "int64"),
        (np.float32, "float32"),
        (np.dtype("S3"), "string"),
        (np.dtype("U3"), "string"),
        (np.dtype(object), "string"),
        (np.dtype("float64"), "float64"),
        ("double", "float64"),
        ("half", "float16"),
        ("int32", "int32"),
        (Foreign("string"), "string"),
        (Foreign("float32"), "float32"),
    ],
    ids=str,
)
def test_type_name(given, name):
    assert type_name(given) == name


@pytest.mark.parametrize(
    "given", ["foo", None, "int", "i8", Foreign(5), list, np.dtype("datetime64[s]")], ids=str
)
def test_what_is_no_type_is_refused_in_tensorflows_words(given):
    with pytest.raises(TypeError) as caught:
        type_name(given)
    assert str(caught.value) == f"Cannot convert the argument `type_value`: {given!r} to a TensorFlow DType."


def test_names_of_types():
    assert [public_name(name) for name in ("string", "int64")] == ["bytes", "int64"]
    assert [op_name(name) for name in ("float32", "float64", "int64")] == ["float", "double", "int64"]


@pytest.mark.parametrize(
    ("given", "dims"),
    [([], ()), ([2, 3], (2, 3)), ((2, None), (2, None)), (4, (4,)), (np.array([2, 3]), (2, 3)), (None, None)],
    ids=str,
)
def test_dims_of_a_shape(given, dims):
    assert as_dims(given) == dims


def test_dims_of_another_librarys_shape():
    assert as_dims(ForeignShape([2, None])) == (2, None)
    assert as_dims(ForeignShape(None)) is None


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ([-1], ValueError, "Dimension -1 must be >= 0"),
        (
            [1.5],
            TypeError,
            (
                "Dimension value must be integer or None or have an __index__ method, "
                "got value '1.5' with type '<class 'float'>'"
            ),
        ),
        (
            "ab",
            TypeError,
            (
                "Failed to convert ''ab'' to a shape: ''a''could not be converted to a dimension. A shape should "
                "either be single dimension (e.g. 10), or an iterable of dimensions (e.g. [1, 10, None])."
            ),
        ),
    ],
    ids=str,
)
def test_what_is_no_shape_is_refused_in_tensorflows_words(given, error, text):
    with pytest.raises(error) as caught:
        as_dims(given)
    assert str(caught.value) == text


def test_shapes_print_as_in_tensorflow():
    assert [show_dims(dims) for dims in [(), (2,), (None, 2)]] == ["[]", "[2]", "[?,2]"]


def test_fields_and_defaults():
    assert tfr.FixedLenFeature([2], "int64") == ([2], "int64", None)
    assert tfr.VarLenFeature("int64") == ("int64",)
    assert tfr.SparseFeature("i", "v", "int64", 3) == ("i", "v", "int64", 3, False)
    assert tfr.FixedLenSequenceFeature([], "int64") == ([], "int64", False, None)
    assert Ragged("int64") == ("int64", None, (), "int32", False)
    assert Ragged._fields == ("dtype", "value_key", "partitions", "row_splits_dtype", "validate")


def test_fields_keep_what_was_given():
    assert tfr.FixedLenFeature((2,), np.int64).dtype is np.int64
    assert repr(tfr.VarLenFeature(None)) == "VarLenFeature(dtype=None)"


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"dtype": "int32"}, ValueError, "Argument `dtype` must be int64, float32, or bytes; got tf.int32"),
        ({"dtype": None}, TypeError, "Cannot convert the argument `type_value`: None to a TensorFlow DType."),
        ({"value_key": 5}, ValueError, "Argument `value_key` must be a string; got 5"),
        ({"value_key": ""}, ValueError, "Argument `value_key` must not be empty"),
        (
            {"row_splits_dtype": "float32"},
            ValueError,
            "Argument `row_splits_dtype` must be int32 or int64; gottf.float32",
        ),
        (
            {"partitions": 5},
            TypeError,
            "Argument `partitions` must be a list or tuple. Receivedpartitions=5 of type int.",
        ),
        ({"validate": 1}, TypeError, "Argument `validate` must be a bool; got 1"),
    ],
    ids=str,
)
def test_ragged_feature_refuses_in_tensorflows_words(arguments, error, text):
    with pytest.raises(error) as caught:
        Ragged(**{"dtype": "int64", **arguments})
    assert str(caught.value) == text


def test_ragged_feature_refuses_what_is_no_partition():
    with pytest.raises(
        TypeError, match=r"cannot be cast to any of the partition types in .*; got: 5 with type"
    ):
        Ragged("int64", partitions=[5])


def test_features_of_the_same_name_and_fields_are_taken_as_ours():
    class FixedLenFeature(tuple):
        __slots__ = ()

    class RowLengths(tuple):
        __slots__ = ()

    assert as_feature(FixedLenFeature(([], "int64", 7))) == tfr.FixedLenFeature([], "int64", 7)
    assert Ragged("int64", partitions=[RowLengths("k")]).partitions == (Ragged.RowLengths("k"),)
    assert as_feature("a") is None


def test_specs_pickle():
    spec = {
        "a": Ragged("bytes", "v", [Ragged.RowSplits("s"), Ragged.UniformRowLength(2)], np.int64, True),
        "b": tfr.FixedLenFeature([2], "bytes", [b"\xff", b""]),
    }
    assert pickle.loads(pickle.dumps(spec)) == spec
