from __future__ import annotations

import errno
import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.records.support.made import (
    CONTAINERS,
    GOLDEN,
    GOLDEN_RECORDS,
    contain,
    flip,
    frame,
    frames,
    member,
    members,
    put,
)
from tfrkit.codecs.gzip import GZIP
from tfrkit.codecs.member import MEMBERS, inflate_member
from tfrkit.errors import DataLossError, FailedPreconditionError, NotFoundError, ResourceExhaustedError
from tfrkit.records.access import member_contents
from tfrkit.records.access.index import build_index, index_path, save_index
from tfrkit.stores.source import ByteSource

RECORDS = [b"%d " % i * (i % 7) for i in range(1000)]
KINDS = [kind for kind in CONTAINERS if kind != "MEMBERS"] + ["members"]


@pytest.fixture(params=KINDS)
def path(request, tmp_path: Path) -> Path:
    if request.param == "members":
        return put(tmp_path / "a", members([RECORDS[i : i + 40] for i in range(0, 1000, 40)]))
    return put(tmp_path / "a", contain(frames(RECORDS), request.param))


def test_single_records(path):
    file = tfr.RecordFile(path)
    assert len(file) == 1000
    for index in (0, 1, 39, 40, 500, 999, -1, -1000):
        assert file[index] == RECORDS[index]
    assert file[np.int64(17)] == RECORDS[17]


def test_iteration(path):
    assert list(tfr.RecordFile(path)) == RECORDS


@pytest.mark.parametrize(
    "part", [slice(10, 20), slice(None), slice(None, None, -7), slice(990, 2000), slice(5, 5)]
)
def test_slices_are_blocks(path, part):
    block = tfr.RecordFile(path)[part]
    assert isinstance(block, tfr.Block)
    assert block.to_list() == RECORDS[part]


def test_take_gives_records_in_the_order_asked_for(path):
    wanted = np.random.default_rng(1).integers(-1000, 1000, 700)
    assert tfr.RecordFile(path).take(wanted).to_list() == [RECORDS[i] for i in wanted]
    assert tfr.RecordFile(path).take([]).to_list() == []


def test_taken_records_know_their_numbers(path):
    file = tfr.RecordFile(path)
    assert [file.take([7, -1, 3]).place(i) for i in range(3)] == [(7, None), (999, None), (3, None)]
    assert [file[20:10:-3].place(i) for i in (0, 3)] == [(20, None), (11, None)]


@pytest.mark.parametrize("index", [1000, -1001, 10**12])
def test_index_out_of_range_names_number_and_file(path, index):
    text = f"^record {index} is out of range: {str(path)!r} has 1000 records$"
    with pytest.raises(IndexError, match=text):
        tfr.RecordFile(path)[index]
    with pytest.raises(IndexError, match=text):
        tfr.RecordFile(path).take([0, index])


def test_pickle_opens_the_file_again(path):
    copy = pickle.loads(pickle.dumps(tfr.RecordFile(path, crc=False)))
    assert copy[17] == RECORDS[17]
    assert copy._frames.crc is False


def test_closed_file_refuses(path):
    with tfr.RecordFile(path) as file:
        assert file[3] == RECORDS[3]
    for use in (lambda: file[3], lambda: file[3:5], lambda: file.take([1])):
        with pytest.raises(FailedPreconditionError, match=r"^RecordFile is closed\.$"):
            use()


def test_many_threads_read_one_file(path):
    file = tfr.RecordFile(path)
    wrong = []

    def work(seed: int) -> None:
        order = np.random.default_rng(seed).permutation(1000)
        wrong.extend(int(i) for i in order[:200] if file[int(i)] != RECORDS[i])
        if file.take(order).to_list() != [RECORDS[i] for i in order]:
            wrong.append(-1)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("crc", [True, False])
