"""Exports from URL to URL: the same files as from folder to folder."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.build.support.image_samples import photos, picture
from tests.build.support.remote import local, stored, upload
from tests.support.servers.fault_proxy import Fault
from tfrkit import build
from tfrkit.build.export import export_folder, export_table
from tfrkit.build.export.export_paths import plan_targets
from tfrkit.build.job.input_stamp import InputChangedError
from tfrkit.errors import AlreadyExistsError, DataLossError, InvalidArgumentError
from tfrkit.stores.files import list_files, read_bytes, write_bytes

NAMES = ("a b.tfrecord", "ü%20.tfrecord.gz", "日本?.tfrecord")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for number, name in enumerate(NAMES):
        with tfr.TFRecordWriter(tmp_path / "in" / name) as writer:
            rows = range(number * 500, number * 500 + 500)
            writer.write_batch({"label": list(rows), "text": [f"é {row}" for row in rows]})
    return tmp_path / "in"


def inputs(base: object) -> list[str]:
    return [f"{base}/{name}" for name in NAMES]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "arrow"])
def test_table_is_the_same_from_url_to_url(suffix, folder, tmp_path, remote):
    upload(folder, f"{remote}/in")
    for name in (f"all.{suffix}", "each"):
        build.export(inputs(folder), tmp_path / "local" / name, suffix)
        report = build.export(inputs(f"{remote}/in"), f"{remote}/out/{name}", suffix)
        assert report.records == 1500
    assert stored(f"{remote}/out", hidden=True) == local(tmp_path / "local")
    assert set(stored(f"{remote}/out/each")) == {f"a b.{suffix}", f"ü%20.{suffix}", f"日本?.{suffix}"}


def test_url_goes_to_standard_output(folder, memory, monkeypatch):
    upload(folder, f"{memory}/in")
    output = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", output)
    build.export(f"{memory}/in/{NAMES[0]}", "-", "csv")
    assert output.buffer.getvalue().startswith("label,text\n0,é 0\n".encode())


def test_output_behind_a_url_is_not_replaced_unless_asked_for(folder, memory):
    upload(folder, f"{memory}/in")
    build.export(inputs(f"{memory}/in"), f"{memory}/out/a.csv")
    with pytest.raises(AlreadyExistsError, match=r"out/a\.csv; the file exists already"):
        build.export(inputs(f"{memory}/in")[:1], f"{memory}/out/a.csv")
    assert build.export(inputs(f"{memory}/in")[:1], f"{memory}/out/a.csv", overwrite=True).records == 500
    write_bytes(f"{memory}/in/x.csv", read_bytes(f"{memory}/in/{NAMES[0]}"))
    with pytest.raises(
        InvalidArgumentError,
        match=r"the output is an input\. Choose another one\.",
    ):
        build.export(f"{memory}/in/x.csv", f"{memory}/in/x.csv", overwrite=True)


def test_nothing_is_left_behind_a_url_when_a_file_fails(folder, memory):
    upload(folder, f"{memory}/in")
    data = bytearray(read_bytes(f"{memory}/in/{NAMES[2]}"))
    data[500] ^= 1
    write_bytes(f"{memory}/in/{NAMES[2]}", bytes(data))
    with pytest.raises(DataLossError):
        build.export(inputs(f"{memory}/in"), f"{memory}/out", "csv", workers=1)
    assert stored(f"{memory}/out", hidden=True) == {}


def test_files_that_are_whole_are_removed_when_another_fails(folder, memory, monkeypatch):
    upload(folder, f"{memory}/in")
    inspect = export_table.inspect

    def changed(*paths, **options):
        seen = inspect(*paths, **options)
        write_bytes(f"{memory}/in/{NAMES[2]}", read_bytes(f"{memory}/in/{NAMES[1]}"))
        return seen

    monkeypatch.setattr(export_table, "inspect", changed)
    with pytest.raises(InputChangedError, match=r"日本\?\.tfrecord: this input has changed"):
        build.export(inputs(f"{memory}/in"), f"{memory}/out", "csv", workers=1)
    assert stored(f"{memory}/out", hidden=True) == {}


def test_targets_of_urls_with_one_name_stay_in_the_folder():
    files = ["s3://b/x/a.tfrecord", "s3://b/y/a.tfrecord", "s3://b/y/../../../a.tfrecord"]
    assert [target.path for target in plan_targets(files, "s3://b/out", (".csv",))] == [
        "s3://b/out/x/a.csv",
        "s3://b/out/y/a.csv",
        "s3://b/out/y/a-2.csv",
    ]
    mixed = plan_targets(["s3://b/a.tfrecord", "https://h/a.tfrecord?sig=x"], "out", (".csv",))
    assert [target.path for target in mixed] == ["out/s3/b/a.csv", "out/https/h/a.csv"]


# -- images ------------------------------------------------------------------------------------------------------------


def write_images(path: Path, count: int = 60) -> Path:
    """Records with images of several classes; every third has a name that another has, too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tfr.TFRecordWriter(path) as writer:
        for number in range(count):
            name = b"same.jpg" if number % 3 == 0 else f"{number % 7} ü%?.jpg".encode()
            values = {"image/encoded": picture(number), "image/text": ["cat", "50%?", "日本"][number % 3]}
            writer.write_example({**values, "image/label": number % 3, "image/filename": name})
    return path


