"""How many requests reading and writing make: what docs/remote-data.md says that they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.support.servers.fault_proxy import FaultProxy, Relayed
from tests.support.servers.seaweed import S3Server

PART = 1 << 23  # a range that is read, and a part that is written
RECORDS = 20  # of 1 MB: three ranges a file


class Counted:
    """A folder in a bucket, and what was asked of it; `seen` tells of each request of the last work."""

    def __init__(self, folder: str, proxy: FaultProxy) -> None:
        self.folder = folder
        self.seen: list[Relayed] = []
        self._proxy = proxy

    def of(self, work: Callable[[], object]) -> Counter[str]:
        """Do something; return the requests by method, those for lists and for parts of uploads by what they are."""
        self._proxy.requests(clear=True)
        work()
        self.seen = self._proxy.requests(clear=True)
        return Counter(_kind(each.method, each.target) for each in self.seen)


def _kind(method: str, target: str) -> str:
    query = target.partition("?")[2]
    if "list-type" in query:
        return "LIST"
    return "PART" if "partNumber" in query else method


@pytest.fixture(scope="module")
def counted(s3_server: S3Server) -> Iterator[Counted]:
    with FaultProxy(s3_server.port) as proxy:
        bucket = s3_server.bucket()
        tfr.configure_store(f"s3://{bucket}", **s3_server.options(endpoint=proxy.endpoint))
        for number in range(2):
            write(f"s3://{bucket}/plain/a-{number}.tfrecord")
        yield Counted(f"s3://{bucket}", proxy)


def write(path: str, count: int = RECORDS, size: int = 1 << 20) -> None:
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([b"x" * size] * count)


def scan(paths: str | list[str], cache: bool | None = None) -> int:
    return sum(len(block) for block in tfr.read_blocks(paths, cache=cache))


def test_a_small_object_is_one_request_to_write_and_one_to_read(counted: Counted) -> None:
    path = f"{counted.folder}/small.tfrecord"
    assert counted.of(lambda: write(path, 1, 1000)) == {"PUT": 1}
    assert counted.of(lambda: scan(path)) == {"GET": 1}


def test_a_large_object_is_written_with_three_requests_and_one_a_part(counted: Counted) -> None:
    requests = counted.of(lambda: write(f"{counted.folder}/large.tfrecord"))
    assert requests == {"HEAD": 1, "POST": 2, "PART": 3}


def test_a_scan_is_one_request_and_one_a_range(counted: Counted) -> None:
    assert counted.of(lambda: scan(f"{counted.folder}/plain/a-0.tfrecord")) == {"GET": 1 + 3}


def test_a_pattern_costs_three_requests(counted: Counted) -> None:
    requests = counted.of(lambda: scan(f"{counted.folder}/plain/*.tfrecord"))
    assert requests == {"HEAD": 1, "LIST": 2, "GET": 2 * (1 + 3)}


def test_an_epoch_from_the_cache_is_one_request_a_file(
    counted: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path))
    paths = [f"{counted.folder}/plain/a-{number}.tfrecord" for number in range(2)]
    assert counted.of(lambda: scan(paths, cache=True)) == {"GET": 2 * (1 + 3)}, counted.seen
    assert counted.of(lambda: scan(paths, cache=True)) == {"GET": 2}, counted.seen


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder without indexes of other tests."""
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("own_cache")
def test_a_file_is_opened_with_its_index_beside_it_then_with_that_in_the_cache(counted: Counted) -> None:
    path = f"{counted.folder}/indexed.tfrecord"
    with tfr.TFRecordWriter(path, index=True) as writer:
        writer.write_many([b"x" * 1000] * 5000)
    assert counted.of(lambda: len(tfr.RecordFile(path))) == {"GET": 3}
    assert counted.of(lambda: len(tfr.RecordFile(path))) == {"GET": 1}


@pytest.mark.usefixtures("own_cache")
def test_records_cost_a_request_and_neighbours_share_one(counted: Counted) -> None:
    path = f"{counted.folder}/taken.tfrecord"
    with tfr.TFRecordWriter(path, index=True) as writer:
        writer.write_many([b"x" * 1000] * 10_000)
    file = tfr.RecordFile(path)
    assert counted.of(lambda: file[5000]) == {"GET": 1}
    assert counted.of(lambda: file.take(range(5000, 6024))) == {"GET": 1}
    assert counted.of(lambda: file.take(range(1000, 10_000, 1000))) == {"GET": 9}


def test_a_set_of_shards_costs_two_requests_a_shard_beyond_the_writing(counted: Counted) -> None:
    def write_set(shards: int) -> None:
        with tfr.ShardWriter(f"{counted.folder}/set-{shards}/train", shards=shards) as writer:
            writer.write_many([b"x"] * 100)

    few, many = (counted.of(lambda shards=shards: write_set(shards)).total() for shards in (2, 12))
    assert many - few == 10 * (1 + 2)
    assert few - 2 * (1 + 2) <= 8


def test_a_build_costs_four_requests_a_shard_beyond_the_writing(counted: Counted, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b\n" + "".join(f"{number},x{number}\n" for number in range(1000)))

    def build(shards: int) -> None:
        tfr.build.table([str(table)], f"{counted.folder}/built-{shards}", shards=shards)

    few, many = (counted.of(lambda shards=shards: build(shards)).total() for shards in (2, 12))
    assert many - few <= 10 * (1 + 4) + 5  # a lease that is renewed meanwhile
    assert few - 2 * (1 + 4) <= 40
    assert counted.of(lambda: build(12)).total() <= 20


@pytest.mark.parametrize("threads", [1, 8])
def test_a_part_of_a_file_is_fetched_without_what_comes_after_it(counted: Counted, threads: int) -> None:
    path = f"{counted.folder}/cut/a.tfrecord"
    with tfr.TFRecordWriter(path, index=True) as writer:
        for number in range(20):
            writer.write_batch({"n": [number] * 8, "bytes": [b"x" * (1 << 20)] * 8})
    scan = tfr.scan(path, spec={"n": tfr.FixedLenFeature([], "int64")})
    parts = scan.parts(10, threads=threads)
    assert len(parts) == 10
    for part in parts:
        # 16 MiB are in up to four ranges, if they begin and end within one, or one and the opening.
        assert counted.of(part.to_table)["GET"] <= 1 + 4
    assert sum(part.to_table().num_rows for part in parts) == 160
