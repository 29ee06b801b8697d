"""on_corrupt="skip" by number: numbers count damaged records too, and damage that leaves no numbers is an error."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.records.support.made import flip
from tfrkit.errors import DataLossError

RECORDS = [b"rec%02d" % number for number in range(10)]
FRAME = 5 + 16  # bytes
ADVICE = (
    ' on_corrupt="skip" leaves out records by their numbers, which those after this damage do not have: only iterating '
    "in order can skip it, without global_shuffle(), len() and elements by number. `tfr repair` makes a file of the "
    "records that are whole."
)


def write(folder: Path, damage: str) -> Path:
    path = folder / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(RECORDS)
    if damage == "cut":
        os.truncate(path, 7 * FRAME + 5)
        os.utime(path, (1_700_000_000,) * 2)
    else:
        path.write_bytes(flip(path.read_bytes(), 3 * FRAME + {"data": 13, "length": 9}[damage]))
    return path


@pytest.mark.parametrize("damage", ["length", "cut"])
def test_damage_that_leaves_no_numbers_says_what_to_do(damage: str, tmp_path: Path) -> None:
    path = write(tmp_path, damage)
    ds = tfr.TFRecordDataset(path, on_corrupt="skip")
    assert len(list(iter(ds))) == {"length": 9, "cut": 7}[damage]
    for use in (lambda: ds[0], lambda: ds.at([1]), lambda: next(iter(ds.global_shuffle(seed=1)))):
        with pytest.raises(DataLossError) as caught:
            use()
        assert str(caught.value).endswith(ADVICE)
        assert (caught.value.path, caught.value.repairable) == (str(path), True)
    with pytest.raises(
        TypeError, match=r"The dataset length is unknown: .*on_corrupt=.skip. leaves out records by"
    ):
        len(ds)
    with pytest.raises(DataLossError) as caught:
        tfr.TFRecordDataset(path)[0]
    assert "skip" not in str(caught.value)


def test_a_file_that_the_manifest_counts_is_not_left_out_record_by_record(tmp_path: Path) -> None:
    with tfr.ShardWriter(tmp_path / "train", shards=2) as writer:
        writer.write_many(RECORDS * 2)
    (first, _) = sorted(tmp_path.glob("*.tfrecord"))
    shutil.rmtree(tmp_path / ".tfrkit", ignore_errors=True)
    first.write_bytes(flip(first.read_bytes(), 3 * FRAME + 9))
    ds = tfr.TFRecordDataset(str(tmp_path / "*.tfrecord"), on_corrupt="skip")
    with pytest.raises(DataLossError) as caught:
        list(iter(ds.global_shuffle(seed=1)))
    assert str(caught.value).endswith(ADVICE)


def test_numbers_count_damaged_records_and_iterating_goes_on(tmp_path: Path) -> None:
    ds = tfr.TFRecordDataset(write(tmp_path, "data"), on_corrupt="skip")
    whole = [each for each in RECORDS if each != b"rec03"]
    assert list(iter(ds)) == whole
    assert lists(iter(ds.batch(4))) == [whole[:4], whole[4:8], whole[8:]]
    assert len(ds) == 10
    assert ds[4] == b"rec04"
    with pytest.raises(IndexError, match="element 3 is damaged, and was left out"):
        ds[3]
    batches = ds.batch(4)
    assert lists(batches[number] for number in range(len(batches))) == [
        RECORDS[:3],
        RECORDS[4:8],
        RECORDS[8:],
    ]
    assert ds.at([2, 3, 4]).to_list() == [b"rec02", b"rec04"]
    assert lists(ds.shard(1, 0, tail="drop").batch(4)) == [RECORDS[:3], RECORDS[4:8], RECORDS[8:]]
    shuffled = ds.global_shuffle(seed=1).batch(4)
    iterator = iter(shuffled)
    assert lists(iterator) == lists(shuffled[number] for number in range(3))
    assert iterator.skipped == 1


def lists(batches: Any) -> list[list[bytes]]:
    return [batch.to_list() for batch in batches]


def test_an_element_that_fails_takes_its_batch_by_number_only() -> None:
    ds = tfr.Dataset.range(6).map(lambda x: 60 // int(x)).batch(2)
    iterator, found = iter(ds), []
    while True:
        try:
            found.append(next(iterator).tolist())
        except StopIteration:
            break
        except ZeroDivisionError as error:
            found.append(str(type(error).__name__))
    assert found == [
        "ZeroDivisionError",
        [60, 30],
        [20, 15],
        [12],
    ]  # as in TensorFlow, those after it move up
    with pytest.raises(ZeroDivisionError):
        ds[0]
    assert ds[1].tolist() == [30, 20]
