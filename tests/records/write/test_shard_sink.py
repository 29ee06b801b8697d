"""ShardSink: what tasks have written is published once, whatever they did before that."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tfrkit as tfr
from tfrkit.errors import AlreadyExistsError, DataLossError, InvalidArgumentError
from tfrkit.records.manifest import read_manifest
from tfrkit.records.write.shard_sink import ShardSink, begin_sink
from tfrkit.records.write.written_shards import WrittenShard
from tfrkit.stores.files import list_files


def table(first: int, rows: int) -> pa.Table:
    return pa.table(
        {"n": np.arange(first, first + rows), "name": [f"row {n}" for n in range(first, first + rows)]}
    )


def write(sink: ShardSink, task: int, rows: int = 10, within: str = "") -> list[WrittenShard]:
    """As a worker does it, with what was sent to it."""
    there = pickle.loads(pickle.dumps(sink))
    return pickle.loads(pickle.dumps(there.write([table(100 * task, rows)], task, within)))


def shown(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_shards_appear_together_with_index_and_manifest(tmp_path):
    sink = begin_sink(tmp_path / "out" / "train", zones=True)
    written = [*write(sink, 1), *write(sink, 0, 5)]
    assert tfr.scan(written[0].path).count() == 10
    assert not list((tmp_path / "out").glob("*.tfrecord"))
    report = sink.publish(written)
    assert (report.records, len(report.paths)) == (15, 2)
    names = ["train-00000-of-00002.tfrecord", "train-00001-of-00002.tfrecord"]
    assert shown(tmp_path / "out") == sorted(
        [
            *names,
            "manifest.json",
            ".tfrkit/jobs.lock",
            ".tfrkit/manifest.lock",
            *(f".tfrkit/{n}{e}" for n in names for e in (".idx", ".zones")),
        ]
    )
    found = tfr.scan(report.paths).to_table()
    assert found["n"].to_pylist() == [*range(5), *range(100, 110)]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [entry["records"] for entry in manifest["shards"]] == [5, 10]
    assert manifest["made_by"] == {"train": {"writer": "ShardSink", "shards": 2, "compression": ""}}
    assert tfr.verify(tmp_path / "out").ok


def test_second_attempts_change_nothing_and_leave_nothing(tmp_path):
    sink = begin_sink(tmp_path / "a")
    late = write(sink, 0)
    first = write(sink, 0)
    assert sink.publish([*first, *late]).records == 10
    write(sink, 0)  # a zombie
    assert [path.name for path in tmp_path.glob("*.tfrecord")] == ["a-00000-of-00001.tfrecord"]
    sink.abort()
    assert not (tmp_path / ".tfrkit" / "tmp").exists()


def test_a_task_that_fails_leaves_nothing(tmp_path):
    sink = begin_sink(tmp_path / "a")

    def tables():
        yield table(0, 10)
        raise RuntimeError("lost")

    with pytest.raises(RuntimeError, match="lost"):
        sink.write(tables(), 0)
    assert shown(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "counts"), [({"shard_records": 4}, [4, 4, 2, 4, 1]), ({"shard_bytes": 1}, [10, 5])]
)
def test_tasks_may_write_several_shards(options, counts, tmp_path):
    sink = begin_sink(tmp_path / "a", compression="GZIP", **options)
    report = sink.publish([*write(sink, 0), *write(sink, 1, 5)])
    assert [sum(1 for _ in tfr.read_records(path)) for path in report.paths] == counts
    assert report.paths[0].endswith(f"a-00000-of-{len(counts):05d}.tfrecord.gz")
    assert tfr.scan(report.paths).to_table()["n"].to_pylist() == [*range(10), *range(100, 105)]


def test_no_rows_are_one_empty_shard(tmp_path):
    sink = begin_sink(tmp_path / "a")
    assert sink.write([table(0, 0)], 0) == []
    report = sink.publish([])
    assert (report.records, [Path(path).name for path in report.paths]) == (0, ["a-00000-of-00001.tfrecord"])


def test_folders_below_have_a_manifest_each(tmp_path):
    sink = begin_sink(tmp_path / "a")
    report = sink.publish(
        [*write(sink, 0, within="day=1"), *write(sink, 1, within="day=2"), *write(sink, 2, within="day=1")]
    )
    assert [Path(path).relative_to(tmp_path).as_posix() for path in report.paths] == [
        "day=1/a-00000-of-00002.tfrecord",
        "day=1/a-00001-of-00002.tfrecord",
        "day=2/a-00000-of-00001.tfrecord",
    ]
    assert tfr.verify(tmp_path / "day=1").ok
    assert tfr.verify(tmp_path / "day=2").ok


def test_what_is_there_is_replaced_only_when_asked_for_and_only_at_the_end(tmp_path):
    sink = begin_sink(tmp_path / "a")
    sink.publish([*write(sink, 0), *write(sink, 1)])
    with pytest.raises(AlreadyExistsError, match=r"there are 2 shards of .*overwrite=True"):
        begin_sink(tmp_path / "a")
    again = begin_sink(tmp_path / "a", overwrite=True)
    written = write(again, 3, 7)
    assert tfr.scan(tmp_path / "a-*").count() == 20
    again.publish(written)
    assert tfr.scan(tmp_path / "a-*").to_table()["n"].to_pylist() == [*range(300, 307)]
    assert tfr.verify(tmp_path).ok


def test_a_shard_that_is_not_there_is_an_error_and_the_old_ones_stay(tmp_path):
    sink = begin_sink(tmp_path / "a")
    sink.publish(write(sink, 0))
    again = begin_sink(tmp_path / "a", overwrite=True)
    written = write(again, 1)
    Path(written[0].path).unlink()
    with pytest.raises(
        DataLossError, match=r"that task 1 has written but got none\. All workers must see the same"
    ):
        again.publish(written)
    assert tfr.scan(tmp_path / "a-*").count() == 10


def test_nothing_is_published_if_a_shard_of_a_later_folder_is_not_there(tmp_path):
    sink = begin_sink(tmp_path / "out" / "part")
    first, second = write(sink, 0, within="a=1"), write(sink, 1, within="a=2")
    Path(second[0].path).unlink()
    with pytest.raises(DataLossError, match="expected the"):
        sink.publish([*first, *second])
    assert shown(tmp_path / "out") == []


def test_a_sink_takes_along_how_its_store_is_configured(s3_server, s3_folder):
    program = "import pickle, sys, pyarrow as pa\nsink = pickle.load(sys.stdin.buffer)\n"
    program += "sys.stdout.buffer.write(pickle.dumps(sink.write([pa.table({'n': [1, 2]})], 0)))"
    sink = begin_sink(f"{s3_folder}/part")
    assert s3_server.secret not in repr(sink)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(sink), capture_output=True, check=True, env=clean
    )
    report = sink.publish(pickle.loads(done.stdout))
    assert tfr.scan(report.paths[0]).to_table()["n"].to_pylist() == [1, 2]


def test_sequence_examples_and_plain_records(tmp_path):
    sink = begin_sink(tmp_path / "s", record_type="SequenceExample")
    rows = pa.table({"id": [1, 2], "x": [[[1.0], [2.0, 3.0]], []]})
    report = sink.publish(sink.write([rows], 0))
    assert tfr.read_table(report.paths).to_pydict() == {"id": [1, 2], "x": [[[1.0], [2.0, 3.0]], []]}
    found = tfr.inspect(report.paths)
    assert found.sequence_examples == 2
    assert set(found.feature_lists) == {"x"}

    named = begin_sink(tmp_path / "t", record_type="SequenceExample", feature_lists=["x"])
    report = named.publish(named.write([pa.table({"id": [1], "x": [[1, 2]]})], 0))
    assert set(tfr.inspect(report.paths).feature_lists) == {"x"}

    plain = begin_sink(tmp_path / "b", record_type="bytes")
    report = plain.publish(plain.write([pa.table({"value": [b"abc", b""]})], 0))
    assert list(tfr.read_records(report.paths)) == [b"abc", b""]
    with pytest.raises(
        InvalidArgumentError, match="Expected one column of records without nulls but got n, name"
    ):
        plain.write([table(0, 1)], 1)


def test_bad_options_are_named(tmp_path):
    with pytest.raises(InvalidArgumentError, match="Expected shard_records to be at least 1 but got 0"):
        begin_sink(tmp_path / "a", shard_records=0)
    with pytest.raises(InvalidArgumentError, match="as record type but got 'example'"):
        begin_sink(tmp_path / "a", record_type="example")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="Expected a folder and the beginning of names"):
        begin_sink(f"{tmp_path}/")


def test_in_a_store_shards_are_copied_to_their_names(remote_folder):
    sink = begin_sink(f"{remote_folder}/a", zones=True)
    late, written = write(sink, 0), [*write(sink, 0), *write(sink, 1)]
    assert tfr.scan(f"{remote_folder}/.tfrkit/tmp/*/*/*.tfrecord").count() == 30
    report = sink.publish([*written, *late])
    assert report.paths == tuple(f"{remote_folder}/a-{n:05d}-of-00002.tfrecord" for n in range(2))
    assert tfr.scan(f"{remote_folder}/*.tfrecord").to_table()["n"].to_pylist() == [
        *range(10),
        *range(100, 110),
    ]
    assert tfr.verify(remote_folder).ok
    assert not [info.path for info in list_files(remote_folder, recursive=True) if "/tmp/" in info.path]
    again = begin_sink(f"{remote_folder}/a", overwrite=True)
    again.publish(write(again, 5, 3))
    assert tfr.scan(f"{remote_folder}/*.tfrecord").to_table()["n"].to_pylist() == [500, 501, 502]


def test_folders_may_be_replaced_with_all_that_they_hold(tmp_path):
    replace_folders(str(tmp_path / "out"))


def test_folders_in_a_store_may_be_replaced_with_all_that_they_hold(remote_folder):
    replace_folders(remote_folder)


def replace_folders(anywhere: str) -> None:
    first = begin_sink(f"{anywhere}/a")
    first.publish([*write(first, 0, within="day=1"), *write(first, 1, within="day=2")])
    other = begin_sink(f"{anywhere}/b")
    other.publish([*write(other, 2, within="day=2"), *write(other, 3, within="day=3")])
    again = begin_sink(f"{anywhere}/a", overwrite=True)
    report = again.publish(write(again, 4, within="day=2"), replaced=lambda: ["day=1", "day=2"])
    assert report.paths == (f"{anywhere}/day=2/a-00000-of-00001.tfrecord",)
    there = [info.path.removeprefix(f"{anywhere}/") for info in list_files(anywhere, recursive=True)]
    assert sorted(path for path in there if path.endswith(".tfrecord")) == [
        "day=2/a-00000-of-00001.tfrecord",
        "day=3/b-00000-of-00001.tfrecord",
    ]
    assert sorted(path for path in there if path.endswith(".idx")) == [
        "day=2/.tfrkit/a-00000-of-00001.tfrecord.idx",
        "day=3/.tfrkit/b-00000-of-00001.tfrecord.idx",
    ]
    assert [list(read_manifest(f"{anywhere}/day={day}")["made_by"]) for day in (1, 2, 3)] == [
        [],
        ["a"],
        ["b"],
    ]
    assert again.publish([], replaced=lambda: ["day=2"]).paths == ()
    assert [shard["name"] for shard in read_manifest(f"{anywhere}/day=2")["shards"]] == []


def test_two_writes_into_one_folder_are_one_and_a_refusal_or_one_after_the_other(tmp_path):
    first, second = begin_sink(tmp_path / "a"), begin_sink(tmp_path / "a")
    written = write(second, 1)
    first.publish(write(first, 0))
    with pytest.raises(AlreadyExistsError, match=r"there are 1 shards of .*overwrite=True"):
        second.publish(written)
    assert tfr.scan(tmp_path / "a-*").to_table()["n"].to_pylist() == [*range(10)]
    sinks = [begin_sink(tmp_path / "a", overwrite=True) for _ in range(4)]
    ready = [
        [shard for task in range(number + 1) for shard in write(sinks[number], task)] for number in range(4)
    ]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ShardSink.publish, sinks, ready))
    assert len({path.name.partition("-of-")[2] for path in tmp_path.glob("a-*")}) == 1
    assert tfr.verify(tmp_path).ok
