from __future__ import annotations

import json

import tfrkit as tfr
from tests.records.support.made import flip


def test_records_go_into_shards_and_a_table_says_so(command, words):
    done = command("reshard", "words.tfrecord", "out/part", "--shards", "2")
    assert done.code == 0
    assert done.out.splitlines()[0].split() == ["files", "shards", "records", "size"]
    assert done.out.splitlines()[1].split()[:3] == ["part-*-of-00002.tfrecord", "2", "5"]
    assert list(tfr.read_records("out/part-*")) == list(tfr.read_records("words.tfrecord"))


def test_json_has_the_report(command, words):
    done = command("reshard", "words.tfrecord", "out/part", "--shard-size", "100", "--json", "--quiet")
    report = json.loads(done.out)
    assert done.err == ""
    assert report["records"] == 5
    assert len(report["shards"]) > 1


def test_dry_run_writes_nothing(command, words, tmp_path):
    done = command("reshard", "words.tfrecord", "out/part", "--shards", "3", "--dry-run", "--json")
    assert json.loads(done.out)["shards"] == {"part": 3}
    assert not (tmp_path / "out").exists()


def test_existing_output_is_bad_usage_unless_overwritten(command, words):
    assert command("reshard", "words.tfrecord", "out/part", "--shards", "2").code == 0
    again = command("reshard", "words.tfrecord", "out/part", "--shards", "3")
    assert again.code == 2
    assert "there are 2 shards of 'part' already" in again.err
    assert "hint: " in again.err
    assert command("reshard", "words.tfrecord", "out/part", "--shards", "3", "--overwrite").code == 0


def test_folder_and_standard_input_are_inputs(command, words, tmp_path):
    command("reshard", "words.tfrecord", "a/part", "--shards", "3")
    command("reshard", "a", "b/part", "--shards", "2", "--balance", "bytes")
    stream = (tmp_path / "words.tfrecord").read_bytes()
    assert command("reshard", "-", "c/part", "--shards", "2", "--compression", "gzip", stdin=stream).code == 0
    records = list(tfr.read_records("words.tfrecord"))
    assert list(tfr.read_records("b/part-*")) == list(tfr.read_records("c/part-*.gz")) == records


def test_damage_is_bad_data_or_left_out(command, words, tmp_path):
    path = tmp_path / "words.tfrecord"
    path.write_bytes(flip(path.read_bytes(), -1))
    failed = command("reshard", "words.tfrecord", "a/part", "--shards", "2")
    assert failed.code == 1
    assert failed.err.startswith("error: ")
    done = command("reshard", "words.tfrecord", "b/part", "--shards", "2", "--on-corrupt", "skip")
    assert done.code == 0
    assert "1 bad input left out: damaged: bad data CRC (1)" in done.err


def test_contradicting_options_are_bad_usage(command, words):
    done = command("reshard", "words.tfrecord", "a", "--shards", "2", "--shard-size", "1MB")
    assert done.code == 2
    assert "and not both" in done.err
    done = command("reshard", "words.tfrecord", "words.tfrecord", "--shards", "2")
    assert done.code == 2
    assert "Expected a folder and the beginning of names" in done.err
