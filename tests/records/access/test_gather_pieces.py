"""Records for one pass: the same as `take` gives them, in pieces, and nothing of the files stays mapped."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.oracle.support.frames import flip, frames
from tfrkit import RecordFiles, _core
from tfrkit.errors import DataLossError
from tfrkit.records.access import gather_pieces as module
from tfrkit.records.access.gather_pieces import sorted_order

COUNT, FILES = 3000, 3


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    rng = random.Random(0)
    found = []
    for file in range(FILES):
        path = tmp_path / f"{file}.tfrecord"
        path.write_bytes(frames([rng.randbytes(rng.randrange(2000)) for _ in range(COUNT)]))
        found.append(path)
    return found


def resident_bytes(path: Path) -> int:
    """How much of the maps of a file is resident."""
    found, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first = line.split(maxsplit=1)[0]
        if not first.endswith(":"):
            inside = line.endswith(str(path))
        elif inside and first == "Rss:":
            found += int(line.split()[1]) * 1024
    return found


@pytest.mark.parametrize("far", [0, 1 << 40], ids=["by position", "by the map"])
@pytest.mark.parametrize("each", [1, 7, 1000, 100_000])
def test_pieces_are_what_take_gives(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch, far: int, each: int
) -> None:
    monkeypatch.setattr(module, "_FAR_BYTES", far)
    monkeypatch.setattr(module, "_STRETCH_BYTES", 1 << 16)
    files = RecordFiles(paths)
    rng = np.random.default_rng(each)
    numbers = rng.integers(len(files), size=2000)  # some of them twice
    blocks = files.take_pieces(numbers, each)
    assert blocks is not None
    assert [len(block) for block in blocks] == [min(each, 2000 - at) for at in range(0, 2000, each)]
    assert [record for block in blocks for record in block.to_list()] == files.take(numbers).to_list()
    assert np.concatenate([block.places()[0] for block in blocks]).tolist() == numbers.tolist()


def test_no_numbers_have_no_pieces(paths: list[Path]) -> None:
    assert RecordFiles(paths).take_pieces(np.zeros(0, np.int64), 5) == []


def test_a_compressed_file_has_no_pieces(tmp_path: Path) -> None:
    import tfrkit as tfr

    path = tmp_path / "a.tfrecord.gz"
    with tfr.TFRecordWriter(str(path), "GZIP") as writer:
        writer.write_many([b"%d" % number for number in range(100)])
    files = RecordFiles(path)
    if any(file.members is not None for file in files._open([0])):
        assert files.take_pieces(np.arange(100), 10) is None
    else:  # it was spilled, and is plain there
        assert files.take_pieces(np.arange(100), 10) is not None


@pytest.mark.parametrize("far", [0, 1 << 40], ids=["by position", "by the map"])
def test_a_damaged_record_is_named(paths: list[Path], monkeypatch: pytest.MonkeyPatch, far: int) -> None:
    monkeypatch.setattr(module, "_FAR_BYTES", far)
    files = RecordFiles(paths)
    offset = int(files._open([1])[0].index.frames[1234])
    paths[1].write_bytes(flip(paths[1].read_bytes(), offset + 12))
    with pytest.raises(DataLossError, match="record 1234 "):
        files.take_pieces(np.arange(len(files))[::-1].copy(), 100)


@pytest.mark.skipif(sys.platform != "linux", reason="what is resident is known on Linux only")
def test_nothing_stays_mapped(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    files = RecordFiles(paths)
    numbers = np.random.default_rng(0).permutation(len(files))
    files.take(numbers)
    before = [resident_bytes(path) for path in paths]
    assert all(size > 1 << 20 for size in before)  # a take leaves its pages
    files.take_pieces(numbers, 100)
    assert [resident_bytes(path) for path in paths] == [0] * FILES
    monkeypatch.setattr(module, "_FAR_BYTES", 0)
    files.take_pieces(numbers, 100)
    assert [resident_bytes(path) for path in paths] == [0] * FILES


def test_large_records_are_not_mapped(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    records = [bytes([number]) * 40_000 for number in range(20)]
    path.write_bytes(frames(records))
    files = RecordFiles(path)
    numbers = np.array([3, 19, 0, 3])
    assert files.take(numbers).to_list() == [records[number] for number in numbers]
    blocks = files.take_pieces(numbers, 3)
    assert blocks is not None
    assert [record for block in blocks for record in block.to_list()] == [records[at] for at in numbers]
    assert [files[number] for number in (5, -1)] == [records[5], records[-1]]
    assert files._open([0])[0].frame_map is None
    assert str(path) not in Path("/proc/self/maps").read_text() or sys.platform != "linux"


def test_an_order_by_digits_is_stable() -> None:
    rng = np.random.default_rng(1)
    for bits in (1, 15, 16, 17, 33, 48, 62):
        numbers = rng.integers(1 << bits, size=1000)
        numbers[::3] = numbers[0]
        assert sorted_order(numbers).tolist() == np.argsort(numbers, kind="stable").tolist()
    assert sorted_order(np.zeros(0, np.int64)).tolist() == []


def test_frames_must_fit_their_places() -> None:
    data = frames([b"abc", b"de"])
    sizes, begins, places = np.array([19, 18]), np.array([0, 19]), np.array([0, 1])
    pieces = _core.FramePieces(sizes, 1)
    assert pieces.fill(data, begins, places, True)[0] == -1
    found = [bytes(buffer)[int(at[0]) :][: int(size[0])] for buffer, at, size in pieces.pieces()]
    assert found == [b"abc", b"de"]
    assert pieces.fill(data, begins, np.array([1, 0]), True)[0] == 0  # of another size
    assert pieces.fill(data, np.array([30]), np.array([0]), True)[0] == 0  # beyond the data
    assert pieces.fill(data, np.array([-1]), np.array([0]), True)[0] == 0
    assert pieces.fill(data, np.array([0]), np.array([2]), True)[0] == 0
    assert pieces.fill(flip(data, 13), begins, places, True)[0] == 0
    assert pieces.fill(flip(data, 13), begins, places, False)[0] == -1
    with pytest.raises(ValueError, match="begins"):
        pieces.fill(data, begins, places[:1], True)
    for wrong in (np.array([15]), np.array([-1]), np.array([2**62, 2**62])):
        with pytest.raises((ValueError, MemoryError)):
            _core.FramePieces(wrong, 2)
    with pytest.raises(ValueError, match="at least 1"):
        _core.FramePieces(sizes, 0)
