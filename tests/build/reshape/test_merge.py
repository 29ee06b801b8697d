from __future__ import annotations

import pytest

import tfrkit as tfr
from tests.build.support.frame_files import RECORDS, contents, files_in, put_records
from tests.records.support.made import CONTAINERS, flip, frames
from tfrkit.errors import AlreadyExistsError, DataLossError, InvalidArgumentError


@pytest.mark.parametrize(
    "name", ["all.tfrecord", "all.tfrecord.gz", "all.tfrecord.zlib", "全部 x.tfrecord.zst"]
)
def test_all_containers_become_one_file(name, tmp_path):
    paths = [
        put_records(tmp_path / f"{at}", RECORDS[50 * at : 50 * at + 50], kind)
        for at, kind in enumerate(CONTAINERS)
    ]
    report = tfr.merge(paths, tmp_path / "out" / name)
    assert contents(tmp_path / "out" / name) == [RECORDS]
    assert [(shard.name, shard.records) for shard in report.shards] == [(name, 300)]


def test_plain_files_are_joined_as_cat_does(tmp_path):
    paths = [put_records(tmp_path / str(at), RECORDS[at : at + 100]) for at in (0, 100, 200)]
    tfr.merge(paths, tmp_path / "all.tfrecord")
    assert (tmp_path / "all.tfrecord").read_bytes() == b"".join(path.read_bytes() for path in paths)


def test_one_file_may_be_named_twice(tmp_path):
    path = put_records(tmp_path / "a", RECORDS[:3])
    tfr.merge([path, path], tmp_path / "all.tfrecord")
    assert contents(tmp_path / "all.tfrecord") == [RECORDS[:3] * 2]


def test_empty_files_give_an_empty_file(tmp_path):
    paths = [put_records(tmp_path / kind, [], kind) for kind in ("GZIP", "XZ")]
    assert tfr.merge(paths, tmp_path / "all.tfrecord").records == 0
    assert (tmp_path / "all.tfrecord").read_bytes() == b""


def test_damage_ends_it_without_a_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(flip(frames(RECORDS), -1))
    with pytest.raises(DataLossError, match="record 299"):
        tfr.merge(path, tmp_path / "out" / "all.tfrecord")
    assert files_in(tmp_path / "out") == []
    assert (
        tfr.merge(path, tmp_path / "out" / "all.tfrecord", on_corrupt="skip", overwrite=True).records == 299
    )


def test_existing_file_is_refused(tmp_path):
    path = put_records(tmp_path / "a", RECORDS[:3])
    put_records(tmp_path / "all.tfrecord", RECORDS[:9])
    with pytest.raises(AlreadyExistsError, match=r"all\.tfrecord; there are 1 shards"):
        tfr.merge(path, tmp_path / "all.tfrecord")
    tfr.merge(path, tmp_path / "all.tfrecord", overwrite=True)
    assert contents(tmp_path / "all.tfrecord") == [RECORDS[:3]]


def test_output_that_is_an_input_is_refused(tmp_path):
    path = put_records(tmp_path / "all.tfrecord", RECORDS[:3])
    with pytest.raises(InvalidArgumentError, match="it is an input"):
        tfr.merge(path, path, overwrite=True)
    assert contents(path) == [RECORDS[:3]]


@pytest.mark.parametrize(
    ("name", "compression", "expected"),
    [
        ("all.tfrecords", None, r"Expected NAME\.tfrecord, or NAME\.tfrecord\.gz"),
        ("all", "GZIP", r"Expected NAME\.tfrecord"),
        ("all.tfrecord", "GZIP", "Expected a file of GZIP compression but"),
        ("all.tfrecord.gz", "none", "Expected a file of no compression but"),
    ],
)
def test_name_must_say_what_is_in_the_file(name, compression, expected, tmp_path):
    path = put_records(tmp_path / "a", RECORDS[:3])
    with pytest.raises(InvalidArgumentError, match=expected):
        tfr.merge(path, tmp_path / name, compression=compression)


@pytest.mark.parametrize("kind", CONTAINERS)
def test_progress_ends_at_the_size_of_the_files(kind, tmp_path):
    seen = []
    paths = [put_records(tmp_path / name, RECORDS, kind) for name in "ab"]
    report = tfr.merge(paths, tmp_path / "all.tfrecord", progress=seen.append)
    size = sum(path.stat().st_size for path in paths)
    assert seen[-1].done_bytes == seen[-1].total_bytes == report.input_bytes == size
