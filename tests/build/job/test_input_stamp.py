"""Inputs that change between planning and reading, or while they are read, are errors, and nothing is published."""

from __future__ import annotations

import importlib
import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import tfrkit
from tests.build.support.image_samples import photos, write_files
from tfrkit import build
from tfrkit.build.job.input_stamp import InputChangedError, InputStamp
from tfrkit.build.reshape.compress import compress
from tfrkit.build.reshape.merge import merge
from tfrkit.build.reshape.reshard import reshard
from tfrkit.build.reshape.sample import sample
from tfrkit.build.reshape.select import select
from tfrkit.build.reshape.shuffle import shuffle as mix
from tfrkit.build.reshape.split import split
from tfrkit.errors import DataLossError, NotFoundError
from tfrkit.stores.files import remove_tree, write_bytes

run = importlib.import_module("tfrkit.build.job.run_job")
table = importlib.import_module("tfrkit.build.tables.table")
export_module = importlib.import_module("tfrkit.build.export.export_table")
export_images = importlib.import_module("tfrkit.build.export.export_images")
ROWS = 200


def csv_rows(count: int) -> str:
    return "a,b\n" + "".join(f"{number},{number % 7}.5\n" for number in range(count))


def text_of(kind: str, count: int) -> bytes:
    if kind == "csv":
        return csv_rows(count).encode()
    if kind == "tsv":
        return csv_rows(count).replace(",", "\t").encode()
    if kind == "hive":
        return csv_rows(count).replace(",", "\x01").partition("\n")[2].encode()
    return "".join(f'{{"a": {number}, "b": "x{number % 7}"}}\n' for number in range(count)).encode()


def binary_of(kind: str, count: int) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    made = pyarrow.table({"a": list(range(count)), "b": [f"x{number}" for number in range(count)]})
    buffer = io.BytesIO()
    if kind == "parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(made, buffer)
    else:
        import pyarrow.feather

        pyarrow.feather.write_feather(made, buffer)
    return buffer.getvalue()


def content(kind: str, count: int) -> bytes:
    return (binary_of if kind in ("parquet", "arrow") else text_of)(kind, count)


KINDS = ["csv", "tsv", "hive", "jsonl", "parquet", "arrow"]


def append_a_row(path: Path, kind: str) -> None:
    path.write_bytes(content(kind, ROWS + 1))


def drop_a_row(path: Path, kind: str) -> None:
    path.write_bytes(content(kind, ROWS - 1))


def replace_by_the_same_size(path: Path, kind: str) -> None:
    size = path.stat().st_size
    path.write_bytes(path.read_bytes().replace(b"17", b"71"))
    assert path.stat().st_size == size
    os.utime(path, ns=(1, 1_000_000_001))


def replace_by_rename(path: Path, kind: str) -> None:
    old = path.stat()
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(old.st_atime_ns, old.st_mtime_ns))
    path.rename(path.with_name("kept"))
    other.rename(path)


