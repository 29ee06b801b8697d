from __future__ import annotations

import gc
import time

import numpy as np
import pytest

from tests.data.support.outcomes import outcomes, resumed
from tfrkit import TensorSpec
from tfrkit.data.dataset import Dataset
from tfrkit.data.sources.generator_check import checker
from tfrkit.errors import InternalError, UnknownError

INT = TensorSpec([], "int32")


def test_values_have_the_announced_types():
    ds = Dataset.from_generator(lambda: [1, 2.7, np.int64(3)], output_signature=INT)
    found = list(ds)
    assert [type(value) for value in found] == [np.int32] * 3
    assert found == [1, 2, 3]


def test_it_is_called_for_every_pass_with_its_arguments():
    calls = []

    def numbers(first, rest):
        calls.append((type(first), type(rest)))
        yield first
        yield from rest

    ds = Dataset.from_generator(numbers, "int64", args=(3, [4, 5]))
    assert outcomes(ds) == [3, 4, 5]
    assert outcomes(ds.repeat(2)) == [3, 4, 5, 3, 4, 5]
    assert calls == [(np.int32, np.ndarray)] * 3


def test_only_what_is_wanted_is_asked_for():
    asked = []

    def numbers():
        for number in range(100):
            asked.append(number)
            yield number

    assert outcomes(Dataset.from_generator(numbers, output_signature=INT).take(2)) == [0, 1]
    assert asked == [0, 1]


def test_an_exception_comes_after_what_was_yielded_and_ends_it():
    def numbers():
        yield 1
        raise ZeroDivisionError("oh")

    ds = Dataset.from_generator(numbers, output_signature=INT)
    assert outcomes(ds) == [1, "UnknownError: ZeroDivisionError: oh"]
    iterator = iter(ds)
    next(iterator)
    with pytest.raises(UnknownError) as caught:
        next(iterator)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_wrong_values_are_refused_and_the_next_follows():
    ds = Dataset.from_generator(lambda: [[1], [1, 2], [3]], output_signature=TensorSpec([1], "int32"))
    text = "`generator` yielded an element of shape (2,) where an element of shape (1,) was expected."
    assert outcomes(ds) == [[1], f"InvalidArgumentError: TypeError: {text}", [3]]


def test_abandoned_generators_are_closed():
    closed = []

    def numbers():
        try:
            yield from range(10)
        finally:
            closed.append(True)

    ds = Dataset.from_generator(numbers, output_signature=INT)
    for count, make in enumerate(
        [lambda: iter(ds), lambda: iter(ds.prefetch(2)), lambda: iter(ds.batch(3))], 1
    ):
        iterator = make()
        next(iterator)
        del iterator
        gc.collect()
        deadline = time.monotonic() + 20
        while (
            len(closed) < count and time.monotonic() < deadline
        ):  # a thread that runs it closes it when it is done
            time.sleep(0.001)
    assert closed == [True] * 3


def test_strings_must_be_strings():
    check = checker(TensorSpec([None], "string"))
    assert check(["a", b"b"]).to_numpy().tolist() == [b"a", b"b"]
    with pytest.raises(InternalError, match="Unsupported object type int"):
        check(np.array([1], object))


@pytest.mark.parametrize("at", range(6))
def test_state_replays(at):
    def numbers():
        yield from ([1], [2], [1, 2], [3])
        raise KeyError("x")

    def make():
        return Dataset.from_generator(numbers, output_signature=TensorSpec([1], "int32"))

    assert resumed(make, at) == outcomes(make())[at:]
