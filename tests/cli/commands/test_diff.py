from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import tfrkit as tfr
from tests.records.support.made import flip


def write(name, rows):
    with tfr.TFRecordWriter(name) as writer:
        for row in rows:
            writer.write_example(row)


@pytest.fixture
def pets(folder):
    """Two data sets of twenty Examples; one differs in a name, one stands elsewhere."""
    rows = [{"id": n, "名字": f"猫{n}", "size": n / 2, "label": n % 2} for n in range(20)]
    write("old.tfrecord", rows)
    rows[4] = {**rows[4], "名字": "狗"}
    rows.append(rows.pop(10))
    write("new.tfrecord", rows)
    return folder


def test_same_ends_with_0(command, pets):
    done = command("diff", "old.tfrecord", "old.tfrecord")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "A: old.tfrecord\nB: old.tfrecord\n\nrecords by position: 20 in A, 20 in B: 20 same\n\nno differences\n"
    )


def test_different_ends_with_1(command, pets):
    done = command("diff", "old.tfrecord", "new.tfrecord")
    assert (done.code, done.err) == (1, "")
    assert done.out == (
        "A: old.tfrecord\n"
        "B: new.tfrecord\n"
        "\n"
        "records by position: 20 in A, 20 in B: 19 same, 1 changed, 1 moved\n"
        "\n"
        "changed feature  other values  only in B  only in A\n"
        "名字                        1          -          -\n"
        "\n"
        "! record 4 of 'old.tfrecord' -> record 4 of 'new.tfrecord'\n"
        "    名字\n"
        "      - bytes  '猫4'\n"
        "      + bytes  '狗'\n"
        "\n"
        "feature  drift     by        kind  present  values  distinct  min  mean      std  max\n"
        "名字     0.050  sizes  A    bytes      all       1        20    4   4.5      0.5    5\n"
        "                       B    bytes      all       1        20    3  4.45  0.58949    5\n"
        "id       0.000      -  A    int64      all       1        20    0   9.5   5.7663   19\n"
        "                       B    int64      all       1        20    0   9.5   5.7663   19\n"
        "label    0.000      -  A    int64      all       1         2    0   0.5      0.5    1\n"
        "                       B    int64      all       1         2    0   0.5      0.5    1\n"
        "size     0.000      -  A  float32      all       1        20    0  4.75   2.8831  9.5\n"
        "                       B  float32      all       1        20    0  4.75   2.8831  9.5\n"
        "\n"
        "different\n"
    )


def test_json(command, pets):
    done = command("diff", "old.tfrecord", "new.tfrecord", "--key", "id", "--json", "--limit", "1")
    report = json.loads(done.out)
    assert (done.code, report["differs"], report["key"]) == (1, True, ["id"])
    assert {name: report["records"][name] for name in ("same", "changed", "moved")} == {
        "same": 19,
        "changed": 1,
        "moved": 0,
    }
    assert report["records"]["changed_examples"][0]["key"] == [4]
    assert report["drifts"][0]["name"] == "名字"


def test_two_keys_and_chinese_names(command, pets):
    done = command(
        "diff", "old.tfrecord", "new.tfrecord", "--key", "label", "--key", "名字", "--compare", "records"
    )
    assert done.code == 1
    assert "records by label, 名字: 20 in A, 20 in B: 19 same, 1 added, 1 removed\n" in done.out
    assert "+ record 4 of 'new.tfrecord', key 0, '狗'\n" in done.out


def test_drift_is_a_difference_if_it_is_too_far(command, pets):
    arguments = ["diff", "old.tfrecord", "new.tfrecord", "--compare", "statistics"]
    assert command(*arguments).code == 1
    assert command(*arguments, "--max-drift", "0.05").code == 0
    done = command(*arguments, "--max-drift", "0.04")
    assert (done.code, done.out.splitlines()[-1]) == (1, "different; drifted by more than 0.04: 名字")


def test_damage_ends_with_3_or_is_counted(command, pets):
    data = (pets / "old.tfrecord").read_bytes()
    (pets / "bad.tfrecord").write_bytes(flip(data, len(data) // 2))
    done = command("diff", "old.tfrecord", "bad.tfrecord")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("error: corrupted record at")
    done = command("diff", "old.tfrecord", "bad.tfrecord", "--on-corrupt", "skip")
    assert done.code == 1
    assert "B: 1 damage was passed over" in done.out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["old.tfrecord"], "missing argument 'B'"),
        (["old.tfrecord", "nwe.tfrecord"], "nwe.tfrecord: no such file or folder"),
        (["old.tfrecord", "-"], "this command cannot read standard input"),
        (["old.tfrecord", "no-*"], "no files match 'no-*'"),
        (["old.tfrecord", "new.tfrecord", "--key", "lable"], "Did you mean 'label'?"),
        (
            ["old.tfrecord", "new.tfrecord", "--compare", "all of it"],
            "Expected one of 'all', 'records', 'statistics'",
        ),
        (["old.tfrecord", "new.tfrecord", "--max-drift", "2"], "Expected a number from 0 to 1 for max_drift"),
        (
            ["old.tfrecord", "new.tfrecord", "--tolerance", "-1"],
            "Expected a number of at least 0 for tolerance",
        ),
    ],
)
def test_bad_usage_ends_with_2(command, pets, arguments, text):
    done = command("diff", *arguments)
    assert (done.code, done.out) == (2, "")
    assert text in done.err


def test_folders_and_globs(command, pets):
    for folder in ("a", "b"):
        with tfr.ShardWriter(f"{folder}/train", shards=3) as writer:
            for number in range(30):
                writer.write_example({"n": number})
    assert command("diff", "a", "b/train-*").code == 0
    os.remove("b/train-00001-of-00003.tfrecord")
    done = command("diff", "a", "b")
    assert (done.code, "1 of the 3 shards in its manifest are not there" in done.err) == (3, True)
    done = command("diff", "a", "b/train-*", "--quiet")
    assert (done.code, "warning:" in done.err) == (1, True)


def test_interrupting_ends_with_130(folder):
    """Ctrl-C in the middle of reading: nothing is printed, and no thread keeps the process alive."""
    write("a.tfrecord", [{"n": n, "t": "x" * 1000} for n in range(40_000)])
    program = (
        "import contextlib, os, signal, sys, tfrkit.cli.commands.diff as command\n"
        "from tfrkit.cli.main import run\n"
        "def interrupt(*done): os.kill(os.getpid(), signal.SIGINT)\n"
        "command.reading_bar = lambda *title, **how: contextlib.nullcontext(interrupt)\n"
        "sys.exit(run(['diff', 'a.tfrecord', 'a.tfrecord']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, b"", b"interrupted")


def test_a_pipe_is_refused(command, pets):
    os.mkfifo("pipe.tfrecord")
    done = command("diff", "old.tfrecord", "pipe.tfrecord")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        "error: expected files, which can be read several times, but 'pipe.tfrecord' is not one"
    )
