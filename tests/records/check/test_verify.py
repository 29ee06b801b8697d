from __future__ import annotations

import io
import json

import pytest

import tfrkit as tfr
from tests.records.support.made import CONTAINERS, GOLDEN, contain, flip, frame, frames, header, put
from tfrkit.errors import InvalidArgumentError, NotFoundError
from tfrkit.records.check.completeness import find_shards
from tfrkit.records.check.verify import verify_files


@pytest.mark.parametrize("kind", CONTAINERS)
def test_intact_file_is_counted(kind, tmp_path):
    data = contain(GOLDEN, kind)
    path = put(tmp_path / "a", data)
    [report] = tfr.verify(path).files
    assert report.ok
    assert report.to_dict() == {
        "path": str(path),
        "records": 3,
        "data_bytes": 5,
        "file_bytes": len(data),
        "stream_bytes": 53,
        "compression": "GZIP" if kind == "MEMBERS" else kind,
        "damages": [],
        "error": "",
        "looks_like": "",
        "more_damages": 0,
        "ok": True,
    }


def test_every_damage_is_reported_with_kind_and_place(tmp_path):
    good = frame(b"x" * 84)  # 100 bytes
    data = b"".join(
        [good, flip(good, 20), good, flip(good, 3), good, b"garbage", good, header(50), good, good[:30]]
    )
    report = tfr.verify(put(tmp_path / "a", data))
    assert not report.ok
    assert report.records == 5
    assert [(d.kind, d.start, d.end, d.record) for d in report.damages] == [
        ("bad data CRC", 100, 200, 1),
        ("bad length CRC", 300, 400, 2),
        ("bad length CRC", 500, 507, 3),
        ("bad data CRC", 607, 619, 4),
        ("truncated", 719, 749, 5),
    ]


def test_garbage_at_the_end_is_named(tmp_path):
    [damage] = tfr.verify(put(tmp_path / "a", GOLDEN + b"garbage, and a lot of it")).damages
    assert (damage.kind, damage.start, damage.end, damage.record) == ("garbage", 53, 77, 3)


def test_damaged_container_is_named(tmp_path):
    data = contain(frames([b"x" * 1000]), "GZIP")
    [damage] = tfr.verify(put(tmp_path / "a", flip(data, -5, 0xFF))).damages
    assert (damage.kind, damage.record) == ("bad container", 1)
    assert damage.text == "inflate() failed with error -3: incorrect data check"


@pytest.mark.parametrize("threads", [1, 3, None])
def test_several_files_are_reported_in_order(threads, tmp_path):
    for number in range(9):
        put(tmp_path / f"a-{number}", GOLDEN if number % 3 else flip(GOLDEN, 12))
    report = tfr.verify(str(tmp_path / "a-*"), threads=threads)
    assert [file.ok for file in report.files] == [bool(number % 3) for number in range(9)]
    assert [file.path for file in report.files] == [str(tmp_path / f"a-{number}") for number in range(9)]
    assert (report.ok, report.records, len(report.damages)) == (False, 24, 3)
    assert json.loads(json.dumps(report.to_dict()))["records"] == 24


def test_report_as_text(tmp_path):
    path = put(tmp_path / "a", flip(GOLDEN, 12))
    assert str(tfr.verify([path, path])) == "\n".join(
        [
            f"{path}: 2 records, 2 bytes, plain: DAMAGED",
            "  bad data CRC at bytes 0-19, after 0 records: corrupted record at 12",
        ]
        * 2
    )


def test_file_that_cannot_be_opened_is_reported(tmp_path):
    missing = str(tmp_path / "missing")
    report = tfr.verify([missing, put(tmp_path / "a", GOLDEN)])
    assert [file.ok for file in report.files] == [False, True]
    assert report.files[0].error == f"{missing}; No such file or directory"
    assert f"  {missing}; No such file or directory" in str(report)


def test_pattern_without_a_match_is_an_error(tmp_path):
    with pytest.raises(NotFoundError, match=r"^No files matched pattern: "):
        tfr.verify(str(tmp_path / "*"))


def test_open_file_has_no_size(tmp_path):
    [report] = tfr.verify(io.BytesIO(GOLDEN)).files
    assert (report.records, report.file_bytes, report.ok) == (3, None, True)


def test_given_compression_is_used(tmp_path):
    path = put(tmp_path / "a", contain(GOLDEN, "GZIP"))
    assert tfr.verify(path, compression="gzip").ok
    assert not tfr.verify(path, compression="none").ok
    with pytest.raises(InvalidArgumentError, match="Unknown compression 'LZ4'"):
        tfr.verify(path, compression="LZ4")


def test_file_without_records_is_intact(tmp_path):
    for kind in ("", "GZIP", "ZLIB", "XZ", "ZSTD"):
        assert tfr.verify(put(tmp_path / "a", contain(b"", kind))).ok


class Watcher:
    """Notes what it is told; raises after some damages."""

    def __init__(self, limit=1000):
        self.damages, self.files, self.limit = [], {}, limit

    def damaged(self, number, damage):
        self.damages.append((number, damage.kind, damage.record))
        if len(self.damages) >= self.limit:
            raise KeyError("enough")

    def verified(self, number, report):
        self.files[number] = report.records


def damaged_files(folder, count):
    good = frame(b"x" * 84)
    for number in range(count):
        put(folder / f"{number}", good * number + flip(good, 20) + good)
    return find_shards([str(folder / f"{number}") for number in range(count)])


@pytest.mark.parametrize("threads", [1, 2])
def test_watcher_is_told_of_damages_and_files(threads, tmp_path):
    watcher = Watcher()
    report = verify_files(damaged_files(tmp_path, 3), threads=threads, watcher=watcher)
    assert sorted(watcher.damages) == [(number, "bad data CRC", number) for number in range(3)]
    assert watcher.files == {0: 1, 1: 2, 2: 3}
    assert report.records == 6


@pytest.mark.parametrize("threads", [1, 2])
def test_exception_of_the_watcher_ends_it(threads, tmp_path):
    watcher = Watcher(limit=1)
    with pytest.raises(KeyError, match="enough"):
        verify_files(damaged_files(tmp_path, 50), threads=threads, watcher=watcher)
    told = len(watcher.damages)
    assert told < 50
    assert not watcher.files  # nothing goes on afterwards


def test_progress_is_called_within_compressed_files_too(tmp_path):
    data = contain(frames([bytes([n % 251]) * 100_000 for n in range(200)]), "GZIP")
    seen = []
    tfr.verify(put(tmp_path / "a", data), progress=seen.append)
    assert sum(seen) == len(data)
    assert len(seen) > 2
    assert not any(seen[:-1])
