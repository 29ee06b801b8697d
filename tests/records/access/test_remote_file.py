from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tfrkit as tfr
from tests.records.support.made import contain, flip, frame, frames, member, members
from tests.records.support.remote import RemotePlace
from tests.support.servers.fault_proxy import Fault
from tfrkit.errors import DataLossError, FailedPreconditionError, NotFoundError
from tfrkit.records.access.index import index_path
from tfrkit.stores.files import is_there, list_files, remove, write_bytes
from tfrkit.stores.object_config import configure_store

RECORDS = [b"%d " % i * (i % 700) for i in range(2000)]
KINDS = {
    "": frames(RECORDS),
    "GZIP": contain(frames(RECORDS), "GZIP"),
    "members": members([RECORDS[i : i + 40] for i in range(0, 2000, 40)]),
    "ZSTD": contain(frames(RECORDS), "ZSTD"),
}


@pytest.fixture(params=KINDS)
def url(request, remote: RemotePlace) -> str:
    return remote.put("a b%20ü.tfrecord", KINDS[request.param])


def test_a_url_is_read_as_a_path_is(url):
    file = tfr.RecordFile(url)
    assert len(file) == 2000
    assert [file[0], file[17], file[-1]] == [RECORDS[0], RECORDS[17], RECORDS[-1]]
    wanted = np.random.default_rng(1).integers(-2000, 2000, 500)
    assert file.take(wanted).to_list() == [RECORDS[i] for i in wanted]
    assert file.take([7, 7, -1, 7]).to_list() == [RECORDS[7], RECORDS[7], RECORDS[-1], RECORDS[7]]
    assert file[100:900].to_list() == RECORDS[100:900]
    assert file[::-7].to_list() == RECORDS[::-7]
    assert file[np.arange(2000) % 3 == 0].to_list() == RECORDS[::3]
    assert file[[]].to_list() == []
    assert list(file) == RECORDS
    assert pickle.loads(pickle.dumps(file))[17] == RECORDS[17]
    assert url in repr(file)


def test_out_of_range_is_an_error_that_names_the_url(url):
    file = tfr.RecordFile(url)
    for read in (lambda: file[2000], lambda: file.take([0, -2001])):
        with pytest.raises(IndexError, match=r" has 2000 records$"):
            read()


@pytest.mark.parametrize("records", [[], [b"one"], [b"x" * 9_000_000]])
@pytest.mark.parametrize("kind", ["", "members"])
def test_few_records(remote, records, kind):
    data = bytes(tfr.Block.from_records(records).data)
    file = tfr.RecordFile(remote.put("a", member(data, len(records)) if kind and records else data))
    assert list(file) == file[:].to_list() == [file[i] for i in range(len(records))] == records


def test_a_record_is_one_request_and_a_take_joins_neighbours(remote):
    file = tfr.RecordFile(remote.put("a", KINDS[""]))
    remote.requests()
    assert file[1999] == RECORDS[1999]
    assert remote.requests() == 1
    file.take(range(100, 200))
    assert remote.requests() == 1
    file.take([1, 1999, 2, 1998])
    assert remote.requests() == 2
    assert list(file) == RECORDS
    assert remote.requests() <= 2


def test_members_are_fetched_joined_and_few_stay_inflated(remote):
    file = tfr.RecordFile(remote.put("a", KINDS["members"]))
    remote.requests()
    file.take([0, 1, 100])
    assert remote.requests() == 1
    file.take([2, 101, 0])
    assert remote.requests() == 0


def test_an_index_is_read_once_and_then_found_in_the_cache_folder(s3_remote):
    url = s3_remote.put("a", KINDS[""])
    tfr.RecordFile(url, index="save")
    assert is_there(index_path(url))
    s3_remote.requests()
    assert tfr.RecordFile(url).index.shard_bytes == len(KINDS[""])
    assert s3_remote.requests() == 3  # the file's beginning, its end, the index
    tfr.RecordFile(url)
    assert s3_remote.requests() == 1


def test_without_an_index_the_file_is_read_in_order_and_the_index_kept_in_the_cache_folder(s3_remote):
    large = [b"x" * 100_000] * 300
    url = s3_remote.put("a", frame(large[0]) * 300)
    s3_remote.requests()
    assert len(tfr.RecordFile(url)) == 300
    assert s3_remote.requests() < 16  # 30 MB in ranges, and the places where an index might have been
    assert [info.path for info in list_files(s3_remote.url, recursive=True)] == [url]
    s3_remote.requests()
    assert tfr.RecordFile(url)[299] == large[0]
    assert s3_remote.requests() == 2


