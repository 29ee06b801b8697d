"""write_tfds: what it takes, what it writes, what it refuses, and what is left after an error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnimplementedError
from tfrkit.records.write.shards import ShardWriter

F = tfr.features
PETS = [{"name": "Ada", "kind": "cat"}, {"name": "Rex", "kind": "dog"}, {"name": "Tom", "kind": "cat"}]
FEATURES = {"name": F.Text(), "kind": F.ClassLabel(["cat", "dog"])}


def numbers(count: int) -> list[dict[str, int]]:
    return [{"x": number} for number in range(count)]


def read(folder: object, split: str = "train") -> list[dict[str, object]]:
    return [
        {key: np.asarray(value).tolist() for key, value in each.items()} for each in tfr.load(folder, split)
    ]


def write(tmp_path: Path, examples: object, **features: object) -> list[dict[str, object]]:
    tfr.write_tfds(tmp_path / "some/1.0.0", {"train": examples}, features=features or None)
    return read(tmp_path / "some/1.0.0")


def test_files_are_those_of_tensorflow_datasets(tmp_path):
    found = tfr.write_tfds(
        tmp_path / "pets/2.0.1", {"train": PETS, "test": PETS[:1]}, features=FEATURES, shards=2,
        description="Pets.", supervised=("name", "kind"),
    )  # fmt: skip
    assert (found.kind, found.name, found.version, found.description) == ("tfds", "pets", "2.0.1", "Pets.")
    folder = tmp_path / "pets/2.0.1"
    assert sorted(path.name for path in folder.iterdir()) == [
        ".tfrkit", "dataset_info.json", "features.json", "kind.labels.txt", "manifest.json",
        "pets-test.tfrecord-00000-of-00002", "pets-test.tfrecord-00001-of-00002",
        "pets-train.tfrecord-00000-of-00002", "pets-train.tfrecord-00001-of-00002",
    ]  # fmt: skip
    assert (folder / "kind.labels.txt").read_text() == "cat\ndog\n"
    info = json.loads((folder / "dataset_info.json").read_text())
    sizes = [len(record) for record in tfr.read_records(folder / "pets-train*")]
    assert info["splits"][0] == {
        "name": "train",
        "shardLengths": ["2", "1"],
        "numBytes": str(sum(sizes)),
        "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
    }
    assert info["supervisedKeys"] == {"tuple": {"items": [{"featureKey": "name"}, {"featureKey": "kind"}]}}
    assert tfr.verify(folder / "pets-*").ok


def test_name_and_version_are_those_of_the_folder_unless_given(tmp_path):
    assert tfr.write_tfds(tmp_path / "a/1.2.3", numbers(1)).version == "1.2.3"
    assert tfr.write_tfds(tmp_path / "plain", numbers(1)).name == "plain"
    found = tfr.write_tfds(tmp_path / "b/1.2.3", numbers(1), name="bridge/small", version="4.0.0")
    assert (found.name, found.version) == ("bridge/small", "4.0.0")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "a b"}, "Expected a name of letters"),
        ({"name": "../a"}, "Expected a name of letters"),
        ({"version": "1"}, "Expected a version"),
        ({"supervised": ("x", "y")}, "there is no feature 'y'"),
        ({"shards": 2, "shard_bytes": 5}, "got both"),
        ({"shards": 2, "keep_order": True}, "not in order"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_written(tmp_path, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        tfr.write_tfds(tmp_path / "x/1.0.0", numbers(1), **options)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("split", ["all", "a/b", "../a", "", "train[:5]", "train+test", 3])
def test_names_that_are_no_splits_are_refused(tmp_path, split):
    with pytest.raises(InvalidArgumentError, match="name of a split"):
        tfr.write_tfds(tmp_path / "x/1.0.0", {split: numbers(1)})
    assert not (tmp_path / "x").exists()


# -- features --------------------------------------------------------------------------------------------------


def test_features_are_found_out_by_the_examples(tmp_path):
    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    examples = [
        {
            "int": 3, "float": 0.5, "flag": True, "text": "a", "small": np.int8(-3), "maybe": None,
            "image": pixels, "file": tfr.image.encode_png(pixels[:, :, :1]), "bytes": b"\xff",
            "matrix": np.ones((2, 3), np.int16), "open": np.ones(2, np.float32), "wide": np.ones((1, 2)),
            "words": ["a", "b"], "nested": [[1], []], "dict": {"x": 1}, "steps": [{"y": 1.0}, {"y": 2.0}],
            "rows": tfr.Ragged.from_list([[1], [2, 3]]),
        },
        {
            "int": 4, "float": 1, "flag": False, "text": "", "small": np.int8(4), "maybe": 5,
            "image": pixels[:2], "file": tfr.image.encode_png(pixels[:2, :, :1]), "bytes": b"",
            "matrix": np.zeros((2, 3), np.int16), "open": np.ones(3, np.float32), "wide": np.ones((3, 1)),
            "words": [], "nested": [], "dict": {"x": 2}, "steps": [], "rows": tfr.Ragged.from_list([[4]]),
        },
    ]  # fmt: skip
    found = tfr.write_tfds(tmp_path / "x/1.0.0", iter(examples))
    assert str(found).splitlines()[5:] == [
        "  int: Scalar(int64)",
        "  float: Scalar(float32)",
        "  flag: Scalar(bool)",
        "  text: Text(string)",
        "  small: Scalar(int8)",
        "  maybe: Scalar(int64, optional)",
        "  image: Image(uint8, shape=(?, 4, 3))",
        "  file: Image(uint8, shape=(?, ?, 1))",
        "  bytes: Scalar(string)",
        "  matrix: Tensor(int16, shape=(2, 3))",
        "  open: Tensor(float32, shape=(?,))",
        "  wide: Tensor(float32, shape=(?, ?), encoding=zlib)",
        "  words: Sequence of Text(string)",
        "  nested: Sequence of Sequence of Scalar(int64)",
        "  dict: FeaturesDict",
        "    x: Scalar(int64)",
        "  steps: Sequence of",
        "  y: Scalar(float32)",
        "  rows: Sequence of Sequence of Scalar(int64)",
    ]
    first, second = tfr.load(found.path, "train")
    np.testing.assert_array_equal(first["image"], pixels)
    assert first["steps"]["y"].tolist() == [1.0, 2.0]
    assert (int(second["maybe"]), second["wide"].shape) == (5, (3, 1))
    assert first["nested"].to_list() == [[1], []]


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ([{"x": None}], "feature 'x': there is no value"),
        ([{"x": []}], "feature 'x': there is no value"),
        ([{"x": 1}, {"x": "a"}], "feature 'x': there is 'a'"),
        ([{"x": 1}, {"x": np.ones(2)}], "another rank"),
        ([{"x": {"y": object()}}], "feature 'x/y': there is"),
        ([3], "dicts of values"),
    ],
)
def test_examples_that_do_not_say_their_features_are_refused(tmp_path, examples, message):
    with pytest.raises(InvalidArgumentError, match=message):
        write(tmp_path, examples)
    assert not (tmp_path / "some").exists()


def test_types_and_expectations_stand_for_features(tmp_path):
    spec = {
        "a": tfr.FixedLenFeature([2], "int64"),
        "b": tfr.VarLenFeature("bytes"),
        "c": np.uint8,
        "d": float,
    }
    examples = [{"a": [1, 2], "b": ["x"], "c": 255, "d": 0.5}]
    assert write(tmp_path, examples, **spec) == [{"a": [1, 2], "b": [b"x"], "c": 255, "d": 0.5}]


@pytest.mark.parametrize("feature", ["int65", object(), 5, [1]])
def test_what_stands_for_no_feature_is_refused(tmp_path, feature):
    with pytest.raises(InvalidArgumentError, match="Expected a feature of"):
        write(tmp_path, numbers(1), x=feature)


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (F.Tensor((None, None), "int64"), "sizes that differ"),
        (F.Sequence(F.Sequence("int64", length=2)), "inside each other none may be fixed"),
        (F.Sequence(F.Tensor((None,), "int64")), "sizes that differ"),
        (F.Tensor((2,), "uint32", encoding="zlib"), "leave out the encoding"),
        (F.Tensor((2,), str, encoding="zlib"), "leave out the encoding"),
        (F.Tensor((None,), "int64", optional=True), "is optional"),
        (F.Image((None, None, 4), encoding_format="jpeg"), "4 channels"),
        (F.Image((None, None, 0)), "has 0 channels"),
        (F.Image(dtype="uint16", encoding_format="jpeg"), "JPEG files cannot have"),
        (F.Image(encoding_format="gif"), "in files of 'gif'"),
    ],
)
def test_features_that_tensorflow_datasets_cannot_read_are_refused(tmp_path, feature, message):
    with pytest.raises(UnimplementedError, match=message) as caught:
        write(tmp_path, [], x=feature)
    assert "feature 'x'" in caught.value.message
    assert not (tmp_path / "some").exists()


@pytest.mark.parametrize("name", ["a\rb", "a\nb", " a", ""])
def test_names_of_classes_that_no_line_holds_are_refused(name):
    with pytest.raises(InvalidArgumentError, match="without a line break"):
        F.ClassLabel(["x", name])


@pytest.mark.parametrize("names", [["a\0"], ["x" * 300], ["a/b", "a.b"]])
def test_names_of_classes_need_a_file_of_their_own(tmp_path, names):
    features = {name: F.ClassLabel([f"cat {number}"]) for number, name in enumerate(names)}
    with pytest.raises(InvalidArgumentError, match="rename the feature"):
        write(tmp_path, [dict.fromkeys(names, 0)], **features)
    assert not (tmp_path / "some").exists()


def test_features_of_one_key_are_refused(tmp_path):
    with pytest.raises(InvalidArgumentError, match="under the key 'a/b'"):
        write(tmp_path, [], **{"a/b": int, "a": {"b": int}})


# -- values ----------------------------------------------------------------------------------------------------

GIF = b"GIF89a\x04\x00\x03\x00\xf0\x00\x00;"
JPEG = tfr.image.encode_jpeg(np.zeros((2, 2, 3), np.uint8))

WRONG = {
    "range": (np.uint8, 256, "256 is beyond uint8"),
    "sign": (np.uint64, -1, "-1 is beyond uint64"),
    "large": ("int64", 2**63, "9223372036854775808 is beyond int64"),
    "fraction": ("int32", 1.5, r"expected int32 but got 1.5 \(float\)"),
    "text": ("int32", "7", "expected int32 but got '7'"),
    "none": ("int32", None, "expected int32 but got None"),
    "bool": (bool, 2, "2 is beyond bool"),
    "overflow": ("float32", 1e300, "1e[+]300 is beyond float32"),
    "wide": ("float64", 1e300, "1e[+]300 is beyond float32, which encoding"),
    "half": ("float16", 1e6, "1000000.0 is beyond float16"),
    "number": (str, 3, r"expected bytes or str but got 3 \(int\)"),
    "surrogate": (str, "\ud800", "surrogates not allowed"),
    "shape": (F.Tensor((2, 3), "int64"), [[1, 2, 3]], r"expected the shape \(2, 3\) but got \(1, 3\)"),
    "rank": (F.Tensor((None,), "int64"), 5, r"expected the shape \(\?,\) but got \(\)"),
    "ragged": (F.Tensor((2, 2), "int64"), [[1, 2], [3]], "inhomogeneous"),
    "class": (F.ClassLabel(["cat", "dog"]), 2, "expected a class from 0 to 1, or -1 for none, but got 2"),
    "below": (F.ClassLabel(num_classes=3), -2, "from 0 to 2"),
    "name": (F.ClassLabel(["cat", "dog"]), "dgo", "there is no class 'dgo'. Did you mean 'dog'?"),
    "no image": (F.Image(), b"hello", "not an image: it looks like text"),
    "cut": (F.Image(), tfr.image.encode_png(np.zeros((2, 2, 3), np.uint8))[:-20], "broken image"),
    "image size": (F.Image((2, 2, 3)), tfr.image.encode_png(np.zeros((3, 2, 3), np.uint8)), r"got \(3, 2\)"),
    "pixels": (F.Image(), np.zeros((2, 2, 3)), "expected pixels of uint8 but got float64"),
    "channels": (F.Image(), np.zeros((2, 2, 1), np.uint8), r"expected the shape \(\?, \?, 3\)"),
    "empty": (F.Image(), np.zeros((0, 2, 3), np.uint8), "no pixels"),
    "gif": (F.Image(), GIF, "expected a PNG, JPEG or BMP file, as TensorFlow reads them, but got GIF"),
    "jpeg alpha": (F.Image((None, None, 4)), JPEG, "with 4 channels, such as PNG, but got JPEG"),
    "jpeg floats": (F.Image((None, None, 1), "float32"), JPEG, "with 4 channels, such as PNG, but got JPEG"),
    "path": (F.Image(), "a.png", "or its Path but got 'a.png'"),
    "missing": (F.Image(), Path("no-such.png"), "no-such.png"),
    "length": (F.Sequence(int, length=2), [1], "expected 2 elements but got 1"),
    "no list": (F.Sequence(int), 5, "expected a list or an array but got 5"),
    "string": (F.Sequence(str), "abc", "expected a list or an array but got 'abc'"),
    "element": (F.Sequence(np.int8), [1, 300], "element 1 of its sequence: 300 is beyond int8"),
    "sizes": (F.Sequence(F.Image()), [np.zeros((n, 2, 3), np.uint8) for n in (1, 2)], "element 1 .*have one shape"),
    "shapes": (
        F.Sequence(F.Tensor((None,), "int8", encoding="zlib")),
        [[1], [2, 3]],
        "element 1 .*have one shape",
    ),
    "columns": (F.Sequence({"a": int, "b": int}), {"a": [1], "b": [1, 2]}, "'a' has 1 elements and 'b' has 2"),
    "no dict": ({"a": int}, 3, "expected a dict with 'a' but got 3"),
    "encoded": (F.Tensor((2,), "int16", encoding="zlib"), [1, 70000], "70000 is beyond int16"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_values_that_do_not_fit_name_split_record_and_feature(tmp_path, name):
    feature, value, message = WRONG[name]
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        tfr.write_tfds(
            tmp_path / "x/1.0.0", {"test": ({"f": each} for each in [value])}, features={"f": feature}
        )
    assert caught.value.message.startswith("split 'test', record 0: feature 'f")
    assert not list((tmp_path / "x/1.0.0").glob("*"))


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ({"name": "a"}, "feature 'kind': there is no value. There are 'name'."),
        ({"name": "a", "kid": 1, "kind": 1}, "feature 'kid': there is no such feature. Did you mean 'kind'?"),
        (3, "expected a dict with 'name', 'kind' but got 3"),
    ],
)
def test_examples_have_the_features_and_no_others(tmp_path, example, message):
    with pytest.raises(InvalidArgumentError) as caught:
        write(tmp_path, [PETS[0], example], **FEATURES)
    assert caught.value.message.startswith("split 'train', record 1: ")
    assert message in caught.value.message


def test_large_unsigned_numbers_keep_every_bit(tmp_path):
    values = [2**64 - 3, 0, np.uint64(2**63 + 1)]
    assert write(
        tmp_path, [{"x": each, "s": values} for each in values], x=np.uint64, s=F.Sequence(np.uint64)
    ) == [{"x": int(each), "s": list(map(int, values))} for each in values]


def test_images_are_read_from_paths(tmp_path):
    pixels = np.full((2, 3, 3), 7, np.uint8)
    (tmp_path / "a.png").write_bytes(tfr.image.encode_png(pixels))
    (found,) = write(tmp_path, [{"image": tmp_path / "a.png"}], image=F.Image())
    assert found["image"] == pixels.tolist()


def test_steps_may_be_an_iterator_or_a_dict_of_arrays(tmp_path):
    steps = [{"a": np.ones(2, np.float32) * k, "n": {"t": str(k)}} for k in range(3)]
    columns = {"a": np.stack([step["a"] for step in steps]), "n": {"t": ["0", "1", "2"]}}
    feature = F.Dataset({"a": F.Tensor((2,)), "n": {"t": F.Text()}})
    tfr.write_tfds(tmp_path / "x/1.0.0", [{"s": iter(steps)}, {"s": columns}], features={"s": feature})
    for found in tfr.load(tmp_path / "x/1.0.0", "train"):
        assert found["s"]["a"].tolist() == columns["a"].tolist()
        assert list(found["s"]["n"]["t"]) == [b"0", b"1", b"2"]


# -- what is there already -------------------------------------------------------------------------------------


def test_folder_with_anything_in_it_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(AlreadyExistsError, match="there is 'notes"):
        tfr.write_tfds(tmp_path, numbers(1), name="a")


def test_overwrite_replaces_the_whole_data_set(tmp_path):
    folder = tmp_path / "pets/1.0.0"
    tfr.write_tfds(folder, {"train": PETS, "old": PETS}, features=FEATURES, shards=3)
    tfr.write_tfds(folder, {"train": numbers(4)}, overwrite=True)
    assert sorted(path.name for path in folder.iterdir()) == [
        ".tfrkit", "dataset_info.json", "features.json", "manifest.json", "pets-train.tfrecord-00000-of-00001",
    ]  # fmt: skip
    assert read(folder) == numbers(4)
    assert list(tfr.open_folder(folder).splits) == ["train"]


def test_error_leaves_what_was_there(tmp_path):
    folder = tmp_path / "pets/1.0.0"
    tfr.write_tfds(folder, {"train": PETS, "test": PETS}, features=FEATURES)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    bad = {"train": PETS[:1], "test": [{"name": "x", "kind": "fish"}]}
    with pytest.raises(
        InvalidArgumentError, match="split 'test', record 0: feature 'kind': there is no class 'fish'"
    ):
        tfr.write_tfds(folder, bad, features=FEATURES, overwrite=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


KILLED = """
import os, sys, tfrkit as tfr
from tfrkit.records.write.shards import ShardWriter
close = ShardWriter.close
def die(writer):
    close(writer)
    os._exit(9)
