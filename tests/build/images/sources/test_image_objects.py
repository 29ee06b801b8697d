"""Images behind URLs: folders, archives and lists give the bytes that local ones give."""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.build.support.image_samples import photos, picture, write_files
from tests.build.support.remote import local, stored, upload
from tests.support.servers.fault_proxy import Fault
from tfrkit.build.images.sources import image_objects
from tfrkit.build.job.input_stamp import InputChangedError
from tfrkit.errors import InvalidArgumentError, NotFoundError
from tfrkit.stores.files import remove, write_bytes
from tfrkit.stores.object_config import configure_store

CLASSES = {"cat": 20, "größe 1": 5, "50%?": 5, "日本/klein": 3}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Photos, and what else lies among them; the name of a source is in its manifest."""
    files = {
        **photos(CLASSES),
        "cat/same.jpg": photos({"cat": 1})["cat/0.jpg"],
        "cat/empty.jpg": b"",
        "cat/broken.jpg": b"\xff\xd8 no image",
        "cat/notes.txt": b"not an image, and not called like one",
        "cat/.hidden.jpg": b"x",
        ".git/a/config": b"x",
        ".git/b": b"x",
        "labels.txt": b"cat\n",
    }
    return write_files(tmp_path / "in" / "photos", files)


def report_of(folder: Path) -> dict[str, object]:
    report = json.loads((folder / "report.json").read_text())
    return {name: value for name, value in report.items() if name in ("bad", "counts", "noted", "records")}


@pytest.mark.parametrize("options", [{}, {"shuffle": False, "duplicates": "skip"}], ids=["usual", "in order"])
def test_folder_in_a_bucket_gives_the_same_shards_as_a_local_one(options, folder, tmp_path, remote):
    tfr.build.images(folder, tmp_path / "local", shards=3, **options)
    report = tfr.build.images(upload(folder, f"{remote}/photos"), tmp_path / "out", shards=3, **options)
    assert report.records >= 33
    made, expected = local(tmp_path / "out"), local(tmp_path / "local")
    assert made == expected
    assert report_of(tmp_path / "out") == report_of(tmp_path / "local")


def test_photos_go_from_bucket_to_bucket(folder, tmp_path, bucket):
    tfr.build.images(folder, tmp_path / "local", shards=3)
    tfr.build.images(upload(folder, f"{bucket}/photos"), f"{bucket}/out", shards=3)
    assert stored(f"{bucket}/out") == local(tmp_path / "local")


def test_photos_come_through_a_bad_connection(folder, tmp_path, bucket, bad_connection):
    tfr.build.images(folder, tmp_path / "local", shards=3)
    upload(folder, f"{bucket}/photos")
    with bad_connection(Fault("cut", every=10), Fault("error", every=20)):
        tfr.build.images(f"{bucket}/photos", tmp_path / "out", shards=3)
    assert local(tmp_path / "out") == local(tmp_path / "local")


def archive(folder: Path, path: Path, kind: str) -> Path:
    files = sorted(found for found in folder.rglob("*") if found.is_file())
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            for found in files:
                made.write(found, found.relative_to(folder))
    else:
        with tarfile.open(path, "w:gz" if kind == "tar.gz" else "w") as made:
            for found in files:
                made.add(found, str(found.relative_to(folder)))
    return path


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
@pytest.mark.parametrize("shuffle", [True, False], ids=["shuffled", "in order"])
def test_archive_in_a_bucket_gives_the_same_shards_as_a_local_one(kind, shuffle, folder, tmp_path, remote):
    path = archive(folder, tmp_path / f"photos.{kind}", kind)
    write_bytes(f"{remote}/photos.{kind}", path.read_bytes())
    tfr.build.images(path, tmp_path / "local", shards=3, shuffle=shuffle)
    tfr.build.images(f"{remote}/photos.{kind}", tmp_path / "out", shards=3, shuffle=shuffle)
    assert local(tmp_path / "out") == local(tmp_path / "local")


def test_list_in_a_bucket_gives_the_same_shards_as_a_local_one(folder, tmp_path, remote):
    lines = [f"{name}\t{name.split('/')[0]}\n" for name in photos(CLASSES)]
    (folder / "list.tsv").write_text("path\tlabel\n" + "".join(lines))
    tfr.build.images(folder / "list.tsv", tmp_path / "local", shards=2)
    tfr.build.images(f"{upload(folder, remote)}/list.tsv", tmp_path / "out", shards=2)
    assert local(tmp_path / "out") == local(tmp_path / "local")


def test_rows_of_a_list_in_a_bucket_without_a_file_are_bad(folder, tmp_path, memory):
    (folder / "list.csv").write_text("gone.jpg,cat\ncat/empty.jpg,cat\ncat,cat\ncat/0.jpg,cat\n")
    report = tfr.build.images(f"{upload(folder, memory)}/list.csv", tmp_path / "out")
    assert [(bad.source, bad.line, bad.reason, bad.detail) for bad in report.listed] == [
        (f"{memory}/list.csv", 1, "unreadable file", "gone.jpg: No such file or directory"),
        (f"{memory}/list.csv", 2, "empty file", "cat/empty.jpg"),
        (f"{memory}/list.csv", 3, "unreadable file", "cat: not a regular file"),
    ]


def test_local_list_may_name_urls_and_their_queries_are_not_kept(tmp_path, http_server):
    http_server.files["a b.jpg"] = picture(1)
    (tmp_path / "b.jpg").write_bytes(picture(2))
    (tmp_path / "list.csv").write_text(f"{http_server.url}/a%20b.jpg?sig=secret,cat\nb.jpg,dog\n")
    tfr.build.images(tmp_path / "list.csv", tmp_path / "out", shards=1, shuffle=False)
    found = [tfr.to_dict(record) for record in tfr.read_records(tmp_path / "out" / "train-*")]
    assert [one["image/encoded"][0] for one in found] == [picture(1), picture(2)]
    assert found[0]["image/filename"] == [f"{http_server.url}/a%20b.jpg?***".encode()]
    assert not any(b"secret" in data for data in local(tmp_path / "out").values())


@pytest.mark.parametrize("name", ["../a.jpg", "cat/../../a.jpg", "/etc/passwd", "file:///etc/passwd"])
def test_list_in_a_bucket_does_not_lead_out_of_its_folder(name, memory, tmp_path):
    write_bytes(f"{memory}/a.jpg", picture(0))
    write_bytes(f"{memory}/lists/b.jpg", picture(1))
    write_bytes(f"{memory}/lists/list.csv", f"{name},cat\nb.jpg,cat\n".encode())
    report = tfr.build.images(f"{memory}/lists/list.csv", tmp_path / "out")
    assert report.records == 1
    assert [bad.detail for bad in report.listed] == [f"{name}: it leads out of the list's folder"]


def test_list_may_name_urls_and_absolute_local_paths(memory, tmp_path):
    write_bytes(f"{memory}/a.jpg", picture(0))
    write_files(tmp_path / "elsewhere", {"b.jpg": picture(1)})
    write_files(
        tmp_path / "lists", {"l.csv": f"{memory}/a.jpg,cat\n{tmp_path}/elsewhere/b.jpg,dog\n".encode()}
    )
    report = tfr.build.images(tmp_path / "lists" / "l.csv", tmp_path / "out")
    assert (report.records, report.bad) == (2, {})


def test_photo_that_is_replaced_after_the_listing_is_an_error(remote, tmp_path, monkeypatch):
    upload(write_files(tmp_path / "in", photos({"cat": 3})), f"{remote}/p")
    fetch = image_objects._fetch

    def replaced(key, begin, size):
        write_bytes(f"{remote}/p/cat/1.jpg", picture(9))
        return fetch(key, begin, size)

    monkeypatch.setattr(image_objects, "_fetch", replaced)
    with pytest.raises(InputChangedError, match=r"p/cat/1\.jpg: this input has changed since the job began"):
        tfr.build.images(f"{remote}/p", tmp_path / "out", duplicates="keep")
    monkeypatch.setattr(
        image_objects, "_fetch", lambda *key: (remove(f"{remote}/p/cat/1.jpg"), fetch(*key))[1]
    )
    with pytest.raises(InputChangedError, match=r"p/cat/1\.jpg: .* but the file is gone"):
        tfr.build.images(f"{remote}/p", tmp_path / "out", duplicates="keep")
    assert not list(tmp_path.glob("out/*.tfrecord"))


def test_photos_take_a_request_each(http_server, tmp_path):
    rows = []
    for number in range(40):
        http_server.files[f"{number}.jpg"] = picture(number)
        rows.append(f"{http_server.url}/{number}.jpg,cat")
    (tmp_path / "list.csv").write_text("\n".join(rows))
    tfr.build.images(tmp_path / "list.csv", tmp_path / "out", shards=2, duplicates="keep")
    assert len(http_server.requests) == 2 * 40  # what is there, and what is in it


def test_server_without_ranges_gives_streams_alone(folder, tmp_path, http_server):
    http_server.manners.ranges = False
    for kind in ("zip", "tar", "tar.gz"):
        path = archive(folder, tmp_path / f"photos.{kind}", kind)
        http_server.files[path.name] = path.read_bytes()
    for kind in ("zip", "tar"):
        with pytest.raises(
            InvalidArgumentError, match=r"its server does not serve ranges\. Download it first"
        ):
            tfr.build.images(f"{http_server.url}/photos.{kind}", tmp_path / "out")
    tfr.build.images(tmp_path / "photos.tar.gz", tmp_path / "local", shards=3)
    tfr.build.images(f"{http_server.url}/photos.tar.gz", tmp_path / "out", shards=3)
    assert local(tmp_path / "out") == local(tmp_path / "local")


def test_what_is_not_behind_a_url_is_an_error(memory, tmp_path):
    with pytest.raises(NotFoundError, match="nothing"):
        tfr.build.images(f"{memory}/nothing", tmp_path / "out")
    write_bytes(f"{memory}/photos/cat/1.jpg", picture(0))
    with pytest.raises(InvalidArgumentError, match="outside of the source"):
        tfr.build.images(f"{memory}/photos", f"{memory}/photos/out")


def test_label_map_behind_a_url(memory, tmp_path):
    upload(write_files(tmp_path / "in", photos({"cat": 1, "dog": 1})), f"{memory}/p")
    write_bytes(f"{memory}/map.txt", b"dog\ncat\n")
    tfr.build.images(f"{memory}/p", tmp_path / "out", label_map=f"{memory}/map.txt")
    assert (tmp_path / "out" / "labels.txt").read_text() == "dog\ncat\n"


def test_photos_come_from_azure(folder, tmp_path, azure_server, azure_container, unique_prefix):
    options = azure_server.options()
    options.pop("client_options", None)
    configure_store(f"az://{azure_container}", **options)
    url = upload(folder, f"az://{azure_container}/{unique_prefix}photos")
    tfr.build.images(folder, tmp_path / "local", shards=3)
    tfr.build.images(url, tmp_path / "out", shards=3)
    assert local(tmp_path / "out") == local(tmp_path / "local")


def test_photos_come_from_google(folder, tmp_path, google_server):
    bucket = google_server.bucket()
    for path in folder.rglob("*"):
        if path.is_file():
            google_server.put(bucket, f"photos/{path.relative_to(folder)}", path.read_bytes())
    options = google_server.options(anonymous=True)
    options.pop("client_options", None)
    configure_store(f"gs://{bucket}", **options)
    tfr.build.images(folder, tmp_path / "local", shards=3)
    tfr.build.images(f"gs://{bucket}/photos", tmp_path / "out", shards=3)
    assert local(tmp_path / "out") == local(tmp_path / "local")
