"""A data set that is out to harm the page: markup in names, values, paths; broken pictures, damage. No script runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.viewer.page_data import SCRIPT

OpenPage = Callable[..., Any]


def assert_unharmed(page: Any) -> None:
    assert page.evaluate("window.harmed === undefined")
    assert page.evaluate("[...document.querySelectorAll('script')].map(e => e.src.split('/').pop())") == [
        "main.js"
    ]
    assert (
        page.evaluate("document.querySelectorAll('img[onerror], [onload], iframe, object, embed').length")
        == 0
    )


@pytest.mark.parametrize("layout", ["cards", "table", "tiles"])
def test_the_grid_shows_markup_as_text(open_page: OpenPage, hostile: str, layout: str) -> None:
    page = open_page(hostile, f"#/grid?layout={layout}", broken=True)
    expect(page.locator(".item .open").first).to_be_visible()
    page.wait_for_timeout(300)
    expect(page.locator(".title")).to_contain_text("files")
    assert_unharmed(page)


def test_a_name_of_markup_is_a_name(open_page: OpenPage, hostile: str) -> None:
    page = open_page(hostile, "#/features", broken=True)
    heading = page.get_by_role("heading", name=SCRIPT)
    expect(heading).to_be_visible()
    expect(page.locator(".status")).to_contain_text("from")
    page.locator(".card", has=heading).get_by_role("button", name=re.compile("of records")).click()
    expect(page.locator("#where")).to_have_value(f"`{SCRIPT}`")
    expect(page.locator(".chip code")).to_have_text(f"`{SCRIPT}`")
    expect(page.locator(".found")).to_contain_text("12 matches")
    page.keyboard.press("/")
    page.locator("#where").fill("scr")
    expect(page.get_by_role("option", name=SCRIPT)).to_be_visible()
    assert_unharmed(page)


def test_what_cannot_be_seen_in_names_and_texts_is_shown(open_page: OpenPage, hostile: str) -> None:
    page = open_page(hostile, "#/features", broken=True)
    expect(page.get_by_role("heading", name="odd\\u202e\\x07name`")).to_be_visible()
    page.goto(page.url.split("#")[0] + "#/record?n=0")
    feature = page.locator("[data-feature^=odd]")
    expect(feature).to_contain_text("odd\\u202e\\x07name`")
    assert_unharmed(page)


def test_records_of_all_kinds_are_shown(open_page: OpenPage, hostile: str) -> None:
    page = open_page(hostile, "#/record?n=0", broken=True)
    for number in range(15):
        expect(page.locator("#jump")).to_have_value(str(number))
        expect(page.locator(".truth-facts")).to_be_visible()
        assert_unharmed(page)
        page.keyboard.press("j")
    page.go_back()
    page.evaluate("location.hash = '#/record?n=12'")
    expect(page.locator(".record-body")).to_contain_text("Not an Example")
    page.evaluate("location.hash = '#/record?n=13'")
    expect(page.locator(".record-body")).to_contain_text("An empty record")
    assert_unharmed(page)


def test_markup_of_a_record_is_never_a_page(open_page: OpenPage, hostile: str) -> None:
    page = open_page(hostile, "#/record?n=0", broken=True)
    for feature in ("page", "svg", "image"):
        found = page.evaluate(
            f"fetch('/api/value?set=a&n=0&feature={feature}&index=0').then(r => [r.headers.get('content-type'), "
            "r.headers.get('content-disposition'), r.headers.get('x-content-type-options')])"
        )
        assert found[0] == "application/octet-stream"
        assert found[1].startswith("attachment")
        assert found[2] == "nosniff"


def test_inline_scripts_are_refused_by_the_policy(open_page: OpenPage, steps: str) -> None:
    page = open_page(steps, logs="img-src")
    refused = page.evaluate("""() => new Promise((done) => {
        document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective));
        const script = document.createElement('div');
        script.innerHTML = '<img src="https://example.invalid/x.png">';
        document.body.append(script);
    })""")
    assert refused == "img-src"


def test_names_of_files_and_damage_are_text(open_page: OpenPage, hostile: str) -> None:
    page = open_page(hostile, "#/files", broken=True)
    expect(page.locator(".path-text", has_text="onerror")).to_be_visible()
    page.get_by_role("button", name="Verify").click()
    expect(page.locator(".damages tbody tr").first).to_be_visible()
    assert_unharmed(page)
