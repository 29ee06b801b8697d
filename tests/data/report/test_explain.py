"""explain: the plan as written and as it runs."""

from __future__ import annotations

import tfrkit as tfr

SPEC = {"label": tfr.FixedLenFeature([], "int64")}


def lines_of(ds: tfr.Dataset) -> list[str]:
    return [line.strip() for line in ds.explain().splitlines()]


def test_says_what_runs_as_one(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_example({"label": 1})
    lines = lines_of(tfr.TFRecordDataset(path).shuffle(9, seed=1).parse(SPEC).batch(4))
    assert lines[0] == "as written:"
    assert lines[1:3] == ["batch(4)", "parse(1 feature)"]
    assert lines[3].split() == ["shuffle(9)", "seeks"]
    assert lines[4].startswith("TFRecordDataset(")
    assert lines[4].endswith("seeks")
    assert lines[6:8] == ["as it runs:", "parse(1 feature) + batch(4)"]


def test_says_that_nothing_is_rewritten():
    assert "as it runs: the same" in lines_of(tfr.Dataset.range(3).batch(2))


def test_says_what_replays():
    signature = tfr.TensorSpec((), "int64")
    numbers = tfr.Dataset.from_generator(lambda: iter([1, 2]), output_signature=signature)
    lines = lines_of(numbers.map(lambda x: x).shuffle(5))
    assert [line.split()[-1] for line in (lines[1], lines[3])] == ["seeks", "replays"]
    assert lines[2].startswith("map(")


def test_inputs_of_a_zip_stand_below_it():
    text = tfr.Dataset.zip(tfr.Dataset.range(3), tfr.Dataset.range(4).take(2)).explain()
    assert "\n  zip()\n    range(0, 3, 1)    seeks\n    take(2)\n      range(0, 4, 1)  seeks\n" in text
