"""A record: its values, its place in the file, its bytes, its neighbours."""

from __future__ import annotations

import io
import re
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

import tfrkit as tfr
from tests.viewer.conftest import viewer_of
from tests.viewer.shown.test_messages import FRAME, frames
from tfrkit.records.read.decoded_message import MessageType

OpenPage = Callable[..., Any]


def test_a_click_on_a_tile_opens_its_record_and_escape_returns(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid", broken=True)
    page.locator(".item a.open").nth(3).click()
    expect(page.locator(".image-view img")).to_be_visible()
    expect(page.locator(".feature.short")).to_contain_text("image/class/text")
    assert "n=3" in page.url
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(page.locator(".item.selected .number")).to_have_text("4")
    expect(page.locator(".item.selected a.open")).to_be_focused()


def test_the_truth_is_below(open_page: OpenPage, photos: str, photo_files: Path) -> None:
    page = open_page(photos, "#/record?n=101")
    truth = page.locator(".truth-facts")
    expect(truth).to_contain_text("train-00001-of-00003.tfrecord")
    expect(truth).to_contain_text("✓ holds")
    payload = tfr.RecordFile(str(photo_files / "flowers/train-00001-of-00003.tfrecord"))[1]
    expect(truth).to_contain_text(f"{len(payload):,} B")
    expect(page.locator(".hex-row").first).to_contain_text(payload[:4].hex(" "))
    expect(page.locator(".hex .run.wire-text").first).to_be_visible()
    page.locator(".hex .run.wire-text").first.hover()
    expect(page.locator(".wire-told")).to_contain_text("key")
    rows = page.locator(".hex-row").count()
    page.get_by_role("button", name=re.compile("Show .* more of")).click()
    expect(page.locator(".hex-row")).not_to_have_count(rows)


def test_keys_go_from_field_to_field_of_the_bytes(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/record?n=7")
    expect(page.locator(".hex-row").first).to_be_visible()
    page.keyboard.press("x")
    expect(page.locator(".hex-rows")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".wire-told")).to_contain_text("bytes 0 to 1")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".wire-told")).to_contain_text("bytes 1 to")
    expect(page.locator(".run.pointed").first).to_be_in_viewport()
    expect(page.locator("#jump")).to_have_value("7")


def test_values_of_pixels_follow_the_pointer_and_pictures_are_zoomed(
    open_page: OpenPage, photos: str
) -> None:
    page = open_page(photos, "#/record?n=1")
    image = page.locator(".image-view img")
    expect(image).to_be_visible()
    image.hover()
    expect(page.locator(".pixel")).to_have_text(re.compile(r"^\(\d+, \d+\)\s+\d+ \d+ \d+$"))
    width = image.bounding_box()["width"]
    page.get_by_role("button", name="Larger").click()
    assert image.bounding_box()["width"] > 1.2 * width
    page.keyboard.press("0")
    expect(page.locator(".image-view")).to_contain_text("100 %")


def test_neighbours_are_reached_by_keys_and_matches_by_matches(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/record?n=10")
    expect(page.locator("#jump")).to_have_value("10")
    page.keyboard.press("j")
    expect(page.locator("#jump")).to_have_value("11")
    page.keyboard.press("k")
    expect(page.locator("#jump")).to_have_value("10")
    page.goto(page.url.split("#")[0] + "#/grid?where=`image/class/text` == 'tulip'&layout=cards")
    page.locator(".item a.open").first.click()
    page.keyboard.press("j")
    expect(page.locator(".toolbar")).to_contain_text("match 2 of")
    expect(page.locator(".feature.short")).to_contain_text("tulip")


def test_a_record_is_gone_to_by_number(open_page: OpenPage, photos: str) -> None:
    page = open_page(photos, "#/grid", broken=True)
    page.keyboard.press("n")
    page.locator("#jump").fill("250")
    page.keyboard.press("Enter")
    expect(page.locator(".truth-facts")).to_contain_text("train-00002-of-00003.tfrecord")


def test_copy_as_python_reads_the_record_and_download_has_its_bytes(
    open_page: OpenPage, photos: str, photo_files: Path
) -> None:
    page = open_page(photos, "#/record?n=4")
    page.get_by_text("As Python", exact=True).click()
    code = page.locator(".python pre").inner_text()
    found: dict[str, Any] = {}
    exec(code, found)
    payload = tfr.RecordFile(str(photo_files / "flowers/train-00000-of-00003.tfrecord"))[4]
    assert found["record"] == payload
    with page.expect_download() as download:
        page.get_by_role("link", name="Download", exact=True).first.click()
    assert Path(download.value.path()).read_bytes() == payload


def test_sound_text_json_and_numbers_are_shown_as_what_they_are(open_page: OpenPage, tmp_path: Path) -> None:
    sound = io.BytesIO()
    with wave.open(sound, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(8000)
        wav.writeframes(bytes(2 * 12_000))
    example = {
        "sound": sound.getvalue(),
        "said": "\u4eca\u5929\u5929\u6c14\u5f88\u597d " * 40,
        "meta": b'{"tags": ["a", {"deep": 7}]}',
        "curve": [float(each % 9) for each in range(300)],
    }
    with tfr.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        writer.write_example(example)
    with viewer_of(tmp_path) as url:
        page = open_page(url, "#/record?n=0")
        expect(page.locator("audio")).to_have_js_property("duration", 1.5)
        expect(page.locator("[data-feature=said]")).to_contain_text("\u4eca\u5929\u5929\u6c14\u5f88\u597d")
        expect(page.locator("[data-feature=meta] .key").first).to_contain_text("tags")
        page.locator("[data-feature=meta] summary").last.click()
        expect(page.locator("[data-feature=meta] .json-number")).to_have_text("7")
        expect(page.locator("[data-feature=curve] .curve")).to_be_attached()
        expect(page.locator("[data-feature=curve]")).to_contain_text("300 values")


def test_steps_follow_the_slider_and_stay_after_a_reload(open_page: OpenPage, steps: str) -> None:
    page = open_page(steps, "#/record?n=1")
    expect(page.locator(".steps .feature").first.locator(".image-view img")).to_be_visible()
    before = page.locator(".feature[data-feature=state] .step-value").inner_text()
    slider = page.get_by_role("slider", name="Step")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".step-number")).to_have_text("step 5 of 21")
    assert page.locator(".feature[data-feature=state] .step-value").inner_text() != before
    expect(page).to_have_url(re.compile("step=5"))
    page.reload()
    expect(page.locator(".step-number")).to_have_text("step 5 of 21")


def test_messages_of_another_type_are_shown_with_their_fields(open_page: OpenPage, tmp_path: Path) -> None:
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_many([FRAME, b"some words", FRAME])
    message = MessageType(frames(), "pkg.Frame")
    with viewer_of(tmp_path / "a.tfrecord", message=message) as url:
        page = open_page(url, "#/record?n=0")
        expect(page.locator(".image-view img")).to_be_visible()
        expect(page.locator("body")).to_contain_text("lenses.points")
        page.locator(".hex .run.wire-text").first.hover()
        expect(page.locator(".wire-told")).to_contain_text("name")
        page = open_page(url, "#/grid")
        expect(page.locator(".item")).to_have_count(3)
        expect(page.locator("body")).to_contain_text("as pkg.Frame")
        expect(open_page(url, "#/features").locator(".card")).to_have_count(4)
