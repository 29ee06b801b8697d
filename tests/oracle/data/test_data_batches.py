"""Batches, zip and concatenate of what users' functions make, failing ones among them: tfrkit against tf.data, live."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.data.support.spaces import Space
from tests.oracle.support.data_scenarios import USER, agree, facts, ours, theirs, unfused
from tests.support.rules import tf_rule

RESULTS: dict[str, Callable[[Space], Callable[[Any], Any]]] = {
    "number": lambda lib: lambda x: x * 2,
    "float": lambda lib: lambda x: lib.cast(x, "float32") / 2,
    "string": lambda lib: lib.text,
    "vector": lambda lib: lambda x: lib.full(x, x),
    "strings": lambda lib: lambda x: lib.full(x, lib.text(x)),
    "tuple": lambda lib: lambda x: (x, lib.full(x, x)),
    "list": lambda lib: lambda x: [x, lib.text(x)],
    "dict": lambda lib: lambda x: {"b": x, "a": (lib.full(x, lib.cast(x, "float32")), lib.text(x))},
    "constants": lambda lib: lambda x: (1, 2.5, "s", True, [1, 2], x),
    "none": lambda lib: lambda x: (x, None),
    "nested lists": lambda lib: lambda x: ([x, x], {"k": [1, 2]}),
}


def mapped(lib: Space, name: str, count: int = 6) -> Any:
    return lib.Dataset.range(count).map(RESULTS[name](lib))


def failing(lib: Space, count: int, *wrong: int) -> Any:
    """Numbers, of which some fail."""

    def check(x: Any) -> Any:
        for number in wrong:
            x = lib.check(x != number, x)
        return x

    return lib.Dataset.range(count).map(check)


def as_written(case: Callable[[Space], Any]) -> None:
    """Compare with TensorFlow's stages as they are written: it fuses map and batch, and then loses whole batches."""
    agree(lambda lib: unfused(lib, case(lib)))


@tf_rule("5 list of map")
@pytest.mark.parametrize("name", RESULTS)
def test_what_functions_give_is_converted(name):
    agree(lambda lib: mapped(lib, name))


@tf_rule("5 batch")
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("name", RESULTS)
def test_batch(name, drop):
    as_written(lambda lib: mapped(lib, name).batch(2, drop_remainder=drop))


@tf_rule("5 padded_batch")
@pytest.mark.parametrize("name", [name for name in RESULTS if name != "none"])
def test_padded_batch(name):
    agree(lambda lib: mapped(lib, name).padded_batch(4))


@tf_rule("5 padded_batch")
def test_padded_batch_with_arguments():
    for value in (np.int64(-1), None):
        agree(lambda lib, value=value: mapped(lib, "vector").padded_batch(4, padding_values=value))
    for value in (-1, "x", [np.int64(1)]):
        case = lambda lib, value=value: mapped(lib, "vector").padded_batch(4, padding_values=value)  # noqa: E731
        reference, mine = facts(theirs(), case), facts(ours(), case)
        assert (
            mine.passes[0][0] == reference
        )  # TensorFlow knows it at once, tfrkit when the first batch is made
    agree(lambda lib: mapped(lib, "tuple").padded_batch(4, padded_shapes=([], [5])))
    agree(lambda lib: mapped(lib, "tuple").padded_batch(4, padded_shapes=([], [3])))
    agree(lambda lib: mapped(lib, "tuple").padded_batch(4, ([], [None]), (None, np.int64(7)), True))


@tf_rule("5 ragged_batch")
@pytest.mark.parametrize(
    "name", ["number", "float", "string", "vector", "strings", "tuple", "list", "dict", "none"]
)
def test_ragged_batch(name):
    as_written(lambda lib: mapped(lib, name).ragged_batch(4))


@tf_rule("5 unbatch")
@pytest.mark.parametrize("name", ["vector", "strings"])
def test_unbatch(name):
    agree(lambda lib: mapped(lib, name).unbatch())


@tf_rule("5 map error in batch")
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 10])
@pytest.mark.parametrize("wrong", [(0,), (3,), (6,), (2, 3), (0, 1, 2, 3, 4, 5, 6)])
def test_a_failing_element_loses_the_batch_that_was_begun(wrong, size, drop):
    as_written(lambda lib: failing(lib, 7, *wrong).batch(size, drop_remainder=drop))
    agree(lambda lib: failing(lib, 7, *wrong).padded_batch(size, drop_remainder=drop))
    as_written(lambda lib: failing(lib, 7, *wrong).batch(size).unbatch())


@tf_rule("5 zip error")
@pytest.mark.parametrize(
    "wrong", [((0,), ()), ((2,), (1,)), ((1,), (1,)), ((), (4,)), ((4,), ()), ((2, 3), (3, 0))]
)
def test_zip_stays_in_step(wrong):
    first, second = wrong
    as_written(lambda lib: lib.Dataset.zip(failing(lib, 6, *first), failing(lib, 4, *second)))
    as_written(lambda lib: lib.Dataset.zip(failing(lib, 3, *first), failing(lib, 5, *second)))
    as_written(
        lambda lib: lib.Dataset.zip({"b": failing(lib, 5, *first), "a": lib.Dataset.range(4)}).batch(2)
    )
    as_written(lambda lib: lib.Dataset.zip(lib.Dataset.range(4), failing(lib, 5, *first)))
    as_written(lambda lib: lib.Dataset.zip(failing(lib, 6, 2, 3, 4), failing(lib, 2, *second)))


@tf_rule("5 concatenate")
def test_concatenate():
    agree(lambda lib: failing(lib, 3, 1).concatenate(failing(lib, 3, 0)), [0, USER, 2, USER, 1, 2])
    as_written(lambda lib: failing(lib, 3, 1).concatenate(failing(lib, 3, 0)).batch(2))
    agree(lambda lib: mapped(lib, "dict").concatenate(mapped(lib, "dict", 2)))
