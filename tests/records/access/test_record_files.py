from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.records.support.made import contain, frames, members, put
from tests.records.support.remote import RemotePlace
from tfrkit.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, NotFoundError
from tfrkit.records.access.index import index_path
from tfrkit.stores.files import is_there

RECORDS = [b"%d " % i * (i % 7) for i in range(1000)]
PARTS = [RECORDS[:10], [], RECORDS[10:400], RECORDS[400:401], RECORDS[401:]]  # of every size
PLAIN = [frames(part) for part in PARTS]
MIXED = [PLAIN[0], PLAIN[1], members([PARTS[2][i : i + 40] for i in range(0, 390, 40)])]
MIXED += [contain(PLAIN[3], "ZLIB"), contain(PLAIN[4], "ZSTD")]


def put_all(folder: Path | RemotePlace, contents: list[bytes]) -> list[str]:
    names = [f"{number}.tfrecord" for number in range(len(contents))]
    if isinstance(folder, Path):
        return [str(put(folder / name, data)) for name, data in zip(names, contents, strict=True)]
    return [folder.put(name, data) for name, data in zip(names, contents, strict=True)]


@pytest.fixture(params=["plain", "mixed"])
def files(request, tmp_path) -> tfr.RecordFiles:
    return tfr.RecordFiles(put_all(tmp_path, PLAIN if request.param == "plain" else MIXED))


@pytest.fixture(params=["plain", "mixed"])
def remote_files(request, remote) -> tfr.RecordFiles:
    return tfr.RecordFiles(put_all(remote, PLAIN if request.param == "plain" else MIXED))


def check_all_ways(files: tfr.RecordFiles) -> None:
    assert len(files) == 1000
    for index in (0, 9, 10, 399, 400, 401, 999, -1, -1000, np.int64(17)):
        assert files[index] == RECORDS[index]
    assert files[5:405].to_list() == RECORDS[5:405]
    assert files[::-7].to_list() == RECORDS[::-7]
    assert files[990:2000].to_list() == RECORDS[990:]
    wanted = np.random.default_rng(1).integers(-1000, 1000, 700)
    assert files.take(wanted).to_list() == [RECORDS[i] for i in wanted]
    assert files[[400, 0, 400, -1]].to_list() == [RECORDS[400], RECORDS[0], RECORDS[400], RECORDS[-1]]
    assert files[np.arange(1000) % 3 == 0].to_list() == RECORDS[::3]
    assert files.take([]).to_list() == files[5:5].to_list() == []
    assert list(files) == RECORDS


def test_many_files_are_one_list(files):
    check_all_ways(files)


def test_many_remote_files_are_one_list(remote_files):
    check_all_ways(remote_files)


def test_local_and_remote_files_are_one_list(remote, tmp_path):
    local = put_all(tmp_path, PLAIN)
    check_all_ways(tfr.RecordFiles([*put_all(remote, PLAIN)[:3], *local[3:]]))


@pytest.mark.parametrize(
    ("index", "file", "record"), [(0, 0, 0), (9, 0, 9), (10, 2, 0), (400, 3, 0), (401, 4, 0), (-1, 4, 598)]
)
def test_locate_gives_path_and_record(files, index, file, record):
    assert files.locate(index) == (files.paths[file], record)
    assert tfr.RecordFile(files.paths[file])[record] == files[index]


@pytest.mark.parametrize("index", [1000, -1001])
def test_out_of_range_names_number_and_files(files, index):
    for read in (files.locate, files.__getitem__, lambda i: files.take([0, i])):
        with pytest.raises(
            IndexError, match=rf"^record {index} is out of range: the 5 files have 1000 records$"
        ):
            read(index)


def test_wrong_indices_are_errors(files):
    with pytest.raises(TypeError, match="expected integers or a mask"):
        files.take([1.5])
    with pytest.raises(IndexError, match="boolean index did not match"):
        files.take([True, False])
    with pytest.raises(TypeError):
        files["a"]


def test_taken_records_know_their_numbers_among_all(files):
    block = files.take([400, -1, 3])
    assert [block.place(i)[0] for i in range(3)] == [400, 999, 3]


