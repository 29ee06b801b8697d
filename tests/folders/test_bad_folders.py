"""What is wrong with a folder is said with its file, its feature and its record, and what to do."""

from __future__ import annotations

import json
import os
import tracemalloc
import zlib

import numpy as np
import pytest

import tfrkit as tfr
from tests.folders.support.made_folders import CLASS, IMAGE, LABEL, TEXT, digits, features, tensor, write_tfds

M = 2**63 - 1
SHARD = "digits-train.tfrecord-00001-of-00002"


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "digits")


def error_of(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_missing_shards_are_named(path):
    write_tfds(path, digits(10))
    os.remove(f"{path}/{SHARD}")
    text = error_of(tfr.errors.NotFoundError, lambda: tfr.open_folder(path))
    assert f"1 shards of the split 'train' are missing: '{SHARD}'" in text
    assert "dataset_info.json says that there are 2" in text


def test_other_counts_than_the_info_says_are_an_error_both_ways(path):
    split = {"name": "train", "shardLengths": ["5", "9"]}
    write_tfds(path, digits(10), info={"splits": [split]})
    ds = tfr.load(path, "train")
    assert len(ds) == 14
    text = f"expected 9 records in '{path}/{SHARD}', as the description of the data set says, but it has 5"
    assert text in error_of(tfr.errors.DataLossError, lambda: list(ds))
    assert text in error_of(tfr.errors.DataLossError, lambda: ds[0])


def test_more_records_than_the_info_says_are_an_error(path):
    split = {"name": "train", "shardLengths": ["5", "3"]}
    write_tfds(path, digits(10), info={"splits": [split]})
    assert "but it has more" in error_of(tfr.errors.DataLossError, lambda: list(tfr.load(path, "train")))


def test_a_broken_image_is_named_with_its_record(path):
    examples = digits(10)
    examples[5]["image"] = b"no image"
    ds = tfr.load(write_tfds(path, examples), "train")
    for call in (lambda: list(ds), lambda: ds.at(range(10)), lambda: list(ds.batch(4)), lambda: ds[7]):
        text = error_of(tfr.errors.InvalidArgumentError, call)
        assert "feature 'image': its image cannot be decoded: " in text
        assert "in record 2 " in text
        assert SHARD in text


def test_an_image_of_another_size_is_refused(path):
    examples = digits(3)
    examples[1]["image"] = tfr.image.encode_png(np.zeros((5, 4, 1), np.uint8))
    text = error_of(
        tfr.errors.InvalidArgumentError, lambda: list(tfr.load(write_tfds(path, examples), "train"))
    )
    assert "expected the shape (4, 4, 1) but got (5, 4, 1)" in text


def test_a_feature_that_some_records_lack_is_named(path):
    examples = digits(10)
    del examples[4]["label"]
    text = error_of(
        tfr.errors.InvalidArgumentError, lambda: list(tfr.load(write_tfds(path, examples), "train"))
    )
    assert "Feature: label (data type: int64) is required but could not be found" in text


def test_lengths_that_do_not_fit_their_values_are_refused(path):
    sequence = {
        "pythonClassName": f"{CLASS}sequence_feature.Sequence",
        "sequence": {"feature": tensor("int32"), "length": "-1"},
    }
    nested = {
        "pythonClassName": f"{CLASS}sequence_feature.Sequence",
        "sequence": {"feature": sequence, "length": "-1"},
    }
    good = {"x/ragged_flat_values": [1, 2, 3], "x/ragged_row_lengths_0": [2, 1]}
    for bad, text in (
        ([2, 2], "lengths of sequences say 4 values but there are 3"),
        ([4, -1], "is negative: -1"),
        ([1, 1 << 62], f"the length of a sequence is {1 << 62} but there are 3 values"),
        ([9, M, 2**64 - 6 - M], "the length of a sequence is 9 but there are 3 values"),  # sums wrap round
        ([M, M, 5], f"the length of a sequence is {M} but there are 3 values"),
    ):
        examples = [good, {**good, "x/ragged_row_lengths_0": bad}]
        ds = tfr.load(write_tfds(path, examples, features(x=nested), labels=()), "train")
        assert text in error_of(tfr.errors.InvalidArgumentError, lambda ds=ds: list(ds))
        assert ds[0]["x"].to_list() == [[1, 2], [3]]


def test_bytes_that_do_not_fit_their_shape_are_refused(path):
    described = features(x=tensor("int16", 2, 2, encoding="bytes"))
    examples = [{"x": b"\1\0" * 4}, {"x": b"\1\0" * 3}]
    text = error_of(
        tfr.errors.InvalidArgumentError,
        lambda: list(tfr.load(write_tfds(path, examples, described, labels=()), "train")),
    )
    assert "feature 'x': its value has 6 bytes, expected 8 for the shape (2, 2)" in text


def test_damaged_zlib_is_refused(path):
    described = features(x=tensor("int16", 2, encoding="zlib"))
    examples = [{"x": b"nothing"}]
    text = error_of(
        tfr.errors.InvalidArgumentError,
        lambda: list(tfr.load(write_tfds(path, examples, described, labels=(), shards=1), "train")),
    )
    assert "feature 'x': its value cannot be decompressed" in text


def test_a_small_value_that_inflates_to_much_is_refused(path):
    described = features(x=tensor("float32", 3, encoding="zlib"), y=tensor("int8", -1, encoding="zlib"))
    good, large = np.arange(3, dtype="f4").tobytes(), zlib.compress(bytes(64 << 20))
    examples = [{"x": zlib.compress(good), "y": zlib.compress(bytes(5000))}, {"x": large, "y": b""}]
    ds = tfr.load(write_tfds(path, examples, described, labels=(), shards=1), "train")
    assert ds[0]["x"].tolist() == [0, 1, 2]
    assert ds[0]["y"].shape == (5000,)
    tracemalloc.start()
    text = error_of(tfr.errors.InvalidArgumentError, lambda: ds[1])
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()
    assert "feature 'x': its value has more than the 12 bytes of the shape (3,)" in text


def test_optional_values_of_a_huge_shape_are_refused(path):
    for sizes in ((1 << 25,), (1 << 11, 1 << 12)):
        described = features(x=tensor("float32", *sizes, optional=True))
        write_tfds(path, [{}], described, labels=(), shards=1)
        text = error_of(tfr.errors.UnimplementedError, lambda: tfr.load(path, "train"))
        assert "feature 'x' is optional and has the shape (" in text
        assert "4,194,304 values at most" in text
    described = features(**{name: tensor("float32", 1 << 21, optional=True) for name in "abc"})
    write_tfds(path, [{}], described, labels=(), shards=1)
    text = error_of(tfr.errors.UnimplementedError, lambda: tfr.load(path, "train"))
    assert "the optional features have 6,291,456 values in all" in text


def test_optional_values_of_any_type_have_their_shape(path):
    kinds = {"float32": np.finfo("f4").min, "int8": -128, "string": b"", "bool": False}
    described = features(**{name: tensor(name, 2, 3, optional=True) for name in kinds})
    found = tfr.load(write_tfds(path, [{}], described, labels=(), shards=1), "train")[0]
    for name, low in kinds.items():
        assert found[name].tolist() == [[low] * 3] * 2


def image_of(*sizes):
    return {**IMAGE, "image": {**IMAGE["image"], "shape": {"dimensions": [str(size) for size in sizes]}}}


def test_images_of_a_size_that_none_has_are_refused(path):
    large = features(image=image_of(40_000, 40_000, 1), label=LABEL)
    ds = tfr.load(write_tfds(path, digits(3), large), "train")
    text = "expected the shape (40000, 40000, 1) but got (4, 4, 1)"
    assert text in error_of(tfr.errors.InvalidArgumentError, lambda: ds.at([0, 1]))


def test_images_of_size_zero_have_any_size(path):
    ds = tfr.load(write_tfds(path, digits(3), features(image=image_of(0, 0, 1), label=LABEL)), "train")
    assert ds[0]["image"].shape == (4, 4, 1)


def test_shapes_that_no_array_has_are_refused(path):
    for feature in (image_of(1 << 40, 1 << 40, 3), tensor("int8", -1, 1 << 32), tensor("int8", 0, 1 << 32)):
        write_tfds(path, digits(2), features(image=feature, label=LABEL))
        text = error_of(tfr.errors.DataLossError, lambda: tfr.open_folder(path))
        assert "expected at most 2,147,483,648 values but got" in text


def test_unknown_classes_give_values_as_they_are_stored(path):
    described = features(
        label=LABEL,
        gone={"pythonClassName": "my.features.Gone", "jsonFeature": {"json": json.dumps({"a": 1})}},
        newer={"pythonClassName": f"{CLASS}new.Mesh", "mesh": {"points": "3"}},
    )
    examples = [{"label": 1, "gone": [1.5, 2.5], "newer": b"raw"}, {"label": 2, "gone": [0.5], "newer": b"x"}]
    write_tfds(path, examples, described)
    with pytest.warns(UserWarning, match=r"classes that are not known: 'gone' \(Gone\), 'newer' \(Mesh\)"):
        ds = tfr.load(path, "train")
    assert ds[0]["gone"].tolist() == [1.5, 2.5]
    assert ds[1]["newer"] == b"x"


def test_an_unknown_encoding_is_refused(path):
    write_tfds(path, [{"x": b""}], features(x=tensor("int16", 2, encoding="lzma")), labels=())
    text = error_of(tfr.errors.DataLossError, lambda: tfr.open_folder(path))
    assert "expected one of ('none', 'bytes', 'zlib') but got 'lzma'. Use a newer tfrkit" in text


def test_deprecated_text_encoders_are_refused(path):
    old = {"type": f"{CLASS}text_feature.Text", "content": {"use_encoder": True}}
    write_tfds(path, [{"x": [1]}], features(x=old), labels=())
    assert "deprecated encoder" in error_of(tfr.errors.UnimplementedError, lambda: tfr.open_folder(path))


def test_two_unknown_sizes_of_a_list_are_refused(path):
    write_tfds(path, [{"x": [1]}], features(x=tensor("int16", -1, -1)), labels=())
    text = error_of(tfr.errors.UnimplementedError, lambda: tfr.load(path, "train"))
    assert "feature 'x' has the shape (?, ?)" in text


def test_other_file_formats_are_named(path):
    write_tfds(path, digits(2), info={"fileFormat": "array_record"})
    for name in os.listdir(path):
        if "tfrecord" in name:
            os.rename(f"{path}/{name}", f"{path}/{name.replace('tfrecord', 'array_record')}")
    text = error_of(tfr.errors.UnimplementedError, lambda: tfr.open_folder(path))
    assert "its records are array_record files" in text
    assert "convert_format" in text


@pytest.mark.parametrize("template", ["../{SPLIT}", "/etc/passwd", "{SPLIT}/../../x", "a\\b", "{WHAT}"])
def test_names_of_shards_never_lead_out_of_the_folder(path, template):
    split = {"name": "train", "shardLengths": ["1"], "filepathTemplate": template}
    write_tfds(path, digits(2), info={"splits": [split]})
    assert "filepathTemplate" in error_of(tfr.errors.DataLossError, lambda: tfr.open_folder(path))


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b'{"featuresDict": 7}', b'{"featuresDict": {"features": {"x": 3}}}',
     b'{"tensor": {"dtype": "int7"}}', b'{"tensor": {"dtype": "int8", "shape": {"dimensions": ["x"]}}}',
     b'{"sequence": {"length": "2"}}', b'{"type": "Tensor", "content": "{"}',
     b'{"image": {"shape": {"dimensions": ["3"]}}}',
     b'{"featuresDict": {"features": {"x": {"x": 1}, "x": {"y": 2}}}}', b"\xff\xfe", b"[" * 5000],
)  # fmt: skip
def test_damaged_descriptions_are_refused(path, content):
    write_tfds(path, digits(2))
    with open(f"{path}/features.json", "wb") as file:
        file.write(content)
    text = error_of(tfr.errors.DataLossError, lambda: tfr.open_folder(path))
    assert text.startswith(f"{path}/features.json; ")


