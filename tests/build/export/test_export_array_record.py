"""Files of ArrayRecord: what array_record and grain read of them are the records, byte by byte."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from array_record.python.array_record_module import ArrayRecordReader, ArrayRecordWriter
from grain.python import ArrayRecordDataSource

import tfrkit as tfr
from tests.build.support.frame_files import RECORDS, put_records
from tests.build.support.made import left_over, tree
from tests.records.support.made import flip
from tfrkit.errors import AlreadyExistsError, DataLossError, InvalidArgumentError, MissingExtraError
from tfrkit.stores import files


def written(folder: Path) -> list[list[bytes]]:
    """The records of each file."""
    found = []
    for path in sorted(folder.glob("*.array_record")):
        reader = ArrayRecordReader(str(path))
        found.append(reader.read_all())
        assert reader.num_records() == len(found[-1])
        reader.close()
    return found


def flat(folder: Path) -> list[bytes]:
    return [record for records in written(folder) for record in records]


@pytest.mark.parametrize(
    "options",
    [{}, {"group_size": 7}, {"compression": "none"}, {"level": 9, "group_size": 1000}, {"shard_records": 40}],
)
def test_records_are_those_of_the_inputs_byte_by_byte(options, tmp_path):
    paths = [
        put_records(tmp_path / f"{kind}.tfrecord", RECORDS[100 * at : 100 * at + 100], kind)
        for at, kind in enumerate(("", "GZIP", "ZSTD"))
    ]
    report = tfr.build.export_array_record(paths, tmp_path / "out" / "a", **options)
    assert flat(tmp_path / "out") == RECORDS
    assert report.records == 300
    assert len(report.shards) == (8 if "shard_records" in options else 1)
    assert sum(shard.bytes for shard in report.shards) == sum(
        path.stat().st_size for path in (tmp_path / "out").glob("a-*")
    )


def test_grain_reads_any_record_by_its_number(tmp_path):
    put_records(tmp_path / "a.tfrecord", RECORDS)
    report = tfr.build.export_array_record(tmp_path / "a.tfrecord", tmp_path / "out" / "a", shards=3)
    names = [shard.name for shard in report.shards]
    assert names == [f"a-{number:05d}-of-00003.array_record" for number in range(3)]
    source = ArrayRecordDataSource([str(tmp_path / "out" / name) for name in names])
    assert len(source) == 300
    assert [source[number] for number in (299, 0, 100, 17)] == [
        RECORDS[number] for number in (299, 0, 100, 17)
    ]


def test_a_file_is_what_array_record_writes_itself(tmp_path):
    put_records(tmp_path / "a.tfrecord", RECORDS)
    tfr.build.export_array_record(tmp_path / "a.tfrecord", tmp_path / "a", group_size=5)
    writer = ArrayRecordWriter(str(tmp_path / "b"), "group_size:5,zstd:3,max_parallelism:1")
    for record in RECORDS:
        writer.write(record)
    writer.close()
    assert (tmp_path / "a-00000-of-00001.array_record").read_bytes() == (tmp_path / "b").read_bytes()


def test_no_records_are_files_without_records(tmp_path):
    put_records(tmp_path / "a.tfrecord", [])
    tfr.build.export_array_record(tmp_path / "a.tfrecord", tmp_path / "a", shards=2)
    assert written(tmp_path) == [[], []]


def test_empty_records_and_what_is_no_example_are_records(tmp_path):
    put_records(tmp_path / "a.tfrecord", [b"", b"\xff" * 70_000, b""])
    tfr.build.export_array_record(tmp_path / "a.tfrecord", tmp_path / "a")
    assert written(tmp_path) == [[b"", b"\xff" * 70_000, b""]]


def test_damage_is_an_error_or_left_out_and_counted(tmp_path):
    path = put_records(tmp_path / "a.tfrecord", RECORDS)
    path.write_bytes(flip(path.read_bytes(), 1000))
    with pytest.raises(DataLossError, match=r"a\.tfrecord"):
        tfr.build.export_array_record(path, tmp_path / "t")
    report = tfr.build.export_array_record(path, tmp_path / "t", on_corrupt="skip", shards=2)
    assert (report.records, sum(report.bad.values())) == (299, 1)
    assert set(flat(tmp_path)) < set(RECORDS)


def test_it_is_a_job_that_is_complete_once_and_replaces_others_only_if_told(tmp_path):
    path, out = put_records(tmp_path / "a.tfrecord", RECORDS), tmp_path / "out"
    tfr.build.export_array_record(path, out / "t", shards=3)
    before = tree(out)
    (out / "t-00001-of-00003.array_record").unlink()
    assert tfr.build.export_array_record(path, out / "t", shards=3).resumed == 2
    assert tree(out) == before
    with pytest.raises(
        AlreadyExistsError, match=r"3 shards of 't\.array_record' already.*It differs in: options"
    ):
        tfr.build.export_array_record(path, out / "t", shards=3, group_size=2)
    tfr.build.export_array_record(path, out / "t", shards=2, group_size=2, overwrite=True)
    assert flat(out) == RECORDS
    assert left_over(out) == []


def test_files_in_a_store_are_those_of_a_folder(s3_folder, tmp_path):
    path = put_records(tmp_path / "a.tfrecord", RECORDS)
    tfr.build.export_array_record(path, tmp_path / "out" / "t", shards=2)
    tfr.build.export_array_record(path, f"{s3_folder}/t", shards=2)
    for name in ("t-00000-of-00002.array_record", "t-00001-of-00002.array_record", "manifest.json"):
        assert files.read_bytes(f"{s3_folder}/{name}") == (tmp_path / "out" / name).read_bytes()


def test_names_that_array_record_cannot_take_are_refused(tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xff"
    with pytest.raises(InvalidArgumentError, match="names that are UTF-8 only"):
        tfr.build.export_array_record(
            put_records(tmp_path / "a.tfrecord", RECORDS), os.fsdecode(folder) + "/t"
        )
    with pytest.raises(InvalidArgumentError, match=r"Numbers and \.array_record are added"):
        tfr.build.export_array_record(tmp_path / "a.tfrecord", tmp_path / "t.array_record")


def test_what_is_missing_is_said_before_anything_is_read(monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "array_record.python.array_record_module", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tfrkit\[array_record\]'"):
        tfr.build.export_array_record(put_records(tmp_path / "a.tfrecord", []), tmp_path / "t")


def test_command_prints_what_it_wrote(tmp_path, capsys, monkeypatch):
    from tfrkit.cli.main import run

    monkeypatch.chdir(tmp_path)
    put_records(tmp_path / "a.tfrecord", RECORDS)
    assert (
        run(["export", "array_record", "a.tfrecord", "out/t", "--shards", "2", "--group-size", "3", "--json"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["records"] == 300
    assert flat(tmp_path / "out") == RECORDS
