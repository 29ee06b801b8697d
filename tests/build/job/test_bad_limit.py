"""How much bad input a job may leave out: never all of it, and not more than the user says."""

from __future__ import annotations

import inspect
import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tfrkit
from tests.build.support.image_samples import photos, write_files
from tfrkit import build
from tfrkit.build.job.bad_limit import BadLimit
from tfrkit.build.reshape.reshard import reshard
from tfrkit.build.reshape.select import select
from tfrkit.errors import InvalidArgumentError
from tfrkit.records.check.completeness import find_shards
from tfrkit.records.check.verify import verify_files


def nothing_published(out: Path) -> bool:
    return not out.exists() or [path.name for path in out.iterdir()] == [".tfrkit"]


@pytest.mark.parametrize(
    ("given", "number", "share"),
    [(None, None, None), (0, 0, None), ("12", 12, None), ("0.5%", None, Fraction(1, 200)), ("100%", None, 1)],
)
def test_numbers_and_shares_are_read(given, number, share):
    limit = BadLimit.parse(given)
    assert (limit.number, limit.share) == (number, share)


@pytest.mark.parametrize("given", [-1, "-2", "101%", "%", "x", "", 0.5, True, "1e3", "٣"])
def test_other_texts_are_refused(given):
    with pytest.raises(InvalidArgumentError, match="Expected a number from 0 on, or a share up to 100%"):
        BadLimit.parse(given)


@pytest.mark.parametrize(
    ("name", "text"),
    [("in.csv", "a,b\n1\n2,3,4\nx,y,z\n"), ("in.jsonl", "{\n[1]\nx\n"), ("in.tsv", "a\tb\n1\n2\n3\n")],
)
@pytest.mark.parametrize("shuffle", [False, True])
def test_all_rows_bad_is_a_failure_with_the_first_reasons(name, text, shuffle, tmp_path):
    (tmp_path / name).write_text(text)
    options = {"column": ["a:int64"]} if name == "in.jsonl" else {}
    with pytest.raises(InvalidArgumentError) as caught:
        build.table(tmp_path / name, tmp_path / "out", shuffle=shuffle, **options)
    if name != "in.jsonl":
        assert "All 3 inputs are bad" in str(caught.value)
        assert f"{name}, line 2: wrong number of fields" in str(caught.value)
    assert nothing_published(tmp_path / "out")
    assert not list(tmp_path.glob("out/*.tfrecord"))


def test_all_values_of_another_kind_is_a_failure(tmp_path):
    (tmp_path / "in.csv").write_text("a\nx\ny\n")
    with pytest.raises(InvalidArgumentError, match=r"All 2 inputs are bad.*line 2: not an int64.*got 'x'"):
        build.table(tmp_path / "in.csv", tmp_path / "out", column=["a:int64"])
    assert nothing_published(tmp_path / "out")
    (tmp_path / "in.csv").write_text("a\n1\ny\n")  # mended, and no --overwrite is needed
    assert build.table(tmp_path / "in.csv", tmp_path / "out", column=["a:int64"]).records == 1


def test_all_photos_bad_is_a_failure(tmp_path):
    write_files(tmp_path / "photos", {"cat/1.jpg": b"no photo", "cat/2.jpg": b"nor this"})
    with pytest.raises(InvalidArgumentError, match="All 2 inputs are bad"):
        build.images(tmp_path / "photos", tmp_path / "out")
    assert nothing_published(tmp_path / "out")


@pytest.mark.parametrize("max_bad", [2, "3", "40%"])
def test_as_much_as_may_be_bad_is_fine(max_bad, tmp_path):
    (tmp_path / "in.csv").write_text("a,b\n1,2\n3\n4,5\n6\n7,8\n")
    report = build.table(tmp_path / "in.csv", tmp_path / "out", max_bad=max_bad)
    assert (report.records, sum(report.bad.values())) == (3, 2)


@pytest.mark.parametrize("max_bad", [0, 1, "39%", "0%"])
def test_more_than_may_be_bad_is_a_failure_and_a_larger_limit_resumes(max_bad, tmp_path):
    (tmp_path / "in.csv").write_text("a,b\n1,2\n3\n4,5\n6\n7,8\n")
    with pytest.raises(InvalidArgumentError, match=r"2 of 5 inputs are bad, and at most .* may be"):
        build.table(tmp_path / "in.csv", tmp_path / "out", max_bad=max_bad)
    assert nothing_published(tmp_path / "out")
    assert build.table(tmp_path / "in.csv", tmp_path / "out").records == 3
    with pytest.raises(InvalidArgumentError, match="2 of 5 inputs are bad"):  # a complete one is judged, too
        build.table(tmp_path / "in.csv", tmp_path / "out", max_bad=max_bad)


def test_shards_with_too_much_left_out_are_not_among_others(tmp_path):
    (tmp_path / "in.csv").write_text("a,b\n1,2\n3\n4,5\n")
    build.table(tmp_path / "in.csv", tmp_path / "out", prefix="other")
    there = {path.name for path in (tmp_path / "out").iterdir()}
    with pytest.raises(InvalidArgumentError, match="Nothing was published"):
        build.table(tmp_path / "in.csv", tmp_path / "out", max_bad=0, shards=2)
    assert {path.name for path in (tmp_path / "out").iterdir()} == there
    (problem,) = verify_files(find_shards(str(tmp_path / "out"))).problems
    assert problem.kind == "interrupted"
    assert problem.text == (
        "a job that writes 'data' was interrupted: 2 of its shards are finished and wait to take their place, and "
        "what was there before is still there. Run the same command again, which does the rest"
    )
    assert build.table(tmp_path / "in.csv", tmp_path / "out", max_bad="50%", shards=2).resumed == 2
    assert verify_files(find_shards(str(tmp_path / "out"))).ok


