"""The job `stats`: partial statistics that become those of `stats`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tfrkit as tfr
from tests.viewer.test_search import job_files, write
from tfrkit.records.where import parse_where
from tfrkit.viewer import statistics_job
from tfrkit.viewer.job import BackgroundJob
from tfrkit.viewer.statistics_job import statistics


class Events(BackgroundJob):
    """A job that keeps its events."""

    def publish(self, **values):
        super().publish(**values)
        self.__dict__.setdefault("events", []).append(self.event())


def counted(files, where=None, columns=None):
    job = Events(
        "s-1", "stats", "a", where, statistics(files, parse_where(where) if where else None, columns)
    )
    assert job.wait(60)
    assert job.state == "done", job.event()
    return job


def features(event):
    return {feature["name"]: feature for feature in event["features"]}


def test_last_event_says_what_stats_says(tmp_path):
    path = write(str(tmp_path / "a.tfrecord"), np.arange(3000) % 7)
    event = counted(job_files([path])).event()
    expected = tfr.stats(path).features["n"]
    [found] = event["features"]
    assert (event["records"], event["share"], event["sampled"]) == (3000, 1.0, False)
    assert (found["kind"], found["presence"], found["distinct"], found["exact"]) == ("int64", 1.0, 7, True)
    assert [found[name] for name in ("min", "max", "mean", "std")] == [
        expected.int64.min, expected.int64.max, expected.int64.mean, expected.int64.std,
    ]  # fmt: skip
    assert found["histogram"]["counts"] == list(expected.int64.histogram.counts)
    assert found["top"][0] == {"value": 0, "count": 429, "label": None, "size": None, "literal": "0"}
    json.dumps(event, allow_nan=False)


def test_events_on_the_way_rest_on_fewer_records(tmp_path, monkeypatch):
    monkeypatch.setattr(statistics_job, "_BATCH_BYTES", 1)
    monkeypatch.setattr(statistics_job, "_SHARE_OF_TIME", 0)
    paths = [write(str(tmp_path / f"{k}.tfrecord"), np.arange(1000)) for k in range(3)]
    events = [event for event in counted(job_files(paths, (1000, 1000, 1000))).events if "records" in event]
    assert list(dict.fromkeys(event["records"] for event in events)) == [1000, 2000, 3000]
    assert [event["share"] for event in events][-1] == 1.0
    assert {event["of"] for event in events} == {3000}


def test_first_records_come_from_all_files(tmp_path, monkeypatch):
    monkeypatch.setattr(statistics_job, "_FIRST_BYTES", 5000)
    paths = [write(str(tmp_path / f"{k}.tfrecord"), np.full(1000, k)) for k in range(3)]
    first = counted(job_files(paths, (1000, 1000, 1000))).events[0]
    assert first["sampled"]
    assert {row["value"] for row in features(first)["n"]["top"]} == {0, 1, 2}


def test_statistics_of_matches_only(tmp_path):
    path = write(str(tmp_path / "a.tfrecord"), np.arange(3000))
    event = counted(job_files([path], n="int64"), "n >= 10 and n < 30").event()
    assert (event["records"], event["scanned"]) == (20, 3000)
    assert (features(event)["n"]["min"], features(event)["n"]["max"]) == (10, 29)


def test_hostile_and_odd_values_become_plain_json(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        writer.write_example({"<script>": b"</script>\xff", "x": [float("nan"), float("inf")], "big": 2**62})
        writer.write(b"\xff")
    event = counted(job_files([path])).event()
    json.dumps(event, allow_nan=False)
    found = features(event)
    assert (event["records"], event["examples"]) == (2, 1)
    assert found["<script>"]["top"][0]["value"] == "</script>\\xff"
    assert found["<script>"]["top"][0]["literal"] == r"b'</script>\xff'"
    assert found["<script>"]["key"] == "`<script>`"
    assert (found["big"]["min"], found["x"]["nan"], found["x"]["min"]) == (str(2**62), 1, None)


def test_only_so_many_features_are_sent_and_others_on_request(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        writer.write_example({f"f{n:05}": list(range(40)) for n in range(3000)})
    event = counted(job_files([path])).event()
    assert len(json.dumps(event)) < 4_000_000
    assert len(event["features"]) + event["features_left_out"] == 3000
    assert event["features_left_out"] > 0
    [found] = counted(job_files([path]), columns=["f02999"]).event()["features"]
    assert found["name"] == "f02999"


@pytest.mark.parametrize("where", [None, "n >= 0"])
def test_cancelled_statistics_end_at_the_next_block(where, tmp_path, monkeypatch):
    monkeypatch.setattr(statistics_job, "_BATCH_BYTES", 1)
    path = write(str(tmp_path / "a.tfrecord"), np.arange(300_000))
    work = statistics(job_files([path]), parse_where(where) if where else None)

    class Ended(BackgroundJob):
        def publish(self, **values):
            super().publish(**values)
            self.cancel()

    job = Ended("s-1", "stats", "a", where, work)
    assert job.wait(30)
    assert job.state == "cancelled"
    assert job.event()["done"] < 300_000


def test_rarest_labels_come_when_all_are_counted(tmp_path):
    numbers = np.concatenate([np.repeat(np.arange(40), 10), [77, 99, 99]])
    path = str(tmp_path / "a.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        writer.write_batch(
            {"label": numbers, "few": numbers % 3, "name": [f"class {n}".encode() for n in numbers]}
        )
    [few, label, name] = counted(job_files([path])).event()["features"]
    assert [(each["value"], each["count"]) for each in label["rarest"][:2]] == [(77, 1), (99, 2)]
    assert [each["literal"] for each in name["rarest"][:2]] == ["'class 77'", "'class 99'"]
    assert len(label["rarest"]) == 5
    assert "rarest" not in few
