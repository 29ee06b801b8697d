"""The grid: pictures, cards, a table; scrolling; what is in the page at a time."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

import tfrkit as tfr
from tests.viewer.conftest import viewer_of

OpenPage = Callable[..., Any]
VISIBLE = """() => {
  const view = document.querySelector('.scroll').getBoundingClientRect();
  const places = [...document.querySelectorAll('.item')].map((item) => item.getBoundingClientRect());
  return places.filter((place) => place.bottom > view.top && place.top < view.bottom).length;
}"""


def test_pictures_come_with_label_number_and_boxes(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid", broken=True)
    expect(page.locator(".item img").first).to_be_visible()
    first = page.locator(".item").nth(1)
    expect(first.locator(".label")).to_have_text(re.compile("daisy|rose|tulip"))
    expect(first.locator(".number")).to_have_text("1")
    expect(first.locator("rect.box")).to_have_count(1)
    expect(page.locator("#grid-count")).to_have_text("300 records")


def test_a_picture_that_does_not_decode_says_why(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid", broken=True)
    expect(page.locator(".thumb.broken .why").first).to_have_text(re.compile("JPEG|image", re.IGNORECASE))


def test_layout_and_size_are_in_the_url_and_survive_a_reload(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid", broken=True)
    page.get_by_role("button", name="Table").click()
    expect(page.locator(".table-head")).to_be_visible()
    expect(page.locator(".item.table").first).to_contain_text("garden")
    assert "layout=table" in page.url
    page.reload()
    expect(page.locator(".item.table").first).to_contain_text("garden")
    page.get_by_role("button", name="Cards").click()
    expect(page.locator(".item.cards").first).to_contain_text("caption")
    page.go_back()
    expect(page.locator(".item.table").first).to_be_visible()


def test_columns_of_the_table_are_chosen(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid?layout=table")
    page.get_by_text("Columns 8 of").click()
    page.locator(".menu").get_by_label("caption").click()
    expect(page.locator(".table-head")).not_to_contain_text("caption")
    assert "columns=" in page.url


def test_all_columns_of_a_wide_table_are_reached(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid?layout=table", size="narrow")
    expect(page.locator(".item.table").first).to_contain_text("garden")
    box, last = page.locator(".scroll"), page.locator(".table-head .cell").last
    expect(last).not_to_be_in_viewport()
    box.evaluate("box => box.scrollLeft = 9999")
    expect(last).to_be_in_viewport(ratio=0.9)
    cell = page.locator(".item.table").first.locator(".cell").last.bounding_box()
    assert abs(cell["x"] - last.bounding_box()["x"]) < 1


def test_scrolling_100000_pictures_keeps_two_screens_of_them(open_page: OpenPage, many: str) -> None:
    page = open_page(many, "#/grid")
    expect(page.locator("#grid-count")).to_have_text("100,000 records")
    expect(page.locator(".item img").first).to_be_visible()
    visible = page.evaluate(VISIBLE)
    most = 0
    for _ in range(30):
        page.mouse.move(400, 400)
        page.mouse.wheel(0, 1700)
        page.wait_for_timeout(20)
        most = max(most, page.evaluate("document.querySelectorAll('.item').length"))
    assert 0 < most <= 2 * visible, f"{most} items in the page, {visible} on the screen"
    page.evaluate("document.querySelector('.scroll').scrollTop = 1e9")
    expect(page.locator(".item .number", has_text="99,999")).to_be_visible()
    expect(page.locator(".item img").last).to_be_visible()
    expect(page).to_have_url(re.compile(r"at=99\d\d\d"))


def test_lists_taller_than_an_element_can_be_are_scrolled_to_their_end(
    open_page: OpenPage, many: str
) -> None:
    page = open_page(many, "#/grid?layout=cards", size="narrow")  # 50,000 lines of 172 pixels
    expect(page.locator("#grid-count")).to_have_text("100,000 records")
    first = page.locator(".item.cards .number").first
    expect(first).to_have_text("0")
    page.mouse.move(300, 500)
    page.mouse.wheel(0, 172 * 20)
    expect(page.locator(".item.cards .number", has_text=re.compile("^40$"))).to_be_visible()
    page.keyboard.press("End")
    expect(page.locator(".item.cards .number", has_text="99,999")).to_be_visible()
    page.mouse.wheel(0, -172 * 10)
    expect(page.locator(".item.cards .number", has_text="99,977")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator(".item.cards .number", has_text=re.compile("^0$"))).to_be_visible()


def test_the_place_in_the_grid_survives_a_reload(open_page: OpenPage, many: str) -> None:
    page = open_page(many, "#/grid?at=50000")
    expect(page.locator(".item .number", has_text="50,00").first).to_be_visible()
    page.reload()
    expect(page.locator(".item .number", has_text="50,00").first).to_be_visible()


def test_records_of_steps_show_the_first_picture(open_page: OpenPage, steps: str) -> None:
    page = open_page(steps)
    expect(page.locator(".item img")).to_have_count(4)
    expect(page.locator(".item .number").first).to_contain_text("20 steps")


def test_the_end_of_a_long_name_is_seen_where_there_is_little_room(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid?layout=table&columns=image%2Fobject%2Fbbox%2Fxmin,score", size="narrow")
    name = page.locator(".table-head .short-name", has_text="xmin")
    expect(name).to_have_attribute("title", "image/object/bbox/xmin")
    expect(name).to_have_text("image/object/bbox/xmin")
    page.evaluate("document.querySelector('.table-head').style.setProperty('--columns', 6)")
    assert name.locator(".stem").evaluate("e => e.scrollWidth > e.clientWidth")
    assert name.locator(".leaf").evaluate("e => e.scrollWidth <= e.clientWidth")


def test_records_of_other_kinds_than_the_first_are_shown(open_page: OpenPage, tmp_path: Path) -> None:
    with tfr.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        for number in range(250):
            texts = {f"text{each}": "a rather long text about nothing at all" for each in range(9)}
            writer.write_example({**texts, "number": number})
        writer.write_example({"title": "of another kind"})
        writer.write_example({})
        writer.write(b"no Example")
    with viewer_of(tmp_path) as url:
        page = open_page(url, "#/grid?layout=cards&at=249")
        expect(page.locator("[data-place='249']")).to_contain_text("and 4 more features")
        expect(page.locator("[data-place='250']")).to_contain_text("title")
        expect(page.locator("[data-place='250']")).not_to_contain_text("more feature")
        expect(page.locator("[data-place='251']")).to_contain_text("no features")
        expect(page.locator("[data-place='252']")).to_contain_text("no Example")
        page.get_by_role("button", name="Table").click()
        expect(page.locator("[data-place='252']")).to_contain_text("no Example")


def test_payloads_are_a_table_of_one_column(open_page: OpenPage, tmp_path: Path) -> None:
    with tfr.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        writer.write_many([b"first line", "\u7b2c\u4e8c\u884c".encode(), b"\xff\xfe\x00"])
    with viewer_of(tmp_path) as url:
        page = open_page(url, "#/grid?layout=table")
        expect(page.locator("[data-place='0']")).to_contain_text("first line")
        expect(page.locator("[data-place='1']")).to_contain_text("\u7b2c\u4e8c\u884c")
        expect(page.locator("[data-place='2']")).to_contain_text("3 bytes")
        number = page.locator("[data-place='0'] .number").bounding_box()
        assert number["x"] + number["width"] < 200
