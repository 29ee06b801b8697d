"""The application: which address answers what. What is answered comes from `shown/` and from jobs.

Handlers run on threads: the quick ones on a few, those that decode images on as many as there are cores, so that
neither waits for the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeAlias

from tfrkit.errors import NotFoundError
from tfrkit.optional import lazy
from tfrkit.threads import default_threads
from tfrkit.viewer.answers import Answer, as_json, failure, part_of
from tfrkit.viewer.asked import MOST_TEXT, Asked
from tfrkit.viewer.job_routes import job_routes, response_of
from tfrkit.viewer.jobs import Jobs
from tfrkit.viewer.security import App, Gate
from tfrkit.viewer.session import NO_CONDITIONS, Session
from tfrkit.viewer.shown.files import files_json
from tfrkit.viewer.shown.payload import download, payload
from tfrkit.viewer.shown.pixels import pixels_json
from tfrkit.viewer.shown.record import part_json, record_json, wire_json
from tfrkit.viewer.shown.rows import rows_json
from tfrkit.viewer.shown.thumbs import thumb
from tfrkit.viewer.where_check import check_where

__all__ = ["make_app"]

_applications: Any = lazy("starlette.applications", "tfr view")
_responses: Any = lazy("starlette.responses", "tfr view")
_routing: Any = lazy("starlette.routing", "tfr view")

_STATIC: Final = Path(__file__).parent / "static"
_KINDS: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_QUICK_THREADS: Final = 16  # most wait for a store
_Make: TypeAlias = Callable[[Session, Asked], Any]  # an Answer, or what JSON has


def make_app(session: Session, jobs: Jobs, gate: Gate) -> App:
    """Return the application of a viewer, which answers only what its gate lets through.

    Args:
        session: what is shown.
        jobs: what runs in the background.
        gate: who may ask.
    """
    quick = ThreadPoolExecutor(_QUICK_THREADS, "tfrkit-view")
    pictures = ThreadPoolExecutor(default_threads(), "tfrkit-thumb")

    makers: list[tuple[str, _Make, ThreadPoolExecutor]] = [
        ("/", _page, quick),
        ("/static/{name:path}", _static, quick),
        ("/api/session", lambda session, _: session.to_dict(), quick),
        ("/api/rows", lambda session, asked: rows_json(session, asked, jobs.matches), quick),
        ("/api/record", record_json, quick),
        ("/api/bytes", part_json, quick),
        ("/api/wire", wire_json, quick),
        ("/api/value", payload, quick),
        ("/api/download", download, quick),
        ("/api/files", files_json, quick),
        ("/api/where", _where, quick),
        ("/api/pixels", pixels_json, pictures),
        ("/api/thumb", thumb, pictures),
    ]
    routes = [
        _routing.Route(path, _handler(session, make, pool), methods=["GET"]) for path, make, pool in makers
    ]
    app: App = _applications.Starlette(
        routes=[*routes, *job_routes(session, jobs)],
        exception_handlers={404: _nothing_here, 405: _wrong_method, 500: _broken},
    )
    return gate.guard(app)


def _handler(session: Session, make: _Make, pool: ThreadPoolExecutor) -> Callable[[Any], Awaitable[Any]]:
    def work(asked: Asked) -> Answer:
        try:
            made = make(session, asked)
        except Exception as error:  # noqa: BLE001  # whoever asked is told
            return failure(error)
        return made if isinstance(made, Answer) else as_json(made)

    async def handle(request: Any) -> Any:
        asked = Asked(dict(request.query_params) | dict(request.path_params))
        answer = await asyncio.get_running_loop().run_in_executor(pool, work, asked)
        return response_of(part_of(answer, request.headers.get("range")))

    return handle


def _where(session: Session, asked: Asked) -> dict[str, Any]:
    viewed, text = session.get(asked.text("set", "a")), asked.values.get("text", "")
    if viewed.message is not None:
        return {"ok": False, "error": NO_CONDITIONS, "at": 0}
    if len(text) > MOST_TEXT:
        return {"ok": False, "error": "the condition is too long", "at": MOST_TEXT}
    return check_where(text, viewed.outline.value_kinds, complete=viewed.is_complete)


def _page(_session: Session, _asked: Asked) -> Answer:
    return _file("index.html")


def _static(_session: Session, asked: Asked) -> Answer:
    return _file(asked.text("name"))


def _file(name: str) -> Answer:
    """Return a file of the page: one of those that are there, whatever the name says."""
    path = {each.relative_to(_STATIC).as_posix(): each for each in _STATIC.rglob("*")}.get(name)
    if path is None or path.suffix not in _KINDS:
        raise NotFoundError(f"there is no file {name!r:.80} of the page")
    return Answer(path.read_bytes(), _KINDS[path.suffix], headers={"Cache-Control": "no-cache"})


async def _nothing_here(_request: Any, _error: Exception) -> Any:
    return _error_response("there is nothing at this address", 404)


async def _wrong_method(_request: Any, _error: Exception) -> Any:
    return _error_response("this address does not do that", 405)


async def _broken(_request: Any, error: Exception) -> Any:
    return _error_response(f"internal error: {type(error).__name__}", 500)


def _error_response(text: str, status: int) -> Any:
    return _responses.JSONResponse({"error": text, "hint": None, "at": None}, status)
