"""TFRecordWriter on URLs: the same bytes as on disk, whole or not at all."""

from __future__ import annotations

import dataclasses
import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.support.servers.fault_proxy import Fault
from tests.support.weak_store import weak_url
from tfrkit import tf
from tfrkit.codecs.codec import WINDOW_BYTES
from tfrkit.codecs.member import MEMBERS
from tfrkit.errors import (
    FailedPreconditionError,
    NotFoundError,
    PermissionDeniedError,
    UnimplementedError,
)
from tfrkit.records.write import sink
from tfrkit.stores.files import is_there, list_files, list_names, read_bytes, write_bytes
from tfrkit.stores.lease import held
from tfrkit.stores.object_config import configure_store
from tfrkit.stores.object_output import PART_BYTES

RECORDS = [b"%d" % number * (number % 50) for number in range(3000)]
LARGE = [os.urandom(700_000) for _ in range(40)]  # several parts

WRITE = """
import sys, time
import tfrkit as tfr
writer = tfr.TFRecordWriter(sys.argv[1])
for _ in range(40):
    writer.write(bytes(1 << 20))
print("written", flush=True)
time.sleep(600)
"""


def write(path, records, **options):
    with tfr.TFRecordWriter(path, **options) as writer:
        writer.write_many(records)


@pytest.mark.parametrize("name", ["a.tfrecord", "a.tfrecord.gz", "a.zlib", "a.xz", "a.zst"])
def test_bytes_are_those_of_a_local_file(name, remote_folder, tmp_path):
    path = f"{remote_folder}/b c%20ü/{name}"
    write(path, RECORDS)
    write(tmp_path / name, RECORDS)
    assert read_bytes(path) == (tmp_path / name).read_bytes()
    assert list(tfr.read_records(path)) == RECORDS


@pytest.mark.parametrize("name", ["a.tfrecord", "a.tfrecord.gz"])
@pytest.mark.parametrize("how", ["many", "one by one", "blocks", "pieces"])
def test_large_files_are_the_same(name, how, s3_folder, tmp_path):
    paths = [f"{s3_folder}/{name}", str(tmp_path / name)]
    records = [LARGE[0] * 10] * 4 if how == "pieces" else LARGE
    write(tmp_path / "source", records)
    for path in paths:
        with tfr.TFRecordWriter(path) as writer:
            if how == "blocks":
                for block in tfr.read_blocks(tmp_path / "source"):
                    writer.write_frames(block)
            elif how == "one by one":
                for record in records:
                    writer.write(record)
            else:
                writer.write_many(records)
    assert os.path.getsize(paths[1]) > 2 * PART_BYTES
    assert read_bytes(paths[0]) == Path(paths[1]).read_bytes()


def test_empty_file_is_the_same(remote_folder, tmp_path):
    for name in ("a.tfrecord", "a.gz"):
        write(f"{remote_folder}/{name}", [])
        write(tmp_path / name, [])
        assert read_bytes(f"{remote_folder}/{name}") == (tmp_path / name).read_bytes()


def test_weak_store(tmp_path):
    folder = weak_url(tmp_path)
    write(f"{folder}/a.tfrecord", RECORDS, index=True)
    assert list(tfr.read_records(f"{folder}/a.tfrecord")) == RECORDS
    assert sorted(os.listdir(tmp_path)) == [".tfrkit", "a.tfrecord"]


@pytest.mark.parametrize("name", ["a.tfrecord", "a.tfrecord.gz"])
def test_index_is_an_object_beside_it(name, remote_folder, tmp_path):
    path = f"{remote_folder}/{name}"
    write(path, RECORDS, index=True)
    write(tmp_path / name, RECORDS, index=True)
    there = [info.path for info in list_files(remote_folder, recursive=True)]
    assert sorted(there) == sorted([f"{remote_folder}/.tfrkit/{name}.idx", path])
    assert read_bytes(there[0]) == (tmp_path / ".tfrkit" / f"{name}.idx").read_bytes()


def test_nothing_is_visible_before_close(remote_folder):
    path = f"{remote_folder}/a.tfrecord"
    writer = tfr.TFRecordWriter(path)
    for record in LARGE:
        writer.write(record)
        writer.flush()
    assert not is_there(path)
    writer.close()
    writer.close()
    assert list(tfr.read_records(path)) == LARGE


