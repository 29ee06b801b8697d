"""Every class of features of TensorFlow Datasets has its values, by example, by number and in batches."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow_datasets as tfds

import tfrkit as tfr
from tests.oracle.folders.support.tfds_folders import (
    assert_same,
    assert_same_dataset,
    read_by_tfds,
    write_folder,
)

F = tfds.features
RANDOM = np.random.default_rng(1)


def pixels(*shape: int, dtype: type = np.uint8) -> np.ndarray:
    return RANDOM.integers(0, np.iinfo(dtype).max, shape, dtype)


def floats(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(np.float32)


CASES = {
    "scalars": (
        {
            name: F.Scalar(getattr(np, name))
            for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
        },
        [
            dict.fromkeys(("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"), number)
            for number in (0, 7, 100)
        ],
    ),
    "large": (
        {
            "u": F.Scalar(np.uint64),
            "i": F.Scalar(np.int64),
            "b": F.Scalar(np.bool_),
            "f": F.Scalar(np.float64),
            "h": F.Scalar(np.float16),
        },
        [
            {"u": np.uint64(2**64 - 3), "i": -(2**63), "b": True, "f": 1e300, "h": np.float16(0.1)},
            {"u": np.uint64(1), "i": 5, "b": False, "f": 0.1, "h": np.float16(3)},
        ],
    ),
    "tensors": (
        {
            "a": F.Tensor(shape=(2, 3), dtype=np.int32),
            "s": F.Tensor(shape=(2,), dtype=np.str_),
            "n": F.Tensor(shape=(None,), dtype=np.float32),
            "m": F.Tensor(shape=(None, 2), dtype=np.uint8),
            "e": F.Tensor(shape=(2, None), dtype=np.int64),
            "t": F.Tensor(shape=(None,), dtype=np.str_),
        },
        [
            {
                "a": np.arange(6, dtype=np.int32).reshape(2, 3),
                "s": ["a", "bc"],
                "n": floats(count),
                "m": pixels(count, 2),
                "e": np.arange(2 * count).reshape(2, count),
                "t": ["x"] * count,
            }
            for count in (3, 0, 1)
        ],
    ),
    "encoded": (
        {
            **{
                f"{encoding}_{kind}": F.Tensor(shape=(2, 2), dtype=getattr(np, kind), encoding=encoding)
                for encoding in ("bytes", "zlib")
                for kind in ("int16", "float64", "bool_", "uint8", "uint64")
            },
            "scalar": F.Tensor(shape=(), dtype=np.int32, encoding="zlib"),
            "one": F.Tensor(shape=(None, 2), dtype=np.int16, encoding="zlib"),
            "inner": F.Tensor(shape=(2, None), dtype=np.int16, encoding="bytes"),
            "two": F.Tensor(shape=(None, None, 2), dtype=np.float32, encoding="zlib"),
        },
        [
            {
                **{
                    f"{encoding}_{kind}": np.array([[1, 0], [3, number]], getattr(np, kind))
                    for encoding in ("bytes", "zlib")
                    for kind in ("int16", "float64", "bool_", "uint8", "uint64")
                },
                "scalar": np.int32(number),
                "one": np.ones((number, 2), np.int16),
                "inner": np.ones((2, number), np.int16),
                "two": floats(number, 3, 2),
            }
            for number in (2, 0, 5)
        ],
    ),
    "optional": (
        {
            "i": F.Scalar(np.int8, optional=True),
            "f": F.Scalar(np.float64, optional=True),
            "u": F.Scalar(np.uint16, optional=True),
            "b": F.Scalar(np.bool_, optional=True),
            "h": F.Scalar(np.float16, optional=True),
            "t": F.Text(optional=True),
            "a": F.Tensor(shape=(2,), dtype=np.int32, optional=True),
        },
        [
            {"i": 3, "f": 2.0, "u": 1, "b": True, "h": np.float16(1), "t": "x", "a": np.int32([1, 2])},
            {**dict.fromkeys(["i", "f", "u", "b", "h", "a"]), "t": "y"},
        ],
    ),
    "labels": (
        {
            "label": F.ClassLabel(names=["cat", "dog"]),
            "many": F.Sequence(F.ClassLabel(num_classes=5)),
            "box": F.BBoxFeature(),
            "text": F.Text(),
        },
        [
            {"label": "dog", "many": [0, 4], "box": F.BBox(0.1, 0.2, 0.3, 0.4), "text": "héllo"},
            {"label": -1, "many": [], "box": F.BBox(0.0, 0.0, 1.0, 1.0), "text": ""},
        ],
    ),
    "images": (
        {
            "png": F.Image(shape=(4, 5, 3)),
            "gray": F.Image(shape=(4, 4, 1), encoding_format="png"),
            "jpeg": F.Image(shape=(8, 8, 3), encoding_format="jpeg"),
            "free": F.Image(),
            "rgba": F.Image(shape=(None, None, 4)),
            "deep": F.Image(shape=(3, 3, 1), dtype=np.uint16, encoding_format="png"),
            "float": F.Image(shape=(3, 4, 1), dtype=np.float32),
            "free_float": F.Image(shape=(None, None, 1), dtype=np.float32),
            "labeled": F.LabeledImage(labels=["a", "b"], shape=(None, None, 1)),
        },
        [
            {
                "png": pixels(4, 5, 3),
                "gray": pixels(4, 4, 1),
                "jpeg": pixels(8, 8, 3),
                "free": pixels(number, 3, 3),
                "rgba": pixels(2, number, 4),
                "deep": pixels(3, 3, 1, dtype=np.uint16),
                "float": floats(3, 4, 1),
                "free_float": floats(number, 2, 1),
                "labeled": pixels(2, number, 1),
            }
            for number in (1, 4, 2)
        ],
    ),
    "video": (
        {
            "fixed": F.Video(shape=(2, 4, 4, 3)),
            "any": F.Video(shape=(None, 4, 4, 3)),
            "free": F.Video(shape=(None, None, None, 3)),
            "jpeg": F.Video(shape=(None, 8, 8, 1), encoding_format="jpeg"),
        },
        [
            {
                "fixed": pixels(2, 4, 4, 3),
                "any": pixels(number, 4, 4, 3),
                "free": pixels(number, 3, number + 1, 3),
                "jpeg": pixels(number, 8, 8, 1),
            }
            for number in (2, 0, 3)
        ],
    ),
    "audio": (
        {
            "plain": F.Audio(),
            "stereo": F.Audio(shape=(None, 2), dtype=np.int16),
        },
        [{"plain": np.arange(number), "stereo": np.ones((number, 2), np.int16)} for number in (3, 0)],
    ),
    "translation": (
        {
            "fixed": F.Translation(languages=["en", "de"]),
            "any": F.TranslationVariableLanguages(languages=["en", "de", "fr"]),
        },
        [
            {"fixed": {"en": "cat", "de": "Katze"}, "any": {"en": "cat", "fr": ["le chat", "la chatte"]}},
            {"fixed": {"en": "", "de": "x"}, "any": {"de": "Katze"}},
        ],
    ),
    "sequences": (
        {
            "plain": F.Sequence(np.int32),
            "fixed": F.Sequence(np.float32, length=2),
            "dict": F.Sequence({"x": np.int64, "t": F.Text(), "image": F.Image(shape=(2, 2, 1))}),
            "shaped": F.Sequence(F.Tensor(shape=(2,), dtype=np.bool_)),
            "zlib": F.Sequence(F.Tensor(shape=(2,), dtype=np.int16, encoding="zlib")),
            "free": F.Sequence(F.Image()),
            "fixed_text": F.Sequence(F.Text(), length=2),
        },
        [
            {
                "plain": list(range(n)),
                "fixed": [0.5, n],
                "dict": [{"x": k, "t": "t" * k, "image": pixels(2, 2, 1)} for k in range(n)],
                "shaped": [[True, False]] * n,
                "zlib": [np.int16([k, n]) for k in range(n)],
                "free": [pixels(n, 3, 3)] * n,
                "fixed_text": ["a", "b" * n],
            }
            for n in (2, 0, 3)
        ],
    ),
    "sequences_of_encoded": (
        {
            "two": F.Sequence(F.Tensor(shape=(None, None), dtype=np.int16, encoding="zlib")),
            "one": F.Sequence(F.Tensor(shape=(None, 2), dtype=np.float64, encoding="bytes")),
        },
        [
            {"two": [np.ones((n, 3), np.int16) * k for k in range(n)], "one": [np.full((n, 2), 0.5)] * n}
            for n in (1, 3)
        ],
    ),
    "nested": (
        {
            "two": F.Sequence(F.Sequence(np.int32)),
            "three": F.Sequence(F.Sequence(F.Sequence(F.Text()))),
            "dict": F.Sequence(
                {"a": F.Sequence({"b": F.Sequence(np.float64), "c": F.ClassLabel(num_classes=3)})}
            ),
            "images": F.Sequence(F.Sequence(F.Image(shape=(2, 2, 3)))),
            "shaped": F.Sequence(F.Sequence(F.Tensor(shape=(2,), dtype=np.uint8))),
            "free": F.Sequence(F.Sequence(F.Image())),
            "video": F.Sequence(F.Video(shape=(None, 2, 2, 3))),
        },
        [
            {
                "two": [[1] * n, [], [2]][:n],
                "three": [[["a"] * n, []], [["b"]]][:n],
                "dict": [{"a": [{"b": [0.5] * n, "c": 1}] * n}] * n,
                "images": [[pixels(2, 2, 3)] * n] * n,
                "shaped": [[[1, 2]] * n, [[n, 3]]],
                "free": [[pixels(n, 2, 3)] * n] * 2,
                "video": [pixels(n, 2, 2, 3)] * n,
            }
            for n in (2, 0, 3)
        ],
    ),
    "steps": (
        {
            "steps": F.Dataset(
                {
                    "observation": {
                        "image": F.Image(shape=(3, 3, 3)),
                        "state": F.Tensor(shape=(2,), dtype=np.float32),
                    },
                    "free": F.Image(),
                    "reward": np.float64,
                    "is_last": np.bool_,
                    "text": F.Text(),
                    "words": F.Sequence(F.Text()),
                    "any": F.Tensor(shape=(None, None), dtype=np.int16, encoding="zlib"),
                }
            ),
            "numbers": F.Dataset(np.int32),
            "episode_metadata": {"file": F.Text()},
        },
        [
            {
                "steps": [
                    {
                        "observation": {"image": pixels(3, 3, 3), "state": floats(2)},
                        "free": pixels(k + 1, 2, 3),
                        "reward": 0.1 * k,
                        "is_last": k == n - 1,
                        "text": str(k),
                        "words": ["w"] * k,
                        "any": np.ones((k, n), np.int16),
                    }
                    for k in range(n)
                ],
                "numbers": list(range(n)),
                "episode_metadata": {"file": f"{n}"},
            }
            for n in (2, 3, 1)
        ],
    ),
    "names": (
        {"a/b": np.int64, "c": {"d": {"e": F.Text()}}, "empty": F.FeaturesDict({})},
        [{"a/b": 1, "c": {"d": {"e": "x"}}, "empty": {}}, {"a/b": 2, "c": {"d": {"e": "y"}}, "empty": {}}],
    ),
}


@pytest.mark.filterwarnings(
    "ignore:overflow encountered in cast"
)  # in tfds, of the lowest float64 as float32
@pytest.mark.parametrize("name", CASES)
def test_features_have_the_values_of_tfds(tmp_path, name):
    features, examples = CASES[name]
    folder = write_folder(tmp_path / "1.0.0", F.FeaturesDict(features), {"train": [examples]})
    assert_same_dataset(folder, "train")


@pytest.mark.parametrize("name", ["scalars", "large", "labels", "translation", "names"])
def test_batches_have_the_values_of_tfds(tmp_path, name):
    features, examples = CASES[name]
    folder = write_folder(tmp_path / "1.0.0", F.FeaturesDict(features), {"train": [examples]})
    (theirs,) = read_by_tfds(folder, "train", batch_size=len(examples))
    (ours,) = tfr.load(folder, "train").batch(len(examples))
    assert_same(ours, theirs)


def test_encoded_audio_has_the_values_of_tfds(tmp_path):
    # Its own encoder takes only files that pydub reads; what it stores is what Tensor does.
    stored = {name: F.Tensor(shape=(None,), dtype=np.int32, encoding=name) for name in ("zlib", "bytes")}
    said = {name: F.Audio(dtype=np.int32, encoding=name) for name in ("zlib", "bytes")}
    examples = [{name: np.arange(count, dtype=np.int32) for name in stored} for count in (3, 0)]
    folder = write_folder(tmp_path / "1.0.0", F.FeaturesDict(stored), {"train": [examples]})
    F.FeaturesDict(said).save_config(folder)
    assert_same_dataset(folder, "train")
