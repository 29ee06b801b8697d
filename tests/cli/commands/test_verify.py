from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.build.job.test_output_ownership import interrupted
from tests.build.support.made import job, train
from tfrkit.build.job.job import run_job


def damage(path, at=80):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def test_whole_files_are_well(command, words):
    done = command("verify", "words.tfrecord")
    assert done == (
        0,
        "words.tfrecord: 5 records, 184 bytes, plain: ok\n",
        "1 file, 5 records: all is well\n",
    )


def test_damage_is_listed_and_ends_with_1(command, words, folder):
    damage(folder / "words.tfrecord")
    done = command("verify", "words.tfrecord", "--quiet")
    assert done.code == 1
    assert done.out == (
        "words.tfrecord: 4 records, 148 bytes, plain: DAMAGED\n"
        "  bad data CRC at bytes 53-105, after 1 record: corrupted record at 65\n"
    )
    assert done.err == ""


def test_json_has_everything(command, words, folder):
    damage(folder / "words.tfrecord")
    done = command("verify", "words.tfrecord", "--json")
    found = json.loads(done.out)
    assert (done.code, found["ok"], found["records"]) == (1, False, 4)
    assert found["files"][0]["damages"][0]["kind"] == "bad data CRC"


def test_many_damages_are_cut(command, folder):
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_many([b"x" * 100] * 60)
    for number in range(0, 60, 2):
        damage(folder / "a.tfrecord", number * 116 + 50)
    done = command("verify", "a.tfrecord")
    assert done.out.splitlines()[-1] == "  ... and 10 more; --json lists all"
    assert len(json.loads(command("verify", "a.tfrecord", "--json").out)["files"][0]["damages"]) == 30


def test_a_file_cut_between_records_is_noticed_by_the_manifest(command, folder):
    with tfr.ShardWriter("out/a", shards=2) as writer:
        writer.write_many([b"x" * 10] * 10)
    path = folder / "out" / "a-00000-of-00002.tfrecord"
    path.write_bytes(path.read_bytes()[: 26 * 4])
    done = command("verify", "out")
    assert done.code == 1
    assert done.out.splitlines()[1] == ("  the manifest says 5 records in 130 bytes, but there are 4 in 104")
    assert done.err == "2 files, 9 records: 1 damaged\n"
    assert json.loads(command("verify", "out", "--json").out)["ok"] is False


def test_what_is_no_tfrecord_file_is_told(command, folder):
    (folder / "page.tfrecord").write_text("<!DOCTYPE html><html>Not found</html>" * 3)
    done = command("verify", "page.tfrecord")
    assert done.code == 1
    assert "looks like an HTML page" in done.out


def test_standard_input_is_verified(command, words, folder):
    assert command("verify", "-", stdin=(folder / "words.tfrecord").read_bytes()).code == 0
    assert command("verify", "-", stdin=(folder / "words.tfrecord").read_bytes()[:-1]).code == 1


def test_a_missing_file_is_bad_usage(command, words):
    assert command("verify", "word.tfrecord") == (
        2,
        "",
        "error: word.tfrecord: no such file or folder\n\nhint: did you mean 'words.tfrecord'?\n",
    )


def test_progress_counts_all_bytes(folder):
    for name in ("a.tfrecord", "b.tfrecord.gz"):
        with tfr.TFRecordWriter(name) as writer:
            writer.write_many([b"x" * 1000] * 3000)
    told: list[int] = []
    tfr.verify(["a.tfrecord", "b.tfrecord.gz"], progress=told.append)
    assert sum(told) == (folder / "a.tfrecord").stat().st_size + (folder / "b.tfrecord.gz").stat().st_size
    assert len(told) > 3


def test_more_damages_than_memory_should_hold_are_counted(command, folder, monkeypatch):
    monkeypatch.setattr("tfrkit.records.check.verify.MAX_DAMAGES", 30)
    monkeypatch.setattr("tfrkit.records.check.repair.MAX_DAMAGES", 30)
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_many([b"x" * 8] * 70)
    frames = np.fromfile("a.tfrecord", np.uint8).reshape(-1, 24)
    frames[::2, 12] ^= 1
    frames.tofile("a.tfrecord")
    report = tfr.verify("a.tfrecord").files[0]
    assert (report.records, len(report.damages), report.more_damages) == (35, 30, 5)
    assert str(report).endswith("\n  and 5 more")
    assert command("verify", "a.tfrecord").out.endswith("  ... and 15 more; --json lists 30\n")
    mended = tfr.repair("a.tfrecord", "b.tfrecord")
    assert (mended.records, len(mended.lost), mended.more_lost, mended.lost_bytes) == (35, 30, 5, 35 * 24)
    assert " 35 damages with 840 bytes lost\n" in str(mended)
    assert str(mended).endswith("\n  and 5 more")


