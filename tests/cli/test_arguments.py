from __future__ import annotations

import gzip
import json
import os

import pytest

import tfrkit as tfr
from tfrkit.cli.arguments import shard_files
from tfrkit.cli.console import BAD_DATA, BAD_USAGE, CommandError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, records=(b"x",)):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(list(records))


def test_files_and_globs_come_in_the_order_given(folder):
    for name in ("b.tfrecord", "a1.tfrecord", "a0.tfrecord"):
        write(name)
    assert shard_files(["b.tfrecord", "a*.tfrecord"]) == ["b.tfrecord", "a0.tfrecord", "a1.tfrecord"]


def test_a_file_whose_name_is_a_glob_is_that_file(folder):
    write("a[0].tfrecord")
    write("a0.tfrecord")
    assert shard_files(["a[0].tfrecord"]) == ["a[0].tfrecord"]


def test_a_folder_means_the_shards_of_its_manifest(folder):
    with tfr.ShardWriter("out/train", shards=2) as writer:
        writer.write_many([b"x", b"y"])
    write("out/other.tfrecord")
    names = ["out/train-00000-of-00002.tfrecord", "out/train-00001-of-00002.tfrecord"]
    assert shard_files(["out"]) == names
    assert shard_files(["out/"]) == names


def test_shards_of_a_manifest_that_are_gone_are_named(folder):
    with tfr.ShardWriter("out/train", shards=2) as writer:
        writer.write_many([b"x", b"y"])
    os.unlink("out/train-00001-of-00002.tfrecord")
    with pytest.raises(CommandError, match="1 of the 2 shards in its manifest are not there") as caught:
        shard_files(["out"])
    assert caught.value.exit_code == BAD_DATA
    assert "'train-00001-of-00002.tfrecord'" in str(caught.value)


def test_a_manifest_whose_shards_are_all_gone_does_not_count(folder):
    with tfr.ShardWriter("out/train", shards=2) as writer:
        writer.write_many([b"x", b"y"])
    for number in range(2):
        os.unlink(f"out/train-{number:05d}-of-00002.tfrecord")
    write("out/other.tfrecord")
    assert shard_files(["out"]) == ["out/other.tfrecord"]


def test_a_folder_without_manifest_means_what_is_named_or_looks_like_records(folder):
    write("out/数据 1.tfrecord")
    write("out/part-00000")
    write("out/part-00001.gz")
    for name, content in {
        "labels.txt": b"cat\ndog\n",
        "report.json": b"{}",
        "notes.gz": gzip.compress(b"not a record at all"),
        ".hidden.tfrecord": b"",
        "数据 1.tfrecord.idx": b"0 17\n",
    }.items():
        (folder / "out" / name).write_bytes(content)
    (folder / "out" / "manifest.json").write_text(json.dumps({"name": "somebody else's"}))
    assert shard_files(["out"]) == ["out/part-00000", "out/part-00001.gz", "out/数据 1.tfrecord"]


def test_names_that_are_no_utf8_work(folder):
    name = os.fsdecode(b"out/caf\xe9.tfrecord")
    write(name)
    assert shard_files(["out"]) == [name]
    assert shard_files(["out/*.tfrecord"]) == [name]


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("train.tfrecrod", "train.tfrecrod: no such file or folder", "did you mean 'train.tfrecord'?"),
        ("zzz", "zzz: no such file or folder", "check the folder and the spelling."),
        ("no/zzz", "no/zzz: no such file or folder", "there is no folder 'no' either."),
        ("*.tfr", "no files match '*.tfr'", "check the folder and the spelling; dot files"),
        ("empty", "empty: no shards in this folder", "name files, or a glob such as 'empty/**/*.tfrecord'."),
        ("-", "this command cannot read standard input", "write what comes through the pipe to a file"),
    ],
)
def test_what_is_not_there_is_an_error_of_usage_with_a_hint(folder, path, message, hint):
    write("train.tfrecord")
    (folder / "empty").mkdir()
    with pytest.raises(CommandError) as caught:
        shard_files([path])
    assert str(caught.value).startswith(message)
    assert caught.value.hint.startswith(hint)
    assert caught.value.exit_code == BAD_USAGE


def test_standard_input_stays_a_dash_where_it_is_allowed():
    assert shard_files(["-"], stdin=True) == ["-"]