def test_file_that_cannot_be_mapped_is_read_by_position(crc, tmp_path, monkeypatch):
    def refuse(*args: object) -> None:
        raise OSError(errno.ENODEV, "No such device")

    monkeypatch.setattr("tfrkit._core.FrameMap", refuse)
    path = put(tmp_path / "a", frames(RECORDS))
    file = tfr.RecordFile(path, crc=crc)
    assert [file[number] for number in range(-1000, 1000)] == RECORDS * 2
    assert file[np.int64(17)] == RECORDS[17]
    wanted = np.random.default_rng(1).integers(-1000, 1000, 700)
    assert file.take(wanted).to_list() == [RECORDS[i] for i in wanted]
    os.truncate(path, 5000)
    for use in (lambda: file[999], lambda: file.take([3, 999])):
        with pytest.raises(DataLossError, match="in record 999 "):
            use()
    file.close()
    for use in (lambda: file[3], lambda: file.take([3])):
        with pytest.raises(FailedPreconditionError, match=r"^RecordFile is closed\.$"):
            use()


def test_take_does_not_change_or_keep_the_numbers(path):
    file = tfr.RecordFile(path)
    for wanted in (
        np.array([3, 1, 2]),
        np.array([-1, 5]),
        np.arange(10)[::-3],
        np.array([[1, 2], [3, 4]], np.int32),
    ):
        before = wanted.copy()
        assert file.take(wanted).to_list() == [RECORDS[i] for i in wanted.reshape(-1)]
        assert (wanted == before).all()


def test_large_takes_are_shared_by_threads(tmp_path):
    large = [bytes([number]) * 1_000_000 for number in range(20)]
    path = put(tmp_path / "a", frames(large))
    file = tfr.RecordFile(path)
    order = np.random.default_rng(0).permutation(20)
    assert file.take(order).to_list() == [large[i] for i in order]
    os.truncate(path, 12 * 1_000_016)
    with pytest.raises(DataLossError) as caught:
        file.take(order)
    assert caught.value.record == next(i for i in order if i >= 12)


def test_repr(tmp_path):
    path = put(tmp_path / "a", contain(GOLDEN, "XZ"))
    assert repr(tfr.RecordFile(path)) == f"<RecordFile {str(path)!r}: 3 records, XZ>"


def test_file_without_records(tmp_path):
    for kind in ("", "GZIP", "XZ"):
        file = tfr.RecordFile(put(tmp_path / "a", contain(b"", kind)))
        assert (len(file), list(file), file[:].to_list()) == (0, [], [])


def test_missing_file_is_not_found(tmp_path):
    with pytest.raises(NotFoundError, match=r"missing; No such file or directory$"):
        tfr.RecordFile(tmp_path / "missing")