ShardWriter.close = die
tfr.write_tfds(sys.argv[1], {"train": [{"x": 1}], "test": [{"x": 2}]}, overwrite=True)
"""


@pytest.mark.parametrize("before", [False, True])
def test_killed_writer_leaves_no_data_set(tmp_path, before):
    folder = tmp_path / "pets/1.0.0"
    if before:
        tfr.write_tfds(folder, {"train": numbers(3), "test": numbers(3)})
    assert subprocess.run([sys.executable, "-c", KILLED, folder], check=False).returncode == 9
    assert (folder / "manifest.json").exists()
    with pytest.raises(NotFoundError, match=r"was not written to its end\. Write it again"):
        tfr.load(folder, "train")
    tfr.write_tfds(folder, numbers(2), overwrite=True)
    assert read(folder) == numbers(2)
    assert not (folder / ".tfrkit/unfinished").exists()


@pytest.mark.parametrize("before", [False, True])
def test_text_that_is_no_unicode_is_refused_before_anything_is_written(tmp_path, before):
    folder = tmp_path / "x/1.0.0"
    if before:
        tfr.write_tfds(folder, numbers(3))
    with pytest.raises(InvalidArgumentError, match=r"surrogate pair near .*a\\ud800b"):
        tfr.write_tfds(folder, numbers(1), description="a\ud800b", overwrite=True)
    assert (read(folder) == numbers(3)) if before else not folder.exists()


@pytest.mark.parametrize("before", [False, True])
def test_shards_that_cannot_get_their_names_leave_what_was_there(tmp_path, monkeypatch, before):
    folder = tmp_path / "x/1.0.0"
    if before:
        tfr.write_tfds(folder, numbers(3))

    def fail(_writer):
        raise OSError(28, "No space left")

    monkeypatch.setattr(ShardWriter, "close", fail)
    with pytest.raises(OSError, match="No space left"):
        tfr.write_tfds(folder, numbers(1), overwrite=True)
    assert not (folder / ".tfrkit/unfinished").exists()
    assert not before or read(folder) == numbers(3)


def test_empty_split_is_refused(tmp_path):
    with pytest.raises(InvalidArgumentError, match="split 'test' has no examples"):
        tfr.write_tfds(tmp_path / "x/1.0.0", {"train": numbers(1), "test": []})


def test_order_is_kept_through_many_shards(tmp_path):
    found = tfr.write_tfds(tmp_path / "x/1.0.0", numbers(2000), shard_bytes=1000, keep_order=True)
    assert len(found.splits["train"].shards) > 3
    assert read(found.path) == numbers(2000)
    again = tfr.write_tfds(tmp_path / "y/1.0.0", found)
    assert again.cycle == 1
    assert read(again.path) == numbers(2000)


# -- what was loaded -------------------------------------------------------------------------------------------


def test_loaded_folder_is_written_as_it_was(tmp_path):
    pixels = np.random.default_rng(1).integers(0, 255, (8, 8, 3), np.uint8)
    features = {"image": F.Image(encoding_format="jpeg"), "kind": F.ClassLabel(["cat", "dog"])}
    one = tmp_path / "pets/1.0.0"
    tfr.write_tfds(
        one, {"a": [{"image": pixels, "kind": 1}], "b": [{"image": pixels, "kind": -1}]}, features=features
    )
    for number, source in enumerate((tfr.open_folder(one), tfr.load(one))):
        two = tmp_path / f"again{number}/1.0.0"
        tfr.write_tfds(two, source, name="pets")
        for path in one.iterdir():
            if path.is_file():
                assert (two / path.name).read_bytes() == path.read_bytes()  # JPEG files, too


def test_folder_of_our_own_is_written_by_its_spec(tmp_path):
    with tfr.ShardWriter(tmp_path / "own/train", shards=2) as writer:
        for number in range(4):
            writer.write_example({"x": number, "tags": ["a"] * number})
    with tfr.ShardWriter(tmp_path / "own/test", shards=1) as writer:
        writer.write_example({"x": 9, "tags": []})
    tfr.write_tfds(tmp_path / "new/1.0.0", tfr.open_folder(tmp_path / "own"))
    assert sorted(each["x"] for each in read(tmp_path / "new/1.0.0")) == [0, 1, 2, 3]
    assert read(tmp_path / "new/1.0.0", "test") == [{"x": 9, "tags": []}]


def test_urls_of_stores(tmp_path):
    folder = f"memory://{tmp_path.name}/pets/1.0.0"
    tfr.write_tfds(folder, {"train": PETS}, features=FEATURES, shards=2)
    with pytest.raises(AlreadyExistsError):
        tfr.write_tfds(folder, {"train": PETS}, features=FEATURES)
    tfr.write_tfds(folder, {"test": PETS[:2]}, features=FEATURES, overwrite=True)
    assert read(folder, "test") == [{"name": b"Ada", "kind": 0}, {"name": b"Rex", "kind": 1}]
    assert list(tfr.open_folder(folder).splits) == ["test"]
