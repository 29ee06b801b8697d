"""verify says everything that is missing, and checks everything that is there."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import warnings
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.build.job.test_output_ownership import interrupted
from tests.build.support.made import job, train
from tests.records.support.made import GOLDEN, flip, put
from tfrkit.errors import DataLossWarning, NotFoundError


@pytest.fixture
def out(tmp_path):
    """A set of 8 shards with a manifest."""
    with tfr.ShardWriter(tmp_path / "out" / "train", shards=8) as writer:
        writer.write_many([b"record %02d" % number for number in range(80)])
    return tmp_path / "out"


def shard(number: int, count: int = 8, prefix: str = "train") -> str:
    return f"{prefix}-{number:05d}-of-{count:05d}.tfrecord"


def missing(report: tfr.VerifyReport) -> list[str]:
    return [os.path.basename(path) for path in report.missing]


def kinds(report: tfr.VerifyReport) -> list[str]:
    return [problem.kind for problem in report.problems]


def test_a_whole_folder_is_well(out):
    report = tfr.verify(out)
    assert report.ok
    assert (len(report.files), report.records, report.problems, report.others) == (8, 80, (), ())


def test_everything_that_a_manifest_names_and_is_missing_is_listed_and_the_rest_is_checked(out):
    for number in (1, 4, 6):
        (out / shard(number)).unlink()
    put(out / shard(2), flip((out / shard(2)).read_bytes(), 14))
    report = tfr.verify(out)
    assert not report.ok
    assert missing(report) == [shard(1), shard(4), shard(6)]
    assert [problem.text for problem in report.problems[:3]] == [
        "the manifest names it, but it is not there"
    ] * 3
    assert (len(report.files), report.records, len(report.damages)) == (5, 49, 1)
    assert f"{out / shard(4)}: MISSING: the manifest names it" in str(report)
    content = json.loads(json.dumps(report.to_dict()))
    assert content["missing"] == [str(out / shard(number)) for number in (1, 4, 6)]
    assert content["problems"][0] == {
        "kind": "missing",
        "path": str(out / shard(1)),
        "text": "the manifest names it, but it is not there",
    }


def test_a_folder_in_the_place_of_a_shard_is_no_shard(out):
    (out / shard(5)).unlink()
    (out / shard(5)).mkdir()
    report = tfr.verify(out)
    assert (report.ok, missing(report), report.records) == (False, [shard(5)], 70)


def test_a_manifest_that_is_a_link_to_nowhere_is_told(out):
    (out / "manifest.json").unlink()
    (out / "manifest.json").symlink_to("gone.json")
    report = tfr.verify(out)
    assert (report.ok, kinds(report), report.records) == (False, ["manifest"], 80)


def test_all_shards_of_a_manifest_missing_are_all_listed(out):
    for number in range(8):
        (out / shard(number)).unlink()
    report = tfr.verify(out)
    assert missing(report) == [shard(number) for number in range(8)]
    assert report.files == ()


@pytest.mark.parametrize(
    "how", ["folder", "pattern", "list", "unsorted list of strings", "path of the folder with a slash"]
)
def test_half_copied_set_is_not_well(how, out, tmp_path):
    (tmp_path / "half").mkdir()
    for number in (0, 2, 3, 7):
        shutil.copy(out / shard(number), tmp_path / "half")
    half = tmp_path / "half"
    paths = {
        "folder": half,
        "pattern": str(half / "*.tfrecord"),
        "list": sorted(half.iterdir()),
        "unsorted list of strings": [str(path) for path in sorted(half.iterdir(), reverse=True)],
        "path of the folder with a slash": f"{half}/",
    }[how]
    report = tfr.verify(paths)
    assert not report.ok
    assert missing(report) == [shard(number) for number in (1, 4, 5, 6)]
    assert report.problems[0].text == "4 of 8 shards of 'train-*-of-00008.tfrecord' are there"
    assert (len(report.files), report.records) == (4, 40)


def test_several_sets_in_one_folder(out, tmp_path):
    with tfr.ShardWriter(tmp_path / "other" / "val", shards=3) as writer:
        writer.write_many([b"x"] * 9)
    for number in (0, 2):
        shutil.copy(tmp_path / "other" / shard(number, 3, "val"), out)
    (out / shard(5)).unlink()
    (out / "manifest.json").unlink()
    report = tfr.verify(out)
    assert missing(report) == [shard(5), shard(1, 3, "val")]
    assert report.records == 70 + 6
    only = tfr.verify(str(out / "val-*"))
    assert missing(only) == [shard(1, 3, "val")]


def test_a_set_beside_the_one_of_the_manifest_is_checked_and_mentioned(out, tmp_path):
    with tfr.ShardWriter(tmp_path / "other" / "val", shards=3) as writer:
        writer.write_many([b"x"] * 9)
    shutil.copy(tmp_path / "other" / shard(1, 3, "val"), out)
    report = tfr.verify(out)
    assert missing(report) == [shard(0, 3, "val"), shard(2, 3, "val")]
    assert len(report.files) == 9
    assert [os.path.basename(path) for path in report.others] == [shard(1, 3, "val")]


def test_only_what_a_pattern_would_match_is_expected(out):
    (out / shard(6)).unlink()
    assert tfr.verify(str(out / "train-0000[0-3]-*")).ok
    assert missing(tfr.verify(str(out / "train-0000[5-7]-*"))) == [shard(6)]


def test_files_that_are_chosen_one_by_one_are_just_these(out):
    (out / shard(6)).unlink()
    assert tfr.verify(out / shard(1)).ok
    assert tfr.verify([out / shard(1), out / shard(2)]).ok
    assert not tfr.verify([out / shard(number) for number in range(8) if number != 6]).ok


@pytest.mark.parametrize(
    "text", ["", "{", '{"format": "tfrkit-manifest", "version": 1, "shards": 7}', "[" * 5000, "[]"]
)
@pytest.mark.parametrize("how", ["*.tfrecord", ""])
def test_broken_manifest_is_told_and_everything_checked(text, how, out):
    (out / "manifest.json").write_text(text)
    (out / shard(3)).unlink()
    report = tfr.verify(str(out / how) if how else out)
    assert kinds(report) == ["manifest", "missing"]
    assert report.problems[0].path == str(out / "manifest.json")
    assert "expected" in report.problems[0].text
    assert (len(report.files), report.records) == (7, 70)


def test_manifest_of_another_program_is_no_problem_but_mentioned(out, tmp_path):
    (tmp_path / "plain").mkdir()
    put(tmp_path / "plain" / "a.tfrecord", GOLDEN)
    (tmp_path / "plain" / "manifest.json").write_text('{"name": "web app"}')
    report = tfr.verify(tmp_path / "plain")
    assert report.ok
    assert report.others == (str(tmp_path / "plain" / "manifest.json"),)


def test_counts_other_than_in_the_manifest_are_told(out):
    whole = (out / shard(0)).read_bytes()
    (out / shard(0)).write_bytes(whole[: len(whole) // 10 * 9])
    for paths in (out, str(out / "*.tfrecord"), out / shard(0)):
        report = tfr.verify(paths)
        assert kinds(report) == ["differs"]
        assert report.problems[0].text == "the manifest says 10 records in 250 bytes, but there are 9 in 225"


def test_shards_that_the_manifest_should_name_are_told(out):
    shutil.copy(out / shard(0), out / shard(0, 2))
    shutil.copy(out / shard(0), out / shard(1, 2))
    report = tfr.verify(out)
    assert kinds(report) == ["not in manifest"] * 2
    assert [problem.path for problem in report.problems] == [str(out / shard(number, 2)) for number in (0, 1)]
    assert len(report.files) == 10


def test_number_beyond_the_count_is_told(tmp_path):
    for number in (0, 1, 5):
        put(tmp_path / shard(number, 2), GOLDEN)
    report = tfr.verify(tmp_path)
    assert [(problem.kind, os.path.basename(problem.path)) for problem in report.problems] == [
        ("stray", shard(5, 2))
    ]


def test_files_that_do_not_belong_to_the_set_are_mentioned(out):
    (out / "notes.txt").write_text("mine")
    put(out / "extra.tfrecord", GOLDEN)
    (out / shard(0)).with_suffix(".tfrecord.idx").write_text("0 24\n")  # as DALI has it
    left = put(out / ".tfrkit" / "train-00000.123-0123abcd.tmp", b"half")
    report = tfr.verify(out)
    assert report.ok
    assert report.others == (str(out / "notes.txt"), str(out / "extra.tfrecord"), str(left))
    assert report.records == 83


@pytest.mark.parametrize("after", [1, 2, 3])  # with none finished, nothing is left to verify
def test_interrupted_build_is_not_well(after, tmp_path):
    made = job(tmp_path / "out", train(4), train(2, prefix="val"))
    interrupted(made, after)
    there = sorted((tmp_path / "out").glob("*.tfrecord"))
    report = tfr.verify(tmp_path / "out")
    assert not report.ok
    assert kinds(report)[0] == "interrupted"
    problem = report.problems[0]
    assert os.path.dirname(problem.path) == str(tmp_path / "out" / ".tfrkit")
    assert problem.text == (
        f"a job that writes 'train', 'val' was interrupted: {len(there)} of its shards are finished. "
        "Run the same command again, which does the rest"
    )
    assert [file.path for file in report.files] == [str(path) for path in there]
    if there:
        assert len(report.missing) == 4 - len(there)
        assert "interrupted" in kinds(tfr.verify(str(tmp_path / "out" / "*")))


def test_finished_shard_of_an_interrupted_build_that_is_gone_or_changed_is_told(tmp_path):
    interrupted(job(tmp_path / "out"), 2)
    first, second = sorted((tmp_path / "out").glob("*.tfrecord"))[:2]
    first.unlink()
    second.write_bytes(second.read_bytes() * 2)
    report = tfr.verify(tmp_path / "out")
    assert str(first) in report.missing
    [differs] = [problem for problem in report.problems if problem.kind == "differs"]
    assert differs.path == str(second)
    assert differs.text.startswith("the journal says ")


def test_shard_of_an_interrupted_build_that_its_journal_does_not_name_is_told(tmp_path):
    interrupted(job(tmp_path / "out"), 1)
    there = sorted((tmp_path / "out").glob("*.tfrecord"))
    extra = tmp_path / "out" / shard(3, 4)
    shutil.copy(there[0], extra)
    [problem] = [
        problem for problem in tfr.verify(tmp_path / "out").problems if problem.kind == "not in manifest"
    ]
    assert problem.path == str(extra)
    assert problem.text.startswith("the journal does not name it")


def test_build_that_runs_right_now_is_told(tmp_path):
    interrupted(job(tmp_path / "out"), 1)
    [journal] = (tmp_path / "out" / ".tfrkit").glob("job-*.jsonl")
    with open(journal, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        problem = tfr.verify(tmp_path / "out").problems[0]
    assert problem.kind == "running"
    assert problem.text.endswith("Wait for it")


@pytest.mark.parametrize(
    "text", [b"", b'{"format": "tfrkit-j', b"[" * 100_000 + b"\n", b"\xff\n", b'{"prefixes": 7}\n']
)
def test_journal_that_says_nothing_is_still_one(text, out):
    put(out / ".tfrkit" / "job-0123456789abcdef.jsonl", text)
    report = tfr.verify(out)
    assert kinds(report) == ["interrupted"]
    assert report.problems[0].text.startswith("a job was interrupted: 0 of its shards are finished")
    assert report.records == 80


def test_folder_without_shards_is_an_error(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(NotFoundError, match=r"no shards in this folder\. Name files, or a pattern"):
        tfr.verify(tmp_path)


def test_a_set_of_very_many_takes_no_time(tmp_path):
    put(tmp_path / "a-00000-of-99999999999.tfrecord", GOLDEN)
    report = tfr.verify(tmp_path)
    assert len(report.missing) == 10_001
    assert report.problems[-1].text == "and 99,999,989,998 more"


def test_dangling_link_is_a_file_that_cannot_be_read(tmp_path):
    put(tmp_path / shard(0, 2), GOLDEN)
    os.symlink(tmp_path / "nowhere", tmp_path / shard(1, 2))
    report = tfr.verify(tmp_path)
    assert [file.ok for file in report.files] == [True, False]
    assert "No such file" in report.files[1].error


def test_readers_warn_of_a_pattern_that_misses_shards(out):
    (out / shard(6)).unlink()
    with pytest.warns(DataLossWarning, match=r"00006-of-00008\.tfrecord; No such file.* 1 of 8 shards"):
        assert sum(1 for _ in tfr.read_records(str(out / "train-*"))) == 70
    with pytest.warns(DataLossWarning, match="1 of 8 shards"):
        assert sum(1 for _ in tfr.TFRecordDataset(str(out / "train-*"))) == 70
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sum(1 for _ in tfr.read_records(str(out / "train-0000[0-3]*"))) == 40
        assert sum(1 for _ in tfr.read_records([str(path) for path in Path(out).glob("*.tfrecord")])) == 70


def test_set_that_lies_aside_is_told(out):
    for number in range(8):
        os.replace(out / shard(number), out / ".tfrkit" / f"{shard(number)}.old")
    (out / "manifest.json").unlink()
    report = tfr.verify(out)
    assert kinds(report) == ["interrupted"] * 8
    assert report.problems[0].path == str(out / ".tfrkit" / f"{shard(0)}.old")
    assert report.files == ()


def test_what_a_killed_overwrite_left_beside_the_new_set_is_mentioned(out):
    old = put(out / ".tfrkit" / f"{shard(0, 2)}.old", GOLDEN)
    report = tfr.verify(out)
    assert (report.ok, report.others) == (True, (str(old),))
