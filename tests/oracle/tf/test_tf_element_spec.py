"""Sizes in element_spec that differ from element to element are None, as where TensorFlow traces a function, live."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.oracle.support.tf_scenarios import same
from tests.support.rules import tf_rule

# The first elements, which tfrkit may call a function with, are all alike; and there may be only one.
RECORDS = [
    tfr.make_example({"raw": [b""], "four": b"\0\0\0\1", "n": [1, 2], "text": b"12"}).SerializeToString()
    for _ in range(5)
]


def records(tf: Any, count: int) -> Any:
    return tf.data.Dataset.from_tensor_slices(RECORDS[:count])


def spec(tf: Any) -> Any:
    return {
        "raw": tf.io.VarLenFeature(tf.string),
        "four": tf.io.FixedLenFeature([], tf.string),
        "n": tf.io.FixedLenFeature([2], tf.int64),
        "text": tf.io.FixedLenFeature([], tf.string),
    }


PARSED = {
    "as parsed": lambda tf, x: x,
    "decode_raw of VarLen": lambda tf, x: tf.io.decode_raw(x["raw"].values, tf.uint8),
    "decode_raw and reshape": lambda tf, x: tf.reshape(tf.io.decode_raw(x["raw"].values, tf.uint8), [-1]),
    "decode_raw of floats": lambda tf, x: tf.io.decode_raw(x["four"], tf.float32),
    "reshape to rows": lambda tf, x: tf.reshape(tf.io.decode_raw(x["four"], tf.uint8), [-1, 2]),
    "reshape to a size": lambda tf, x: tf.reshape(tf.io.decode_raw(x["four"], tf.uint8), [2, 2]),
    "to_dense": lambda tf, x: tf.sparse.to_dense(x["raw"]),
    "a number": lambda tf, x: tf.strings.to_number(x["text"], tf.float32),
    "filled": lambda tf, x: tf.fill([tf.cast(x["n"][0], tf.int32)], 7),
    "known": lambda tf, x: (tf.stack([x["n"], x["n"]]), tf.concat([x["n"], [3]], 0)),
    "sliced": lambda tf, x: x["raw"].values[:1],
}


@tf_rule("5 element_spec sizes")
@pytest.mark.parametrize("name", PARSED)
@pytest.mark.parametrize("count", [2, 5])
def test_sizes_after_a_parser(name: str, count: int) -> None:
    make = PARSED[name]

    def in_two_maps(tf: Any) -> Any:
        parsed = records(tf, count).map(lambda x: tf.io.parse_single_example(x, spec(tf)))
        return repr(parsed.map(lambda x: make(tf, x)).element_spec)

    def in_one_map(tf: Any) -> Any:
        dataset = records(tf, count).map(lambda x: make(tf, tf.io.parse_single_example(x, spec(tf))))
        return repr(dataset.element_spec)

    same(in_two_maps)
    same(in_one_map)


IMAGE = tfr.image.encode_png(np.zeros((5, 6, 3), np.uint8))
SEQUENCE = tfr.make_sequence_example(
    {"c": [1, 2]}, {"f": [[1.0], [2.0]], "s": [b"a", b"b"]}
).SerializeToString()


def parse_sequence(tf: Any, record: Any) -> Any:
    lists = {"f": tf.io.FixedLenSequenceFeature([1], tf.float32), "s": tf.io.VarLenFeature(tf.string)}
    return tf.io.parse_single_sequence_example(record, {"c": tf.io.FixedLenFeature([2], tf.int64)}, lists)


def parse_image(tf: Any, record: Any) -> Any:
    return tf.io.parse_single_example(record, {"image": tf.io.FixedLenFeature([], tf.string)})["image"]


# Functions that fail for texts: four elements that are alike do not show which sizes are known.
DECODED = {
    "an image": (IMAGE, lambda tf, x: tf.io.decode_png(x, channels=3)),
    "an image as it is stored": (IMAGE, lambda tf, x: tf.io.decode_png(x)),
    "resized": (IMAGE, lambda tf, x: tf.image.resize(tf.io.decode_jpeg(x, channels=3), [4, 4])),
    "cropped": (IMAGE, lambda tf, x: tf.image.random_crop(tf.io.decode_png(x, channels=1), [2, 2, 1])),
    "an image of an Example": (
        tfr.make_example({"image": IMAGE}).SerializeToString(),
        lambda tf, x: tf.io.decode_png(parse_image(tf, x), channels=3),
    ),
    "a SequenceExample": (SEQUENCE, parse_sequence),
}


@tf_rule("5 element_spec sizes")
@pytest.mark.parametrize("name", DECODED)
@pytest.mark.parametrize("count", [1, 5])
def test_sizes_of_what_is_decoded(name: str, count: int) -> None:
    content, make = DECODED[name]

    def case(tf: Any) -> Any:
        dataset = tf.data.Dataset.from_tensor_slices([content] * count)
        return repr(dataset.map(lambda x: make(tf, x)).element_spec)

    same(case)


@tf_rule("5 element_spec sizes")
def test_sizes_after_the_parser_of_batches() -> None:
    def case(tf: Any) -> Any:
        wanted = {"n": spec(tf)["n"], "raw": tf.io.VarLenFeature(tf.string)}
        return repr(records(tf, 4).batch(2).map(lambda x: tf.io.parse_example(x, wanted)).element_spec)

    same(case)


@tf_rule("5 element_spec sizes")
def test_sizes_of_an_only_element() -> None:
    same(lambda tf: repr(records(tf, 1).map(lambda x: tf.io.decode_raw(x, tf.uint8)).element_spec))
    same(lambda tf: repr(tf.data.Dataset.from_tensors([[1, 2]]).map(tf.transpose).element_spec))
