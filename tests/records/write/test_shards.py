from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.records.support.made import GOLDEN
from tfrkit.errors import AlreadyExistsError, FailedPreconditionError, InvalidArgumentError
from tfrkit.records.access.index import index_path, load_index
from tfrkit.records.manifest import read_manifest
from tfrkit.records.write.shards import shard_of
from tfrkit.stores.files import open_source

RECORDS = [b"%d " % i * 9 for i in range(100)]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".tfrkit")


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*.tmp")]


def read(folder: Path) -> list[list[bytes]]:
    return [list(tfr.read_records(path)) for path in sorted(folder.glob("*.tfrecord*"))]


def write(prefix: object, records: list[bytes] = RECORDS, **options: object) -> tfr.ShardWriter:
    with tfr.ShardWriter(prefix, **options) as writer:  # type: ignore[arg-type]
        writer.write_many(records)
    return writer


def test_names_number_the_shards(tmp_path):
    writer = write(tmp_path / "train", shards=3)
    expected = [f"train-0000{i}-of-00003.tfrecord" for i in range(3)]
    assert names(tmp_path) == ["manifest.json", *expected]
    assert writer.paths == [str(tmp_path / name) for name in expected]
    assert writer.records == 100


@pytest.mark.parametrize(
    ("compression", "suffix"),
    [("none", ""), ("GZIP", ".gz"), ("ZLIB", ".zlib"), ("XZ", ".xz"), ("ZSTD", ".zst")],
)
def test_compression_has_its_suffix(compression, suffix, tmp_path):
    write(tmp_path / "train", shards=2, compression=compression)
    assert names(tmp_path)[1] == f"train-00000-of-00002.tfrecord{suffix}"
    assert read(tmp_path) == [RECORDS[::2], RECORDS[1::2]]


def test_records_go_round_robin_however_they_are_written(tmp_path):
    with tfr.ShardWriter(tmp_path / "train", shards=3) as writer:
        writer.write(RECORDS[0])
        writer.write_many(RECORDS[1:50])
        writer.write_many(iter(RECORDS[50:70]))
        writer.write_many(tfr.Block.from_records(RECORDS[70:99]))
        writer.write(RECORDS[99])
    assert read(tmp_path) == [RECORDS[0::3], RECORDS[1::3], RECORDS[2::3]]


def test_key_decides_the_shard(tmp_path):
    with tfr.ShardWriter(tmp_path / "train", shards=4) as writer:
        for number, record in enumerate(RECORDS):
            writer.write(record, key=f"user-{number % 10}")
    shards = read(tmp_path)
    assert sorted(record for shard in shards for record in shard) == sorted(RECORDS)
    for number, record in enumerate(RECORDS):
        assert record in shards[shard_of(f"user-{number % 10}", 4)]


def test_hash_of_a_key_is_the_same_everywhere():
    assert [shard_of(key, 16) for key in ("user-7", b"user-7", "", "ключ")] == [14, 14, 4, 12]


def test_new_shard_begins_when_one_is_large_enough(tmp_path):
    records = [os.urandom(1000) for _ in range(500)]
    write(tmp_path / "train", records, shard_bytes=100_000)
    shards = sorted(tmp_path.glob("*.tfrecord"))
    assert len(shards) == 6
    assert shards[0].name == "train-00000-of-00006.tfrecord"
    assert all(90_000 <= shard.stat().st_size <= 120_000 for shard in shards[:-1])
    assert [record for shard in read(tmp_path) for record in shard] == records


def test_no_records_are_empty_shards(tmp_path):
    write(tmp_path / "train", [], shards=2)
    assert read(tmp_path) == [[], []]
    assert [shard["records"] for shard in read_manifest(str(tmp_path))["shards"]] == [0, 0]


