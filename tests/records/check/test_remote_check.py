"""verify and repair on URLs: the same reports and the same bytes as in a local folder."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.records.support.made import flip
from tests.support.weak_store import weak_url
from tfrkit.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError
from tfrkit.records.check.journal_objects import JournalObjects
from tfrkit.records.manifest import read_manifest
from tfrkit.stores.files import list_files, read_bytes, remove, write_bytes
from tfrkit.stores.lease import Lease
from tfrkit.stores.object_config import configure_store


def make(folder, shards=4, **options):
    with tfr.ShardWriter(os.path.join(folder, "train"), shards=shards, **options) as writer:
        writer.write_many([random.Random(number).randbytes(480) for number in range(10 * shards)])
    return folder


def shard(number, count=4):
    return f"train-{number:05d}-of-{count:05d}.tfrecord"


def upload(local: Path, folder: str) -> str:
    """Copy a local folder, without locks."""
    for path in local.rglob("*"):
        if path.is_file() and path.suffix != ".lock":
            write_bytes(f"{folder}/{path.relative_to(local)}", path.read_bytes())
    return folder


def content_of(folder):
    begin = len(folder) + 1
    return {
        info.path[begin:]: read_bytes(info.path)
        for info in list_files(folder, recursive=True)
        if not info.path.endswith(".lock")
    }


def local_content(folder: Path):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }


def same(report, local, folder, path):
    """Whether two reports say the same, of a URL and of a local folder."""
    return json.dumps(report.to_dict()).replace(folder, "F") == json.dumps(local.to_dict()).replace(
        str(path), "F"
    )


def spoil(out: Path) -> Path:
    """Everything that verify may find."""
    (out / shard(1)).write_bytes(flip((out / shard(1)).read_bytes(), 1000))
    (out / shard(2)).unlink()
    (out / shard(3)).write_bytes((out / shard(3)).read_bytes()[:1000])
    (out / "notes.txt").write_text("hello")
    shutil.copy(out / shard(0), out / "other")
    shutil.copy(out / shard(0), out / shard(7))
    (out / "empty.tfrecord").touch()
    (out / ".tfrkit" / "a.tfrecord.1-0123abcd.tmp").write_text("left")
    return out


def test_whole_folder_is_well(remote_folder):
    make(remote_folder)
    report = tfr.verify(remote_folder)
    assert report.ok
    assert (len(report.files), report.records, report.problems, report.others) == (4, 40, (), ())


@pytest.mark.parametrize("what", ["", "/train-*", "/*", "/**/*.tfrecord"])
def test_everything_that_is_wrong_is_found(what, remote_folder, tmp_path):
    out = spoil(Path(make(tmp_path / "out")))
    upload(out, remote_folder)
    report = tfr.verify(remote_folder + what)
    assert not report.ok
    assert same(report, tfr.verify(str(out) + what), remote_folder, out)


@pytest.mark.parametrize("numbers", [[0], [1], [0, 1], [0, 1, 3]])
def test_named_files(numbers, remote_folder, tmp_path):
    out = spoil(Path(make(tmp_path / "out")))
    upload(out, remote_folder)
    report = tfr.verify([f"{remote_folder}/{shard(number)}" for number in numbers])
    assert same(report, tfr.verify([out / shard(number) for number in numbers]), remote_folder, out)


def test_what_is_not_there(remote_folder):
    with pytest.raises(NotFoundError, match="No files matched pattern"):
        tfr.verify(f"{remote_folder}/*.tfrecord")
    report = tfr.verify(f"{remote_folder}/a.tfrecord")
    assert not report.ok
    assert "No such file" in report.files[0].error


def test_jobs_that_are_not_complete(remote_folder):
    make(remote_folder)
    journal = f"{remote_folder}/.tfrkit/job-0a1b.journal"
    header = {"format": "tfrkit-job", "version": 1, "prefixes": {"val": 3}, "staged": False}
    write_bytes(JournalObjects.header_of(journal), json.dumps(header).encode())
    done = {"name": "val-00000-of-00003.tfrecord", "records": 1, "bytes": 17}
    write_bytes(JournalObjects.task_of(journal, done["name"]), json.dumps(done).encode())
    write_bytes(JournalObjects.task_of(journal, "val-00001-of-00003.tfrecord"), b"torn")
    with tfr.TFRecordWriter(f"{remote_folder}/{done['name']}") as writer:
        writer.write(b"x")
    report = tfr.verify(remote_folder)
    found = {(problem.kind, os.path.basename(problem.path)) for problem in report.problems}
    assert found == {
        ("interrupted", "job-0a1b.journal"),
        ("missing", "val-00001-of-00003.tfrecord"),
        ("missing", "val-00002-of-00003.tfrecord"),
    }
    assert "was interrupted: 1 of its shards are finished. Run the same command again" in str(report)
    lease = Lease(JournalObjects.lock_of(journal))
    assert lease.acquire(wait=False)
    assert "RUNNING: a job that writes 'val' is being run by another process" in str(
        tfr.verify(remote_folder)
    )
    lease.release()
    remove(JournalObjects.header_of(journal))  # what is left says nothing
    assert {problem.kind for problem in tfr.verify(remote_folder).problems} == {"missing"}


def test_set_that_a_killed_writer_was_replacing_is_not_taken_for_whole(s3_folder, monkeypatch):
    from tfrkit.records.write import shards as module

    make(s3_folder)
    publish = module.ShardWriter._publish_shard

    def killed(writer, part, path):
        if path.endswith(shard(2)):
            raise SystemExit
        return publish(writer, part, path)

    with monkeypatch.context() as patch:
        patch.setattr(module.ShardWriter, "_publish_shard", killed)
        patch.setattr("tfrkit.records.write.replace_shards._ShardsInPlace.put_back", lambda _: "")
        with pytest.raises(SystemExit):
            make(s3_folder, overwrite=True)
    report = tfr.verify(s3_folder)
    assert {problem.kind for problem in report.problems} == {"not in manifest"}
    make(s3_folder, overwrite=True)
    assert tfr.verify(s3_folder).ok


# -- repair ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.tfrecord", "a.tfrecord.gz"])
@pytest.mark.parametrize("direction", ["from", "to", "both"])
def test_repair_from_and_to_urls(name, direction, remote_folder, tmp_path):
    with tfr.TFRecordWriter(tmp_path / name) as writer:
        writer.write_many([random.Random(number).randbytes(4800) for number in range(1000)])
    data = flip((tmp_path / name).read_bytes(), 1_000_003)
    (tmp_path / name).write_bytes(data)
    write_bytes(f"{remote_folder}/{name}", data)
    source = str(tmp_path / name) if direction == "to" else f"{remote_folder}/{name}"
    target = str(tmp_path / f"b-{name}") if direction == "from" else f"{remote_folder}/b-{name}"
    report = tfr.repair(source, target)
    local = tfr.repair(tmp_path / name, tmp_path / f"c-{name}")
    assert 0 < report.records < 1000
    assert (report.records, report.lost) == (local.records, local.lost)
    assert (report.source, report.target) == (source, target)
    assert read_bytes(target) == (tmp_path / f"c-{name}").read_bytes()
    assert read_bytes(source) == data


def test_repair_onto_itself_is_refused(remote_folder):
    with pytest.raises(InvalidArgumentError, match="onto itself"):
        tfr.repair(f"{remote_folder}/a", f"{remote_folder}/a")


def test_files_are_repaired_where_they_are(remote_folder, tmp_path):
    out = spoil(Path(make(tmp_path / "out")))
    upload(out, remote_folder)
    report, local = tfr.repair_files(remote_folder), tfr.repair_files(out)
    assert same(report, local, remote_folder, out)
    assert content_of(remote_folder) == local_content(out)
    assert not Lease(f"{remote_folder}/.tfrkit/jobs.lock").is_held()


def test_files_are_repaired_in_a_weak_store(tmp_path):
    out = spoil(Path(make(tmp_path / "out")))
    shutil.copytree(out, tmp_path / "weak", ignore=shutil.ignore_patterns("*.lock"))
    folder = weak_url(tmp_path / "weak")
    assert same(tfr.repair_files(folder), tfr.repair_files(out), folder, out)
    assert local_content(tmp_path / "weak") == local_content(out)


@pytest.mark.parametrize("direction", ["from", "to", "both"])
def test_files_are_repaired_into_another_folder(direction, remote_folder, tmp_path):
    out = spoil(Path(make(tmp_path / "out")))
    upload(out, f"{remote_folder}/out")
    source = str(out) if direction == "to" else f"{remote_folder}/out"
    target = str(tmp_path / "mended") if direction == "from" else f"{remote_folder}/mended"
    report = tfr.repair_files(source, target)
    local = tfr.repair_files(out, tmp_path / "expected")
    assert [file.records for file in report.files] == [file.records for file in local.files]
    found = local_content(Path(target)) if direction == "from" else content_of(target)
    assert found == local_content(tmp_path / "expected")
    with pytest.raises(AlreadyExistsError, match="exists already"):
        tfr.repair_files(source, target)
    assert tfr.repair_files(source, target, overwrite=True).ok == local.ok
    with pytest.raises(InvalidArgumentError, match="into its own folder"):
        tfr.repair_files(source, source)


def test_secret_of_a_signed_url_is_not_shown(http_server, tmp_path):
    make(tmp_path / "out", shards=2)
    for path in (tmp_path / "out").glob("train-*"):
        http_server.files[f"d/{path.name}"] = flip(path.read_bytes(), 1000)
    http_server.manners.signature = "s3cret"
    urls = [f"{http_server.url}/d/{shard(number, 2)}?sig=s3cret" for number in range(2)]
    verified = tfr.verify([*urls, f"{http_server.url}/d/{shard(1, 3)}?sig=s3cret"])
    assert verified.records == 18
    repaired = tfr.repair_files(urls, tmp_path / "mended")
    assert [file.records for file in repaired.files] == [9, 9]
    assert sorted(os.listdir(tmp_path / "mended")) == [".tfrkit", shard(0, 2), shard(1, 2)]
    failed = tfr.repair_files(urls)  # web servers are read only
    assert not failed.ok
    one = tfr.repair(urls[0], tmp_path / "one.tfrecord")
    for report in (verified, repaired, failed, one):
        assert "s3cret" not in json.dumps(report.to_dict()) + str(report)
        assert "train-00000" in str(report)


def test_manifest_of_a_web_server_is_read(http_server, tmp_path):
    for path in Path(make(tmp_path / "out")).glob("*"):
        if path.is_file():
            http_server.files[f"d/{path.name}"] = path.read_bytes()
    http_server.files[f"d/{shard(1)}"] = http_server.files[f"d/{shard(2)}"][:-508]
    report = tfr.verify([f"{http_server.url}/d/{shard(number)}" for number in range(4)])
    assert [problem.kind for problem in report.problems] == ["differs"]
    assert read_manifest(f"{http_server.url}/d")["made_by"]["train"]["shards"] == 4


def test_few_requests_are_made(s3_server, s3_bucket, s3_folder, fault_proxy):
    """Of a folder: its listings, its manifest, and one request for each small shard."""
    make(s3_folder, shards=40)
    proxy = fault_proxy(s3_server.port)
    configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    try:
        assert tfr.verify(s3_folder).ok
        requests = len(proxy.requests())
    finally:
        configure_store(f"s3://{s3_bucket}", **s3_server.options())
    assert 40 < requests <= 40 + 12
