"""Images that are there twice: reported, left out, fatal, or not looked for."""

from __future__ import annotations

import pytest

from tests.build.support.image_samples import labels, picture, tarred, write_files, zipped
from tfrkit.build.images.build_images import images
from tfrkit.build.images.sources import image_objects
from tfrkit.errors import InvalidArgumentError

SAME = picture(1)
LIKE = (
    SAME[:-200] + bytes([SAME[-200] ^ 1]) + SAME[-199:]
)  # the same size, and the same bytes where marks are taken
FILES = {"a/1.jpg": SAME, "a/2.jpg": SAME, "a/3.jpg": LIKE, "b/1.jpg": SAME, "b/2.jpg": picture(2)}
SOURCES = ["folder", "zip", "tar", "tar.gz"]


def make(tmp_path, kind):
    if kind == "folder":
        return write_files(tmp_path / "photos", FILES)
    if kind == "zip":
        return zipped(tmp_path / "photos.zip", FILES)
    return tarred(tmp_path / f"photos.{kind}", FILES, "w:gz" if kind == "tar.gz" else "w")


@pytest.mark.parametrize("kind", SOURCES)
def test_duplicates_are_kept_and_noted(tmp_path, kind):
    source = make(tmp_path, kind)
    report = images(source, tmp_path / "out", on_bad="raise")
    assert report.records == 5
    assert report.noted == {"duplicate": 2}
    assert [(bad.source, bad.detail) for bad in report.noted_listed] == [
        (f"{source.name}/a/2.jpg", "same as a/1.jpg"),
        (f"{source.name}/b/1.jpg", "same as a/1.jpg"),
    ]


@pytest.mark.parametrize("kind", SOURCES)
def test_duplicates_are_left_out(tmp_path, kind):
    report = images(make(tmp_path, kind), tmp_path / "out", duplicates="skip")
    assert report.bad == {"duplicate": 2}
    assert set(labels(tmp_path / "out")) == {"a/1.jpg", "a/3.jpg", "b/2.jpg"}


def test_duplicates_are_fatal(tmp_path):
    source = make(tmp_path, "folder")
    with pytest.raises(InvalidArgumentError, match=r"a/2\.jpg: same as a/1\.jpg; there are 2 such images"):
        images(source, tmp_path / "out", duplicates="raise")
    with pytest.raises(InvalidArgumentError, match=r"photos/a/2\.jpg: duplicate: same as a/1\.jpg"):
        images(source, tmp_path / "out", duplicates="skip", on_bad="raise")


def test_files_of_different_sizes_are_not_opened_to_look_for_duplicates(tmp_path, monkeypatch):
    source = write_files(
        tmp_path / "photos", {f"a/{number}.jpg": picture(1) + bytes(number) for number in range(5)}
    )
    marked = []
    monkeypatch.setattr(image_objects.ImageFileReader, "samples", lambda _, items: marked.append(items))
    assert images(source, tmp_path / "out").noted == {}
    assert marked == []


def test_duplicates_are_not_looked_for(tmp_path):
    report = images(make(tmp_path, "folder"), tmp_path / "out", duplicates="keep")
    assert (report.records, report.noted) == (5, {})