def test_key_with_shards_by_size_is_refused(tmp_path):
    with tfr.ShardWriter(tmp_path / "train", shard_bytes=100) as writer:
        with pytest.raises(
            InvalidArgumentError, match=r"^A key needs a fixed number of shards\. Pass shards= instead"
        ):
            writer.write(b"x", key=b"k")
        writer.write(b"x")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "Expected either shards or shard_bytes but got neither."),
        ({"shards": 1, "shard_bytes": 1}, "Expected either shards or shard_bytes but got both."),
        ({"shards": 0}, "Expected shards to be at least 1 but got 0."),
        ({"shard_bytes": -5}, "Expected shard_bytes to be at least 1 but got -5."),
        (
            {"shards": 1, "compression": "LZ4"},
            "Unknown compression 'LZ4': expected none, GZIP, ZLIB, XZ or ZSTD.",
        ),
    ],
)
def test_bad_options_are_refused(options, text, tmp_path):
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.ShardWriter(tmp_path / "out" / "train", **options)
    assert str(caught.value) == text
    assert list(tmp_path.iterdir()) == []


def test_nothing_has_its_name_before_close(tmp_path):
    with tfr.ShardWriter(tmp_path / "out" / "train", shards=2) as writer:
        writer.write_many(RECORDS)
        assert names(tmp_path / "out") == []
    assert len(names(tmp_path / "out")) == 3
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("how", [{"shards": 3}, {"shard_bytes": 1000}])
def test_exception_publishes_nothing(how, tmp_path):
    def fail() -> None:
        with tfr.ShardWriter(tmp_path / "train", **how) as writer:
            writer.write_many(RECORDS * 500)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_dropped_writer_publishes_nothing(tmp_path):
    writer = tfr.ShardWriter(tmp_path / "train", shards=2)
    writer.write_many(RECORDS)
    del writer
    assert list(tmp_path.iterdir()) == []


def test_closed_writer_refuses(tmp_path):
    writer = write(tmp_path / "train", shards=1)
    writer.close()
    for use in (lambda: writer.write(b"x"), lambda: writer.write_many([b"x"])):
        with pytest.raises(FailedPreconditionError, match=r"^Writer is closed\.$"):
            use()


def test_shards_that_exist_are_an_error(tmp_path):
    write(tmp_path / "train", shards=2)
    with pytest.raises(AlreadyExistsError) as caught:
        tfr.ShardWriter(tmp_path / "train", shards=5)
    first = tmp_path / "train-00000-of-00002.tfrecord"
    assert str(caught.value) == (
        f"{first}; there are 2 shards of {str(tmp_path / 'train')!r} already. "
        "Remove them, choose another prefix, or pass overwrite=True."
    )
    assert isinstance(caught.value, FileExistsError)


def test_overwrite_replaces_the_old_shards_at_close(tmp_path):
    write(tmp_path / "train", shards=5)
    with tfr.ShardWriter(tmp_path / "train", shards=2, overwrite=True) as writer:
        writer.write_many(RECORDS[:10])
        assert len(read(tmp_path)) == 5
    assert names(tmp_path) == [
        "manifest.json",
        "train-00000-of-00002.tfrecord",
        "train-00001-of-00002.tfrecord",
    ]
    assert [shard["name"] for shard in read_manifest(str(tmp_path))["shards"]] == names(tmp_path)[1:]
    assert sorted(path.name for path in (tmp_path / ".tfrkit").glob("*.idx")) == [
        f"{name}.idx" for name in names(tmp_path)[1:]
    ]


def test_overwrite_with_an_exception_keeps_the_old_shards(tmp_path):
    write(tmp_path / "train", shards=2)

    def fail() -> None:
        with tfr.ShardWriter(tmp_path / "train", shards=2, overwrite=True) as writer:
            writer.write(b"new")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert read(tmp_path) == [RECORDS[::2], RECORDS[1::2]]
    assert leftovers(tmp_path) == []


def test_other_prefixes_and_files_are_left_alone(tmp_path):
    (tmp_path / "train-notes.txt").write_bytes(b"mine")
    write(tmp_path / "train-extra", shards=1)
    write(tmp_path / "train", shards=1)
    write(tmp_path / "train", shards=2, overwrite=True)
    assert {"train-extra-00000-of-00001.tfrecord", "train-notes.txt"} <= set(names(tmp_path))
    assert len(read_manifest(str(tmp_path))["shards"]) == 3


