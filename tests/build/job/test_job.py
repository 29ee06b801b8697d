from __future__ import annotations

import json
import threading

import pytest

import tfrkit as tfr
from tests.build.support.made import Failing, Numbers, job, left_over, mixed, record, train, tree
from tfrkit.build.job.job import BadInput, Progress, ShardGroup, dry_run, run_job
from tfrkit.errors import InvalidArgumentError
from tfrkit.records.access.index import load_index
from tfrkit.records.access.zone_bytes import encode_zones
from tfrkit.records.access.zones import build_zones, load_zones
from tfrkit.records.manifest import read_manifest
from tfrkit.stores.files import open_source


def test_each_recipe_becomes_a_shard_with_index(tmp_path):
    report = run_job(job(tmp_path))
    for number in range(4):
        path = str(tmp_path / f"train-{number:05d}-of-00004.tfrecord")
        assert list(tfr.read_records(path)) == [record(number, i) for i in range(300 + number)]
        index = load_index(path, open_source(path))
        assert index is not None
        assert len(index) == 300 + number
    assert (report.records, len(report.shards), report.resumed) == (1206, 4, 0)
    assert report.bytes == sum(path.stat().st_size for path in tmp_path.glob("*.tfrecord"))
    assert report.input_bytes == 1206 * 40


def zoned(folder):
    """The records that the zones of each shard know; None where there are none that fit."""
    paths = sorted(str(path) for path in folder.glob("*.tfrecord*"))
    found = [load_zones(path, open_source(path)) for path in paths]
    return [None if zones is None else zones.records for zones in found]


@pytest.mark.parametrize("compression", ["", "GZIP", "ZSTD"])
@pytest.mark.parametrize("group", [train(), mixed(shards=4)])
def test_shards_get_zones_if_asked(compression, group, tmp_path):
    run_job(job(tmp_path / "a", group, compression=compression), zones=True)
    run_job(job(tmp_path / "b", group, compression=compression))
    without = {name: data for name, data in tree(tmp_path / "a").items() if not name.endswith(".zones")}
    assert without == tree(tmp_path / "b")
    assert sum(zoned(tmp_path / "a")) == read_count(tmp_path / "a")
    for path in (tmp_path / "a").glob("*.tfrecord"):  # in one stream, runs end where blocks did
        kept = (tmp_path / "a" / ".tfrkit" / f"{path.name}.zones").read_bytes()
        assert kept == encode_zones(build_zones(path))


def read_count(folder):
    return sum(1 for _ in tfr.read_records(str(folder / "*.tfrecord*")))


def test_complete_job_gets_the_zones_that_it_lacks(tmp_path):
    run_job(job(tmp_path))
    assert zoned(tmp_path) == [None] * 4
    before = tree(tmp_path)
    report = run_job(job(tmp_path), zones=True)
    assert report.resumed == 4
    assert zoned(tmp_path) == [300, 301, 302, 303]
    (tmp_path / ".tfrkit" / "train-00002-of-00004.tfrecord.zones").write_bytes(b"TFRKZON1")
    run_job(job(tmp_path), zones=True)
    assert zoned(tmp_path) == [300, 301, 302, 303]
    assert {name: data for name, data in tree(tmp_path).items() if not name.endswith(".zones")} == before


def test_overwritten_shards_have_no_zones_of_the_old_ones(tmp_path):
    run_job(job(tmp_path, train(4)), zones=True)
    run_job(job(tmp_path, train(3, count=200)), overwrite=True)
    assert not list((tmp_path / ".tfrkit").glob("*.zones"))
    run_job(job(tmp_path, train(3, count=100)), overwrite=True, zones=True)
    assert zoned(tmp_path) == [100, 101, 102]
    run_job(job(tmp_path, train(3, count=150), made_by={"source": "two"}), overwrite=True)
    assert zoned(tmp_path) == [None] * 3
    assert not list((tmp_path / ".tfrkit").glob("*.zones"))


def test_manifest_says_what_is_there_and_how_it_was_made(tmp_path):
    run_job(job(tmp_path, train(1), spec={"x": {"feature": "VarLen"}}, files={"labels.txt": b"cat\n"}))
    manifest = read_manifest(str(tmp_path))
    size = (tmp_path / "train-00000-of-00001.tfrecord").stat().st_size
    assert manifest == {
        "format": "tfrkit-manifest",
        "version": 1,
        "shards": [
            {"name": "train-00000-of-00001.tfrecord", "records": 300, "bytes": size, "compression": ""}
        ],
        "made_by": {"train": {"job": "d236b076cc092cc4"}},
        "jobs": {
            "d236b076cc092cc4": {
                "made_by": {"source": "one", "size": 3},
                "spec": {"x": {"feature": "VarLen"}},
                "files": ["labels.txt"],
            }
        },
    }
    assert (tmp_path / "labels.txt").read_bytes() == b"cat\n"


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB", "XZ", "ZSTD"])
def test_bytes_do_not_depend_on_the_number_of_workers(compression, tmp_path):
    for workers in (1, 2, 7):
        groups = train(), mixed(prefix="mixed", shards=2)
        run_job(job(tmp_path / str(workers), *groups, compression=compression), workers=workers)
    assert tree(tmp_path / "1") == tree(tmp_path / "2") == tree(tmp_path / "7")
    assert len(list(tfr.read_records(str(tmp_path / "1" / "*")))) == 1206 + 1000


