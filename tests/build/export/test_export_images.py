"""Exports of images: files in class folders that nothing can break out of, and a word about all that is dropped."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

import tfrkit
from tests.build.support.export_samples import write
from tfrkit.build.export import export_folder
from tfrkit.build.export.export_images import export_images
from tfrkit.build.export.export_names import file_name, safe_name
from tfrkit.errors import AlreadyExistsError, InvalidArgumentError, OpError

PNG = tfrkit.image.encode_png(np.arange(12, dtype=np.uint8).reshape(2, 2, 3))
JPEG = b"\xff\xd8\xff\xe0 the rest"


def tree(folder) -> dict[str, bytes]:
    """All files that a user sees, by their path in the folder."""
    paths = [
        Path(place, name) for place, _, names in os.walk(folder) for name in names if ".tfrkit" not in place
    ]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_class_folders_by_name(tmp_path):
    source = write(
        tmp_path / "a.tfrecord",
        {
            "image/encoded": [PNG, JPEG, PNG],
            "image/label": [0, 1, 0],
            "image/text": ["猫", "dog", "猫"],
            "image/filename": ["猫/1.png", "dog/1.jpeg", "3.png"],
            "image/height": [2, 2, 2],
            "box": [1.0, None, 2.0],
        },
    )
    report = export_images(source, tmp_path / "out")
    assert tree(tmp_path / "out") == {
        "猫/1.png": PNG, "dog/1.jpeg": JPEG, "猫/3.png": PNG, "labels.txt": "猫\ndog\n".encode()
    }  # fmt: skip
    assert report.classes == {"dog": 1, "猫": 2}
    assert (report.records, report.images, report.bytes) == (3, 3, 2 * len(PNG) + len(JPEG))
    assert report.dropped == {"records with the feature 'box'": 2}


def test_numbers_of_classes_become_folders_that_sort(tmp_path):
    source = write(tmp_path / "a-00000-of-00002.tfrecord.gz", {"image": [PNG, PNG], "label": [2, 10]})
    report = export_images(source, tmp_path / "out")
    assert sorted(tree(tmp_path / "out")) == [
        "02/a-00000-of-00002-00000000.png",
        "10/a-00000-of-00002-00000001.png",
    ]
    assert report.dropped == {}


def test_label_map_names_numbers(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"image": [PNG, PNG, PNG], "label": [0, 1, 2]})
    (tmp_path / "labels.txt").write_bytes(b"cat\ndog\n")
    report = export_images(source, tmp_path / "out")
    assert report.classes == {"2": 1, "cat": 1, "dog": 1}
    assert report.dropped == {"numbers of classes that the label map does not have": 1}
    (tmp_path / "other.txt").write_bytes(b"x\ny\nz\n")
    assert sorted(export_images(source, tmp_path / "b", label_map=tmp_path / "other.txt").classes) == [
        "x",
        "y",
        "z",
    ]
    (tmp_path / "labels.txt").write_bytes(b"two\n\nlines of something else\n")
    assert export_images(source, tmp_path / "d").classes == {"0": 1, "1": 1, "2": 1}
    (tmp_path / "empty.txt").write_bytes(b"")
    with pytest.raises(
        InvalidArgumentError, match=r"empty.txt, line 1: expected the name of a class but got no name"
    ):
        export_images(source, tmp_path / "c", label_map=tmp_path / "empty.txt")


def test_images_without_classes_are_in_one_folder(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"picture": [PNG, JPEG, b"?"], "n": [1, 2, 3]})
    report = export_images(source, tmp_path / "out", image="picture")
    assert sorted(tree(tmp_path / "out")) == ["a-00000000.png", "a-00000001.jpg", "a-00000002.bin"]
    assert report.classes == {"": 3}
    assert report.dropped == {
        "images of an unknown format, in files called .bin": 1,
        "records with the feature 'n'": 3,
    }


def test_the_only_feature_that_looks_like_images_is_found(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"picture": [PNG], "n": [1], "words": ["some text"]})
    assert export_images(source, tmp_path / "out").images == 1


def test_names_cannot_lead_out_of_the_folder(tmp_path):
    names = [
        "../../up.png",
        "/etc/passwd",
        "..",
        "a\\b\\c.png",
        ".hidden.png",
        "",
        "new\nline.png",
        "x" * 300 + ".png",
    ]
    classes = ["../evil", "/abs", ".", "a/b", "a\\b", "", "..", "n\0l"]
    source = write(tmp_path / "a.tfrecord", {
        "image": [PNG] * 8, "filename": names, "label": classes,
    })  # fmt: skip
    report = export_images(source, tmp_path / "deep" / "out")
    assert sorted(os.listdir(tmp_path)) == ["a.tfrecord", "deep"]
    assert os.listdir(tmp_path / "deep") == ["out"]
    assert sorted(tree(tmp_path / "deep" / "out")) == sorted([
        "_evil/up.png", "_abs/passwd.png", "class/a-00000002.png", "a_b/c.png", "a_b-2/hidden.png",
        "class-2/a-00000005.png", "class-3/new_line.png", "n_l/" + "x" * 200 + ".png",
    ])  # fmt: skip
    assert report.dropped["names of classes that had to be changed"] == 8
    assert report.images == 8


def test_names_that_are_taken_get_numbers(tmp_path):
    source = write(
        tmp_path / "a.tfrecord", {"image": [PNG] * 5, "filename": ["a.png", "a.png", "a-2.png", "a", "a.PNG"]}
    )
    report = export_images(source, tmp_path / "out")
    assert sorted(tree(tmp_path / "out")) == ["a-2-2.png", "a-2.png", "a-3.png", "a.PNG", "a.png"]
    assert report.dropped["names of files that were taken, and got a number"] == 3


def test_pixels_become_png_files(tmp_path):
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    source = write(
        tmp_path / "a.tfrecord",
        {
            "image/encoded": [pixels.tobytes(), pixels.tobytes(), b"not so many"],
            "image/height": [2] * 3,
            "image/width": [4] * 3,
            "image/channels": [3] * 3,
            "image/colorspace": ["RGB", "BGR", "RGB"],
        },
    )
    report = export_images(source, tmp_path / "out")
    files = tree(tmp_path / "out")
    np.testing.assert_array_equal(tfrkit.image.decode_png(files["a-00000000.png"]), pixels)
    np.testing.assert_array_equal(tfrkit.image.decode_png(files["a-00000001.png"]), pixels[..., ::-1])
    assert report.dropped["images that were pixels, and are PNG files now"] == 2
    assert files["a-00000002.bin"] == b"not so many"


def test_records_without_image_or_class(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"image": [PNG, None, [PNG, JPEG], []], "label": [None, 1, 1, 1]})
    report = export_images(source, tmp_path / "out")
    assert sorted(tree(tmp_path / "out")) == [
        "1/a-00000002.jpg",
        "1/a-00000002.png",
        "unlabelled/a-00000000.png",
    ]
    assert report.dropped == {
        "records without a class, in the folder 'unlabelled'": 1,
        "records without an image, which are left out": 2,
    }


def test_label_map_is_written_only_if_it_says_the_same(tmp_path):
    for number, labels in enumerate(([0, 2], [0, 0])):
        source = write(tmp_path / f"{number}.tfrecord", {
            "image": [PNG, PNG], "image/label": labels, "image/text": ["a", "b"]
        })  # fmt: skip
        export_images(source, tmp_path / f"out{number}")
        assert not (tmp_path / f"out{number}" / "labels.txt").exists()


def test_only_folders_of_exports_are_overwritten(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"image": [PNG], "label": [1]})
    out = tmp_path / "out"
    out.mkdir()
    export_images(source, out)  # an empty folder is none
    with pytest.raises(AlreadyExistsError, match="or pass overwrite=True"):
        export_images(source, out)
    (out / "1" / "stale.png").write_bytes(PNG)
    export_images(source, out, overwrite=True)
    assert sorted(tree(out)) == ["1/a-00000000.png"]
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(
        AlreadyExistsError, match="It is not the folder of an export, so it is never replaced"
    ):
        export_images(source, mine, overwrite=True)
    assert os.listdir(mine) == ["thesis.txt"]
    assert sorted(os.listdir(tmp_path)) == ["a.tfrecord", "mine", "out"]


@pytest.mark.parametrize(
    "names",
    [
        ["labels.txt"],
        ["LABELS.txt", "labels.txt"],
        ["manifest.json", "report.json"],
        [".tfrkit", "tfrkit"],
        ["__MACOSX", "Thumbs.db", "desktop.ini"],
        ["unlabelled"],
        ["caf\u00e9", "cafe\u0301", "CAF\u00c9"],
        ["a/b", "a_b", "a\\b", "a_b-2"],
        ["..", ".", "", "class", "class-2"],
        ["x" * 300, "x" * 301],
    ],
    ids=lambda names: ascii(names[0])[:12],
)
def test_every_class_has_a_folder_that_is_read_again(tmp_path, names):
    columns = {
        "image": [PNG] * (len(names) + 1),
        "label": [*range(len(names)), None],
        "image/text": [*names, None],
    }
    source = write(tmp_path / "a.tfrecord", columns)
    report = export_images(source, tmp_path / "out")
    assert len({name.casefold() for name in report.classes}) == len(report.classes) == len(names) + 1
    assert sum(len(files) for _, _, files in os.walk(tmp_path / "out")) >= len(names) + 2
    assert (
        tfrkit.build.images(tmp_path / "out", tmp_path / "again", duplicates="keep").records == len(names) + 1
    )


def test_failed_rename_leaves_the_old_export(tmp_path, monkeypatch):
    old = write(tmp_path / "a.tfrecord", {"image": [PNG], "label": [1]})
    new = write(tmp_path / "b.tfrecord", {"image": [PNG], "label": [2]})
    out = tmp_path / "out"
    export_images(old, out)
    rename = os.rename

    def failing(source, target):
        if str(target) == str(out) and not str(source).endswith(".old"):
            raise OSError(errno.EIO, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(export_folder, "exchange", lambda _one, _other: False)
    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(OpError, match="Input/output error"):
        export_images(new, out, overwrite=True)
    assert sorted(tree(out)) == ["1/a-00000000.png"]
    monkeypatch.setattr(os, "rename", rename)
    export_images(new, out, overwrite=True)
    assert sorted(tree(out)) == ["2/b-00000000.png"]
    assert sorted(os.listdir(tmp_path)) == ["a.tfrecord", "b.tfrecord", "out"]


def test_full_disk_leaves_nothing(tmp_path, monkeypatch):
    source = write(tmp_path / "a.tfrecord", {"image": [PNG], "label": [1]})

    def full(*_args, **_options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(export_folder, "open", full, raising=False)
    with pytest.raises(OSError, match="No space left on device"):
        export_images(source, tmp_path / "out")
    assert os.listdir(tmp_path) == ["a.tfrecord"]


def test_interruption_leaves_nothing(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"image": [PNG] * 10, "label": [1] * 10})

    def interrupt(now):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_images(source, tmp_path / "out", progress=interrupt)
    assert os.listdir(tmp_path) == ["a.tfrecord"]


def test_features_that_are_named_must_be_there(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"a": ["text"], "n": [1]})
    with pytest.raises(
        InvalidArgumentError, match=r"found none among the features: 'a', 'n'\. Name it with image="
    ):
        export_images(source, tmp_path / "out")
    with pytest.raises(
        InvalidArgumentError,
        match=r"expected a feature 'b' of kind bytes but no record has it. There are 'a'",
    ):
        export_images(source, tmp_path / "out", image="b")
    with pytest.raises(InvalidArgumentError, match="expected a feature 'n' of kind bytes but it is int64"):
        export_images(source, tmp_path / "out", image="n")
    assert os.listdir(tmp_path) == ["a.tfrecord"]


def test_long_names_are_cut_between_characters():
    assert safe_name("中" * 100) == "中" * 66
    raw = os.fsdecode(b"\xff" * 300)
    assert len(os.fsencode(safe_name(raw))) == 200
    assert file_name("x/" + "中" * 100 + ".jpg", (".jpg",)) == ("中" * 66, ".jpg")
