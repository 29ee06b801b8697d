"""Filters: typed, completed, clicked, brushed, taken back; what they find, and how far they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

import tfrkit as tfr
from tests.viewer.conftest import viewer_of

OpenPage = Callable[..., Any]


def test_a_typed_filter_shows_matches_and_their_count(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid", broken=True)
    page.keyboard.press("/")
    page.keyboard.type("`image/class/text` == 'tulip'")
    page.keyboard.press("Enter")
    expect(page.locator(".found")).to_have_text(re.compile(r"\d+ matches of 300"))
    expect(page.locator(".item .label", has_text="tulip").first).to_be_visible()
    expect(page.locator(".item .label", has_text="rose")).to_have_count(0)
    expect(page.locator(".chip")).to_have_count(1)
    page.locator(".chip button").click()
    expect(page.locator("#grid-count")).to_have_text("300 records")
    assert "where" not in page.url


def test_names_are_completed_by_keys(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid", broken=True)
    page.keyboard.press("/")
    page.keyboard.type("heig")
    expect(page.locator("#where-names").get_by_role("option", name="image/height")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator("#where")).to_have_value("image/height ")


def test_an_error_is_pointed_at_while_typing(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid", broken=True)
    page.locator("#where").type("score > 0.5 && score < 1")
    expect(page.locator("#where-error mark")).to_have_text(re.compile("^&&"))
    expect(page.locator("#where-error")).to_contain_text("`and`")
    expect(page.locator("#where")).to_have_attribute("aria-invalid", "true")
    page.locator("#where").fill("score > 0.5")
    expect(page.locator("#where-error")).to_be_empty()


def test_a_filter_that_nothing_matches_says_so(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid?where=score > 99", broken=True)
    expect(page.get_by_text("No record matches")).to_be_visible()
    page.get_by_role("button", name="Remove the filter").last.click()
    expect(page.locator(".item").first).to_be_visible()


def test_a_click_on_a_value_filters_and_the_other_charts_follow(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/features")
    card = page.locator(".card[data-key='context image/class/text']")
    card.get_by_role("button", name=re.compile("^rose")).click()
    expect(page.locator("#where")).to_have_value("image/class/text == 'rose'")
    expect(page.locator(".card[data-key='context score'] rect.part").first).to_be_attached()
    expect(card.get_by_role("button", name=re.compile("^rose"))).to_have_attribute("aria-pressed", "true")
    card.get_by_role("button", name=re.compile("^tulip")).click()
    expect(page.locator("#where")).to_have_value("image/class/text in ('rose', 'tulip')")
    page.go_back()
    expect(page.locator("#where")).to_have_value("image/class/text == 'rose'")


def test_a_brush_over_a_histogram_filters_a_range(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/features")
    plot = page.locator(".card[data-key='context score'] svg.plot")
    plot.scroll_into_view_if_needed()
    area = plot.bounding_box()
    page.mouse.move(area["x"] + area["width"] * 0.5, area["y"] + 30)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] * 0.7, area["y"] + 30, steps=4)
    page.mouse.up()
    expect(page.locator("#where")).to_have_value(re.compile(r"^score >= [\d.]+ and score < [\d.]+$"))
    expect(page.locator(".chip")).to_have_count(1)
    expect(page.locator(".found")).to_have_text(re.compile(r"[1-9]\d* matches of 300"))


def test_a_histogram_is_brushed_with_keys(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/features")
    chart = page.locator(".card[data-key='context image/height'] .histogram")
    chart.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#where")).to_have_value(
        re.compile(r"^image/height >= [\d.]+ and image/height < [\d.]+$")
    )


def test_statistics_say_what_they_rest_on(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/features")
    expect(page.locator(".status")).to_have_text("from all 300 records")
    expect(page.locator(".card[data-key='context note']")).to_contain_text(
        re.compile(r"in 3[34] % of records")
    )
    expect(page.locator(".card[data-key='context image/encoded']")).to_contain_text("JPEG")


def test_features_are_found_by_name(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/features")
    page.locator("#find").fill("bbox")
    expect(page.locator(".card")).to_have_count(4)
    page.reload()
    expect(page.locator(".card")).to_have_count(4)


def test_of_very_many_features_each_is_found_and_counted(open_page: OpenPage, tmp_path: Path) -> None:
    with tfr.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        for number in range(3):
            writer.write_example({f"f{each:05d}": number * each for each in range(5000)})
    with viewer_of(tmp_path) as url:
        page = open_page(url, "#/features")
        expect(page.locator(".status")).to_contain_text("from all 3 records")
        expect(page.locator(".more-cards")).to_contain_text("of 5,000")
        page.locator("#find").fill("f04999")
        expect(page.locator(".card")).to_have_count(1)
        expect(page.locator(".card")).to_contain_text("mean 4,999")
        page.locator("#where").fill("f0499")
        expect(page.get_by_role("option", name="f04999")).to_be_visible()
        page.locator("#where").fill("f04999 > 5000")
        page.keyboard.press("Enter")
        expect(page.locator(".found")).to_contain_text("1 match of 3")
        expect(page.locator(".card")).not_to_contain_text("in no match")
        page.goto(url.split("?")[0] + "#/grid?layout=table")
        expect(page.locator("summary")).to_have_text("Columns 8 of 5,000")
