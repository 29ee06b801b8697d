"""YouTube-8M, written by TensorFlow as its readers expect it, and read as they do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import tensorflow as tf

import tfrkit as tfr

Feature = tf.train.Feature


def strings(*values):
    return Feature(bytes_list=tf.train.BytesList(value=values))


def integers(*values):
    return Feature(int64_list=tf.train.Int64List(value=values))


def video(number):
    draw = np.random.default_rng(number)
    features = {
        "id": strings(b"vid%d" % number),
        "labels": integers(*range(number)),
        "mean_rgb": Feature(float_list=tf.train.FloatList(value=draw.random(1024))),
        "mean_audio": Feature(float_list=tf.train.FloatList(value=draw.random(128))),
    }
    return tf.train.Example(features=tf.train.Features(feature=features))


def frames(number, size=1024):
    draw = np.random.default_rng(number)
    lists = {
        name: [strings(draw.integers(0, 256, width, np.uint8).tobytes()) for _ in range(number + 1)]
        for name, width in (("rgb", size), ("audio", 128))
    }
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={"id": strings(b"vid%d" % number), "labels": integers(number)}),
        feature_lists=tf.train.FeatureLists(
            feature_list={key: tf.train.FeatureList(feature=each) for key, each in lists.items()}
        ),
    )


def write(path, messages):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for message in messages:
            writer.write(message.SerializeToString())


def test_videos_have_their_means_and_labels(tmp_path):
    for number, name in enumerate(("train0000", "train3843", "validate-_")):
        write(tmp_path / f"{name}.tfrecord", [video(number), video(number + 1)])
    found = tfr.open_folder(tmp_path)
    assert (found.kind, {name: len(split.shards) for name, split in found.splits.items()}) == (
        "youtube8m",
        {"train": 2, "validate": 1},
    )
    ds = tfr.load(tmp_path, "train")
    for each, number in zip(ds, (0, 1, 1, 2), strict=True):
        features = video(number).features.feature
        assert each["id"] == b"vid%d" % number
        assert each["labels"].tolist() == list(range(number))
        assert each["mean_rgb"].tolist() == list(features["mean_rgb"].float_list.value)
    assert ds.batch(4)[0]["mean_audio"].shape == (4, 128)


def test_frames_are_rows_of_numbers(tmp_path):
    write(tmp_path / "train-0.tfrecord", [frames(number) for number in range(3)])
    found = tfr.open_folder(tmp_path)
    assert str(found).split("\n")[-2:] == ["  rgb: uint8(?, 1024)", "  audio: uint8(?, 128)"]
    ds = pickle.loads(pickle.dumps(tfr.load(tmp_path, "train")))
    for number, each in enumerate(ds):
        lists = frames(number).feature_lists.feature_list
        expected = tf.io.decode_raw(
            [each.bytes_list.value[0] for each in lists["rgb"].feature], tf.uint8
        ).numpy()
        np.testing.assert_array_equal(each["rgb"], expected)
        assert (each["rgb"].dtype, each["audio"].shape) == (np.uint8, (number + 1, 128))
        np.testing.assert_array_equal(ds[number]["rgb"], expected)


def test_dequantised_numbers_are_those_of_its_readers():
    values = np.arange(256, dtype=np.uint8)
    scalar, bias = 4 / 255.0, 4 / 512.0 - 2
    expected = (tf.cast(values, tf.float32) * scalar + bias).numpy()
    np.testing.assert_array_equal(tfr.dequantize_frames(values), expected)
    assert tfr.dequantize_frames(values.reshape(2, 128)).shape == (2, 128)
    with pytest.raises(tfr.errors.InvalidArgumentError, match="Expected max_quantized_value above"):
        tfr.dequantize_frames(values, -2.0, 2.0)


def test_a_frame_of_another_size_is_named(tmp_path):
    write(tmp_path / "test0000.tfrecord", [frames(0), frames(1, size=1000)])
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match="rgb: expected 1024 bytes for each second but got 1000"
    ):
        list(tfr.load(tmp_path, "test"))


@pytest.mark.parametrize("record", [b"", b"\xff\xff"])
def test_other_records_under_such_names_make_no_kind(tmp_path, record):
    with tf.io.TFRecordWriter(str(tmp_path / "train0000.tfrecord")) as writer:
        writer.write(record)
    assert tfr.open_folder(tmp_path).kind == "shards"
    (tmp_path / "train0000.tfrecord").write_bytes(b"damaged")
    with pytest.raises(tfr.errors.DataLossError):
        tfr.open_folder(tmp_path)