def test_photos_that_the_plan_leaves_out_count(tmp_path):
    write_files(tmp_path / "photos", {**photos({"cat": 3}), "cat/x.jpg": b"", "cat/y.jpg": b""})
    with pytest.raises(InvalidArgumentError, match=r"2 inputs are bad, and at most 1 may be: .*cat/x.jpg"):
        build.images(tmp_path / "photos", tmp_path / "out", max_bad=1)
    assert not (tmp_path / "out").exists()
    with pytest.raises(InvalidArgumentError, match="2 of 5 inputs are bad, and at most 39% may be"):
        build.images(tmp_path / "photos", tmp_path / "out", max_bad="39%")
    assert build.images(tmp_path / "photos", tmp_path / "out", max_bad="40%").records == 3


def damaged(path: Path) -> Path:
    with tfrkit.TFRecordWriter(path) as writer:
        writer.write_batch({"label": list(range(10))})
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    path.write_bytes(bytes(data))
    return path


def test_damages_that_are_skipped_count_as_bad(tmp_path):
    path = damaged(tmp_path / "in.tfrecord")
    with pytest.raises(InvalidArgumentError, match="1 of 10 inputs are bad, and at most 9% may be: damaged"):
        select(path, tmp_path / "a.tfrecord", where="label > 7", on_corrupt="skip", max_bad="9%")
    assert (
        select(path, tmp_path / "b.tfrecord", where="label > 7", on_corrupt="skip", max_bad="10%").records
        == 2
    )
    with pytest.raises(InvalidArgumentError, match="1 inputs are bad, and at most 0 may be: damaged"):
        reshard(path, tmp_path / "c", shards=2, on_corrupt="skip", max_bad=0)
    assert reshard(path, tmp_path / "c", shards=2, on_corrupt="skip", max_bad=1).records == 9


def test_nothing_chosen_of_a_feature_that_is_there_is_fine(tmp_path):
    path = damaged(tmp_path / "in.tfrecord")
    report = select(path, tmp_path / "none.tfrecord", where="label > 70", on_corrupt="skip")
    assert (report.records, report.passed) == (0, 9)
    again = select(path, tmp_path / "none.tfrecord", where="label > 70", on_corrupt="skip")
    assert (again.records, again.passed, again.resumed) == (0, 9, 1)


def test_a_report_says_how_many_were_passed_over(tmp_path):
    with tfrkit.TFRecordWriter(tmp_path / "in.tfrecord") as writer:
        writer.write_batch({"label": [1, 2, 3]})
    assert select(tmp_path / "in.tfrecord", tmp_path / "few.tfrecord", where="label > 2").passed == 2
    (entry,) = json.loads((tmp_path / "report.json").read_text())["jobs"].values()
    assert (entry["records"], entry["passed"]) == (1, 2)


def _damaged(path: Path) -> str:
    """A file of 20 records, 3 of them damaged."""
    with tfrkit.TFRecordWriter(path) as writer:
        for number in range(20):
            png = tfrkit.image.encode_png(np.full((2, 2, 3), number, np.uint8))
            writer.write_example({"image/encoded": png, "image/label": number % 2})
    data = bytearray(path.read_bytes())
    for frame in tfrkit.RecordFile(str(path)).index.frames[[3, 8, 15]].tolist():
        data[frame + 20] ^= 1
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize(
    ("function", "name", "options"),
    [
        (tfrkit.compress, "out", {}),
        (tfrkit.merge, "out.tfrecord", {}),
        (tfrkit.reshard, "out/x", {"shards": 2}),
        (tfrkit.sample, "out/x", {"fraction": 1.0, "shards": 2}),
        (tfrkit.select, "out", {"where": "`image/label` >= 0"}),
        (tfrkit.shuffle, "out/x", {"shards": 2}),
        (tfrkit.split, "out", {"parts": {"a": 0.5, "b": 0.5}}),
        (build.export, "out.jsonl", {}),
        (build.export, "out.parquet", {}),
        (build.export_images, "out", {}),
    ],
)
def test_every_function_that_reads_records_has_one_limit(function, name, options, tmp_path):
    source = _damaged(tmp_path / "in.tfrecord")
    for limit in (2, "2", "14.9%"):
        with pytest.raises(InvalidArgumentError) as caught:
            function(source, tmp_path / name, on_corrupt="skip", max_bad=limit, **options)
        text = rf"3( of 20)? inputs are bad, and at most {re.escape(str(limit))} may be: damaged"
        assert re.match(text, str(caught.value))
        assert str(caught.value).endswith("Fix the input, or allow more with max_bad= (--max-bad).")
        assert nothing_published(tmp_path / Path(name).parts[0])
    with pytest.raises(InvalidArgumentError, match=r"max_bad \(--max-bad\)"):
        function(source, tmp_path / name, max_bad="many", **options)
    function(source, tmp_path / name, on_corrupt="skip", max_bad="15%", **options)


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv"])
def test_export_of_nothing_but_damage_is_an_error(name, tmp_path):
    (tmp_path / "in.tfrecord").write_bytes(bytes(range(1, 100)))
    with pytest.raises(
        InvalidArgumentError, match=r"All 1 inputs are bad, so there is nothing to write: damaged"
    ):
        build.export(str(tmp_path / "in.tfrecord"), tmp_path / name, on_corrupt="skip")
    assert nothing_published(tmp_path / name)


def test_every_building_function_has_the_limit():
    functions = [build.table, build.images, build.export, build.export_images]
    functions += [tfrkit.compress, tfrkit.merge, tfrkit.reshard, tfrkit.sample, tfrkit.select, tfrkit.shuffle]
    for function in [*functions, tfrkit.split]:
        assert inspect.signature(function).parameters["max_bad"].default is None, function
