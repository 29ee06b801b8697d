"""Names, numbers and numpy types of tensors' elements."""

from __future__ import annotations

import numpy as np
import pytest

from tfrkit.model.tensor_types import TENSOR_TYPES, tensor_type, tensor_type_of


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("float", "float32"), ("half", "float16"), ("double", "float64"), ("string", "string"), ("qint8", "qint8"),
        (np.int16, "int16"), (np.dtype(">u2"), "uint16"), (bool, "bool"), (float, "float32"), (bytes, "string"),
        (3, "int32"), (np.dtype("S3"), "string"), (np.complex64, "complex64"), ("float8_e5m2", "float8_e5m2"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_type_has_many_names(given, name):
    assert tensor_type(given).name == name


@pytest.mark.parametrize("given", ["<i2", "int3", None, complex, 99, True, []], ids=repr)
def test_what_names_no_type(given):
    with pytest.raises(TypeError, match=r"Expected DataType for argument 'out_type' not "):
        tensor_type(given)


def test_every_type_that_numpy_holds_is_found_by_its_dtype():
    for found in TENSOR_TYPES.values():
        if found.stored and not found.name.startswith("q"):
            assert tensor_type_of(found.numpy()) is found
    assert tensor_type_of(np.dtype("M8[s]")) is None


def test_kernels_print_other_names():
    names = [tensor_type(name).op_name for name in ("float16", "float32", "float64", "int64", "string")]
    assert names == ["half", "float", "double", "int64", "string"]