def test_fifo_is_refused(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    holder = os.open(tmp_path / "fifo", os.O_RDWR)
    text = r"fifo; random access needs a regular file\. Use read_records for pipes\.$"
    with pytest.raises(FailedPreconditionError, match=text):
        tfr.RecordFile(tmp_path / "fifo")
    os.close(holder)


def test_damaged_record_is_an_error_with_its_number(tmp_path):
    path = put(tmp_path / "a", flip(GOLDEN, -5))
    file = tfr.RecordFile(path)
    assert file[0] == b"abc"
    for use in (lambda: file[2], lambda: file[-1], lambda: file[:], lambda: file.take([0, 2])):
        with pytest.raises(DataLossError) as caught:
            use()
        assert str(caught.value).startswith(
            "corrupted record at 47: the frame is not what the index or its checksums"
        )
        assert (caught.value.path, caught.value.record, caught.value.offset) == (str(path), 2, 35)
    assert tfr.RecordFile(path, crc=False)[2] == b"\xff\x01"


def test_damaged_record_in_a_member_is_an_error_with_its_number(tmp_path):
    stream = frame(b"one") + flip(frame(b"two"), 12)
    file = tfr.RecordFile(put(tmp_path / "a", member(stream, 2)))
    assert file[0] == b"one"
    with pytest.raises(DataLossError) as caught:
        file[1]
    assert (caught.value.record, caught.value.offset) == (1, 19)


def test_damaged_member_is_an_error_with_its_place(tmp_path):
    good = members([[b"a"], [b"b"]])
    path = put(tmp_path / "a", good)
    save_index(str(path), build_index(str(path)))
    whole = tfr.RecordFile(path)
    path.write_bytes(flip(good, len(good) // 2 + 30, 0xFF))
    with pytest.raises(
        DataLossError, match=r"^inflate\(\) failed with error -3: damaged GZIP member at byte \d+ of"
    ):
        whole[1]


def test_damaged_file_is_refused_when_it_is_opened(tmp_path):
    path = put(tmp_path / "a", flip(GOLDEN, 0))
    with pytest.raises(DataLossError, match=r"^corrupted record at 0"):
        tfr.RecordFile(path)


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB", "XZ", "ZSTD"])
def test_one_stream_is_inflated_up_to_spill_bytes(kind, tmp_path):
    path = put(tmp_path / "a", contain(frames(RECORDS), kind))
    size = len(frames(RECORDS))
    assert tfr.RecordFile(path, spill_bytes=size)[999] == RECORDS[999]
    with pytest.raises(ResourceExhaustedError) as caught:
        tfr.RecordFile(path, spill_bytes=size - 1)
    assert str(caught.value) == (
        f"{path}; inflating it for random access takes more than spill_bytes={size - 1}. Pass a larger spill_bytes. "
        "Rewrite it seekable with: with tfrkit.TFRecordWriter('new.tfrecord.gz') as w: "
        f"w.write_many(tfrkit.read_records({str(path)!r}))"
    )


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB", "XZ", "ZSTD"])
def test_cut_stream_is_refused(kind, tmp_path):
    path = put(tmp_path / "a", contain(frames(RECORDS), kind)[:-9])
    with pytest.raises(DataLossError, match=f"the {kind} container of .* has no end") as caught:
        tfr.RecordFile(path)
    assert caught.value.path == str(path)


def test_spilled_file_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "spill"))
    (tmp_path / "spill").mkdir()
    file = tfr.RecordFile(put(tmp_path / "a", contain(GOLDEN, "GZIP")))
    assert file[0] == b"abc"
    assert list((tmp_path / "spill").iterdir()) == []


def test_index_is_built_in_memory_and_not_kept(tmp_path):
    tfr.RecordFile(put(tmp_path / "a", GOLDEN))
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_index_is_kept_on_request_and_used(tmp_path, monkeypatch):
    path = put(tmp_path / "a", GOLDEN)
    tfr.RecordFile(path, index="save")
    assert Path(index_path(str(path))).exists()
    monkeypatch.setattr("tfrkit.records.access.find_index.index_of", lambda *args: pytest.fail("built again"))
    assert list(tfr.RecordFile(path)) == GOLDEN_RECORDS


def test_stale_index_is_noticed(tmp_path):
    path = put(tmp_path / "a", GOLDEN)
    tfr.RecordFile(path, index="save")
    path.write_bytes(GOLDEN + frame(b"new"))
    assert tfr.RecordFile(path)[3] == b"new"
    with pytest.raises(
        FailedPreconditionError, match=r"; the index belongs to another version of .*Make it again"
    ):
        tfr.RecordFile(path, index=index_path(str(path)))


def test_memory_looks_at_no_index(tmp_path, monkeypatch):
    path = put(tmp_path / "a", GOLDEN)
    tfr.RecordFile(path, index="save")
    monkeypatch.setattr("tfrkit.records.access.find_index.load_index", lambda *args: pytest.fail("looked"))
    assert len(tfr.RecordFile(path, index="memory")) == 3


@pytest.mark.parametrize("name", ["a.tfrecord.idx", "a.tfrecord.index", "a.idx", "a.index"])
def test_text_index_of_other_tools_is_used(name, tmp_path, monkeypatch):
    path = put(tmp_path / "a.tfrecord", GOLDEN)
    put(tmp_path / name, b"0 19\n19 16\n35 18\n")
    monkeypatch.setattr("tfrkit.records.access.find_index.index_of", lambda *args: pytest.fail("built"))
    assert list(tfr.RecordFile(path)) == GOLDEN_RECORDS


def test_text_index_that_does_not_fit_is_left_alone(tmp_path):
    path = put(tmp_path / "a.tfrecord", GOLDEN)
    put(tmp_path / "a.idx", b"0 19\n")
    assert list(tfr.RecordFile(path)) == GOLDEN_RECORDS


def test_named_index_that_is_missing_or_damaged_is_an_error(tmp_path):
    path = put(tmp_path / "a", GOLDEN)
    with pytest.raises(NotFoundError, match=r"b\.idx; No such file or directory$"):
        tfr.RecordFile(path, index=str(tmp_path / "b.idx"))
    put(tmp_path / "b.idx", b"TFRKIDX1" + bytes(100))
    with pytest.raises(DataLossError, match=r"b\.idx; bad index: .*\. Make the index again\.$"):
        tfr.RecordFile(path, index=str(tmp_path / "b.idx"))


@pytest.mark.parametrize("large", [False, True])
def test_of_members_that_say_they_are_large_one_at_a_time_is_inflated(tmp_path, monkeypatch, large):
    path = put(tmp_path / "a", members([[b"x" * 1000] * 4 for _ in range(8)]))
    monkeypatch.setattr(member_contents, "_LARGE_MEMBER_BYTES", 1000 if large else 1 << 20)
    lock, active, most = threading.Lock(), [0], [0]

    def inflate(data: bytes) -> bytes | None:
        with lock:
            active[0] += 1
            most[0] = max(most[0], active[0])
        time.sleep(0.05)
        with lock:
            active[0] -= 1
        return inflate_member(data)

    slow = replace(GZIP, members=replace(MEMBERS, inflate=inflate))
    monkeypatch.setattr(member_contents, "codec", {"GZIP": slow}.__getitem__)
    file = tfr.RecordFile(path)
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda i: file.take([i, i + 4, i]).to_list(), range(0, 16, 4)))
    assert taken == [[b"x" * 1000] * 3] * 4
    assert (most[0] == 1) == large
    assert not large or not file._frames.members.kept


