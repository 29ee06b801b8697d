"""Names that lead out of their folder, and links that do: nothing beside a data set is removed, written or read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.build.job.test_output_ownership import interrupted
from tests.build.support.made import Numbers, job, mixed, train, tree
from tfrkit.build.job.job import ShardGroup, dry_run, run_job
from tfrkit.build.job.job_plan import job_digest
from tfrkit.cli.main import run
from tfrkit.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, OpError

EVIL = [
    "../victim/labels.txt",
    "../victim",
    "{victim}/labels.txt",
    "x/../../victim/labels.txt",
    "../victim/train-00000-of-00001.tfrecord",
    "..",
    "",
    "labels.txt\0",
]


@pytest.fixture
def victim(tmp_path: Path) -> Any:
    """A folder beside the data set, which must stay as it is."""
    folder = tmp_path / "victim"
    with tfr.TFRecordWriter(folder.parent / "one") as writer:
        writer.write(b"precious")
    (folder / "deep").mkdir(parents=True)
    data = (folder.parent / "one").read_bytes()
    (folder.parent / "one").unlink()
    for name in ("labels.txt", "0-part-00000", "train-00000-of-00001.tfrecord", "deep/labels.txt"):
        (folder / name).write_bytes(data)
    before = tree(folder)
    yield folder
    assert tree(folder) == before
    assert {path.name for path in tmp_path.iterdir()} <= {"out", "victim", "made", "x.tfrecord"}


def new_job(folder: Path) -> Any:
    return job(folder, train(2), made_by={"source": "new"})


def change(path: Path, edit: Callable[[Any], None]) -> None:
    content = json.loads(path.read_bytes())
    edit(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("name", EVIL)
def test_further_files_of_a_manifest_do_not_lead_out(name, victim, tmp_path):
    run_job(job(tmp_path / "out", files={"labels.txt": b"x\n"}))

    def edit(content: Any) -> None:
        for made in content["jobs"].values():
            made["files"] = [name.format(victim=victim)]

    change(tmp_path / "out" / "manifest.json", edit)
    for overwrite in (False, True):
        with pytest.raises(DataLossError, match=r"manifest\.json; .*plain names"):
            run_job(new_job(tmp_path / "out"), overwrite=overwrite)
    with pytest.raises(DataLossError, match=r"manifest\.json; .*plain names"):
        dry_run(new_job(tmp_path / "out"))


@pytest.mark.parametrize(
    "name", ["notes.md", "thesis.docx", "other-00000-of-00001.tfrecord", "manifest.json"]
)
def test_further_files_of_a_manifest_that_no_job_writes_stay(name, tmp_path):
    run_job(job(tmp_path, files={"labels.txt": b"x\n"}))
    (tmp_path / "notes.md").write_bytes(b"mine")
    (tmp_path / "thesis.docx").write_bytes(b"mine")
    (tmp_path / "other-00000-of-00001.tfrecord").write_bytes(b"mine")

    def edit(content: Any) -> None:
        for made in content["jobs"].values():
            made["files"] = [name]

    change(tmp_path / "manifest.json", edit)
    if name == "manifest.json":
        with pytest.raises(DataLossError, match="plain names"):
            run_job(new_job(tmp_path), overwrite=True)
    else:
        run_job(new_job(tmp_path), overwrite=True)
        assert (tmp_path / name).read_bytes() == b"mine"


@pytest.mark.parametrize("name", EVIL)
def test_shards_of_a_manifest_do_not_lead_out(name, victim, tmp_path, capsys):
    run_job(job(tmp_path / "out"))
    name = name.format(victim=victim)
    change(tmp_path / "out" / "manifest.json", lambda content: content["shards"][0].update(name=name))
    for overwrite in (False, True):
        with pytest.raises(DataLossError, match=r"manifest\.json; .*plain name"):
            run_job(new_job(tmp_path / "out"), overwrite=overwrite)
    writer = tfr.ShardWriter(tmp_path / "out" / "train", shards=1, overwrite=True)
    with pytest.raises(DataLossError, match=r"manifest\.json; .*plain name"):
        writer.close()
    for arguments in (
        ("verify", "out"),
        ("count", "out"),
        ("index", "out"),
        ("repair", "out", "made"),
        ("reshard", "out", "made/x", "--shards", "2"),
        ("export", "jsonl", "out", "-"),
    ):
        run([str(tmp_path / part) if part.startswith(("out", "made")) else part for part in arguments])
        assert "precious" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "digest", ["x/../../../victim", "../../victim", "..", "0123456789abcdef/../../../victim"]
)
@pytest.mark.parametrize("overwrite", [False, True])
def test_digest_of_a_journal_does_not_lead_out(digest, overwrite, victim, tmp_path):
    made = job(tmp_path / "out", mixed())
    interrupted(made, 1)
    (journal,) = (tmp_path / "out" / ".tfrkit").glob("job-*.jsonl")
    head, *lines = journal.read_bytes().splitlines(keepends=True)
    (tmp_path / "out" / ".tfrkit" / "mix-x").mkdir(exist_ok=True)
    evil = json.dumps({**json.loads(head), "digest": digest}).encode() + b"\n"
    for name in (journal.name, "job-0000000000000000.jsonl"):
        (journal.parent / name).write_bytes(evil + b"".join(lines))
    for other in (new_job(tmp_path / "out"), made):
        try:
            run_job(other, overwrite=overwrite)
        except OpError:
            assert not overwrite


@pytest.mark.parametrize("name", EVIL)
def test_tasks_of_a_journal_do_not_lead_out(name, victim, tmp_path):
    made = job(tmp_path / "out", mixed())
    interrupted(made, 1)
    (journal,) = (tmp_path / "out" / ".tfrkit").glob("job-*.jsonl")
    head, *lines = journal.read_bytes().splitlines(keepends=True)
    name = name.format(victim=victim)
    evil = [
        json.dumps({**json.loads(line), "name": each}).encode() + b"\n"
        for line in lines
        for each in (name, f"mix/0/{name}", f"mix/{name}")
    ]
    journal.write_bytes(head + b"".join(evil))
    run_job(made)
    assert len(list(tfr.read_records(str(tmp_path / "out" / "*.tfrecord")))) == sum(
        100 + 50 * n for n in range(5)
    )


def test_odd_buckets_of_a_journal_are_made_again(tmp_path):
    made = job(tmp_path / "out", mixed())
    interrupted(made, 1)
    (journal,) = (tmp_path / "out" / ".tfrkit").glob("job-*.jsonl")
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    for line in lines:
        if "buckets" in line:
            line["buckets"] = [[1, 2]] * 3
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run_job(made)
    run_job(job(tmp_path / "other", mixed()))
    assert tree(tmp_path / "out") == tree(tmp_path / "other")


@pytest.mark.parametrize("overwrite", [False, True])
def test_sidecar_folder_that_is_a_link_is_refused(overwrite, victim, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".tfrkit").symlink_to(victim)
    for call in (
        lambda: run_job(job(tmp_path / "out"), overwrite=overwrite),
        lambda: dry_run(job(tmp_path / "out"), overwrite=overwrite),
    ):
        with pytest.raises(
            FailedPreconditionError, match=r"\.tfrkit; expected a folder but got a symbolic link"
        ):
            call()


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("group", [train(2), mixed(shards=2)], ids=["plain", "mixed"])
def test_links_in_a_folder_are_not_followed(group, overwrite, victim, tmp_path):
    made = job(tmp_path / "out", group)
    if overwrite:
        run_job(job(tmp_path / "out", train(3)))
    sidecar = tmp_path / "out" / ".tfrkit"
    sidecar.mkdir(parents=True, exist_ok=True)
    digest = job_digest(made)
    for name in (f"mix-{digest}", f"job-{digest}"):
        (sidecar / name).symlink_to(victim)
    (sidecar / "train-00000-of-00002.tfrecord.idx").symlink_to(victim / "labels.txt")
    (tmp_path / "out" / "train-00001-of-00002.tfrecord").symlink_to(victim / "labels.txt")
    with pytest.raises(OpError, match=r"there are \d shards of 'train' already"):
        run_job(made)
    run_job(made, overwrite=True)
    run_job(job(tmp_path / "made", group))
    assert tree(tmp_path / "out") == tree(tmp_path / "made")


@pytest.mark.parametrize("name", ["jobs.lock", "manifest.lock", "job-{digest}.jsonl"])
def test_locks_and_journals_that_are_links_are_refused(name, victim, tmp_path):
    made = job(tmp_path / "out")
    sidecar = tmp_path / "out" / ".tfrkit"
    sidecar.mkdir(parents=True)
    (sidecar / name.format(digest=job_digest(made))).symlink_to(victim / "labels.txt")
    with pytest.raises(OpError, match="symbolic links"):
        run_job(made)
    (sidecar / name.format(digest=job_digest(made))).unlink()
    (sidecar / name.format(digest=job_digest(made))).symlink_to(victim / "new")
    with pytest.raises(OpError, match="symbolic links"):
        run_job(made)


def test_shard_that_waits_and_is_a_link_is_made_again(victim, tmp_path):
    run_job(job(tmp_path / "out", train(3)))
    made = job(tmp_path / "out", train(4))
    interrupted(made, 2, overwrite=True)
    shard = min((tmp_path / "out" / ".tfrkit").glob("job-*/*.tfrecord"))
    (victim.parent / "x.tfrecord").write_bytes(shard.read_bytes())
    shard.unlink()
    shard.symlink_to(victim.parent / "x.tfrecord")
    run_job(made)
    assert not any(path.is_symlink() for path in (tmp_path / "out").iterdir())


@pytest.mark.parametrize("prefix", ["../a", "/a", "a/b", "..", "", "a\0", "x" * 300, "manifest.json"])
def test_prefix_that_is_no_plain_name_is_refused(prefix, tmp_path):
    with pytest.raises(InvalidArgumentError, match="cannot begin the name of a file"):
        run_job(job(tmp_path / "out", ShardGroup(prefix, (Numbers(0, 1),), 1)))
    assert not os.listdir(tmp_path)
