"""Simulations of DeepMind, written by TensorFlow and read by what their own readers do with it."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import tensorflow as tf

import tfrkit as tfr

STEPS = 4
META = {
    "simulator": "comsol",
    "dt": 0.01,
    "trajectory_length": STEPS,
    "field_names": ["cells", "node_type", "velocity", "faces", "length_faces"],
    "features": {
        "cells": {"type": "static", "shape": [1, -1, 3], "dtype": "int32"},
        "node_type": {"type": "static", "shape": [1, -1, 1], "dtype": "int32"},
        "velocity": {"type": "dynamic", "shape": [STEPS, -1, 2], "dtype": "float32"},
        "faces": {"type": "dynamic_varlen", "shape": [-1, 2], "dtype": "int32"},
    },
}
METADATA = {"bounds": [[0.1, 0.9]] * 2, "sequence_length": STEPS, "dim": 2, "dt": 0.0025, "vel_mean": [0, 0]}


def raw(values):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[values.tobytes()]))


def mesh(number):
    nodes = 5 + number
    return {
        "cells": np.arange(6 * nodes, dtype=np.int32),
        "node_type": np.full(nodes, number, np.int32),
        "velocity": np.random.default_rng(number).random(STEPS * nodes * 2, np.float32),
        "faces": np.arange(2 * (1 + 2 + 0 + 3), dtype=np.int32),
        "length_faces": np.array([1, 2, 0, 3], np.int32),
    }


def write(path, messages):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for message in messages:
            writer.write(message.SerializeToString())


@pytest.fixture
def meshes(tmp_path):
    (tmp_path / "meta.json").write_text(json.dumps(META))
    for split, count in ("train", 3), ("test", 1):
        features = [{key: raw(values) for key, values in mesh(number).items()} for number in range(count)]
        write(
            tmp_path / f"{split}.tfrecord",
            [tf.train.Example(features=tf.train.Features(feature=each)) for each in features],
        )
    return tmp_path


def expected_mesh(record):
    """Do what `dataset._parse` of meshgraphnets does, without the tiling of what is static."""
    features = tf.io.parse_single_example(
        record, {key: tf.io.VarLenFeature(tf.string) for key in META["field_names"]}
    )
    out = {
        key: tf.reshape(tf.io.decode_raw(features[key].values, getattr(tf, field["dtype"])), field["shape"])
        for key, field in META["features"].items()
    }
    out["length_faces"] = tf.reshape(tf.io.decode_raw(features["length_faces"].values, tf.int32), [-1])
    return {key: value.numpy() for key, value in out.items()}


def same(found, expected):
    assert set(found) == set(expected)
    for key, value in expected.items():
        np.testing.assert_array_equal(found[key], value)
        assert np.asarray(found[key]).dtype == value.dtype


def test_meshes_have_the_shapes_of_their_meta(meshes):
    found = tfr.open_folder(meshes)
    assert (found.kind, found.name, sorted(found.splits)) == ("mesh_graph_nets", "comsol", ["test", "train"])
    ds = tfr.load(meshes, "train")
    records = list(tf.data.TFRecordDataset(str(meshes / "train.tfrecord")).as_numpy_iterator())
    for each, one, record in zip(ds, (ds[0], ds[1], ds[2]), records, strict=True):
        same(each, expected_mesh(record))
        same(one, expected_mesh(record))


def test_a_mesh_of_another_size_is_named(meshes):
    features = {key: raw(values[1:]) for key, values in mesh(1).items()}
    write(meshes / "test.tfrecord", [tf.train.Example(features=tf.train.Features(feature=features))])
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"feature 'cells': its value has \d+ bytes.*test\.tfrecord"
    ):
        list(tfr.load(meshes, "test"))


@pytest.mark.parametrize(
    "feature",
    [
        {"type": "other"},
        {"dtype": "int7"},
        {"shape": [-1, -1]},
        {"shape": 3},
        {"shape": [10**12]},
        {"type": None},
    ],
)
def test_damaged_metas_of_meshes_are_refused(meshes, feature):
    cells = META["features"]["cells"] | feature
    (meshes / "meta.json").write_text(json.dumps(META | {"features": {"cells": cells}}))
    with pytest.raises(tfr.errors.DataLossError, match=r"meta\.json; features\.cells"):
        tfr.open_folder(meshes)


def trajectory(number, *, steps=STEPS + 1, context=False):
    draw = np.random.default_rng(number)
    particles = 3 + number
    lists = {"position": [raw(draw.random((particles, 2)).astype(np.float32)) for _ in range(steps)]}
    if context:
        lists["step_context"] = [raw(draw.random(3).astype(np.float32)) for _ in range(steps)]
    fixed = {
        "particle_type": raw(np.arange(particles)),
        "key": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
    }
    return tf.train.SequenceExample(
        context=tf.train.Features(feature=fixed),
        feature_lists=tf.train.FeatureLists(
            feature_list={key: tf.train.FeatureList(feature=each) for key, each in lists.items()}
        ),
    )


def write_particles(folder, messages, **metadata):
    (folder / "metadata.json").write_text(json.dumps(METADATA | metadata))
    write(folder / "train.tfrecord", messages)


def expected_trajectory(record, *, context):
    """Do what `reading_utils.parse_serialized_simulation_example` does."""
    names = ["position", *(["step_context"] if context else [])]
    fixed, lists = tf.io.parse_single_sequence_example(
        record,
        {"key": tf.io.FixedLenFeature([], tf.int64, 0), "particle_type": tf.io.VarLenFeature(tf.string)},
        {name: tf.io.VarLenFeature(tf.string) for name in names},
    )
    shapes = {"position": (STEPS + 1, -1, 2), "step_context": (STEPS + 1, 3)}
    decoded = {
        name: np.array([np.frombuffer(value, np.float32) for value in lists[name].values.numpy()])
        for name in names
    }
    return {
        "key": fixed["key"].numpy(),
        "particle_type": np.frombuffer(fixed["particle_type"].values.numpy()[0], np.int64),
        **{name: values.reshape(shapes[name]) for name, values in decoded.items()},
    }


@pytest.mark.parametrize("context", [False, True])
def test_trajectories_have_the_shapes_of_their_metadata(tmp_path, context):
    more = {"context_mean": [0, 0, 0]} if context else {}
    write_particles(tmp_path, [trajectory(number, context=context) for number in range(3)], **more)
    assert tfr.open_folder(tmp_path).kind == "learning_to_simulate"
    assert "  position: float32(5, ?, 2)" in str(tfr.open_folder(tmp_path)).split("\n")
    ds = tfr.load(tmp_path, "train")
    again = pickle.loads(pickle.dumps(ds))
    records = list(tf.data.TFRecordDataset(str(tmp_path / "train.tfrecord")).as_numpy_iterator())
    for number, (each, record) in enumerate(zip(ds, records, strict=True)):
        same(each, expected_trajectory(record, context=context))
        same(again[number], expected_trajectory(record, context=context))


def test_trajectories_of_another_length_are_refused(tmp_path):
    write_particles(tmp_path, [trajectory(0, steps=4)])
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"position: expected 5 steps of one size but got 4"
    ):
        list(tfr.load(tmp_path, "train"))
    write_particles(tmp_path, [trajectory(0)], dim=5)
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"position: its 120 bytes are no float32 of the shape"
    ):
        list(tfr.load(tmp_path, "train"))


@pytest.mark.parametrize(
    "metadata", [{"dim": 0}, {"sequence_length": -1}, {"dim": "x"}, {"sequence_length": 10**12}]
)
def test_damaged_metadata_is_refused(tmp_path, metadata):
    write_particles(tmp_path, [trajectory(0)], **metadata)
    with pytest.raises(tfr.errors.DataLossError, match=r"metadata\.json; metadata"):
        tfr.open_folder(tmp_path)


def test_a_file_of_another_program_makes_no_kind(tmp_path):
    write_particles(tmp_path, [trajectory(0)])
    for text in ('{"dim": 2}', "[]", "{"):
        (tmp_path / "metadata.json").write_text(text)
        assert tfr.open_folder(tmp_path).kind == "shards"
