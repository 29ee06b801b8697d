"""Progress of a survey: files and bytes, before there are shards."""

from __future__ import annotations

import threading

import pyarrow as pa
import pytest
from pyarrow import parquet

import tfrkit
from tests.build.support.image_samples import photos, tarred, write_files, zipped
from tests.build.support.remote import upload
from tests.build.support.tables import write_lines
from tfrkit.build.job.progress import Progress, SurveyMeter


def last_of(snapshots: list[Progress], stage: str) -> tuple[int, int, int, int]:
    found = [now for now in snapshots if now.stage == stage]
    assert all((now.records, now.shards) == (0, 0) for now in found if stage != "write")
    return found[-1].done_bytes, found[-1].total_bytes, found[-1].files_done, found[-1].files


class TestMeter:
    def test_file_counts_all_of_its_bytes_once(self):
        found: list[Progress] = []
        meter = SurveyMeter(found.append, 2, 150)
        with meter.file(100) as seen:
            seen(30)
            seen(500)  # more than it has: what is inflated
        with meter.file(50):
            pass
        meter.tick()
        assert found == []  # too soon
        meter.tick(last=True)
        assert last_of(found, "survey") == (150, 150, 2, 2)

    def test_file_that_cannot_be_read_does_not_count(self):
        found: list[Progress] = []
        meter = SurveyMeter(found.append, 1, 100)
        with pytest.raises(ValueError, match="broken"), meter.file(100):
            raise ValueError("broken")
        meter.tick(last=True)
        assert last_of(found, "survey") == (0, 100, 0, 1)

    def test_nothing_is_reported_to_nobody(self):
        SurveyMeter(None).tick(last=True)


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_survey_of_a_table_reports_files_and_bytes(suffix, tmp_path):
    for number in range(3):
        path = tmp_path / "in" / f"{number}.{suffix}"
        write_lines(path, {"n": number})
        if suffix == "csv":
            path.write_text("n\n" + "1\n" * 5000)
        if suffix == "parquet":
            parquet.write_table(pa.table({"n": range(5000)}), path)
    total = sum(path.stat().st_size for path in (tmp_path / "in").iterdir())
    found: list[Progress] = []
    threads = set()

    def progress(now: Progress) -> None:
        threads.add(threading.current_thread())
        found.append(now)

    tfrkit.build.table(tmp_path / "in", tmp_path / "out", progress=progress)
    assert last_of(found, "survey") == (total, total, 3, 3)
    stages = [now.stage for now in found]
    assert stages == sorted(stages)  # the survey first, then all that is written
    assert stages[-1] == "write"
    assert threads == {threading.current_thread()}


def test_rows_that_are_counted_for_an_expression_are_a_stage(tmp_path):
    found: list[Progress] = []
    table = pa.table({"n": range(5000)})
    tfrkit.build.table(table, tmp_path / "out", where="n > 5", shards=2, progress=found.append)
    done, total, _, _ = last_of(found, "count")
    assert done == total > 0


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (tfrkit.reshard, {"shards": 2}),
        (tfrkit.shuffle, {"shards": 2}),
        (tfrkit.sample, {"count": 5, "shards": 2}),
        (tfrkit.split, {"parts": {"a": 0.5, "b": 0.5}}),
    ],
)
@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_survey_of_records_reports_files_and_bytes(command, options, compression, tmp_path):
    paths = [tmp_path / f"{number}.tfrecord" for number in range(3)]
    for path in paths:
        with tfrkit.TFRecordWriter(path, compression=compression or "none") as writer:
            writer.write_many([bytes(100)] * 500)
    total = sum(path.stat().st_size for path in paths)
    found: list[Progress] = []
    command(list(map(str, paths)), tmp_path / "out" / "x", **options, progress=found.append)
    assert last_of(found, "survey") == (total, total, 3, 3)
    assert found[-1].stage == "write"


@pytest.mark.parametrize("kind", ["folder", "tar", "tar.gz", "zip", "csv"])
def test_listing_of_images_reports_files_and_bytes(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("tfrkit.build.job.progress._TICK_SECONDS", 0)
    files = photos({"cat": 2, "dog": 2})
    source = tmp_path / f"in.{kind}"
    if kind in ("folder", "csv"):
        write_files(source if kind == "folder" else tmp_path, files)
    if kind == "csv":
        source.write_text("path,label\n" + "".join(f"{name},{name[:3]}\n" for name in files))
    elif kind == "zip":
        zipped(source, files)
    elif kind != "folder":
        tarred(source, files, "w" if kind == "tar" else "w:gz")
    found: list[Progress] = []
    tfrkit.build.images(source, tmp_path / "out", duplicates="keep", progress=found.append)
    assert last_of(found, "survey") == (sum(map(len, files.values())), 0, 4, 0)
    if kind not in ("folder", "csv"):  # which are counted by folders, and by some rows at a time
        assert [now.files_done for now in found if now.stage == "survey"] == [1, 2, 3, 4, 4]


def test_listing_of_a_bucket_reports_files_and_bytes(tmp_path, remote, monkeypatch):
    monkeypatch.setattr("tfrkit.build.job.progress._TICK_SECONDS", 0)
    files = photos({"cat": 2, "dog": 2})
    url = upload(write_files(tmp_path / "in", files), f"{remote}/photos")
    found: list[Progress] = []
    tfrkit.build.images(url, tmp_path / "out", duplicates="keep", progress=found.append)
    assert last_of(found, "survey") == (sum(map(len, files.values())), 0, 4, 0)
    assert [now.files_done for now in found if now.stage == "survey"] == [1, 2, 3, 4, 4]
