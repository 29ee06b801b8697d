"""Names of features: four sets, and changes to them."""

from __future__ import annotations

import pytest

from tests.build.support.image_samples import examples, photos, write_files
from tfrkit.build.images.build_images import images
from tfrkit.build.images.image_features import feature_names
from tfrkit.errors import InvalidArgumentError

SETS = {
    "plain": {"image", "label"},
    "tfds": {"image", "label", "image/filename"},
    "slim": {"image/encoded", "image/format", "image/height", "image/width", "image/channels", "image/filename",
             "image/class/label", "image/class/text"},
}  # fmt: skip


@pytest.mark.parametrize("names", SETS)
def test_sets_of_names(tmp_path, names):
    images(write_files(tmp_path / "photos", photos({"cat": 1})), tmp_path / "out", names=names)
    assert set(examples(tmp_path / "out")[0]) == SETS[names]


def test_renamed_added_and_left_out(tmp_path):
    rename = {"label": "y", "image/height": "h", "image": "x", "image/filename": "file"}
    images(
        write_files(tmp_path / "photos", photos({"cat": 1})), tmp_path / "out", names="plain", rename=rename
    )
    assert set(examples(tmp_path / "out")[0]) == {"x", "y", "h", "file"}
    assert "image/text" not in feature_names("full", {"image/text": ""})


def test_raw_pixels_always_have_their_size():
    sizes = {"image/height": "height", "image/width": "width", "image/channels": "channels"}
    assert feature_names("plain", {}, raw=True) == {"image/encoded": "image", "image/label": "label"} | sizes
    assert feature_names("full", {}, raw=True)["image/colorspace"] == "image/colorspace"


@pytest.mark.parametrize(
    ("rename", "message"),
    [
        (
            {"width": "w"},
            "name 'width': there is no such feature to rename. Did you mean 'image/width'?",
        ),
        ({"image": "label"}, "name 'label': more than one feature would have this name"),
        ({"image": ""}, "the feature of the image itself cannot be left out"),
    ],
)
def test_wrong_names(rename, message):
    with pytest.raises(InvalidArgumentError) as caught:
        feature_names("plain", rename)
    assert message in str(caught.value)


def test_further_column_with_the_name_of_a_feature():
    with pytest.raises(
        InvalidArgumentError, match="name 'image': more than one feature would have this name"
    ):
        feature_names("plain", {}, ["image"])


def test_unknown_set():
    with pytest.raises(InvalidArgumentError, match="names='full2': expected one of full, plain, tfds, slim"):
        feature_names("full2", {})
