"""manifest.json in stores without locks: no change is lost, and what is written is what a local folder has."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.support.weak_store import weak_url
from tfrkit.errors import AbortedError, DataLossError
from tfrkit.records import manifest as module
from tfrkit.records.manifest import (
    ShardEntry,
    change_manifest,
    folder_lock,
    manifest_path,
    read_manifest,
    update_manifest,
)
from tfrkit.stores import lease
from tfrkit.stores.files import is_there, list_names, read_bytes, write_bytes


@pytest.fixture
def weak_folder(tmp_path, monkeypatch):
    """A folder in a store without locks and without conditions."""
    monkeypatch.setattr(lease, "SETTLE_SECONDS", 0.2)
    monkeypatch.setattr(lease, "POLL_SECONDS", 0.01)
    return weak_url(tmp_path)


def entry(name: str, records: int = 3) -> ShardEntry:
    return ShardEntry(name, records, 53, "")


def test_bytes_are_those_of_a_local_one(remote_folder, tmp_path):
    for folder in (remote_folder, str(tmp_path)):
        update_manifest(folder, (entry(name) for name in "bä"), iter(["x"]), {"train": {"writer": "test"}})
        update_manifest(folder, [entry("a", 7)], ["b"], {"other": {}})
    assert read_bytes(manifest_path(remote_folder)) == (tmp_path / "manifest.json").read_bytes()
    assert list_names(remote_folder) == ["manifest.json"]  # nothing else is left there


def test_folder_without_one_has_an_empty_manifest(remote_folder):
    assert read_manifest(remote_folder)["shards"] == []
    assert not is_there(manifest_path(remote_folder))
    change_manifest(remote_folder, lambda _: None)
    assert read_manifest(remote_folder)["shards"] == []
    assert is_there(manifest_path(remote_folder))


def test_what_is_no_manifest_is_said_so(remote_folder):
    write_bytes(manifest_path(remote_folder), b"{")
    with pytest.raises(DataLossError, match=r"manifest\.json; expected JSON but got"):
        read_manifest(remote_folder)


def add_many(folder: str, prefix: str, count: int) -> None:
    for number in range(count):
        update_manifest(folder, [entry(f"{prefix}-{number}")], [], {})


def check_many(folder: str, count: int) -> None:
    threads = [threading.Thread(target=add_many, args=(folder, prefix, count)) for prefix in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = [shard["name"] for shard in read_manifest(folder)["shards"]]
    assert names == [f"{prefix}-{number}" for prefix in "abcd" for number in range(count)]


def test_changes_at_the_same_time_are_all_kept(remote_folder):
    check_many(remote_folder, 8)


def test_changes_at_the_same_time_without_conditions(weak_folder):
    check_many(weak_folder, 2)
    assert not lease.Lease(f"{weak_folder}/.tfrkit/manifest.lock").is_held()


def test_change_is_made_again_on_what_came_meanwhile(unique_prefix):
    folder = f"memory://{unique_prefix}a"
    calls = []

    def change(content):
        calls.append([shard["name"] for shard in content["shards"]])
        if len(calls) == 1:
            update_manifest(folder, [entry("other")], [], {})
        content["shards"].append({"name": "mine", "records": 1, "bytes": 17, "compression": ""})

    change_manifest(folder, change)
    assert calls == [[], ["other"]]
    assert [shard["name"] for shard in read_manifest(folder)["shards"]] == ["mine", "other"]


def test_it_does_not_try_for_ever(unique_prefix, monkeypatch):
    folder = f"memory://{unique_prefix}a"
    monkeypatch.setattr(module, "_MAX_CHANGES", 3)
    numbers = iter(range(100))

    def change(content):
        update_manifest(folder, [entry(f"other-{next(numbers)}")], [], {})
        content["shards"] = []

    with pytest.raises(
        AbortedError, match=r"have changed it 3 times while this one tried to\. Try again later"
    ):
        change_manifest(folder, change)


def test_lock_is_a_lease(remote_folder, weak_folder):
    for folder in (remote_folder, weak_folder):
        with folder_lock(folder, "jobs.lock") as check:
            check()
            assert is_there(f"{folder}/.tfrkit/jobs.lock")
            assert not lease.Lease(f"{folder}/.tfrkit/jobs.lock").acquire(wait=False)
        assert not lease.Lease(f"{folder}/.tfrkit/jobs.lock").is_held()


def test_local_lock_is_a_file_that_stays(tmp_path: Path):
    with folder_lock(str(tmp_path), "jobs.lock") as check:
        check()
    assert (tmp_path / ".tfrkit" / "jobs.lock").read_bytes() == b""
