"""Datasets pickle if their functions do; they go on where they stood, and what a cache kept stays behind."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.calls import difference, outcomes

ROOT = Path(__file__).parents[2]


def halve(x: np.int64) -> np.int64:
    return x // 2


def test_a_shuffle_goes_on_with_its_next_epoch() -> None:
    dataset = tfr.Dataset.range(20).shuffle(20, seed=4)
    list(dataset)
    copy = pickle.loads(pickle.dumps(dataset))
    second, third = list(dataset), list(dataset)
    assert second != third
    assert list(copy) == second
    assert list(copy) == third


def test_random_seeds_are_the_same_in_the_copy() -> None:
    dataset = tfr.Dataset.range(50).shuffle(50)
    copy = pickle.loads(pickle.dumps(dataset))
    assert list(copy) == list(dataset)


def test_a_state_is_of_use_to_the_copy() -> None:
    dataset = tfr.Dataset.range(30).map(halve).shuffle(9).batch(4)
    iterator = iter(dataset)
    outcomes(iterator, 3)
    state = iterator.state()
    copy = pickle.loads(pickle.dumps(dataset))
    assert not difference(outcomes(copy.iter_from(state)), outcomes(iterator))


def test_the_options_of_a_pipeline_are_pickled() -> None:
    options = tfr.Options(deterministic=False, threads=2)
    options.threading.private_threadpool_size = 3
    copy = pickle.loads(pickle.dumps(tfr.Dataset.range(3).with_options(options)))
    assert copy.options() == options


def test_a_dataset_of_files_pickles_into_another_process(tmp_path: Path) -> None:
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_many([b"one", b"two"])
    dataset = tfr.TFRecordDataset(tmp_path / "*.tfrecord").batch(2)
    (tmp_path / "dataset").write_bytes(pickle.dumps(dataset))
    code = "import pickle, sys; print([b.to_list() for b in pickle.load(open(sys.argv[1], 'rb'))])"
    found = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "dataset"],
        check=True,
        capture_output=True,
        cwd=ROOT,
        timeout=60,
    )
    assert found.stdout.strip() == b"[[b'one', b'two']]"


def test_a_function_that_does_not_pickle_is_an_error() -> None:
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(tfr.Dataset.range(3).map(lambda x: x))


def test_a_dataset_that_was_asked_for_elements_by_number_pickles(tmp_path: Path) -> None:
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_many([b"%d" % number for number in range(50)])
    dataset = tfr.TFRecordDataset(tmp_path / "a.tfrecord").global_shuffle().map(int).batch(4)
    before = pickle.dumps(dataset)
    wanted = [batch.tolist() for batch in dataset]
    assert [dataset[i].tolist() for i in range(len(dataset))] == wanted
    for written in (before, pickle.dumps(dataset), pickle.dumps(dataset.epoch(0)[::1])):
        copy = pickle.loads(written)
        assert [copy[i].tolist() for i in range(13)] == [batch.tolist() for batch in copy] == wanted
        assert len(written) < 4000
