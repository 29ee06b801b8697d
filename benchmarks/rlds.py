"""Claims: random windows of RLDS episodes at 20 x tfds and tf.data in memory O(batch); their index at 0.4 x `readinto`.

Episodes have 100 steps with two cameras of 256 x 256, JPEG, in a folder that TensorFlow Datasets writes once. A window
has two observations and eight actions. Random order in the memory of a batch is, in tf.data, a random window of each
episode that comes: in one way the episode is decoded as a batch, in the other steps before the window are skipped; the
faster one counts. For information stand beside it all windows of each episode through a buffer of 1,000, also with
images that are decoded after the buffer, as Octo does it; that buffer is all the disorder they have, must be in memory,
and is filled in each turn, with four times as many windows as ours after it. Before the clock starts, windows are
compared. The index is made anew in every turn: where the records are, and how many steps each has.
"""

from __future__ import annotations

import importlib
import random
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks import data, rivals
from benchmarks.harness import Claim, Contender, Report, Settings, by_name, in_child, keep_alive
from benchmarks.memory import peak_mb

OURS: Final = "windows, shuffled, batch"
OURS_ONE: Final = "windows[i], random i"
WHOLE: Final = "tfds, a window of each episode, decoded as a batch"
SKIPPED: Final = "tfds, a window of each episode, steps skipped"
BUFFER: Final = "tfds, all windows, a buffer of 1,000"
LATE: Final = "tfds, all windows, a buffer of 1,000, decoded after it"
INDEX, READINTO = "rlds.lengths", "readinto of the same files"
EPISODES, STEPS, SIZE = 60, 100, 256
HISTORY, FUTURE, BATCH = 2, 8, 32
WINDOWS: Final = 640
BUFFER_WINDOWS: Final = 1_000
SHARES: Final = {WHOLE: 1, SKIPPED: 1, BUFFER: 16, LATE: 16}  # quarters of our windows that each makes
REQUIRED, INDEX_REQUIRED, LIMIT_MB = 20.0, 0.4, 400.0
_CAMERAS: Final = ("image", "wrist")
_NAME, _VERSION = "push", "1.0.0"


def folder(settings: Settings) -> Path:
    """The folder of the episodes, written if it is missing."""
    path = data.folder(settings.scale) / "rlds" / _NAME / _VERSION
    if not (path / "dataset_info.json").exists():
        print(f"# writing {path} with TensorFlow Datasets", file=sys.stderr, flush=True)
        in_child("rlds", "write", settings, cores=None)
    return path


def write(settings: Settings) -> int:
    """Write the episodes; returns how many there are."""
    tfds = _tfds()
    features, count = tfds.features, max(4, round(EPISODES * settings.scale))
    camera = partial(features.Image, shape=(SIZE, SIZE, 3), encoding_format="jpeg")
    step = {
        "observation": features.FeaturesDict(
            {
                **{name: camera() for name in _CAMERAS},
                "state": features.Tensor(shape=(7,), dtype=np.float32),
            }
        ),
        "action": features.Tensor(shape=(7,), dtype=np.float32),
        "is_first": features.Scalar(np.bool_),
        "language_instruction": features.Text(),
    }
    info = {"features": features.FeaturesDict({"steps": features.Dataset(step)})}
    builder = type(
        _NAME,
        (tfds.core.GeneratorBasedBuilder,),
        {
            "name": _NAME,
            "VERSION": tfds.core.Version(_VERSION),
            "_info": lambda self: tfds.core.DatasetInfo(builder=self, **info),
            "_split_generators": lambda self, _: {"train": self._generate_examples()},
            "_generate_examples": lambda _: enumerate(_episodes(count)),
        },
    )
    builder(data_dir=str(data.folder(settings.scale) / "rlds"), file_format="tfrecord").download_and_prepare()
    return count


