from __future__ import annotations

from collections import Counter

import pytest

import tfrkit as tfr
from tests.build.support.frame_files import RECORDS, contents, files_in, put_records, tree
from tests.records.support.made import CONTAINERS, flip, frames
from tfrkit.errors import DataLossError


@pytest.mark.parametrize("kind", CONTAINERS)
def test_all_records_come_out_in_another_order(kind, tmp_path):
    paths = [
        put_records(tmp_path / "a", RECORDS[:200], kind),
        put_records(tmp_path / "b", RECORDS[200:], kind),
    ]
    tfr.shuffle(paths, tmp_path / "out" / "m", seed=1, shards=3)
    mixed = [record for records in contents(*files_in(tmp_path / "out")) for record in records]
    assert Counter(mixed) == Counter(RECORDS)
    assert mixed != RECORDS
    first = {RECORDS.index(record) >= 200 for record in mixed[:60]}
    assert first == {True, False}


def test_seed_decides_and_workers_do_not(tmp_path):
    path = put_records(tmp_path / "a", RECORDS)
    for name, seed, workers in (("x", 1, 1), ("y", 1, 3), ("z", 2, 1)):
        tfr.shuffle(path, tmp_path / name / "m", seed=seed, workers=workers, shards=2)
    assert tree(tmp_path / "x") == tree(tmp_path / "y")
    assert contents(*files_in(tmp_path / "x")) != contents(*files_in(tmp_path / "z"))


def test_one_file_is_shuffled_into_one_file(tmp_path):
    path = put_records(tmp_path / "a", RECORDS)
    assert tfr.shuffle(path, tmp_path / "m.tfrecord.gz").shards[0].name == "m.tfrecord.gz"
    assert sorted(contents(tmp_path / "m.tfrecord.gz")[0]) == sorted(RECORDS)


def test_few_records_are_shuffled(tmp_path):
    for count in (0, 1, 2):
        path = put_records(tmp_path / str(count), RECORDS[:count])
        report = tfr.shuffle(path, tmp_path / f"out{count}" / "m", shards=2)
        assert report.records == count
        assert len(report.shards) == 2


def test_damage_raises_or_is_left_out(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(flip(frames(RECORDS), len(frames(RECORDS[:7])) + 13))
    with pytest.raises(DataLossError, match="record 7"):
        tfr.shuffle(path, tmp_path / "x.tfrecord")
    assert tfr.shuffle(path, tmp_path / "y.tfrecord", on_corrupt="skip").records == 299
