from __future__ import annotations

import random

import pytest

import tfrkit as tfr
from tests.data.stages.test_map import fail_at
from tests.data.support.outcomes import outcomes, resumed, wait_for
from tfrkit.data.dataset import Dataset
from tfrkit.data.stages.interleave import resolve_cycle
from tfrkit.errors import InvalidArgumentError

FAILS = "ValueError: told"


def model(datasets, cycle, block, *, parallel):
    """TensorFlow's order, one step at a time; an error in the place of a dataset or of an element is FAILS."""
    found, slots, at, done, source, ended = [], [None] * cycle, 0, 0, iter(datasets), False
    while not ended or any(slot is not None for slot in slots):
        slot = slots[at]
        if slot:
            item = slot.pop(0)
            found.append(item)
            done += item != FAILS or parallel
            if done < block:
                continue
        elif slot is None and not ended:
            item = next(source, None)
            ended = item is None
            if item == FAILS and not parallel:
                found.append(item)
            elif item is not None:
                slots[at] = [FAILS] if item == FAILS else list(item)
            continue
        else:
            slots[at] = None
        at, done = (at + 1) % cycle, 0
    return found


def told(x):
    raise ValueError("told")


class Plan:
    """A random interleave: sizes of datasets, and what fails."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.rng = rng
        self.count = rng.randint(0, 9)
        self.cycle, self.block = rng.randint(1, 4), rng.randint(1, 3)
        self.parallel = rng.choice([None, rng.randint(1, self.cycle), -1])
        self.sizes = [rng.choice([0, 1, 2, 3, 5, 700]) for _ in range(self.count)]
        chance = rng.choice([0, 0.2])
        self.inputs = {number for number in range(self.count) if rng.random() < chance}
        self.functions = {number for number in range(self.count) if rng.random() < chance}
        self.elements = {number: rng.randrange(4) for number in range(self.count) if rng.random() < chance}

    def build(self, parallel="own"):
        source = Dataset.range(self.count).map(lambda x: told(x) if int(x) in self.inputs else x)
        calls = self.parallel if parallel == "own" else parallel
        return source.interleave(self.inner, self.cycle, self.block, calls)

    def inner(self, x):
        number = int(x)
        if number in self.functions:
            told(x)
        ds = Dataset.range(1000 * number, 1000 * number + self.sizes[number])
        if number in self.elements:
            return ds.map(lambda y: told(y) if int(y) % 1000 == self.elements[number] else y)
        return ds

    def expected(self, parallel="own"):
        datasets = []
        for number, size in enumerate(self.sizes):
            rows = [1000 * number + row for row in range(size)]
            if self.elements.get(number, size) < size:
                rows[self.elements[number]] = FAILS
            datasets.append(FAILS if number in self.inputs | self.functions else rows)
        calls = self.parallel if parallel == "own" else parallel
        return model(datasets, self.cycle, self.block, parallel=calls is not None)


@pytest.mark.parametrize("seed", range(150))
def test_order_and_errors(seed):
    plan = Plan(seed)
    assert outcomes(plan.build()) == plan.expected()


@pytest.mark.parametrize("seed", range(60))
def test_runs_of_every_size_give_the_same(seed):
    plan = Plan(seed)
    plan.inputs, plan.functions, plan.elements = set(), set(), {}
    size = plan.rng.choice([1, 2, 7, 64, 1000])
    found = [x for batch in plan.build().batch(size) for x in batch.tolist()]
    assert found == plan.expected()


@pytest.mark.parametrize("seed", range(60))
def test_state(seed):
    plan = Plan(seed)
    plan.sizes = [min(size, 40) for size in plan.sizes]
    expected = plan.expected()
    at = plan.rng.randint(0, len(expected) + 1)
    assert resumed(plan.build, at) == expected[at:]


def test_flat_map_gives_one_after_another():
    ds = Dataset.range(4).map(fail_at(2)).flat_map(lambda x: Dataset.range(int(x), int(x) + 2))
    assert outcomes(ds) == [0, 1, 10, 11, "KeyError: 2", 30, 31]


def test_the_function_is_called_when_its_dataset_is_visited():
    calls = []

    def inner(x):
        calls.append(int(x))
        return Dataset.range(2)

    iterator = iter(Dataset.range(10).interleave(inner, cycle_length=3))
    next(iterator)
    assert calls == [0]
    next(iterator)
    assert calls == [0, 1]


def test_what_is_no_dataset_is_refused():
    with pytest.raises(TypeError, match=r"`map_func` must return a `Dataset` object\. Got <class 'int'>\."):
        next(iter(Dataset.range(3).flat_map(int)))


def test_parallel_datasets_are_read_ahead():
    running, most = [], [0]

    def function(x):
        running.append(x)
        most.append(len(running))
        wait_for(lambda: max(most) > 1, 0.05)  # another call may take a while to begin on a busy machine
        running.pop()
        return x

    ds = Dataset.range(4).interleave(lambda x: Dataset.range(20).map(function), 4, 1, 4)
    assert outcomes(ds) == [row for row in range(20) for _ in range(4)]
    assert max(most) > 1


def test_files_in_turn(tmp_path):
    paths = []
    for file in range(5):
        paths.append(tmp_path / f"{file}.tfrecord")
        with tfr.TFRecordWriter(paths[-1]) as writer:
            writer.write_many([b"%d-%d" % (file, row) for row in range(100 * (5 - file))])
    rows = [[b"%d-%d" % (file, row) for row in range(100 * (5 - file))] for file in range(5)]
    for count in (2, 3, 8):
        ds = tfr.TFRecordDataset(paths, num_parallel_reads=count)
        assert list(ds) == model(rows, count, 1, parallel=True)
        found = [record for batch in ds.batch(64) for record in batch.to_numpy().tolist()]
        assert found == model(rows, count, 1, parallel=True)
        assert resumed(lambda ds=ds: ds, 333) == model(rows, count, 1, parallel=True)[333:]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 1, None), "cycle_length must be greater than zero."),
        ((1, 0, None), "block_length must be greater than zero."),
        ((2, 1, 0), "num_parallel_calls must be greater than zero."),
        ((0, 1, 2), "`cycle_length` must be `tf.data.AUTOTUNE` or greater than 0 but is 0"),
        ((2, 0, 2), "`block_length` must be > 0"),
        ((2, 1, 3), "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either "),
    ],
)
def test_wrong_arguments(arguments, text):
    with pytest.raises(InvalidArgumentError) as caught:
        resolve_cycle(*arguments)
    assert str(caught.value).startswith(text)


def test_the_cycle_is_part_of_the_state(monkeypatch):
    ds = Dataset.range(6).interleave(lambda x: Dataset.range(3).map(lambda y: y + x * 10))
    monkeypatch.setattr("tfrkit.data.stages.interleave.default_threads", lambda: 3)
    iterator = iter(ds)
    assert [int(next(iterator)) for _ in range(4)] == [0, 10, 20, 1]
    state = iterator.state()
    monkeypatch.setattr("tfrkit.data.stages.interleave.default_threads", lambda: 2)
    assert outcomes(ds.iter_from(state), 4) == [11, 21, 2, 12]
