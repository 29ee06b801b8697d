"""A browser, and viewers for it to look at. A test fails if its page logs an error or an exception."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.viewer import page_data
from tfrkit.records.read.decoded_message import MessageType
from tfrkit.viewer.serve import listen, running
from tfrkit.viewer.session import Session

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {
    "wide": {"width": 1280, "height": 800},
    "narrow": {"width": 640, "height": 900},
    "phone": {"width": 390, "height": 844},
}


def _files(*paths: Path | None) -> list[Path]:
    folders = [sorted(path.iterdir()) if path.is_dir() else [path] for path in paths if path]
    return [path for folder in folders for path in folder]


@contextlib.contextmanager
def viewer_of(*paths: Path, compare: Path | None = None, message: MessageType | None = None) -> Iterator[str]:
    """Show files; gives the URL to open."""
    listener = listen()
    session = Session(
        *([str(path) for path in found] if found else None for found in (_files(*paths), _files(compare))),
        message,
    )
    with running(session, listener) as server:
        thread = Thread(target=server.run, args=([listener.socket],), daemon=True)
        thread.start()
        try:
            yield listener.url()
        finally:
            server.should_exit = True
            thread.join(20)
    assert not thread.is_alive()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The system's chromium; its absence is a failure."""
    from playwright.sync_api import expect, sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "the tests of the page need chromium: run tools/ensure.sh chromium"
    expect.set_options(timeout=15_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Open a viewer's page: `open_page(url, "#/features", size="narrow", dark=True)`. Its errors fail the test.

    Pictures that do not decode are answered with 422, which a browser logs: `broken=True` lets that be;
    `logs` is another text that may be logged.
    """
    problems: list[str] = []
    contexts: list[Any] = []

    def open_one(
        url: str,
        view: str = "",
        *,
        size: str = "wide",
        dark: bool = False,
        broken: bool = False,
        logs: str | None = None,
    ) -> Any:
        context = chromium.new_context(
            viewport=SIZES[size], color_scheme="dark" if dark else "light", accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)

        def hear(message: Any) -> None:
            allowed = (broken and "422" in message.text) or (logs is not None and logs in message.text)
            if message.type in ("error", "warning") and not allowed:
                problems.append(f"{message.type}: {message.text} {message.location.get('url')}")

        page.on("console", hear)
        page.on("pageerror", lambda error: problems.append(f"exception: {error}"))
        page.goto(url)
        if view:
            page.goto(page.url.split("#")[0] + view)
        page.locator("nav.tabs a").first.wait_for()
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not problems, "\n".join(problems)


@pytest.fixture(scope="session")
def photo_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three shards of photos, and two of others that differ from them."""
    folder = tmp_path_factory.mktemp("photos")
    for name, shards, shift in (("flowers", 3, 0.0), ("others", 2, 0.15)):
        (folder / name).mkdir()
        for shard in range(shards):
            path = folder / name / f"train-{shard:05d}-of-{shards:05d}.tfrecord"
            page_data.write_photos(path, 100 * shard, 100, shift=shift)
    return folder


@pytest.fixture(scope="session")
def photos(photo_files: Path) -> Iterator[str]:
    """A viewer of the photos beside the others."""
    with viewer_of(photo_files / "flowers", compare=photo_files / "others") as url:
        yield url


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A viewer of 100,000 tiny pictures."""
    path = tmp_path_factory.mktemp("many") / "many.tfrecord"
    page_data.write_many(path, 100_000)
    with viewer_of(path) as url:
        yield url


@pytest.fixture(scope="session")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A viewer of SequenceExamples."""
    path = tmp_path_factory.mktemp("steps") / "episodes.tfrecord"
    page_data.write_steps(path)
    with viewer_of(path) as url:
        yield url


@pytest.fixture(scope="session")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A viewer of two files, of which the second is damaged in its middle."""
    folder = tmp_path_factory.mktemp("damaged")
    for shard in range(2):
        page_data.write_photos(folder / f"part-{shard}.tfrecord", 60 * shard, 60)
    page_data.damage(folder / "part-1.tfrecord")
    with viewer_of(folder) as url:
        yield url


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A viewer of what is out to harm it."""
    folder = tmp_path_factory.mktemp("hostile")
    page_data.write_hostile(folder)
    page_data.write_photos(folder / "photos.tfrecord", 0, 20)
    page_data.damage(folder / "photos.tfrecord")
    with viewer_of(folder) as url:
        yield url
