"""KeyboardInterrupt in a user's function: the element comes again, none is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tfrkit as tfr


def interrupted_once(at: int, result: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that is interrupted when it first sees an element."""
    seen: list[int] = []

    def function(x: Any) -> Any:
        if x == at and not seen:
            seen.append(at)
            raise KeyboardInterrupt
        return result(x)

    return function


def interrupted_row(at: int) -> Callable[[Any], Any]:
    """The same for elements with a feature `x`."""
    function = interrupted_once(at, lambda x: x)
    return lambda row: function(row["x"])


VERBS: dict[str, Callable[[Any], Any]] = {
    "map": lambda ds: ds.map(interrupted_once(5, lambda x: x)),
    "filter": lambda ds: ds.filter(interrupted_once(5, lambda x: True)),
    "flat_map": lambda ds: ds.flat_map(interrupted_once(5, lambda x: tfr.Dataset.range(x, x + 1))),
    "with_column": lambda ds: (
        ds.map(lambda x: {"x": x}).with_column("y", interrupted_row(5)).map(lambda row: row["y"])
    ),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("ahead", [False, True])
def test_nothing_is_lost(verb: str, ahead: bool) -> None:
    dataset = VERBS[verb](tfr.Dataset.range(10))
    iterator = iter(dataset.prefetch(2) if ahead else dataset)
    found: list[int] = []
    interrupts = 0
    while True:
        try:
            found.append(int(next(iterator)))
        except KeyboardInterrupt:
            interrupts += 1
        except StopIteration:
            break
    assert interrupts == 1
    assert found == list(range(10))


def test_a_generator_that_is_interrupted_while_it_is_replayed_begins_again() -> None:
    interrupts = [False]

    def generate() -> Iterator[int]:
        for number in range(6):
            if number == 2 and interrupts[0]:
                interrupts[0] = False
                raise KeyboardInterrupt
            yield number

    dataset = tfr.Dataset.from_generator(generate, output_signature=tfr.TensorSpec((), "int64"))
    iterator = iter(dataset)
    for _ in range(4):
        next(iterator)
    interrupts[0] = True
    resumed = dataset.iter_from(iterator.state())
    with pytest.raises(KeyboardInterrupt):
        next(resumed)
    assert [int(x) for x in resumed] == [4, 5]
