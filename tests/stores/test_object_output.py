"""Uploads: whole or not at all, whatever is lost on the way."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.support.servers.fault_proxy import Fault, FaultProxy
from tests.support.servers.seaweed import S3Server
from tfrkit.errors import FailedPreconditionError, OpError, PermissionDeniedError
from tfrkit.stores.files import create, file_info, is_there, list_names, read_bytes, write_bytes
from tfrkit.stores.object_config import configure_store

MakeProxy = Callable[..., FaultProxy]
DATA = random.Random(1).randbytes(20 << 20)


@pytest.fixture
def folder(s3_server: S3Server, s3_bucket: str, unique_prefix: str) -> str:
    configure_store(f"s3://{s3_bucket}", **s3_server.options())
    return f"s3://{s3_bucket}/{unique_prefix}".rstrip("/")


def write(url: str, data: bytes, piece: int = 3_000_001) -> None:
    output = create(url)
    for at in range(0, len(data), piece):
        output.write(data[at : at + piece])
    output.close()


@pytest.mark.parametrize("size", [0, 1, 1000, 8 << 20, (8 << 20) + 1, 20 << 20])
def test_an_object_holds_what_was_written(folder: str, size: int) -> None:
    write(f"{folder}/a", DATA[:size])
    assert read_bytes(f"{folder}/a") == DATA[:size]


def test_nothing_is_there_before_the_end(folder: str) -> None:
    output = create(f"{folder}/a")
    output.write(DATA)
    assert not is_there(f"{folder}/a")
    output.close()
    assert is_there(f"{folder}/a")


def test_what_is_given_up_leaves_nothing(folder: str, s3_server: S3Server, s3_bucket: str) -> None:
    before = set(s3_server.uploads(s3_bucket))
    output = create(f"{folder}/a")
    output.write(DATA)
    output.discard()
    assert not is_there(f"{folder}/a")
    assert list_names(folder) == []
    assert set(s3_server.uploads(s3_bucket)) <= before
    with pytest.raises(FailedPreconditionError, match="given up"):
        output.write(b"more")


def test_an_output_that_is_dropped_leaves_nothing(folder: str, s3_server: S3Server, s3_bucket: str) -> None:
    before = set(s3_server.uploads(s3_bucket))
    output = create(f"{folder}/a")
    output.write(DATA)
    del output
    assert not is_there(f"{folder}/a")
    assert set(s3_server.uploads(s3_bucket)) <= before


def test_a_buffer_may_be_used_again_after_write(folder: str) -> None:
    output, buffer = create(f"{folder}/a"), bytearray(1 << 20)
    for at in range(0, len(DATA), len(buffer)):
        buffer[:] = DATA[at : at + len(buffer)]
        output.write(memoryview(buffer))
    output.close()
    assert read_bytes(f"{folder}/a") == DATA


@pytest.mark.parametrize(
    "fault",
    [
        Fault("cut", methods=("POST",), limit=1, path="uploads"),  # the answer to the beginning is lost
        Fault("cut", methods=("POST",), limit=1, path="uploadId"),  # the answer to the end is lost
        Fault("cut", methods=("PUT",), every=2, limit=3),
        Fault("cut_upload", methods=("PUT",), every=2, limit=3),
        Fault("error", methods=("PUT", "POST"), every=2, limit=6, status=503),
        Fault("error", methods=("PUT", "POST"), every=3, limit=6, status=429),
        Fault("error", methods=("PUT", "POST"), every=3, limit=6, status=500),
    ],
    ids=lambda fault: f"{fault.kind} {fault.methods} {fault.path} {fault.status}",
)
@pytest.mark.parametrize("size", [100, 20 << 20])
def test_uploads_survive_faults(
    folder: str, s3_server: S3Server, s3_bucket: str, fault_proxy: MakeProxy, fault: Fault, size: int
) -> None:
    proxy = fault_proxy(s3_server.port, fault)
    configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    write(f"{folder}/a", DATA[:size])
    configure_store(f"s3://{s3_bucket}", **s3_server.options())
    assert read_bytes(f"{folder}/a") == DATA[:size]
    if size > 100:
        assert proxy.counts()[fault.kind] >= 1


def test_a_lost_answer_to_the_end_of_a_replacement_counts_only_if_it_is_the_new_one(
    folder: str, s3_server: S3Server, s3_bucket: str, fault_proxy: MakeProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(f"{folder}/a", DATA[::-1])
    monkeypatch.setattr("tfrkit.stores.object_config._RETRIES", 0)
    proxy = fault_proxy(s3_server.port, Fault("error", methods=("POST",), path="uploadId", status=500))
    configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    with pytest.raises(OpError, match="500"):
        write(f"{folder}/a", DATA)
    configure_store(f"s3://{s3_bucket}", **s3_server.options())
    assert read_bytes(f"{folder}/a") == DATA[::-1]


def test_who_may_only_read_is_told_so(folder: str, s3_server: S3Server, s3_bucket: str) -> None:
    configure_store(f"s3://{s3_bucket}", **s3_server.options(reader=True))
    for size in (100, 20 << 20):
        with pytest.raises(PermissionDeniedError, match="access denied"):
            write(f"{folder}/a", DATA[:size])
    configure_store(f"s3://{s3_bucket}", **s3_server.options())
    assert not is_there(f"{folder}/a")


def test_conditional_writes(folder: str) -> None:
    url = f"{folder}/a"
    first = write_bytes(url, b"one", expected="")
    assert first is not None
    assert write_bytes(url, b"two", expected="") is None
    info = file_info(url)
    assert info is not None
    assert info.version == first
    second = write_bytes(url, b"three", expected=first)
    assert second not in (None, first)
    assert write_bytes(url, b"four", expected=first) is None
    assert read_bytes(url) == b"three"


def test_a_lost_answer_to_a_conditional_write_is_not_a_loss(
    folder: str, s3_server: S3Server, s3_bucket: str, fault_proxy: MakeProxy
) -> None:
    proxy = fault_proxy(s3_server.port, Fault("cut", methods=("PUT",), limit=1))
    configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    assert write_bytes(f"{folder}/a", b"mine", expected="") is not None
    assert read_bytes(f"{folder}/a") == b"mine"
    assert write_bytes(f"{folder}/a", b"another's", expected="") is None
