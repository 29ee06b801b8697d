from __future__ import annotations

import threading

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.outcomes import outcomes, resumed
from tfrkit.data.dataset import Dataset
from tfrkit.data.engine.call_each import call_each
from tfrkit.data.shuffle.epoch_seeds import set_seed
from tfrkit.errors import InvalidArgumentError


def fail_at(*numbers):
    def function(x):
        if int(x) in numbers:
            raise KeyError(int(x))
        return x * 10

    return function


def test_results_are_what_tensorflow_would_make_of_them():
    found = list(Dataset.range(2).map(lambda x: {"a": 1, "b": [1.5, 2.5], "c": "x", "d": x}))
    assert [type(found[0][key]) for key in "acd"] == [np.int32, bytes, np.int64]
    assert found[1]["b"].dtype == np.float32


def test_tuples_are_unpacked_and_dicts_are_not():
    pairs = Dataset.range(3).map(lambda x: (x, x + 1))
    assert outcomes(pairs.map(lambda a, b: a * b)) == [0, 2, 6]
    assert outcomes(pairs.map(lambda a, b: {"a": a, "b": b}).map(lambda d: d["b"])) == [1, 2, 3]


@pytest.mark.parametrize("parallel", [None, 1, 3, -1])
def test_errors_come_in_their_places_and_the_next_element_follows(parallel):
    ds = Dataset.range(8).map(fail_at(0, 3, 4, 7), num_parallel_calls=parallel)
    assert outcomes(ds) == [
        "KeyError: 0", 10, 20, "KeyError: 3", "KeyError: 4", 50, 60, "KeyError: 7",
    ]  # fmt: skip


def test_the_user_gets_his_own_exception():
    error = KeyError("mine")

    def function(x):
        raise error

    with pytest.raises(KeyError) as caught:
        next(iter(Dataset.range(1).map(function)))
    assert caught.value is error


def test_the_function_runs_for_elements_that_were_asked_for_only():
    calls = []
    ds = Dataset.range(100).map(lambda x: calls.append(int(x)) or x)
    assert outcomes(ds.take(1)) == [0]
    assert calls == [0]
    next(iter(ds.batch(4)))
    assert calls == [0, 0, 1, 2, 3]


def test_the_function_does_not_run_beyond_its_own_error():
    calls = []

    def function(x):
        calls.append(int(x))
        return fail_at(2)(x)

    iterator = iter(Dataset.range(6).map(function).batch(4))
    with pytest.raises(KeyError):
        next(iterator)
    assert calls == [0, 1, 2]
    assert next(iterator).tolist() == [30, 40, 50]
    assert calls == [0, 1, 2, 3, 4, 5]


def test_stop_iteration_is_no_end():
    def function(x):
        if x == 1:
            raise StopIteration("no")
        return x

    ds = Dataset.range(3).map(function)
    assert outcomes(ds) == [
        0,
        "InvalidArgumentError: Function invocation produced OutOfRangeError: StopIteration: ",
        2,
    ]


def test_interrupted_function_is_called_again():
    again = []

    def function(x):
        if x == 2 and not again:
            again.append(x)
            raise KeyboardInterrupt
        return x

    iterator = iter(Dataset.range(4).map(function).batch(4))
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    assert next(iterator).tolist() == [0, 1, 2, 3]


def test_parallel_calls_must_be_positive():
    for wrong in (0, -2):
        with pytest.raises(InvalidArgumentError, match=r"num_parallel_calls must be greater than zero\."):
            Dataset.range(3).map(lambda x: x, num_parallel_calls=wrong)


def test_call_each_stops_at_an_error():
    made, error = call_each(lambda a, b: a // b, [(4, 2), (3, 1), (1, 0), (5, 5)])
    assert made == [2, 3]
    assert isinstance(error, ZeroDivisionError)
    assert call_each(abs, []) == ([], None)


@pytest.mark.parametrize("at", range(9))
def test_state(at):
    def make():
        return Dataset.range(8).map(fail_at(0, 3, 4))

    assert resumed(make, at) == outcomes(make())[at:]


def test_asking_for_the_spec_does_not_change_the_order_of_a_shuffle():
    def picky(x):
        if not int(x) >= 2:
            raise ValueError("no made-up element")
        return np.full(int(x), x)

    def orders(asked):
        set_seed(3)
        dataset = Dataset.range(2, 12).shuffle(5).map(picky)
        if asked:
            assert dataset.element_spec.dtype == np.int64
        return [[len(each) for each in dataset] for _ in range(2)]

    try:
        assert orders(asked=True) == orders(asked=False)
    finally:
        set_seed(None)


def test_a_function_that_reads_files_may_be_called_by_number(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_many([b"x" * 1000] * 9000)

    def count(record):
        return sum(len(block) for block in tfr.read_blocks(tmp_path / "a.tfrecord", threads=2))

    ds = tfr.TFRecordDataset(tmp_path / "a.tfrecord").map(count, num_parallel_calls=2).batch(64)
    found = []
    reader = threading.Thread(target=lambda: found.append(ds[0]), daemon=True)
    reader.start()
    reader.join(30)
    assert [each.tolist() for each in found] == [[9000] * 64]
