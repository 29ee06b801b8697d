"""Everything that takes a path takes a URL: each entry point gives the same in a store as in a local folder.

The twin of `test_unknown_scheme.py`. Each row runs twice on the same files, in a local folder and in the store.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tfrkit import tf
from tfrkit.cli.main import run
from tfrkit.stores import files

SPEC = {"label": tfr.FixedLenFeature([], "int64"), "image": tfr.FixedLenFeature([], "bytes")}


def png(level: int) -> bytes:
    """A grey image of 4 x 4."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes([level] * 4)) * 4
    head = struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def records(numbers: range, suffix: str = "") -> bytes:
    """A file of records."""
    made = io.BytesIO()
    with tfr.TFRecordWriter(made, "GZIP" if suffix else None) as writer:
        for number in numbers:
            writer.write_example({"image": png(number), "label": number})
    return made.getvalue()


@pytest.fixture(scope="module")
def inputs() -> dict[str, bytes]:
    """Files by name."""
    return {
        "a.tfrecord": records(range(20)),
        "a.tfrecord.gz": records(range(20), ".gz"),
        "set/train-00000-of-00002.tfrecord": records(range(10)),
        "set/train-00001-of-00002.tfrecord": records(range(10, 20)),
        "broken.tfrecord": records(range(20))[:-40],
        "a.csv": b"a,b\n1,2\n3,4\n",
        "lines.txt": b"one\ntwo\n",
        "photos/cat/1.png": png(1),
        "photos/dog/2.png": png(2),
    }


@pytest.fixture(params=["file", "memory", "s3"])
def place(request, tmp_path: Path, unique_prefix: str) -> str:
    """The URL of an empty folder."""
    if request.param == "file":
        return f"file://{tmp_path}/there"
    if request.param == "memory":
        return f"memory://{unique_prefix}there"
    return str(request.getfixturevalue("s3_folder"))


@pytest.fixture(autouse=True)
def nothing_is_made_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No URL becomes a local folder such as `s3:`."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    yield
    assert not list((tmp_path / "empty").iterdir())


def tree(folder: str) -> dict[str, Any]:
    """What is below a folder, by name; of JSON what it says. Only local folders have locks and are swapped."""
    found = {}
    for info in files.list_files(folder, recursive=True):
        name = info.path.removeprefix(files.local_path(folder)).removeprefix("/")
        data = files.read_bytes(info.path)
        found[name] = json.loads(data) if name.endswith(".json") else data
        if name.endswith("export.json"):
            found[name].pop("complete", None)
    return {name: data for name, data in found.items() if not name.endswith(".lock")}


def plain(value: Any, folder: str) -> Any:
    """A result without the name of the folder."""
    if isinstance(value, str):
        return value.replace(folder, "PLACE").replace(files.local_path(folder), "PLACE")
    if isinstance(value, bytes):
        return value.replace(folder.encode(), b"PLACE").replace(files.local_path(folder).encode(), b"PLACE")
    if isinstance(value, dict):
        return {plain(key, folder): plain(each, folder) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each, folder) for each in value]
    return value


def write(path: str | bytes, **options: Any) -> bytes:
    with tfr.TFRecordWriter(path, **options) as writer:
        writer.write_many([b"one", b"two"])
    return files.read_bytes(os.fsdecode(path))


def write_shards(place: str) -> Any:
    with tfr.ShardWriter(f"{place}/out/train", shards=2) as writer:
        for number in range(20):
            writer.write(b"%d" % number)
    return tree(f"{place}/out")


def made(place: str, call: Callable[[], Any], *, folder: str = "out") -> Any:
    call()
    return tree(f"{place}/{folder}")


def resumed(place: str) -> Any:
    dataset = tfr.TFRecordDataset(f"{place}/set/*.tfrecord").shuffle(8, seed=3).parse(SPEC).batch(4)
    iterator = iter(dataset)
    first = [next(iterator)["label"].tolist() for _ in range(2)]
    state = json.loads(json.dumps(iterator.state()))
    assert place not in json.dumps(state["files"])
    again = pickle.loads(pickle.dumps(dataset))
    rest = [batch["label"].tolist() for batch in again.iter_from(state)]
    assert rest == [batch["label"].tolist() for batch in iterator]
    return first + rest


