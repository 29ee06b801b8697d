"""The job `diff`: what `diff` says, with histograms over the same edges."""

from __future__ import annotations

import json

import numpy as np

import tfrkit as tfr
from tests.viewer.test_search import job_files, write
from tfrkit.records.compare.diff_options import CompareOptions
from tfrkit.viewer.diff_job import comparison
from tfrkit.viewer.job import BackgroundJob


def compared(old, new, **options):
    job = BackgroundJob("d-1", "diff", "a", None, comparison(old, new, CompareOptions.of(options)))
    assert job.wait(60)
    assert job.state == "done", job.event()
    event = job.event()
    json.dumps(event, allow_nan=False)
    return event


def test_what_differs_is_what_diff_says(tmp_path):
    paths = [write(str(tmp_path / "a"), np.arange(100)), write(str(tmp_path / "b"), np.arange(100) * 2)]
    event = compared(job_files(paths[:1]), job_files(paths[1:]))
    expected = tfr.diff(*paths).to_dict()
    assert {name: event[name] for name in ("differs", "records", "schema", "skipped")} == {
        name: expected[name] for name in ("differs", "records", "schema", "skipped")
    }
    [drift] = event["drifts"]
    assert drift["drift"] == expected["drifts"][0]["drift"]
    assert (drift["old"]["max"], drift["new"]["max"]) == (99, 198)


def test_histograms_of_both_have_the_same_edges(tmp_path):
    paths = [write(str(tmp_path / "a"), np.arange(100)), write(str(tmp_path / "b"), np.arange(100) + 50)]
    [drift] = compared(job_files(paths[:1]), job_files(paths[1:]))["drifts"]
    drawn = drift["overlay"]["values"]
    assert (drawn["edges"][0], drawn["edges"][-1]) == (0, 149)
    assert sum(drawn["old"]) == sum(drawn["new"]) == 100
    assert drawn["old"][-1] == drawn["new"][0] == 0
    assert len(drawn["edges"]) == len(drawn["old"]) + 1


def test_equal_data_has_no_drifts(tmp_path):
    paths = [write(str(tmp_path / name), np.arange(100)) for name in "ab"]
    event = compared(job_files(paths[:1], (100,)), job_files(paths[1:], (100,)))
    assert (event["differs"], event["drifts"], event["share"]) == (False, [], 1.0)


def test_options_reach_the_comparison(tmp_path):
    paths = [write(str(tmp_path / "a"), np.arange(9)), write(str(tmp_path / "b"), np.arange(9)[::-1].copy())]
    event = compared(job_files(paths[:1]), job_files(paths[1:]), key="n", compare="records")
    assert (event["records"]["same"], event["records"]["changed"], event["drifts"]) == (9, 0, [])


def test_cancelled_comparison_ends(tmp_path):
    paths = [write(str(tmp_path / "a"), np.arange(100)), write(str(tmp_path / "b"), np.arange(100) * 2)]
    work = comparison(job_files(paths[:1]), job_files(paths[1:]), CompareOptions())

    def cancelled(job):
        job.cancel()
        work(job)

    job = BackgroundJob("d-1", "diff", "a", None, cancelled)
    assert job.wait(30)
    assert (job.state, "records" in job.event()) == ("cancelled", False)
