"""Exports by engines: the same files as with threads, and nothing half-published."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.support import ray as ray_support
from tests.support import spark as spark_support
from tfrkit.build.job.progress import Progress
from tfrkit.errors import InvalidArgumentError
from tfrkit.stores import files

ENGINES = [
    "processes",
    pytest.param("ray", marks=ray_support.cluster),
    pytest.param("spark", marks=spark_support.cluster),
]


@pytest.fixture
def shards(tmp_path) -> Path:
    with tfr.ShardWriter(tmp_path / "in" / "a", shards=3) as writer:
        writer.write_batch({"n": np.arange(900), "name": [f"row {number}" for number in range(900)]})
    return tmp_path / "in"


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_files_report_and_progress_are_those_of_threads(engine, form, shards, tmp_path, request):
    if engine != "processes":
        request.getfixturevalue(engine)

    def run(name: str, engine: str) -> tuple[dict, Progress]:
        seen: list[Progress] = []
        report = tfr.build.export(
            shards / "*.tfrecord", tmp_path / name, form, engine=engine, progress=seen.append
        ).to_dict()
        files = [(Path(file["path"]).name, file["records"], file["bytes"]) for file in report["files"]]
        return {**report, "files": files, "seconds": 0}, seen[-1]

    wanted, last = run("threads", "threads")
    found, end = run("other", engine)
    assert found == wanted
    assert tree(tmp_path / "other") == tree(tmp_path / "threads")
    assert [path.name for path in (tmp_path / "other").iterdir() if path.name.startswith(".")] == []
    assert (end.records, end.shards_done, end.done_bytes) == (last.records, last.shards_done, last.done_bytes)


def test_an_error_in_a_task_leaves_nothing(shards, tmp_path):
    (shards / "b.tfrecord").write_bytes((shards / "a-00000-of-00003.tfrecord").read_bytes()[:-5])
    with pytest.raises(tfr.errors.DataLossError):
        tfr.build.export(shards / "*.tfrecord", tmp_path / "out", "csv", engine="processes")
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").rglob("*")) == []


def test_what_fails_while_it_is_written_is_told_with_its_place_and_leaves_nothing(
    shards, tmp_path, monkeypatch
):
    from tfrkit.build.export import export_table

    def gone(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export_table.files, "move", gone)
    with pytest.raises(OSError, match="No space left"):
        tfr.build.export(shards / "*.tfrecord", tmp_path / "out", "jsonl", engine="processes")
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == []


def test_standard_output_is_of_threads_only(shards):
    with pytest.raises(InvalidArgumentError, match="expected the engine 'threads'"):
        tfr.build.export(shards / "*.tfrecord", "-", "csv", engine="processes")


# -- images ------------------------------------------------------------------------------------------------------------

SIDES = {"image/height": 2, "image/width": 3}


def picture(number: int) -> bytes:
    return tfr.image.encode_png(np.full((2, 2, 3), number, np.uint8))


@pytest.fixture
def pictures(tmp_path) -> Path:
    """Three shards whose images want the same names and classes, and some none; pixels, and what is no image."""
    for shard in range(3):
        with tfr.TFRecordWriter(tmp_path / f"p-{shard}.tfrecord.gz") as writer:
            for number in range(20):
                record = {"image/encoded": picture(10 * shard + number), "image/label": number % 2}
                record |= {"image/text": ["a/b", "a_b"][number % 2], "image/filename": f"x/{number % 7}.png"}
                writer.write_example(record)
            writer.write_example({"image/encoded": bytes(range(18)), **SIDES, "image/colorspace": "BGR"})
            writer.write_example({"image/encoded": [b"no image", picture(shard)], "image/text": "labels.txt"})
            writer.write_example({"image/text": "a/b", "petals": shard})
            writer.write_example({"image/encoded": picture(1), "image/label": 1, "image/filename": ".."})
    return tmp_path


def images_of(source: Path, out: str, engine: str) -> tuple[dict, Progress]:
    seen: list[Progress] = []
    report = tfr.build.export_images(
        source / "p-*.tfrecord.gz", out, engine=engine, threads=2, progress=seen.append
    ).to_dict()
    return {**report, "folder": "", "seconds": 0}, seen[-1]


@pytest.mark.parametrize("engine", ENGINES)
def test_images_report_and_progress_are_those_of_threads(engine, pictures, tmp_path, request):
    if engine != "processes":
        request.getfixturevalue(engine)
    wanted, last = images_of(pictures, str(tmp_path / "threads"), "threads")
    found, end = images_of(pictures, str(tmp_path / "other"), engine)
    assert found == wanted
    assert (wanted["images"], wanted["records"], len(wanted["dropped"])) == (72, 72, 8)
    assert tree(tmp_path / "other") == tree(tmp_path / "threads")
    assert "a_b-2/1-4.png" in tree(tmp_path / "other")
    assert (end.records, end.shards_done) == (last.records, last.shards_done)
    assert end.done_bytes == pytest.approx(last.done_bytes)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_images_in_a_store_are_those_of_a_folder(pictures, s3_folder, tmp_path):
    images_of(pictures, str(tmp_path / "threads"), "threads")
    images_of(pictures, s3_folder, "processes")
    found = {
        info.path.removeprefix(s3_folder + "/"): files.read_bytes(info.path)
        for info in files.list_files(s3_folder, recursive=True)
    }
    wanted = tree(tmp_path / "threads")
    mark = json.loads(wanted.pop(".tfrkit/export.json"))
    assert json.loads(found.pop(".tfrkit/export.json")) == {**mark, "complete": True}
    assert found == wanted


def test_killed_workers_change_no_image(pictures, tmp_path):
    images_of(pictures, str(tmp_path / "threads"), "threads")
    killed = []

    def kill(now: Progress) -> None:
        children = multiprocessing.active_children()
        if now.stage == "write" and children and len(killed) < 3:
            killed.append(children[0].pid)
            os.kill(children[0].pid or 0, signal.SIGKILL)

    tfr.build.export_images(
        pictures / "p-*.tfrecord.gz", tmp_path / "other", engine="processes", threads=1, progress=kill
    )
    assert len(killed) == 3
    assert tree(tmp_path / "other") == tree(tmp_path / "threads")


@pytest.mark.parametrize("place", ["folder", "store"])
def test_images_that_change_meanwhile_leave_nothing(place, pictures, tmp_path, request):
    out = str(tmp_path / "out") if place == "folder" else request.getfixturevalue("s3_folder")
    changed = []

    def change(now: Progress) -> None:
        if now.stage == "write" and not changed:
            changed.append(now)
            with tfr.TFRecordWriter(pictures / "p-1.tfrecord.gz") as writer:
                writer.write_example({"image/encoded": picture(1)})

    with pytest.raises(tfr.errors.DataLossError, match=r"p-1\.tfrecord\.gz: this input has changed since"):
        tfr.build.export_images(
            pictures / "p-*.tfrecord.gz", out, engine="processes", threads=1, progress=change
        )
    assert changed
    assert not files.is_there(out) or list(files.list_files(out, recursive=True)) == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