def _episodes(count: int) -> Iterator[dict[str, Any]]:
    """A scene that the camera moves over, with the grain of photos."""
    generator = np.random.default_rng(1)
    for _ in range(count):
        coarse = generator.integers(0, 255, (3 * SIZE // 32 + 1, 3 * SIZE // 32 + 1, 3))
        scene = np.kron(coarse, np.ones((32, 32, 1))) * 0.7
        grain = generator.normal(0, 6, scene.shape)
        scene = np.clip(scene + grain, 0, 255).astype(np.uint8)
        yield {"steps": [_step(generator, scene, number) for number in range(STEPS)]}


def _step(generator: Any, scene: Any, number: int) -> dict[str, Any]:
    views = [scene[at : at + SIZE, number : number + SIZE] for at in (number, 2 * number)]
    return {
        "observation": {
            **dict(zip(_CAMERAS, views, strict=True)),
            "state": generator.normal(size=7).astype(np.float32),
        },
        "action": generator.normal(size=7).astype(np.float32),
        "is_first": number == 0,
        "language_instruction": "push the block",
    }


def _tfds() -> Any:
    rivals.tensorflow()
    tfds = importlib.import_module("tensorflow_datasets")
    tfds.disable_progress_bar()
    return tfds


def _windows_of(tf: Any, steps: Any, at: Any) -> Any:
    """The windows at some steps, of all steps of an episode."""
    last = STEPS - 1
    history = tf.clip_by_value(at[:, None] + tf.range(1 - HISTORY, 1, dtype=tf.int64), 0, last)
    future = tf.clip_by_value(at[:, None] + tf.range(FUTURE, dtype=tf.int64), 0, last)
    return {
        name: tf.nest.map_structure(
            partial(_gathered, tf, history if name == "observation" else future), each
        )
        for name, each in steps.items()
    }


def _gathered(tf: Any, places: Any, values: Any) -> Any:
    return tf.gather(values, places)


def _rivals(settings: Settings) -> dict[str, Any]:
    """Datasets of batches, without end."""
    tf, tfds = rivals.tensorflow(), _tfds()
    builder = tfds.builder_from_directory(str(folder(settings)))
    read = tfds.ReadConfig(try_autocache=False)
    episodes = builder.as_dataset(split="train", shuffle_files=True, read_config=read).repeat()
    stored = builder.as_dataset(
        split="train",
        shuffle_files=True,
        read_config=read,
        decoders={"steps": {"observation": {name: tfds.decode.SkipDecoding() for name in _CAMERAS}}},
    ).repeat()

    def all_steps(episode: Any) -> Any:
        return episode["steps"].batch(STEPS).get_single_element()

    def one(episode: Any) -> Any:
        at = tf.random.uniform([1], 0, STEPS, tf.int64)
        return tf.nest.map_structure(lambda each: each[0], _windows_of(tf, all_steps(episode), at))

    def one_skipped(episode: Any) -> Any:
        at = tf.random.uniform([], HISTORY - 1, STEPS - FUTURE, tf.int64)
        steps = episode["steps"].skip(at - HISTORY + 1).take(HISTORY + FUTURE - 1)
        found = steps.batch(HISTORY + FUTURE - 1).get_single_element()
        return {
            name: tf.nest.map_structure(
                (lambda each: each[:HISTORY])
                if name == "observation"
                else (lambda each: each[HISTORY - 1 :]),
                values,
            )
            for name, values in found.items()
        }

    def every(episode: Any) -> Any:
        at = tf.range(STEPS, dtype=tf.int64)
        return tf.data.Dataset.from_tensor_slices(_windows_of(tf, all_steps(episode), at))

    def decoded(window: Any) -> Any:
        seen = dict(window["observation"])
        for name in _CAMERAS:
            seen[name] = tf.map_fn(tf.io.decode_jpeg, seen[name], fn_output_signature=tf.uint8)
        return {**window, "observation": seen}

    auto = tf.data.AUTOTUNE
    ways = {
        WHOLE: episodes.map(one, auto),
        SKIPPED: episodes.map(one_skipped, auto),
        BUFFER: episodes.flat_map(every).shuffle(BUFFER_WINDOWS),
        LATE: stored.flat_map(every).shuffle(BUFFER_WINDOWS).map(decoded, auto),
    }
    return {way: each.batch(BATCH).prefetch(auto) for way, each in ways.items()}


def contenders(settings: Settings) -> list[Contender]:
    """Random windows, ours in two ways and theirs in four."""
    import tfrkit as tfr

    windows = tfr.rlds.open(folder(settings)).windows("train", HISTORY, FUTURE)
    theirs = _rivals(settings)
    _compare(settings, windows)
    numbers = random.Random(1)
    shuffled = windows.global_shuffle(seed=1).batch(BATCH)
    count = max(2 * BATCH, round(WINDOWS * settings.scale) // BATCH * BATCH)
    each = windows[0]["observation"]
    nbytes = sum(each[name].nbytes for name in _CAMERAS)

    def ours() -> int:
        return sum(len(batch["action"]) for batch in shuffled.take(count // BATCH))

    def one_by_one() -> int:
        for _ in range(count):
            windows[numbers.randrange(len(windows))]
        return count

    out = [
        Contender(OURS, ours, "records", count, count * nbytes),
        Contender(OURS_ONE, one_by_one, "records", count, count * nbytes),
    ]
    for way, dataset in theirs.items():
        some = count * SHARES[way] // (4 * BATCH) * BATCH
        run_one = partial(_count, dataset.take(some // BATCH))
        out.append(Contender(way, run_one, "records", some, some * nbytes, at_most=2))
    return out


def _count(batches: Any) -> int:
    iterator = iter(batches)
    keep_alive(iterator)
    return sum(len(batch["action"]) for batch in iterator)


def _compare(settings: Settings, windows: Any) -> None:
    """See that windows of the first episodes are those of tfds."""
    tf, tfds = rivals.tensorflow(), _tfds()
    dataset = tfds.builder_from_directory(str(folder(settings))).as_dataset(split="train")
    for number, episode in enumerate(dataset.take(2)):
        steps = episode["steps"].batch(STEPS).get_single_element()
        for at in (0, 1, 50, STEPS - 1):
            theirs = _windows_of(tf, steps, tf.constant([at], tf.int64))
            ours = windows[number * STEPS + at]
            if not np.array_equal(ours["action"], theirs["action"].numpy()[0]) or any(
                not np.array_equal(ours["observation"][name], theirs["observation"][name].numpy()[0])
                for name in _CAMERAS
            ):
                raise RuntimeError(f"window {at} of episode {number} differs")


def index_contenders(settings: Settings) -> list[Contender]:
    """The index, made anew, and the bytes of the files moved once."""
    import tfrkit as tfr

    path = folder(settings)
    files = sorted(path.glob("*.tfrecord-*"))
    amount: dict[str, Any] = {"records": 0, "bytes": sum(file.stat().st_size for file in files)}

    def index() -> int:
        shutil.rmtree(path / ".tfrkit", ignore_errors=True)
        robots = tfr.rlds.open(path)
        if int(robots.lengths("train").sum()) % STEPS:
            raise RuntimeError("wrong lengths")
        return int(amount["bytes"])

    return [
        Contender(INDEX, index, "bytes", **amount),
        Contender(READINTO, partial(rivals.readinto, files), "bytes", **amount),
    ]


def peak(settings: Settings) -> float:
    """Peak memory of a process that takes random batches of windows."""
    import tfrkit as tfr

    batches = iter(tfr.rlds.open(folder(settings)).windows("train").global_shuffle(seed=1).batch(BATCH))
    for _, _ in zip(range(20), batches, strict=False):
        pass
    return peak_mb()


def run(settings: Settings) -> Report:
    """Measure windows and index on all cores, and the memory of windows."""
    report = Report("rlds")
    folder(settings)
    results = in_child("rlds", "contenders", settings, cores=None)
    report.add_results(f"Random windows, history {HISTORY}, future {FUTURE}, batches of {BATCH}", results)
    named = by_name(results)
    rivals_in_batch = [named[WHOLE], named[SKIPPED]]
    report.ratio("random windows", named[OURS], rivals_in_batch, REQUIRED)
    report.ratio("random windows", named[OURS_ONE], rivals_in_batch, REQUIRED)
    report.ratio(
        "random windows, theirs not in memory O(batch)", named[OURS], [named[BUFFER], named[LATE]], None
    )
    results = in_child("rlds", "index_contenders", settings, cores=None)
    report.add_results("Index of the episodes", results)
    named = by_name(results)
    report.ratio("index", named[INDEX], [named[READINTO]], INDEX_REQUIRED)
    found = in_child("rlds", "peak", settings, cores=None)
    report.add_claim(Claim("random windows: peak memory", found, LIMIT_MB, "MB", "at most"))
    return report
