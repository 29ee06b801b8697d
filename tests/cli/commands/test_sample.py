from __future__ import annotations

import tfrkit as tfr


def test_sample_of_some_records(command, words):
    assert command("sample", "words.tfrecord", "some.tfrecord", "-n", "2", "--seed", "1").code == 0
    records = list(tfr.read_records("words.tfrecord"))
    some = list(tfr.read_records("some.tfrecord"))
    assert len(some) == 2
    assert [records.index(record) for record in some] == sorted(records.index(record) for record in some)


def test_fraction_into_shards(command, words):
    assert command("sample", "words.tfrecord", "out/s", "--fraction", "1", "--shards", "2").code == 0
    assert list(tfr.read_records("out/s-*")) == list(tfr.read_records("words.tfrecord"))


def test_neither_or_too_many_are_bad_usage(command, words):
    done = command("sample", "words.tfrecord", "some.tfrecord")
    assert (done.code, "-n or --fraction" in done.err) == (2, True)
    done = command("sample", "words.tfrecord", "some.tfrecord", "-n", "1000")
    assert (done.code, "which is how many there are, but got 1000" in done.err) == (2, True)
    assert command("sample", "words.tfrecord", "some.tfrecord", "--fraction", "1.5").code == 2