@pytest.mark.parametrize("compression", ["GZIP", "ZSTD"])
def test_bytes_do_not_depend_on_cores_that_compress_one_shard(compression, tmp_path):
    for workers in (1, 4):
        made = job(tmp_path / str(workers), train(1, 100_000), compression=compression)
        run_job(made, workers=workers)
    assert tree(tmp_path / "1") == tree(tmp_path / "4")


def test_group_without_numbers_is_one_file_of_all_its_recipes(tmp_path):
    group = ShardGroup("000000_0", (Numbers(0, 10), Numbers(1, 5)), None)
    run_job(job(tmp_path, group, ShardGroup("空 \udcff", (Numbers(2, 3),), None)))
    found = [record(0, i) for i in range(10)] + [record(1, i) for i in range(5)]
    assert list(tfr.read_records(tmp_path / "000000_0.tfrecord")) == found
    assert len(list(tfr.read_records(tmp_path / "空 \udcff.tfrecord"))) == 3
    assert [shard["name"] for shard in read_manifest(str(tmp_path))["shards"]] == [
        "000000_0.tfrecord",
        "空 \udcff.tfrecord",
    ]


def test_recipe_without_records_is_an_empty_shard(tmp_path):
    report = run_job(
        job(tmp_path, ShardGroup("train", (Numbers(0, 0), Numbers(1, 2)), 2), compression="GZIP")
    )
    assert [shard.records for shard in report.shards] == [0, 2]
    assert list(tfr.read_records(tmp_path / "train-00000-of-00002.tfrecord.gz")) == []


def test_job_without_groups_leaves_a_manifest_and_a_report(tmp_path):
    from tfrkit.build.job.job_plan import Job

    report = run_job(Job(str(tmp_path), (), "", None, {"source": "empty"}))
    assert report.records == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [".tfrkit", "manifest.json", "report.json"]


def test_bad_inputs_are_counted_listed_and_left_out(tmp_path):
    planned = (
        BadInput("empty.jpg", None, "empty file"),
        BadInput("x\udcff.jpg", None, "empty file", "0 bytes"),
    )
    noted = (BadInput("twice.jpg", None, "duplicate"),)
    report = run_job(
        job(tmp_path, train(2, 300, bad_every=100), bad=planned, noted=noted, noted_counts={"duplicate": 7})
    )
    assert report.records == 601 - 6
    assert report.bad == {"bad number": 6, "empty file": 2}
    assert report.listed[:3] == (*planned, BadInput("0.txt", 100, "bad number", "it is 99"))
    assert (len(report.listed), report.not_listed, report.noted) == (8, 0, {"duplicate": 7})
    content = json.loads((tmp_path / "report.json").read_text())
    (entry,) = content.pop("jobs").values()
    assert content == {"format": "tfrkit-report", "version": 1}
    assert entry["bad"] == {"bad number": 6, "empty file": 2}
    assert entry["listed"][1] == {
        "source": "x\udcff.jpg",
        "line": None,
        "reason": "empty file",
        "detail": "0 bytes",
    }
    assert (entry["noted"], entry["noted_listed"][0]["source"]) == ({"duplicate": 7}, "twice.jpg")
    assert (entry["prefixes"], entry["shards"], entry["records"]) == (["train"], 2, 595)


def test_bad_inputs_beyond_a_thousand_of_a_shard_are_only_counted(tmp_path):
    report = run_job(
        job(
            tmp_path,
            ShardGroup("a", (Numbers(0, 1500, bad_every=1), Numbers(1, 5, bad_every=1), Numbers(2, 1)), 3),
        )
    )
    assert report.bad == {"bad number": 1505}
    assert [bad.source for bad in report.listed].count("0.txt") == 1000
    assert (len(report.listed), report.not_listed) == (1005, 500)
    (entry,) = json.loads((tmp_path / "report.json").read_text())["jobs"].values()
    assert entry["not_listed"] == 500


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_fatal_bad_input_is_that_of_the_lowest_shard_and_leaves_nothing_half(workers, tmp_path):
    recipes = (Numbers(0, 200), Numbers(1, 3000, bad_every=2500), Numbers(2, 10, bad_every=1), Numbers(3, 10))
    made = job(tmp_path, ShardGroup("train", recipes, 4))
    with pytest.raises(
        InvalidArgumentError,
        match=r"^1\.txt, line 2500: bad number: it is 2499\. Fix the input, or pass on_bad=\"skip\"",
    ):
        run_job(made, workers=workers, on_bad="raise")
    names = {path.name for path in tmp_path.iterdir()}
    assert names <= {".tfrkit", "train-00000-of-00004.tfrecord", "train-00003-of-00004.tfrecord"}
    assert not [name for name in left_over(tmp_path) if name.endswith(".tmp")]
    assert run_job(made).bad == {"bad number": 11}
    run_job(job(tmp_path / "other", ShardGroup("train", recipes, 4)))
    other = tree(tmp_path / "other")
    assert {name: data for name, data in tree(tmp_path).items() if not name.startswith("other")} == other


