"""The static page: everything escaped, nothing loaded, nothing run."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

import tfrkit as tfr
from tfrkit.viewer.export_html import ExportCell, ExportPage, ExportRecord, page_html
from tfrkit.viewer.feature_json import feature_json

HOSTILE = "</style><script>alert(1)</script><img src=x onerror='alert(2)'>\"'&\x00\u202e\ud800"
CSS = "body { color: red; }"


def page(**changes):
    fields = {
        "title": "a.tfrecord",
        "version": "1.0",
        "records": 3,
        "files": [("a.tfrecord", 100, 3)],
        "more_files": 0,
        "counted": 3,
        "features": [],
        "more_features": 0,
        "shown": [],
    }
    return ExportPage(**fields | changes)


class Elements(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, data):
        super().__init__()
        self.elements, self.words = [], []
        self.feed(data.decode())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(self.words)


def features_of(tmp_path, *examples):
    path = str(tmp_path / "a.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        for example in examples:
            writer.write_example(example)
    found = tfr.stats(path)
    return [feature_json(each, False, found.records) for each in found.features.values()]


def test_hostile_texts_are_only_text(tmp_path):
    name = HOSTILE.replace("\ud800", "")
    cell = ExportCell(HOSTILE, "bytes", HOSTILE, b"\xff\xd8", HOSTILE)
    shown = page(
        title=HOSTILE,
        files=[(HOSTILE, 1, None)],
        where=HOSTILE,
        features=features_of(tmp_path, {name: name.encode()}, {name: b"other"}),
        shown=[ExportRecord(0, HOSTILE, 0, (cell,), HOSTILE)],
    )
    found = Elements(page_html(shown, CSS))
    tags = {tag for tag, _ in found.elements}
    assert "script" not in tags
    assert [attributes["src"][:23] for tag, attributes in found.elements if tag == "img"] == [
        "data:image/jpeg;base64,"
    ] * 2
    assert not [each for _, attributes in found.elements for each in attributes if each.startswith("on")]
    assert found.text.count("<script>alert(1)</script>") >= 8
    assert "\x00" not in found.text
    assert "\u202e" not in found.text
    assert "\\u202e\\ud800" in found.text


def test_policy_allows_its_own_style_and_nothing_else():
    data = page_html(page(), CSS).decode()
    policy = re.search('content="(default-src[^"]*)"', data)[1]
    digest = base64.b64encode(hashlib.sha256(CSS.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert f"<style>{CSS}</style>" in data
    assert data.index("Content-Security-Policy") < data.index("<title>")
    assert 'style="' not in data


def test_nothing_is_loaded_from_elsewhere(tmp_path):
    cell = ExportCell("image", "bytes", "3 bytes", b"\xff\xd8\xff")
    shown = page(shown=[ExportRecord(7, "a.tfrecord", 7, (cell,))])
    for _, attributes in Elements(page_html(shown, CSS)).elements:
        for name in ("src", "href", "action", "srcset", "data"):
            assert attributes.get(name, "#").startswith(("#", "data:image/jpeg;base64,"))


def test_features_have_their_numbers_and_charts(tmp_path):
    features = features_of(tmp_path, {"n": 1, "t": b"x"}, {"n": 5, "t": b"y"}, {"n": 5, "t": b"y"})
    found = Elements(page_html(page(features=features, counted=2, more_features=4), CSS))
    assert "1 to 5, mean 3.6667" in found.text
    assert "int64; in 100 % of the records, 1 value" in found.text
    assert "Counted in 2 records." in found.text
    assert "and 4 more" in found.text
    assert [attributes["aria-label"] for tag, attributes in found.elements if tag == "svg"] == [
        "histogram of 3 values"
    ]


@pytest.mark.parametrize(
    ("count", "files", "text"), [(None, 1, "records in 1 file"), (3, 2, "3 records in 2 files")]
)
def test_summary_says_how_much_there_is(count, files, text):
    shown = page(records=count, files=[("a", 1, None)] * files)
    assert text in Elements(page_html(shown, CSS)).text
