"""Wherever a path is taken, a URL without the extra `remote` says which extra it needs."""

from __future__ import annotations

import sys

import pytest

import tfrkit as tfr
from tfrkit import tf
from tfrkit.cli.main import run
from tfrkit.errors import MissingExtraError

# Names that no other test opens: a client that was made while obstore was there would be found again.
S3 = "s3://no-extra-bucket/a.tfrecord"
WEB = "https://no-extra-host.invalid/a.tfrecord"
OTHER = "sftp://no-extra-host/a.tfrecord"
INSTALL = "which is not installed. Install it with: pip install 'tfrkit[remote]'"
MESSAGES = {
    S3: f"Opening s3:// URLs needs the package obstore, {INSTALL}",
    WEB: f"Opening https:// URLs needs the package obstore, {INSTALL}",
    OTHER: f"Opening sftp:// URLs needs the package fsspec, {INSTALL}",
}
READERS = {
    "read_records": lambda url: list(tfr.read_records(url)),
    "read_blocks": lambda url: list(tfr.read_blocks(url)),
    "read_examples": lambda url: list(tfr.read_examples(url)),
    "read_table": tfr.read_table,
    "RecordFile": tfr.RecordFile,
    "RecordFiles": lambda url: tfr.RecordFiles(url)[0],
    "verify": tfr.verify,
    "repair": lambda url: tfr.repair(url, "out.tfrecord"),
    "inspect": tfr.inspect,
    "stats": tfr.stats,
    "diff": lambda url: tfr.diff(url, url),
    "TFRecordDataset": lambda url: list(tfr.TFRecordDataset(url)),
    "tf.data.TFRecordDataset": lambda url: list(tf.data.TFRecordDataset(url)),
    "tf.io.gfile": lambda url: tf.io.gfile.GFile(url).read(),
    "build.table": lambda url: tfr.build.table(url, "out"),
    "build.images": lambda url: tfr.build.images(url, "out"),
}
WRITERS = {
    "TFRecordWriter": tfr.TFRecordWriter,
    "tf.io.TFRecordWriter": tf.io.TFRecordWriter,
    "ShardWriter": lambda url: tfr.ShardWriter(url, shards=2).__enter__(),
    "repair": lambda url: tfr.repair("a.tfrecord", url),
    "build.table": lambda url: tfr.build.table("a.csv", url),
}
COMMANDS = [
    "head URL",
    "count URL",
    "schema URL",
    "stats URL",
    "diff URL URL",
    "verify URL",
    "repair URL out.tfrecord",
    "repair a.tfrecord URL",
    "index URL",
    "reshard a.tfrecord URL/train --shards 2",
    "merge URL out.tfrecord",
    "merge a.tfrecord URL",
    "export jsonl URL out.jsonl",
    "build table URL out",
    "build table a.csv URL",
    "build table @URL out",
    "build images URL out",
]


@pytest.fixture(autouse=True)
def without_packages(monkeypatch, tmp_path):
    for name in ("obstore", "obstore.store", "obstore.exceptions", "fsspec"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.chdir(tmp_path)
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_example({"x": 1})
    (tmp_path / "a.csv").write_text("x\n1\n")


@pytest.mark.parametrize("url", MESSAGES)
@pytest.mark.parametrize("name", READERS)
def test_readers_name_the_extra(name, url):
    with pytest.raises(MissingExtraError) as caught:
        READERS[name](url)
    assert str(caught.value) == MESSAGES[url]


@pytest.mark.parametrize("url", [S3, OTHER])
@pytest.mark.parametrize("name", WRITERS)
def test_writers_name_the_extra(name, url):
    with pytest.raises(MissingExtraError) as caught:
        WRITERS[name](url)
    assert str(caught.value) == MESSAGES[url]


@pytest.mark.parametrize("url", [S3, OTHER])
@pytest.mark.parametrize("line", COMMANDS)
def test_commands_name_the_extra(line, url, capsys):
    assert run(line.replace("URL", url).split()) == 2
    assert capsys.readouterr() == ("", f"error: {MESSAGES[url]}\n")


def test_a_driver_of_fsspec_that_is_missing_is_named(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "paramiko", None)
    sys.modules.pop("fsspec.implementations.sftp", None)
    with pytest.raises(MissingExtraError) as caught:
        list(tfr.read_records(OTHER))
    assert str(caught.value) == (
        f'{OTHER}; a package is not installed: SFTPFileSystem requires "paramiko" to be installed'
    )
