"""Shards of `tfr.build.images` under TensorFlow: what the seed's program writes, and every feature of every set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_sample_images

from tests.build.support.image_samples import photos, write_files
from tests.oracle.support.oracle import tensorflow
from tests.oracle.tf.test_seed_programs import TF2, load
from tfrkit.build.images.build_images import images


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Parts of real photos in folders whose names have their own order."""
    china, flower = load_sample_images().images
    for number, picture in enumerate([china, flower] * 4):
        folder = tmp_path / "photos" / ["猫", "dog", "Zebra"][number % 3]
        folder.mkdir(parents=True, exist_ok=True)
        top = 11 * number
        Image.fromarray(picture[top : top + 50 + number, 20:90]).save(folder / f"{number}.jpg", quality=90)
    return tmp_path / "photos"


def parsed(pattern: str, spec: dict[str, Any]) -> list[dict[str, Any]]:
    """What TensorFlow reads with a spec, one dict for each record."""
    tf = tensorflow()
    data = tf.data.TFRecordDataset(sorted(tf.io.gfile.glob(pattern)))
    return [
        {name: value.numpy() for name, value in tf.io.parse_single_example(record, spec).items()}
        for record in data
    ]


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # the program's
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_plain_names_give_what_the_seeds_program_writes(tmp_path, source):
    program = load("seeds/photos.py", TF2)
    classes = sorted(path.name for path in source.iterdir())
    names = sorted(map(str, source.glob("*/*.jpg")))
    labels = [classes.index(Path(name).parent.name) for name in names]
    program["build"](str(tmp_path / "theirs.tfrecord"), names, labels)
    images(source, tmp_path / "ours", names="plain", shuffle=False, shards=3)
    spec = program["Feature_description"]
    ours = parsed(f"{tmp_path}/ours/*.tfrecord", spec)
    assert ours == parsed(f"{tmp_path}/theirs.tfrecord", spec)
    assert len(ours) == 8
    images(source, tmp_path / "mixed", names="plain", seed=5, shards=3)
    mixed = parsed(f"{tmp_path}/mixed/*.tfrecord", spec)
    assert mixed != ours
    assert sorted(one["image"] for one in mixed) == sorted(one["image"] for one in ours)


def test_raw_bgr_is_what_the_seeds_feature_map_has(tmp_path, source):
    tf = tensorflow()
    images(source, tmp_path / "out", names="plain", encoding="raw", order="bgr", shuffle=False)
    spec = {name: tf.io.FixedLenFeature([], tf.int64) for name in ("label", "height", "width", "channels")}
    found = parsed(f"{tmp_path}/out/*.tfrecord", spec | {"image": tf.io.FixedLenFeature([], tf.string)})
    for one, path in zip(found, sorted(source.glob("*/*.jpg")), strict=True):
        pixels = tf.io.decode_jpeg(path.read_bytes(), channels=3, dct_method="INTEGER_ACCURATE").numpy()
        assert one["image"] == pixels[:, :, ::-1].tobytes()
        assert (one["height"], one["width"], one["channels"]) == pixels.shape
        decoded = tf.reshape(tf.io.decode_raw(one["image"], tf.uint8), pixels.shape)
        assert np.array_equal(decoded.numpy()[:, :, ::-1], pixels)


@pytest.mark.parametrize("names", ["full", "plain", "tfds", "slim"])
def test_every_feature_parses(tmp_path, source, names):
    tf = tensorflow()
    images(source, tmp_path / "out", names=names)
    (job,) = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["jobs"].values()
    kinds = {"bytes": tf.string, "int64": tf.int64}
    spec = {name: tf.io.FixedLenFeature([], kinds[said["dtype"]]) for name, said in job["spec"].items()}
    for one in parsed(f"{tmp_path}/out/*.tfrecord", spec):
        encoded = one["image/encoded" if "image/encoded" in one else "image"]
        shape = tf.io.decode_image(encoded).shape
        for name, size in zip(("height", "width", "channels"), shape, strict=True):
            assert one.get(f"image/{name}", size) == size
    first = next(iter(tf.data.TFRecordDataset(tf.io.gfile.glob(f"{tmp_path}/out/*.tfrecord"))))
    assert set(tf.train.Example.FromString(first.numpy()).features.feature) == set(spec)


def test_resized_photos_are_tensorflows(tmp_path, source):
    tf = tensorflow()
    images(source, tmp_path / "out", names="plain", size=(24, 32), quality=85, shuffle=False)
    spec = {"image": tf.io.FixedLenFeature([], tf.string)}
    for one, path in zip(
        parsed(f"{tmp_path}/out/*.tfrecord", spec), sorted(source.glob("*/*.jpg")), strict=True
    ):
        pixels = tf.io.decode_jpeg(path.read_bytes(), channels=3, dct_method="INTEGER_ACCURATE")
        resized = tf.cast(tf.round(tf.image.resize(pixels, (24, 32), antialias=True)), tf.uint8)
        assert one["image"] == tf.io.encode_jpeg(resized, quality=85).numpy()


@pytest.mark.parametrize("compression", ["gzip", "zlib"])
def test_compressed_shards_are_read(tmp_path, compression):
    tf = tensorflow()
    files = photos({"cat": 3})
    images(write_files(tmp_path / "photos", files), tmp_path / "out", compression=compression)
    data = tf.data.TFRecordDataset(tf.io.gfile.glob(f"{tmp_path}/out/*.tfrecord*"), compression.upper())
    found = {
        tf.train.Example.FromString(record.numpy()).features.feature["image/encoded"].bytes_list.value[0]
        for record in data
    }
    assert found == set(files.values())