def test_a_member_that_claims_more_compressed_bytes_than_content_is_not_read_at_once(tmp_path, monkeypatch):
    made = bytearray(members([[b"one"], [b"two"]]))
    made[16:20] = (1 << 30).to_bytes(4, "little")
    path = put(tmp_path / "a", bytes(made))
    os.truncate(path, 1 << 31)  # sparse
    asked: list[int] = []
    plain = ByteSource.read_at

    def read_at(self, at: int, size: int) -> bytes:
        asked.append(size)
        return plain(self, at, size)

    monkeypatch.setattr(ByteSource, "read_at", read_at)
    records = iter(tfr.read_records(path))
    assert [next(records), next(records)] == [b"one", b"two"]
    with pytest.raises(DataLossError):
        next(records)
    assert max(asked) < 1 << 22


MANY_FILES = """
import resource, sys
import tfrkit as tfr

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
files = [tfr.RecordFile(path) for path in sys.argv[1:]]
for _ in range(2):
    for number, file in enumerate(files):
        assert file[0] == b"%d" % number
        assert file.take([1, -2]).to_list() == [b"last", b"%d" % number]
"""


@pytest.mark.parametrize("kind", KINDS)
def test_more_files_than_descriptors_are_open(tmp_path, kind):
    paths = []
    for number in range(200):
        records = [b"%d" % number, b"last"]
        data = members([records]) if kind == "members" else contain(frames(records), kind)
        paths.append(str(put(tmp_path / str(number), data)))
    done = subprocess.run(
        [sys.executable, "-c", MANY_FILES, *paths], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_damage_of_a_file_that_was_spilled_is_an_error_with_its_number(tmp_path):
    stream = bytearray(frames([b"one", b"two", b"three"]))
    stream[19 + 12] ^= 1
    file = tfr.RecordFile(put(tmp_path / "a", contain(bytes(stream), "ZLIB")))
    assert [file[0], file[2]] == [b"one", b"three"]
    for read in (lambda: file[1], lambda: file[-2], lambda: file.take([0, 1]), lambda: file[:]):
        with pytest.raises(DataLossError, match="record 1 "):
            read()
    unchecked = tfr.RecordFile(tmp_path / "a", crc=False)
    assert [unchecked[1], unchecked[-2], *unchecked[1:].to_list()] == [b"uwo", b"uwo", b"uwo", b"three"]


def test_large_takes_of_a_file_that_was_spilled_are_checked(tmp_path):
    stream = bytearray(frames([b"x" * 1_000_000] * 20))
    stream[15 * 1_000_016 + 500] ^= 1
    file = tfr.RecordFile(put(tmp_path / "a", contain(bytes(stream), "ZLIB")))
    assert len(file.take(range(15))) == 15
    with pytest.raises(DataLossError, match="record 15 "):
        file.take(range(20))
