"""The steps of TensorFlow's introduction to TFRecord: Examples written, read, parsed; and photos with their shapes.

    python examples/tutorial.py FOLDER PHOTO...

It is a TensorFlow program but for one line, the import.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from tfrkit import tf

COUNT = 10_000
WORDS = np.array([b"cat", b"dog", b"chicken", b"horse", b"goat"])


def bytes_feature(value: Any) -> Any:
    """A feature of one string; an eager tensor has to give its bytes first."""
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def float_feature(value: float) -> Any:
    """A feature of one float."""
    return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))


def int64_feature(value: int) -> Any:
    """A feature of one integer, enum or truth value."""
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[int(value)]))


def serialize_example(truth: Any, number: Any, word: Any, value: Any) -> bytes:
    """One observation as the bytes of an Example."""
    features = {
        "truth": int64_feature(truth),
        "number": int64_feature(number),
        "word": bytes_feature(word),
        "value": float_feature(value),
    }
    example = tf.train.Example(features=tf.train.Features(feature=features))
    made: bytes = example.SerializeToString(deterministic=True)
    return made


def tf_serialize_example(truth: Any, number: Any, word: Any, value: Any) -> Any:
    """The same inside a pipeline."""

    def call(*tensors: Any) -> bytes:
        return serialize_example(*(tensor.numpy() for tensor in tensors))

    return tf.reshape(tf.py_function(call, (truth, number, word, value), tf.string), ())


def observations() -> Any:
    """A dataset of (truth, number, word, value)."""
    rng = np.random.default_rng(0)
    truths = rng.random(COUNT) < 0.5
    numbers = rng.integers(0, 5, COUNT)
    return tf.data.Dataset.from_tensor_slices((truths, numbers, WORDS[numbers], rng.normal(size=COUNT)))


DESCRIPTION = {
    "truth": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "number": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "word": tf.io.FixedLenFeature([], tf.string, default_value=""),
    "value": tf.io.FixedLenFeature([], tf.float32, default_value=0.0),
}


def write_examples(path: str) -> None:
    """Write all observations."""
    serialized = observations().map(tf_serialize_example)
    with tf.io.TFRecordWriter(path) as writer:
        for record in serialized:
            writer.write(record.numpy())


def read_examples(path: str) -> None:
    """Read, parse and shuffle them."""
    raw = tf.data.TFRecordDataset([path])
    for record in raw.take(3):
        print(repr(record))
    for record in raw.take(1):
        example = tf.train.Example()
        example.ParseFromString(record.numpy())
        for key in sorted(example.features.feature):
            feature = example.features.feature[key]
            kind = feature.WhichOneof("kind")
            print(key, kind, np.array(getattr(feature, kind).value))

    parsed = raw.map(lambda record: tf.io.parse_single_example(record, DESCRIPTION))
    for example in parsed.shuffle(1000, seed=1).take(5):
        print({key: value.numpy() for key, value in example.items()})
    total = parsed.reduce(np.int64(0), lambda total, example: total + example["number"])
    print(total.numpy(), parsed.element_spec)


def write_photos(path: str, photos: list[str]) -> None:
    """Write photos as they are, with their sizes."""
    with tf.io.TFRecordWriter(path) as writer:
        for label, photo in enumerate(photos):
            encoded = Path(photo).read_bytes()
            height, width, depth = tf.io.decode_jpeg(encoded).shape
            features = {
                "height": int64_feature(height),
                "width": int64_feature(width),
                "depth": int64_feature(depth),
                "label": int64_feature(label),
                "image_raw": bytes_feature(encoded),
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString(deterministic=True))


def read_photos(path: str) -> None:
    """Read them back."""
    numbers = ("height", "width", "depth", "label")
    description = {key: tf.io.FixedLenFeature([], tf.int64) for key in numbers}
    description["image_raw"] = tf.io.FixedLenFeature([], tf.string)
    parsed = tf.data.TFRecordDataset(path).map(lambda record: tf.io.parse_single_example(record, description))
    for features in parsed:
        image = tf.io.decode_jpeg(features["image_raw"])
        print([features[key].numpy() for key in numbers], image.shape, image.numpy().sum())


def main(folder: str, photos: list[str]) -> None:
    """Take all steps."""
    write_examples(f"{folder}/examples.tfrecord")
    read_examples(f"{folder}/examples.tfrecord")
    write_photos(f"{folder}/photos.tfrecord", photos)
    read_photos(f"{folder}/photos.tfrecord")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
