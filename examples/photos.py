"""Photos in class folders become a TFRecord file, and batches of 96 x 96 pixels come out of it, in two ways.

    python examples/photos.py [PHOTOS]

First the verbs of tfrkit, then a TensorFlow program whose only change is its import line; both give the same pixels.
Works in a temporary folder with photos that it makes itself, and removes it.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tfrkit as tfr
from tfrkit import tf

CLASSES = ("日落", "forest", "sea")
SIZE = (96, 96)


def make_photo(rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Make something that compresses like a photo: smooth colours, some edges, some noise."""
    y, x = np.mgrid[0:1:375j, 0:1:500j]
    waves = [np.sin(rng.uniform(3, 40) * x + rng.uniform(3, 40) * y + rng.uniform(0, 6)) for _ in range(4)]
    base = np.stack([sum(rng.normal() * wave for wave in waves) for _ in range(3)], axis=2)
    base += (x + y > rng.uniform(0.5, 1.5))[..., np.newaxis] * rng.normal(size=3)
    image = 128 + 50 * base + rng.normal(scale=4, size=base.shape)
    return np.clip(image, 0, 255).astype(np.uint8)


def make_folders(folder: Path, count: int) -> None:
    """Make a folder of JPEG files for each class."""
    rng = np.random.default_rng(5)
    encoded = [tfr.image.encode_jpeg(make_photo(rng), quality=80) for _ in range(20)]
    for name in CLASSES:
        (folder / name).mkdir()
    for number in range(count):
        (folder / CLASSES[number % 3] / f"{number}.jpg").write_bytes(encoded[number % len(encoded)])


def write(folder: Path, path: Path) -> int:
    """Write all photos with the number of their class; return how many."""
    names = sorted(folder.glob("*/*.jpg"), key=lambda name: int(name.stem))
    with tfr.TFRecordWriter(path) as writer:
        for name in names:
            writer.write_example({"image": name.read_bytes(), "label": CLASSES.index(name.parent.name)})
    return len(names)


def with_verbs(path: Path) -> Iterable[Any]:
    """Describe batches in tfrkit's words: decoding and resizing go straight into the batch."""
    spec = {"image": tfr.FixedLenFeature([], "bytes"), "label": tfr.FixedLenFeature([], "int64")}
    photos = tfr.TFRecordDataset(path).shuffle(1024, seed=1).parse(spec)
    return photos.decode_image("image", size=SIZE).batch(64).prefetch(tfr.AUTOTUNE)


def with_tensorflow(path: Path) -> Iterable[Any]:
    """Describe the same batches in TensorFlow's words."""
    spec = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def load(record: Any) -> dict[str, Any]:
        photo = tf.io.parse_single_example(record, spec)
        image = tf.io.decode_jpeg(photo["image"], channels=3)
        return {"image": tf.image.resize(image, SIZE), "label": photo["label"]}

    photos = tf.data.TFRecordDataset(str(path)).shuffle(1024, seed=1).map(load)
    batches: Iterable[Any] = photos.batch(64).prefetch(tf.data.AUTOTUNE)
    return batches


def time_photos(what: str, count: int, run: Callable[[], Any]) -> Any:
    """Run something once, and print how many photos it did in a second."""
    start = time.perf_counter()
    result = run()
    print(f"{what:60}{count / (time.perf_counter() - start):10,.0f} photos/s", flush=True)
    return result


def main(count: int) -> None:
    """Make, write, read and compare."""
    with tempfile.TemporaryDirectory(prefix="tfrkit-photos-") as name:
        folder, path = Path(name), Path(name) / "photos.tfrecord"
        make_folders(folder, count)
        print(f"\n{count:,} photos of 500 x 375 in the folders {', '.join(CLASSES)}:\n")
        time_photos("write_example: into one file", count, lambda: write(folder, path))
        ours = time_photos(
            "shuffle, parse, decode_image(size=(96, 96)), batch(64)", count, lambda: list(with_verbs(path))
        )
        same = time_photos("the same as a TensorFlow program", count, lambda: list(with_tensorflow(path)))
        for one, other in itertools.zip_longest(ours, same):
            np.testing.assert_array_equal(one["image"], other["image"].numpy())
            np.testing.assert_array_equal(one["label"], other["label"].numpy())
        print(f"\nBoth gave the same {len(ours)} batches of {ours[0]['image'].shape}, bit for bit.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3000)