def test_images_are_the_same_from_url_to_url(tmp_path, remote):
    source = write_images(tmp_path / "in" / "a.tfrecord")
    upload(tmp_path / "in", f"{remote}/in")
    expected = build.export_images(source, tmp_path / "local")
    report = build.export_images(f"{remote}/in/a.tfrecord", f"{remote}/out")
    assert stored(f"{remote}/out") == local(tmp_path / "local")
    assert (report.images, report.classes, report.dropped) == (60, expected.classes, expected.dropped)
    mark = json.loads(read_bytes(f"{remote}/out/.tfrkit/export.json"))
    assert mark == {"format": "images", "images": 60, "complete": True}
    again = build.images(f"{remote}/out", tmp_path / "again")
    assert again.records == 60


def test_images_go_through_a_bad_connection(tmp_path, bucket, bad_connection):
    source = write_images(tmp_path / "in" / "a.tfrecord")
    upload(tmp_path / "in", f"{bucket}/in")
    build.export_images(source, tmp_path / "local")
    with bad_connection(Fault("cut", every=10), Fault("error", every=20)):
        build.export_images(f"{bucket}/in/a.tfrecord", f"{bucket}/out")
    assert stored(f"{bucket}/out") == local(tmp_path / "local")


HOSTILE = [
    b"../../a.jpg",
    b"/etc/a.jpg",
    b"%2e%2e/%2e%2e/a.jpg",
    b"..\\..\\a.jpg",
    b"\xff\xfe.jpg",
    b"..",
    b"a\nb.jpg",
]


def test_names_in_records_do_not_lead_out_of_the_folder_behind_a_url(tmp_path, remote):
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        for number, name in enumerate(HOSTILE):
            writer.write_example(
                {
                    "image/encoded": picture(number),
                    "image/text": name,
                    "image/filename": name,
                    "image/label": number,
                }
            )
    report = build.export_images(tmp_path / "a.tfrecord", f"{remote}/x/out")
    found = stored(f"{remote}/x/out", hidden=True)
    assert len(found) == len(HOSTILE) + 1  # and the mark
    assert {info.path for info in list_files(remote, recursive=True)} == {
        f"{remote}/x/out/{name}" for name in found
    }
    assert not any(part in ("", ".", "..") for name in found for part in name.split("/"))
    assert report.images == len(HOSTILE)
    assert len(report.classes) == len(HOSTILE)


def test_folder_behind_a_url_that_has_something_is_not_touched(tmp_path, memory):
    source = write_images(tmp_path / "a.tfrecord", 6)
    write_bytes(f"{memory}/out/mine.txt", b"x")
    for overwrite, advice in ((False, "Remove it, or choose"), (True, "so it is never replaced: remove it")):
        with pytest.raises(AlreadyExistsError, match=f"it exists already.*{advice}"):
            build.export_images(source, f"{memory}/out", overwrite=overwrite)
    assert stored(memory) == {"out/mine.txt": b"x"}


def test_export_behind_a_url_is_replaced_if_asked_for(tmp_path, memory):
    build.export_images(write_images(tmp_path / "a.tfrecord", 30), f"{memory}/out")
    source = write_images(tmp_path / "b.tfrecord", 6)
    with pytest.raises(AlreadyExistsError):
        build.export_images(source, f"{memory}/out")
    build.export_images(source, f"{memory}/out", overwrite=True)
    build.export_images(source, tmp_path / "local")
    assert stored(f"{memory}/out") == local(tmp_path / "local")


def test_failure_leaves_nothing_and_before_the_first_image_what_was_there(tmp_path, memory, monkeypatch):
    source = write_images(tmp_path / "a.tfrecord", 30)
    build.export_images(source, f"{memory}/out")
    before = stored(memory, hidden=True)
    with pytest.raises(InvalidArgumentError):
        build.export_images(source, f"{memory}/out", image="no such feature", overwrite=True)
    assert stored(memory, hidden=True) == before
    put = export_folder.files.write_bytes

    def failing(path, data, **options):
        if path.endswith("-5.jpg"):
            raise DataLossError("no")
        return put(path, data, **options)

    monkeypatch.setattr(export_folder.files, "write_bytes", failing)
    with pytest.raises(DataLossError, match="no"):
        build.export_images(source, f"{memory}/new")
    assert stored(f"{memory}/new", hidden=True) == {}


def test_what_a_killed_export_left_can_be_replaced(tmp_path, memory, monkeypatch):
    source = write_images(tmp_path / "a.tfrecord", 30)
    monkeypatch.setattr(export_folder.StoreFolder, "__exit__", lambda *_: None)
    monkeypatch.setattr(export_folder.StoreFolder, "publish", lambda *_: 1 / 0)
    with contextlib.suppress(ZeroDivisionError):
        build.export_images(source, f"{memory}/out")
    monkeypatch.undo()
    assert json.loads(read_bytes(f"{memory}/out/.tfrkit/export.json"))["complete"] is False
    build.export_images(source, f"{memory}/out", overwrite=True)
    build.export_images(source, tmp_path / "local")
    assert stored(f"{memory}/out") == local(tmp_path / "local")


def test_label_map_beside_a_url_gives_the_names(tmp_path, memory):
    with tfr.TFRecordWriter(f"{memory}/in/a.tfrecord") as writer:
        for number, data in enumerate(photos({"x": 2}).values()):
            writer.write_example({"image/encoded": data, "image/label": number})
    write_bytes(f"{memory}/in/labels.txt", b"cat\ndog\n")
    assert build.export_images(f"{memory}/in/a.tfrecord", f"{memory}/out").classes == {"cat": 1, "dog": 1}
