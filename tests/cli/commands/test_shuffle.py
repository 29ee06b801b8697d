from __future__ import annotations

import tfrkit as tfr


def test_records_are_shuffled_by_seed(command, words):
    assert command("shuffle", "words.tfrecord", "a.tfrecord", "--seed", "1").code == 0
    assert command("shuffle", "words.tfrecord", "b.tfrecord", "--seed", "1", "--workers", "1").code == 0
    records = list(tfr.read_records("words.tfrecord"))
    assert sorted(tfr.read_records("a.tfrecord")) == sorted(records)
    assert list(tfr.read_records("a.tfrecord")) == list(tfr.read_records("b.tfrecord"))


def test_dry_run_says_that_it_shuffles(command, words, tmp_path):
    done = command("shuffle", "words.tfrecord", "out/m", "--shards", "2", "--dry-run")
    assert "shuffled: yes" in done.out
    assert not (tmp_path / "out").exists()


def test_prefix_without_shards_is_bad_usage(command, words):
    done = command("shuffle", "words.tfrecord", "out/m")
    assert done.code == 2
    assert "or ask for shards" in done.err
