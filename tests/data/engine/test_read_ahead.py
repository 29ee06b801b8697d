"""Stages that look at single elements read ahead where nobody can notice, and only there."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.engine.node import Context
from tfrkit.data.engine.read_ahead import ObjectCursor, next_demand
from tfrkit.data.sources.range import RangeNode


def _range(count):
    return tfr.Dataset.range(count).node


def _cursor(node, state=None):
    return ObjectCursor(node, Context(), state)


def test_demand_doubles_within_limits():
    demands = [1]
    while demands[-1] < 1024:
        demands.append(next_demand(demands[-1], ObjectChunk([b"x"])))
    assert demands == [2**power for power in range(11)]
    assert next_demand(1024, ObjectChunk([b"x"])) == 1024
    assert next_demand(512, ObjectChunk([bytes(2**18)] * 2)) == 4
    assert next_demand(512, ObjectChunk([bytes(2**22)])) == 1


def test_few_elements_are_cut_from_runs_of_many():
    node = _range(100)
    assert isinstance(node, RangeNode)
    cursor = _cursor(node)
    found = []
    while (run := cursor.take(1)) is not None:
        assert isinstance(run.chunk, ObjectChunk)
        found += run.chunk.objects()
    assert found == list(range(100))
    assert {type(value) for value in found} == {np.int64}


def test_many_elements_come_as_they_are():
    run = _cursor(_range(100)).take(50)
    assert run is not None
    assert len(run.chunk) == 50
    assert not isinstance(run.chunk, ObjectChunk)


@pytest.mark.parametrize("used", [0, 1, 2, 3, 10, 39, 40])
def test_a_state_goes_on_with_the_next_element(used):
    cursor = _cursor(_range(40))
    for _ in range(used):
        cursor.take(1)
    again = _cursor(_range(40), json.loads(json.dumps(cursor.save(), default=lambda value: value.to_json())))
    rest = []
    while (run := again.take(7)) is not None:
        rest += run.chunk.objects()
    assert rest == list(range(used, 40))


def test_functions_run_for_what_is_asked_for():
    calls = []

    def function(x):
        calls.append(int(x))
        if x % 10 == 3:
            raise ZeroDivisionError
        return x

    elements = iter(tfr.Dataset.range(100).map(function).map(function))
    for number in range(3):
        assert next(elements) == number
    assert calls == [0, 0, 1, 1, 2, 2]
    with pytest.raises(ZeroDivisionError):
        next(elements)
    assert next(elements) == 4
    assert calls == [0, 0, 1, 1, 2, 2, 3, 4, 4]


def test_generators_are_not_read_ahead():
    given = []

    def generate():
        for number in range(10):
            given.append(number)
            yield number

    signature = tfr.TensorSpec([], "int64")
    elements = iter(tfr.Dataset.from_generator(generate, output_signature=signature).map(lambda x: x))
    assert [int(next(elements)) for _ in range(3)] == [0, 1, 2]
    assert given == [0, 1, 2]