def test_save_keeps_the_index_beside_the_file(remote):
    url = remote.put("a", KINDS["members"])
    tfr.RecordFile(url, index="save")
    assert is_there(index_path(url))
    assert tfr.RecordFile(url, index=index_path(url))[5] == RECORDS[5]


def test_save_keeps_the_index_in_the_cache_folder_if_the_bucket_cannot_be_written(
    s3_server, s3_bucket, s3_remote, tmp_path
):
    url = s3_remote.put("a", KINDS[""])
    configure_store(f"s3://{s3_bucket}", **s3_server.options(reader=True))
    assert tfr.RecordFile(url, index="save")[3] == RECORDS[3]
    assert not is_there(index_path(url))
    assert len(list((tmp_path / "cache" / "indexes").iterdir())) == 1


def test_an_index_that_does_not_fit_is_not_used(remote):
    url = remote.put("a", KINDS[""])
    tfr.RecordFile(url, index="save")
    remote.put("a", frames([b"other", *RECORDS[1:]]))
    file = tfr.RecordFile(url)
    assert [file[0], file[1999]] == [b"other", RECORDS[1999]]
    with pytest.raises(FailedPreconditionError, match="the index belongs to another version of"):
        tfr.RecordFile(url, index=index_path(url))


def test_a_damaged_index_is_not_used(remote):
    url = remote.put("a", KINDS[""])
    tfr.RecordFile(url, index="save")
    write_bytes(index_path(url), b"TFRKIDX1" + bytes(50))
    assert tfr.RecordFile(url)[17] == RECORDS[17]


@pytest.mark.parametrize("name", ["a.tfrecord.idx", "a.index"])
def test_a_text_index_of_another_tool_is_used(remote, monkeypatch, name):
    url = remote.put("a.tfrecord", frames([b"abc", b"", b"xy"]))
    remote.put(name, b"0 19\n19 16\n35 18\n")
    monkeypatch.setattr("tfrkit.records.access.find_index.index_of", lambda *args: pytest.fail("built"))
    assert list(tfr.RecordFile(url)) == [b"abc", b"", b"xy"]


@pytest.mark.parametrize("kind", ["", "members"])
def test_a_file_that_is_overwritten_after_opening_is_an_error_that_names_both_versions(remote, kind):
    url = remote.put("a", KINDS[kind])
    file = tfr.RecordFile(url)
    remote.put("a", frames([b"other"] * 50_000))
    for read in (lambda: file.take([1500, 3]), lambda: file[700], lambda: list(file)):
        with pytest.raises(
            FailedPreconditionError, match=r"version \S+ was opened, now it is \S+\. Start over"
        ):
            read()


def test_a_file_that_is_deleted_after_opening_is_an_error(remote):
    url = remote.put("a", KINDS[""])
    file = tfr.RecordFile(url)
    remove(url)
    with pytest.raises(NotFoundError, match=r"/a; "):
        file.take([1500, 3])
    with pytest.raises(NotFoundError, match=r"/a; No such file"):
        tfr.RecordFile(url)


def test_a_truncated_file_is_an_error(remote):
    url = remote.put("a", KINDS[""][:-5])
    with pytest.raises(DataLossError, match=r"^truncated record at .*record 1999 ") as caught:
        tfr.RecordFile(url)
    assert caught.value.record == 1999
    with pytest.raises(DataLossError, match=r"has no end"):
        tfr.RecordFile(remote.put("b", KINDS["members"][:-5]))


def test_damage_is_an_error_with_its_number(remote):
    data = bytearray(frames([b"one", b"two", b"three"]))
    data[19 + 12] ^= 1
    url = remote.put("a", bytes(data))
    file = tfr.RecordFile(url)
    assert [file[0], file[2]] == [b"one", b"three"]
    for read in (lambda: file[1], lambda: file.take([2, 1]), lambda: file[:], lambda: list(file)):
        with pytest.raises(DataLossError, match="record 1 ") as caught:
            read()
        assert (caught.value.record, caught.value.offset) == (1, 19)
    assert tfr.RecordFile(url, crc=False)[:].to_list() == [b"one", b"uwo", b"three"]


