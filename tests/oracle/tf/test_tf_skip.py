"""Records that skip and shard leave out, in TensorFlow and in `tfrkit.tf`: damaged and cut at every place."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.oracle.support.frames import compress, flip, frames, put
from tests.oracle.support.oracle import Failure, assert_same, drain, tensorflow
from tests.oracle.support.tf_scenarios import ours
from tests.support.rules import tf_rule

RECORDS = [b"record %d" % number for number in range(7)]
SIZE = len(frames(RECORDS[:1]))
LENGTH, DATA = 8, 14  # places in a frame
CHAINS = {
    "skip(1)": lambda ds: ds.skip(1),
    "skip(3)": lambda ds: ds.skip(3),
    "skip(4)": lambda ds: ds.skip(4),
    "skip(9)": lambda ds: ds.skip(9),
    "skip(99)": lambda ds: ds.skip(99),
    "skip(2).skip(2)": lambda ds: ds.skip(2).skip(2),
    "skip(1).shard(2, 0)": lambda ds: ds.skip(1).shard(2, 0),
    "shard(2, 0)": lambda ds: ds.shard(2, 0),
    "shard(2, 1)": lambda ds: ds.shard(2, 1),
    "shard(4, 3)": lambda ds: ds.shard(4, 3),
    "shard(2, 1).skip(2)": lambda ds: ds.shard(2, 1).skip(2),
    "skip(4).batch(2)": lambda ds: ds.skip(4).batch(2),
    "skip(4).prefetch(1)": lambda ds: ds.skip(4).prefetch(1),
    "skip(5).repeat(2)": lambda ds: ds.skip(5).repeat(2),
    "map.skip(4)": lambda ds: ds.map(lambda x: x + b"!").skip(4),
    "take(6).skip(4)": lambda ds: ds.take(6).skip(4),
    "repeat(2).skip(9)": lambda ds: ds.repeat(2).skip(9),
    "prefetch(1).shard(2, 0)": lambda ds: ds.prefetch(1).shard(2, 0),
    "what is nothing": lambda ds: ds.skip(0).take(-1).repeat(1).shard(1, 0).skip(4),
}


def results(tf, paths, chain, compression=""):
    names = [str(path) for path in paths]
    elements = iter(chain(tf.data.TFRecordDataset(names, compression)))
    return drain(lambda: np.asarray(next(elements).numpy()).tolist(), patience=4)


def compare(paths, compression=""):
    """All chains, with both; TensorFlow's results by chain."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tfr.errors.DataLossWarning)
        for name, chain in CHAINS.items():
            found[name] = results(tensorflow(), paths, chain, compression)
            assert_same(results(ours(), paths, chain, compression), found[name], name)
    return found


@tf_rule("5 skip unchecked")
@pytest.mark.parametrize("compression", ["", "GZIP"])
@pytest.mark.parametrize("place", [DATA, LENGTH])
@pytest.mark.parametrize("record", [0, 3])
def test_damage_among_records_that_are_left_out(tmp_path: Path, record, place, compression):
    damaged = compress(flip(frames(RECORDS), record * SIZE + place), compression)
    paths = [put(tmp_path / "a", damaged), put(tmp_path / "b", compress(frames(RECORDS), compression))]
    found = compare(paths, compression)
    if place == DATA and record == 3:
        assert found["skip(4)"][0] == RECORDS[4]
        assert isinstance(found["skip(3)"][0], Failure)
        assert not any(isinstance(one, Failure) for one in found["shard(2, 0)"])


@tf_rule("5 skip unchecked")
@pytest.mark.parametrize("compression", ["", "GZIP"])
@pytest.mark.parametrize("kept", [5, 12, 15, SIZE - 1])
@pytest.mark.parametrize("record", [0, 3])
def test_cut_records_that_are_left_out(tmp_path: Path, record, kept, compression):
    cut = compress(frames(RECORDS)[: record * SIZE + kept], compression)
    paths = [put(tmp_path / "a", cut), put(tmp_path / "b", compress(frames(RECORDS), compression))]
    found = compare(paths, compression)
    if kept > 5 and not compression:
        assert any("reached end of file" in str(one) for one in found["skip(9)"])


@tf_rule("5 skip unchecked")
def test_many_blocks_and_files(tmp_path: Path):
    records = [bytes([number % 251]) * 3000 for number in range(2000)]
    data, size = frames(records), len(frames(records[:1]))
    paths = [
        put(tmp_path / "a", flip(data, 1234 * size + DATA)),
        put(tmp_path / "b", flip(data, 5 * size + DATA)),
    ]
    for chain in (
        lambda ds: ds.skip(1235),
        lambda ds: ds.skip(1234),
        lambda ds: ds.skip(2006),
        lambda ds: ds.shard(3, 0),
        lambda ds: ds.shard(3, 1),
        lambda ds: ds.shard(2, 0),
    ):
        assert_same(results(ours(), paths, chain), results(tensorflow(), paths, chain))


def test_tfrkit_itself_checks_everything(tmp_path: Path):
    path = put(tmp_path / "a", flip(frames(RECORDS), 3 * SIZE + DATA))
    for chain in (lambda ds: ds.skip(5), lambda ds: ds.shard(2, 0)):
        with pytest.raises(tfr.errors.DataLossError, match=f"corrupted record at {3 * SIZE + 12}"):
            list(chain(tfr.TFRecordDataset(str(path))))


@pytest.mark.parametrize("pulled", range(4))
def test_states_of_records_that_are_left_out(tmp_path: Path, pulled):
    path = put(tmp_path / "a", flip(frames(RECORDS), 3 * SIZE + DATA))
    for chain in (
        lambda ds: ds.skip(2),
        lambda ds: ds.skip(4),
        lambda ds: ds.shard(2, 0),
        lambda ds: ds.shard(2, 1),
    ):
        ds = chain(ours().data.TFRecordDataset(str(path)))
        iterator = iter(ds)
        expected = drain(lambda iterator=iterator: next(iterator).numpy())
        iterator = iter(ds)
        first = [one for one in expected if not isinstance(one, Failure)][:pulled]
        assert [next(iterator).numpy() for _ in first] == first
        again = ds.iter_from(iterator.state())
        assert_same(drain(lambda again=again: next(again).numpy()), expected[len(first) :])
