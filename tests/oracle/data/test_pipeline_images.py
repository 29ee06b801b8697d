"""Images in pipelines, in TensorFlow and in tfrkit."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import tfrkit as tfr
from tests.data.support.image_files import BROKEN, SPEC, image_record, jpeg, png, write_images
from tests.oracle.support.oracle import tensorflow
from tests.oracle.support.parsed import core
from tests.oracle.support.tf_scenarios import ours
from tests.support.rules import tf_rule

METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "mitchellcubic"]


def saved(kind, mode="RGB"):
    image = Image.fromarray(np.arange(23 * 31 * 3, dtype=np.uint32).astype(np.uint8).reshape(23, 31, 3))
    file = io.BytesIO()
    more = [Image.new("RGB", image.size, "red")] if kind == "GIF" else []
    image.convert(mode).save(file, kind, **({"save_all": True, "append_images": more} if more else {}))
    return file.getvalue()


CONTENTS = [
    jpeg(0), jpeg(7, "L"), png(3), png(4, "L"), png(5, "RGBA"), png(6, "P"), saved("BMP"), saved("GIF", "P"),
    saved("JPEG", "CMYK"),
]  # fmt: skip


def theirs(contents, channels, size, method):
    """TensorFlow's map with decode_image and resize."""
    tf = tensorflow()

    def decode(content):
        image = tf.io.decode_image(content, channels, expand_animations=False)
        image.set_shape([None, None, None])
        return image if size is None else tf.cast(tf.image.resize(image, size, method), tf.float32)

    return tf.data.Dataset.from_tensor_slices(contents).map(decode)


def mine(contents, **options):
    return tfr.Dataset.from_tensor_slices({"image": contents}).decode_image("image", **options)


@tf_rule("6 decode_image in pipelines")
@pytest.mark.parametrize("channels", [1, 3])
def test_images_of_every_format(channels):
    contents = [
        each for each in CONTENTS if channels == 3 or each not in (CONTENTS[5], CONTENTS[7], CONTENTS[8])
    ]
    contents = [each for each in contents if channels == 3 or each is not CONTENTS[6]]
    wanted = list(theirs(contents, channels, None, None).as_numpy_iterator())
    for found, image in zip(mine(contents, channels=channels), wanted, strict=True):
        np.testing.assert_array_equal(found["image"], image)


@tf_rule("6 decode_image in pipelines")
@pytest.mark.parametrize("method", METHODS)
def test_resized_images_before_and_behind_a_batch(method):
    wanted = theirs(CONTENTS, 3, (17, 12), method).batch(4)
    within = 3e-5 if method == "lanczos3" else 0
    before = mine(CONTENTS, size=(17, 12), method=method).batch(4)
    source = tfr.Dataset.from_tensor_slices({"image": CONTENTS}).batch(4)
    behind = source.decode_image("image", size=(17, 12), method=method)
    for batch, one, other in zip(wanted.as_numpy_iterator(), before, behind, strict=True):
        assert np.abs(one["image"] - batch).max() <= within
        np.testing.assert_array_equal(one["image"], other["image"])


@tf_rule("6 broken images in pipelines")
@pytest.mark.parametrize("batch", [None, 3])
def test_broken_images(batch):
    contents = [
        jpeg(0),
        BROKEN["cut"](),
        jpeg(12),
        BROKEN["empty"](),
        BROKEN["text"](),
        BROKEN["bad png"](),
        jpeg(24),
    ]
    reference = theirs(contents, 3, (8, 8), "bilinear")
    found = mine(contents, size=(8, 8))
    if batch is not None:
        reference, found = reference.batch(batch, num_parallel_calls=1), found.batch(batch)
    assert outcomes(iter(found), lambda each: each["image"]) == outcomes(
        iter(reference), lambda each: each.numpy()
    )


def outcomes(iterator, value):
    """Shapes and bits of what comes, core texts of what fails (ours go on behind TensorFlow's)."""
    known = ("jpeg::Uncompress failed", "Input is empty", "Unknown image file format", "Invalid PNG")
    found = []
    while len(found) < 20:
        try:
            image = value(next(iterator))
            found.append((image.shape, image.tobytes()))
        except StopIteration:
            break
        except Exception as error:
            text = core(str(getattr(error, "message", error)))
            found.append((type(error).__name__, next(each for each in known if each in text)))
    return found


@tf_rule("6 photo pipelines")
@pytest.mark.parametrize("parallel", [None, -1])
def test_the_seeds_pipeline(tmp_path, parallel):
    path = tmp_path / "photos.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        for number in range(40):
            writer.write(image_record(number, jpeg(number, "L" if number % 7 == 3 else "RGB")))

    def build(tf):
        description = {
            "image": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([], tf.int64),
        }

        def parse(record):
            features = tf.io.parse_single_example(record, description)
            image = tf.io.decode_jpeg(features["image"], channels=3)
            image = tf.image.resize(image, (9, 11))
            return image / 255, tf.stack([tf.cast(features["label"], "int32")])

        records = tf.data.TFRecordDataset(str(path)).repeat().map(parse, parallel)
        return records.shuffle(buffer_size=16, seed=4).batch(8).prefetch(buffer_size=-1).take(12)

    for one, other in zip(build(ours()), build(tensorflow()), strict=True):
        for mine_, theirs_ in zip(one, other, strict=True):
            assert mine_.numpy().dtype == theirs_.numpy().dtype
            np.testing.assert_array_equal(mine_.numpy(), theirs_.numpy())


@tf_rule("6 decode_image in pipelines")
def test_files_of_images(tmp_path):
    path = write_images(tmp_path / "photos.tfrecord", 12)
    contents = [each["image"] for each in tfr.TFRecordDataset(path).parse(SPEC)]
    wanted = list(theirs(contents, 3, (10, 14), "bilinear").batch(5).as_numpy_iterator())
    found = tfr.TFRecordDataset(path).parse(SPEC).decode_image("image", size=(10, 14)).batch(5).prefetch(2)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one["image"], other)
