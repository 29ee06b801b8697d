from __future__ import annotations

import pytest

import tfrkit as tfr
from tests.build.support.frame_files import RECORDS, contents, files_in, put_records, tree
from tests.records.support.made import CONTAINERS, SUFFIX, flip, frames
from tfrkit.errors import AlreadyExistsError, DataLossError, InvalidArgumentError
from tfrkit.records.manifest import read_manifest


def flat(folder) -> list[bytes]:
    return [record for records in contents(*files_in(folder)) for record in records]


@pytest.mark.parametrize("target", ["none", "GZIP", "ZLIB", "XZ", "ZSTD"])
def test_all_containers_mixed_become_shards_of_one(target, tmp_path):
    paths = [
        put_records(tmp_path / f"{at}.tfrecord", RECORDS[50 * at : 50 * at + 50], kind)
        for at, kind in enumerate(CONTAINERS)
    ]
    report = tfr.reshard(paths, tmp_path / "out" / "a", shards=7, compression=target)
    assert flat(tmp_path / "out") == RECORDS
    assert [shard.records for shard in report.shards] == [43] * 6 + [42]
    assert report.shards[0].name == "a-00000-of-00007.tfrecord" + SUFFIX["" if target == "none" else target]
    assert report.shards[0].compression == ("" if target == "none" else target)


def test_frames_are_copied_byte_for_byte(tmp_path):
    path = put_records(tmp_path / "a.tfrecord", RECORDS)
    tfr.reshard(path, tmp_path / "out" / "a", shards=5)
    assert b"".join(shard.read_bytes() for shard in files_in(tmp_path / "out")) == path.read_bytes()


@pytest.mark.parametrize(
    "options", [{"shards": 5}, {"shard_bytes": 90_000}, {"shards": 3, "balance": "bytes"}]
)
@pytest.mark.parametrize("compression", ["none", "GZIP"])
def test_bytes_do_not_depend_on_workers(options, compression, tmp_path):
    path = put_records(tmp_path / "a.xz", RECORDS, "XZ")
    made = []
    for workers in (1, 2, 5):
        folder = tmp_path / str(workers)
        tfr.reshard(path, folder / "a", workers=workers, compression=compression, **options)
        made.append(tree(folder))
    assert made[0] == made[1] == made[2]


def test_index_beside_the_input_changes_nothing(tmp_path):
    path = put_records(tmp_path / "in" / "a.tfrecord", RECORDS)
    tfr.reshard(path, tmp_path / "x" / "a", shard_bytes=50_000, compression="GZIP")
    with tfr.RecordFile(path, index="save"):
        pass
    tfr.reshard(path, tmp_path / "y" / "a", shard_bytes=50_000, compression="GZIP")
    assert tree(tmp_path / "x") == tree(tmp_path / "y")


