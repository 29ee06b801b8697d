"""Claim: the viewer shows a million records in 1.5 s, in 0.5 s with an index, and is never larger than 300 MB.

400 thumbnails a second come of photos of 37 kB. The first page of what a condition on A takes comes in 0.3 s, the count
of all matches at 0.7 x the rate of our own scan, and full statistics at 0.5 x `tfr stats`, while a page follows them.
A real server is asked over HTTP, as the page asks it; what the browser draws is for the browser tests.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import numpy as np

from benchmarks import specs
from benchmarks.data import dataset, scratch
from benchmarks.harness import Claim, Report, Settings, in_child

COLUMN = "C1"
PAGE = 100  # rows
THUMBNAILS = 2000
CONNECTIONS = 4  # a browser has six
_ADDRESS = re.compile(r"http://[\w.:\[\]]+/\?token=[\w-]+")


class _Viewer:
    """A server of `tfr view`, and what a page asks it."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        self._host = address.removeprefix("http://").partition("/")[0]
        self.cookie = ""
        answer, _ = self.ask("GET", address.partition(self._host)[2])
        self.cookie = str(answer.headers["Set-Cookie"]).partition(";")[0]

    def ask(
        self, method: str, path: str, body: Any = None, connection: http.client.HTTPConnection | None = None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request, and read the answer."""
        asked = connection or http.client.HTTPConnection(self._host, timeout=120)
        headers = {"Cookie": self.cookie, "Origin": f"http://{self._host}"}
        asked.request(method, path, None if body is None else json.dumps(body), headers)
        answer = asked.getresponse()
        data = answer.read()
        if connection is None:
            asked.close()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {data[:200]!r}")
        return answer, data

    def get(self, path: str) -> Any:
        """Return what a path of the API answers."""
        return json.loads(self.ask("GET", path)[1])

    def begin(self, kind: str, where: str | None = None) -> str:
        """Begin a job."""
        asked = {"kind": kind, "set": "a", "where": where, "options": {}}
        return str(json.loads(self.ask("POST", "/api/jobs", asked)[1])["id"])

    def follow(self, job: str) -> dict[str, Any]:
        """Follow the events of a job, as the page does, and return the last."""
        connection = http.client.HTTPConnection(self._host, timeout=120)
        event: dict[str, Any] = {}
        with contextlib.closing(connection):
            connection.request("GET", f"/api/jobs/{job}/events", headers={"Cookie": self.cookie})
            for line in connection.getresponse():
                if line.startswith(b"data: "):
                    event = json.loads(line[6:])
        if event["state"] != "done":
            raise RuntimeError(f"{job}: {event}")
        return event

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection for several requests."""
        return http.client.HTTPConnection(self._host, timeout=120)

    def peak(self) -> int:
        """Return the most memory that the server had, in bytes."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])  # type: ignore[index]


@contextlib.contextmanager
def _viewer(files: Sequence[str]) -> Iterator[_Viewer]:
    """Start a server, which keeps nothing from one start to the next."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"TFRKIT_CACHE": cache}
        command = [sys.executable, "-m", "tfrkit", "view", "--no-open", *files]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        try:
            yield _Viewer(process, _address(process.stdout))
        finally:
            process.terminate()
            process.wait(30)
            assert process.stdout is not None
            process.stdout.close()


def _address(lines: IO[str] | None) -> str:
    said = []
    for line in lines or ():
        said.append(line)
        if found := _ADDRESS.search(line):
            return found[0]
    raise RuntimeError(f"`tfr view` printed no address: {''.join(said)}")


def _first_page(viewer: _Viewer) -> float:
    """Ask for what a browser shows first."""
    start = time.perf_counter()
    viewer.ask("GET", "/")
    viewer.get("/api/session")
    rows = viewer.get(f"/api/rows?set=a&start=0&count={PAGE}")["rows"]
    if len(rows) != PAGE:
        raise RuntimeError(f"expected {PAGE} rows but got {len(rows)}")
    return time.perf_counter() - start


def first_pages(settings: Settings) -> dict[str, Any]:
    """Show a million records without an index and with one, and then jump through them."""
    import tfrkit as tfr

    place = scratch(settings.scale) / "viewer"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    try:
        path = str(place / "a.tfrecord")
        os.link(dataset("A_one", settings.scale).plain[0], path)
        found: dict[str, Any] = {"without": [], "with": [], "peaks": []}
        for name in ("without", "with"):
            if name == "with":
                tfr.RecordFile(path, index="save").close()
            for _ in range(settings.repeat):
                with _viewer([path]) as viewer:
                    found[name].append(_first_page(viewer))
                    for start in range(10):
                        at = start * dataset("A_one", settings.scale).records // 10
                        viewer.get(f"/api/rows?set=a&start={at}&count={PAGE}")
                    found["peaks"].append(viewer.peak())
        return found
    finally:
        shutil.rmtree(place, ignore_errors=True)


def thumbnails(settings: Settings) -> dict[str, Any]:
    """Ask for thumbnails over some connections, as a browser that is scrolled does."""
    data = dataset("B", settings.scale)
    with _viewer([str(path) for path in data.plain]) as viewer:
        features = viewer.get("/api/session")["sets"]["a"]["features"]
        name = next(feature["name"] for feature in features if feature["role"] == "image")
        count = min(THUMBNAILS, data.records)
        viewer.get(
            f"/api/rows?set=a&start={data.records - 1}&count=1"
        )  # what is not counted is not scrolled to

        def ask(first: int) -> int:
            connection = viewer.connect()
            with contextlib.closing(connection):
                for number in range(first, count, CONNECTIONS):
                    path = f"/api/thumb?set=a&n={number}&feature={quote(name, safe='')}&index=0&size=160"
                    viewer.ask("GET", path, connection=connection)
            return len(range(first, count, CONNECTIONS))

        seconds = []
        for _ in range(settings.repeat):
            start = time.perf_counter()
            with ThreadPoolExecutor(CONNECTIONS) as threads:
                asked = sum(threads.map(ask, range(CONNECTIONS)))
            seconds.append(time.perf_counter() - start)
        return {"thumbnails": asked, "seconds": seconds, "peaks": [viewer.peak()]}


def _search(viewer: _Viewer, where: str, matches: int) -> tuple[float, float]:
    """Search, and return when the first page of matches was there, and when all were counted."""
    start = time.perf_counter()
    job = viewer.begin("search", where)
    wanted = min(PAGE, matches)
    while len(viewer.get(f"/api/rows?set=a&start=0&count={PAGE}&job={job}")["rows"]) < wanted:
        time.sleep(0.005)
    first = time.perf_counter() - start
    event = viewer.follow(job)
    if event["matches"] != matches:
        raise RuntimeError(f"expected {matches} matches but got {event['matches']}")
    return first, time.perf_counter() - start


def searches(settings: Settings) -> dict[str, Any]:
    """Search A by one of 41 features, beside our own scan of it; then count all values, beside `tfr stats`."""
    import tfrkit as tfr

    data = dataset("A", settings.scale)
    files, spec = [str(path) for path in data.plain], specs.a_spec(tfr)
    values = tfr.scan(files, [COLUMN], spec=spec).to_table()[COLUMN].to_numpy()
    where = f"{COLUMN} > {int(np.quantile(values, 0.99))}"
    found: dict[str, Any] = {name: [] for name in ("first", "count", "scan", "statistics", "command")}
    with _viewer(files) as viewer:
        _first_page(viewer)
        viewer.get(f"/api/rows?set=a&start={data.records - 1}&count=1")
        for _ in range(settings.repeat):
            start = time.perf_counter()
            matches = tfr.scan(files, [], where, spec=spec).count()
            found["scan"].append(time.perf_counter() - start)
            first, count = _search(viewer, where, matches)
            found["first"].append(first)
            found["count"].append(count)
            start = time.perf_counter()
            command = [sys.executable, "-m", "tfrkit", "stats", "--json", *files]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            found["command"].append(time.perf_counter() - start)
            start = time.perf_counter()
            event = viewer.follow(viewer.begin("stats"))
            found["statistics"].append(time.perf_counter() - start)
            if event["records"] != data.records:
                raise RuntimeError(
                    f"expected statistics of {data.records} records but got {event['records']}"
                )
        return {**found, "peaks": [viewer.peak()]}


def run(settings: Settings) -> Report:
    """Measure on two cores, which the server, the requests and the rivals share."""
    report = Report("viewer")
    pages = in_child("viewer", "first_pages", settings, cores=2)
    photos = in_child("viewer", "thumbnails", settings, cores=2)
    found = in_child("viewer", "searches", settings, cores=2)
    rate = photos["thumbnails"] / min(photos["seconds"])
    best = {name: min(found[name]) for name in ("first", "count", "scan", "statistics", "command")}
    rows = [
        ["first page of 1,000,000 records, no index", f"{min(pages['without']):.3f} s"],
        ["first page, with an index", f"{min(pages['with']):.3f} s"],
        ["thumbnails", f"{rate:.0f} a second"],
        [f"first {PAGE} matches of a condition on A", f"{best['first']:.3f} s"],
        ["count of all its matches", f"{best['count']:.3f} s"],
        ["our own scan that counts them", f"{best['scan']:.3f} s"],
        ["full statistics of A", f"{best['statistics']:.3f} s"],
        ["tfr stats, the whole command", f"{best['command']:.3f} s"],
    ]
    report.add_table("The viewer, 2 cores", ["what", "best"], rows)
    peak = max(*pages["peaks"], *photos["peaks"], *found["peaks"]) / 1e6
    for claim in (
        Claim("first page of 1,000,000 records without an index", min(pages["without"]), 1.5, "s", "at most"),
        Claim("first page of 1,000,000 records with an index", min(pages["with"]), 0.5, "s", "at most"),
        Claim("peak memory of the server", peak, 300, "MB", "at most"),
        Claim("thumbnails of photos of 37 kB a second", rate, 400, "/s"),
        Claim("first page of matches of a condition on A", best["first"], 0.3, "s", "at most"),
        Claim("count of matches / scan", best["scan"] / best["count"], 0.7),
        Claim("full statistics of A / tfr stats", best["command"] / best["statistics"], 0.5),
    ):
        report.add_claim(claim)
    return report
