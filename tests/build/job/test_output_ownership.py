"""What is in the folder already: own work that goes on, and others' work that is refused or replaced."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.build.support.made import Endless, Failing, Numbers, job, left_over, mixed, train, tree
from tests.build.support.one_by_one import OneByOne
from tfrkit.build.job.file_journal import FileJournal
from tfrkit.build.job.job import Progress, ShardGroup, run_job
from tfrkit.build.job.job_plan import Job
from tfrkit.errors import (
    AlreadyExistsError,
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    ResourceExhaustedError,
)
from tfrkit.records.manifest import read_manifest
from tfrkit.records.write import writer


class PowerCutError(Exception):
    pass


def interrupted(made: Job, after: int = 2, *, overwrite: bool = False) -> None:
    """Run a job up to some finished shards, and then as far as an interruption in the calling thread leaves it.

    The next shard begins only when the calling thread has looked at the last one, however quick the disk is.
    """

    def progress(now: Progress) -> None:
        if now.shards_done >= after:
            raise PowerCutError

    with pytest.raises(PowerCutError):
        run_job(made, workers=1, overwrite=overwrite, progress=progress, engine=OneByOne())


def undisturbed(made: Job, folder: Path, **options: bool) -> dict[str, bytes | None]:
    run_job(replace(made, folder=str(folder)), **options)
    return tree(folder)


def contents(folder: Path) -> dict[str, bytes | None]:
    """What a folder has, without what only jobs that are not complete have there."""
    return {name: data for name, data in tree(folder).items() if "/job-" not in name and "/mix-" not in name}


# -- going on ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "groups", [(train(bad_every=70),), (mixed(), train(prefix="b")), (mixed(shards=None), mixed(prefix="b"))]
)
@pytest.mark.parametrize("after", [0, 1, 2])
def test_interrupted_job_does_the_missing_shards_and_ends_with_the_same_bytes(groups, after, tmp_path):
    made = job(tmp_path / "out", *groups, files={"labels.txt": b"x\n"})
    interrupted(made, after)
    there = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.tfrecord")}
    assert not [name for name in left_over(tmp_path / "out") if name.endswith(".tmp")]
    assert not (tmp_path / "out" / "manifest.json").exists()
    report = run_job(made)
    assert report.resumed >= after
    assert report.resumed == len(there)
    assert all(path.stat().st_mtime_ns == time for path, time in there.items())
    assert tree(tmp_path / "out") == undisturbed(made, tmp_path / "other")


@pytest.mark.parametrize("overwrite", [False, True])
def test_interrupted_job_ends_with_zones_of_all_shards(overwrite, tmp_path):
    if overwrite:
        run_job(job(tmp_path / "out", train(4, count=100), made_by={"source": "old"}), zones=True)
    made = job(tmp_path / "out", train(bad_every=70))
    interrupted(made, 2, overwrite=overwrite)
    run_job(made, overwrite=overwrite, zones=True)
    assert tree(tmp_path / "out") == undisturbed(made, tmp_path / "other", zones=True)


def test_complete_job_writes_nothing_and_gives_the_same_report(tmp_path):
    made = job(tmp_path, train(bad_every=100), mixed(prefix="b"), files={"labels.txt": b"x\n"})
    first = run_job(made)
    before, times = tree(tmp_path), {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    again = run_job(made, workers=1)
    assert replace(again, resumed=0, seconds=first.seconds) == first
    assert again.resumed == 7
    assert (tree(tmp_path), {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}) == (
        before,
        times,
    )


@pytest.mark.parametrize(
    "name",
    [
        "train-00001-of-00004.tfrecord",
        ".tfrkit/train-00001-of-00004.tfrecord.idx",
        "labels.txt",
        "report.json",
    ],
)
def test_complete_job_of_which_something_was_lost_is_made_again(name, tmp_path):
    made = job(tmp_path, files={"labels.txt": b"x\n"})
    run_job(made)
    before = tree(tmp_path)
    (tmp_path / name).unlink()
    run_job(made)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("damage", ["shard cut", "shard gone", "index gone", "last line of the journal torn"])
def test_finished_shard_that_is_no_longer_whole_is_written_again(damage, tmp_path):
    made = job(tmp_path / "out")
    interrupted(made)
    shard = tmp_path / "out" / "train-00000-of-00004.tfrecord"
    there = len(list(shard.parent.glob("*.tfrecord")))
    if damage == "shard cut":
        os.truncate(shard, 100)
    elif damage == "shard gone":
        shard.unlink()
    elif damage == "index gone":
        (shard.parent / ".tfrkit" / f"{shard.name}.idx").unlink()
    else:
        (journal,) = (tmp_path / "out" / ".tfrkit").glob("job-*.jsonl")
        os.truncate(journal, journal.stat().st_size - 5)
    assert run_job(made).resumed == there - 1
    assert tree(tmp_path / "out") == undisturbed(made, tmp_path / "other")


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_temporary_file_of_a_mixture_that_is_no_longer_whole_is_written_again(damage, tmp_path):
    made = job(tmp_path / "out", mixed())
    interrupted(made, 1)
    there = len(list((tmp_path / "out").glob("*.tfrecord")))
    for part in (tmp_path / "out" / ".tfrkit").glob("mix-*/*"):
        if damage == "cut":
            os.truncate(part, part.stat().st_size - 1)
        else:
            part.unlink()
    assert run_job(made).resumed == there
    assert tree(tmp_path / "out") == undisturbed(made, tmp_path / "other")


def test_values_that_json_changes_are_still_the_same(tmp_path):
    odd = {"source": ("a", 1), "by number": {1: float("nan")}}
    interrupted(job(tmp_path, made_by=odd, transient={"times": (1, 2)}))
    again = job(tmp_path, made_by=dict(odd), transient={"times": (1, 2)})
    assert run_job(again).resumed >= 2
    assert run_job(again).resumed == 4


def test_remains_of_killed_runs_are_removed(tmp_path):
    made = job(tmp_path / "out")
    interrupted(made)
    sidecar = tmp_path / "out" / ".tfrkit"
    for name in (
        "train-00002-of-00004.tfrecord",
        "train-00002-of-00004.tfrecord.idx",
        "manifest.json",
        "report.json",
    ):
        (sidecar / f"{name}.123-0123abcd.tmp").write_bytes(b"half")
    (sidecar / "train-00003-of-00004.tfrecord.idx").write_bytes(b"of a shard that is not there")
    (sidecar / "val-00000-of-00001.tfrecord.123-0123abcd.tmp").write_bytes(b"of somebody else")
    run_job(made)
    assert left_over(tmp_path / "out") == [".tfrkit/val-00000-of-00001.tfrecord.123-0123abcd.tmp"]


def test_journal_without_a_whole_header_says_nothing(tmp_path):
    (tmp_path / ".tfrkit").mkdir()
    (tmp_path / ".tfrkit" / "job-0123456789abcdef.jsonl").write_bytes(b'{"format": "tfrkit-j')
    assert run_job(job(tmp_path)).resumed == 0
    assert left_over(tmp_path) == []


# -- refused -------------------------------------------------------------------------------------------------------


def test_shards_of_a_job_with_other_arguments_are_refused(tmp_path):
    run_job(job(tmp_path))
    before = tree(tmp_path)
    with pytest.raises(
        AlreadyExistsError,
        match=r"train-00000-of-00004\.tfrecord; there are 4 shards of 'train' already, of another job\. "
        r"It differs in: size\. Choose another folder, or pass overwrite=True \(--overwrite\)\.",
    ):
        run_job(job(tmp_path, made_by={"source": "one", "size": 4}))
    with pytest.raises(AlreadyExistsError, match="Its source was another"):
        run_job(job(tmp_path, made_by={"source": "two", "size": 3}))
    assert tree(tmp_path) == before


def test_shards_of_a_writer_are_refused(tmp_path):
    with tfr.ShardWriter(tmp_path / "train", shards=2) as writer:
        writer.write_many([b"a", b"b"])
    with pytest.raises(AlreadyExistsError, match="there are 2 shards of 'train' already"):
        run_job(job(tmp_path))


def test_files_without_a_manifest_are_refused(tmp_path):
    (tmp_path / "one.tfrecord").write_bytes(b"")
    run_job(job(tmp_path / "x", ShardGroup("one", (Numbers(0, 1),), None)))
    with pytest.raises(AlreadyExistsError, match=r"one\.tfrecord; there are 1 shards of 'one' already"):
        run_job(job(tmp_path, ShardGroup("one", (Numbers(0, 1),), None)))


def test_label_map_with_other_content_is_refused(tmp_path):
    run_job(job(tmp_path, train(prefix="a"), files={"labels.txt": b"cat\n"}))
    with pytest.raises(AlreadyExistsError, match=r"labels\.txt; it is there already, with other content"):
        run_job(job(tmp_path, train(prefix="b"), files={"labels.txt": b"dog\n"}))
    run_job(job(tmp_path, train(prefix="b"), files={"labels.txt": b"cat\n"}))


def test_interrupted_job_with_other_arguments_is_refused(tmp_path):
    interrupted(job(tmp_path))
    with pytest.raises(
        AlreadyExistsError,
        match=r"a job that writes 'train' there was interrupted, and it had other arguments \(size\)\. Run it again as",
    ):
        run_job(job(tmp_path, made_by={"source": "one", "size": 4}))


@pytest.mark.parametrize(
    "changes", [{"transient": {"times": [2]}}, {"made_by": {"source": "two", "size": 3}}]
)
def test_source_that_has_changed_since_the_interruption_is_refused(changes, tmp_path):
    made = job(tmp_path / "out", transient={"times": [1]})
    interrupted(made)
    changed = replace(made, **changes)
    with pytest.raises(AlreadyExistsError, match="was interrupted, and the source has changed since"):
        run_job(changed)
    interrupted(changed, overwrite=True)
    assert run_job(changed).resumed >= 2
    assert tree(tmp_path / "out") == undisturbed(changed, tmp_path / "other")


def test_interrupted_job_that_had_finished_nothing_is_in_nobodys_way(tmp_path):
    broken = job(
        tmp_path, ShardGroup("train", (Failing(PowerCutError()),), 1), files={"labels.txt": b"cat\n"}
    )
    with pytest.raises(PowerCutError):
        run_job(broken)
    assert run_job(job(tmp_path, files={"labels.txt": b"dog\n"})).resumed == 0


def test_second_job_at_once_is_refused_under_the_same_prefix_and_runs_under_another(tmp_path):
    other = job(tmp_path, train(prefix="val"))
    seen = []

    def progress(now: Progress) -> None:
        with pytest.raises(
            FailedPreconditionError,
            match=r"another process is writing 'train' there right now\. Wait for it, or",
        ):
            run_job(job(tmp_path, train(2)), overwrite=True)
        seen.append(run_job(other).resumed)
        raise PowerCutError

    with pytest.raises(PowerCutError):
        run_job(job(tmp_path, ShardGroup("train", (Endless(), Numbers(1, 1)), 2)), progress=progress)
    assert seen == [0]
    assert run_job(other).resumed == 4


def test_damaged_manifest_is_an_error_and_does_not_keep_the_job_locked(tmp_path):
    made = job(tmp_path)
    interrupted(made)
    (tmp_path / "manifest.json").write_bytes(b"{")
    for _ in range(2):
        with pytest.raises(DataLossError, match=r"manifest\.json; expected JSON but got"):
            run_job(made)
    (tmp_path / "manifest.json").unlink()
    assert run_job(made).resumed >= 2


# -- replaced ------------------------------------------------------------------------------------------------------


def test_overwriting_replaces_shards_and_indexes_of_the_prefix_only(tmp_path):
    run_job(job(tmp_path, train(5), train(1, prefix="val"), files={"labels.txt": b"old\n", "more.txt": b""}))
    made = job(tmp_path, train(2), made_by={"source": "new"}, files={"labels.txt": b"new\n"})
    run_job(made, overwrite=True)
    names = ["train-00000-of-00002.tfrecord", "train-00001-of-00002.tfrecord", "val-00000-of-00001.tfrecord"]
    assert sorted(path.name for path in tmp_path.glob("*.tfrecord")) == names
    assert sorted(path.stem for path in tmp_path.glob(".tfrkit/*.idx")) == names
    manifest = read_manifest(str(tmp_path))
    assert [shard["name"] for shard in manifest["shards"]] == names
    assert len(manifest["jobs"]) == 2
    assert (tmp_path / "labels.txt").read_bytes() == b"new\n"
    assert (tmp_path / "more.txt").exists()  # the job that made it has shards left


def test_overwriting_all_of_a_job_leaves_nothing_of_it(tmp_path):
    run_job(job(tmp_path / "out", train(5), files={"labels.txt": b"old\n", "more.txt": b""}))
    made = job(tmp_path / "out", train(2, bad_every=50), compression="GZIP", files={"labels.txt": b"new\n"})
    run_job(made, overwrite=True)
    assert tree(tmp_path / "out") == undisturbed(made, tmp_path / "other")


def test_overwriting_a_writers_shards(tmp_path):
    with tfr.ShardWriter(tmp_path / "out" / "train", shards=7) as writer:
        writer.write_many([b"a", b"b"])
    made = job(tmp_path / "out")
    run_job(made, overwrite=True)
    assert tree(tmp_path / "out") == undisturbed(made, tmp_path / "other")


def test_overwriting_a_complete_job_by_itself_makes_it_again(tmp_path):
    made = job(tmp_path)
    run_job(made)
    before = tree(tmp_path)
    assert run_job(made, overwrite=True).resumed == 0
    assert tree(tmp_path) == before


def test_interrupted_overwriting_goes_on_without_being_told_again(tmp_path):
    run_job(job(tmp_path / "out", train(5), files={"labels.txt": b"old\n"}))
    made = job(tmp_path / "out", train(3), files={"labels.txt": b"new\n"})
    before = contents(tmp_path / "out")
    interrupted(made, 1, overwrite=True)
    assert contents(tmp_path / "out") == before
    there = list((tmp_path / "out").glob(".tfrkit/job-*/*.tfrecord"))
    assert there
    assert run_job(made).resumed == len(there)
    assert tree(tmp_path / "out") == undisturbed(made, tmp_path / "other")


def test_writer_may_overwrite_a_jobs_shards(tmp_path):
    run_job(job(tmp_path))
    with tfr.ShardWriter(tmp_path / "train", shards=1, overwrite=True) as writer:
        writer.write(b"a")
    manifest = read_manifest(str(tmp_path))
    assert [shard["name"] for shard in manifest["shards"]] == ["train-00000-of-00001.tfrecord"]
    assert manifest["jobs"] == {}


@pytest.mark.parametrize("shards", [1, 3, 5])
def test_overwriting_that_fails_leaves_what_was_there(shards, tmp_path):
    run_job(job(tmp_path, train(3), train(1, prefix="val"), files={"labels.txt": b"old\n"}))
    before = tree(tmp_path)
    recipes = (*(Numbers(n, 10) for n in range(shards - 1)), Failing(PowerCutError()))
    broken = job(tmp_path, ShardGroup("train", recipes, shards), files={"labels.txt": b"new\n"})
    with pytest.raises(PowerCutError):
        run_job(broken, workers=1, overwrite=True)
    assert contents(tmp_path) == before
    if shards == 1:  # nothing was finished: nothing is left
        assert left_over(tmp_path) == []
    made = replace(broken, groups=(ShardGroup("train", (*recipes[:-1], Numbers(7, 10)), shards),))
    run_job(made, overwrite=True)
    assert left_over(tmp_path) == []
    assert sorted(path.name for path in tmp_path.glob("train*")) == [
        f"train-{n:05d}-of-{shards:05d}.tfrecord" for n in range(shards)
    ]


def test_overwriting_with_bad_input_that_is_an_error_leaves_what_was_there(tmp_path):
    run_job(job(tmp_path))
    before = tree(tmp_path)
    with pytest.raises(InvalidArgumentError, match="bad number"):
        run_job(job(tmp_path, train(2, bad_every=7)), on_bad="raise", overwrite=True)
    assert contents(tmp_path) == before


# -- lost ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["", "GZIP", "ZSTD"])
@pytest.mark.parametrize("how", ["gone", "cut"])
@pytest.mark.parametrize("group", [train(bad_every=50), mixed(shards=4)], ids=["plain", "mixed"])
def test_only_the_lost_shard_of_a_complete_job_is_made_again(group, how, kind, tmp_path):
    made = job(tmp_path, group, train(1, prefix="val"), compression=kind, files={"labels.txt": b"x\n"})
    first = run_job(made)
    before = tree(tmp_path)
    shards = sorted(tmp_path.glob("*.tfrecord*"))
    times = {path: path.stat().st_mtime_ns for path in shards}
    if how == "gone":
        shards[1].unlink()
    else:
        os.truncate(shards[1], 10)
    report = run_job(made)
    assert tree(tmp_path) == before
    assert report.resumed == 4
    assert replace(report, resumed=first.resumed, seconds=first.seconds) == first
    assert [path for path in shards if path.stat().st_mtime_ns != times[path]] == [shards[1]]


def test_lost_shard_of_a_source_that_has_changed_unnoticed_is_an_error(tmp_path):
    run_job(job(tmp_path / "out", ShardGroup("train", (Numbers(0, 100), Numbers(1, 100)), 2)))
    (tmp_path / "out" / "train-00001-of-00002.tfrecord").unlink()
    before = tree(tmp_path / "out")
    changed = job(tmp_path / "out", ShardGroup("train", (Numbers(0, 100), Numbers(1, 50, claimed=2.0)), 2))
    with pytest.raises(
        FailedPreconditionError,
        match=r"train-00001-of-00002\.tfrecord; it was lost, and made again it has 50 records in \d+ bytes where the "
        r"manifest says 100 in \d+: the source has changed since\. Pass overwrite=True",
    ):
        run_job(changed)
    assert contents(tmp_path / "out") == before
    run_job(changed, overwrite=True)
    assert tree(tmp_path / "out") == undisturbed(changed, tmp_path / "other")


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("call", ["save_lengths", "add"])
def test_first_shard_that_cannot_be_indexed_or_noted_is_not_left(call, overwrite, tmp_path, monkeypatch):
    made = job(tmp_path / "out")
    if overwrite:
        run_job(job(tmp_path / "out", train(2)))
    before = tree(tmp_path / "out")

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "x")

    with monkeypatch.context() as patched:
        if call == "add":
            patched.setattr(FileJournal, "add", full)
        else:
            patched.setattr(writer, "save_lengths", full)
        with pytest.raises(ResourceExhaustedError, match=r"0 of 4 shards are whole") as caught:
            run_job(made, workers=1, overwrite=overwrite)
    assert ("if there is no room for both, remove it by hand" in str(caught.value)) == overwrite
    after = tree(tmp_path / "out")
    assert after == (before if overwrite else {".tfrkit": None, ".tfrkit/jobs.lock": b""})
    run_job(made, overwrite=overwrite)
    assert tree(tmp_path / "out") == undisturbed(made, tmp_path / "other")
