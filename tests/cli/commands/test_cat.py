from __future__ import annotations

import json

import tfrkit as tfr


def test_all_records_are_shown(command, words):
    done = command("cat", "words.tfrecord", "--json", "--key", "name")
    assert [json.loads(line)["features"]["name"] for line in done.out.splitlines()] == [
        [name] for name in words
    ]


def test_count_and_skip_choose(command, words):
    done = command("cat", "words.tfrecord", "--json", "-n", "2", "--skip", "2")
    assert [json.loads(line)["record"] for line in done.out.splitlines()] == [2, 3]


def test_many_records_of_many_blocks_come_in_order(command, folder):
    with tfr.TFRecordWriter("a.tfrecord.gz") as writer:
        writer.write_batch({"n": range(5000), "filler": [b"x" * 600] * 5000})
    done = command("cat", "a.tfrecord.gz", "--json", "--key", "n")
    assert [json.loads(line)["features"]["n"][0] for line in done.out.splitlines()] == list(range(5000))


def test_a_feature_that_comes_late_is_found(command, folder):
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_batch({"n": range(3000), "filler": [b"x" * 600] * 3000})
        writer.write_example({"late": 1})
    done = command("cat", "a.tfrecord", "--key", "late", "--json")
    assert done.code == 0
    assert json.loads(done.out.splitlines()[-1])["features"] == {"late": [1]}


def test_random_without_count_is_all_of_them(command, words):
    done = command("cat", "words.tfrecord", "--random", "--json")
    assert len(done.out.splitlines()) == 5