def test_a_damaged_length_is_an_error_even_with_an_index(remote, tmp_path):
    url = remote.put("a", frames([b"one", b"two", b"three"]))
    remote.put("a.idx", b"0 19\n19 19\n38 21\n")
    remote.put("a", flip(frames([b"one", b"two", b"three"]), 19))
    file = tfr.RecordFile(url, crc=False)
    assert file[2] == b"three"
    with pytest.raises(DataLossError, match="record 1 "):
        file.take([0, 1, 2])


def test_threads_share_a_file(remote):
    file = tfr.RecordFile(remote.put("a", KINDS["members"]))
    with ThreadPoolExecutor(8) as pool:
        for first, block in enumerate(pool.map(lambda i: file.take(range(i, 2000, 50)).to_list(), range(50))):
            assert block == RECORDS[first::50]


def test_a_closed_file_is_an_error(remote):
    with tfr.RecordFile(remote.put("a", KINDS[""])) as file:
        pass
    with pytest.raises(FailedPreconditionError, match="RecordFile is closed"):
        file.take([1])


def test_a_server_without_ranges_is_an_error_that_says_so(http_server):
    http_server.files["a"] = KINDS[""]
    http_server.manners.ranges = False
    with pytest.raises(FailedPreconditionError, match="does not answer requests for ranges"):
        tfr.RecordFile(f"{http_server.url}/a")


def test_the_query_of_a_signed_url_is_in_no_text_and_not_in_the_cache_folder(
    http_server, tmp_path, monkeypatch
):
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "cache"))
    http_server.files["a"] = KINDS[""]
    http_server.manners.signature = "s3cret"
    url = f"{http_server.url}/a?sig=s3cret"
    file = tfr.RecordFile(url)
    assert file[17] == RECORDS[17]
    assert "s3cret" not in repr(file)
    assert "s3cret" not in str(file.take([1]).path)
    with pytest.raises(IndexError) as caught:
        file[5000]
    assert "s3cret" not in str(caught.value)
    kept = list((tmp_path / "cache" / "indexes").iterdir())
    assert len(kept) == 1
    assert b"s3cret" not in kept[0].read_bytes()


def test_faults_lose_nothing(s3_server, s3_bucket, fault_proxy, s3_remote):
    url = s3_remote.put("a", KINDS[""])
    proxy = fault_proxy(s3_server.port, Fault("cut", every=4), Fault("error", every=7, status=503))
    configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    file = tfr.RecordFile(url)
    wanted = np.random.default_rng(2).permutation(2000)
    for part in np.split(wanted, 20):
        assert file.take(part).to_list() == [RECORDS[i] for i in part]
    assert list(file) == RECORDS
    assert proxy.counts()["cut"] > 0
    assert proxy.counts()["error"] > 0


def test_what_was_read_is_kept_with_cache(s3_remote):
    url = s3_remote.put("a", KINDS[""])
    assert list(tfr.RecordFile(url, cache=True)) == RECORDS
    again = tfr.RecordFile(url, cache=True)
    s3_remote.requests()
    assert again.take([1500, 3, -1]).to_list() == [RECORDS[1500], RECORDS[3], RECORDS[-1]]
    assert list(again) == RECORDS
    assert s3_remote.requests() == 0


def test_files_of_a_web_server(http_server, tmp_path, monkeypatch):
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "cache"))
    http_server.files["d/a.tfrecord"] = KINDS[""]
    http_server.files["d/b.tfrecord.gz"] = KINDS["members"]
    files = tfr.RecordFiles([f"{http_server.url}/d/a.tfrecord", f"{http_server.url}/d/b.tfrecord.gz"])
    assert len(files) == 4000
    assert files.take([3999, 17, 2017]).to_list() == [RECORDS[1999], RECORDS[17], RECORDS[17]]
    assert len(list((tmp_path / "cache" / "indexes").iterdir())) == 2


FORKED = """
import os, sys, time
import tfrkit as tfr

file = tfr.RecordFile(sys.argv[1])
assert file[3]
pid = os.fork()
if not pid:
    begun = time.monotonic()
    try:
        file.take([1500])
    except tfr.errors.FailedPreconditionError as error:
        os._exit(0 if "spawn" in str(error) and time.monotonic() - begun < 1 else 2)
    os._exit(1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_a_forked_child_is_told_to_spawn(s3_server, s3_bucket, s3_remote):
    url = s3_remote.put("a", KINDS[""])
    environment = {**os.environ, **s3_server.environment()}
    done = subprocess.run([sys.executable, "-c", FORKED, url], env=environment, timeout=60, check=False)
    assert done.returncode == 0
