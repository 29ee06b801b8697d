"""Records by number: before and after they are counted, damaged, shrunk, gone, remote."""

from __future__ import annotations

import contextlib
import gzip
import os
import resource
import time
from pathlib import Path
from typing import Any

import pytest

import tfrkit
from tests.viewer.server import Client, client_of, frame, write_examples
from tfrkit.errors import OutOfRangeError, UnavailableError
from tfrkit.viewer import record_set
from tfrkit.viewer.record_set import RecordSet


def write(path: Path, count: int, first: int = 0) -> Path:
    return write_examples(
        path, [{"n": first + each, "text": f"number {first + each}"} for each in range(count)]
    )


def shown(client: Client, start: int, count: int) -> list[object]:
    return [row["cells"]["n"]["v"] if row["cells"] else row["error"] for row in
            client.json("/api/rows", start=start, count=count)["rows"]]  # fmt: skip


def wait_for_total(client: Client) -> int:
    for _ in range(500):
        total = client.json("/api/session")["sets"]["a"]["records"]
        if total is not None:
            return int(total)
        time.sleep(0.01)
    raise AssertionError("the records were not counted")


def test_numbers_run_over_all_files(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{name}.tfrecord", 10, 10 * name) for name in range(3)]
    with client_of(paths) as client:
        assert shown(client, 5, 10) == list(range(5, 15))
        assert wait_for_total(client) == 30
        assert shown(client, 18, 100) == list(range(18, 30))
        assert shown(client, 30, 10) == []
        row = client.json("/api/rows", start=25, count=1)["rows"][0]
        assert (row["n"], row["file"], row["record"]) == (25, 2, 5)


def test_the_first_page_does_not_wait_for_the_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecordSet, "start", lambda self: None)
    with client_of([write(tmp_path / "a.tfrecord", 300)]) as client:
        answer = client.json("/api/rows", start=0, count=100)
        assert len(answer["rows"]) == 100
        assert answer["total"] is None
        monkeypatch.setattr(record_set, "_WAIT_SECONDS", 0.1)
        reply = client.get("/api/rows", start=5000)
        assert reply.status == 503
        assert "is not reached yet" in reply.json["error"]


def test_a_record_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with client_of([write(tmp_path / "a.tfrecord", 3)]) as client:
        reply = client.get("/api/record", n=3)
        assert reply.status == 404
        assert reply.json["error"] == "there is no record 3: the data set has 3."


