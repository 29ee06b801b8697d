"""ShardWriter on URLs: the same files as in a local folder, and what an object store cannot do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.support.servers.fault_proxy import Fault
from tests.support.weak_store import weak_url
from tfrkit.errors import (
    AlreadyExistsError,
    OpError,
    PermissionDeniedError,
    UnavailableError,
    UnimplementedError,
)
from tfrkit.records.manifest import manifest_path, read_manifest, update_manifest
from tfrkit.records.write import shards as module
from tfrkit.stores.files import list_files, list_names, read_bytes
from tfrkit.stores.object_config import configure_store
from tfrkit.stores.object_output import MOST_AT_ONCE, UploadOutput

RECORDS = [b"%d" % number * (number % 50) for number in range(3000)]
LARGE = [os.urandom(700_000) for _ in range(40)]

WRITE = """
import sys, time
import tfrkit as tfr
writer = tfr.ShardWriter(sys.argv[1], **eval(sys.argv[2]))
for _ in range(40):
    writer.write(bytes(1 << 20))
print("written", flush=True)
time.sleep(600)
"""


def write(prefix, records=RECORDS, **options):
    with tfr.ShardWriter(prefix, **options) as writer:
        writer.write_many(records)
    return writer


def content_of(folder):
    """Return all files of a folder, by name."""
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


@pytest.mark.parametrize(
    "options",
    [
        {"shards": 3},
        {"shards": 3, "compression": "GZIP"},
        {"shards": 2, "compression": "XZ"},
        {"shards": 2, "index": False},
        {"shard_bytes": 20_000},
        {"shard_bytes": 5_000, "compression": "GZIP"},
        {"shards": MOST_AT_ONCE + 5},
    ],
    ids=str,
)
def test_files_are_those_of_a_local_folder(options, remote_folder, tmp_path):
    writer = write(f"{remote_folder}/train", **options)
    local = write(tmp_path / "train", **options)
    assert content_of(remote_folder) == local_content(tmp_path)
    assert writer.paths == [path.replace(str(tmp_path), remote_folder) for path in local.paths]
    assert writer.records == len(RECORDS)
    found = list(tfr.read_records(f"{remote_folder}/train-*"))
    assert sorted(found) == sorted(RECORDS)


@pytest.mark.parametrize("options", [{"shards": 2}, {"shard_bytes": 9_000_000}], ids=str)
def test_large_shards_are_the_same(options, s3_folder, tmp_path):
    write(f"{s3_folder}/train", LARGE, **options)
    write(tmp_path / "train", LARGE, **options)
    assert content_of(s3_folder) == local_content(tmp_path)


@pytest.mark.parametrize("options", [{"shards": 3}, {"shard_bytes": 20_000}], ids=str)
def test_weak_store(options, tmp_path):
    write(f"{weak_url(tmp_path / 'a')}/train", **options)
    write(f"{weak_url(tmp_path / 'a')}/train", RECORDS[:100], overwrite=True, **options)
    write(tmp_path / "b" / "train", RECORDS[:100], **options)
    assert local_content(tmp_path / "a") == local_content(tmp_path / "b")


def test_prefix_at_the_root_of_a_store(unique_prefix):
    prefix = f"memory://{unique_prefix.rstrip('/')}"
    write(prefix, shards=2)
    names = [info.path for info in list_files("memory://") if info.path.startswith(prefix)]
    assert names == [f"{prefix}-0000{number}-of-00002.tfrecord" for number in range(2)]
    update_manifest("memory://", [], [os.path.basename(name) for name in names], {})


def test_existing_shards_are_an_error(remote_folder):
    write(f"{remote_folder}/train", shards=2)
    before = content_of(remote_folder)
    with pytest.raises(AlreadyExistsError, match=r"there are 2 shards of '.*/train' already\. Remove them"):
        tfr.ShardWriter(f"{remote_folder}/train", shards=3)
    write(f"{remote_folder}/trains", shards=1)
    assert before.items() - content_of(remote_folder).items() <= {("manifest.json", before["manifest.json"])}


@pytest.mark.parametrize("first", [2, 3, 4])
def test_overwriting_replaces_all(first, remote_folder, tmp_path):
    write(f"{remote_folder}/train", shards=first)
    write(f"{remote_folder}/other", shards=1)
    write(f"{remote_folder}/train", RECORDS[:100], shards=3, overwrite=True)
    write(tmp_path / "other", shards=1)
    write(tmp_path / "train", RECORDS[:100], shards=3)
    assert content_of(remote_folder) == local_content(tmp_path)


def test_exception_leaves_nothing(remote_folder, s3_server):
    def fail(**options):
        with tfr.ShardWriter(f"{remote_folder}/train", **options) as writer:
            writer.write_many(LARGE)
            raise ZeroDivisionError

    for options in ({"shards": 2}, {"shard_bytes": 3_000_000}, {"shards": MOST_AT_ONCE + 1}):
        with pytest.raises(ZeroDivisionError):
            fail(**options)
    assert content_of(remote_folder) == {}
    if remote_folder.startswith("s3"):
        _, _, bucket, prefix = remote_folder.split("/", 3)
        assert [name for name in s3_server.uploads(bucket) if prefix in name] == []


def test_shards_that_were_dropped_leave_nothing(remote_folder):
    writer = tfr.ShardWriter(f"{remote_folder}/train", shard_bytes=3_000_000)
    writer.write_many(LARGE)
    del writer
    assert content_of(remote_folder) == {}


def fail_at(monkeypatch, number):
    """Let the publishing of a shard fail."""
    publish = UploadOutput.publish

    def failing(output, name=None):
        if f"train-0000{number}" in output.name:
            output.discard()
            raise UnavailableError("train; the store is gone.")
        publish(output, name)

    monkeypatch.setattr(UploadOutput, "publish", failing)
    monkeypatch.setattr(module, "in_threads", in_turn)


class in_turn:  # noqa: N801  # it stands for a function
    """One after the other, so that it is known what has happened before."""

    def __init__(self, calls):
        self.calls = calls

    def __enter__(self):
        return self.calls

    def __exit__(self, *_):
        pass


def test_failure_before_anything_was_replaced_restores_the_manifest(s3_folder, monkeypatch):
    write(f"{s3_folder}/train", shards=3)
    before = content_of(s3_folder)
    for number, shards in ((0, 3), (1, 4)):  # of another number, the new shards have other names
        with monkeypatch.context() as patch:
            fail_at(patch, number)
            with pytest.raises(UnavailableError, match=r"^train; the store is gone\.$"):
                write(f"{s3_folder}/train", RECORDS[:100], shards=shards, overwrite=True)
        after = content_of(s3_folder)
        assert {
            name: data for name, data in after.items() if not name.endswith("of-00004.tfrecord.idx")
        } == before


def test_failure_in_the_middle_leaves_the_manifest_withdrawn_and_says_so(s3_folder, monkeypatch):
    write(f"{s3_folder}/train", shards=3)
    with monkeypatch.context() as patch:
        fail_at(patch, 1)
        with pytest.raises(
            UnavailableError,
            match=r"^train; the store is gone\. 1 of the 3 old shards of '.*/train' were replaced before that, and the "
            r"manifest names none of them any more\. Write the set again\.$",
        ):
            write(f"{s3_folder}/train", RECORDS[:100], shards=3, overwrite=True)
    assert read_manifest(s3_folder)["shards"] == []
    write(f"{s3_folder}/train", RECORDS[:100], shards=3, overwrite=True)
    assert [shard["records"] for shard in read_manifest(s3_folder)["shards"]] == [34, 33, 33]


def test_no_permission_keeps_what_was_there(s3_server, s3_bucket, s3_folder):
    write(f"{s3_folder}/train", shards=3)
    before = content_of(s3_folder)
    configure_store(f"s3://{s3_bucket}", **s3_server.options(reader=True))
    try:
        with pytest.raises(PermissionDeniedError, match="access denied"):
            write(f"{s3_folder}/train", RECORDS[:100], shards=3, overwrite=True)
    finally:
        configure_store(f"s3://{s3_bucket}", **s3_server.options())
    assert content_of(s3_folder) == before


@pytest.mark.parametrize("options", [{"shards": 3}, {"shard_bytes": 8_000_000}], ids=str)
def test_kill_leaves_nothing_visible(options, s3_server, s3_folder):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, f"{s3_folder}/train", repr(options)],
        env={**os.environ, **s3_server.environment()},
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        process.send_signal(signal.SIGKILL)
    assert [name for name in list_names(s3_folder) if name != ".tfrkit"] == []
    write(f"{s3_folder}/train", shards=3)
    assert len(list(tfr.read_records(f"{s3_folder}/train*"))) == len(RECORDS)


def test_same_files_through_faults(s3_server, s3_bucket, s3_folder, fault_proxy, tmp_path):
    proxy = fault_proxy(s3_server.port, Fault("cut", every=7), Fault("error", every=13, status=503))
    configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    try:
        write(f"{s3_folder}/train", LARGE, shards=3)
        write(f"{s3_folder}/train", LARGE[:30], shards=2, overwrite=True)
        write(f"{s3_folder}/validation", RECORDS, shard_bytes=15_000)
    finally:
        configure_store(f"s3://{s3_bucket}", **s3_server.options())
    assert proxy.counts()["cut"] > 5
    write(tmp_path / "train", LARGE[:30], shards=2)
    write(tmp_path / "validation", RECORDS, shard_bytes=15_000)
    assert content_of(s3_folder) == local_content(tmp_path)


def test_manifest_has_no_secret_and_no_url(s3_server, s3_folder):
    write(f"{s3_folder}/train", shards=1)
    text = read_bytes(manifest_path(s3_folder)).decode()
    assert s3_server.secret not in text
    assert "s3://" not in text
    assert json.loads(text)["made_by"] == {"train": {"compression": "", "shards": 1, "writer": "ShardWriter"}}


def test_web_servers_are_refused():
    with pytest.raises(UnimplementedError, match="web servers are read only here") as caught:
        tfr.ShardWriter("https://localhost/a?sig=secret", shards=2)
    assert "secret" not in str(caught.value)


def test_unknown_schemes_are_refused():
    with pytest.raises(OpError, match="File system scheme 'nosuch' not implemented"):
        tfr.ShardWriter("nosuch://bucket/out", shards=2)