@pytest.mark.parametrize("records", [RECORDS, LARGE], ids=["small", "large"])
def test_exception_leaves_nothing(records, remote_folder, request):
    path = f"{remote_folder}/a.tfrecord"
    write_bytes(path, b"before")
    with pytest.raises(ZeroDivisionError):
        write_and_fail(path, records, ZeroDivisionError)
    assert read_bytes(path) == b"before"
    assert list_names(remote_folder) == ["a.tfrecord"]
    check_no_uploads(remote_folder, request)


def write_and_fail(path, records, error):
    with tfr.TFRecordWriter(path, index=True) as writer:
        writer.write_many(records)
        writer.flush()
        raise error


def check_no_uploads(folder, request):
    if folder.startswith("s3://"):
        _, _, bucket, prefix = folder.split("/", 3)
        uploads = request.getfixturevalue("s3_server").uploads(bucket)
        assert [name for name in uploads if prefix in name] == []


def test_interruption_leaves_nothing(remote_folder, request):
    with pytest.raises(KeyboardInterrupt):
        write_and_fail(f"{remote_folder}/a.tfrecord", LARGE, KeyboardInterrupt)
    assert list_names(remote_folder) == []
    check_no_uploads(remote_folder, request)


def test_writer_that_is_dropped_leaves_nothing(remote_folder, request):
    writer = tfr.TFRecordWriter(f"{remote_folder}/a.tfrecord")
    writer.write_many(LARGE)
    del writer
    gc.collect()
    assert list_names(remote_folder) == []
    check_no_uploads(remote_folder, request)


def test_tensorflows_writer_that_is_dropped_writes_all(remote_folder):
    path = f"{remote_folder}/a.tfrecord"
    writer = tf.io.TFRecordWriter(path)
    writer.write(b"x")
    del writer
    gc.collect()
    assert list(tfr.read_records(path)) == [b"x"]


@pytest.mark.parametrize("there", [False, True])
def test_append_is_refused_with_the_alternative(there, remote_folder):
    path = f"{remote_folder}/a.tfrecord"
    if there:
        write(path, [b"x"])
    with pytest.raises(
        UnimplementedError,
        match=r"/a\.tfrecord; nothing can be appended there: .* written whole\. Write the new records to a file of "
        r"their own beside it, as another shard; or write all again: with tfrkit\.TFRecordWriter\(new\) as w",
    ):
        tfr.TFRecordWriter(path, append=True)
    assert list_names(remote_folder) == ["a.tfrecord"] * there


def test_web_servers_are_refused():
    with pytest.raises(UnimplementedError, match="web servers are read only here"):
        tfr.TFRecordWriter("https://localhost/a.tfrecord?sig=secret")


def test_names_without_a_key_are_refused(s3_folder):
    bucket = "/".join(s3_folder.split("/")[:3])
    for path, where in ((bucket, "bucket"), (bucket + "/", "bucket"), (f"{s3_folder}/d/", "last slash")):
        with pytest.raises(FailedPreconditionError, match=rf"; expected a name after the {where}\."):
            tfr.TFRecordWriter(path)


def test_missing_bucket(s3_server, s3_folder):
    configure_store("s3://no-such-bucket-here", **s3_server.options())
    with (
        pytest.raises(NotFoundError, match="no such bucket"),
        tfr.TFRecordWriter("s3://no-such-bucket-here/a") as writer,
    ):
        writer.write(b"x")


@pytest.mark.parametrize("records", [RECORDS, LARGE], ids=["small", "large"])
def test_no_permission(records, s3_server, s3_bucket, unique_prefix):
    configure_store(f"s3://{s3_bucket}", **s3_server.options(reader=True))
    try:
        with (
            pytest.raises(PermissionDeniedError, match="access denied") as caught,
            tfr.TFRecordWriter(f"s3://{s3_bucket}/{unique_prefix}a") as writer,
        ):
            writer.write_many(records)
    finally:
        configure_store(f"s3://{s3_bucket}", **s3_server.options())
    assert s3_server.reader_secret not in str(caught.value)