def test_shard_size_is_not_passed_by_much(tmp_path):
    path = put_records(tmp_path / "a.tfrecord", RECORDS)
    report = tfr.reshard(path, tmp_path / "out" / "a", shard_bytes=40_000)
    assert len(report.shards) == -(-path.stat().st_size // 40_000)
    assert max(shard.bytes for shard in report.shards) < 40_000 + 40_000 // 16 + 3100
    assert flat(tmp_path / "out") == RECORDS


def test_more_shards_than_records_leaves_some_empty(tmp_path):
    path = put_records(tmp_path / "a.tfrecord", RECORDS[:2])
    report = tfr.reshard(path, tmp_path / "out" / "a", shards=4)
    assert [shard.records for shard in report.shards] == [1, 1, 0, 0]
    assert contents(*files_in(tmp_path / "out")) == [[RECORDS[0]], [RECORDS[1]], [], []]


@pytest.mark.parametrize("kind", ["", "GZIP", "XZ"])
def test_no_records_are_one_empty_shard_or_as_many_as_asked(kind, tmp_path):
    path = put_records(tmp_path / "a", [], kind)
    assert [shard.records for shard in tfr.reshard(path, tmp_path / "x" / "a").shards] == [0]
    assert [shard.records for shard in tfr.reshard(path, tmp_path / "y" / "a", shards=2).shards] == [0, 0]


def test_compression_is_that_of_the_inputs_or_none(tmp_path):
    gzip = put_records(tmp_path / "a.gz", RECORDS[:9], "GZIP")
    plain = put_records(tmp_path / "b", RECORDS[:9])
    assert tfr.reshard(gzip, tmp_path / "x" / "a", shards=1).shards[0].compression == "GZIP"
    assert tfr.reshard([gzip, plain], tmp_path / "y" / "a", shards=1).shards[0].compression == ""


def test_damaged_records_raise_or_are_left_out_and_counted(tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(flip(frames(RECORDS), len(frames(RECORDS[:40])) + 13))
    for shards in (1, 4):
        with pytest.raises(DataLossError, match="record 40"):
            tfr.reshard(path, tmp_path / f"raise{shards}" / "a", shards=shards)
        report = tfr.reshard(path, tmp_path / f"skip{shards}" / "a", shards=shards, on_corrupt="skip")
        assert report.bad == {"damaged: bad data CRC": 1}
        assert str(tmp_path) not in (tmp_path / f"skip{shards}" / "report.json").read_text()
        assert flat(tmp_path / f"skip{shards}") == RECORDS[:40] + RECORDS[41:]
        report = tfr.reshard(path, tmp_path / f"stop{shards}" / "a", shards=shards, on_corrupt="stop")
        assert report.bad == {"damaged: the rest of the file is left out": 1}
        assert (
            report.listed[0].detail == f"from byte {len(frames(RECORDS[:40]))} on, behind 40 intact records"
        )
        assert flat(tmp_path / f"stop{shards}") == RECORDS[:40]
    assert files_in(tmp_path / "raise1") == []


def test_output_of_another_job_is_refused_and_replaced_with_overwrite(tmp_path):
    path = put_records(tmp_path / "a.tfrecord", RECORDS)
    tfr.reshard(path, tmp_path / "out" / "a", shards=3)
    with pytest.raises(AlreadyExistsError, match="there are 3 shards of 'a' already"):
        tfr.reshard(path, tmp_path / "out" / "a", shards=2)
    tfr.reshard(path, tmp_path / "out" / "a", shards=2, overwrite=True)
    assert len(files_in(tmp_path / "out")) == 2
    assert flat(tmp_path / "out") == RECORDS
    assert tfr.reshard(path, tmp_path / "out" / "a", shards=2).resumed == 2


@pytest.mark.parametrize("name", ["a-00000-of-00002.tfrecord", "a-00001-of-00009.tfrecord.gz"])
def test_inputs_are_never_replaced(name, tmp_path):
    path = put_records(tmp_path / "in" / name, RECORDS[:5])
    (tmp_path / "link").symlink_to(tmp_path / "in")
    before = path.read_bytes()
    with pytest.raises(InvalidArgumentError, match="it is an input, and the output would replace it"):
        tfr.reshard(path, tmp_path / "link" / "a", shards=2, overwrite=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("prefix", "options", "expected"),
    [
        ("out/", {}, "Expected a folder and the beginning of names"),
        ("a.tfrecord", {}, "Expected a folder and the beginning of names"),
        ("a", {"shards": 2, "shard_bytes": 5}, "and not both"),
        ("a", {"shards": 0}, "at least 1"),
        ("a", {"balance": "size"}, "Expected one of 'records', 'bytes' for balance"),
        ("a", {"compression": "bzip2"}, "Unknown compression"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_written(
    prefix, options, expected, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    path = put_records(tmp_path / "in.tfrecord", RECORDS[:5])
    with pytest.raises(InvalidArgumentError, match=expected):
        tfr.reshard(path, prefix, **options)
    assert [entry.name for entry in tmp_path.iterdir()] == ["in.tfrecord"]


def test_manifest_has_counts_and_no_paths(tmp_path):
    path = put_records(tmp_path / "in.tfrecord", RECORDS)
    tfr.reshard(path, tmp_path / "输出" / "训练", shards=2)
    manifest = read_manifest(str(tmp_path / "输出"))
    assert [(shard["name"], shard["records"]) for shard in manifest["shards"]] == [
        ("训练-00000-of-00002.tfrecord", 150),
        ("训练-00001-of-00002.tfrecord", 150),
    ]
    assert str(tmp_path) not in (tmp_path / "输出" / "manifest.json").read_text()


def test_shards_have_fresh_indexes(tmp_path):
    path = put_records(tmp_path / "in.tfrecord", RECORDS)
    for compression in ("none", "GZIP"):
        tfr.reshard(path, tmp_path / compression / "a", shards=2, compression=compression)
        for shard in files_in(tmp_path / compression):
            assert (shard.parent / ".tfrkit" / (shard.name + ".idx")).exists()
        assert tfr.RecordFile(files_in(tmp_path / compression)[1])[5] == RECORDS[155]


def test_progress_is_told(tmp_path):
    seen = []
    path = put_records(tmp_path / "in.tfrecord", RECORDS)
    tfr.reshard(path, tmp_path / "out" / "a", shards=2, progress=seen.append)
    assert seen[-1].records == 300
    assert seen[-1].done_bytes == seen[-1].total_bytes == path.stat().st_size
