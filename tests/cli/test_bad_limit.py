"""Commands of which nothing, or too little, comes out fail."""

from __future__ import annotations

from pathlib import Path

import tfrkit


def test_commands_fail_with_one_and_say_why(command, folder):
    Path("in.csv").write_text("a,b\n1\n2\n")
    result = command("build", "table", "in.csv", "out")
    assert result.code == 1
    assert "All 2 inputs are bad" in result.err
    assert "wrong number of fields" in result.err
    Path("in.csv").write_text("a,b\n1\n2,3\n")
    result = command("build", "table", "in.csv", "out", "--max-bad", "49%")
    assert result.code == 1
    assert "1 of 2 inputs are bad, and at most 49% may be" in result.err
    assert command("build", "table", "in.csv", "out", "--max-bad", "1").code == 0
    assert command("build", "table", "in.csv", "out", "--max-bad", "x").code == 2


def test_commands_say_which_names_are_close_and_that_nothing_was_chosen(command, folder):
    with tfrkit.TFRecordWriter("in.tfrecord") as writer:
        writer.write_batch({"label": [1, 2, 3]})
    for options in (
        ("--where", "lable == 3"),
        ("--key", "lable"),
        ("--drop", "lable"),
        ("--name", "lable=x"),
    ):
        result = command("select", "in.tfrecord", "out.tfrecord", *options)
        assert result.code == 1
        assert "no record has a feature 'lable'. Did you mean 'label'?" in result.err
        assert not Path("out.tfrecord").exists()
    for kind in ("parquet", "csv"):
        result = command("export", kind, "in.tfrecord", "x", "--key", "lable")
        assert result.code == 1
        assert "Did you mean 'label'?" in result.err
    assert "Did you mean 'label'?" in command("stats", "in.tfrecord", "--key", "lable").err
    result = command("split", "in.tfrecord", "s", "--parts", "a=0.5,b=0.5", "--by", "lable")
    assert result.code == 1
    assert "Did you mean 'label'?" in result.err
    result = command("select", "in.tfrecord", "out.tfrecord", "--where", "label > 3")
    assert result.code == 0
    assert "no record was chosen: 3 records looked at" in result.err


def test_numbers_that_become_infinite_and_kinds_of_columns_are_told(command, folder):
    Path("in.csv").write_text("a,n\n1.5,1\n1e39,x\n2e39,2\n")
    for options in ((), ("--dry-run",)):
        result = command("build", "table", "in.csv", "out", *options)
        assert result.code == 0
        text = result.out + result.err
        assert "columns: a: float, n: bytes" in text
        assert (
            "column 'n' is bytes though 2 of 3 values are int64: the first other is 'x' in in.csv, line 3"
            in text
        )
        if not options:
            assert "2 inputs noted: beyond float32, so infinite now: column 'a' (2)" in text
            assert "in.csv, line 3: beyond float32, so infinite now: column 'a': got 1e+39" in text
    assert '"cause": {' in command("build", "table", "in.csv", "out", "--json").out


def test_every_command_that_builds_has_the_limit(command):
    commands = ["compress", "merge", "reshard", "sample", "select", "shuffle", "split"]
    commands += [
        f"export {kind}"
        for kind in ("parquet", "arrow", "jsonl", "csv", "images", "webdataset", "array_record")
    ]
    for name in ["build table", "build images", *commands]:
        assert "--max-bad" in command(*name.split(), "--help").out, name
