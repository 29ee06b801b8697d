"""The job `verify`: a map of damage, with the numbers of records before and after."""

from __future__ import annotations

import pytest

import tfrkit as tfr
from tests.records.support.made import contain, flip, frame, put
from tests.viewer.test_search import job_files
from tfrkit.viewer.job import BackgroundJob
from tfrkit.viewer.verify_job import verification

GOOD = frame(b"x" * 84)  # 100 bytes


def verified(files):
    job = BackgroundJob("v-1", "verify", "a", None, verification(files))
    assert job.wait(60)
    assert job.state == "done", job.event()
    return job.event()


def test_intact_files_have_no_damages(tmp_path):
    paths = [put(tmp_path / f"{k}", GOOD * 3) for k in range(3)]
    event = verified(job_files(paths))
    assert (event["damages"], event["ok"], event["files_done"]) == ([], True, 3)
    assert (event["done"], event["of"], event["share"]) == (900, 900, 1.0)
    assert [file["records"] for file in event["files"]] == [3, 3, 3]


def test_damages_lead_to_records_of_the_whole_data_set(tmp_path):
    paths = [
        put(tmp_path / "0", GOOD * 3),
        put(tmp_path / "1", flip(GOOD, 20) + GOOD + flip(GOOD, 20) + flip(GOOD, 20) + GOOD),
        put(tmp_path / "2", GOOD + GOOD[:30]),
    ]
    event = verified(job_files(paths))
    found = [(d["file"], d["offset"], d["length"], d["before"], d["after"]) for d in event["damages"]]
    assert found == [(1, 0, 100, None, 4), (1, 200, 100, 4, 6), (1, 300, 100, 5, 7), (2, 100, 30, 8, None)]
    assert event["damages"][0]["kind"] == "bad data CRC"
    assert "corrupted record at 12" in event["damages"][0]["reason"]
    assert not event["ok"]
    with tfr.RecordFiles([str(path) for path in paths[:2]], crc=False) as files:
        assert len(files) == 8  # as an index counts


def test_numbers_use_what_is_known_of_the_files_before(tmp_path):
    paths = [put(tmp_path / "gone", GOOD), put(tmp_path / "1", GOOD + flip(GOOD, 20) + GOOD)]
    [damage] = verified(job_files(paths, counts=(50, None)))["damages"]
    assert (damage["before"], damage["after"]) == (50, 52)


def test_file_that_is_none_of_records_says_what_it_looks_like(tmp_path):
    event = verified(job_files([put(tmp_path / "a", b"\x89PNG\r\n\x1a\n" + bytes(100))]))
    assert "PNG" in event["files"][0]["looks_like"]
    assert len(event["damages"]) == 1


def test_missing_file_is_a_report_and_no_failure(tmp_path):
    paths = [put(tmp_path / "0", GOOD), tmp_path / "1"]
    event = verified(job_files(paths))
    assert "No such file" in event["files"][1]["error"]
    assert not event["ok"]


@pytest.mark.parametrize("kind", ["", "GZIP"])
def test_cancelled_verification_ends_inside_a_file(kind, tmp_path):
    path = put(tmp_path / "a", contain(frame(b"x" * 1_000_000) * 40, kind))

    class Ended(BackgroundJob):
        def publish(self, **values):
            super().publish(**values)
            self.cancel()

    job = Ended("v-1", "verify", "a", None, verification(job_files([path])))
    assert job.wait(30)
    assert job.state == "cancelled"
    assert job.event()["done"] < job.event()["of"]
