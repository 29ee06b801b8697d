from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import tfrkit as tfr
from tests.records.support.made import flip
from tfrkit.testing.reference import frames


@pytest.fixture
def flowers(folder):
    """Twelve Examples: a number, a float with NaN, a label, a name."""
    names = ["菊花", "rose", "tulip"]
    with tfr.TFRecordWriter("flowers.tfrecord") as writer:
        for number in range(12):
            label = (0, 1, 1, 2)[number % 4]
            x = np.float32(np.nan if number == 5 else number / 4)
            writer.write_example({"n": number, "x": x, "label": label, "name": names[label]})
    (folder / "labels.txt").write_text("菊花\nrose\ntulip\n", encoding="utf-8")
    return folder


def test_tables_of_numbers_and_bytes_and_the_balance_of_labels(command, flowers):
    done = command("stats", "flowers.tfrecord", "--label-map", "labels.txt")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "12 Examples in flowers.tfrecord\n"
        "\n"
        "feature  kind     present  values  distinct  min    mean      std  median   max  histogram\n"
        "label    int64        all       1         3    0       1  0.70711       1     2  ▄█▄\n"
        "n        int64        all       1        12    0     5.5   3.4521       5    11  ████████████\n"
        "x        float32      all       1        11    0  1.3864  0.90053     1.5  2.75  "
        "██ █ █ █  █ █ █ █ ██  1 NaN\n"
        "\n"
        "feature  kind   present  values  distinct      length  content\n"
        "name     bytes      all       1         3  4-6 (4.75)  UTF-8, most often rose (50.0 %)\n"
        "\n"
        "label:\n"
        "  1 rose   ██████████████████████████████  50.0 %  6\n"
        "  0 菊花   ███████████████                 25.0 %  3\n"
        "  2 tulip  ███████████████                 25.0 %  3\n"
    )


def test_a_chosen_feature_is_shown_in_detail(command, flowers):
    text = command("stats", "flowers.tfrecord", "--key", "n", "--top", "2").out
    assert "float32" not in text
    assert "1 % 0, 5 % 0, 25 % 2, 50 % 5, 75 % 8, 95 % 11, 99 % 11" in text
    assert "most frequent of 12 different" in text
    assert "  10 more  83.3 %  10\n" in text


def test_json_has_everything(command, flowers):
    report = json.loads(command("stats", "flowers.tfrecord", "--json", "--label-map", "labels.txt").out)
    assert report == json.loads(json.dumps(report, allow_nan=False))
    assert (report["records"], report["sampled"], report["files"]) == (12, False, ["flowers.tfrecord"])
    label = report["features"]["label"]
    assert label["kinds"]["int64"]["top"][0] == {"value": 1, "count": 6, "name": "rose"}
    assert label["labels"] is True
    assert report["features"]["x"]["kinds"]["float32"]["nan"] == 1
    assert report["features"]["name"]["kinds"]["bytes"]["top"][1] == {"value": "tulip", "size": 5, "count": 3}


def test_a_sample_is_called_one(command, flowers):
    done = command("stats", "flowers.tfrecord", "-n", "4")
    assert done.out.startswith("a sample of 4 Examples in flowers.tfrecord\n")
    assert done.out.endswith("\nonly a sample of the records was counted\n")
    assert json.loads(command("stats", "flowers.tfrecord", "-n", "4", "--json").out)["sampled"] is True


def test_standard_input_is_read(command, flowers):
    done = command("stats", "-", "--json", stdin=(flowers / "flowers.tfrecord").read_bytes())
    assert json.loads(done.out)["records"] == 12


def test_an_unknown_feature_is_bad_usage(command, flowers):
    done = command("stats", "flowers.tfrecord", "--key", "nmae")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: columns (--key): no record has a feature 'nmae'. Did you mean 'name'?\n\n"
        "hint: `tfr schema` lists the features.\n"
    )


def test_an_unknown_feature_of_standard_input_is_bad_usage(command, flowers):
    done = command("stats", "-", "--key", "q", stdin=(flowers / "flowers.tfrecord").read_bytes())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        "error: columns (--key): no record has a feature 'q'. There are 'label', 'n', 'name', 'x'.\n"
    )


def test_a_feature_that_a_sample_does_not_have_is_bad_usage(command, flowers):
    done = command("stats", "flowers.tfrecord", "--key", "nmae", "-n", "3")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: no record of the sample has a feature 'nmae'\n\n"
        "hint: `tfr schema` lists the features; without -n, all records are looked at.\n"
    )


def test_damage_ends_it_or_is_passed_over(command, folder):
    records = [tfr.make_example({"n": number}).SerializeToString() for number in range(3)]
    (folder / "a.tfrecord").write_bytes(flip(frames(records), len(frames(records[:1])) + 14))
    done = command("stats", "a.tfrecord")
    assert done.code == 1
    assert "corrupted record" in done.err
    done = command("stats", "a.tfrecord", "--on-corrupt", "skip")
    assert (done.code, done.out.splitlines()[0]) == (0, "2 Examples in a.tfrecord")
    assert done.out.endswith("1 damage was passed over\n")


def test_ascii_is_drawn_where_there_is_no_utf8(flowers):
    done = subprocess.run(
        [sys.executable, "-m", "tfrkit", "stats", "flowers.tfrecord", "--key", "label"],
        capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )  # fmt: skip
    text = done.stdout.decode("ascii")
    assert "######" in text
    assert "█" not in text
