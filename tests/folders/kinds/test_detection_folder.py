"""Records of the Object Detection API, written by the keys of its TfExampleDecoder."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr

LABEL_MAP = """
item {
  name: "/m/01g317"
  id: 1
  display_name: "person"
}
item: { id: 3, name: 'dog' }  # and no 2
"""


def example(number, *, boxes, **more):
    picture = np.full((4, 5 + number % 2, 3), number, np.uint8)
    sides = {f"image/object/bbox/{side}": [0.25] * boxes for side in ("xmin", "ymin", "xmax", "ymax")}
    return {
        "image/encoded": tfr.image.encode_png(picture), "image/format": "png", "image/height": 4,
        "image/width": picture.shape[1], **sides, "image/object/class/label": [3] * boxes,
        "image/object/class/text": ["dog"] * boxes, "image/object/is_crowd": [0] * boxes, **more,
    }  # fmt: skip


def write(path, examples):
    with tfr.TFRecordWriter(str(path)) as writer:
        for each in examples:
            writer.write_example({key: value for key, value in each.items() if value != []})


@pytest.fixture
def folder(tmp_path):
    for shard in range(2):
        write(
            tmp_path / f"train.record-{shard:05d}-of-00002",
            [example(2 * shard, boxes=1), example(1, boxes=shard)],
        )
    write(tmp_path / "val.record", [example(7, boxes=1)])
    (tmp_path / "label_map.pbtxt").write_text(LABEL_MAP)
    return tmp_path


def test_splits_features_and_classes_are_found(folder):
    found = tfr.open_folder(folder)
    assert found.kind == "object_detection"
    assert {name: len(split.shards) for name, split in found.splits.items()} == {"train": 2, "val": 1}
    assert found.class_names == {"image/object/class/label": ("background", "person", "category_2", "dog")}
    lines = str(found).split("\n")
    assert "  image/encoded: Image(uint8, shape=(?, ?, 3))" in lines
    assert "  image/object/bbox/ymin: Tensor(float32, shape=(?,))" in lines
    assert "  image/height: Tensor(int64)" in lines


def test_values_are_decoded_with_any_number_of_boxes(folder):
    ds = tfr.load(folder, "train")
    assert [len(each["image/object/bbox/xmin"]) for each in ds] == [1, 0, 1, 1]
    example = ds[2]
    assert example["image/encoded"].tolist() == np.full((4, 5, 3), 2).tolist()
    assert example["image/object/class/label"].tolist() == [3]
    assert example["image/object/class/text"].tolist() == [b"dog"]
    assert (example["image/width"], example["image/format"]) == (5, b"png")


def test_batches_of_undecoded_images_pad_the_boxes(folder):
    batch = next(iter(tfr.load(folder, "train", decode=False).batch(4)))
    assert batch["image/object/class/label"].tolist() == [[3], [0], [3], [3]]
    assert len(batch["image/encoded"]) == 4


def test_one_box_in_every_image_that_was_looked_at_is_still_any_number(tmp_path):
    write(tmp_path / "a.tfrecord", [example(0, boxes=1)])
    (tmp_path / "coco_label_map.pbtxt").write_text(LABEL_MAP)
    assert tfr.load(tmp_path, "a")[0]["image/object/is_crowd"].shape == (1,)


def test_without_any_box_boxes_are_empty(tmp_path):
    write(tmp_path / "a.tfrecord", [example(0, boxes=0)])
    (tmp_path / "labelmap.pbtxt").write_text(LABEL_MAP)
    found = tfr.load(tmp_path, "a")[0]
    assert (found["image/object/bbox/ymax"].shape, found["image/object/class/label"].dtype) == (
        (0,),
        np.int64,
    )


def test_shards_without_a_suffix_are_found_beside_a_label_map(folder):
    for shard in range(2):
        (folder / f"train.record-{shard:05d}-of-00002").rename(folder / f"big-{shard:05d}-of-00002")
    assert sorted(tfr.open_folder(folder).splits) == ["big", "val"]


def test_missing_shards_are_named(folder):
    (folder / "train.record-00000-of-00002").unlink()
    with pytest.raises(
        tfr.errors.NotFoundError, match=r"1 shards .* missing: 'train\.record-00000-of-00002'"
    ):
        tfr.open_folder(folder)


def test_a_record_without_an_image_is_named(folder):
    write(folder / "val.record", [example(7, boxes=1), {"image/height": 3, "image/width": 4}])
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"image/encoded .*is required but could not be found"
    ):
        list(tfr.load(folder, "val"))


def test_texts_that_some_records_lack_are_empty(folder):
    write(folder / "val.record", [example(7, boxes=1), example(8, boxes=1, **{"image/format": []})])
    assert [each["image/format"] for each in tfr.load(folder, "val")] == [b"png", b""]


def test_several_label_maps_are_refused(folder):
    (folder / "other_label_map.pbtxt").write_text(LABEL_MAP)
    assert tfr.open_folder(folder).kind == "object_detection"  # by the one of the usual name
    (folder / "label_map.pbtxt").rename(folder / "my_label_map.pbtxt")
    with pytest.raises(
        tfr.errors.FailedPreconditionError,
        match=r"several label maps: 'my_label_map\.pbtxt', 'other_label_map\.pbtxt'",
    ):
        tfr.open_folder(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a label map"), ("nonsense", "expected protobuf's text format"),
        ("item { name: 'a' }", "but got none"), ("item {" * 200, "more than 100"),
        ("item { id: -1 }", "id: expected a number from 0"), ("item { id: 999999999 }", "id: expected a number from 0"),
        ("item { id: one }", "id: expected an integer"), ("item: 3", "item: expected {"),
    ],
)  # fmt: skip
def test_damaged_label_maps_are_refused(folder, text, message):
    (folder / "label_map.pbtxt").write_text(text)
    with pytest.raises(tfr.errors.DataLossError) as caught:
        tfr.open_folder(folder)
    assert message in str(caught.value)


def test_records_of_something_else_come_as_they_are(tmp_path):
    with tfr.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        writer.write(b"\xff\xff no example")
    (tmp_path / "label_map.pbtxt").write_text(LABEL_MAP)
    assert list(tfr.load(tmp_path, "a")) == [b"\xff\xff no example"]


def test_a_manifest_does_not_hide_the_label_map(tmp_path):
    with tfr.ShardWriter(tmp_path / "train", shards=2) as writer:
        for number in range(4):
            writer.write_example(example(number, boxes=1))
    assert tfr.open_folder(tmp_path).kind == "tfrkit"
    (tmp_path / "label_map.pbtxt").write_text(LABEL_MAP)
    found = tfr.open_folder(tmp_path)
    assert (found.kind, list(found.splits)) == ("object_detection", ["train"])
    assert tfr.load(tmp_path, "train")[1]["image/encoded"].shape == (4, 5, 3)


def test_what_is_opened_is_written_for_tensorflow_datasets(folder, tmp_path):
    found = tfr.write_tfds(tmp_path / "pets/1.0.0", tfr.open_folder(folder))
    assert found.class_names["image/object/class/label"] == ("background", "person", "category_2", "dog")
    for split in ("train", "val"):
        for before, after in zip(tfr.load(folder, split), tfr.load(found.path, split), strict=True):
            assert {key: np.asarray(value).tolist() for key, value in before.items()} == {
                key: np.asarray(value).tolist() for key, value in after.items()
            }


def test_numbers_under_keys_of_texts_stay_numbers(folder):
    write(folder / "train.record-00000-of-00002", [example(0, boxes=1, **{"image/source_id": 7})])
    write(folder / "train.record-00001-of-00002", [example(0, boxes=1, **{"image/source_id": 8})])
    write(folder / "val.record", [example(0, boxes=1, **{"image/source_id": 9})])
    assert [int(each["image/source_id"]) for each in tfr.load(folder, "train")] == [7, 8]
