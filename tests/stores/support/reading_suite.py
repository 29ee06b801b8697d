"""What holds for every store that can be read, then for those that can be listed: a subclass has a fixture `place`."""

from __future__ import annotations

import glob
import io
import random
import re
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tfrkit as tfr
from tfrkit.errors import FailedPreconditionError, NotFoundError
from tfrkit.stores.files import (
    file_info,
    file_size,
    file_sizes,
    find_files,
    is_file,
    is_folder,
    is_there,
    list_files,
    list_names,
    list_tree,
    match_remote,
    open_file,
    open_source,
    read_bytes,
    read_version,
    traits_of,
)
from tfrkit.stores.glob_files import match_files
from tfrkit.stores.store import ABSENT
from tfrkit.stores.url import is_url

SMALL = bytes(range(256)) * 4
LARGE = random.Random(1).randbytes(9 * (1 << 20) + 17)  # more than one range of a scan
NAMES = [
    "a.tfrecord", "a b", " begins and ends ", "\u00e9", "e\u0301", "日本", "100%", "a%20b", "a%2Fb", "what?", "?sig=1",
    "a#b", "a+b", "a&b=c", "[x]", "{x}", "it's", 'say "x"', ".hidden", "a,b;c:d@e!$()", "~a", "a=1",
]  # fmt: skip
TREE = [
    "t/a.csv", "t/b1.csv", "t/b2.csv", "t/b2.txt", "t/.dot.csv", "t/dt=1/a.csv", "t/dt=2/b.csv", "t/dt=2/deep/c.csv",
    "t/dt=2/.dot/d.csv", "t/[x].csv", "tt/a.csv",
]  # fmt: skip
PATTERNS = [
    "t/*", "t/*.csv", "t/b?.csv", "t/b[13].csv", "t/b[!1].*", "t/[[]x].csv", "t/.*", "t/dt=*/*", "t/*/*.csv", "t/**",
    "t/**/*.csv", "t/**/c.csv", "t/dt=2/**/*.csv", "*/a.csv", "t*/a.csv", "t/nothing*", "nothing/*", "t/a.csv",
]  # fmt: skip
TF_PATTERNS = [
    "t/*.csv",
    "t/b?.csv",
    "t/b[12].csv",
    "t/*/*.csv",
    r"t/\[x].csv",
    "t/**/a.csv",
    "nothing/*",
    "t/a.csv",
]


@dataclass(frozen=True)
class Place:
    """A folder of a store that a test has for itself.

    Attributes:
        folder: Its path or URL, without a slash at the end.
        put: Puts a file there by other means than tfrkit's where there are any: a name with slashes, and its bytes.
        quoted: Names in URLs are percent-encoded.
    """

    folder: str
    put: Callable[[str, bytes], object]
    quoted: bool = False

    def url(self, name: str) -> str:
        """Return the URL of a name in the folder."""
        return f"{self.folder}/{quote(name) if self.quoted else name}"

    def add(self, name: str, data: bytes) -> str:
        """Put a file there and return its URL."""
        self.put(name, data)
        return self.url(name)

    def names(self, paths: list[str]) -> list[str]:
        """Return paths without that of the folder."""
        assert all(path.startswith(self.folder + "/") for path in paths), paths
        return [path[len(self.folder) + 1 :] for path in paths]


