"""Files that are opened ahead: in order, errors at their place, and many small ones at once."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

import tfrkit as tfr
from tests.support.servers.fault_proxy import Fault, FaultProxy
from tests.support.servers.seaweed import S3Server
from tfrkit.errors import NotFoundError
from tfrkit.stores.object_config import configure_store


def write(url: str, *records: bytes) -> str:
    with tfr.TFRecordWriter(url) as writer:
        writer.write_many(list(records))
    return url


def test_files_come_in_order_and_an_error_at_its_place(unique_prefix: str) -> None:
    files = [write(f"memory://{unique_prefix}{number}", b"%d" % number) for number in range(40)]
    files.insert(20, f"memory://{unique_prefix}missing")
    records = tfr.read_records(files)
    assert [next(records) for _ in range(20)] == [b"%d" % number for number in range(20)]
    with pytest.raises(NotFoundError, match="missing"):
        next(records)
    assert list(records) == [b"%d" % number for number in range(20, 40)]


def test_local_and_remote_files_may_be_mixed(tmp_path: object, unique_prefix: str) -> None:
    files = [
        write(f"memory://{unique_prefix}{number}" if number % 3 else f"{tmp_path}/{number}", b"%d" % number)
        for number in range(30)
    ]
    assert list(tfr.read_records(files)) == [b"%d" % number for number in range(30)]


def test_closing_early_lets_go_of_what_was_opened(unique_prefix: str) -> None:
    from tfrkit.stores import remote_source

    files = [write(f"memory://{unique_prefix}{number}", b"x" * 100_000) for number in range(30)]
    reader = tfr.read_blocks(files)
    next(reader)
    reader.close()
    assert list(reader) == []
    deadline = time.monotonic() + 5
    while remote_source._budget.held and time.monotonic() < deadline:
        time.sleep(0.01)
    assert remote_source._budget.held == 0


def test_small_files_are_requested_many_at_a_time(
    s3_server: S3Server, s3_bucket: str, unique_prefix: str, fault_proxy: Callable[..., FaultProxy]
) -> None:
    configure_store(f"s3://{s3_bucket}", **s3_server.options())
    files = [write(f"s3://{s3_bucket}/{unique_prefix}{number:03}", b"%d" % number) for number in range(64)]
    proxy = fault_proxy(s3_server.port, Fault("delay", seconds=0.1))
    configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    before = time.monotonic()
    assert list(tfr.read_records(files)) == [b"%d" % number for number in range(64)]
    assert time.monotonic() - before < 64 * 0.1 / 2  # one after the other: 6.4 s
    assert len(proxy.requests()) == 64