def test_a_damaged_record_keeps_its_number_and_its_neighbours(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", 10)
    data = bytearray(path.read_bytes())
    begin = int(tfrkit.build_index(str(path)).frames[4])
    data[begin + 20] ^= 1
    path.write_bytes(data)
    with client_of([path]) as client:
        for _ in range(2):  # from the beginning of the file, then by its index
            rows = client.json("/api/rows", start=0, count=100)["rows"]
            assert [row["n"] for row in rows] == list(range(10))
            assert [bool(row["error"]) for row in rows] == [each == 4 for each in range(10)]
            assert "data checksum stored" in rows[4]["error"] or "corrupted record" in rows[4]["error"]
            wait_for_total(client)
        record = client.json("/api/record", n=4)
        assert record["data_crc"]["ok"] is False
        assert record["length_crc"]["ok"] is True
        assert record["neighbours"] == {"before": 3, "after": 5}
        assert record["offset"] == begin
        assert "crc=False" in record["python"]


def test_records_beyond_damage_that_no_index_can_pass_are_there(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    examples = [tfrkit.make_example({"n": each}).SerializeToString() for each in range(6)]
    frames = [frame(each) for each in examples]
    path.write_bytes(b"".join(frames[:3]) + b"garbage" * 10 + b"".join(frames[3:]))
    with client_of([path]) as client:
        assert wait_for_total(client) == 6
        assert shown(client, 0, 10) == list(range(6))
        assert client.json("/api/record", n=4)["offset"] == sum(map(len, frames[:4])) + 70
        (file,) = client.json("/api/files")["files"]
        assert "corrupted record" in file["error"]
        damage = file["damages"][0]
        assert damage["offset"] == sum(map(len, frames[:3]))
        assert (damage["file"], damage["before"], damage["after"]) == (0, 2, 3)


def test_damage_in_a_compressed_stream(tmp_path: Path) -> None:
    examples = [
        tfrkit.make_example({"n": each, "x": os.urandom(2000)}).SerializeToString() for each in range(50)
    ]
    path = tmp_path / "a.tfrecord.gz"
    frames = [frame(each) for each in examples]
    path.write_bytes(gzip.compress(b"".join([*frames[:20], b"\1" * 50, *frames[20:]])))
    with client_of([path]) as client:
        assert wait_for_total(client) == 50
        assert shown(client, 18, 4) == [18, 19, 20, 21]
        assert client.json("/api/record", n=40)["features"][0]["values"] == [40]


def test_a_file_that_shrinks_is_an_error_of_its_records(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", 2000)
    with client_of([path]) as client:
        wait_for_total(client)
        assert shown(client, 1990, 10) == list(range(1990, 2000))
        os.truncate(path, path.stat().st_size // 2)
        rows = client.json("/api/rows", start=1990, count=10)["rows"]
        assert all(row["error"] for row in rows) or not rows
        assert shown(client, 10, 3) == [10, 11, 12]
        reply = client.get("/api/record", n=1990)
        assert reply.status in (200, 404), reply.body
        found = client.session.get("a").data
        [frame] = next(found.runs_of(0, [1990]))
        assert frame.frame.error.startswith("the file has changed: it has ")


def test_a_file_that_disappears_is_named(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{name}.tfrecord", 10, 10 * name) for name in range(2)]
    with client_of(paths) as client:
        wait_for_total(client)
        paths[1].unlink()
        rows = client.json("/api/rows", start=8, count=4)["rows"]
        assert [row["n"] for row in rows] == [8, 9, 10, 11]
        assert rows[0]["cells"]["n"]["v"] == 8


def test_a_file_that_was_never_there_has_no_records(tmp_path: Path) -> None:
    there = write(tmp_path / "b.tfrecord", 5)
    with client_of([tmp_path / "a.tfrecord", there]) as client:
        assert wait_for_total(client) == 5
        assert shown(client, 0, 10) == [0, 1, 2, 3, 4]
        assert "No such file" in client.json("/api/files")["files"][0]["error"]


def test_an_index_beside_a_file_is_used_and_none_is_written(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", 100)
    with client_of([path]) as client:
        wait_for_total(client)
        assert client.json("/api/files")["files"][0]["indexed"] is False
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.tfrecord"]
    with tfrkit.RecordFile(path, index="save"):
        pass
    with client_of([path]) as client:
        assert wait_for_total(client) == 100
        assert client.json("/api/files")["files"][0]["indexed"] is True


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".xz"])
def test_compressed_files_are_shown_alike(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"a.tfrecord{suffix}", 500)
    with client_of([path]) as client:
        wait_for_total(client)
        assert shown(client, 490, 20) == list(range(490, 500))
        assert client.json("/api/record", n=300)["features"][0]["values"] == [300]


def test_remote_files_are_shown_alike(s3_folder: str) -> None:
    for name in range(2):
        with tfrkit.TFRecordWriter(f"{s3_folder}/part-{name}.tfrecord") as writer:
            for each in range(50):
                writer.write(tfrkit.make_example({"n": 50 * name + each}).SerializeToString())
    with client_of([f"{s3_folder}/part-{name}.tfrecord" for name in range(2)]) as client:
        assert shown(client, 0, 10) == list(range(10))
        assert wait_for_total(client) == 100
        assert shown(client, 45, 10) == list(range(45, 55))
        title = client.json("/api/session")["sets"]["a"]["title"]
        assert title == f"{s3_folder} (2 files)"


def test_negative_numbers_are_none(tmp_path: Path) -> None:
    records = RecordSet([str(write(tmp_path / "a.tfrecord", 3))])
    with pytest.raises(OutOfRangeError, match="numbers begin with 0"):
        records.locate(-1)


def test_large_records_are_not_in_memory_together(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with tfrkit.TFRecordWriter(path) as writer:
        for each in range(12):
            writer.write(tfrkit.make_example({"n": each, "data": bytes(30 << 20)}).SerializeToString())
    with client_of([path]) as client:
        wait_for_total(client)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert shown(client, 0, 12) == list(range(12))
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 250_000  # kB, of 360 MB


def test_a_store_that_fails_at_first_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = record_set.indexed_count

    def failing(path: str, source: Any) -> int | None:
        asked.append(path)
        if len(asked) < 3:
            raise UnavailableError("the store does not answer")
        return real(path, source)

    monkeypatch.setattr(record_set, "indexed_count", failing)
    monkeypatch.setattr(record_set, "_PAUSES", (0.01, 0.01))
    with client_of([write(tmp_path / "a.tfrecord", 5)]) as client:
        assert wait_for_total(client) == 5
    assert len(asked) == 3


def test_a_manifest_that_is_wrong_is_corrected_when_a_file_is_opened(tmp_path: Path) -> None:
    with tfrkit.ShardWriter(tmp_path / "train", shards=2, index=False) as writer:
        for each in range(20):
            writer.write(tfrkit.make_example({"n": each}).SerializeToString())
    manifest = tmp_path / "manifest.json"
    paths = sorted(tmp_path.glob("*.tfrecord"))
    wrong = manifest.read_text().replace('"records": 10', '"records": 7')
    assert wrong.count('"records": 7') == 2
    manifest.write_text(wrong)
    records = RecordSet([str(path) for path in paths])
    records.start()
    for _ in range(1000):
        if records.total is not None:
            break
        time.sleep(0.01)
    assert records.total == 14
    with contextlib.suppress(OutOfRangeError):
        records.one(13)
    assert [frame.frame.error for frame in next(records.page(0, 5))] == [""] * 5
    assert records.files[0].records == 10