def truncate(path: Path, kind: str) -> None:
    with path.open("rb+") as file:
        file.truncate(path.stat().st_size // 2)


def remove(path: Path, kind: str) -> None:
    path.unlink()


CHANGES = [append_a_row, drop_a_row, replace_by_the_same_size, replace_by_rename, truncate, remove]


def nothing_published(out: Path) -> bool:
    return not out.exists() or [path.name for path in out.iterdir() if path.name != ".tfrkit"] == []


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", KINDS)
def test_table_input_that_changes_behind_the_survey_is_an_error(kind, change, tmp_path, monkeypatch):
    path = tmp_path / f"in.{kind}"
    path.write_bytes(content(kind, ROWS))
    survey = table._survey_all

    def changed_then(*args):
        found = survey(*args)
        change(path, kind)
        return found

    monkeypatch.setattr(table, "_survey_all", changed_then)
    with pytest.raises(
        DataLossError, match=f"in.{kind}: this input has changed since the job began: expected .* but got"
    ):
        build.table(path, tmp_path / "out", format=kind, shards=3)
    assert nothing_published(tmp_path / "out")
    if change is not remove:
        monkeypatch.undo()
        if change is not truncate:
            assert build.table(
                path, tmp_path / "out", format=kind, shards=3
            ).records  # no --overwrite is needed


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_table_input_that_changes_while_shards_are_written_is_an_error(
    change, shuffle, tmp_path, monkeypatch
):
    path = tmp_path / "in.csv"
    path.write_bytes(content("csv", ROWS))
    write = run.JobRun._finish

    def changed_then(self):
        change(path, "csv")
        return write(self)

    monkeypatch.setattr(run.JobRun, "_finish", changed_then)
    with pytest.raises(DataLossError, match=r"expected .* but got .*[Rr]un the command again"):
        build.table(path, tmp_path / "out", shards=3, shuffle=shuffle, workers=1)
    assert nothing_published(tmp_path / "out")


@pytest.mark.parametrize("change", [append_a_row, drop_a_row])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_counted_again_where_the_file_system_says_nothing(kind, change, tmp_path, monkeypatch):
    """A file system whose times stand still: sizes and times are taken for equal, the counts are not."""
    path = tmp_path / f"in.{kind}"
    path.write_bytes(content(kind, ROWS))
    survey = table._survey_all

    def changed_then(*args):
        found = survey(*args)
        if kind in ("parquet", "arrow"):
            change(path, kind)
        else:  # of the same size: another number of rows
            data = path.read_bytes()
            data = data.replace(b"\n", b" ", 20).replace(b" ", b"\n", 19) if change is drop_a_row else data
            if change is append_a_row:
                data = data[:-6] + b"\n1,2\n\n" if kind == "csv" else data[:-6] + b"\n" + data[-5:-1] + b"\n"
            path.write_bytes(data)
        return found

    monkeypatch.setattr(table, "_survey_all", changed_then)
    monkeypatch.setattr(InputStamp, "check", lambda self: None)
    with pytest.raises(DataLossError, match=r"expected 200 rows .* but got (199|201)"):
        build.table(path, tmp_path / "out", format=kind, shards=1, shard_bytes=None)
    assert nothing_published(tmp_path / "out")


@pytest.mark.parametrize("packed", [False, True])
def test_every_part_of_a_piece_knows_its_rows(packed, tmp_path):
    """Read in parts, as shards do: each has its own rows, and all together all of them."""
    import gzip

    path = tmp_path / ("in.csv.gz" if packed else "in.csv")
    text = (csv_rows(ROWS) + "\n\n").encode()  # blank lines at the end are no rows
    path.write_bytes(gzip.compress(text) if packed else text)
    report = build.table(path, tmp_path / "out", shards=7)
    assert [shard.records for shard in report.shards] == [28, 29, 28, 29, 28, 29, 29]


# -- photos --------------------------------------------------------------------------------------------------------


def zipped(folder: Path, path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*.jpg")):
            archive.write(file, str(file.relative_to(folder)))


def tarred(mode: str) -> Callable[[Path, Path], None]:
    def make(folder: Path, path: Path) -> None:
        with tarfile.open(path, mode) as archive:
            for file in sorted(folder.rglob("*.jpg")):
                archive.add(file, str(file.relative_to(folder)))

    return make


@pytest.mark.parametrize(
    ("name", "make"), [("p.zip", zipped), ("p.tar", tarred("w:")), ("p.tar.gz", tarred("w:gz"))]
)
@pytest.mark.parametrize("shuffle", [False, True])
def test_archive_that_changes_is_an_error(name, make, shuffle, tmp_path, monkeypatch):
    source = write_files(tmp_path / "photos", photos({"cat": 4, "dog": 3}))
    make(source, tmp_path / name)
    finish = run.JobRun._finish

    def changed_then(self):
        os.utime(tmp_path / name, ns=(1, 1))
        return finish(self)

    monkeypatch.setattr(run.JobRun, "_finish", changed_then)
    with pytest.raises(DataLossError, match=f"{name}: this input has changed since the job began"):
        build.images(tmp_path / name, tmp_path / "out", shuffle=shuffle)
    assert nothing_published(tmp_path / "out")


@pytest.mark.parametrize("changed", ["list.csv", "photos/cat/1.jpg"])
def test_list_or_a_photo_of_it_that_changes_is_an_error(changed, tmp_path, monkeypatch):
    write_files(tmp_path / "photos", photos({"cat": 4}))
    rows = "".join(f"photos/cat/{number}.jpg,cat\n" for number in range(4))
    (tmp_path / "list.csv").write_text("path,label\n" + rows)
    planned = run.JobRun._write_all

    def changed_then(self):
        os.utime(tmp_path / changed, ns=(1, 1))
        planned(self)

    monkeypatch.setattr(run.JobRun, "_write_all", changed_then)
    with pytest.raises(DataLossError, match=f"{changed}: this input has changed .* but got 0.000000001"):
        build.images(tmp_path / "list.csv", tmp_path / "out")
    assert nothing_published(tmp_path / "out")


# -- frames --------------------------------------------------------------------------------------------------------


def put(path: Path, count: int, first: int = 0) -> Path:
    with tfrkit.TFRecordWriter(path) as writer:
        writer.write_batch({"label": list(range(first, first + count))})
    return path


COMMANDS = {
    "reshard": lambda path, out: reshard(path, out / "x", shards=3),
    "merge": lambda path, out: merge([path], out / "x.tfrecord"),
    "split": lambda path, out: split(path, out, {"a": 0.5, "b": 0.5}),
    "sample": lambda path, out: sample(path, out / "x.tfrecord", count=10),
    "shuffle": lambda path, out: mix(path, out / "x.tfrecord"),
    "select": lambda path, out: select(path, out / "x.tfrecord", where="label > 3"),
    "compress": lambda path, out: compress(path, out / "x.tfrecord.gz"),
}


def more(path: Path) -> None:
    with tfrkit.TFRecordWriter(path, append=True) as writer:
        writer.write_example({"label": 7})


def fewer(path: Path) -> None:
    put(path, 40)


def others(path: Path) -> None:
    put(path, 50, first=50)
    os.utime(path, ns=(1, 1))


@pytest.mark.parametrize("step", ["_write_all", "_finish"])
@pytest.mark.parametrize("change", [more, fewer, others])
@pytest.mark.parametrize("command", COMMANDS)
def test_records_that_change_are_an_error(command, change, step, tmp_path, monkeypatch):
    path = put(tmp_path / "in.tfrecord", 50)
    before = getattr(run.JobRun, step)

    def changed_then(self):
        change(path)
        return before(self)

    monkeypatch.setattr(run.JobRun, step, changed_then)
    with pytest.raises(
        DataLossError, match=r"in.tfrecord: this input has changed since the job began: expected"
    ):
        COMMANDS[command](path, tmp_path / "out")
    assert nothing_published(tmp_path / "out")


@pytest.mark.parametrize("change", [more, fewer, others])
@pytest.mark.parametrize("out", ["x.csv", "x.jsonl", "x.parquet", "x.arrow", "folder"])
def test_export_of_records_that_change_is_an_error(out, change, tmp_path, monkeypatch):
    path = put(tmp_path / "in.tfrecord", 50)
    look = export_module.inspect

    def changed_then(*args, **kwargs):
        schema = look(*args, **kwargs)
        change(path)
        return schema

    monkeypatch.setattr(export_module, "inspect", changed_then)
    with pytest.raises(
        DataLossError, match=r"in.tfrecord: this input has changed since the job began: expected"
    ):
        build.export(path, tmp_path / "out" / out, None if "." in out else "csv")
    assert not list((tmp_path / "out").rglob("*.*"))


@pytest.mark.parametrize("change", [more, others])
def test_export_of_images_that_change_is_an_error(change, tmp_path, monkeypatch):
    path = tmp_path / "in.tfrecord"
    with tfrkit.TFRecordWriter(path) as writer:
        for content in photos({"cat": 3}).values():
            writer.write_example({"image/encoded": content, "image/text": "cat"})
    look = export_images.inspect

    def changed_then(*args, **kwargs):
        schema = look(*args, **kwargs)
        change(path)
        return schema

    monkeypatch.setattr(export_images, "inspect", changed_then)
    with pytest.raises(DataLossError, match="this input has changed since the job began"):
        build.export_images(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_unchanged_inputs_are_no_error_however_often_they_are_read(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(content("csv", ROWS))
    assert build.table(path, tmp_path / "out", shards=3).records == ROWS
    path.read_bytes()
    os.chmod(path, 0o644)
    os.link(path, tmp_path / "link")
    InputStamp.of(str(path)).check()
    assert build.table(path, tmp_path / "out", shards=3).resumed == 3


def test_stamp_of_a_url_has_its_version():
    path = "memory://stamps/a.csv"
    write_bytes(path, b"a\n1\n")
    stamp = InputStamp.of(path)
    stamp.check()
    write_bytes(path, b"a\n2\n")
    with pytest.raises(
        InputChangedError, match=r"memory://stamps/a.csv: .* expected version \d+ but got \d+"
    ):
        stamp.check()
    assert InputStamp.of(path).mark != stamp.mark
    write_bytes(path, b"a\n")
    with pytest.raises(InputChangedError, match="expected 4 bytes but got 2"):
        stamp.check()
    remove_tree("memory://stamps")
    with pytest.raises(InputChangedError, match="but the file is gone"):
        stamp.check()
    with pytest.raises(NotFoundError, match=r"memory://stamps/a.csv; No such file"):
        InputStamp.of(path)