def random_access(place: str) -> Any:
    file = tfr.RecordFile(f"{place}/a.tfrecord")
    return len(file), file[3], file[5:7].to_list(), file.take([9, 0, 4]).to_list()


def many_files(place: str) -> Any:
    found = tfr.RecordFiles(f"{place}/set/*.tfrecord")
    return len(found), found[12], found.take([19, 0, 4]).to_list(), found.locate(11)


LIBRARY: dict[str, Callable[[str], Any]] = {
    "TFRecordWriter": lambda p: write(f"{p}/out.tfrecord"),
    "TFRecordWriter bytes": lambda p: write(f"{p}/out.tfrecord".encode()),
    "TFRecordWriter atomic": lambda p: write(f"{p}/out.tfrecord", atomic=True),
    "TFRecordWriter gzip": lambda p: write(f"{p}/out.tfrecord.gz"),
    "ShardWriter": write_shards,
    "read_records": lambda p: list(tfr.read_records(f"{p}/a.tfrecord")),
    "read_records glob": lambda p: list(tfr.read_records(f"{p}/set/train-*")),
    "read_records deep glob": lambda p: list(tfr.read_records(f"{p}/**/train-*")),
    "read_records list": lambda p: list(tfr.read_records([f"{p}/a.tfrecord", f"{p}/a.tfrecord.gz"])),
    "read_blocks": lambda p: [block.to_list() for block in tfr.read_blocks(f"{p}/a.tfrecord.gz")],
    "read_examples": lambda p: [str(each) for each in tfr.read_examples(f"{p}/a.tfrecord")],
    "read_table": lambda p: tfr.read_table(f"{p}/a.tfrecord").to_pydict(),
    "RecordFile": random_access,
    "RecordFiles": many_files,
    "inspect": lambda p: tfr.inspect(f"{p}/set/*").to_json(),
    "verify": lambda p: tfr.verify([f"{p}/set", f"{p}/broken.tfrecord"]).to_dict(),
    "repair": lambda p: (
        tfr.repair(f"{p}/broken.tfrecord", f"{p}/out.tfrecord").to_dict(),
        files.read_bytes(f"{p}/out.tfrecord"),
    ),
    "TFRecordDataset": lambda p: list(tfr.TFRecordDataset(f"{p}/set/train-*.tfrecord")),
    "TFRecordDataset in turn": lambda p: list(tfr.TFRecordDataset(f"{p}/set/*", num_parallel_reads=2)),
    "TFRecordDataset shuffled, saved and resumed": resumed,
    "TextLineDataset": lambda p: list(tfr.TextLineDataset(f"{p}/*.txt")),
    "build.table": lambda p: made(p, lambda: tfr.build.table(f"{p}/a.csv", f"{p}/out", shards=2)),
    "build.images": lambda p: made(p, lambda: tfr.build.images(f"{p}/photos", f"{p}/out", shards=1)),
    "reshard": lambda p: made(p, lambda: tfr.reshard(f"{p}/set/*", f"{p}/out/a", shards=3)),
    "merge": lambda p: made(p, lambda: tfr.merge(f"{p}/set/*", f"{p}/out/all.tfrecord")),
    "build.export": lambda p: made(p, lambda: tfr.build.export(f"{p}/set/*", f"{p}/out/a.jsonl")),
    "build.export_images": lambda p: made(
        p, lambda: tfr.build.export_images(f"{p}/a.tfrecord", f"{p}/out", image="image", label="label")
    ),
}


def values(dataset: Any) -> list[Any]:
    return [each.numpy() for each in dataset]


def with_gfile(place: str) -> Any:
    gfile = tf.io.gfile
    with gfile.GFile(f"{place}/new.txt", "w") as file:
        file.write("one\n")
        file.write("two\r\n")
        told = file.tell()
    with gfile.GFile(f"{place}/new.txt") as file:
        lines = file.readlines()
        file.seek(2)
        rest = file.read()
        with pytest.raises(tf.errors.OutOfRangeError):
            file.seek(100)
    return told, lines, rest, file.size(), gfile.GFile(f"{place}/new.txt", "rb").read(3)


