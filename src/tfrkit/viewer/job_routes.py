"""The routes of jobs: begin, ask, follow, cancel.

Whether a request may come at all (cookie, Host, Origin) is decided before, in `security.py`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, TypeAlias

from tfrkit.errors import InvalidArgumentError, OpError
from tfrkit.optional import lazy
from tfrkit.viewer.answers import Answer, as_json, failure
from tfrkit.viewer.asked import MOST_TEXT
from tfrkit.viewer.job import BackgroundJob
from tfrkit.viewer.jobs import JobRequest, Jobs
from tfrkit.viewer.record_pass import JobFiles
from tfrkit.viewer.session import NO_CONDITIONS, Session, ViewedSet

__all__ = ["job_files", "job_routes", "response_of"]

Request: TypeAlias = Any  # starlette's, as the next two
Response: TypeAlias = Any
Route: TypeAlias = Any
_Handler: TypeAlias = Callable[[Request], Awaitable[Response]]

_responses: Final = lazy("starlette.responses", "tfr view")
_routing: Final = lazy("starlette.routing", "tfr view")
_POLL_SECONDS: Final = 0.02
_FIRST_GAPS: Final = (0.04, 0.2)  # between the first events; then 4 a second
_GAP_SECONDS: Final = 0.25
_ALIVE_SECONDS: Final = 15.0  # a comment now and then shows that the other side is there
_CANCEL_SECONDS: Final = 5.0
_MOST_BODY: Final = 1 << 16


def job_files(viewed: ViewedSet) -> JobFiles:
    """Return what is known of a data set now, for a job."""
    files = viewed.data.files
    return JobFiles(
        viewed.data.paths,
        tuple(state.size or 0 for state in files),
        tuple(state.records for state in files),
        viewed.outline.value_kinds,
    )


def job_routes(session: Session, jobs: Jobs) -> list[Route]:
    """Return the routes over the data sets of a session and their jobs."""

    def _start(asked: JobRequest) -> BackgroundJob:
        if asked.kind == "search" and session.get(asked.set_name).message is not None:
            raise InvalidArgumentError(NO_CONDITIONS)
        return jobs.start(asked, {name: job_files(viewed) for name, viewed in session.sets.items()})

    async def begin(request: Request) -> Response:
        asked = _request_of(await _body(request))
        job = await asyncio.to_thread(_start, asked)
        return _json({"id": job.name}, 201)

    async def latest(request: Request) -> Response:
        return _json(jobs.get(request.path_params["name"]).event())

    async def follow(request: Request) -> Response:
        job = jobs.get(request.path_params["name"])
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        found: Response = _responses.StreamingResponse(
            _events(job), media_type="text/event-stream", headers=headers
        )
        return found

    async def forget(request: Request) -> Response:
        name = request.path_params["name"]
        if request.query_params.get("keep") == "1":  # ended, and what it found stays
            jobs.get(name).cancel()
            return _json({"id": name, "ended": False})
        has_ended = await asyncio.to_thread(jobs.forget, name, _CANCEL_SECONDS)
        return _json({"id": name, "ended": has_ended})

    return [
        _route("/api/jobs", begin, "POST"),
        _route("/api/jobs/{name}", latest, "GET"),
        _route("/api/jobs/{name}", forget, "DELETE"),
        _route("/api/jobs/{name}/events", follow, "GET"),
    ]


def _json(values: Any, status: int = 200) -> Response:
    return response_of(as_json(values, status))


def response_of(answer: Answer) -> Response:
    """Return an answer as starlette sends it."""
    found: Response = _responses.Response(answer.body, answer.status, dict(answer.headers), answer.kind)
    return found


def _route(path: str, handler: _Handler, method: str) -> Route:
    """Return a route, which answers errors about what was asked for as such."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except OpError as error:
            return response_of(failure(error))

    found: Route = _routing.Route(path, answer, methods=[method])
    return found


async def _body(request: Request) -> Any:
    """Read what a request says, if it is not too much.

    Raises:
        InvalidArgumentError: it is, or is not JSON.
    """
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > _MOST_BODY:
            raise InvalidArgumentError(f"expected at most {_MOST_BODY} bytes")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise InvalidArgumentError("expected JSON: an object with kind, set, where, options") from None


def _request_of(asked: Any) -> JobRequest:
    if not isinstance(asked, dict):
        raise InvalidArgumentError("expected an object with kind, set, where, options")
    kind, set_name = asked.get("kind"), asked.get("set", "a")
    where, options = asked.get("where"), asked.get("options") or {}
    if not (isinstance(kind, str) and isinstance(set_name, str)):
        raise InvalidArgumentError("expected kind and set to be texts")
    if not (where is None or (isinstance(where, str) and len(where) <= MOST_TEXT)):
        raise InvalidArgumentError(f"expected where to be null or a text of at most {MOST_TEXT} characters")
    if not isinstance(options, dict):
        raise InvalidArgumentError("expected options to be an object")
    return JobRequest(kind, set_name, where or None, options)


async def _events(job: BackgroundJob) -> AsyncIterator[str]:
    """Yield the latest event at once, then others when there are any, until the job is over."""
    gaps = iter(_FIRST_GAPS)
    version = -1
    sent = time.monotonic()
    while True:
        is_over = job.is_over
        if job.version != version:
            version = job.version
            yield f"data: {as_json(job.event()).body.decode()}\n\n"
            sent = time.monotonic()
            gap = sent + next(gaps, _GAP_SECONDS)
            while time.monotonic() < gap and not job.is_over:  # the last event does not wait
                await asyncio.sleep(_POLL_SECONDS)
        if is_over:
            return
        if time.monotonic() - sent > _ALIVE_SECONDS:
            yield ": still there\n\n"
            sent = time.monotonic()
        await asyncio.sleep(_POLL_SECONDS)
