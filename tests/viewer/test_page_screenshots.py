"""The screenshots of docs/viewer.md. `VIEWER_DOCS_SHOTS=docs/images` writes them anew."""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.viewer import page_data
from tests.viewer.conftest import viewer_of

OpenPage = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 400_000  # of all screenshots
SHOTS = {  # view, theme, width and height, what must be there before
    "grid": ("#/grid?where=score > 0.5&at=0", "light", (1120, 640), ".found:has-text('matches of')"),
    "features": (
        "#/features?where=`image/class/text` in ('rose', 'tulip')",
        "dark",
        (1120, 640),
        "rect.part",
    ),
    "record": ("#/record?n=2", "light", (1120, 980), ".hex-row"),
    "files": ("#/files", "light", (1120, 480), "#verify"),
    "compare": ("#/compare", "dark", (1120, 560), ".card .drift"),
}


@pytest.fixture
def flowers(photo_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The photos under names that are the same everywhere, the last shard damaged."""
    for name in ("flowers", "others"):
        shutil.copytree(photo_files / name, tmp_path / name)
    page_data.damage(tmp_path / "flowers/train-00002-of-00003.tfrecord", share=0.6)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_screenshots_of_the_documentation(open_page: OpenPage, flowers: Path) -> None:
    found: dict[str, bytes] = {}
    with viewer_of(Path("flowers"), compare=Path("others")) as url:
        page = open_page(url, broken=True)
        for name, (view, theme, (width, height), ready) in SHOTS.items():
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=theme)
            page.goto(page.url.split("#")[0] + view)
            expect(page.locator(ready).first).to_be_visible()
            if name == "files":
                page.get_by_role("button", name="Verify").click()
                expect(page.locator(".damages tbody tr").first).to_be_visible()
                expect(page.locator(".status")).to_have_text(re.compile("✗"))
            page.mouse.move(0, 0)
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(200)
            found[name] = page.screenshot()
        page.close()  # before its server goes
    small = {name: _smaller(data) for name, data in found.items()}
    assert sum(map(len, small.values())) < MOST_BYTES
    if folder := os.environ.get("VIEWER_DOCS_SHOTS"):
        for name, data in small.items():
            (ROOT / folder / f"viewer-{name}.png").write_bytes(data)


def _smaller(data: bytes) -> bytes:
    """Take fewer colours: a third of the bytes, and nobody sees it."""
    out = io.BytesIO()
    image = Image.open(io.BytesIO(data)).convert("RGB").quantize(160, dither=Image.Dither.NONE)
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def test_the_documentation_shows_all_screenshots() -> None:
    text = (ROOT / "docs/viewer.md").read_text()
    total = 0
    for name in SHOTS:
        assert f"images/viewer-{name}.png" in text
        total += (ROOT / f"docs/images/viewer-{name}.png").stat().st_size
    assert total < MOST_BYTES
