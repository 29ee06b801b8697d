"""Samples of remote files: spread by an index, or the first records, and little more is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.records.support.made import contain, frame
from tests.records.support.remote import RemotePlace, memory_place
from tfrkit.records.access.count import count_records
from tfrkit.stores.files import read_bytes

RECORDS = [tfr.make_example({"n": i, "x": b"x" * 10_000}).SerializeToString() for i in range(600)]


@pytest.fixture
def remote(unique_prefix: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[RemotePlace]:
    yield from memory_place(monkeypatch, unique_prefix)


def local_and_remote(remote: RemotePlace, folder: Path, **options: bool) -> tuple[list[str], list[str]]:
    paths, urls = [], []
    for name in ("a", "b"):
        path = str(folder / f"{name}.tfrecord")
        with tfr.TFRecordWriter(path, **options) as writer:
            writer.write_many(RECORDS)
        paths.append(path)
        urls.append(remote.put(f"{name}.tfrecord", read_bytes(path)))
        if options.get("index"):
            remote.put(f".tfrkit/{name}.tfrecord.idx", read_bytes(f"{folder}/.tfrkit/{name}.tfrecord.idx"))
    return paths, urls


@pytest.mark.parametrize("index", [False, True])
def test_a_sample_of_remote_files_is_that_of_local_ones(remote, tmp_path, index):
    paths, urls = local_and_remote(remote, tmp_path, index=index)
    local, far = tfr.inspect(paths, sample=50), tfr.inspect(urls, sample=50)
    assert far.files == tuple(urls)
    assert far.records == local.records == 50
    numbers = [schema.features["n"].kinds["int64"].range for schema in (far, local)]
    assert numbers[0] == numbers[1] == ((0, 576) if index else (0, 24))


def test_of_a_large_file_little_is_fetched(remote, tmp_path):
    _, urls = local_and_remote(remote, tmp_path)
    remote.requests()
    assert tfr.inspect(urls, sample=4).records == 4
    assert remote.requests() < 20
    assert remote.bytes() < 5_000_000


@pytest.mark.parametrize("kind", ["", "GZIP", "MEMBERS"])
def test_records_of_a_remote_file_are_counted_in_order(remote, kind):
    url = remote.put("a", contain(frame(b"x" * 70_000) * 300, kind))
    remote.requests()
    assert count_records(url) == 300
    assert remote.requests() < 12


def test_an_index_says_how_many_records_a_remote_file_has(remote, tmp_path):
    _, urls = local_and_remote(remote, tmp_path, index=True)
    remote.requests()
    assert count_records(urls[0]) == 600
    assert remote.bytes() < 200_000


def test_a_manifest_says_how_many_records_remote_files_have(remote, tmp_path):
    with tfr.ShardWriter(tmp_path / "train", shards=3) as writer:
        writer.write_many(RECORDS)
    for path in tmp_path.iterdir():
        if path.is_file():
            remote.put(path.name, path.read_bytes())
    files = tfr.RecordFiles(f"{remote.url}/train-*")
    remote.requests()
    assert len(files) == 600
    assert remote.requests() <= 2
    assert count_records(files.paths[0]) == 200
