"""Stages that take one element at a time: they go on from a saved state, pickle, and close what they opened."""

from __future__ import annotations

import contextlib
import json
import pickle

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit import Dataset


def is_small(x):
    return x < 6


def add(total, x):
    return total + x, total


def parity(x):
    return x % 2


def pair(key, part):
    return part.batch(2)


def batch(part):
    return part.batch(9)


def fail_at_four(x):
    if x == 4:
        raise ZeroDivisionError
    return x


def repeated(x):
    return np.full(int(x) % 4 + 1, x)


VERBS = {
    "take_while": lambda ds: ds.take_while(is_small),
    "scan": lambda ds: ds.scan(np.int64(0), add),
    "unique": lambda ds: ds.map(parity).unique(),
    "rebatch": lambda ds: ds.batch(4).rebatch([1, 3]),
    "window": lambda ds: ds.window(3, 2).flat_map(batch),
    "group_by_window": lambda ds: ds.group_by_window(parity, pair, 3),
    "buckets": lambda ds: ds.map(repeated).bucket_by_sequence_length(len, [2, 4], [2, 2, 2]),
    "choose": lambda ds: Dataset.choose_from_datasets([ds, Dataset.range(50, 60)], Dataset.range(2).repeat()),
    "sample": lambda ds: Dataset.sample_from_datasets([ds, Dataset.range(50, 60)], [0.3, 0.7], seed=3),
    "random": lambda ds: Dataset.zip(ds, Dataset.random(seed=2)),
    "counter": lambda ds: Dataset.zip(ds, Dataset.counter(3, 2)),
    "sparse_batch": lambda ds: ds.map(repeated).sparse_batch(2, [None]),
}
INPUTS = {
    "range": lambda: Dataset.range(10),
    "shuffled": lambda: Dataset.range(10).shuffle(4, seed=5).repeat(2),
    "failing": lambda: Dataset.range(10).map(fail_at_four),
}


def outcomes(iterator):
    """What comes, with errors in their places."""
    found = []
    while True:
        try:
            found.append(shown(next(iterator)))
        except StopIteration:
            return found
        except ZeroDivisionError:
            found.append("error")


def shown(value):
    if isinstance(value, tuple):
        return [shown(part) for part in value]
    return value.to_dense().tolist() if isinstance(value, tfr.Sparse) else np.asarray(value).tolist()


@pytest.mark.parametrize("source", INPUTS)
@pytest.mark.parametrize("verb", VERBS)
def test_goes_on_from_every_place(verb, source):
    whole = outcomes(iter(VERBS[verb](INPUTS[source]())))
    for place in range(len(whole) + 1):
        dataset = VERBS[verb](INPUTS[source]())
        iterator = iter(dataset)
        for _ in range(place):
            with contextlib.suppress(ZeroDivisionError):
                next(iterator)
        state = json.loads(json.dumps(iterator.state()))
        again = pickle.loads(pickle.dumps(dataset)).iter_from(state)
        assert outcomes(again) == whole[place:]
        assert outcomes(iterator) == whole[place:]


def test_a_window_is_a_dataset():
    first, second = Dataset.range(4).window(2)
    assert isinstance(first, Dataset)
    assert [int(x) for x in second.map(lambda x: x + 1)] == [3, 4]
    assert len(first) == 2
    assert repr(Dataset.range(4).window(2).element_spec).startswith("DatasetSpec(TensorSpec(")


def test_explain_says_that_they_are_made_again():
    assert "window(3, 2, 1)" in Dataset.range(4).window(3, 2).explain()