class ReadingSuite:
    """Files that are there."""

    @pytest.mark.parametrize("data", [b"", b"x", SMALL, LARGE], ids=["empty", "one byte", "small", "large"])
    def test_file_is_read_whole_in_order(self, place, data):
        url = place.add("a", data)
        source = open_source(url)
        assert source.regular
        assert source.size() == len(data)
        parts = []
        while part := source.read(1_000_003):
            parts.append(part)
        assert b"".join(parts) == data
        assert (source.position, source.read(10)) == (len(data), b"")
        assert read_bytes(url) == data
        assert read_version(url) == (data, source.version)
        assert file_size(url) == len(data)
        with open_file(url) as file:
            assert file.read() == data

    def test_file_is_read_by_position(self, place):
        source = open_source(place.add("a", LARGE))
        end = len(LARGE)
        for start, count in [
            (0, 1),
            (70_000, 9),
            (end - 5, 5),
            (end - 5, 50),
            (end, 3),
            (end + 7, 3),
            (3, 0),
            (0, end),
        ]:
            expected = LARGE[start : start + count]
            assert source.read_at(start, count) == expected
            assert source.look_at(start, count) == expected
            buffer = bytearray(count)
            assert source.read_into(memoryview(buffer), start) == len(expected)
            assert buffer[: len(expected)] == expected
        assert source.position == 0

    def test_peek_does_not_move_and_seek_does(self, place):
        source = open_source(place.add("a", LARGE))
        assert source.peek(4) == LARGE[:4]
        assert source.read(6) == LARGE[:6]
        assert source.peek(100_000) == LARGE[6:100_006]
        assert source.read(3) == LARGE[6:9]
        for position in (9 << 20, 5, 1 << 23):
            source.seek(position)
            assert source.peek(3) == LARGE[position : position + 3]
            assert source.read(11) == LARGE[position : position + 11]
            assert source.position == position + 11

    def test_announced_scan_may_be_left_and_resumed(self, place):
        source = open_source(place.add("a", LARGE))
        source.read_ahead(0)
        assert source.read(1 << 20) == LARGE[: 1 << 20]
        assert source.read_at(9 << 20, 17) == LARGE[9 << 20 : (9 << 20) + 17]
        assert source.read_at(5, 5) == LARGE[5:10]
        assert source.read(1 << 20) == LARGE[1 << 20 : 2 << 20]

    def test_ranges_are_read_at_once(self, place):
        source = open_source(place.add("a", LARGE))
        end = len(LARGE)
        starts = [0, 0, 10, 500, 100_000, 5_000_000, end - 4, end, end + 3]
        sizes = [1, 20, 10, 0, 70_000, 3, 100, 5, 5]
        got = source.read_ranges(starts, sizes)
        assert [bytes(part) for part in got] == [
            LARGE[start : start + size] for start, size in zip(starts, sizes, strict=True)
        ]
        assert source.read_ranges([], []) == []

    def test_empty_file_has_no_bytes_anywhere(self, place):
        source = open_source(place.add("a", b""))
        assert source.peek(5) == source.read_at(0, 5) == source.look_at(3, 5) == b""
        assert source.read_into(memoryview(bytearray(5)), 0) == 0
        assert [bytes(part) for part in source.read_ranges([0, 1], [5, 5])] == [b"", b""]
        info = file_info(place.url("a"))
        assert info is not None
        assert (info.size, info.is_folder, info.version) == (0, False, source.version)

    def test_threads_share_a_file(self, place):
        source = open_source(place.add("a", LARGE))
        starts = [number * 611_953 % len(LARGE) for number in range(32)]
        with ThreadPoolExecutor(8) as pool:
            got = list(pool.map(lambda start: source.read_at(start, 10_000), starts))
        assert got == [LARGE[start : start + 10_000] for start in starts]

    def test_libraries_read_file_objects(self, place):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("a/b", SMALL)
            archive.writestr("c", LARGE)
        with open_file(place.add("a.zip", packed.getvalue())) as file, zipfile.ZipFile(file) as archive:
            assert archive.namelist() == ["a/b", "c"]
            assert archive.read("a/b") == SMALL
            assert archive.read("c") == LARGE
        table, parquet = pa.table({"n": range(1000)}), pa.BufferOutputStream()
        pq.write_table(table, parquet, row_group_size=100)
        with open_file(place.add("a.parquet", parquet.getvalue().to_pybytes())) as file:
            assert pq.ParquetFile(file).read_row_group(7)["n"].to_pylist() == list(range(700, 800))

    def test_information_of_a_file(self, place):
        url = place.add("deep/er/a", SMALL)
        info = file_info(url)
        assert info is not None
        assert (info.path, info.size, info.is_folder, info.regular) == (url, len(SMALL), False, True)
        assert info.version == open_source(url).version != ABSENT
        assert (is_there(url), is_file(url), is_folder(url)) == (True, True, False)
        assert file_sizes([url, place.url("missing"), url]) == [len(SMALL), 0, len(SMALL)]

    def test_missing_file(self, place):
        place.put("there", b"x")
        url = place.url("not/there")
        assert file_info(url) is None
        assert (is_there(url), is_file(url), is_folder(url)) == (False, False, False)
        assert read_version(url) is None
        for ask in (open_source, read_bytes, file_size, lambda path: list(tfr.read_records(path))):
            with pytest.raises(NotFoundError, match="No such file or directory") as caught:
                ask(url)
            assert caught.value.path == url
            assert isinstance(caught.value, FileNotFoundError)

    def test_names_are_taken_as_they_are(self, place):
        urls = [place.add(f"n/{name}/{name}", name.encode()) for name in NAMES]
        for url, name in zip(urls, NAMES, strict=True):
            assert read_bytes(url) == name.encode(), name
            info = file_info(url)
            assert info is not None, name
            assert (info.path, info.size) == (url, len(name.encode()))

    def test_what_changes_while_it_is_read_is_noticed(self, place):
        url = place.add("a", LARGE)
        source = open_source(url)
        assert source.read_at(0, 5) == LARGE[:5]
        other = bytes(reversed(LARGE)) + b"more"
        place.put("a", other)
        # An open descriptor still has the old bytes, if the file was replaced; a request names the version it wants.
        expected = LARGE[5 << 20 :]
        try:
            got = source.read_at(5 << 20, len(expected))
        except FailedPreconditionError as error:
            assert "it changed while it was read: version " in str(error)  # noqa: PT017
            assert f"{source.version} was opened, now it is " in str(error)  # noqa: PT017
        else:
            assert traits_of(url).local
            assert got == expected or got == other[5 << 20 :][: len(expected)]
        assert read_bytes(url) == other


