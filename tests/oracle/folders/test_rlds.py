"""Episodes, steps and windows have the values that TensorFlow Datasets decodes, whatever the spans."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import tensorflow_datasets as tfds

import tfrkit as tfr
from tests.oracle.folders.support.tfds_folders import assert_same, read_by_tfds, write_folder

F = tfds.features
RANDOM = np.random.default_rng(7)
LENGTHS = [[5, 1, 3], [2, 6], [1], [4, 2]]  # of the episodes of each shard
CAMERA, WRIST = (16, 24, 3), (None, None, 3)

STEP = {
    "observation": F.FeaturesDict(
        {
            "image": F.Image(shape=CAMERA, encoding_format="jpeg"),
            "wrist": F.Image(shape=WRIST, encoding_format="png"),
            "state": F.Tensor(shape=(7,), dtype=np.float32),
            "depth": F.Tensor(shape=(4, 5), dtype=np.uint16, encoding="zlib"),
            "cloud": F.Tensor(shape=(None, None), dtype=np.float32, encoding="bytes"),
        }
    ),
    "action": F.Tensor(shape=(2, 3), dtype=np.float64),
    "reward": F.Scalar(np.float32),
    "is_first": F.Scalar(np.bool_),
    "label": F.ClassLabel(num_classes=9),
    "big": F.Scalar(np.uint64),
    "language_instruction": F.Text(),
    "names": F.Tensor(shape=(2,), dtype=np.str_),
    "tokens": F.Sequence(F.Scalar(np.int32)),
    "views": F.Sequence(F.Image(shape=(4, 4, 1), encoding_format="png")),
    "boxes": F.Sequence({"box": F.BBoxFeature(), "words": F.Sequence(F.Text())}),
}


def pixels(*shape: int, dtype: Any = np.uint8) -> Any:
    return RANDOM.integers(0, np.iinfo(dtype).max, shape, dtype)


def step(number: int, count: int) -> dict[str, Any]:
    return {
        "observation": {
            "image": pixels(*CAMERA),
            "wrist": pixels(3 + count % 2, 5, 3),
            "state": RANDOM.normal(size=7).astype(np.float32),
            "depth": pixels(4, 5, dtype=np.uint16),
            "cloud": RANDOM.normal(size=(number % 3, 2)).astype(np.float32),
        },
        "action": RANDOM.normal(size=(2, 3)),
        "reward": np.float32(number),
        "is_first": number == 0,
        "label": number % 9,
        "big": np.uint64(2**63 + number),
        "language_instruction": f"do {number} of {count}",
        "names": ["a", f"b{number}"],
        "tokens": list(range(number % 4)),
        "views": [pixels(4, 4, 1) for _ in range(number % 3)],
        "boxes": [
            {"box": tfds.features.BBox(0.0, 0.1, 0.2, 0.3), "words": ["x"] * each}
            for each in range(number % 3)
        ],
    }


def episode(count: int) -> dict[str, Any]:
    return {
        "steps": [step(number, count) for number in range(count)],
        "episode_metadata": {"file": str(count)},
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    features = F.FeaturesDict(
        {"steps": F.Dataset(STEP), "episode_metadata": F.FeaturesDict({"file": F.Text()})}
    )
    shards = [[episode(count) for count in counts] for counts in LENGTHS]
    return write_folder(tmp_path_factory.mktemp("rlds") / "robots", features, {"train": shards})


@pytest.fixture(scope="module")
def steps(folder):
    """The steps of each episode, decoded by TensorFlow Datasets."""
    return [list(each["steps"]) for each in read_by_tfds(folder, "train")]


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {path: value}
    parts = (leaves(each, f"{path}/{name}" if path else name) for name, each in value.items())
    return {key: each for part in parts for key, each in part.items()}


def expected_windows(steps, span_of):
    """The plain way: for each step of each episode the steps of each feature, and whether they are in the episode."""
    for episode_steps in steps:
        flat = [leaves(each) for each in episode_steps]
        for t in range(len(flat)):
            window, mask = {}, {}
            for name in flat[0]:
                if (span := span_of(name)) is None:
                    continue
                numbers = range(t + span[0], t + span[1])
                window[name] = [flat[min(max(number, 0), len(flat) - 1)][name] for number in numbers]
                mask[name] = [0 <= number < len(flat) for number in numbers]
            yield window, mask


def assert_window(ours, window, where):
    flat = leaves(ours)
    assert set(flat) == set(window), where
    for name, rows in window.items():
        assert len(flat[name]) == len(rows), (where, name)
        for number, row in enumerate(rows):
            assert_same(flat[name][number], row, f"{where}/{name}[{number}]")


def test_steps_are_those_of_tfds(folder, steps):
    robots = tfr.rlds.open(folder)
    assert robots.lengths("train").tolist() == [len(each) for each in steps]
    ds, flat = robots.steps("train"), [each for one in steps for each in one]
    assert len(ds) == len(flat) == sum(map(sum, LENGTHS))
    for number, (ours, theirs) in enumerate(zip(ds, flat, strict=True)):
        assert_same(ours, theirs, f"step {number}")
        assert_same(ds[number], theirs, f"step {number} by number")


def test_episodes_are_those_of_tfds(folder):
    for ours, theirs in zip(
        tfr.rlds.open(folder).episodes("train"), read_by_tfds(folder, "train"), strict=True
    ):
        assert ours["episode_metadata"]["file"] == theirs["episode_metadata"]["file"].numpy()
        np.testing.assert_array_equal(
            ours["steps"]["reward"], [each["reward"].numpy() for each in theirs["steps"]]
        )


@pytest.mark.parametrize("split", ["train[:50%]", "train[1:-1]", "train[2shard]"])
def test_parts_of_splits_have_their_steps(folder, split):
    ds = tfr.rlds.open(folder).windows(split, 1, 1)
    theirs = [each["reward"].numpy() for one in read_by_tfds(folder, split) for each in one["steps"]]
    assert [float(each["reward"][0]) for each in ds] == theirs


@pytest.mark.parametrize(("history", "future"), [(2, 8), (1, 1), (4, 2)])
def test_windows_are_those_of_a_plain_loop(folder, steps, history, future):
    ds = tfr.rlds.open(folder).windows("train", history, future, pad="mask")

    def span_of(name):
        return (1 - history, 1) if name.startswith("observation/") else (0, future)

    for number, (window, mask) in enumerate(expected_windows(steps, span_of)):
        ours = ds[number]
        masks = {key: each.tolist() for key, each in leaves(ours.pop("mask")).items()}
        assert_window(ours, window, f"window {number}")
        assert masks == mask, number


@pytest.mark.parametrize("seed", range(6))
def test_random_spans_in_any_order_and_in_batches(folder, steps, seed):
    random = np.random.default_rng(seed)
    names = list(leaves(steps[0][0]))
    spans: dict[str, tuple[int, int] | None] = {}
    for name in names:
        first = int(random.integers(-9, 9))
        spans[name] = None if random.random() < 0.3 else (first, first + int(random.integers(1, 6)))
    spans["reward"] = (-1, 1)
    ds = tfr.rlds.open(folder).windows("train", spans=spans)
    expected = [window for window, _ in expected_windows(steps, spans.__getitem__)]
    for number in random.permutation(len(ds)).tolist():
        assert_window(ds[number], expected[number], f"window {number}")
    shuffled = ds.global_shuffle(seed=seed)
    order = [float(each["reward"][-1]) for each in shuffled]
    spans.update({"observation/cloud": None, "observation/wrist": None})  # of different shapes
    same = tfr.rlds.open(folder).windows("train", spans=spans).global_shuffle(seed=seed)
    batches = [batch["reward"][:, -1].tolist() for batch in same.batch(5)]
    assert [each for batch in batches for each in batch] == order
    assert sorted(order) == sorted(float(each["reward"][-1]) for each in expected)


def test_batches_are_columns_of_windows(folder, steps):
    spans = dict.fromkeys(["observation/wrist", "tokens", "views", "boxes", "observation/cloud"])
    ds = tfr.rlds.open(folder).windows("train", 2, 3, spans=spans)
    expected = [
        window
        for window, _ in expected_windows(
            steps,
            lambda name: (
                None
                if name.split("/")[0] in spans or name in spans
                else ((-1, 1) if name.startswith("observation") else (0, 3))
            ),
        )
    ]
    numbers = [7, 0, 0, len(ds) - 1, 8]
    batch = leaves(ds.at(numbers))
    assert batch["observation/image"].shape == (5, 2, *CAMERA)
    for row, number in enumerate(numbers):
        assert_window({key: each[row] for key, each in batch.items()}, expected[number], f"row {row}")


def test_batches_of_windows_have_the_spec(folder):
    spans = {"observation/wrist": None, "observation/cloud": None, "views": None}
    ds = tfr.rlds.open(folder).windows("train", 2, 3, spans=spans)
    specs, window = leaves(ds.element_spec), leaves(ds[3])
    for name, spec in specs.items():
        shape = np.shape(window[name]) if isinstance(window[name], np.ndarray) else window[name].shape
        assert all(wanted in (None, found) for wanted, found in zip(spec.shape, shape, strict=True)), name
    bounds = [0, *np.cumsum(tfr.rlds.open(folder).lengths("train")).tolist()]
    assert all(first < last for first, last in pairwise(bounds))
