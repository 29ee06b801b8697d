"""Types of images, casts of floats to integers, standardising: the same as TensorFlow's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.oracle.support.cpu_dependent import cpu_dependent
from tests.oracle.support.image_cases import FLOATS, INTEGERS, TYPES, batch, cast, pieces, tensor
from tests.oracle.support.oracle import Failure, attempt, tensorflow
from tests.oracle.support.tf_scenarios import fails, same
from tests.support.rules import tf_rule
from tfrkit.values.float_to_integer import float_to_integer

SUMS = 1e-6  # of the largest value: TensorFlow adds float32, tfrkit float64
BEYOND = [
    127,
    128,
    200,
    255,
    256,
    300,
    32767,
    32768,
    65535,
    65536,
    70000,
    2.0**31,
    3e9,
    5e9,
    2.0**33,
    1e19,
    2.0**64,
]
WILD = [0.4, 0.5, 0.99, -0.5, -0.99, *BEYOND, *(-number for number in BEYOND), np.inf, -np.inf, np.nan]


# What TensorFlow cannot saturate: it has no clipping of unsigned integers, and computes a limit in a float.
UNSATURATED = {("int64", "uint64")} | {
    (one, to) for one in ("uint32", "uint64") for to in INTEGERS if to != one
}


def values(dtype):
    """Numbers all over the range of a type, beginning and end too; floats in [0, 1]."""
    numbers = np.random.default_rng(7)
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        drawn = numbers.integers(limits.min, limits.max, 200, dtype=dtype, endpoint=True)
        return np.concatenate([drawn, np.array([limits.min, limits.max, 0, 1], dtype)])
    return np.concatenate([cast(pieces()[3], dtype).ravel(), cast(np.array([0, 255]), dtype)])


@tf_rule("6 convert_image_dtype")
@pytest.mark.parametrize("to", TYPES)
@pytest.mark.parametrize("dtype", TYPES)
def test_between_any_two_types(dtype, to):
    same(lambda tf: tf.image.convert_image_dtype(values(dtype), to))
    if (dtype, to) not in UNSATURATED:
        same(lambda tf: tf.image.convert_image_dtype(values(dtype), to, saturate=True))


@tf_rule("6 convert_image_dtype")
def test_every_byte_as_float_and_back():
    every = np.arange(256, dtype=np.uint8)
    for to in FLOATS:
        same(lambda tf, to=to: tf.image.convert_image_dtype(every, to))
    floats = np.linspace(0, 1, 4001, dtype=np.float32)
    for to in ("uint8", "int8", "uint16", "int16", "int32"):
        same(lambda tf, to=to: tf.image.convert_image_dtype(floats, to))


@tf_rule("6 convert_image_dtype saturate")
@pytest.mark.parametrize("to", ["uint8", "int8", "uint16", "int16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_floats_out_of_range(dtype, to):
    beyond = np.array([1.5, -0.5, 300, -300, 1e4, -1e4, 1.001, -0.001], dtype)
    same(lambda tf: tf.image.convert_image_dtype(beyond, to, saturate=True))
    same(lambda tf: tf.image.convert_image_dtype(beyond, to))
    same(lambda tf: tf.image.convert_image_dtype(np.tile(beyond, 9), to))


@tf_rule("6 convert_image_dtype saturate")
@pytest.mark.parametrize(("dtype", "to"), sorted(UNSATURATED))
def test_what_saturates_in_tfrkit_only(dtype, to):
    limits, numbers = np.iinfo(to), values(dtype)
    scale_in, scale_out = int(np.iinfo(dtype).max) + 1, int(limits.max) + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = attempt(lambda: tensorflow().image.convert_image_dtype(numbers, to, saturate=True).numpy())
    found = tfr.image.convert_image_dtype(numbers, to, saturate=True).tolist()
    if scale_in > scale_out:
        expected = [min(number // (scale_in // scale_out), limits.max) for number in numbers.tolist()]
    else:
        expected = [max(number, limits.min) * (scale_out // scale_in) for number in numbers.tolist()]
    assert found == expected
    assert isinstance(theirs, Failure) or theirs.tolist() != expected


@tf_rule("6 convert_image_dtype")
@pytest.mark.parametrize("to", ["bool", "string", "complex64"])
def test_types_that_no_image_has(to):
    fails(
        lambda tf: tf.image.convert_image_dtype(pieces()[3], to),
        "AttributeError",
        "dtype must be either floating point or integer",
    )
    fails(
        lambda tf: tf.image.convert_image_dtype(pieces()[3] > 3, "uint8"),
        "AttributeError",
        "image dtype must",
    )


@tf_rule("6 convert_image_dtype")
@pytest.mark.parametrize("to", ["nope", None])
def test_types_that_do_not_exist(to):
    fails(lambda tf: tf.image.convert_image_dtype(pieces()[3], to), "TypeError", "to a TensorFlow DType")


@tf_rule("6 floats out of an integer's range")
@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [1, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100])
def test_floats_of_any_size_and_place(dtype, to, size):
    tf = tensorflow()
    with np.errstate(all="ignore"):
        wild = np.resize(np.array(WILD), (len(WILD), size)).T.ravel()[: size * 3]
        floats = tf.cast(np.roll(np.tile(wild, 2)[:size], size), dtype).numpy()
    assert float_to_integer(floats, np.dtype(to)).tolist() == tf.cast(floats, to).numpy().tolist()


@tf_rule("6 floats out of an integer's range")
@settings(max_examples=60)
@given(
    st.lists(st.floats(width=32) | st.floats(-70000, 70000, width=32), min_size=1, max_size=70),
    st.sampled_from(INTEGERS),
    st.sampled_from(["float32", "float64"]),
)
def test_any_floats(numbers, to, dtype):
    floats = np.array(numbers, dtype)
    found = float_to_integer(floats, np.dtype(to))
    assert found.tolist() == tensorflow().cast(floats, to).numpy().tolist()


@cpu_dependent
@tf_rule("6 per_image_standardization")
@pytest.mark.parametrize("dtype", [*TYPES, "bool"])
def test_standardising(dtype):
    for image in (*pieces(), batch(), batch()[:, None]):
        given_ = cast(image, dtype)
        same(lambda tf, given_=given_: tf.image.per_image_standardization(given_), within=SUMS)


@tf_rule("6 per_image_standardization")
def test_an_even_image_becomes_zeros():
    found = same(lambda tf: tf.image.per_image_standardization(np.full((4, 5, 3), 7, np.uint8)))
    assert not found.values.any()


@tf_rule("6 per_image_standardization")
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2, 3), (2, 2, 0), (0, 2, 2, 3)])
def test_standardising_other_shapes(shape):
    same(lambda tf: tf.image.per_image_standardization(tensor(tf, np.zeros(shape, np.float32))))
