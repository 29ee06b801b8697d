"""Defaults are converted as TensorFlow converts them."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tests.parsing.support.made import example
from tfrkit.errors import InvalidArgumentError

Fixed = tfr.FixedLenFeature
EMPTY = example()


@pytest.mark.parametrize(
    ("feature", "value"),
    [
        (Fixed([], "int64", True), 1),
        (Fixed([2, 1], "int64", [7, 8]), [[7], [8]]),
        (Fixed([1], "int64", [[5]]), [5]),
        (Fixed([], "int64", np.array(1.5)), 1),
        (Fixed([], "int64", np.int32(3)), 3),
        (Fixed([2], "int64", (1, 2)), [1, 2]),
        (Fixed([], "float32", 1), 1.0),
        (Fixed([], "float32", 1e300), np.inf),
        (Fixed([2], "float32", range(2)), [0.0, 1.0]),
        (Fixed([2], "float32", [np.float64(0.5), 2]), [0.5, 2.0]),
        (Fixed([], "bytes", "é"), b"\xc3\xa9"),
        (Fixed([2], "bytes", ["a", b"\xff"]), [b"a", b"\xff"]),
        (Fixed([2], "bytes", np.array([b"a", b"bc"])), [b"a", b"bc"]),
        (Fixed([2], "bytes", np.array([b"a\x00", "b"], object)), [b"a\x00", b"b"]),
        (Fixed([1], "bytes", tfr.BytesColumn.from_list([b"a\x00"])), [b"a\x00"]),
    ],
    ids=str,
)
def test_default_is_converted_and_reshaped(feature, value):
    one = tfr.parse_single_example(EMPTY, {"a": feature})["a"]
    batch = tfr.parse_example([EMPTY, EMPTY], {"a": feature})["a"]
    assert np.asarray(one, object).tolist() == value
    rows = batch.to_list() if isinstance(batch, tfr.BytesColumn) else batch.tolist()
    assert rows == [value, value]


@pytest.mark.parametrize(
    ("feature", "error", "text"),
    [
        (
            Fixed([2], "int64", 7),
            InvalidArgumentError,
            "Input to reshape is a tensor with 1 values, but the requested shape has 2",
        ),
        (
            Fixed([], "int64", []),
            InvalidArgumentError,
            "Input to reshape is a tensor with 0 values, but the requested shape has 1",
        ),
        (Fixed([], "int64", 1.5), TypeError, "Cannot convert 1.5 to EagerTensor of dtype int64"),
        (Fixed([], "int64", 1.0), TypeError, "Cannot convert 1.0 to EagerTensor of dtype int64"),
        (Fixed([], "int64", "x"), TypeError, "Cannot convert 'x' to EagerTensor of dtype int64"),
        (Fixed([], "float32", "x"), TypeError, "Cannot convert 'x' to EagerTensor of dtype float"),
        (Fixed([], "bytes", 5), TypeError, "Cannot convert 5 to EagerTensor of dtype string"),
        (Fixed([2], "int64", [1, 2.0]), TypeError, "Cannot convert [1, 2.0] to EagerTensor of dtype int64"),
        (
            Fixed([], "bytes", np.array([5])),
            ValueError,
            "Failed to convert a NumPy array to a Tensor (Unsupported object type int).",
        ),
        (
            Fixed([], "int64", 2**63),
            ValueError,
            "Can't convert Python sequence with out-of-range integer to Tensor. It does not fit int64.",
        ),
        (
            Fixed([2], "int64", [1, "a"]),
            ValueError,
            "Can't convert Python sequence with mixed types to Tensor. Convert its values to one type first.",
        ),
        (
            Fixed([2], "int64", [1, [2]]),
            ValueError,
            "Can't convert Python sequence with mixed types to Tensor. Convert its values to one type first.",
        ),
        (
            Fixed([3], "int64", [[1, 2], [3]]),
            ValueError,
            "Can't convert non-rectangular Python sequence to Tensor. Rows of several lengths need a Ragged.",
        ),
        (
            Fixed([2], "int64", {1: 2}),
            ValueError,
            "Attempt to convert a value ({1: 2}) with an unsupported type (<class 'dict'>) to a Tensor.",
        ),
        (
            tfr.FixedLenSequenceFeature([], "int64", True, [7, 8]),
            InvalidArgumentError,
            "Input to reshape is a tensor with 2 values, but the requested shape has 1",
        ),
    ],
    ids=str,
)
def test_default_that_does_not_fit_is_refused(feature, error, text):
    with pytest.raises(error) as caught:
        tfr.parse_example([EMPTY], {"a": feature})
    assert str(caught.value) == text


class Tensor:
    """Stands for TensorFlow's: an array that says its type and gives itself with numpy()."""

    def __init__(self, values, dtype):
        self.array = np.array(values, dtype)
        self.shape = self.array.shape
        self.dtype = self.array.dtype

    def numpy(self):
        return self.array


def test_tensors_are_neither_cast_nor_reshaped():
    assert tfr.parse_single_example(EMPTY, {"a": Fixed([], "int64", Tensor(5, "int64"))})["a"] == 5
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_example([EMPTY], {"a": Fixed([2], "int64", Tensor([[5], [6]], "int64"))})
    assert (
        caught.value.message == "def_value[0].shape() == [2,1] is not compatible with dense_shapes_[0] == [2]"
    )
    with pytest.raises(InvalidArgumentError, match="Value for attr 'Tdense' of int32 is not in the list"):
        tfr.parse_example([EMPTY], {"a": Fixed([], "int64", Tensor(5, "int32"))})


def test_default_without_values_counts_as_none():
    spec = {"a": Fixed([0], "int64", [])}
    assert tfr.parse_example([example(a=[])], spec)["a"].shape == (1, 0)
    with pytest.raises(InvalidArgumentError, match="is required but could not be found"):
        tfr.parse_example([EMPTY], spec)


def test_default_stands_in_for_missing_and_unset_but_not_for_an_empty_list():
    spec = {"a": Fixed([], "int64", 7)}
    assert tfr.parse_example([EMPTY, example(a=None), example(a=[3])], spec)["a"].tolist() == [7, 7, 3]
    with pytest.raises(InvalidArgumentError, match="Values size: 0 but output shape: "):
        tfr.parse_example([example(a=[])], spec)
