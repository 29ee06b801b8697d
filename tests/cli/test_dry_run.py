"""`--dry-run` ends as the command itself would: what would be refused is refused, with the same text and exit code."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.build.support.made import tree
from tfrkit.image import encode_png


@pytest.fixture
def inputs(folder):
    """One input of each kind, and shards in the way of all commands."""
    Path("a.csv").write_text("a,b\n" + "1,2\n" * 50)
    Path("bad.jsonl").write_text('{"a": 1}\n{bad\n')
    for number in range(3):
        path = Path(f"photos/class {number}/1.png")
        path.parent.mkdir(parents=True)
        path.write_bytes(encode_png(np.full((4, 4, 3), number, np.uint8)))
    Path("photos/class 0/bad.png").write_bytes(b"")
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        for number in range(20):
            writer.write_example({"label": number})
    for prefix, shards in (("data", 3), ("train", 3), ("images", 3), ("validation", 1)):
        with tfr.ShardWriter(f"out/{prefix}", shards=shards) as there:
            there.write_many([b"precious"] * 4)
    return Path()


REFUSED = [
    ("build", "table", "a.csv", "out", "--prefix", "data", "--shards", "2"),
    ("build", "images", "photos", "out", "--shards", "2"),
    ("build", "images", "photos", "other", "--on-bad", "raise"),
    ("build", "images", "photos", "other", "--max-bad", "0"),
    ("build", "table", "a.csv", "a.csv"),
    ("build", "table", "a.csv", "a.csv/below"),
    ("build", "table", "a.csv", "nosuch://bucket/out"),
    ("build", "table", "none.csv", "other"),
    ("reshard", "a.tfrecord", "out/train", "--shards", "2"),
    ("shuffle", "a.tfrecord", "out/train", "--shards", "2"),
    ("split", "a.tfrecord", "out"),
    ("sample", "a.tfrecord", "out/train", "-n", "3", "--shards", "2"),
    ("select", "a.tfrecord", "out/train", "--where", "label > 3", "--shards", "2"),
    ("merge", "a.tfrecord", "out/train-00000-of-00003.tfrecord"),
    ("compress", "out/train-00000-of-00003.tfrecord", "out"),
]


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_what_would_be_refused_is_refused(arguments, inputs, command):
    before = tree(inputs)
    dry = command(*arguments, "--dry-run")
    assert tree(inputs) == before
    real = command(*arguments)
    assert real.code in (1, 2)
    assert (dry.code, dry.err) == (real.code, real.err)
    dry = command(*arguments, "--dry-run", "--json")
    assert dry.code == real.code


def test_plan_is_still_shown(inputs, command):
    done = command(
        "build", "table", "a.csv", "out", "--prefix", "data", "--shards", "2", "--dry-run", "--json"
    )
    assert json.loads(done.out)["state"] == "exists"
    assert done.err.startswith(
        "error: out/data-00000-of-00003.tfrecord; there are 3 shards of 'data' already"
    )
    done = command(
        "build", "table", "a.csv", "out", "--prefix", "data", "--shards", "2", "--dry-run", "--overwrite"
    )
    assert (done.code, done.err) == (0, "")


def test_complete_job_with_bad_input_is_refused_if_that_is_asked_for(inputs, command):
    arguments = ("build", "table", "bad.jsonl", "other")
    assert command(*arguments).code == 0
    for option in (("--on-bad", "raise"), ("--max-bad", "0")):
        real = command(*arguments, *option)
        dry = command(*arguments, *option, "--dry-run")
        assert (dry.code, dry.err) == (real.code, real.err)
        assert dry.code == 1


def test_folder_that_may_not_be_written_to_is_refused(inputs, command, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    done = command("build", "table", "a.csv", "other", "--dry-run")
    assert (done.code, done.err) == (1, "error: other; Permission denied\n")
