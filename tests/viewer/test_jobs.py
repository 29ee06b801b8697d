"""Jobs of a server: how many run, how they end, and that none is left."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from tests.viewer.test_search import job_files, write
from tfrkit.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
)
from tfrkit.viewer import jobs as jobs_module
from tfrkit.viewer.job import BackgroundJob
from tfrkit.viewer.jobs import JobRequest, Jobs


@pytest.fixture
def held(monkeypatch):
    """Jobs of the kinds k0 to k9 that run until they are cancelled, or `release` is set."""
    release = threading.Event()

    def work(job):
        while not release.wait(0.001):
            job.check()

    monkeypatch.setattr(jobs_module, "KINDS", {f"k{n}": lambda *_: work for n in range(10)})
    jobs = Jobs()
    jobs.release = release
    yield jobs
    jobs.close()


def start(jobs, kind, name="a"):
    return jobs.start(JobRequest(kind, name), {"a": None, "b": None})


def test_job_of_the_same_kind_and_set_replaces_the_one_before(held):
    first, other, second = start(held, "k0"), start(held, "k0", "b"), start(held, "k0")
    assert first.wait(10)
    assert [job.state for job in (first, other, second)] == ["cancelled", "running", "running"]


def test_only_four_run_at_once(held):
    running = [start(held, f"k{n}") for n in range(4)]
    with pytest.raises(ResourceExhaustedError, match="4 jobs are running"):
        start(held, "k4")
    running[0].cancel()
    assert start(held, "k4").state == "running"


def test_close_ends_all_threads_and_begins_no_other(held):
    running = [start(held, f"k{n}") for n in range(4)]
    held.close()
    assert [job.state for job in running] == ["cancelled"] * 4
    with pytest.raises(FailedPreconditionError, match="ending"):
        start(held, "k0")


def test_forgotten_job_has_ended_and_is_gone(held):
    job = start(held, "k0")
    assert held.forget(job.name, 10)
    assert job.state == "cancelled"
    with pytest.raises(NotFoundError, match="there is no job 'k0-1'"):
        held.get(job.name)
    with pytest.raises(NotFoundError):
        held.forget(job.name, 1)


def test_of_jobs_that_are_over_only_the_last_of_a_kind_and_set_are_kept(held):
    held.release.set()
    others = [start(held, "k1"), start(held, "k0", "b")]
    alike = [start(held, "k0") for _ in range(30) if all(job.wait(10) for job in held._jobs.values())]
    assert list(held._jobs.values()) == [*others, *alike[-4:]]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DataLossError("corrupted record at 0"), "corrupted record at 0"),
        (OSError(5, "Input/output error"), "Input/output error"),
        (KeyError("x"), "internal error: KeyError: 'x'"),
    ],
)
def test_failure_is_told_in_the_last_event(error, text):
    def work(job):
        job.publish(done=3)
        raise error

    job = BackgroundJob("j", "k", "a", None, work)
    assert job.wait(10)
    event = job.event()
    assert (event["state"], event["done"]) == ("failed", 3)
    assert text in event["error"]


def test_seconds_stand_still_when_it_is_over():
    job = BackgroundJob("j", "k", "a", None, lambda job: None)
    assert job.wait(10)
    first = job.event()["seconds"]
    time.sleep(0.01)
    assert job.event()["seconds"] == first


def test_requests_that_mean_nothing_are_refused(tmp_path):
    sets = {"a": job_files([write(str(tmp_path / "a"), np.arange(10))])}
    jobs = Jobs()
    for request, error, text in (
        (JobRequest("mine", "a"), InvalidArgumentError, "expected one of search, stats, verify, diff"),
        (JobRequest("search", "c"), InvalidArgumentError, "there is no data set 'c'"),
        (JobRequest("search", "a"), InvalidArgumentError, "Expected the name of a feature"),
        (JobRequest("stats", "a", "n >"), InvalidArgumentError, "at character 4"),
        (JobRequest("stats", "a", None, {"columns": "n"}), InvalidArgumentError, "list of names"),
        (JobRequest("diff", "a"), FailedPreconditionError, "--compare"),
    ):
        with pytest.raises(error, match=text):
            jobs.start(request, sets)
    with pytest.raises(InvalidArgumentError, match="options"):
        jobs.start(JobRequest("diff", "a", None, {"colour": 1}), sets | {"b": sets["a"]})
    jobs.close()


@pytest.mark.parametrize("kind", ["search", "stats", "verify", "diff"])
def test_every_kind_runs_to_its_end(kind, tmp_path):
    files = job_files([write(str(tmp_path / "a"), np.arange(10))])
    jobs = Jobs()
    where = "n > 3" if kind in ("search", "stats") else None
    job = jobs.start(JobRequest(kind, "a", where), {"a": files, "b": files})
    assert job.wait(30)
    assert job.event()["state"] == "done"
    jobs.close()
