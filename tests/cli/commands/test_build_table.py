"""`tfr build table`: options reach the build, output goes where it should, errors say what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.build.support.tables import rows, write_lines


@pytest.fixture
def lines(folder):
    write_lines(folder / "a.jsonl", {"n": 1, "s": "x", "t": "p|q"}, {"n": None, "s": "y", "t": ""})
    return folder


def test_builds_and_says_what_it_did(command, lines):
    done = command("build", "table", "a.jsonl", "out")
    assert done.code == 0
    assert done.out.split() == [
        "files",
        "shards",
        "records",
        "size",
        "data-*-of-00001.tfrecord",
        "1",
        "2",
        "97",
        "B",
    ]
    assert "out: 62 B read" in done.err
    assert rows(lines / "out") == [{"n": [1], "s": [b"x"], "t": [b"p|q"]}, {"s": [b"y"], "t": [b""]}]


def test_options_for_columns(command, lines):
    options = (
        "--column n:float --column t:bytes[|] --columns n,t --name t=tags --null-value -1 --null-value n=7"
    )
    assert (
        command(
            "build", "table", "a.jsonl", "out", *options.split(), "--shards", "2", "--prefix", "train"
        ).code
        == 0
    )
    assert rows(lines / "out") == [{"n": [1.0], "tags": [b"p", b"q"]}, {"n": [7.0], "tags": []}]
    assert sorted(os.listdir("out"))[-2:] == [
        "train-00000-of-00002.tfrecord",
        "train-00001-of-00002.tfrecord",
    ]


def test_several_inputs_drop_and_per_input(command, lines):
    write_lines(lines / "d" / "b.jsonl", {"n": 2})
    done = command(
        "build", "table", "a.jsonl", "d", "out", "--drop", "s,t", "--shards", "per-input", "--quiet"
    )
    assert done.code == 0
    assert not done.err
    assert sorted(name for name in os.listdir("out") if name.endswith(".tfrecord")) == [
        "a.tfrecord",
        "b.tfrecord",
    ]
    assert rows(lines / "out") == [{"n": [1]}, {}, {"n": [2]}]


def test_list_of_inputs(command, lines):
    (lines / "list.txt").write_text("a.jsonl\n")
    assert command("build", "table", "--list", "list.txt", "out1").code == 0
    assert command("build", "table", "@list.txt", "out2").code == 0
    assert rows(lines / "out1") == rows(lines / "out2") == rows(lines / "out1")


def test_options_of_delimited_text(command, folder):
    (folder / "t").write_bytes("1;甲;-\n2;-;乙\n".encode("gbk"))
    options = ["--format", "csv", "--delimiter", ";", "--names", "n,a,b", "--encoding", "gbk", "--null", "-"]
    assert command("build", "table", "t", "out", *options).code == 0
    assert rows(folder / "out") == [{"n": [1], "a": ["甲".encode()]}, {"n": [2], "b": ["乙".encode()]}]


def test_hive_files_with_partitions(command, folder):
    for day, name in (("2024-01-01", "000000_0"), ("2024-01-02", "000000_0"), ("2024-01-02", "_SUCCESS")):
        (folder / f"t/dt={day}").mkdir(parents=True, exist_ok=True)
        (folder / f"t/dt={day}/{name}").write_bytes(b"" if name[0] == "_" else b"0.5\x01\\N\x011\x022\n")
    done = command(
        "build", "table", "t", "out", "--format", "hive", "--names", "x,s,ids", "--column", r"ids:int64[\x02]"
    )
    assert done.code == 0
    assert rows(folder / "out") == [
        {"x": [0.5], "ids": [1, 2], "dt": [day]} for day in (b"2024-01-01", b"2024-01-02")
    ]
    assert command("build", "table", "t", "plain", "--format", "hive", "--no-partitions").code == 0
    assert "dt" not in rows(folder / "plain")[0]


def test_json_report_has_the_bad_lines(command, lines):
    with open("a.jsonl", "ab") as file:
        file.write(b"{oops\n")
    done = command("build", "table", "a.jsonl", "out", "--json")
    report = json.loads(done.out)
    assert done.code == 0
    assert report["records"] == 2
    assert report["bad"] == {"not valid JSON": 1}
    assert [(bad["source"], bad["line"]) for bad in report["listed"]] == [("a.jsonl", 3)]
    done = command("build", "table", "a.jsonl", "out2", "--on-bad", "raise")
    assert done.code == 1
    assert done.err.startswith("error: a.jsonl, line 3: not valid JSON")


def test_dry_run_writes_nothing(command, lines):
    done = command("build", "table", "a.jsonl", "out", "--dry-run", "--shards", "3", "--shuffle", "--json")
    plan = json.loads(done.out)
    assert (plan["shards"], plan["mixed"], plan["input_bytes"]) == ({"data": 3}, True, 62)
    assert not os.path.exists("out")


def test_shuffle_depends_on_the_seed(command, folder):
    write_lines(folder / "a.jsonl", *({"n": n} for n in range(100)))
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert (
            command("build", "table", "a.jsonl", name, "--shuffle", "--seed", seed, "--shards", "2").code == 0
        )
    assert rows(folder / "a") == rows(folder / "b") != rows(folder / "c")


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ([], 2, "expected at least one INPUT, and OUT"),
        (["a.jsonl"], 2, "expected at least one INPUT, and OUT"),
        (["no.jsonl", "out"], 2, "no.jsonl; No such file"),
        (["a.jsonl", "out", "--columns", "m"], 1, "no input has a column 'm'"),
        (["a.jsonl", "out", "--column", "n"], 2, "Expected NAME:KIND"),
        (
            ["a.jsonl", "out", "--shards", "many"],
            2,
            "Expected a number or per-input for shards (--shards) but got 'many'",
        ),
        (
            ["a.jsonl", "out", "--shards", "0"],
            2,
            "Expected 'per-input' or a whole number of at least 1 for shards (--shards) but got 0.",
        ),
        (
            ["a.jsonl", "out", "--name", "n"],
            2,
            "Expected OLD=NEW, such as image=picture, for rename (--name) but got 'n'",
        ),
        (["a.jsonl", "out", "--format", "xml"], 2, "xml"),
        (["a.jsonl", "out", "--max-field", "x"], 2, "Expected a size such as 256MB"),
        (["a.jsonl", "out", "--names", "a"], 1, "this option is for delimited text"),
        (["empty.jsonl", "out"], 1, "No rows in the input: empty.jsonl"),
    ],
)
def test_wrong_use_says_what_to_do(command, lines, arguments, code, text):
    (lines / "empty.jsonl").write_bytes(b"")
    done = command("build", "table", *arguments)
    assert done.code == code
    assert text in done.err
    assert not done.out
    assert not list(lines.glob("out/*.tfrecord"))


def test_another_job_in_the_folder_is_refused(command, lines):
    assert command("build", "table", "a.jsonl", "out").code == 0
    done = command("build", "table", "a.jsonl", "out", "--drop", "t")
    assert done.code == 2
    assert "--overwrite" in done.err
    assert command("build", "table", "a.jsonl", "out", "--drop", "t", "--overwrite").code == 0


def test_help_has_an_example(command):
    done = command("build", "table", "--help")
    assert done.code == 0
    assert "Example: tfr build table" in done.out
    assert "table" in command("build", "--help").out


def test_command_reads_and_writes_like_the_function(lines):
    process = subprocess.run(
        [sys.executable, "-m", "tfrkit", "build", "table", "a.jsonl", "out", "--compression", "gzip"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "data-*-of-00001.tfrecord.gz" in process.stdout
    assert "\x1b" not in process.stdout + process.stderr
    assert len(rows(lines / "out")) == 2


@pytest.mark.parametrize(
    ("option", "value"),
    [("--column", "a"), ("--encoding", "foo"), ("--delimiter", "ab"), ("--shards", "many"), ("--name", "a")],
)
def test_wrong_values_of_options_are_bad_usage(command, tmp_path, option, value):
    (tmp_path / "a.csv").write_text("a\n1\n")
    code, out, err = command("build", "table", str(tmp_path / "a.csv"), str(tmp_path / "out"), option, value)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert "\n\nhint: " in err
    assert not (tmp_path / "out").exists()


def test_columns_are_named_by_patterns_and_with_commas(command, folder):
    write_lines(folder / "w.jsonl", {"feat_a": 1, "feat_b": 2, "a,b": 3, "tmp": 4, "back\\slash": 5, "s*": 6})
    done = command(
        "build", "table", "w.jsonl", "out", "--columns", "feat_*", "--columns", r"a\,b,back\slash,s*",
        "--column", "feat_*:float", "--drop", "feat_[b]",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert rows(folder / "out") == [{"feat_a": [1.0], "a,b": [3], "back\\slash": [5], "s*": [6]}]
    refused = command("build", "table", "w.jsonl", "out2", "--drop", "feet_?")
    assert refused.code == 1
    assert "drop (--drop): no input has a column that matches 'feet_?'. Did you mean 'feat_" in refused.err


def test_partitions_are_chosen_and_the_report_says_how_many_files_are_left_out(command, folder):
    for day in (1, 2, 10):
        write_lines(folder / "t" / f"day={day}" / "a.jsonl", {"n": day})
    done = command("build", "table", "t", "out", "--partition", "day>=2", "--partition", "day<10")
    assert (done.code, rows(folder / "out")) == (0, [{"n": [2], "day": [2]}])
    assert "2 files left out by --partition\n" in done.err
    planned = command("build", "table", "t", "out2", "--partition", "day>=2", "--dry-run")
    assert "left out by --partition: 1 file\n" in planned.out
    wrong = command("build", "table", "t", "out2", "--partition", "day~2")
    assert wrong.code == 2
    assert "Expected KEY=VALUE, or another of !=" in wrong.err
    unknown = command("build", "table", "t", "out2", "--partition", "dya=2")
    assert unknown.code == 1
    assert "no input is in a folder 'dya=...'. Did you mean 'day'?" in unknown.err


def test_rows_are_chosen_by_an_expression(command, lines):
    done = command("build", "table", "a.jsonl", "out", "--where", "n == 1 or s == 'z'", "--columns", "t")
    assert (done.code, rows(lines / "out")) == (0, [{"t": [b"p|q"]}])
    assert "1 row left out by --where\n" in done.err
    wrong = command("build", "table", "a.jsonl", "out2", "--where", "n ==")
    assert wrong.code == 2
    assert "Expected a number, or text in quotes at character 5" in wrong.err
    none = command("build", "table", "a.jsonl", "out2", "--where", "n > 100")
    assert none.code == 0
    assert "no record was chosen: 2 records looked at\n" in none.err


def test_layout_of_tensorflow_datasets(command, folder):
    (folder / "a.csv").write_text("label,name\n3,Ada\n5,Tom\n")
    done = command(
        "build", "table", "a.csv", "out", "--layout", "tfds", "--dataset", "people:2.0.0", "--quiet"
    )
    assert (done.code, done.err) == (0, "")
    found = command("folder", "out")
    assert found.out.startswith("people 2.0.0 (tfds)\nout\nsplits:\n  train: 2 records in 1 shard\n")
