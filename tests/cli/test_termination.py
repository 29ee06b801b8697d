"""SIGTERM at any moment of a command: it ends as after Ctrl-C, with a line and exit code 130."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

import tfrkit as tfr
from tests.build.support.made import tree
from tfrkit.cli import main

# Runs `tfr` with the arguments behind the first two, and sends the signal when a function is first called.
PROGRAM = """
import importlib, os, sys
from tfrkit.cli.main import main
number, (module, name) = int(sys.argv[1]), sys.argv[2].split(":")
del sys.argv[1:3]
module = importlib.import_module(module)
setattr(module, name, lambda *_, **__: os.kill(os.getpid(), number))
main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(
    ("place", "arguments"),
    [
        ("tfrkit.build.tables.table:plan_table", ("build", "table", "a.csv", "out")),
        ("tfrkit.build.tables.table:plan_table", ("build", "table", "a.csv", "out", "--dry-run")),
        ("tfrkit.build.images.image_plan:plan_images", ("build", "images", "photos", "out")),
        ("tfrkit.build.reshape.frame_input:frame_input", ("reshard", "a.tfrecord", "out/a", "--shards", "2")),
        ("tfrkit.records.check.verify:verify_files", ("verify", "a.tfrecord")),
        ("tfrkit.records.check.repair:repair", ("repair", "a.tfrecord", "b.tfrecord")),
    ],
)
def test_signal_in_the_survey_ends_with_130_and_a_line(place, arguments, number, tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write(b"x")
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "photos").mkdir()
    before = tree(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(int(number)), place, *arguments],
        cwd=tmp_path,
        capture_output=True,
    )
    assert done.returncode == 130
    assert done.stderr.decode().startswith("\ninterrupted")
    assert done.stdout == b""
    assert tree(tmp_path) == before


def test_signal_handler_is_put_back(monkeypatch):
    during = []
    monkeypatch.setattr(main, "_invoke", lambda *_: during.append(signal.getsignal(signal.SIGTERM)) or 0)
    assert main.run(["count"]) == 0
    assert during == [signal.default_int_handler]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
