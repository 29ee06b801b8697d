from __future__ import annotations

import json

from tests.build.support.made import Numbers, job, mixed, train
from tfrkit.build.job.job import BadInput, ShardGroup, dry_run, run_job
from tfrkit.cli.build_report import show_plan, show_report


def test_summary_has_a_line_for_each_prefix(tmp_path, capsys):
    report = run_job(job(tmp_path, train(2, bad_every=100), mixed(prefix="b-x", shards=None)))
    show_report(report)
    shown = capsys.readouterr()
    assert shown.out == (
        "files                      shards  records     size\n"
        "b-x.tfrecord                    1    1,000  53.0 kB\n"
        "train-*-of-00002.tfrecord       2      595  31.5 kB\n"
    )
    lines = shown.err.splitlines()
    assert lines[:3] == [
        "6 bad inputs left out: bad number (6)",
        "  0.txt, line 100: bad number: it is 99",
        "  0.txt, line 200: bad number: it is 199",
    ]
    assert lines[6] == f"  ... more in {tmp_path}/report.json"
    assert lines[7].startswith(f"{tmp_path}: 63.8 kB read in ")


def test_summary_of_a_complete_job_says_that_nothing_was_written(tmp_path, capsys):
    run_job(job(tmp_path))
    show_report(run_job(job(tmp_path)))
    assert capsys.readouterr().err == f"{tmp_path}: everything was there already, nothing was written\n"


def test_quiet_summary_is_the_table_alone(tmp_path, capsys):
    show_report(run_job(job(tmp_path, train(2, bad_every=100))), quiet=True)
    assert capsys.readouterr().err == ""


def test_control_characters_of_names_command_no_terminal(tmp_path, capsys):
    bad = (BadInput("a\x1b[2J.jpg", None, "empty file", "\x07"),)
    report = run_job(job(tmp_path, ShardGroup("x\x1b", (Numbers(0, 1),), None), bad=bad))
    show_report(report)
    show_plan(dry_run(job(tmp_path / "y", ShardGroup("x\x1b", (Numbers(0, 1),), None))))
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err
    assert r"  a\x1b[2J.jpg: empty file: \x07" in shown.err


def test_long_lists_of_files_are_cut(tmp_path, capsys):
    groups = [ShardGroup(f"part-{number}", (Numbers(0, 1),), None) for number in range(25)]
    show_report(run_job(job(tmp_path, *groups)))
    lines = capsys.readouterr().out.splitlines()
    assert (len(lines), lines[-1]) == (22, "... and 5 more")


def test_json_has_everything(tmp_path, capsys):
    show_report(run_job(job(tmp_path, train(2, bad_every=100))), as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert (shown["records"], shown["bad"], shown["resumed"]) == (595, {"bad number": 6}, 0)
    assert shown["shards"][0]["name"] == "train-00000-of-00002.tfrecord"
    assert shown["listed"][0] == {
        "source": "0.txt",
        "line": 100,
        "reason": "bad number",
        "detail": "it is 99",
    }


def test_plan_says_what_would_happen(tmp_path, capsys):
    made = job(
        tmp_path / "out",
        train(2),
        mixed(prefix="b"),
        files={"labels.txt": b""},
        bad=(BadInput("a.jpg", None, "empty file"),),
        noted=(BadInput("b.jpg", None, "duplicate"),),
    )
    show_plan(dry_run(made))
    assert capsys.readouterr().out == (
        "prefix  shards\n"
        "train        2\n"
        "b            3\n"
        f"folder: {tmp_path}/out\n"
        "input: 64.0 kB\n"
        "compression: none\n"
        "shuffled: yes, about 40.0 kB of temporary files\n"
        "further files: labels.txt\n"
        "left out: empty file (1)\n"
        "noted: duplicate (1)\n"
        "state: nothing is there yet\n"
    )


def test_plan_says_why_a_job_would_be_refused(tmp_path, capsys):
    run_job(job(tmp_path))
    show_plan(dry_run(job(tmp_path, train(2))))
    assert "state: " in (shown := capsys.readouterr().out)
    assert "there are 4 shards of 'train' already, of another job." in shown
    show_plan(dry_run(job(tmp_path)), as_json=True)
    assert json.loads(capsys.readouterr().out)["state"] == "complete"