def test_nothing_is_opened_before_it_is_needed(tmp_path):
    files = tfr.RecordFiles([tmp_path / "a", tmp_path / "b"])
    assert files.paths == (str(tmp_path / "a"), str(tmp_path / "b"))
    assert repr(files) == f"<RecordFiles '{tmp_path}/a', ...: 2 files>"
    with pytest.raises(NotFoundError, match="a; No such file or directory"):
        len(files)
    with pytest.raises(NotFoundError, match="No files matched pattern"):
        tfr.RecordFiles(str(tmp_path / "*.tfrecord"))


def test_a_pattern_gives_its_files_sorted(remote):
    put_all(remote, PLAIN)
    files = tfr.RecordFiles(f"{remote.url}/*.tfrecord")
    assert [os.path.basename(path) for path in files.paths] == [f"{i}.tfrecord" for i in range(5)]
    assert files[500] == RECORDS[500]
    assert repr(files) == f"<RecordFiles '{remote.url}/0.tfrecord', ...: 1000 records in 5 files>"


def test_no_files_have_no_records():
    files = tfr.RecordFiles([])
    assert (len(files), list(files), files[:].to_list(), repr(files)) == (
        0,
        [],
        [],
        "<RecordFiles: 0 records in 0 files>",
    )


def test_streams_are_refused():
    with pytest.raises(TypeError, match="random access needs files with names"):
        tfr.RecordFiles(["-"])


def test_indexes_are_kept_beside_the_files(tmp_path, monkeypatch):
    paths = put_all(tmp_path, PLAIN)
    len(tfr.RecordFiles(paths))
    assert all(Path(index_path(path)).exists() for path in paths)
    monkeypatch.setattr("tfrkit.records.access.find_index.index_of", lambda *args: pytest.fail("built again"))
    assert list(tfr.RecordFiles(paths)) == RECORDS


def test_indexes_are_kept_beside_remote_files(remote):
    paths = put_all(remote, PLAIN)
    len(tfr.RecordFiles(paths))
    assert all(is_there(index_path(path)) for path in paths)


