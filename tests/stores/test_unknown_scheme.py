"""A URL that no store serves is refused wherever a path is expected, and nothing is made of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tfrkit import tf
from tfrkit.cli.main import run
from tfrkit.errors import UnimplementedError

PIXEL = bytes.fromhex("89504e47")
OUT = "nosuch://bucket/out"
REFUSED = r"^File system scheme 'nosuch' not implemented \(file: 'nosuch://bucket/out[^']*'\)"
ADVICE = (
    REFUSED
    + r"\. tfrkit reads and writes local paths, s3://, gs://, az://, https://, memory:// and what fsspec"
)

LIBRARY: dict[str, Callable[[], Any]] = {
    "TFRecordWriter": lambda: tfr.TFRecordWriter(OUT),
    "TFRecordWriter bytes": lambda: tfr.TFRecordWriter(OUT.encode()),
    "TFRecordWriter atomic": lambda: tfr.TFRecordWriter(OUT, atomic=True),
    "TFRecordWriter append": lambda: tfr.TFRecordWriter(OUT, append=True),
    "ShardWriter": lambda: tfr.ShardWriter(OUT, shards=2),
    "read_records": lambda: list(tfr.read_records(OUT)),
    "read_records glob": lambda: list(tfr.read_records(OUT + "/*")),
    "read_records list": lambda: list(tfr.read_records(["a.tfrecord", OUT])),
    "read_blocks": lambda: list(tfr.read_blocks(OUT)),
    "read_examples": lambda: list(tfr.read_examples(OUT)),
    "read_table": lambda: tfr.read_table(OUT),
    "RecordFile": lambda: tfr.RecordFile(OUT),
    "inspect": lambda: tfr.inspect(OUT),
    "verify": lambda: tfr.verify(OUT),
    "repair": lambda: tfr.repair("a.tfrecord", OUT),
    "repair from": lambda: tfr.repair(OUT, "b.tfrecord"),
    "TFRecordDataset": lambda: list(tfr.TFRecordDataset(OUT)),
    "build.table": lambda: tfr.build.table("a.csv", OUT),
    "build.table from": lambda: tfr.build.table(OUT, "out"),
    "build.images": lambda: tfr.build.images("photos", OUT),
    "build.images from": lambda: tfr.build.images(OUT, "out"),
    "reshard": lambda: tfr.reshard("a.tfrecord", OUT, shards=2),
    "reshard from": lambda: tfr.reshard(OUT, "out/a", shards=2),
    "merge": lambda: tfr.merge("a.tfrecord", OUT),
    "build.export": lambda: tfr.build.export("a.tfrecord", OUT + ".csv"),
    "build.export from": lambda: tfr.build.export(OUT, "a.csv"),
    "build.export_images": lambda: tfr.build.export_images("a.tfrecord", OUT),
}
TENSORFLOW: dict[str, Callable[[], Any]] = {
    "TFRecordDataset": lambda: list(tf.data.TFRecordDataset(OUT)),
    "TFRecordDataset of names": lambda: list(
        tf.data.Dataset.from_tensors(OUT).flat_map(tf.data.TFRecordDataset)
    ),
    "TextLineDataset": lambda: list(tf.data.TextLineDataset(OUT)),
    "list_files": lambda: list(tf.data.Dataset.list_files(OUT + "*")),
    "TFRecordWriter": lambda: tf.io.TFRecordWriter(OUT),
    "tf_record_iterator": lambda: list(tf.compat.v1.io.tf_record_iterator(OUT)),
    "read_file": lambda: tf.io.read_file(OUT),
    "write_file": lambda: tf.io.write_file(OUT, "a"),
    "matching_files": lambda: tf.io.matching_files(OUT + "*"),
    "GFile read": lambda: tf.io.gfile.GFile(OUT).read(),
    "GFile write": lambda: tf.io.gfile.GFile(OUT, "w").write("a"),
    "GFile size": lambda: tf.io.gfile.GFile(OUT).size(),
    "exists": lambda: tf.io.gfile.exists(OUT),
    "glob": lambda: tf.io.gfile.glob(OUT + "*"),
    "mkdir": lambda: tf.io.gfile.mkdir(OUT),
    "makedirs": lambda: tf.io.gfile.makedirs(OUT),
    "remove": lambda: tf.io.gfile.remove(OUT),
    "rmtree": lambda: tf.io.gfile.rmtree(OUT),
    "stat": lambda: tf.io.gfile.stat(OUT),
    "copy": lambda: tf.io.gfile.copy("a.csv", OUT),
    "rename": lambda: tf.io.gfile.rename("a.csv", OUT),
    "Checkpoint": lambda: tf.train.Checkpoint().write(OUT),
    "Checkpoint save": lambda: tf.train.Checkpoint().save(OUT),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with inputs that are in order."""
    monkeypatch.chdir(tmp_path)
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_example({"image": PIXEL, "label": 0})
    Path("a.csv").write_text("a,b\n1,2\n")
    Path("photos/cat").mkdir(parents=True)
    Path("photos/cat/1.png").write_bytes(PIXEL)
    return tmp_path


