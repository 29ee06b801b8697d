"""Every finished file is on the disk before it has its name, and its name before the call returns.

These would fail if the syncs were removed, or came behind the renames.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.robustness.support.durability import Durability, watched
from tfrkit.build.export import export_folder
from tfrkit.stores import output

COLUMNS = {"label": list(range(200)), "text": ["word"] * 200}


def is_index(path: str) -> bool:
    """Indexes and zones are not synced: each has a checksum, and is made again."""
    return path.endswith((".idx", ".zones"))


def records(folder: Path, name: str = "in.tfrecord") -> Path:
    path = folder / name
    with tfr.TFRecordWriter(path) as writer:
        writer.write_batch(COLUMNS)
    return path


def pictures(folder: Path) -> Path:
    with tfr.TFRecordWriter(folder / "photos.tfrecord") as writer:
        for number in range(6):
            png = tfr.image.encode_png(np.full((2, 2, 3), number, np.uint8))
            writer.write_example({"image": png, "label": number % 2, "image/text": f"class {number % 2}"})
    return folder / "photos.tfrecord"


def write_atomically(folder: Path, compression: str) -> None:
    with tfr.TFRecordWriter(folder / "a.tfrecord", compression, atomic=True) as writer:
        writer.write_batch(COLUMNS)


def append_atomically(folder: Path) -> None:
    with tfr.TFRecordWriter(folder / "in.tfrecord", atomic=True, append=True) as writer:
        writer.write_batch(COLUMNS)


def write_shards(folder: Path, **options: object) -> None:
    with tfr.ShardWriter(folder / "out" / "train", **options) as writer:
        writer.write_batch(COLUMNS)


def build_table(folder: Path, **options: object) -> None:
    lines = "".join(json.dumps({"x": number}) + "\n" for number in range(500))
    (folder / "rows.jsonl").write_text(lines)
    tfr.build.table(folder / "rows.jsonl", folder / "out", shards=3, **options)


def build_images(folder: Path) -> None:
    tfr.build.export_images(pictures(folder), folder / "classes")
    tfr.build.images(folder / "classes", folder / "out", split="train=0.5,test=0.5", duplicates="keep")


def repair(folder: Path) -> None:
    path = folder / "in.tfrecord"
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    tfr.repair(path, folder / "out.tfrecord")


Scenario = tuple[Callable[[Path], object], set[str]]
THREE = {f"out/data-0000{number}-of-00003.tfrecord" for number in range(3)}
OVER = " overwrite"
SCENARIOS: dict[str, Scenario] = {
    "atomic": (lambda folder: write_atomically(folder, ""), {"a.tfrecord"}),
    "atomic gzip": (lambda folder: write_atomically(folder, "GZIP"), {"a.tfrecord"}),
    "atomic append": (append_atomically, {"in.tfrecord"}),
    "shards": (
        lambda folder: write_shards(folder, shards=2),
        {"out/train-00000-of-00002.tfrecord", "out/train-00001-of-00002.tfrecord", "out/manifest.json"},
    ),
    "shards by size": (
        lambda folder: write_shards(folder, shard_bytes=3000),
        {"out/manifest.json"},
    ),
    "build": (build_table, THREE | {"out/manifest.json", "out/report.json"}),
    "build mixed": (lambda folder: build_table(folder, shuffle=True), THREE | {"out/manifest.json"}),
    "build images": (
        build_images,
        {"out/train-00000-of-00001.tfrecord", "out/test-00000-of-00001.tfrecord", "out/labels.txt"},
    ),
    "reshard": (
        lambda folder: tfr.reshard(folder / "in.tfrecord", folder / "out" / "part", shards=2),
        {"out/part-00000-of-00002.tfrecord", "out/part-00001-of-00002.tfrecord"},
    ),
    "compress": (lambda folder: tfr.compress(folder / "in.tfrecord", folder / "out"), {"out/in.tfrecord.gz"}),
    "repair": (repair, {"out.tfrecord"}),
    **{
        f"export {form}": (
            lambda folder, form=form: tfr.build.export(folder / "in.tfrecord", folder / f"a.{form}"),
            {f"a.{form}"},
        )
        for form in ("parquet", "arrow", "jsonl", "csv")
    },
    "export folder": (
        lambda folder: tfr.build.export(
            [folder / "in.tfrecord", records(folder, "b.tfrecord")], folder / "out", "csv"
        ),
        {"out/in.csv", "out/b.csv"},
    ),
    "shards overwrite": (
        lambda folder: write_shards(folder, shards=1, overwrite=True),
        {"out/train-00000-of-00001.tfrecord", "out/manifest.json"},
    ),
    "build overwrite": (
        lambda folder: build_table(folder, overwrite=True, seed=5, shuffle=True),
        THREE | {"out/manifest.json"},
    ),
    "export images overwrite": (
        lambda folder: tfr.build.export_images(pictures(folder), folder / "out", overwrite=True),
        {"out"},
    ),
    "export images": (lambda folder: tfr.build.export_images(pictures(folder), folder / "out"), {"out"}),
}


def run(folder: Path, name: str) -> tuple[Durability, set[str]]:
    """Run a scenario; one that overwrites runs over what another has left."""
    action, expected = SCENARIOS[name]
    records(folder)
    with watched() as seen:
        if name.endswith(OVER):
            SCENARIOS[name.removesuffix(OVER)][0](folder)
            seen.forget()
        action(folder)
    return seen, {str(folder / path) for path in expected}


@pytest.mark.parametrize("name", SCENARIOS)
def test_contents_are_synced_before_a_file_has_its_name(tmp_path, name):
    seen, expected = run(tmp_path, name)
    assert expected <= set(seen.renamed)
    assert [path for path in seen.early if not is_index(path)] == []


@pytest.mark.parametrize("name", SCENARIOS)
def test_names_are_synced_before_the_call_returns(tmp_path, name):
    seen, expected = run(tmp_path, name)
    assert [path for path in seen.pending if os.path.lexists(path) and not is_index(path)] == []
    assert all(os.path.lexists(path) for path in expected)
    assert seen.promised == []


@pytest.mark.parametrize("name", SCENARIOS)
def test_removed_syncs_would_be_noticed(tmp_path, name, monkeypatch):
    monkeypatch.setattr(output.FileOutput, "sync", lambda _self, **_options: None)
    monkeypatch.setattr(export_folder, "_sync_all", lambda _folder: None)
    seen, expected = run(tmp_path, name)
    assert expected <= set(seen.renamed)
    assert expected & set(seen.early)


def test_removed_syncs_of_folders_would_be_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(output, "sync_folder", lambda _folder: None)
    seen, expected = run(tmp_path, "build")
    assert expected <= set(seen.pending)
    assert {os.path.basename(path) for path in seen.promised} >= {os.path.basename(path) for path in THREE}