def test_indexes_are_kept_in_the_cache_folder_where_a_folder_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setenv("TFRKIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    paths = put_all(tmp_path / "data", PLAIN)
    put(tmp_path / "data" / ".tfrkit", b"")  # a file is in the way of the folder
    assert list(tfr.RecordFiles(paths)) == RECORDS
    assert len(list((tmp_path / "cache" / "indexes").iterdir())) == 5
    monkeypatch.setattr("tfrkit.records.access.find_index.index_of", lambda *args: pytest.fail("built again"))
    assert list(tfr.RecordFiles(paths)) == RECORDS


def test_where_nothing_can_be_written_indexes_are_in_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("TFRKIT_CACHE", str(put(tmp_path / "cache", b"")))
    (tmp_path / "data").mkdir()
    paths = put_all(tmp_path / "data", PLAIN)
    put(tmp_path / "data" / ".tfrkit", b"")
    assert list(tfr.RecordFiles(paths)) == RECORDS


def test_text_indexes_beside_the_files_or_in_a_list_are_read(tmp_path, monkeypatch):
    paths = put_all(tmp_path, [frames([b"abc", b""]), frames([b"xy"])])
    monkeypatch.setattr("tfrkit.records.access.find_index.index_of", lambda *args: pytest.fail("built"))
    put(tmp_path / "first.txt", b"0 19\n19 16\n")
    put(tmp_path / "1.idx", b"0 18\n")
    listed = tfr.RecordFiles(paths, index=[tmp_path / "first.txt", tmp_path / "1.idx"])
    assert list(listed) == list(pickle.loads(pickle.dumps(listed))) == [b"abc", b"", b"xy"]
    put(tmp_path / "0.tfrecord.idx", b"0 19\n19 16\n")
    assert list(tfr.RecordFiles(paths)) == [b"abc", b"", b"xy"]
    with pytest.raises(InvalidArgumentError, match=r"^Expected an index for each of 2 files but got 1\.$"):
        tfr.RecordFiles(paths, index=["a"])


def test_a_manifest_says_how_many_there_are_and_only_files_that_are_needed_are_opened(tmp_path):
    with tfr.ShardWriter(tmp_path / "train", shards=4) as writer:
        writer.write_many(RECORDS)
    files = tfr.RecordFiles(str(tmp_path / "train-*"))
    assert len(files) == 1000
    path, record = files.locate(700)
    others = [other for other in files.paths if other != path]
    for other in others:
        os.rename(other, other + ".away")
    assert files[700] == tfr.RecordFile(path)[record]
    for other in others:
        os.rename(other + ".away", other)
    assert sorted(files) == sorted(RECORDS)


def test_a_manifest_that_does_not_fit_is_not_believed(tmp_path):
    with tfr.ShardWriter(tmp_path / "train", shards=2) as writer:
        writer.write_many([b"x"] * 10)
    first, second = sorted(tmp_path.glob("train-*"))
    put(first, frames([b"one"]))
    assert len(tfr.RecordFiles([first, second])) == 6
    manifest = tmp_path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"records": 5', '"records": 7'))
    files = tfr.RecordFiles([second])
    assert len(files) == 7
    with pytest.raises(
        FailedPreconditionError, match=r"expected 7 records, as the manifest .* but its index has 5"
    ):
        files[0]


def test_damage_names_file_and_record(tmp_path):
    data = bytearray(frames([b"one", b"two", b"three"]))
    data[19 + 12] ^= 1
    paths = put_all(tmp_path, [frames([b"zero"]), bytes(data), members([[b"a"]])])
    files = tfr.RecordFiles(paths)
    for read in (lambda: files[2], lambda: files.take([4, 2, 0]), lambda: files[:], lambda: list(files)):
        with pytest.raises(DataLossError, match="record 1 ") as caught:
            read()
        assert (caught.value.path, caught.value.record) == (paths[1], 1)
    assert tfr.RecordFiles(paths, crc=False).take([2, 4]).to_list() == [b"uwo", b"a"]


def test_damage_of_a_remote_file_names_file_and_record(remote):
    data = bytearray(frames([b"one", b"two", b"three"]))
    data[19 + 12] ^= 1
    paths = put_all(remote, [frames([b"zero"]), bytes(data), members([[b"a"]])])
    with pytest.raises(DataLossError, match="record 1 ") as caught:
        tfr.RecordFiles(paths).take([4, 2, 0])
    assert (caught.value.path, caught.value.record) == (paths[1], 1)


def test_a_file_that_changes_is_an_error(remote):
    paths = put_all(remote, PLAIN)
    files = tfr.RecordFiles(paths)
    assert files[999] == RECORDS[999]
    remote.put("4.tfrecord", frames([b"other"] * 100))
    with pytest.raises(
        FailedPreconditionError, match=r"4\.tfrecord; it changed .*version \S+ was opened, now it is"
    ):
        files.take([3, 999])
    assert files.take([3, 11]).to_list() == [RECORDS[3], RECORDS[11]]


def test_a_take_from_many_remote_files_joins_neighbours(remote):
    files = tfr.RecordFiles(put_all(remote, PLAIN))
    len(files)
    remote.requests()
    files.take([3, 999, 4, 998, 5, 300])
    assert remote.requests() == 3


def test_a_copy_knows_the_numbers_of_records(files):
    len(files)
    copy = pickle.loads(pickle.dumps(files))
    assert copy._count == 1000
    assert copy._files == [None] * 5
    check_all_ways(copy)


def test_a_copy_of_files_that_have_changed_is_an_error(tmp_path):
    files = tfr.RecordFiles(put_all(tmp_path, PLAIN))
    len(files)
    put(tmp_path / "0.tfrecord", frames([b"other"]))
    with pytest.raises(FailedPreconditionError, match=r"expected 10 records, .* but its index has 1"):
        pickle.loads(pickle.dumps(files))[0]


def test_threads_share_files(tmp_path):
    files = tfr.RecordFiles(put_all(tmp_path, MIXED))
    with ThreadPoolExecutor(8) as pool:
        for first, records in enumerate(
            pool.map(lambda i: files.take(range(i, 1000, 50)).to_list(), range(50))
        ):
            assert records == RECORDS[first::50]


FORKED = """
import os, sys
import tfrkit as tfr

files = tfr.RecordFiles(sys.argv[1:])
assert len(files) == 1000
pid = os.fork()
if not pid:
    os._exit(0 if files[500] == files.take([500])[0] else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_a_forked_child_may_use_local_files(tmp_path):
    paths = put_all(tmp_path, MIXED)
    done = subprocess.run([sys.executable, "-c", FORKED, *paths], timeout=60, check=False)
    assert done.returncode == 0


def test_closed_files_are_an_error(files):
    with files:
        assert files[0] == RECORDS[0]
    for read in (lambda: files[0], lambda: files.take([0]), lambda: list(files)):
        with pytest.raises(FailedPreconditionError, match="is closed"):
            read()