def moved(place: str) -> Any:
    gfile = tf.io.gfile
    gfile.makedirs(f"{place}/new/folder")
    gfile.copy(f"{place}/lines.txt", f"{place}/new/folder/b")
    gfile.rename(f"{place}/new/folder/b", f"{place}/new/folder/c")
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy(f"{place}/a.csv", f"{place}/new/folder/c")
    gfile.copy(f"{place}/a.csv", f"{place}/new/folder/c", overwrite=True)
    gfile.rename(f"{place}/new/folder", f"{place}/new/other")
    found = tree(f"{place}/new")
    gfile.remove(f"{place}/new/other/c")
    with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
        gfile.remove(f"{place}/new/other/c")
    gfile.rmtree(f"{place}/set")
    with pytest.raises(tf.errors.NotFoundError):
        gfile.rmtree(f"{place}/set")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        gfile.remove(f"{place}/photos")
    return found, gfile.exists(f"{place}/set")


def walked(place: str) -> Any:
    found = [[folder, sorted(folders), sorted(names)] for folder, folders, names in tf.io.gfile.walk(place)]
    listed = sorted(tf.io.gfile.listdir(f"{place}/photos"))
    return sorted(found), listed, len(list(tf.io.gfile.walk(f"{place}/photos", topdown=False)))


def checkpoints(place: str) -> Any:
    dataset = tf.data.TFRecordDataset([f"{place}/a.tfrecord"])
    iterator = iter(dataset)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(it=iterator), f"{place}/saved", max_to_keep=2)
    for _ in range(3):
        next(iterator)
        manager.save()
    latest = tf.train.latest_checkpoint(f"{place}/saved")
    again = iter(dataset)
    tf.train.Checkpoint(it=again).restore(latest)
    assert next(again).numpy() == next(iterator).numpy()
    return latest, manager.checkpoints, sorted(tf.io.gfile.listdir(f"{place}/saved"))


def queued(place: str) -> Any:
    queue = tf.compat.v1.train.string_input_producer([f"{place}/a.tfrecord"], shuffle=False, num_epochs=1)
    reader = tf.compat.v1.TFRecordReader()
    first = reader.read(queue)
    other = tf.compat.v1.TFRecordReader()
    other.restore_state(reader.serialize_state())
    return first.key.numpy(), first.value.numpy(), other.read(queue).value.numpy()


def stats_of(path: str) -> Any:
    found = tf.io.gfile.stat(path)
    return found.is_directory, 0 if found.is_directory else found.length


TENSORFLOW: dict[str, Callable[[str], Any]] = {
    "TFRecordDataset": lambda p: values(tf.data.TFRecordDataset([f"{p}/a.tfrecord"])),
    "TFRecordDataset of names": lambda p: values(
        tf.data.Dataset.list_files(f"{p}/set/*", shuffle=False).flat_map(tf.data.TFRecordDataset)
    ),
    "TextLineDataset": lambda p: values(tf.data.TextLineDataset(f"{p}/lines.txt")),
    "FixedLengthRecordDataset": lambda p: values(tf.data.FixedLengthRecordDataset(f"{p}/lines.txt", 4)),
    "list_files": lambda p: values(tf.data.Dataset.list_files([f"{p}/se?/*", f"{p}/*.csv"], shuffle=False)),
    "TFRecordWriter": lambda p: (
        tf.io.TFRecordWriter(f"{p}/w.tfrecord").close(),
        files.read_bytes(f"{p}/w.tfrecord"),
    ),
    "tf_record_iterator": lambda p: list(tf.compat.v1.io.tf_record_iterator(f"{p}/a.tfrecord")),
    "TFRecordReader": queued,
    "read_file": lambda p: tf.io.read_file(f"{p}/lines.txt").numpy(),
    "write_file": lambda p: (tf.io.write_file(f"{p}/x/y", "text"), files.read_bytes(f"{p}/x/y")),
    "matching_files": lambda p: list(tf.io.matching_files(f"{p}/set/*0000[01]-of*").numpy()),
    "GFile": with_gfile,
    "exists": lambda p: [tf.io.gfile.exists(f"{p}{name}") for name in ("/a.csv", "/photos", "/none", "")],
    "isdir": lambda p: [tf.io.gfile.isdir(f"{p}{name}") for name in ("/a.csv", "/photos", "/none", "")],
    "glob": lambda p: sorted(tf.io.gfile.glob([f"{p}/photos/*/*.png", f"{p}/a.csv", f"{p}/none*"])),
    "stat": lambda p: [stats_of(f"{p}/a.csv"), stats_of(f"{p}/photos")],
    "walk and listdir": walked,
    "copy, rename, remove": moved,
    "Checkpoint": checkpoints,
}

