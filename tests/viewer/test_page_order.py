"""The order of the grid: chosen, turned round, kept in the URL, and followed from record to record."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

OpenPage = Callable[..., Any]
DARKEST = "brightness:image/encoded"
BROKEN = 8  # of the 300 photos


def keys(page: Any) -> list[float]:
    """Return the keys of the tiles in sight: what stands after the number."""
    return [float(text.split("·")[1]) for text in page.locator(".item .number").all_inner_texts()]


def test_the_darkest_picture_comes_first_and_the_brightest_with_one_key(
    open_page: OpenPage, photos: str
) -> None:
    page = open_page(photos, "#/grid", broken=True)
    page.get_by_label("Order").focus()
    page.get_by_label("Order").select_option(label="image/encoded: brightness")
    expect(page.locator(".found")).to_contain_text("300 sorted")
    expect(page.locator(".item .number").first).to_have_text(re.compile(r"^\d+ · 0\.\d+"))
    up = keys(page)
    assert up == sorted(up)
    expect(page.get_by_label("Order")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("O")
    expect(page).to_have_url(re.compile("order=-brightness"))
    expect(page.get_by_role("button", name="Greatest first")).to_be_visible()
    expect(page.locator(".item .number").first).not_to_have_text(re.compile(f"· {up[0]}$"))
    down = keys(page)
    assert down == sorted(down, reverse=True)
    page.reload()
    expect(page.locator(".item .number").first).to_have_text(re.compile(f"· {down[0]}$"))
    expect(page.get_by_label("Order")).to_have_value(DARKEST)


def test_pictures_that_do_not_decode_are_a_click_away(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, f"#/grid?order={DARKEST}", broken=True)
    expect(page.locator(".item img").first).to_be_visible()
    page.get_by_role("button", name=f"{BROKEN} not decoded").click()
    expect(page.locator(".thumb.broken .why")).to_have_count(BROKEN)
    expect(page.locator(".thumb.broken .why").first).to_have_text(re.compile("JPEG|image", re.IGNORECASE))


def test_records_are_followed_in_the_order(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid?order=-value:score&layout=table", broken=True)
    place = page.locator(".item .number")
    expect(place.first).to_be_visible()
    first, second = (place.nth(n).inner_text().replace(",", "") for n in range(2))
    page.locator(".item a.open").first.click()
    expect(page.locator("#jump")).to_have_value(first)
    expect(page.locator(".toolbar")).to_contain_text("sorted 1 of 300")
    page.keyboard.press("j")
    expect(page.locator("#jump")).to_have_value(second)
    page.keyboard.press("Escape")
    expect(page.locator(".item.selected .number")).to_have_text(second)


def test_a_filter_and_an_order_go_together(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid?where=score > 0.5&order=value:score&layout=table", broken=True)
    expect(page.locator(".found")).to_contain_text(re.compile(r"\d+ matches of 300"))
    scores = [float(text) for text in page.locator(".item .numeric:nth-child(2)").all_inner_texts()]
    assert len(scores) > 10
    assert scores == sorted(scores)
    assert scores[0] > 0.5
    page.get_by_label("Order").select_option("")
    expect(page.get_by_role("button", name="Least first")).to_have_count(0)
    assert "order" not in page.url


def test_the_order_is_reached_by_a_key(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid", broken=True)
    page.keyboard.press("o")
    expect(page.get_by_label("Order")).to_be_focused()
    page.keyboard.type("Bytes")
    expect(page).to_have_url(re.compile("order=bytes"))
    expect(page.locator(".item .number").first).to_have_text(re.compile(r"· [\d.]+ k?B$"))


def test_an_order_that_cannot_be_says_so(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid?order=value:scoer", broken=True, logs="400")
    expect(page.get_by_role("alert")).to_contain_text("Did you mean 'score'?")
    page.get_by_role("button", name="As in the files").click()
    expect(page.locator("#grid-count")).to_have_text("300 records")
