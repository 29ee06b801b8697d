"""Builds from and into a store that only fsspec knows: no versions but times, and nothing that is renamed or locked."""

from __future__ import annotations

from pathlib import Path

import pytest

import tfrkit as tfr
from tests.build.support.frame_files import RECORDS, put_records
from tests.build.support.image_samples import photos, write_files
from tests.build.support.remote import local, stored, upload
from tests.support.servers.ftp import FtpServer


@pytest.fixture
def place(ftp_server: FtpServer, unique_prefix: str) -> str:
    (ftp_server.folder / unique_prefix).mkdir()
    return f"{ftp_server.url}/{unique_prefix}".rstrip("/")


def test_photos_and_back(place: str, ftp_server: FtpServer, unique_prefix: str, tmp_path: Path):
    folder = write_files(ftp_server.folder / unique_prefix / "photos", photos({"cat": 5, "größe 1": 3}))
    write_files(tmp_path / "photos", photos({"cat": 5, "größe 1": 3}))
    tfr.build.images(tmp_path / "photos", tmp_path / "local", shards=2)
    tfr.build.images(f"{place}/photos", f"{place}/out", shards=2)
    assert stored(f"{place}/out") == local(tmp_path / "local")
    tfr.build.export_images(f"{place}/out/train-*", f"{place}/back")
    made = local(folder.parent / "back")
    assert {name: data for name, data in made.items() if name != "labels.txt"} == local(folder)


def test_table_and_back(place: str, ftp_server: FtpServer, unique_prefix: str, tmp_path: Path):
    files = {"dt=1/a.csv": b"a,b\n1,x\n2,y\n", "dt=2/a.csv": b"a,b\n3,z\n"}
    write_files(ftp_server.folder / unique_prefix / "t", files)
    write_files(tmp_path / "t", files)
    tfr.build.table(tmp_path / "t", tmp_path / "local")
    tfr.build.table(f"{place}/t", f"{place}/out")
    assert stored(f"{place}/out") == local(tmp_path / "local")
    tfr.build.export(f"{place}/out/data-*", f"{place}/back/a.csv", columns=["a", "b", "dt"])
    assert stored(f"{place}/back") == {"a.csv": b"a,b,dt\n1,x,1\n2,y,1\n3,z,2\n"}


def test_frames(place: str, tmp_path: Path):
    put_records(tmp_path / "in" / "a.tfrecord", RECORDS)
    (tmp_path / "out").mkdir()
    upload(tmp_path / "in", place)
    tfr.reshard(tmp_path / "in" / "a.tfrecord", tmp_path / "out" / "all", shards=3)
    tfr.reshard(f"{place}/a.tfrecord", f"{place}/out/all", shards=3)
    assert stored(f"{place}/out") == local(tmp_path / "out")
