"""Sets of shards are mended as a whole: files, indexes and manifest."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.build.job.test_output_ownership import interrupted
from tests.build.support.made import job, train
from tests.records.support.made import GOLDEN, flip, put
from tfrkit.build.job.job import run_job
from tfrkit.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError
from tfrkit.records.access.zones import load_zones
from tfrkit.records.manifest import change_manifest, read_manifest
from tfrkit.stores.files import open_source

SUFFIX = {"": "", "GZIP": ".gz", "ZLIB": ".zlib", "XZ": ".xz", "ZSTD": ".zst"}


def make(folder: Path, kind: str = "", shards: int = 4, *, zones: bool = False) -> Path:
    """A set of shards with ten records each."""
    with tfr.ShardWriter(folder / "train", shards=shards, compression=kind, zones=zones) as writer:
        writer.write_many([random.Random(number).randbytes(480) for number in range(10 * shards)])
    return folder


def shard(number: int, kind: str = "") -> str:
    return f"train-{number:05d}-of-00004.tfrecord{SUFFIX[kind]}"


def damage(path: Path, kind: str = "") -> None:
    """Take a bite out of a file; what is compressed loses its end."""
    data = path.read_bytes()
    put(path, data[: len(data) // 2] if kind else flip(data, 1000))


def entries(folder: Path) -> dict[str, tuple[int, int, int]]:
    shards = read_manifest(str(folder))["shards"]
    return {entry["name"]: (entry["records"], entry["bytes"], entry.get("lost", 0)) for entry in shards}


@pytest.mark.parametrize("kind", ["", "GZIP"])
def test_damaged_shards_are_replaced_with_index_and_manifest(kind, tmp_path):
    out = make(tmp_path / "out", kind)
    before = {path.name: path.read_bytes() for path in out.glob("train-*")}
    os.chmod(out / shard(1, kind), 0o640)
    damage(out / shard(1, kind), kind)
    report = tfr.repair_files(out)
    assert report.ok
    saved = report.files[1].records
    assert [file.lost_records for file in report.files] == [0, 10 - saved, 0, 0]
    assert 0 < saved < 10
    size = (out / shard(1, kind)).stat().st_size
    assert entries(out)[shard(1, kind)] == (saved, size, 10 - saved)
    assert {name: data for name, data in before.items() if name != shard(1, kind)} == {
        path.name: path.read_bytes() for path in out.glob("train-*") if path.name != shard(1, kind)
    }
    checked = tfr.verify(out)
    assert (checked.ok, checked.records, checked.others) == (True, 30 + saved, ())
    assert len(tfr.RecordFile(out / shard(1, kind))) == saved
    assert (out / shard(1, kind)).stat().st_mode & 0o777 == 0o640
    assert json.loads(json.dumps(report.to_dict()))["files"][1]["lost_records"] == 10 - saved


@pytest.mark.parametrize("kind", ["", "XZ"])
def test_zones_are_those_of_the_mended_shards(kind, tmp_path):
    out = make(tmp_path / "out", kind, zones=True)
    damage(out / shard(1, kind), kind)
    assert tfr.repair_files(out, tmp_path / "copy").ok
    copied = [f"{shard(number, kind)}.zones" for number in (0, 2, 3)]
    assert sorted(path.name for path in (tmp_path / "copy" / ".tfrkit").glob("*.zones")) == copied
    report = tfr.repair_files(out)
    for number, file in enumerate(report.files):
        path = str(out / shard(number, kind))
        zones = load_zones(path, open_source(path))
        assert zones is not None
        assert zones.records == file.records
    assert tfr.verify(out).others == ()


def test_mending_twice_remembers_all_that_was_lost(tmp_path):
    out = make(tmp_path / "out")
    damage(out / shard(1))
    tfr.repair_files(out)
    once = entries(out)[shard(1)]
    damage(out / shard(1))
    tfr.repair_files([out / shard(1)])
    twice = entries(out)[shard(1)]
    assert once[2] > 0
    assert twice[2] > once[2]
    assert twice[0] + twice[2] == 10


def test_intact_set_is_not_touched(tmp_path):
    out = make(tmp_path / "out")
    before = {
        path: path.stat().st_mtime_ns for path in out.rglob("*") if path.suffix != ".lock" and path.is_file()
    }
    report = tfr.repair_files(str(out / "*.tfrecord"))
    assert (report.ok, report.records, report.lost_bytes) == (True, 40, 0)
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
    assert not list(out.rglob("*.tmp"))


def test_shard_that_was_mended_by_hand_is_entered(tmp_path):
    out = make(tmp_path / "out")
    damage(out / shard(2))
    tfr.repair(out / shard(2), tmp_path / "mended.tfrecord")
    os.replace(tmp_path / "mended.tfrecord", out / shard(2))
    assert not tfr.verify(out).ok
    tfr.repair_files(out)
    assert tfr.verify(out).ok
    assert entries(out)[shard(2)][2] == 10 - entries(out)[shard(2)][0] > 0


def test_file_without_any_record_is_left_and_the_others_mended(tmp_path):
    out = make(tmp_path / "out")
    put(out / shard(0), b"<!DOCTYPE html> not found" * 50)
    damage(out / shard(3))
    report = tfr.repair_files(out)
    assert not report.ok
    assert (
        "there is no intact record in it. Copy it again, or delete it. It looks like an HTML page"
        in report.files[0].error
    )
    assert (out / shard(0)).read_bytes() == b"<!DOCTYPE html> not found" * 50
    assert "NOT REPAIRED" in str(report)
    assert [file.ok for file in tfr.verify(out).files] == [False, True, True, True]


def test_files_without_a_manifest_are_replaced_and_nothing_is_left_beside_them(tmp_path):
    for name in ("a.tfrecord", "b.tfrecord"):
        put(tmp_path / name, flip(GOLDEN, 12))
    report = tfr.repair_files([tmp_path / "a.tfrecord", tmp_path / "b.tfrecord"])
    assert [(file.records, file.lost_records) for file in report.files] == [(2, None)] * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tfrecord", "b.tfrecord"]
    assert tfr.verify(tmp_path).ok


def test_missing_shards_are_told_and_stay_in_the_manifest(tmp_path):
    out = make(tmp_path / "out")
    (out / shard(2)).unlink()
    damage(out / shard(1))
    report = tfr.repair_files(out)
    assert [problem.path for problem in report.problems] == [str(out / shard(2))]
    assert shard(2) in entries(out)


def test_shards_of_a_job_that_is_not_complete_are_left_to_it(tmp_path):
    interrupted(job(tmp_path / "out"), 2)
    first = sorted((tmp_path / "out").glob("*.tfrecord"))[0]
    damage(first)
    before = first.read_bytes()
    report = tfr.repair_files(tmp_path / "out")
    assert "the job that writes it is not complete" in report.files[0].error
    assert first.read_bytes() == before


def test_broken_manifest_is_an_error_of_each_file(tmp_path):
    out = make(tmp_path / "out")
    (out / "manifest.json").write_text("{")
    damage(out / shard(1))
    before = (out / shard(1)).read_bytes()
    report = tfr.repair_files(out)
    assert [bool(file.error) for file in report.files] == [True] * 4
    assert "expected JSON but got" in report.files[1].error
    assert (out / shard(1)).read_bytes() == before


def test_build_does_a_mended_shard_again(tmp_path):
    made = job(tmp_path / "out", train(4))
    run_job(made)
    whole = {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*.tfrecord")}
    assert run_job(made).resumed == 4
    damage(tmp_path / "out" / shard(1))
    tfr.repair_files(tmp_path / "out")
    assert tfr.verify(tmp_path / "out").ok
    assert run_job(made).resumed < 4
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*.tfrecord")} == whole


def test_set_that_is_written_anew_leaves_no_repair_behind(tmp_path):
    out = make(tmp_path / "out")

    def kill(content):
        content["repairing"] = [content["shards"].pop(1)]

    change_manifest(str(out), kill)
    assert [problem.kind for problem in tfr.verify(out).problems] == ["interrupted"]
    with tfr.ShardWriter(out / "train", shards=2, overwrite=True) as writer:
        writer.write_many([b"new"] * 4)
    assert tfr.verify(out).ok
    assert "repairing" not in read_manifest(str(out))


# -- into another folder -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(SUFFIX))
def test_whole_set_is_copied_and_mended(kind, tmp_path):
    out = make(tmp_path / "out", kind)
    damage(out / shard(1, kind), kind)
    before = {path.name: path.read_bytes() for path in out.glob("train-*")}
    report = tfr.repair_files(out, tmp_path / "new")
    assert report.ok
    assert {path.name: path.read_bytes() for path in out.glob("train-*")} == before
    for number in (0, 2, 3):
        assert (tmp_path / "new" / shard(number, kind)).read_bytes() == before[shard(number, kind)]
    checked = tfr.verify(tmp_path / "new")
    assert (checked.ok, checked.records) == (True, report.records)
    assert entries(tmp_path / "new")[shard(1, kind)][2] == 10 - report.files[1].records > 0
    assert read_manifest(str(tmp_path / "new"))["made_by"] == read_manifest(str(out))["made_by"]
    indexes = len(list((tmp_path / "new" / ".tfrkit").glob("*.idx")))
    assert indexes == (4 if kind in ("", "GZIP") else 0)


def test_copy_of_a_jobs_folder_has_its_further_files(tmp_path):
    run_job(job(tmp_path / "out", files={"labels.txt": b"cat\n"}))
    damage(tmp_path / "out" / shard(1))
    tfr.repair_files(tmp_path / "out", tmp_path / "new")
    assert (tmp_path / "new" / "labels.txt").read_bytes() == b"cat\n"
    assert tfr.verify(tmp_path / "new").ok
    assert read_manifest(str(tmp_path / "new"))["jobs"] == read_manifest(str(tmp_path / "out"))["jobs"]


def test_files_that_are_there_are_replaced_only_if_asked(tmp_path):
    out = make(tmp_path / "out")
    tfr.repair_files(out / shard(0), tmp_path / "new")
    damage(out / shard(0))
    with pytest.raises(
        AlreadyExistsError, match=r"00000-of-00004\.tfrecord; exists already\. Choose another folder"
    ):
        tfr.repair_files(out, tmp_path / "new")
    assert [path.name for path in (tmp_path / "new").glob("*.tfrecord")] == [shard(0)]
    tfr.repair_files(out, tmp_path / "new", overwrite=True)
    assert tfr.verify(tmp_path / "new").ok


def test_one_place_for_two_files_is_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        put(tmp_path / folder / "x.tfrecord", GOLDEN)
    with pytest.raises(InvalidArgumentError, match="would both become"):
        tfr.repair_files([tmp_path / "a" / "x.tfrecord", tmp_path / "b" / "x.tfrecord"], tmp_path / "new")
    with pytest.raises(InvalidArgumentError, match="into its own folder"):
        tfr.repair_files(tmp_path / "a", tmp_path / "b" / ".." / "a", overwrite=True)
    with pytest.raises(NotFoundError):
        tfr.repair_files(str(tmp_path / "c*"), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_unreadable_file_is_reported_and_the_others_copied(tmp_path):
    out = make(tmp_path / "out")
    (out / shard(1)).unlink()
    os.symlink("nowhere", out / shard(1))
    report = tfr.repair_files(out, tmp_path / "new")
    assert [bool(file.error) for file in report.files] == [False, True, False, False]
    assert sorted(entries(tmp_path / "new")) == [shard(0), shard(2), shard(3)]
    shutil.rmtree(tmp_path / "new")