class ListingSuite(ReadingSuite):
    """Files that are there and can be listed."""

    def test_folder_is_listed_flat(self, place):
        for name in TREE:
            place.put(name, name.encode())
        found = {info.path: info for info in list_files(place.url("t"))}
        assert sorted(place.names(list(found))) == sorted(
            {"/".join(name.split("/")[:2]) for name in TREE if name.startswith("t/")}
        )
        assert [found[place.url(name)].is_folder for name in ("t/a.csv", "t/dt=1")] == [False, True]
        for info in found.values():
            asked = file_info(info.path)
            assert asked is not None
            assert (asked.size, asked.is_folder) == (info.size, info.is_folder)
            if not info.is_folder:
                assert asked.version == info.version
        assert sorted(list_names(place.url("t"))) == sorted(path.rpartition("/")[2] for path in found)
        slashed = [info.path for info in list_files(place.url("t/"))]
        assert sorted(slashed) == sorted(found)

    def test_folder_is_listed_with_all_below(self, place):
        for name in TREE:
            place.put(name, name.encode())
        found = [info for info in list_files(place.url("t"), recursive=True) if not info.is_folder]
        expected = sorted(name for name in TREE if name.startswith("t/"))
        assert sorted(place.names([info.path for info in found])) == expected
        assert all(info.size == len(info.path) - len(place.folder) - 1 for info in found)
        assert place.names([info.path for info in list_tree(place.url("t"))]) == expected
        sizes = file_sizes([place.url(name) for name in TREE])
        assert sizes == [len(name) for name in TREE]

    def test_folder_that_is_missing_has_nothing(self, place):
        place.put("there", b"x")
        assert list_names(place.url("missing")) == []
        for recursive in (False, True):
            try:
                found = list(list_files(place.url("missing"), recursive=recursive))
            except NotFoundError:
                continue
            assert found == []

    def test_folder_is_no_file(self, place):
        place.put("folder/a", b"x")
        for url in (place.url("folder"), place.url("folder/")):
            info = file_info(url)
            assert info is not None
            assert (info.is_folder, info.size) == (True, 0)
            assert (is_there(url), is_file(url), is_folder(url)) == (True, False, True)
        assert not is_there(place.url("fold"))
        for ask in (open_source, open_file, lambda path: list(tfr.read_records(path))):
            with pytest.raises((FailedPreconditionError, IsADirectoryError), match="Is a directory"):
                ask(place.url("folder"))

    def test_names_are_listed_as_they_are(self, place):
        urls = [place.add(f"n/{name}/{name}", b"x") for name in NAMES]
        assert sorted(list_names(place.url("n"))) == sorted(NAMES)
        assert sorted(place.names([info.path for info in list_files(place.url("n"))])) == sorted(
            f"n/{n}" for n in NAMES
        )
        assert [info.path for info in list_tree(place.url("n"))] == sorted(urls)
        for url, name in zip(urls, NAMES, strict=True):
            assert [info.path for info in list_files(place.url(f"n/{name}"))] == [url]
            assert match_files(place.url(re.sub(r"([][*?])", r"[\1]", f"n/{name}/{name}"))) == [url]

    def test_patterns_match_as_in_a_local_folder(self, place, tmp_path):
        for name in TREE:
            place.put(name, b"x")
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(b"x")
        for pattern in PATTERNS:
            expected = sorted(
                str(Path(path).relative_to(tmp_path))
                for path in glob.glob(f"{tmp_path}/{pattern}", recursive=True)
            )
            files = [name for name in expected if (tmp_path / name).is_file()]
            found = [place.url(name) for name in (files if is_url(place.folder) else expected)]
            assert [path.rstrip("/") for path in find_files(place.url(pattern))] == found, pattern
            if is_url(place.folder) and not pattern.endswith("**"):
                matched = sorted({info.path for info in match_remote(place.url(pattern))})
                assert place.names(matched) == expected, pattern
        for pattern in TF_PATTERNS:
            local = [path.removeprefix(f"{tmp_path}/") for path in match_files(f"{tmp_path}/{pattern}")]
            local = [name for name in local if (tmp_path / name).is_file()]
            assert sorted(place.names(match_files(place.url(pattern)))) == sorted(local), pattern

    def test_records_of_many_files_are_read_by_a_pattern(self, place, tmp_path):
        records = [b"%d " % number + SMALL[: number % 200] for number in range(600)]
        for shard in range(3):
            with tfr.TFRecordWriter(str(tmp_path / "a")) as writer:
                writer.write_many(records[shard * 200 : shard * 200 + 200])
            place.put(f"d/train-{shard:05}-of-00003.tfrecord", (tmp_path / "a").read_bytes())
        pattern = place.url("d/train-*.tfrecord")
        assert list(tfr.read_records(pattern)) == records
        assert list(tfr.TFRecordDataset(pattern)) == records
        file = tfr.RecordFile(place.url("d/train-00001-of-00003.tfrecord"))
        assert len(file) == 200
        assert [file[0], file[199], *file.take([7, 3, 7])] == [
            records[at] for at in (200, 399, 207, 203, 207)
        ]
