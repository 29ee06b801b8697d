"""Label maps: written, read again, and refused."""

from __future__ import annotations

import pytest

from tests.build.support.image_samples import labels, photos, write_files
from tfrkit.build.images.build_images import images
from tfrkit.build.images.label_map import read_label_map
from tfrkit.errors import InvalidArgumentError, NotFoundError


def test_labels_are_the_names_in_the_order_of_code_points(tmp_path):
    names = ["b", "B", "a10", "a9", "é", "猫", "_"]
    images(write_files(tmp_path / "photos", photos(dict.fromkeys(names, 1))), tmp_path / "out")
    assert read_label_map(str(tmp_path / "out" / "labels.txt")) == tuple(
        name.encode() for name in sorted(names)
    )


def test_a_label_map_is_used_again(tmp_path):
    images(write_files(tmp_path / "first", photos({"cat": 1, "dog": 1, "fox": 1})), tmp_path / "out")
    source = write_files(tmp_path / "second", photos({"fox": 1, "cat": 1, "owl": 2}))
    report = images(source, tmp_path / "again", label_map=tmp_path / "out" / "labels.txt")
    assert labels(tmp_path / "again") == {"cat/0.jpg": 0, "fox/0.jpg": 2}
    assert (tmp_path / "again" / "labels.txt").read_text() == "cat\ndog\nfox\n"
    assert report.bad == {"class is not in the label map": 2}
    assert report.listed[0].detail == "owl"
    with pytest.raises(InvalidArgumentError, match=r"second/owl/0\.jpg: class is not in the label map: owl"):
        images(source, tmp_path / "third", label_map=tmp_path / "out" / "labels.txt", on_bad="raise")


def test_windows_line_ends_and_a_byte_order_mark(tmp_path):
    (tmp_path / "labels.txt").write_bytes(b"\xef\xbb\xbfcat\r\ndog")
    assert read_label_map(str(tmp_path / "labels.txt")) == (b"cat", b"dog")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: expected the name of a class but got no name"),
        (b"cat\n\ndog\n", "line 2: expected the name of a class but got no name"),
        (b"cat\ndog\ncat\n", "line 3: expected the name of a class but got 'cat' a second time"),
    ],
)
def test_wrong_label_maps(tmp_path, content, message):
    (tmp_path / "labels.txt").write_bytes(content)
    with pytest.raises(InvalidArgumentError) as caught:
        read_label_map(str(tmp_path / "labels.txt"))
    assert message in str(caught.value)


def test_missing_label_map(tmp_path):
    with pytest.raises(NotFoundError, match="Expected a label map: a class name on each line"):
        read_label_map(str(tmp_path / "labels.txt"))
