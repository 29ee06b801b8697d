from __future__ import annotations

import os
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.sources.test_records_source import three_files
from tests.records.support.made import flip, frames, put
from tfrkit import TENSORFLOW, BytesColumn, Dataset, TFRecordDataset
from tfrkit.errors import DataLossError, InvalidArgumentError, NotFoundError

A = [b"a0", b"a1", b"a2", b"a3", b"a4"]
C = [b"c0", b"c1", b"c2", b"c3"]


@pytest.mark.parametrize(
    "wrap",
    [
        list,
        tuple,
        lambda files: [[file] for file in files],
        lambda files: [files[0], list(files[1:])],
        lambda files: [Path(file) for file in files],
        lambda files: [os.fsencode(file) for file in files],
        np.array,
        lambda files: np.array([files], object),
        BytesColumn.from_list,
        lambda files: os.path.dirname(files[0]) + "/*.tfrecord",
    ],
    ids=range(10),
)
def test_names_of_all_kinds(wrap, tmp_path):
    assert list(TFRecordDataset(wrap(three_files(tmp_path)))) == A + C


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        (3, TypeError, "must contain `tf.string` elements. Got `tf.int32` elements."),
        ([1, 2], TypeError, "must contain `tf.string` elements. Got `tf.int32` elements."),
        (2.5, TypeError, "Got `tf.float32` elements."),
        (True, TypeError, "Got `tf.bool` elements."),
        (np.arange(2), TypeError, "Got `tf.int64` elements."),
        (["a", 1], ValueError, "Can't convert Python sequence with mixed types to Tensor."),
        (None, ValueError, "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>)"),
        (
            {"a": "b"},
            ValueError,
            "Attempt to convert a value ({'a': 'b'}) with an unsupported type (<class 'dict'>)",
        ),
    ],
)
def test_other_names_are_refused(names, error, text):
    with pytest.raises(error, match=re.escape(text)):
        TFRecordDataset(names)


def test_datasets_of_something_else_are_refused():
    with pytest.raises(TypeError, match=r"Got a dataset of `tf\.int64` elements\."):
        TFRecordDataset(Dataset.range(3))
    with pytest.raises(TypeError, match=r"Got a dataset of `\(tf\.string, tf\.string\)` elements\."):
        TFRecordDataset(Dataset.from_tensor_slices((["a"], ["b"])))
    with pytest.raises(
        TypeError, match=r"\(i\.e\. scalars\)\. Got a dataset of element shape TensorShape\(\[None\]\)"
    ):
        TFRecordDataset(Dataset.from_tensor_slices(["a"]).batch(2))


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"buffer_size": -2}, InvalidArgumentError, "`buffer_size` must be >= 0 (0 == no buffering)"),
        ({"buffer_size": "x"}, TypeError, "Expected int64, but got x of type 'str'."),
        ({"buffer_size": 1.5}, TypeError, "Expected int64, but got 1.5 of type 'float'."),
        ({"num_parallel_reads": 0}, InvalidArgumentError, "`cycle_length` must be > 0"),
        ({"num_parallel_reads": -2}, InvalidArgumentError, "`cycle_length` must be > 0"),
        ({"num_parallel_reads": 2.0}, TypeError, "Cannot convert 2.0 to EagerTensor of dtype int64"),
        ({"compression_type": 3}, TypeError, "Expected string, but got 3 of type 'int'."),
        ({"compression_type": "FOO"}, InvalidArgumentError, "Unknown compression"),
        ({"on_corrupt": "what"}, ValueError, "expected on_corrupt to be one of"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, text, tmp_path):
    with pytest.raises(error, match=re.escape(text)):
        TFRecordDataset(three_files(tmp_path), **arguments)


@pytest.mark.parametrize("arguments", [{"buffer_size": size} for size in (None, -1, 0, 1, np.int32(5), True)])
def test_buffer_size_has_no_effect(arguments, tmp_path):
    assert list(TFRecordDataset(three_files(tmp_path), **arguments)) == A + C


def test_pattern_without_a_match_is_an_error_at_once(tmp_path):
    with pytest.raises(NotFoundError, match="No files matched pattern"):
        TFRecordDataset(str(tmp_path / "*.tfrecord"))
    with pytest.raises(NotFoundError, match="No such file or directory"):
        next(iter(TFRecordDataset(str(tmp_path / "*.tfrecord"), policy=TENSORFLOW)))


def test_nothing_is_an_empty_dataset():
    assert list(TFRecordDataset([])) == []
    assert list(TFRecordDataset(np.array([]))) == []


def test_state_refuses_a_file_that_has_changed(tmp_path):
    files = three_files(tmp_path)
    dataset = TFRecordDataset(files)
    iterator = iter(dataset)
    next(iterator)
    state = iterator.state()
    original = Path(files[2]).read_bytes()
    put(tmp_path / "2.tfrecord", frames([b"c9"]))
    with pytest.raises(InvalidArgumentError, match=r"file '2\.tfrecord' is not the one"):
        dataset.iter_from(state)
    put(tmp_path / "2.tfrecord", original)
    assert len(list(dataset.iter_from(state))) == 8


def test_error_names_the_place_and_the_next_file_follows(tmp_path):
    files = three_files(tmp_path)
    put(tmp_path / "0.tfrecord", flip(frames(A), 2 * 18 + 12))
    iterator = iter(TFRecordDataset(files))
    assert [next(iterator), next(iterator)] == A[:2]
    with pytest.raises(
        DataLossError, match=r"^corrupted record at 48: data checksum .* in record 2 \(frame at byte 36\)"
    ):
        next(iterator)
    assert list(iterator) == C


def test_skipped_damage_can_be_asked_for(tmp_path):
    files = three_files(tmp_path)
    put(tmp_path / "0.tfrecord", flip(frames(A), 2 * 18 + 12))
    iterator = iter(TFRecordDataset(files, on_corrupt="skip"))
    assert list(iterator) == A[:2] + A[3:] + C
    assert iterator.skipped == 1
    assert [(path, damage.record) for path, damage in iterator.damages] == [(files[0], 2)]


def test_without_crc_damaged_data_is_given(tmp_path):
    path = put(tmp_path / "a", flip(frames([b"abc"]), 12))
    assert list(TFRecordDataset(path, crc=False)) == [b"`bc"]
    with pytest.raises(DataLossError, match="record size too large"):
        next(iter(TFRecordDataset(path, max_record_bytes=2)))


def test_tensorflow_policy_takes_names_and_compression_as_they_are(tmp_path):
    import gzip

    path = put(tmp_path / "a[1]", gzip.compress(frames(A)))
    assert list(TFRecordDataset(path)) == A
    assert list(TFRecordDataset(path, "GZIP", policy=TENSORFLOW)) == A
    with pytest.raises(DataLossError, match="corrupted record at 0"):
        next(iter(TFRecordDataset(path, policy=TENSORFLOW)))
    plain = put(tmp_path / "b", frames(A))
    assert list(TFRecordDataset(plain, "FOO", policy=TENSORFLOW)) == A


def test_it_is_a_dataset_that_pickles(tmp_path):
    dataset = TFRecordDataset(three_files(tmp_path))
    assert isinstance(dataset, Dataset)
    assert list(pickle.loads(pickle.dumps(dataset.batch(4)))) == list(dataset.batch(4))
    assert dataset.cardinality() == tfr.UNKNOWN_CARDINALITY


def test_standard_input_is_read(tmp_path, monkeypatch):
    import io
    import sys
    from types import SimpleNamespace

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(frames(A))))
    dataset = TFRecordDataset("-")
    assert not dataset.node.pure
    assert list(dataset) == A