def test_huge_member_needs_no_way_back(monkeypatch, remote_folder, tmp_path):
    """Of all sizes round a window's end: what ends badly is made longer, and no output takes anything back."""
    monkeypatch.setattr(sink, "_MEMBER_BYTES", 1)
    members = dataclasses.replace(MEMBERS, max_bytes=10)
    monkeypatch.setattr(
        sink.MemberSink, "_format", property(lambda _: members, lambda *_: None), raising=False
    )
    padded = 0
    noise = os.urandom(WINDOW_BYTES)
    more = sum(map(len, members.deflate_huge(memoryview(noise), 5, False))) - len(noise) + 16
    for size in range(WINDOW_BYTES - more - 8, WINDOW_BYTES - more + 40, 3):
        record = noise[:size]
        paths = [f"{remote_folder}/a.gz", str(tmp_path / "a.gz")]
        for path in paths:
            write(path, [record, b"y"])
        data = read_bytes(paths[0])
        assert data == Path(paths[1]).read_bytes()
        assert list(tfr.read_records(paths[0])) == [record, b"y"]
        padded += data[3] & 4 != 0
    assert 5 < padded < 15


def test_kill_leaves_nothing_visible(s3_server, s3_folder):
    path = f"{s3_folder}/a.tfrecord"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, path],
        env={**os.environ, **s3_server.environment()},
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        process.send_signal(signal.SIGKILL)
    assert list_names(s3_folder) == []


def test_forked_process_neither_ends_nor_aborts_it(s3_folder):
    path = f"{s3_folder}/a.tfrecord"
    writer = tfr.TFRecordWriter(path)
    writer.write_many(LARGE)
    child = os.fork()
    if child == 0:
        del writer
        gc.collect()
        os._exit(0)
    began = time.monotonic()
    assert os.waitpid(child, 0)[1] == 0
    assert time.monotonic() - began < 10
    writer.write_many(RECORDS)
    writer.close()
    assert list(tfr.read_records(path)) == LARGE + RECORDS


def test_writing_in_a_forked_process_is_refused_at_once(s3_folder):
    write(f"{s3_folder}/a.tfrecord", RECORDS)
    read, end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            tfr.TFRecordWriter(f"{s3_folder}/b.tfrecord")
        except FailedPreconditionError as error:
            os.write(end, str(error).encode())
        os._exit(0)
    os.close(end)
    assert b"spawn" in os.read(read, 4096)
    os.waitpid(child, 0)
    os.close(read)


def test_same_bytes_through_faults(s3_server, s3_bucket, s3_folder, fault_proxy):
    """Connections that are cut at any byte, lost answers and server errors: everything is there, once."""
    proxy = fault_proxy(s3_server.port, Fault("cut", every=5), Fault("error", every=9, status=503))
    configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    try:
        for number in range(12):
            write(f"{s3_folder}/{number}", LARGE[: 15 + number] if number % 2 else RECORDS)
    finally:
        configure_store(f"s3://{s3_bucket}", **s3_server.options())
    assert proxy.counts()["cut"] > 5
    for number in range(12):
        expected = LARGE[: 15 + number] if number % 2 else RECORDS
        assert list(tfr.read_records(f"{s3_folder}/{number}")) == expected


def test_writing_through_an_output_of_the_caller(remote_folder):
    """As the builders do: the writer does not end what is not its own."""
    from tfrkit.stores.files import create

    output = create(f"{remote_folder}/a")
    with tfr.TFRecordWriter(output) as writer:
        writer.write_many(RECORDS)
    assert not is_there(f"{remote_folder}/a")
    output.close()
    assert list(tfr.read_records(f"{remote_folder}/a")) == RECORDS


EXIT = """
import sys, time
import tfrkit as tfr
from tfrkit import tf
from tfrkit.stores.lease import Lease
open_writers = [tfr.TFRecordWriter(sys.argv[1] + "/a"), tf.io.TFRecordWriter(sys.argv[1] + "/b")]
for writer in open_writers:
    for _ in range(20):
        writer.write(bytes(1 << 20))
shards = tfr.ShardWriter(sys.argv[1] + "/c", shard_bytes=1 << 20)
shards.write(bytes(1 << 20)), shards.write(b"x")
lease = Lease(sys.argv[1] + "/lock")
assert lease.acquire(wait=False)
"""


def test_exit_of_the_interpreter_aborts_what_is_open_and_ends_tensorflows(s3_server, s3_folder, request):
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-c", EXIT, s3_folder],
        env={**os.environ, **s3_server.environment()},
        check=True,
        timeout=60,
    )
    assert time.monotonic() - began < 30
    there = [info.path for info in list_files(s3_folder, recursive=True)]
    assert sorted(there) == [f"{s3_folder}/b", f"{s3_folder}/lock"]
    assert len(list(tfr.read_records(f"{s3_folder}/b"))) == 20
    check_no_uploads(s3_folder, request)
    with held(f"{s3_folder}/lock"):  # its holder is gone
        assert time.monotonic() - began < 40
