from __future__ import annotations

import json

import tfrkit as tfr


def test_files_are_compressed_into_a_folder(command, words):
    assert command("compress", "words.tfrecord", "small", "--compression", "xz", "--level", "1").code == 0
    assert list(tfr.read_records("small/words.tfrecord.xz")) == list(tfr.read_records("words.tfrecord"))


def test_gzip_is_the_default(command, words):
    assert command("compress", "words.tfrecord", "small").code == 0
    assert list(tfr.read_records("small/words.tfrecord.gz")) == list(tfr.read_records("words.tfrecord"))


def test_table_says_what_each_compression_gives(command, words, tmp_path):
    done = command("compress", "--table", "words.tfrecord", "--quiet")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split()[:4] == ["compression", "level", "size", "ratio"]
    assert [line.split()[0] for line in lines[1:4]] == ["none", "gzip", "gzip"]
    assert lines[-1].startswith("measured on the first ")
    assert [path.name for path in tmp_path.iterdir()] == ["words.tfrecord"]


def test_table_as_json(command, words):
    done = command("compress", "--table", "words.tfrecord", "--json", "--sample-size", "1kB")
    rows = json.loads(done.out)["compressions"]
    assert {row["compression"] for row in rows} == {"none", "gzip", "zlib", "xz", "zstd"}


def test_inputs_without_output_are_bad_usage(command, words):
    done = command("compress", "words.tfrecord")
    assert done.code == 2
    assert "hint: say `tfr compress words.tfrecord FOLDER`" in done.err


def test_table_of_an_empty_file_is_bad_data(command, words, tmp_path):
    (tmp_path / "empty.tfrecord").write_bytes(b"")
    done = command("compress", "--table", "empty.tfrecord", "--quiet")
    assert done.code == 1
    assert "Expected some records to measure with" in done.err
