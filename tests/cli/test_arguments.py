from __future__ import annotations

import gzip
import json
import os

import pytest
import typer
from typer.testing import CliRunner

import tfrkit as tfr
from tfrkit.cli.arguments import Compression, OnCorrupt, ShardSize, shard_files, size_bytes
from tfrkit.cli.console import BAD_DATA, BAD_USAGE, CommandError


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("256MB", 256_000_000), ("64MiB", 1 << 26), ("1g", 10**9), ("0.5 kB", 500), ("2TiB", 2 << 40)],
)
def test_sizes_are_read_with_their_unit(text, size):
    assert size_bytes(text) == size


@pytest.mark.parametrize("text", ["", "MB", "12 apples", "-3", "1e9", "MiB4"])
def test_what_is_no_size_is_refused_with_an_example(text):
    with pytest.raises(typer.BadParameter, match="expected a size such as 256MB, 1GB, 64MiB or 4096 but got"):
        size_bytes(text)


def test_sizes_below_a_byte_are_refused():
    with pytest.raises(typer.BadParameter, match="at least 1 byte"):
        size_bytes("0")


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


def test_options_of_one_kind_are_read_alike():
    app = typer.Typer(rich_markup_mode=None)

    @app.command()
    def show(
        size: ShardSize = None, compression: Compression = None, on_corrupt: OnCorrupt = "raise"
    ) -> None:
        print(size, compression, on_corrupt)

    def run(*arguments):
        return CliRunner().invoke(app, list(arguments))

    assert run().stdout == "None None raise\n"
    assert run("--shard-size", "1MB", "--compression", "GZIP", "--on-corrupt", "skip").stdout == (
        "1000000 gzip skip\n"
    )
    for arguments in (("--shard-size", "much"), ("--compression", "rar"), ("--on-corrupt", "cry")):
        assert run(*arguments).exit_code == 2
