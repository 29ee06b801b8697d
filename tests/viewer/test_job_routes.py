"""The routes of jobs, over HTTP: begin, follow, cancel; and the check of a condition."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time

import numpy as np
import pytest

from tests.viewer.test_search import write
from tfrkit.viewer import statistics_job
from tfrkit.viewer.serve import listen, running
from tfrkit.viewer.session import Session


class Client:
    """Asks a server, as its own page does."""

    def __init__(self, gate):
        self.port = gate.port
        self.headers = {
            "Cookie": f"{gate.cookie}={gate.pass_value}",
            "Origin": f"http://127.0.0.1:{gate.port}",
        }

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(connection):
            data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
            connection.request(method, path, data, self.headers | headers)
            answer = connection.getresponse()
            data = answer.read()
            kind = answer.headers["Content-Type"]
            return answer.status, json.loads(data) if kind == "application/json" else data.decode()

    def begin(self, **asked):
        status, answer = self.ask("POST", "/api/jobs", asked)
        assert status == 201, answer
        return answer["id"]

    def events(self, name):
        """Yield events until the server ends the stream."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(connection):
            connection.request("GET", f"/api/jobs/{name}/events", headers=self.headers)
            answer = connection.getresponse()
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            for line in answer:
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])


@contextlib.contextmanager
def served(paths, compare=None):
    """Run a server in a thread."""
    session, listener = Session([str(path) for path in paths], compare), listen()
    with running(session, listener) as server:
        thread = threading.Thread(target=server.run, args=([listener.socket],))
        thread.start()
        while not server.started:
            time.sleep(0.002)
        try:
            yield Client(listener.gate)
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    with served(
        [write(str(folder / "a"), np.arange(50_000))], [write(str(folder / "b"), np.arange(9))]
    ) as asked:
        asked.ask("GET", "/api/rows?start=49999&count=1")  # waits until all are counted
        yield asked


def test_search_is_followed_to_its_end(client):
    events = list(client.events(client.begin(kind="search", set="a", where="n >= 49990")))
    assert [event["state"] for event in events][-1] == "done"
    assert events[-1]["matches"] == 10
    name = events[0]["id"]
    assert client.ask("GET", f"/api/jobs/{name}") == (200, events[-1])
    status, answer = client.ask("GET", f"/api/rows?job={name}&start=8&count=5")
    assert (status, answer["total"], [row["n"] for row in answer["rows"]]) == (200, 10, [49_998, 49_999])


def test_events_come_at_most_five_a_second(client, monkeypatch):
    monkeypatch.setattr(statistics_job, "_count_all", lambda job, *_: _publish_for(job, 1.2))
    times = [(time.monotonic(), event) for event in client.events(client.begin(kind="stats", set="a"))]
    assert 3 <= len(times) <= 8
    assert times[-1][1]["state"] == "done"


def _publish_for(job, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job.publish(done=1)
        time.sleep(0.001)


def test_cancelled_job_ends_its_stream_and_is_gone(client, monkeypatch):
    monkeypatch.setattr(statistics_job, "_count_all", lambda job, *_: _wait_for_cancel(job))
    name = client.begin(kind="stats", set="b")
    stream = client.events(name)
    assert next(stream)["state"] == "running"
    assert client.ask("DELETE", f"/api/jobs/{name}") == (200, {"id": name, "ended": True})
    assert [event["state"] for event in stream] == ["cancelled"]
    assert client.ask("GET", f"/api/jobs/{name}")[0] == 404


def _wait_for_cancel(job):
    while True:
        job.check()
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ("{", 400, "expected JSON"),
        ("[" * 30_000, 400, "expected JSON"),
        ("x" * 70_000, 400, "at most 65536 bytes"),
        ([], 400, "expected an object"),
        ({"kind": 3}, 400, "to be texts"),
        ({"kind": "search", "where": 3}, 400, "where to be null or a text"),
        ({"kind": "search", "where": "n" * 10_001}, 400, "at most 10000 characters"),
        ({"kind": "search", "options": 3}, 400, "options to be an object"),
        ({"kind": "rm -rf"}, 400, "expected one of search"),
        ({"kind": "search", "set": "../etc"}, 404, "there is no data set '../etc'"),
        ({"kind": "search", "where": "n > 'x'"}, 400, "with a number but got text"),
    ],
)
def test_requests_that_mean_nothing_are_refused(client, body, status, text):
    got, answer = client.ask("POST", "/api/jobs", body)
    assert got == status
    assert text in answer["error"]
    assert set(answer) == {"error", "hint", "at"}


def test_error_in_a_condition_says_where(client):
    assert client.ask("POST", "/api/jobs", {"kind": "search", "where": "n > "})[1]["at"] == 4
    status, answer = client.ask("GET", "/api/where?set=a&text=n%20%3E%20")
    assert (status, answer["ok"], answer["at"]) == (200, False, 4)
    assert client.ask("GET", "/api/where?text=n%20%3E%203")[1]["ok"]
    assert client.ask("GET", "/api/where?text=m")[1]["unknown"] == ["m"]
    assert client.ask("GET", "/api/where?set=b&text=m")[1]["error"].startswith("no record has a feature 'm'")
    assert client.ask("GET", "/api/where?text=" + "n" * 10_001)[1]["at"] == 10_000
    assert client.ask("GET", "/api/where?set=c&text=n")[0] == 404


@pytest.mark.parametrize("kind", ["stats", "verify", "diff"])
def test_every_kind_of_job_runs_to_its_end(client, kind):
    event = list(client.events(client.begin(kind=kind, set="a")))[-1]
    assert event["state"] == "done", event


@pytest.mark.parametrize(("method", "path"), [("POST", "/api/jobs"), ("DELETE", "/api/jobs/stats-1")])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Cookie": ""},
        {"Host": "evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_jobs_are_begun_and_ended_by_the_page_only(client, method, path, headers):
    assert client.ask(method, path, {"kind": "verify"}, **headers)[0] == 403


def test_stream_needs_the_cookie(client):
    name = client.begin(kind="verify", set="b")
    assert client.ask("GET", f"/api/jobs/{name}/events", Cookie="")[0] == 403


def test_end_of_the_server_ends_jobs_and_their_streams(tmp_path, monkeypatch):
    ended = threading.Event()

    def hold(job, *_):
        try:
            _wait_for_cancel(job)
        finally:
            ended.set()

    monkeypatch.setattr(statistics_job, "_count_all", hold)
    with served([write(str(tmp_path / "a"), np.arange(9))]) as asked:
        stream = asked.events(asked.begin(kind="stats", set="a"))
        assert next(stream)["state"] == "running"
    assert ended.is_set()


@pytest.mark.parametrize("path", ["/api/jobs/search-99999", "/api/jobs/search-99999/events"])
def test_unknown_job_is_not_there(client, path):
    assert client.ask("GET", path)[0] == 404
