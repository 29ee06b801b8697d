"""What holds for every store that can be written to: a subclass of `StoreSuite` has a fixture `place`."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

import tfrkit as tfr
from tests.stores.support.reading_suite import LARGE, NAMES, SMALL, ListingSuite, Place
from tfrkit.errors import NotFoundError
from tfrkit.stores.files import (
    create,
    file_info,
    find_files,
    is_there,
    list_files,
    list_names,
    make_folder,
    move,
    open_source,
    read_bytes,
    read_version,
    remove,
    remove_tree,
    traits_of,
    write_bytes,
)
from tfrkit.stores.store import ABSENT

WRITERS = 8
TICK = 0.02  # seconds; two changes within a tick of a file system's clock may have the same version


def left(place: Place) -> list[str]:
    """Return the names of all files below the folder: temporary ones, too."""
    try:
        found = list(list_files(place.folder, recursive=True))
    except NotFoundError:
        return []
    return sorted(place.names([info.path for info in found if not info.is_folder]))


class StoreSuite(ListingSuite):
    """Files that are made, replaced, moved and removed."""

    @pytest.fixture(autouse=True)
    def folder(self, place: Place) -> None:
        make_folder(place.folder)

    @pytest.mark.parametrize("data", [b"", b"x", SMALL, LARGE], ids=["empty", "one byte", "small", "large"])
    def test_created_file_appears_when_it_is_whole(self, place, data):
        url = place.url("a")
        output = create(url)
        assert (output.position, output.whole) == (0, True)
        output.write(data[:7])
        output.write_pieces([memoryview(data)[7:9], data[9:]])
        output.flush()
        assert output.position == len(data)
        assert not is_there(url)
        output.close()
        output.close()
        assert read_bytes(url) == data
        assert left(place) == ["a"]

    def test_buffer_may_change_after_it_was_written(self, place):
        output = create(place.url("a"))
        buffer = bytearray(1 << 20)
        for number in range(20):
            buffer[:] = bytes([number]) * len(buffer)
            output.write(buffer)
        output.close()
        assert read_bytes(place.url("a")) == b"".join(bytes([number]) * (1 << 20) for number in range(20))

    @pytest.mark.parametrize("data", [b"", SMALL, LARGE], ids=["empty", "small", "large"])
    def test_discarded_file_leaves_nothing(self, place, data):
        output = create(place.url("a"))
        output.write(data)
        output.discard()
        output.discard()
        assert left(place) == []

    def test_replaced_file_is_there_all_the_time(self, place):
        url = place.add("a", SMALL)
        output = create(url)
        output.write(LARGE)
        assert read_bytes(url) == SMALL
        output.close()
        assert read_bytes(url) == LARGE
        output = create(url)
        output.write(b"given up")
        output.discard()
        assert read_bytes(url) == LARGE

    def test_file_may_get_another_name_when_it_is_whole(self, place):
        for name, data in (("b", SMALL), ("c", LARGE)):
            output = create(place.url("a"))
            output.write(data)
            output.finish()
            output.publish(place.url(name))
            output.close()
            assert read_bytes(place.url(name)) == data
        assert left(place) == ["b", "c"]

    def test_written_file_has_the_version_that_is_returned(self, place):
        url = place.url("a")
        first = write_bytes(url, b"first")
        assert read_version(url) == (b"first", first)
        time.sleep(TICK)
        second = write_bytes(url, b"the second")
        assert read_version(url) == (b"the second", second)
        info = file_info(url)
        assert info is not None
        assert info.version == second != first
        assert left(place) == ["a"]

    def test_file_is_written_only_if_it_is_absent(self, place):
        url = place.url("a")
        version = write_bytes(url, b"mine", expected=ABSENT)
        assert version
        assert write_bytes(url, b"theirs", expected=ABSENT) is None
        assert read_version(url) == (b"mine", version)
        assert write_bytes(place.url("b"), b"", expected=ABSENT)
        assert left(place) == ["a", "b"]

    def test_file_is_written_only_if_it_has_the_version(self, place):
        url = place.url("a")
        assert write_bytes(url, b"new", expected="some version") is None
        assert not is_there(url)
        first = write_bytes(url, b"first")
        time.sleep(TICK)
        second = write_bytes(url, b"the second", expected=first)
        assert second
        assert write_bytes(url, b"third", expected=first) is None
        assert read_version(url) == (b"the second", second)

    def test_one_of_many_creates_a_file(self, place):
        def attempt(number: int) -> str | None:
            barrier.wait(30)
            return write_bytes(url, b"writer %d" % number, expected=ABSENT)

        for name in ("a", "b", "c"):
            url, barrier = place.url(name), Barrier(WRITERS)
            with ThreadPoolExecutor(WRITERS) as pool:
                made = list(pool.map(attempt, range(WRITERS)))
            winners = [number for number, version in enumerate(made) if version]
            content = [b"writer %d" % number for number in winners]
            assert read_bytes(url) in content
            assert len(winners) == 1 or not traits_of(url).atomic_create
        assert left(place) == ["a", "b", "c"]

    def test_removed_file_is_gone(self, place):
        url = place.add("a", b"x")
        place.put("ab", b"y")
        assert remove(url)
        assert not is_there(url)
        remove(url)  # whether it was there is more than some stores tell
        remove(place.url("never/was"))
        assert left(place) == ["ab"]
        with pytest.raises(NotFoundError):
            open_source(url)

    def test_file_that_is_removed_while_it_is_read_is_missed_or_still_whole(self, place):
        source = open_source(place.add("a", LARGE))
        remove(place.url("a"))
        try:
            assert source.read_at(5 << 20, 5) == LARGE[5 << 20 :][:5]
        except NotFoundError as error:
            assert "it was deleted while it was read" in str(error)  # noqa: PT017
            assert not traits_of(place.folder).local

    def test_moved_file_has_its_new_name_only(self, place):
        for number, data in enumerate((SMALL, LARGE)):
            place.put("a b", data)
            place.put("new?", b"what was there")
            move(place.url("a b"), place.url("new?"))
            assert read_bytes(place.url("new?")) == data
            assert left(place) == ["new?"], number
        with pytest.raises(NotFoundError, match="No such file or directory"):
            move(place.url("missing"), place.url("b"))
        assert left(place) == ["new?"]

    def test_folder_is_made_and_removed_with_all_below(self, place):
        for _ in range(2):
            make_folder(place.url("t/deep/er"))
        for name in ("t/a", "t/deep/b", "t/deep/er/.c", "t/deep/er/100%"):
            write_bytes(place.url(name), b"x")
        make_folder(place.url("tt"))
        write_bytes(place.url("tt/a"), b"x")
        write_bytes(place.url("t.txt"), b"x")
        remove_tree(place.url("t"))
        assert left(place) == ["t.txt", "tt/a"]
        assert not is_there(place.url("t"))
        remove_tree(place.url("t"))
        remove_tree(place.url("never/was"))
        assert left(place) == ["t.txt", "tt/a"]

    def test_names_are_written_as_they_are(self, place):
        for name in NAMES:
            make_folder(place.url(name))
            url = place.url(f"{name}/{name}")
            assert write_bytes(url, b"first")
            output = create(url)
            output.write(name.encode())
            output.close()
        assert left(place) == sorted(f"{name}/{name}" for name in NAMES)
        for name in NAMES:
            url = place.url(f"{name}/{name}")
            assert read_bytes(url) == name.encode()
            move(url, url + " moved")
            assert list_names(place.url(name)) == [f"{name} moved"]
            assert remove(url + " moved")
        assert left(place) == []

    def test_records_are_written_and_read_under_any_name(self, place):
        records = [b"%d " % number + SMALL[: number % 200] for number in range(300)]
        for name in ("a b%20ü?.tfrecord", "x#[1]+&.tfrecord.gz"):
            url = place.url(name)
            with tfr.TFRecordWriter(url) as writer:
                writer.write_many(records)
            assert list(tfr.read_records([url])) == records
            assert tfr.RecordFile(url)[123] == records[123]
        with tfr.ShardWriter(place.url("out 100%/part ü"), shards=2) as writer:
            writer.write_many(records)
        shards = find_files(place.url("out 100%/part ü-*.tfrecord"))
        assert [path.rpartition("/")[2] for path in shards] == [
            f"part ü-0000{n}-of-00002.tfrecord" for n in (0, 1)
        ]
        assert sorted(tfr.read_records(place.url("out 100%/part ü-*"))) == sorted(records)
        assert tfr.verify(place.url("out 100%")).ok
