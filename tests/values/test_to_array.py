"""Python values become arrays by TensorFlow's rules."""

from __future__ import annotations

import collections
import decimal
import re

import numpy as np
import pytest

from tfrkit.values.to_array import to_array


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, "int32"),
        (-(2**31), "int32"),
        (2**31, "int64"),
        ([1, 2**40], "int64"),
        ([1, True], "int32"),
        ([True], "bool"),
        (1.5, "float32"),
        ([1, 2.5], "float32"),
        ([1.5, 2**64], "float32"),
        ([np.float64(1), 2.0], "float64"),
        ([1.0, np.float64(1)], "float32"),
        ([np.float16(1)], "float16"),
        ([np.int64(1)], "int32"),
        ([np.arange(2), np.arange(2)], "int32"),
        ([1j, 1], "complex128"),
        ([np.array(1.5)], "float64"),
        ([], "float32"),
        ([[], [1]], "float32"),
        (["a", b"b"], "object"),
        (np.array(["a"]), "object"),
        (np.int8([1]), "int8"),
        (range(3), "int32"),
        (collections.deque([1]), "int32"),
        (bytearray(b"ab"), "int32"),
    ],
)
def test_the_first_value_decides(value, dtype):
    assert to_array(value).dtype == dtype


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            [1, "a"],
            "Can't convert Python sequence with mixed types to Tensor. Convert its values to one type first.",
        ),
        (["a", 1], "Can't convert Python sequence with mixed types to Tensor."),
        ([True, 1], "Can't convert Python sequence with mixed types to Tensor."),
        ([1.5, 1j], "Can't convert Python sequence with mixed types to Tensor."),
        ([1j, "a"], "Can't convert Python sequence with mixed types to Tensor."),
        ([1, [2]], "Can't convert Python sequence with mixed types to Tensor."),
        ([[1], 2], "Can't convert non-rectangular Python sequence to Tensor."),
        ([[1], [1, 2]], "to Tensor. Rows of several lengths need a Ragged."),
        (2**63, "Can't convert Python sequence with out-of-range integer to Tensor. It does not fit int64."),
        (1e300, "Can't convert Python sequence with a value out of range for a double-precision float."),
        (
            [1.5, 10**400],
            "Can't convert Python sequence with a value out of range for a double-precision float.",
        ),
        ("\ud800", "Error converting unicode string while converting Python sequence to Tensor."),
        (
            None,
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.",
        ),
        ([decimal.Decimal(1)], "Attempt to convert a value (Decimal('1')) with an unsupported type"),
        (np.array([1], object), "Failed to convert a NumPy array to a Tensor (Unsupported object type int)."),
    ],
)
def test_refusals(value, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        to_array(value)
