"""The page as a whole: its views, files and damage, the comparison, keys, the URL, what a screen reader finds."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import tfrkit as tfr
from tests.viewer.conftest import SIZES, viewer_of

OpenPage = Callable[..., Any]
SHOTS = os.environ.get("VIEWER_SHOTS")  # a folder to keep screenshots in, to be looked at
VIEWS = ("grid", "features", "record", "files", "compare")
READY = {
    "grid": ".item img",
    "features": ".card .bar",
    "record": ".hex-row",
    "files": "table.files td",
    "compare": ".card .drift",
}


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_fits_and_is_readable_in_both_themes(open_page: OpenPage, photos: str, view: str) -> None:
    page = open_page(photos, f"#/{view}", broken=True)
    expect(page.locator("nav.tabs a[aria-current]")).to_have_text(view.capitalize())
    for size in SIZES:
        page.set_viewport_size(SIZES[size])
        expect(page.locator(READY[view]).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            "the page scrolls sideways"
        )
        assert page.evaluate(SQUEEZED) == [], f"{size}: columns with a letter or two on each line"
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            assert page.evaluate(CONTRAST) == [], f"{size}, {theme}"
            shot = page.screenshot(path=SHOTS and Path(SHOTS) / f"{view}-{size}-{theme}.png")
            assert len(shot) > 5_000


SQUEEZED = """() => [...document.querySelectorAll('td')].filter((cell) => cell.innerText.length > 12 &&
  cell.clientWidth < 80).map((cell) => cell.innerText)"""
# Texts whose colour does not stand out from what is behind them (WCAG AA: 4.5 to 1), of those that are shown.
CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data; };
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const found = new Set();
  for (const node of document.querySelectorAll('body *')) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
    if (node.closest('svg, [hidden], noscript, .skip') || !node.checkVisibility()) continue;
    let behind = node;
    while (behind && rgb(getComputedStyle(behind).backgroundColor)[3] < 255) behind = behind.parentElement;
    const a = light(rgb(getComputedStyle(node).color));
    const b = light(rgb(getComputedStyle(behind ?? document.body).backgroundColor));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.add(`${node.tagName}.${node.className}: ${ratio.toFixed(2)}`);
  }
  return [...found];
}"""


def test_views_are_reached_by_keys(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid", broken=True)
    expect(page.locator(".item img").first).to_be_visible()
    for key, name in (("f", "Features"), ("r", "Record"), ("d", "Files"), ("c", "Compare"), ("g", "Grid")):
        page.keyboard.press(key)
        expect(page.locator("nav.tabs a[aria-current]")).to_have_text(name)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next, previous")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("s")
    expect(page.locator("#grid-count")).to_have_text("200 records")


def test_a_record_is_chosen_and_opened_by_keys(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid", broken=True)
    expect(page.locator(".item img").first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Record 2, ")
    page.keyboard.press("Enter")
    expect(page.locator("#jump")).to_have_value("2")
    page.go_back()
    expect(page.locator(".item").first).to_be_visible()


def test_everything_that_can_be_pressed_has_a_name(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid", broken=True)
    for view in VIEWS:
        page.evaluate(f"location.hash = '#/{view}'")
        expect(page.locator(READY[view]).first).to_be_visible()
        nameless = page.evaluate(
            "[...document.querySelectorAll('button, a[href], input, select, [role=listitem] > a')].filter(e => !("
            "e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length || e.title))"
            ".map(e => e.outerHTML)"
        )
        assert nameless == []


def test_the_theme_is_chosen_and_stays(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/files")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.get_by_role("button", name=re.compile("^Colours")).click()
    assert page.evaluate(colour) == light
    page.get_by_role("button", name=re.compile("^Colours")).click()
    assert page.evaluate(colour) != light
    page.reload()
    page.locator("nav.tabs a").first.wait_for()
    assert page.evaluate(colour) != light


def test_damage_is_on_the_map_and_leads_to_the_records_around_it(open_page: OpenPage, damaged: str) -> None:
    page = open_page(damaged, "#/files", broken=True)
    page.get_by_role("button", name="Verify").click()
    damages = page.locator(".damages tbody tr")
    expect(damages.first).to_be_visible()
    expect(page.locator(".status")).to_contain_text("damage")
    expect(page.locator(".map .damage").first).to_be_attached()
    expect(page.locator("table.files tbody tr").first).to_contain_text("intact")
    before = damages.first.get_by_role("link").first
    number = re.sub(r"\D", "", before.inner_text())
    before.click()
    expect(page.locator("#jump")).to_have_value(number)
    expect(page.locator(".truth-facts")).to_contain_text("part-1.tfrecord")


def test_the_comparison_shows_drift_and_changed_records(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/compare")
    expect(page.locator(".status")).to_contain_text("they differ")
    card = page.locator(".card", has=page.get_by_role("heading", name="score", exact=True))
    expect(card.locator(".drift")).to_have_text(re.compile(r"drift 0\.[2-9]"))
    expect(card.locator("rect.of-a").first).to_be_attached()
    expect(card.locator("rect.of-b").first).to_be_attached()
    expect(page.locator(".facts-row")).to_contain_text("removed")


def test_cards_say_which_kinds_a_feature_has_and_what_unlike_bytes_are_like(
    open_page: OpenPage, tmp_path: Path
) -> None:
    with tfr.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        for number in range(9):
            blob = bytes([number, 255]) * 200
            writer.write_example({"x": f"{number}" if number % 3 == 0 else number, "blob": blob})
    with viewer_of(tmp_path) as url:
        page = open_page(url, "#/features")
        expect(page.locator(".card[data-key='context x']")).to_contain_text("6 int64, 3 bytes")
        card = page.locator(".card[data-key='context blob']")
        expect(card).to_contain_text(re.compile("such as .*…"))
        assert card.evaluate("card => card.scrollWidth <= card.clientWidth")
        page.close()


def test_cards_say_what_is_no_number_or_not_there(open_page: OpenPage, tmp_path: Path) -> None:
    with tfr.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        for _ in range(3):
            writer.write_example({"x": [float("nan"), float("inf"), float("-inf"), float("inf")]})
    with viewer_of(tmp_path) as url:
        page = open_page(url, "#/features")
        expect(page.locator(".card")).to_contain_text("3 NaN \u00b7 6 \u221e \u00b7 3 \u2212\u221e")
        expect(page.locator(".card")).to_contain_text("no finite values")


def test_one_set_alone_has_no_comparison(open_page: OpenPage, steps: str) -> None:
    page = open_page(steps, "#/compare")
    expect(page.get_by_text("One data set only")).to_be_visible()
    expect(page.locator("nav.tabs a", has_text="Compare")).to_have_count(0)


def test_an_empty_file_says_that_it_is_empty(open_page: OpenPage, tmp_path: Path) -> None:
    (tmp_path / "empty.tfrecord").touch()
    with viewer_of(tmp_path / "empty.tfrecord") as url:
        page = open_page(url)
        expect(page.get_by_text("No records")).to_be_visible()
        page.keyboard.press("f")
        expect(page.get_by_text("No features", exact=True)).to_be_visible()
        page.close()  # before its server goes


def test_a_server_that_has_gone_is_told(open_page: OpenPage, steps: str) -> None:
    page = open_page(steps, "#/grid")
    expect(page.locator(".item").first).to_be_visible()
    page.evaluate("void (window.fetch = () => Promise.reject(new TypeError('gone')))")
    page.locator(".item a.open").first.click()
    expect(page.get_by_role("alert")).to_contain_text("The viewer does not answer.")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
