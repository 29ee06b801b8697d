from __future__ import annotations

import json

import pytest

import tfrkit as tfr


def counts(text: str) -> dict[str, int]:
    return {shard["name"]: shard["records"] for shard in json.loads(text)["shards"]}


@pytest.fixture
def hundred(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tfr.TFRecordWriter("all.tfrecord") as writer:
        writer.write_batch({"user": [f"u{n % 10}" for n in range(100)], "n": list(range(100))})


def test_parts_are_nine_to_one_by_default(command, hundred):
    done = command("split", "all.tfrecord", "out", "--json")
    assert counts(done.out) == {"train.tfrecord": 90, "validation.tfrecord": 10}


def test_parts_and_shards_can_be_given(command, hundred):
    done = command(
        "split", "all.tfrecord", "out", "--parts", "a=0.5,b=0.3,c=0.2", "--shards", "a=2", "--in-order", "--json"
    )  # fmt: skip
    assert counts(done.out) == {
        "a-00000-of-00002.tfrecord": 25,
        "a-00001-of-00002.tfrecord": 25,
        "b.tfrecord": 30,
        "c.tfrecord": 20,
    }


def test_every_and_by(command, hundred):
    assert counts(command("split", "all.tfrecord", "x", "--every", "4", "--json").out) == {
        "train.tfrecord": 75,
        "validation.tfrecord": 25,
    }
    done = command(
        "split", "all.tfrecord", "y", "--by", "user", "--parts", "a=0.5,b=0.5", "--json", "--seed", "3"
    )
    assert all(number % 10 == 0 for number in counts(done.out).values())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--parts", "a"], "expected NAME=SHARE but --parts has 'a'"),
        (["--parts", "a=x"], "expected NAME=SHARE but --parts has 'a=x'"),
        (["--parts", "a=1/0"], "expected NAME=SHARE but --parts has 'a=1/0'"),
        (["--parts", "a=0.5,b=0.6"], "add up to 1"),
        (["--parts", "a=0.5,b=0.5", "--every", "2"], "with --every the parts have no shares"),
        (["--in-order", "--by", "user"], "Expected at most one of"),
        (
            ["--shards", "none"],
            "such as 8 or train=8,validation=2, for shards (--shards) but got 'none'.",
        ),
        (["--shards", "x=2"], "but got one for 'x'"),
    ],
)
def test_wrong_options_are_bad_usage(options, expected, command, hundred):
    done = command("split", "all.tfrecord", "out", *options)
    assert done.code == 2
    assert expected in done.err


def test_feature_that_is_not_there_is_bad_data(command, hundred):
    done = command("split", "all.tfrecord", "out", "--by", "nobody")
    assert done.code == 1
    assert "expected the feature 'nobody' in every record but record 0 of 'all.tfrecord' has none" in done.err
