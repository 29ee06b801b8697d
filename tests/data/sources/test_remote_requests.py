"""How often remote files are opened, and how many requests that makes, where the length of a dataset is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.records.support.made import frames
from tests.records.support.remote import RemotePlace, memory_place, s3_place
from tfrkit.errors import PermissionDeniedError
from tfrkit.stores import files

NAMES = "bcdef"


@pytest.fixture(params=["memory", "s3"])
def remote(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, unique_prefix: str
) -> Iterator[RemotePlace]:
    """A folder in memory, and one on an S3 server."""
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "cache"))
    if request.param == "memory":
        yield from memory_place(monkeypatch, unique_prefix)
    else:
        server, bucket = request.getfixturevalue("s3_server"), request.getfixturevalue("s3_bucket")
        proxy = request.getfixturevalue("fault_proxy")(server.port)
        yield from s3_place(server, proxy, bucket, unique_prefix)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The URLs that were opened, in order."""
    urls: list[str] = []
    open_url = files._open_url

    def noted(url: str, cache: bool | None) -> object:
        urls.append(url)
        return open_url(url, cache)

    monkeypatch.setattr(files, "_open_url", noted)
    return urls


def put_files(remote: RemotePlace) -> list[str]:
    return [remote.put(f"{name}.tfrecord", frames([b"a", name.encode()])) for name in NAMES]


def test_a_list_opens_files_once_for_their_indexes_and_once_to_iterate(remote, opened):
    urls = put_files(remote)
    ds = tfr.TFRecordDataset(urls)
    remote.requests()
    assert list(ds) == [record for name in NAMES for record in (b"a", name.encode())]
    assert sorted(opened) == sorted([f"{remote.url}/manifest.json", *urls, *urls])
    if remote.url.startswith("s3:"):
        assert remote.requests() == 2 + 3 * len(
            urls
        )  # manifest and listing; opened twice, and the index kept


def test_a_second_list_only_iterates(remote, opened):
    urls = put_files(remote)
    ds = tfr.TFRecordDataset(urls)
    list(ds)
    opened.clear()
    list(ds)
    assert sorted(opened) == urls


def test_indexes_that_are_kept_are_opened_once(remote, opened):
    urls = put_files(remote)
    list(tfr.TFRecordDataset(urls))
    opened.clear()
    assert len(tfr.TFRecordDataset(urls)) == 2 * len(urls)
    assert len(opened) == 1 + 2 * len(urls)


def test_text_indexes_beside_files_are_found_in_the_listing(remote, opened):
    urls = put_files(remote)
    remote.put("c.index", b"0 17\n17 17\n")
    assert len(tfr.TFRecordDataset(urls)) == 2 * len(urls)
    assert sorted(opened) == sorted([f"{remote.url}/manifest.json", *urls, f"{remote.url}/c.index"])


def test_where_a_folder_cannot_be_listed_each_name_is_asked_for(remote, opened, monkeypatch):
    def refuse(folder: str) -> list[str]:
        raise PermissionDeniedError(f"{folder}; no listing", path=folder)

    monkeypatch.setattr("tfrkit.records.access.find_index.list_names", refuse)
    urls = put_files(remote)
    assert len(tfr.TFRecordDataset(urls)) == 2 * len(urls)
    assert len(opened) == 1 + 6 * len(urls)
