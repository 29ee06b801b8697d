"""There and back: exported records are built into the same records again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import tfrkit
from tests.build.support.export_samples import EXAMPLES, any_examples, sequences, write
from tfrkit.build.export.export_images import export_images
from tfrkit.build.export.export_table import export
from tfrkit.build.images.build_images import images
from tfrkit.build.tables.table import table
from tfrkit.cli.main import run

FORMATS = ["parquet", "arrow", "jsonl"]


def built(folder) -> list[bytes]:
    return list(tfrkit.read_records(f"{folder}/*.tfrecord"))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("records", [EXAMPLES, sequences()], ids=["Example", "SequenceExample"])
def test_records_are_built_again_byte_by_byte(tmp_path, form, records):
    source = write(tmp_path / "a.tfrecord", records)
    export(source, tmp_path / f"a.{form}")
    report = table(tmp_path / f"a.{form}", tmp_path / "out")
    assert (report.records, report.bad) == (4, {})
    assert built(tmp_path / "out") == list(tfrkit.read_records(source))


@settings(max_examples=12)
@given(any_examples())
def test_any_examples_are_built_again(tmp_path_factory, messages):
    folder = tmp_path_factory.mktemp("any")
    source = write(folder / "a.tfrecord", messages)
    for form in FORMATS:
        export(source, folder / f"a.{form}")
        table(folder / f"a.{form}", folder / form)
        parsed = [tfrkit.Example.FromString(record) for record in built(folder / form)]
        again = [message.SerializeToString(deterministic=True) for message in parsed]
        assert again == messages


def test_exports_of_several_shards_are_built_together(tmp_path):
    for number in range(2):
        write(tmp_path / f"{number}.tfrecord", {"x": np.ones((1, 2 * number), np.int64), str(number): ["a"]})
    export(f"{tmp_path}/*.tfrecord", tmp_path / "lines", "jsonl")
    table(tmp_path / "lines", tmp_path / "out", shards=1)
    assert built(tmp_path / "out") == list(tfrkit.read_records(f"{tmp_path}/?.tfrecord"))


def test_the_commands_go_there_and_back(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    source = write(tmp_path / "a.tfrecord", EXAMPLES)
    assert run(["export", "parquet", "a.tfrecord", "tables"]) == 0
    assert run(["build", "table", "tables", "out", "--quiet"]) == 0
    assert built("out") == list(tfrkit.read_records(source))
    assert "dropped" not in capsys.readouterr().err


def test_images_are_built_again(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("猫/1.png", "dog/a b.png", "dog/1.png"):
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(tfrkit.image.encode_png(rng.integers(0, 255, (4, 5, 3), np.uint8)))
    images(tmp_path / "photos", tmp_path / "first")
    report = export_images(f"{tmp_path}/first/*.tfrecord", tmp_path / "again")
    assert (report.images, report.classes) == (3, {"dog": 2, "猫": 1})
    images(tmp_path / "again", tmp_path / "second", label_map=tmp_path / "again" / "labels.txt")
    assert sorted(built(tmp_path / "second")) == sorted(built(tmp_path / "first"))
