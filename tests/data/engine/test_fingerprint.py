"""What a pipeline is known by: stages, arguments, and the functions with the plain values that they were made with."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit.data.engine.fingerprint import fingerprint


def name_of(function: Callable[..., Any]) -> str:
    return fingerprint(tfr.Dataset.range(3).map(function).node)


def with_variable(value: Any) -> Callable[[Any], Any]:
    return lambda x: (x, value)


def with_default(value: Any) -> Callable[..., Any]:
    return lambda x, y=value: (x, y)


def with_keyword(value: Any) -> Callable[..., Any]:
    def function(x: Any, *, y: Any = value) -> Any:
        return x, y

    return function


def within(value: Any) -> Callable[[Any], Any]:
    inner = with_variable(value)
    return lambda x: (inner(x), x)


def in_partial(value: Any) -> Callable[..., Any]:
    return functools.partial(lambda x, y: (x, y), y=value)


@dataclass
class Adds:
    value: Any

    def __call__(self, x: Any) -> Any:
        return x, self.value


FROZEN = [np.arange(3), np.arange(1, 4)]
for array in FROZEN:
    array.flags.writeable = False


@pytest.mark.parametrize("make", [with_variable, with_default, with_keyword, within, in_partial, Adds])
@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 2), (1, 1.0), ("a", "b"), (None, b""), ((1, 2), (1, 3)), (np.int64(1), np.int32(1)), FROZEN],
    ids=str,
)
def test_plain_values_of_a_function_count(make: Callable[[Any], Any], one: Any, other: Any) -> None:
    assert name_of(make(one)) == name_of(make(one))
    assert name_of(make(one)) != name_of(make(other))


@pytest.mark.parametrize("make", [with_variable, with_default, with_keyword, within])
def test_values_that_change_while_the_function_runs_do_not_count(make: Callable[[Any], Any]) -> None:
    calls: list[int] = []
    function = make(calls)
    before = name_of(function)
    calls.append(1)
    assert name_of(function) == before == name_of(make([2, 3]))


def test_a_variable_that_the_function_changes_does_not_count() -> None:
    calls = 0

    def count(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return x

    dataset = tfr.Dataset.range(3).map(count)
    before = fingerprint(dataset.node)
    assert len(list(dataset)) == 3
    assert fingerprint(dataset.node) == before


def test_functions_that_call_themselves_have_a_name() -> None:
    def count(x: Any) -> Any:
        return x if x < 1 else count(x - 1)

    assert name_of(count) == name_of(count)


def test_things_that_cannot_be_pickled_have_a_name() -> None:
    class Odd:
        signature = "no function"
        lock = threading.Lock()

        def __call__(self, x: Any) -> Any:
            return x

    assert name_of(Odd()) == name_of(Odd())
    assert name_of(functools.partial(lambda x, y: x, threading.Lock()))
    assert name_of(in_partial({"b", "a"})) == name_of(in_partial({"a", "b"}))
