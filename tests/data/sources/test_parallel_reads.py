from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.data.sources.test_records_dataset import A, C
from tests.data.sources.test_records_source import three_files
from tests.records.support.made import flip, frames, put
from tfrkit import Dataset, TextLineDataset, TFRecordDataset
from tfrkit.errors import DataLossError, InvalidArgumentError


@pytest.mark.parametrize("parallel", [1, 2, 3, 10, tfr.AUTOTUNE])
def test_parallel_reads_take_records_in_turn(parallel, tmp_path):
    files = three_files(tmp_path)
    dataset = TFRecordDataset(files, num_parallel_reads=parallel)
    expected = {
        1: A + C,
        2: [b"a0", b"a1", b"c0", b"a2", b"c1", b"a3", b"c2", b"a4", b"c3"],
        3: [b"a0", b"c0", b"a1", b"c1", b"a2", b"c2", b"a3", b"c3", b"a4"],
    }
    found = list(dataset)
    if parallel == tfr.AUTOTUNE:
        assert sorted(found) == A + C
    else:
        assert found == expected[min(parallel, 3)]
    iterator = iter(pickle.loads(pickle.dumps(dataset)))
    assert [next(iterator) for _ in range(4)] == found[:4]
    state = json.loads(json.dumps(iterator.state()))
    assert list(dataset.iter_from(state)) == found[4:]


@pytest.mark.parametrize("parallel", [None, 1, 2, 3])
def test_names_may_come_from_a_dataset(parallel, tmp_path):
    files = list(three_files(tmp_path))
    expected = list(TFRecordDataset(files, num_parallel_reads=parallel))
    for names in (Dataset.from_tensor_slices(files), Dataset.list_files(files, shuffle=False)):
        assert list(TFRecordDataset(names, num_parallel_reads=parallel)) == expected


def test_names_from_a_dataset_may_be_patterns(tmp_path):
    three_files(tmp_path)
    assert list(TFRecordDataset(Dataset.from_tensors(str(tmp_path / "*.tfrecord")))) == A + C


def test_state_refuses_a_file_that_has_changed(tmp_path):
    files = three_files(tmp_path)
    dataset = TFRecordDataset(files, num_parallel_reads=2)
    iterator = iter(dataset)
    next(iterator)
    state = iterator.state()
    original = Path(files[2]).read_bytes()
    put(tmp_path / "2.tfrecord", frames([b"c9"]))
    with pytest.raises(InvalidArgumentError, match=r"file '2\.tfrecord' is not the one"):
        dataset.iter_from(state)
    put(tmp_path / "2.tfrecord", original)
    assert len(list(dataset.iter_from(state))) == 8


def test_skipped_damage_is_counted(tmp_path):
    files = three_files(tmp_path)
    put(tmp_path / "0.tfrecord", flip(frames(A), 2 * 18 + 12))
    iterator = iter(TFRecordDataset(files, on_corrupt="skip", num_parallel_reads=2))
    assert sorted(iterator) == sorted(A[:2] + A[3:] + C)
    assert iterator.skipped == 1
    assert [(path, damage.record) for path, damage in iterator.damages] == [(files[0], 2)]


def test_damaged_file_leaves_its_slot_to_the_next(tmp_path):
    files = three_files(tmp_path)
    put(tmp_path / "0.tfrecord", flip(frames(A), 18 + 12))
    iterator = iter(TFRecordDataset([files[0], files[2], files[2]], num_parallel_reads=2))
    assert [next(iterator), next(iterator)] == [b"a0", b"c0"]
    with pytest.raises(DataLossError):
        next(iterator)
    assert list(iterator) == [b"c1", b"c2", b"c0", b"c3", b"c1", b"c2", b"c3"]


def test_lines_are_taken_in_turn(tmp_path):
    paths = [str(put(tmp_path / name, name.encode() + b"1\n" + name.encode() + b"2\n")) for name in "abc"]
    assert list(TextLineDataset(paths, num_parallel_reads=2)) == [b"a1", b"b1", b"a2", b"b2", b"c1", b"c2"]
    assert list(TextLineDataset(Dataset.from_tensor_slices(paths))) == list(TextLineDataset(paths))


def test_state_keeps_the_cycle_of_another_machine(tmp_path, monkeypatch):
    files = three_files(tmp_path)
    dataset = TFRecordDataset([files[0], files[2], files[0]], num_parallel_reads=tfr.AUTOTUNE)
    monkeypatch.setattr("tfrkit.data.stages.interleave.default_threads", lambda: 6)
    expected = list(TFRecordDataset([files[0], files[2], files[0]], num_parallel_reads=2))
    iterator = iter(dataset)
    assert [next(iterator) for _ in range(5)] == expected[:5]
    monkeypatch.setattr("tfrkit.data.stages.interleave.default_threads", lambda: 2)
    assert list(dataset.iter_from(iterator.state())) == expected[5:]


@pytest.mark.parametrize("parallel", [None, 2])
def test_source_of_records_is_known(parallel, tmp_path):
    files = three_files(tmp_path)
    for element in TFRecordDataset(files, num_parallel_reads=parallel).with_source():
        assert element["file"] == (files[0] if element["data"].startswith(b"a") else files[2]).encode()
        assert element["record"] == int(element["data"][1:])
