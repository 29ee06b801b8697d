"""The job `search`: numbers of matches, whatever the files are like."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import tfrkit as tfr
from tests.records.support.made import flip, frame
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.records.access.zones import build_zones
from tfrkit.viewer.job import BackgroundJob
from tfrkit.viewer.record_pass import JobFiles
from tfrkit.viewer.search import Matches, search


def job_files(paths, counts=None, **kinds):
    names = tuple(map(str, paths))
    sizes = tuple(os.path.getsize(name) if os.path.exists(name) else 0 for name in names)
    return JobFiles(names, sizes, counts or (None,) * len(names), kinds)


def searched(paths, where, **kinds):
    job = BackgroundJob("s-1", "search", "a", where, search(job_files(paths, **kinds), where))
    assert job.wait(60)
    return job


def places(job):
    return [(match.file, match.record) for match in job.result.slice(0, 10**6)]


def write(path, numbers):
    with tfr.TFRecordWriter(path) as writer:
        writer.write_batch({"n": numbers})
    return path


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_matches_are_numbered_in_their_files(suffix, tmp_path):
    paths = [write(str(tmp_path / f"{k}.tfrecord{suffix}"), np.arange(5000) + 5000 * k) for k in range(3)]
    job = searched(paths, "n in (3, 4999, 12345) or n == 5000")
    assert job.state == "done"
    assert places(job) == [(0, 3), (0, 4999), (1, 0), (2, 2345)]
    event = job.event()
    assert {name: event[name] for name in ("matches", "scanned", "share", "of", "unreadable")} == {
        "matches": 4, "scanned": 15_000, "share": 1.0, "of": None, "unreadable": 0,
    }  # fmt: skip


def test_first_matches_come_with_their_records(tmp_path):
    path = write(str(tmp_path / "a.tfrecord"), np.arange(1000))
    found = searched([path], "n >= 100").result.slice(0, 900)
    assert len(found) == 900
    assert tfr.to_dict(tfr.Example.FromString(found[0].data))["n"] == [100]
    assert [match.data is None for match in found] == [False] * 200 + [True] * 700


def test_runs_without_matches_are_left_out_by_zones(tmp_path):
    path = write(str(tmp_path / "a.tfrecord"), np.arange(200_000))
    build_zones(path, save=True)
    job = searched([path], "n == 150000", n="int64")
    assert places(job) == [(0, 150_000)]
    assert job.event()["scanned"] < 100_000


def test_records_after_damage_have_the_numbers_of_an_index(tmp_path):
    records = [frame(tfr.make_example({"n": n}).SerializeToString()) for n in range(6)]
    records[2] = flip(records[2], 14)
    path = tmp_path / "a.tfrecord"
    path.write_bytes(b"".join(records))
    job = searched([path], "n")
    assert places(job) == [(0, 0), (0, 1), (0, 3), (0, 4), (0, 5)]
    assert job.event()["skipped"] == 1
    with tfr.RecordFiles([str(path)]) as files:
        numbers = [match.record for match in job.result.slice(0, 9)]
        assert [tfr.to_dict(tfr.Example.FromString(record))["n"] for record in files.take(numbers)] == [
            [0], [1], [3], [4], [5],
        ]  # fmt: skip


def test_file_that_is_missing_is_noted_and_passed_over(tmp_path):
    paths = [write(str(tmp_path / f"{k}.tfrecord"), [k]) for k in range(3)]
    os.remove(paths[1])
    job = searched(paths, "n >= 0")
    assert job.state == "done"
    assert places(job) == [(0, 0), (2, 0)]
    [wrong] = job.event()["file_errors"]
    assert wrong["file"] == 1
    assert "1.tfrecord" in wrong["error"]


def test_records_that_are_no_examples_are_counted(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        for n in range(100):
            writer.write(b"\xff" if n % 10 == 3 else tfr.make_example({"n": n}).SerializeToString())
    job = searched([path], "n >= 90")
    assert [record for _, record in places(job)] == [90, 91, 92, 94, 95, 96, 97, 98, 99]
    assert job.event()["unreadable"] == 10


def test_condition_is_checked_before_a_job_begins(tmp_path):
    with pytest.raises(InvalidArgumentError, match="at character 5") as caught:
        search(job_files([tmp_path / "a"]), "n > ")
    assert caught.value.at == 4
    with pytest.raises(InvalidArgumentError, match="with a number but got text"):
        search(job_files([tmp_path / "a"], n="int64"), "n > 'x'")


def test_cancelled_search_ends_and_keeps_what_it_found(tmp_path):
    path = write(str(tmp_path / "a.tfrecord"), np.arange(500_000))
    begun, work = threading.Event(), search(job_files([path]), "n >= 0")

    def held(job):
        begun.wait(10)
        work(job)

    job = BackgroundJob("s-1", "search", "a", "n >= 0", held)
    job.cancel()
    begun.set()
    assert job.wait(10)
    assert job.state == "cancelled"
    assert job.result.count < 500_000


def test_numbers_beyond_the_limit_are_counted_only():
    matches, block = Matches(limit=5), Block.from_records([b"x"] * 4)
    for file in range(3):
        matches.add(file, np.arange(4), block)
    assert (matches.count, matches.kept) == (12, 5)
    assert [(match.file, match.record) for match in matches.slice(2, 10)] == [(0, 2), (0, 3), (1, 0)]
    assert matches.slice(5, 10) == []


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_remote_files_are_searched_alike(suffix):
    paths = [f"memory://viewer-search/{k}.tfrecord{suffix}" for k in range(2)]
    for k, path in enumerate(paths):
        write(path, np.arange(1000) + 1000 * k)
    job = searched(paths, "n in (3, 1500)")
    assert (job.state, places(job), job.event()["share"]) == ("done", [(0, 3), (1, 500)], 1.0)


def test_same_file_twice_is_searched_twice(tmp_path):
    path = write(str(tmp_path / "a.tfrecord"), np.arange(10))
    assert searched([path, path], "n == 3").result.count == 2


def test_file_that_is_cut_while_it_is_read_ends_there(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([tfr.make_example({"n": 1, "t": bytes(50_000)}).SerializeToString()] * 1000)

    class Cutting(BackgroundJob):
        def check(self):
            super().check()
            if os.path.getsize(path) > 30_000_000:
                os.truncate(path, 30_000_000)

    job = Cutting("s-1", "search", "a", "n", search(job_files([path]), "n"))
    assert job.wait(30)
    assert job.state == "done", job.event()
    assert 0 < job.result.count < 1000