@pytest.mark.parametrize("compression", ["none", "GZIP"])
def test_index_of_every_shard_is_kept(compression, tmp_path):
    writer = write(tmp_path / "train", shards=2, compression=compression)
    for path, expected in zip(writer.paths, [RECORDS[::2], RECORDS[1::2]], strict=True):
        index = load_index(path, open_source(path))
        assert index is not None
        assert len(index) == 50
        assert list(tfr.RecordFile(path, index=index_path(path))) == expected


def test_no_index_on_request(tmp_path):
    write(tmp_path / "train", shards=2, index=False)
    assert list((tmp_path / ".tfrkit").glob("*.idx")) == []


def test_manifest_tells_counts_sizes_and_how_it_was_made(tmp_path):
    write(tmp_path / "train", [b"abc", b"", b"\xff\x00"], shards=1)
    write(tmp_path / "eval", RECORDS, shard_bytes=10**9, compression="GZIP")
    content = read_manifest(str(tmp_path))
    gzip = tmp_path / "eval-00000-of-00001.tfrecord.gz"
    assert (tmp_path / "train-00000-of-00001.tfrecord").read_bytes() == GOLDEN
    assert content["shards"] == [
        {"name": gzip.name, "records": 100, "bytes": gzip.stat().st_size, "compression": "GZIP"},
        {"name": "train-00000-of-00001.tfrecord", "records": 3, "bytes": 53, "compression": ""},
    ]
    assert content["made_by"] == {
        "eval": {"writer": "ShardWriter", "shards": 1, "compression": "GZIP", "shard_bytes": 10**9},
        "train": {"writer": "ShardWriter", "shards": 1, "compression": ""},
    }


def test_same_data_gives_the_same_folder(tmp_path):
    for name in "ab":
        write(tmp_path / name / "train", shards=3, compression="GZIP")
    a, b = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir() if p.is_file()} for name in "ab")
    assert a == b


def test_prefix_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("train", shards=1)
    assert names(tmp_path) == ["manifest.json", "train-00000-of-00001.tfrecord"]


def _write(prefix: str) -> None:
    write(prefix, shards=3)


def test_two_processes_write_into_one_folder_at_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    prefixes = [str(tmp_path / name) for name in ("train", "eval")]
    workers = [context.Process(target=_write, args=(prefix,)) for prefix in prefixes]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    content = read_manifest(str(tmp_path))
    assert len(content["shards"]) == 6
    assert set(content["made_by"]) == {"train", "eval"}
    assert tfr.verify(str(tmp_path / "*")).records == 200


def test_prefix_with_the_suffix_of_the_files_is_followed_by_the_number(tmp_path):
    prefix = tmp_path / "mnist-train.tfrecord"
    writer = write(prefix, shards=2)
    names = [f"mnist-train.tfrecord-0000{number}-of-00002" for number in range(2)]
    assert writer.paths == [str(tmp_path / name) for name in names]
    with pytest.raises(tfr.errors.AlreadyExistsError, match="2 shards"):
        write(prefix, shards=1)
    write(tmp_path / "mnist-train", shards=1)  # another set
    write(prefix, shards=1, overwrite=True)
    assert sorted(path.name for path in tmp_path.glob("*-of-*")) == [
        "mnist-train-00000-of-00001.tfrecord",
        "mnist-train.tfrecord-00000-of-00001",
    ]
    assert list(tfr.read_records(tmp_path / "mnist-train.tfrecord-*")) == RECORDS


def test_finish_leaves_nothing_but_names_to_give(tmp_path):
    with tfr.ShardWriter(tmp_path / "a", shards=2) as writer:
        writer.write_many(RECORDS)
        writer.finish()
        assert not list(tmp_path.glob("*.tfrecord"))
        with pytest.raises(tfr.errors.FailedPreconditionError):
            writer.write(b"more")
        writer.close()
    assert sorted(tfr.read_records(tmp_path / "a*")) == sorted(RECORDS)