@pytest.fixture(autouse=True)
def nothing_is_made(here: Path) -> Any:
    before = sorted(map(str, here.rglob("*")))
    yield
    assert sorted(map(str, here.rglob("*"))) == before


@pytest.mark.parametrize("name", LIBRARY)
def test_library_refuses_a_url(name):
    with pytest.raises(UnimplementedError, match=ADVICE):
        LIBRARY[name]()


@pytest.mark.parametrize("name", TENSORFLOW)
def test_names_of_tensorflow_refuse_a_url_as_it_does(name):
    with pytest.raises(tf.errors.UnimplementedError, match=REFUSED):
        TENSORFLOW[name]()


def test_names_of_tensorflow_that_find_nothing_behind_a_url():
    assert tf.io.gfile.isdir(OUT) is False
    assert list(tf.io.gfile.walk(OUT)) == []
    assert tf.train.latest_checkpoint(OUT) is None
    assert tf.io.gfile.join(OUT, "a") == "nosuch://bucket/out/a"
    with pytest.raises(tf.errors.NotFoundError, match="Could not find directory nosuch://bucket/out"):
        tf.io.gfile.listdir(OUT)


@pytest.mark.parametrize(
    "arguments",
    [
        ("build", "table", "a.csv", OUT),
        ("build", "table", OUT + "/*.csv", "out"),
        ("build", "table", "a.csv", OUT, "--dry-run"),
        ("build", "images", "photos", OUT),
        ("build", "images", OUT, "out"),
        ("export", "csv", "a.tfrecord", OUT),
        ("export", "csv", OUT, "out.csv"),
        ("export", "jsonl", "a.tfrecord", OUT),
        ("export", "images", "a.tfrecord", OUT),
        ("reshard", "a.tfrecord", OUT, "--shards", "2"),
        ("shuffle", "a.tfrecord", OUT),
        ("split", "a.tfrecord", OUT),
        ("sample", "a.tfrecord", OUT, "-n", "1"),
        ("select", "a.tfrecord", OUT, "--where", "label == 0"),
        ("merge", "a.tfrecord", OUT),
        ("compress", "a.tfrecord", OUT),
        ("repair", "a.tfrecord", OUT),
        ("index", OUT),
        ("verify", OUT),
        ("count", OUT),
        ("cat", OUT),
        ("head", OUT),
        ("stats", OUT),
        ("diff", OUT, "a.tfrecord"),
        ("schema", OUT),
    ],
)
def test_commands_refuse_a_url(arguments, capsys):
    assert run(list(arguments)) == 2
    errors = capsys.readouterr().err
    assert "error: File system scheme 'nosuch' not implemented (file: 'nosuch://bucket/out" in errors
    assert (
        "tfrkit reads and writes local paths, s3://, gs://, az://, https://, memory:// and what fsspec"
        in errors
    )


@pytest.mark.parametrize("url", ["nosuch://o", "NoSuch://b/o", "x://n:9/o", "a+b-c.d://o"])
def test_every_scheme_is_one(url):
    with pytest.raises(UnimplementedError, match="not implemented"):
        tfr.TFRecordWriter(url)


@pytest.mark.parametrize("path", ["./s3://bucket", "s3:/bucket", "7://bucket", "sub/s3://bucket"])
def test_local_path_that_looks_like_a_url_is_local(path, here):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tfr.TFRecordWriter(path) as writer:
        writer.write(b"x")
    assert list(tfr.read_records(path)) == [b"x"]
    os.remove(path)
    os.removedirs(os.path.dirname(os.path.normpath(path)))
