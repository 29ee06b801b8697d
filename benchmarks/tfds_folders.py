"""Claim: folders of TensorFlow Datasets in batches: small PNG images at 5 x `tfds.load` and `as_numpy`, text at 10 x.

The folders are written once, by TensorFlow Datasets: images like those of mnist with their labels, and text like C4's
(text, url, timestamp). Both sides make batches of 128 on all cores; the dataset is made before the clock. Where tfds
has two ways, batches of its own and `batch` with `prefetch`, the faster one counts. It keeps decoded examples of a
small data set in memory, so that from the second epoch on it reads no files; that is turned off here, and a line for
information. Before all that, the first batches are compared. The first batch, counted from the start of Python, is 5 x
sooner.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks import data, rivals
from benchmarks.harness import Claim, Contender, Report, Settings, by_name, in_child, keep_alive

OURS: Final = "tfr.load"
THEIRS: Final = "tfds.load, batch_size"
THEIR_PIPELINE: Final = "tfds.load, batch + prefetch"
CACHED: Final = "tfds.load, later epochs out of memory"
BATCH: Final = 128
RECORDS: Final = {"digits": 60_000, "texts": 60_000}
REQUIRED: Final = {"digits": 5.0, "texts": 10.0}
SOONER: Final = 5.0
TITLES: Final = {"digits": "small PNG images", "texts": "text"}
_VERSION: Final = "1.0.0"
_FIRST: Final = {
    OURS: "import tfrkit as tfr; batches = tfr.load({path!r}, 'train').batch({batch})",
    THEIRS: (
        "import tensorflow_datasets as tfds; batches = tfds.as_numpy(tfds.load({name!r}, split='train', "
        "data_dir={folder!r}, batch_size={batch}))"
    ),
}
_FIRST_END: Final = "; print(len(next(iter(batches))['label']), flush=True); import os; os._exit(0)"


def folder(name: str, settings: Settings) -> Path:
    """The folder of a data set, written if it is missing."""
    root = data.folder(settings.scale) / "tfds"
    path = root / name / _VERSION
    if not (path / "dataset_info.json").exists():
        print(f"# writing {path} with TensorFlow Datasets", file=sys.stderr, flush=True)
        in_child("tfds_folders", "write", settings, cores=None, name=name)
    return path


def write(settings: Settings, name: str) -> int:
    """Write a data set; returns how many examples it has."""
    tfds = _tfds()
    count = max(2 * BATCH, round(RECORDS[name] * settings.scale))
    features = tfds.features
    made: dict[str, tuple[dict[str, Any], Iterable[dict[str, Any]]]] = {
        "digits": (
            {"image": features.Image(shape=(28, 28, 1)), "label": features.ClassLabel(num_classes=10)},
            _digits(count),
        ),
        "texts": ({key: features.Text() for key in ("text", "url", "timestamp")}, _texts(count)),
    }
    described, examples = made[name]
    root = data.folder(settings.scale) / "tfds"
    info = {"features": features.FeaturesDict(described), "disable_shuffling": True}
    builder = type(
        name,
        (tfds.core.GeneratorBasedBuilder,),
        {
            "name": name,
            "VERSION": tfds.core.Version(_VERSION),
            "_info": lambda self: tfds.core.DatasetInfo(builder=self, **info),
            "_split_generators": lambda self, _: {"train": self._generate_examples()},
            "_generate_examples": lambda _: enumerate(examples),
        },
    )
    builder(data_dir=str(root), file_format="tfrecord").download_and_prepare()
    return count


def _digits(count: int) -> Iterator[dict[str, Any]]:
    """Strokes of a soft pen, as many bytes as digits of mnist have when compressed."""
    random = np.random.default_rng(1)
    rows, columns = np.mgrid[0:28, 0:28]
    for number in range(count):
        ink = np.zeros((28, 28))
        place = random.uniform(8, 20, 2)
        for _ in range(14):
            place = np.clip(place + random.normal(0, 2.2, 2), 5, 23)
            ink += np.exp(-((rows - place[0]) ** 2 + (columns - place[1]) ** 2) / 1.6)
        image = np.where(ink < 0.05, 0, np.minimum(ink * 300, 255)).astype(np.uint8)
        yield {"image": image[..., np.newaxis], "label": number % 10}


def _texts(count: int) -> Iterator[dict[str, Any]]:
    """Texts of 2 kB on average, some of them long."""
    random = np.random.default_rng(2)
    words = np.array(
        ["".join(random.choice(list("etaoinshrdlu"), random.integers(2, 11))) for _ in range(4096)]
    )
    for number in range(count):
        chosen = words[random.integers(0, len(words), int(random.lognormal(5.3, 0.9)) + 1)]
        yield {
            "text": " ".join(chosen.tolist()),
            "url": f"https://www.example.org/{words[number % 4096]}/{number}",
            "timestamp": f"2019-04-{number % 30 + 1:02}T12:{number % 60:02}:00Z",
        }


def _tfds() -> Any:
    rivals.tensorflow()
    tfds = importlib.import_module("tensorflow_datasets")
    tfds.disable_progress_bar()
    return tfds


def _count(batches: Iterable[Any], key: str) -> int:
    iterator = iter(batches)
    keep_alive(iterator)
    return sum(len(batch[key]) for batch in iterator)


def _same(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    return set(ours) == set(theirs) and all(
        np.array_equal(np.asarray(ours[key], theirs[key].dtype), theirs[key]) for key in theirs
    )


def contenders(settings: Settings, name: str) -> list[Contender]:
    """Ours, both ways of tfds, and its cache."""
    import tfrkit as tfr

    path = folder(name, settings)
    tfds = _tfds()
    tf = rivals.tensorflow()
    load = partial(tfds.load, name, split="train", data_dir=path.parent.parent)
    cached = load(batch_size=BATCH)
    load = partial(load, read_config=tfds.ReadConfig(try_autocache=False))
    theirs = load(batch_size=BATCH)
    pipeline = load().batch(BATCH).prefetch(tf.data.AUTOTUNE)
    ours = tfr.load(path, "train").batch(BATCH)
    if not _same(next(iter(ours)), next(iter(tfds.as_numpy(theirs)))):
        raise RuntimeError(f"{name}: the first batches differ")
    key = "label" if name == "digits" else "url"
    amount: dict[str, Any] = {
        "records": len(tfr.load(path, "train")),
        "bytes": sum(file.stat().st_size for file in path.glob("*.tfrecord-*")),
    }
    made = {THEIRS: theirs, THEIR_PIPELINE: pipeline, CACHED: cached}
    return [Contender(OURS, partial(_count, ours, key), "records", **amount)] + [
        Contender(way, lambda each=each: _count(tfds.as_numpy(each), key), "records", **amount)  # type: ignore[misc]
        for way, each in made.items()
    ]


def _seconds_to_first(path: Path, way: str) -> float:
    """Seconds from the start of Python to the first batch."""
    program = _FIRST[way].format(
        path=str(path), name=path.parent.name, folder=str(path.parent.parent), batch=BATCH
    )
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program + _FIRST_END], capture_output=True, text=True, check=True
    )
    seconds = time.perf_counter() - start
    if int(done.stdout.split()[-1]) != BATCH:
        raise RuntimeError(f"expected a batch of {BATCH} but got {done.stdout!r}")
    return seconds


def run(settings: Settings) -> Report:
    """Measure both folders on all cores, and the first batch of images."""
    report = Report("tfds_folders")
    for name, required in REQUIRED.items():
        results = in_child("tfds_folders", "contenders", settings, cores=None, name=name)
        report.add_results(f"A TFDS folder of {TITLES[name]}, batches of {BATCH}", results)
        named = by_name(results)
        report.ratio(TITLES[name], named[OURS], [named[THEIRS], named[THEIR_PIPELINE]], required)
        report.ratio(TITLES[name], named[OURS], [named[CACHED]], None)
    path = folder("digits", settings)
    found = {way: min(_seconds_to_first(path, way) for _ in range(max(2, settings.repeat))) for way in _FIRST}
    rows = [[way, f"{seconds:.3f}"] for way, seconds in found.items()]
    report.add_table(
        "Seconds from the start of Python to the first batch of images", ["library", "best s"], rows
    )
    report.add_claim(
        Claim("First batch of images, seconds of tfds / ours", found[THEIRS] / found[OURS], SOONER)
    )
    return report