def test_a_folder_of_no_kind_is_refused(tmp_path):
    with pytest.raises(tfr.errors.NotFoundError, match=r"No such folder\. Check the path"):
        tfr.open_folder(tmp_path / "nothing")
    with pytest.raises(
        tfr.errors.NotFoundError, match=r"it is not a data set of a kind that is known.*it is empty"
    ):
        tfr.open_folder(tmp_path)
    (tmp_path / "1.0.0").mkdir()
    with pytest.raises(
        tfr.errors.NotFoundError, match=r"it holds '1\.0\.0'\. Name the folder that has dataset_info\.json"
    ):
        tfr.open_folder(tmp_path)


def test_a_data_set_without_splits_is_refused(path):
    write_tfds(path, digits(2), info={"splits": []})
    assert "it names no splits" in error_of(tfr.errors.NotFoundError, lambda: tfr.open_folder(path))


def test_features_are_of_the_file(path):
    write_tfds(path, [{"image": b"", "label": 1, "text": "x"}], features(image=IMAGE, label=LABEL, text=TEXT))
    assert next(iter(tfr.load(path, "train", decode=False)))["text"] == b"x"


@pytest.mark.parametrize(
    ("splits", "text"),
    [
        ([{"name": "train", "shardLengths": ["5", "5"], "filepathTemplate": "{SPLIT}.tfrecord"}],
         "filepathTemplate '{SPLIT}.tfrecord' gives the 2 shards of 'train' one name"),
        ([{"name": "train", "shardLengths": ["5", "5"]}] * 2, "expected names that differ but got 'train' twice"),
    ],
)  # fmt: skip
def test_no_file_or_split_is_meant_twice(path, splits, text):
    write_tfds(path, digits(10), info={"splits": splits})
    assert text in error_of(tfr.errors.DataLossError, lambda: tfr.open_folder(path))
