"""Pipelines of images, the same in tfrkit and in tf.data: what the scripts `images_*` and `first_batch` run.

A way is a function of the module and the files; it builds a dataset of batches. What must equal TensorFlow's is
compared bit for bit before the clock starts. Draining takes every batch as the library gives it and counts rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import dataset
from benchmarks.harness import Claim, Contender, Report, Settings, in_child, keep_alive
from benchmarks.memory import peak_mb
from benchmarks.rivals import tensorflow

BATCH = 64
BUFFER = 1024
SMALL = (96, 96)
HALF = 0.5

Way = Callable[[Any, Sequence[Path]], Any]


def seed_program(tf: Any, paths: Sequence[Path]) -> Any:
    """The seed's pipeline, with the names of B's features and one pass: `tf` is either module."""
    description = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }

    def parse(record: Any) -> tuple[Any, Any]:
        features = tf.io.parse_single_example(record, description)
        image = tf.io.decode_jpeg(features["image"], channels=3)
        image = tf.image.resize(image, SMALL)
        return image / 255, tf.stack([tf.cast(features["label"], "int32")])

    records = tf.data.TFRecordDataset([str(path) for path in paths]).repeat(1)
    shuffled = records.map(parse).shuffle(buffer_size=BUFFER, seed=1)
    return shuffled.batch(BATCH).prefetch(buffer_size=-1)


def decode_and_resize(size: tuple[int, int]) -> Way:
    """TensorFlow's way to what `decode_image` does, with parallel calls."""

    def build(tf: Any, paths: Sequence[Path]) -> Any:
        description = {
            "image": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([], tf.int64),
        }

        def parse(record: Any) -> dict[str, Any]:
            features = tf.io.parse_single_example(record, description)
            image = tf.image.resize(tf.io.decode_jpeg(features["image"], channels=3), size)
            return {"image": image, "label": features["label"]}

        records = tf.data.TFRecordDataset([str(path) for path in paths])
        return records.map(parse, num_parallel_calls=-1).batch(BATCH).prefetch(-1)

    return build


def decode_image(size: tuple[int, int], *, scaled: bool) -> Way:
    """Ours: the declarative verb."""

    def build(tfr: Any, paths: Sequence[Path]) -> Any:
        spec = {"image": tfr.FixedLenFeature([], "bytes"), "label": tfr.FixedLenFeature([], "int64")}
        parsed = tfr.TFRecordDataset([str(path) for path in paths]).parse(spec)
        return parsed.decode_image("image", size=size, scaled=scaled).batch(BATCH).prefetch(tfr.AUTOTUNE)

    return build


def ours() -> Any:
    """tfrkit under TensorFlow's names."""
    from tfrkit import tf

    return tf


def plain() -> Any:
    """Make tfrkit ready."""
    import tfrkit

    return tfrkit


MODULES: dict[str, Callable[[], Any]] = {"tfrkit.tf": ours, "tfrkit": plain, "TensorFlow": tensorflow}
WAYS: dict[str, Way] = {
    "seed": seed_program,
    "exact": decode_image(SMALL, scaled=False),
    "scaled": decode_image(SMALL, scaled=True),
    "theirs": decode_and_resize(SMALL),
    "large scaled": decode_image((224, 224), scaled=True),
    "large theirs": decode_and_resize((224, 224)),
}


def drain(pipeline: Any, limit: int | None = None) -> int:
    """Take every batch, or those of the first images, and count images."""
    iterator = iter(pipeline)
    keep_alive(iterator)
    images = 0
    for batch in iterator:
        images += len(batch["image"] if isinstance(batch, dict) else batch[0])
        if limit is not None and images >= limit:
            break
    return images


def contender(name: str, module: str, way: str, paths: Sequence[Path], images: int) -> Contender:
    """Drain a way over some files."""
    library, build = MODULES[module](), WAYS[way]
    size = sum(path.stat().st_size for path in paths)
    return Contender(name, lambda: drain(build(library, paths)), "records", images, size)


def photos(settings: Settings) -> tuple[tuple[Path, ...], int]:
    """The files of B, and how many images they have."""
    data = dataset("B", settings.scale)
    return data.plain, data.records


def require_equal(first: Any, second: Any, batches: int = 20) -> None:
    """See that two pipelines give the same bits in the same order.

    Raises:
        RuntimeError: they do not.
    """
    for number, (one, other) in enumerate(zip(first.take(batches), second.take(batches), strict=True)):
        for part, (mine, theirs) in enumerate(zip(_leaves(one), _leaves(other), strict=True)):
            if mine.dtype != theirs.dtype or mine.shape != theirs.shape or mine.tobytes() != theirs.tobytes():
                raise RuntimeError(f"batch {number}, part {part}: expected TensorFlow's bits but got others")


def _leaves(batch: Any) -> list[Any]:
    values = list(batch.values()) if isinstance(batch, dict) else list(batch)
    return [value.numpy() if hasattr(value, "numpy") else np.asarray(value) for value in values]


def peak(settings: Settings, *, library: str, way: str, paths: list[str] | None = None) -> float:
    """Drain a way once; the peak of this process in MB."""
    files = photos(settings)[0] if paths is None else tuple(map(Path, paths))
    drain(WAYS[way](MODULES[library](), files))
    return peak_mb()


def report_memory(
    report: Report,
    settings: Settings,
    where: str,
    mine: tuple[str, str],
    other: str,
    paths: list[str] | None = None,
) -> None:
    """Compare the peaks of two ways, each in a process of its own."""
    chosen = (mine, ("TensorFlow", other))
    peaks = [
        in_child("images", "peak", settings, cores=2, library=library, way=way, paths=paths)
        for library, way in chosen
    ]
    rows = [[library, f"{found:.0f}"] for (library, _), found in zip(chosen, peaks, strict=True)]
    report.add_table(f"Peak memory: {where}", ["library", "MB"], rows)
    text = f"Peak memory of {where}, tfrkit / TensorFlow"
    report.add_claim(Claim(text, peaks[0] / peaks[1], HALF, sense="at most"))
