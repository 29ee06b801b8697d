"""Folders for tests: encoded and described by TensorFlow Datasets, and read by it, the oracle.

Records are those of its own encoder. Shards are written here, since its writer shuffles them and takes seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

import tfrkit as tfr
from tfrkit.model.ragged import Ragged

NAME = "some"
VERSION = "1.0.0"


def write_folder(
    path: Path,
    features: Any,
    splits: Mapping[str, Sequence[Sequence[Any]]],
    *,
    in_order: bool = False,
) -> str:
    """Write a data set.

    Args:
        path: of the new folder.
        features: its `FeaturesDict`.
        splits: the examples of each shard, by split.
        in_order: that of a builder with `disable_shuffling`.
    """
    path.mkdir(parents=True, exist_ok=True)
    infos = []
    for name, shards in splits.items():
        for number, examples in enumerate(shards):
            file = path / f"{NAME}-{name}.tfrecord-{number:05d}-of-{len(shards):05d}"
            with tfr.TFRecordWriter(str(file)) as writer:
                writer.write_many([features.serialize_example(each) for each in examples])
        infos.append(
            tfds.core.SplitInfo(
                name=name,
                shard_lengths=[len(each) for each in shards],
                num_bytes=0,
                filename_template=tfds.core.ShardedFileTemplate(
                    data_dir=path, dataset_name=NAME, split=name, filetype_suffix="tfrecord"
                ),
            )
        )
    identity = tfds.core.dataset_info.DatasetIdentity(
        name=NAME, version=tfds.core.Version(VERSION), data_dir=str(path), module_name="tests"
    )
    info = tfds.core.DatasetInfo(builder=identity, features=features, disable_shuffling=in_order)
    info.set_splits(tfds.core.splits.SplitDict(infos))
    info.set_file_format("tfrecord")
    info.write_to_directory(path)
    return str(path)


def read_by_tfds(folder: str, split: Any, **options: Any) -> list[Any]:
    """Return the elements as TensorFlow Datasets reads them, tensors as they are."""
    builder = tfds.builder_from_directory(folder)
    return list(builder.as_dataset(split=split, **options))


def assert_same(ours: Any, theirs: Any, where: str = "") -> None:
    """Compare a value of an element with that of TensorFlow Datasets."""
    if isinstance(theirs, dict):
        assert isinstance(ours, dict), where
        assert set(ours) == set(theirs), where
        for key, each in theirs.items():
            assert_same(ours[key], each, f"{where}/{key}")
    elif isinstance(theirs, tf.data.Dataset):
        for number, step in enumerate(theirs):
            assert_same(_step(ours, number), step, f"{where}[{number}]")
        assert_same_length(ours, sum(1 for _ in theirs), where)
    elif isinstance(theirs, tf.RaggedTensor):
        assert isinstance(ours, Ragged), (where, type(ours))
        assert _listed(ours) == _listed(theirs), where
        _assert_same_type(ours.flat_values, theirs.flat_values.numpy(), where)
    else:
        expected = theirs.numpy()
        _assert_same_type(ours, expected, where)
        np.testing.assert_array_equal(np.asarray(ours, np.asarray(expected).dtype), expected, err_msg=where)
        assert np.shape(ours) == np.shape(expected), (where, np.shape(ours), np.shape(expected))


def assert_same_length(ours: Any, count: int, where: str) -> None:
    """Compare the number of steps."""
    if isinstance(ours, dict):
        for key, each in ours.items():
            assert_same_length(each, count, f"{where}/{key}")
    else:
        assert len(ours) == count, where


def assert_same_dataset(folder: str, split: Any) -> None:
    """Compare all elements of a split, iterated, by number, and in batches of one size."""
    theirs = read_by_tfds(folder, split)
    ds = tfr.load(folder, split)
    assert len(ds) == len(theirs)
    elements = list(ds)
    assert len(elements) == len(theirs)
    for number, (ours, expected) in enumerate(zip(elements, theirs, strict=True)):
        assert_same(ours, expected, f"{split}[{number}]")
        assert_same(ds[number], expected, f"{split}[{number}] by number")


def _step(value: Any, number: int) -> Any:
    return (
        {key: _step(each, number) for key, each in value.items()}
        if isinstance(value, dict)
        else value[number]
    )


def _listed(value: Any) -> Any:
    """The rows of a ragged value, down to the arrays of its flat values."""
    rows = [
        value[number]
        for number in range(value.shape[0] if isinstance(value, tf.RaggedTensor) else len(value))
    ]
    return [
        _listed(row)
        if isinstance(row, (tf.RaggedTensor, Ragged))
        else np.asarray(
            row.numpy() if hasattr(row, "numpy") else row.to_numpy() if hasattr(row, "to_numpy") else row
        ).tolist()
        for row in rows
    ]


def _assert_same_type(ours: Any, expected: Any, where: str) -> None:
    wanted = np.asarray(expected).dtype
    if wanted.kind in "OS":
        found = np.asarray(ours, object)
        assert all(isinstance(each, bytes) for each in found.ravel().tolist()), where
    else:
        assert np.asarray(ours).dtype == wanted, (where, np.asarray(ours).dtype, wanted)
