"""Background jobs as the page shows them: how far they are, what they rest on so far, and how they are stopped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.viewer import page_data
from tests.viewer.conftest import viewer_of

OpenPage = Callable[..., Any]


class CannedJob:
    """Answers for one kind of job, in place of the server's; other kinds are the server's."""

    def __init__(self, page: Any, kind: str, **event: Any) -> None:
        self.event = {"state": "running", "kind": kind, **event}
        self.deleted: list[str] = []
        self._kind = kind
        page.route("**/api/jobs", self._begin)
        page.route(f"**/api/jobs/{kind}-canned**", self._answer)

    def _begin(self, route: Any) -> None:
        if route.request.post_data_json["kind"] == self._kind:
            route.fulfill(status=201, json={"id": f"{self._kind}-canned"})
        else:
            route.continue_()

    def _answer(self, route: Any) -> None:
        if route.request.method == "DELETE":
            self.deleted.append(route.request.url)
            self.event["state"] = "cancelled"
            route.fulfill(json={})
        elif route.request.url.endswith("/events"):  # a stream that breaks: the page asks without one
            body = f"data: {json.dumps(self.event)}\n\n"
            route.fulfill(body=body, headers={"content-type": "text/event-stream"})
        else:
            route.fulfill(json=self.event)


def test_a_search_says_how_far_it_is_and_is_stopped(open_page: OpenPage, steps: str) -> None:
    page = open_page(steps)
    job = CannedJob(page, "search", matches=0, scanned=2_000, of=100_000, share=0.02)
    page.route(
        "**/api/rows?*job=*", lambda route: route.fulfill(json={"rows": [], "total": None, "start": 0})
    )
    page.locator("#where").fill("episode == 1")
    page.keyboard.press("Enter")
    expect(page.locator(".found")).to_contain_text("0 matches in 2 %")
    expect(page.get_by_role("progressbar", name="Search")).to_be_visible()
    job.event["matches"] = 0
    job.event["scanned"] = 60_000
    expect(page.locator(".found")).to_contain_text("0 matches in 60 %")
    page.locator(".found").get_by_role("button", name="Stop").click()
    expect(page.locator(".found").get_by_role("button", name="Continue")).to_be_visible()
    assert job.deleted[0].endswith("?keep=1")


def test_statistics_say_of_how_many_records_they_are_while_they_grow(open_page: OpenPage, steps: str) -> None:
    page = open_page(steps)
    CannedJob(page, "stats", records=3_000, scanned=3_000, of=100_000, share=0.03, features=[])
    page.keyboard.press("f")
    expect(page.locator(".status")).to_contain_text("from 3 % of records")
    page.locator(".status").get_by_role("button", name="Stop").click()
    expect(page.locator(".status")).to_contain_text("stopped: from 3 % of records")


def test_a_search_that_fails_says_why(open_page: OpenPage, steps: str) -> None:
    page = open_page(steps, logs="400")
    page.locator("#where").fill("episode == 'one'")
    page.keyboard.press("Enter")
    expect(page.locator("#where-error")).to_contain_text("expected to compare 'episode' with a number")
    expect(page.get_by_role("alert")).to_contain_text("This filter does not work")


def test_what_an_order_could_not_read_is_said(open_page: OpenPage, tmp_path: Path) -> None:
    for name in ("here", "gone"):
        page_data.write_steps(tmp_path / f"{name}.tfrecord")
    with viewer_of(tmp_path) as url:
        page = open_page(url)
        expect(page.locator("#grid-count")).to_have_text("8 records")
        (tmp_path / "gone.tfrecord").unlink()
        page.get_by_label("Order").select_option("value:episode")
        expect(page.locator(".found")).to_have_text("4 sorted · 1 file not read")
        (tmp_path / "here.tfrecord").unlink()
        page.get_by_role("button", name="Least first").click()
        expect(page.get_by_text("No such file or directory")).to_be_visible()
        page.close()


def test_a_new_filter_ends_the_search_before_it(open_page: OpenPage, steps: str) -> None:
    page = open_page(steps)
    job = CannedJob(page, "search", matches=0, scanned=10, of=100, share=0.1)
    page.route(
        "**/api/rows?*job=*", lambda route: route.fulfill(json={"rows": [], "total": None, "start": 0})
    )
    page.locator("#where").fill("episode == 1")
    page.keyboard.press("Enter")
    expect(page.locator(".found")).to_contain_text("in 10 %")
    page.get_by_role("button", name="Remove the filter").click()
    expect(page.locator(".item").first).to_be_visible()
    expect(page.locator(".found")).to_be_empty()
    assert re.search(r"/api/jobs/search-canned$", job.deleted[0])
