from __future__ import annotations

import pytest

import tfrkit as tfr
from tests.build.support.frame_files import RECORDS, contents, files_in, put_records, tree
from tests.records.support.made import CONTAINERS, flip, frames
from tfrkit.errors import InvalidArgumentError


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("count", [0, 1, 17, 300])
def test_sample_has_exactly_so_many_in_order(kind, count, tmp_path):
    paths = [
        put_records(tmp_path / "a", RECORDS[:130], kind),
        put_records(tmp_path / "b", RECORDS[130:], kind),
    ]
    tfr.sample(paths, tmp_path / "some.tfrecord", count=count, seed=5)
    places = [RECORDS.index(record) for record in contents(tmp_path / "some.tfrecord")[0]]
    assert len(places) == count
    assert places == sorted(set(places))


def test_fraction_is_rounded(tmp_path):
    path = put_records(tmp_path / "a", RECORDS)
    assert tfr.sample(path, tmp_path / "x.tfrecord", fraction=0.1).records == 30
    assert tfr.sample(path, tmp_path / "y.tfrecord", fraction=0.999).records == 300


def test_choice_does_not_depend_on_shards_workers_or_compression(tmp_path):
    path = put_records(tmp_path / "a", RECORDS)
    tfr.sample(path, tmp_path / "x.tfrecord", count=50, seed=2)
    tfr.sample(path, tmp_path / "y" / "y", count=50, seed=2, shards=4, compression="ZSTD", workers=1)
    tfr.sample(path, tmp_path / "z" / "y", count=50, seed=2, shards=4, compression="ZSTD", workers=3)
    together = [record for records in contents(*files_in(tmp_path / "y")) for record in records]
    assert [together] == contents(tmp_path / "x.tfrecord")
    assert tree(tmp_path / "y") == tree(tmp_path / "z")


def test_damaged_records_are_not_in_a_sample(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(flip(frames(RECORDS), len(frames(RECORDS[:7])) + 13))
    report = tfr.sample(path, tmp_path / "x.tfrecord", count=299, on_corrupt="skip")
    assert report.bad == {"damaged: bad data CRC": 1}
    assert contents(tmp_path / "x.tfrecord") == [RECORDS[:7] + RECORDS[8:]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "Expected either a number of records or a fraction"),
        ({"count": 1, "fraction": 0.5}, "and not both"),
        (
            {"count": 301},
            "Expected a sample of at most 300 records, which is how many there are, but got 301",
        ),
        ({"count": -1}, "but got -1"),
        ({"fraction": 1.5}, r"Expected a number from 0 to 1 for fraction \(--fraction\) but got 1.5"),
    ],
)
def test_wrong_arguments_are_refused(options, expected, tmp_path):
    path = put_records(tmp_path / "a", RECORDS)
    with pytest.raises(InvalidArgumentError, match=expected):
        tfr.sample(path, tmp_path / "x.tfrecord", **options)