def test_fatal_bad_input_of_the_plan_is_raised_before_anything_is_written(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"a\.jpg: empty file\. Fix the input"):
        run_job(job(tmp_path / "out", bad=(BadInput("a.jpg", None, "empty file"),)), on_bad="raise")
    assert not (tmp_path / "out").exists()


def test_complete_job_with_bad_inputs_fails_where_they_are_fatal(tmp_path):
    made = job(tmp_path, train(bad_every=100))
    run_job(made)
    before = tree(tmp_path)
    with pytest.raises(InvalidArgumentError, match=r"0\.txt, line 100: bad number"):
        run_job(made, on_bad="raise")
    assert tree(tmp_path) == before


def test_error_of_a_recipe_is_raised_and_leaves_nothing_half(tmp_path):
    made = job(tmp_path, ShardGroup("train", (Failing(OSError(5, "Input/output error")), Numbers(1, 5)), 2))
    with pytest.raises(OSError, match="Input/output error"):
        run_job(made, workers=1)
    assert [name for name, data in tree(tmp_path).items() if data is not None] == [".tfrkit/jobs.lock"]


def test_progress_ends_with_everything_done(tmp_path):
    seen: list[Progress] = []
    threads = set()

    def progress(now: Progress) -> None:
        seen.append(now)
        threads.add(threading.current_thread())

    report = run_job(job(tmp_path, train(bad_every=100), mixed(prefix="b")), progress=progress)
    assert threads == {threading.current_thread()}
    last = seen[-1]
    assert (last.shards_done, last.shards, last.records, last.bad) == (7, 7, report.records, 12)
    assert last.done_bytes == last.total_bytes == 1206 * 40 + 1000 * 40
    assert last.written_bytes == report.bytes
    assert [now.done_bytes for now in seen] == sorted(now.done_bytes for now in seen)


def test_progress_counts_what_was_there_already(tmp_path):
    made = job(tmp_path, ShardGroup("train", (Numbers(0, 100), Failing(RuntimeError("power cut"))), 2))
    with pytest.raises(RuntimeError, match="power cut"):
        run_job(made, workers=1)
    seen: list[Progress] = []
    with pytest.raises(RuntimeError, match="power cut"):
        run_job(made, workers=1, progress=seen.append)
    assert all(now.resumed_bytes == 4000 <= now.done_bytes for now in seen)


def test_wrong_number_of_workers_is_refused(tmp_path):
    with pytest.raises(InvalidArgumentError, match="Expected at least 1 worker but got 0"):
        run_job(job(tmp_path), workers=0)


def test_dry_run_says_what_would_happen_and_writes_nothing(tmp_path):
    made = job(tmp_path / "out", train(), mixed(prefix="b", shards=2), files={"labels.txt": b""})
    plan = dry_run(made)
    assert not (tmp_path / "out").exists()
    assert plan.to_dict() == {
        "folder": str(tmp_path / "out"),
        "state": "new",
        "shards": {"train": 4, "b": 2},
        "finished": 0,
        "input_bytes": 2206 * 40,
        "mixed": True,
        "temporary_bytes": 1000 * 40,
        "compression": "",
        "files": ("labels.txt",),
        "bad": {},
        "noted": {},
        "refusal": "",
        "columns": [],
        "files_left_out": 0,
    }


def test_dry_run_knows_what_is_there(tmp_path):
    good = Numbers(0, 100)
    broken = job(tmp_path, ShardGroup("train", (good, Failing(RuntimeError("power cut"))), 2))
    with pytest.raises(RuntimeError, match="power cut"):
        run_job(broken, workers=1)
    assert (dry_run(broken).state, dry_run(broken).finished) == ("resume", 1)
    other = job(tmp_path, train(3))
    assert dry_run(other).state == "exists"
    assert "was interrupted, and it was planned differently" in dry_run(other).refusal
    assert dry_run(other, overwrite=True).state == "new"
    run_job(other, overwrite=True)
    before = tree(tmp_path)
    assert (dry_run(other).state, dry_run(other).finished) == ("complete", 3)
    assert dry_run(other, overwrite=True).state == "new"
    assert tree(tmp_path) == before
