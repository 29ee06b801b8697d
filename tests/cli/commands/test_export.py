"""`tfr export`: what goes to which stream, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import tfrkit
from tests.build.support.export_samples import EXAMPLES, records_of, write
from tfrkit.build.export import export_folder, export_progress
from tfrkit.cli.main import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, with a file of records."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.tfrecord", EXAMPLES)
    return tmp_path


@pytest.mark.parametrize("form", ["parquet", "arrow", "jsonl"])
def test_records_come_back(folder, capsys, form):
    assert run(["export", form, "a.tfrecord", f"a.{form}"]) == 0
    assert records_of(folder / f"a.{form}") == list(tfrkit.read_records("a.tfrecord"))
    shown = capsys.readouterr()
    assert shown.out.split("\n")[1].split()[:2] == [f"a.{form}", "4"]
    assert "4 records in" in shown.err
    assert "dropped" not in shown.err


def test_csv_says_what_it_drops(folder, capsys):
    assert run(["export", "csv", "a.tfrecord", "a.csv", "--key", "lists"]) == 0
    shown = capsys.readouterr()
    assert "dropped or changed:\n  2 absent features, empty lists and empty texts" in shown.err
    assert (folder / "a.csv").read_text() == 'lists\n1|2\n""\n""\n3\n'


def test_json_report(folder, capsys):
    assert run(["export", "csv", "a.tfrecord", "a.tsv", "--json", "--quiet"]) == 0
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert report["records"] == 4
    assert report["dropped"]["byte strings that are not UTF-8, as base64"] == 2
    assert shown.err == ""


def test_folder_of_shards_into_a_folder(folder, capsys):
    with tfrkit.ShardWriter(folder / "data" / "train", shards=3) as writer:
        writer.write_batch({"x": list(range(10))})
    assert run(["export", "jsonl", "data", "out", "--workers", "2"]) == 0
    assert sorted(os.listdir("out")) == [f"train-{number:05d}-of-00003.jsonl" for number in range(3)]
    assert run(["export", "jsonl", "data", "out"]) == 2
    assert "the file exists already" in capsys.readouterr().err
    assert run(["export", "jsonl", "data", "out", "--overwrite"]) == 0


def test_lines_go_through_a_pipe(folder):
    command = [sys.executable, "-m", "tfrkit", "export", "jsonl", "a.tfrecord", "-", "--key", "label"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert (
        done.stdout == b'{"label": 3}\n{}\n{"label": 9223372036854775807}\n{"label": -9223372036854775808}\n'
    )
    assert done.stderr.startswith(b"4 records in")
    whole = [*command[:-2], "--json"]
    refused = subprocess.run(whole, capture_output=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert b"--json and the records cannot both go to standard output" in refused.stderr


def test_reader_of_a_pipe_may_go_away(folder):
    write(folder / "many.tfrecord", {"x": [b"x" * 1000] * 1000})
    command = [sys.executable, "-m", "tfrkit", "export", "jsonl", "many.tfrecord", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.read(8) == b'{"x": "x'
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_images_into_class_folders(folder, capsys):
    png = tfrkit.image.encode_png(np.zeros((2, 2, 3), np.uint8))
    write(folder / "b.tfrecord", {"image": [png, png], "label": ["rose", "daisy"], "box": [1, 2]})
    assert run(["export", "images", "b.tfrecord", "photos"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "class  images\ndaisy       1\nrose        1\n"
    assert "dropped or changed:\n  2 records with the feature 'box'\n" in shown.err
    assert sorted(os.listdir("photos")) == [".tfrkit", "daisy", "rose"]
    assert run(["export", "images", "b.tfrecord", "photos", "--json", "--overwrite"]) == 0
    assert json.loads(capsys.readouterr().out)["classes"] == {"daisy": 1, "rose": 1}


@pytest.mark.parametrize("form", ["jsonl", "csv", "images"])
def test_interrupted_export_says_the_truth(tmp_path, capsys, monkeypatch, form):
    for number in range(3):
        with tfrkit.TFRecordWriter(tmp_path / f"{number}.tfrecord") as writer:
            writer.write_example({"image": b"\x89PNG\r\n\x1a\n", "label": number})
    meter = export_progress.Meter
    finished, calls = meter.finished, []

    def interrupted(self):
        finished(self)
        calls.append(self)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(meter, "finished", interrupted)
    if form == "images":
        monkeypatch.setattr(export_folder, "_sync_all", lambda _: signal.raise_signal(signal.SIGTERM))
    arguments = ["export", form, f"{tmp_path}/*.tfrecord", str(tmp_path / "out")]
    assert run(arguments) == 130
    assert capsys.readouterr().err.endswith(
        "interrupted: an export appears as a whole or not at all; if it is not there, run it again from its "
        "beginning\n"
    )
    assert not [name for _, _, names in os.walk(tmp_path / "out") for name in names]
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
    monkeypatch.undo()
    assert run(arguments) == 0


def test_errors_say_what_to_do(folder, capsys):
    write(folder / "bytes.tfrecord", [b"no example"])
    assert run(["export", "parquet", "bytes.tfrecord", "a.parquet"]) == 1
    assert (
        "neither an Example nor a SequenceExample is record 0 of 'bytes.tfrecord'" in capsys.readouterr().err
    )
    assert run(["export", "parquet", "nothing.tfrecord", "a.parquet"]) == 2
    assert run(["export", "parquet", "a.tfrecord", "-"]) == 2
    assert "only jsonl and csv go to standard output" in capsys.readouterr().err
    assert run(["export", "parquet", "a.tfrecord", "a.parquet", "--compression", "xz"]) == 2
    assert not (folder / "a.parquet").exists()


@pytest.mark.parametrize("form", ["parquet", "arrow", "jsonl", "csv", "images"])
def test_help_has_an_example(capsys, form):
    assert run(["export", form, "--help"]) == 0
    assert f"Example: tfr export {form} " in capsys.readouterr().out