# What a command prints, and what it makes below "out".
COMMANDS = [
    "head {}/a.tfrecord -n 2 --key label",
    "head {}/set --random --seed 1 --json --key label",
    "cat {}/set/* --key label --json",
    "count {}/a.tfrecord",
    "count {}/set {}/a.tfrecord.gz --json",
    "schema {}/set",
    "schema {}/a.tfrecord --python",
    "stats {}/a.tfrecord --key label",
    "verify {}/set {}/broken.tfrecord",
    "verify {}/a.tfrecord --json",
    "repair {}/broken.tfrecord {}/out/mended.tfrecord",
    "repair {}/broken.tfrecord {}/a.tfrecord {}/out",
    "index {}/a.tfrecord",
    "index {}/a.tfrecord --check",
    "index {}/a.tfrecord --text --json",
    "build table {}/a.csv {}/out --shards 1 --quiet",
    "build table {}/a.csv {}/out --dry-run",
    "build images {}/photos {}/out --shards 1 --quiet",
    "export csv {}/set {}/out/a.csv --key label",
    "export jsonl {}/a.tfrecord - --key label",
    "export parquet {}/set/* {}/out/a.parquet",
    "export images {}/a.tfrecord {}/out --image image --label label",
    "reshard {}/a.tfrecord {}/out/a --shards 2",
    "shuffle {}/a.tfrecord {}/out/a.tfrecord --seed 1",
    "split {}/a.tfrecord {}/out --parts train=0.5,test=0.5",
    "sample {}/a.tfrecord {}/out/a.tfrecord -n 3 --seed 1",
    "select {}/a.tfrecord {}/out/a.tfrecord --where label<3",
    "merge {}/set/* {}/out/all.tfrecord.gz",
    "compress {}/a.tfrecord {}/out/a.tfrecord.gz",
]


def put(inputs: dict[str, bytes], folder: str) -> None:
    for name, data in inputs.items():
        files.make_folder(os.path.dirname(f"{folder}/{name}"))
        files.write_bytes(f"{folder}/{name}", data)


@pytest.fixture
def both(inputs, place, tmp_path) -> tuple[str, str]:
    """A local folder and a URL with the same files."""
    here = str(tmp_path / "here")
    put(inputs, here)
    put(inputs, place)
    return here, place


@pytest.mark.parametrize("name", LIBRARY)
def test_library(name, both):
    here, there = both
    assert plain(LIBRARY[name](there), there) == plain(LIBRARY[name](here), here)


@pytest.mark.parametrize("name", TENSORFLOW)
def test_names_of_tensorflow(name, both):
    here, there = both
    assert plain(TENSORFLOW[name](there), there) == plain(TENSORFLOW[name](here), here)


@pytest.mark.parametrize("line", COMMANDS)
def test_commands(line, both, capsys):
    done = []
    for folder in both:
        code = run([word.replace("{}", folder) for word in line.split()])
        printed = capsys.readouterr()
        assert "not implemented" not in printed.err
        below = {name: each for name, each in tree(folder).items() if name.startswith((".tfrkit", "out"))}
        words = plain(printed.out, folder).split()  # columns are as wide as the names in them
        done.append((code, words, plain(below, folder), printed.err.startswith("error:")))
    assert done[1] == done[0]
    assert done[0][1] or done[0][2]
