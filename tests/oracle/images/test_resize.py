"""tf.image.resize in TensorFlow and in tfrkit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.cpu_dependent import cpu_dependent
from tests.oracle.support.oracle import tensorflow
from tests.oracle.support.resize_images import METHODS, TYPES, dtype_of, photo, random_images
from tests.oracle.support.tf_scenarios import fails, ours, outcome, same
from tests.support.rules import tf_rule

IMAGE = random_images(0, "uint8", (7, 9, 3))
ZEROS = np.zeros((3, 4, 1), np.float32)


@tf_rule("6 resize numbers")
@tf_rule("6 resize type")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_and_method(dtype, method):
    for seed, (shape, size) in enumerate(
        [((7, 9, 3), (4, 5)), ((2, 5, 4, 1), (11, 9)), ((13, 6, 4), (5, 17)), ((6, 5, 2), (6, 5))]
    ):
        images = random_images(seed, dtype, shape)
        for antialias in (False, True):
            same(lambda tf, a=images, s=size, n=antialias: tf.image.resize(a, s, method, antialias=n))


@tf_rule("6 resize numbers")
@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(TYPES),
    st.lists(st.integers(1, 3), max_size=1),
    st.tuples(st.integers(1, 50), st.integers(1, 50), st.integers(1, 6)),
    st.tuples(st.integers(1, 70), st.integers(1, 70)),
    st.sampled_from(METHODS),
    st.booleans(),
    st.booleans(),
)
def test_any_images(seed, dtype, batch, shape, size, method, antialias, preserve):
    images = random_images(seed, dtype, (*batch, *shape))
    case = {"preserve_aspect_ratio": preserve, "antialias": antialias}
    same(lambda tf: tf.image.resize(images, size, method, **case))


@tf_rule("6 resize numbers")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("antialias", [False, True])
def test_extreme_sizes(method, antialias):
    for shape, size in [
        ((1, 1, 3), (1, 1)), ((1, 1, 3), (5, 9)), ((1, 300, 3), (1, 7)), ((300, 1, 1), (2, 3)), ((40, 40, 3), (1, 1)),
        ((2, 2, 3), (97, 1)), ((211, 3, 4), (3, 211)),
    ]:  # fmt: skip
        images = random_images(3, "uint8", shape)
        same(lambda tf, a=images, s=size: tf.image.resize(a, s, method, antialias=antialias))


@tf_rule("6 resize numbers")
@pytest.mark.parametrize("method", METHODS)
def test_infinities_and_nan(method):
    for seed, dtype in enumerate(("float16", "bfloat16", "float32", "float64")):
        images = random_images(seed, dtype, (11, 12, 3))
        flat = images.reshape(-1)
        flat[::17], flat[5::23], flat[7::31] = np.inf, -np.inf, np.nan
        for size in ((11, 12), (5, 7), (19, 31)):
            for antialias in (False, True):
                same(lambda tf, a=images, s=size, n=antialias: tf.image.resize(a, s, method, antialias=n))


@tf_rule("6 resize subnormal")
@pytest.mark.parametrize("method", METHODS)
def test_subnormal_numbers(method):
    for dtype, factor in (("float16", 1e-7), ("bfloat16", 1e-40), ("float32", 1e-40), ("float64", 1e-40)):
        images = (random_images(1, "float32", (9, 8, 3)).astype(np.float64) * factor).astype(dtype_of(dtype))
        for size in ((9, 8), (5, 6), (14, 12)):
            for antialias in (False, True):
                same(lambda tf, a=images, s=size, n=antialias: tf.image.resize(a, s, method, antialias=n))


@tf_rule("6 resize numbers")
@pytest.mark.parametrize("method", METHODS)
def test_arrays_with_gaps_and_other_byte_orders(method):
    whole = random_images(5, "float32", (2, 20, 22, 4))
    for images in (
        whole[:, ::2, ::-1], whole[0, 3:, :, :3], whole.transpose(0, 3, 1, 2), np.asfortranarray(whole[1]),
        whole[0].astype(">f4"), whole[0].astype(">i2"),
    ):  # fmt: skip
        same(lambda tf, a=images: tf.image.resize(a, (9, 7), method))


@cpu_dependent
@tf_rule("6 resize photos")
@pytest.mark.parametrize("method", METHODS)
def test_photos(method):
    for name, size, antialias in [
        ("china.jpg", (96, 96), False), ("china.jpg", (224, 224), True), ("flower.jpg", (224, 224), False),
        ("flower.jpg", (100, 700), True),
    ]:  # fmt: skip
        images = photo(name)
        same(lambda tf, a=images, s=size, n=antialias: tf.image.resize(a, s, method, antialias=n))


@tf_rule("6 resize size")
@pytest.mark.parametrize(
    "size",
    [
        (2, 3), [2, 3], range(2, 4), np.array([2, 3]), np.array([2, 3], np.uint8), np.array([2.7, 3.2]),
        np.array(["2", "3"]), np.array([2, 3], object), np.array([2.5, 3], object), np.array([True, True]),
        (np.int64(2), np.int32(3)), [np.array(2), np.array(3)], (2, True), (2**32 + 2, 3), (-(2**32) + 2, 3),
    ],
    ids=repr,
)  # fmt: skip
def test_sizes(size):
    same(lambda tf: tf.image.resize(IMAGE, size))


@tf_rule("6 resize size")
def test_sizes_that_are_tensors():
    same(lambda tf: tf.image.resize(tf.constant(IMAGE), tf.constant([2, 3])))
    same(lambda tf: tf.image.resize(tf.constant(IMAGE), [tf.constant(2), tf.constant(3)], name="small"))
    same(lambda tf: tf.image.resize(tf.constant(IMAGE), (2, tf.shape(IMAGE)[1] // 2)))


@tf_rule("6 resize size errors")
@pytest.mark.parametrize(
    ("size", "text"),
    [
        *((size, "'size' must be a 1-D int32 Tensor") for size in (
            (2.0, 3.0), [2, 3.5], None, "ab", b"ab", ("2", "3"), [b"a", b"b"], (None, 3), {1, 2}, 2.5, (2**63, 3),
            (np.float32(2), 3), (np.bool_(True), 2), [2, [3]], ([2, 3], [3]), np.array(["x", "3"]),
            np.array([None, 3], object), (-(2**63) - 1, 3),
        )),
        *((size, "'size' must be a 1-D Tensor of 2 elements: new_height, new_width") for size in (
            (2,), (2, 3, 4), 5, [[2, 3]], [[2], [3]], [], np.int32(5), np.float32(5), True, [np.array([2, 3])],
        )),
        *((size, "Dimension -2") for size in ((-2, 3), (3, -2), (2**31, 3), np.array([np.nan, 3.0]))),
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_wrong_sizes(size, text):
    fails(lambda tf: tf.image.resize(IMAGE, size), "ValueError", text)


@tf_rule("6 resize size errors")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "size", [(0, 3), (3, 0), (0, 0), (-1, 2), (2, -1), (True, False), (2**40, 3)], ids=repr
)
def test_sizes_that_are_not_positive(size, method):
    fails(
        lambda tf: tf.image.resize(IMAGE, size, method),
        "InvalidArgumentError",
        "output dimensions must be positive",
    )


@tf_rule("6 resize images")
@pytest.mark.parametrize("shape", [(), (3,), (3, 4), (1, 2, 3, 4, 1)], ids=repr)
def test_ranks(shape):
    fails(lambda tf: tf.image.resize(np.zeros(shape), (1,)), "ValueError", "either 3 or 4 dimensions.")


@tf_rule("6 resize images")
@pytest.mark.parametrize(
    "images",
    [
        [[[1, 2, 3]]], [[[1.5]]], [[[1, 2.5]]], [[[2**40]]], [np.zeros((2, 2)), np.ones((2, 2))], [], "abc", [["a"]],
        None, 5, [[[1], [2, 3]]], [[[]]], [[["a"]]], [[[True]]],
    ],
    ids=repr,
)  # fmt: skip
def test_lists_and_other_things(images):
    same(lambda tf: tf.image.resize(images, (2, 2)))
    same(lambda tf: tf.image.resize(images, (2, 2), "nearest"))


@tf_rule("6 resize empty")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("antialias", [False, True])
def test_empty_images(method, antialias):
    for shape in (
        (0, 3, 4, 1), (2, 0, 4, 1), (2, 3, 0, 1), (2, 3, 4, 0), (0, 4, 1), (3, 0, 1), (3, 4, 0), (0, 4, 0),
        (0, 3, 4, 0), (0, 0, 4, 1),
    ):  # fmt: skip
        for size in ((2, 3), (0, 0), shape[-3:-1]):
            images = np.zeros(shape, np.float32)
            same(lambda tf, a=images, s=size: tf.image.resize(a, s, method, antialias=antialias))


@tf_rule("6 resize types")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["bool", "uint32", "uint64", "complex64", "O", "M8[s]", "g"])
def test_other_types(dtype, method):
    images = np.full((2, 2, 1), b"a", object) if dtype == "O" else np.zeros((2, 2, 1), dtype)
    for size in ((1, 1), (2, 2), (0, 0)):
        for antialias in (False, True):
            same(lambda tf, s=size, n=antialias: tf.image.resize(images, s, method, antialias=n))


@tf_rule("6 resize method")
@pytest.mark.parametrize("method", ["foo", 0, 1, None, "BILINEAR", b"bilinear", ["bilinear"], {}], ids=repr)
def test_unknown_methods(method):
    for size in ((2, 2), (3, 4), (-2, 2), (0, 0)):
        same(lambda tf, s=size: tf.image.resize(ZEROS, s, method))
    fails(
        lambda tf: tf.image.resize(ZEROS.astype(bool), (2, 2), method),
        "ValueError",
        "Resize method is not implemented: ",
    )


@tf_rule("6 resize method")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("antialias", [0, 1, None, "x", np.bool_(True)], ids=repr)
def test_antialias_is_a_bool(method, antialias):
    same(lambda tf: tf.image.resize(ZEROS, (2, 2), method, antialias=antialias))
    same(lambda tf: tf.image.resize(ZEROS.astype(bool), (2, 2), method, antialias=antialias))


@tf_rule("6 resize method")
def test_names_of_methods():
    same(lambda tf: {name: value for name, value in vars(tf.image.ResizeMethod).items() if name[0] != "_"})


@tf_rule("6 resize preserve_aspect_ratio")
@pytest.mark.parametrize(
    "size",
    [(17, 100), (1, 1), (0, 5), (5, 0), (-1, 2), (-5, 2), (3, 4), (60, 81), (2.5, 3), (2**31 - 1, 3)],
    ids=repr,
)
def test_preserve_aspect_ratio(size):
    for shape in ((30, 40, 1), (300, 1, 1), (2, 4, 3, 2), (0, 40, 1), (40, 0, 1), (0, 0, 1)):
        images = random_images(1, "uint8", shape)
        same(lambda tf, a=images: tf.image.resize(a, size, preserve_aspect_ratio=True))
    same(lambda tf: tf.image.resize(IMAGE, (5, 5), preserve_aspect_ratio=1))


@tf_rule("6 resize too large")
def test_sizes_that_memory_cannot_hold():
    one = np.zeros((1, 1, 3), np.uint8)
    for module in (tensorflow(), ours()):  # TensorFlow goes on trying for 10 seconds
        found = outcome(module, lambda tf: tf.image.resize(one, (2**20, 2**20)))
        assert found.name == "ResourceExhaustedError"
        assert found.message.startswith(
            "OOM when allocating tensor with shape[1,1048576,1048576,3] and type float"
        )


@tf_rule("6 resize too large")
@pytest.mark.parametrize("method", METHODS)
def test_sizes_beyond_int64(method):
    for shape in ((1, 1, 3), (2, 1, 1, 3), (3, 1, 1, 1)):
        images = np.zeros(shape, np.uint8)
        fails(
            lambda tf, a=images: tf.image.resize(a, (2**31 - 1, 2**31 - 1), method),
            "InvalidArgumentError",
            "Encountered overflow when multiplying",
        )


def test_types_are_named():
    assert [dtype_of(name).name for name in TYPES] == list(TYPES)