def test_missing_shards_are_all_listed_and_the_rest_is_checked(command, folder):
    with tfr.ShardWriter("out/a", shards=5) as writer:
        writer.write_many([b"x" * 10] * 10)
    for number in (1, 3):
        (folder / "out" / f"a-{number:05d}-of-00005.tfrecord").unlink()
    (folder / "out" / "notes.txt").write_text("mine")
    done = command("verify", "out")
    assert done.code == 1
    assert done.out.splitlines()[3:] == [
        "out/a-00001-of-00005.tfrecord: MISSING: the manifest names it, but it is not there",
        "out/a-00003-of-00005.tfrecord: MISSING: the manifest names it, but it is not there",
    ]
    assert done.err == "1 other file in no set: out/notes.txt\n3 files, 6 records: 2 missing\n"
    found = json.loads(command("verify", "out", "--json").out)
    assert (found["ok"], len(found["missing"]), found["others"]) == (False, 2, ["out/notes.txt"])


@pytest.mark.parametrize(
    "paths", [["out"], ["out/*.tfrecord"], ["out/a-00000-of-00008.tfrecord", "out/a-00002-of-00008.tfrecord"]]
)
def test_a_half_copied_set_is_not_well(command, folder, paths):
    with tfr.ShardWriter("whole/a", shards=8) as writer:
        writer.write_many([b"x" * 10] * 16)
    (folder / "out").mkdir()
    for number in (0, 2):
        name = f"a-{number:05d}-of-00008.tfrecord"
        (folder / "out" / name).write_bytes((folder / "whole" / name).read_bytes())
    done = command("verify", *paths)
    assert done.code == 1
    assert done.out.count(": MISSING: 2 of 8 shards of 'a-*-of-00008.tfrecord' are there\n") == 6
    assert done.err == "2 files, 4 records: 6 missing\n"


def test_a_broken_manifest_is_not_well(command, folder):
    with tfr.ShardWriter("out/a", shards=2) as writer:
        writer.write_many([b"x" * 10] * 16)
    (folder / "out" / "manifest.json").write_text('{"format": "tfrkit-manifest", "shards')
    done = command("verify", "out")
    assert done.code == 1
    assert "out/manifest.json: MANIFEST: out/manifest.json; expected JSON but got: " in done.out
    assert done.err == "2 files, 16 records: 1 other problem\n"


def test_an_interrupted_build_without_any_shard_is_not_well(command, folder):
    interrupted(job(folder / "out"), 0)
    for path in (folder / "out").glob("*.tfrecord"):
        path.unlink()
    done = command("verify", "out")
    assert done.code == 1
    assert ".jsonl: INTERRUPTED: a job that writes 'train' was interrupted: " in done.out
    assert command("head", "out").err.startswith(
        "error: out: no shards in this folder\n\nhint: out/.tfrkit/job-"
    )


def test_other_commands_warn_of_a_set_that_is_not_complete(command, words, folder):
    (folder / "out").mkdir()
    for number in (0, 2):
        (folder / "out" / f"a-{number:05d}-of-00004.tfrecord").write_bytes(
            (folder / "words.tfrecord").read_bytes()
        )
    for arguments in (["head", "out"], ["cat", "out/a-*"], ["schema", "out"], ["stats", "out"]):
        done = command(*arguments)
        assert done.code == 0
        assert (
            "warning: out/a-00001-of-00004.tfrecord: MISSING: 2 of 4 shards of 'a-*-of-00004.tfrecord' are there "
            "(1 more; `tfr verify` lists all)\n"
        ) in done.err


def test_finished_shards_of_an_interrupted_job_belong_to_a_set(command, folder):
    run_job(job(folder, train(3)))
    interrupted(job(folder, replace(train(5), prefix="more")), 2)
    done = command("verify", ".")
    assert "./more-00000-of-00005.tfrecord: " in done.out
    assert "in no set" not in done.err


def test_set_that_an_interrupted_job_was_to_replace_is_still_whole(command, folder):
    run_job(job(folder, train(3)))
    interrupted(job(folder, train(5)), 2, overwrite=True)
    done = command("verify", ".")
    (journal,) = Path(".tfrkit").glob("job-*.jsonl")
    problem = next(line for line in done.out.splitlines() if "INTERRUPTED" in line)
    assert problem.startswith(f"./{journal}: INTERRUPTED: a job that writes 'train' was interrupted: ")
    assert (
        "of its shards are finished and wait to take their place, and what was there before is still there. Run"
        in problem
    )
    assert done.out.count(": ok\n") == 3
    assert "MISSING" not in done.out
    assert done.err == "3 files, 903 records: 1 other problem\n"
