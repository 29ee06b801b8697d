"""Cursor: what is put back comes again, positions are right, and reading ahead cannot be observed."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.runs_node import RunsNode
from tfrkit.data.dataset import Dataset
from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.engine.cursor import Cursor, next_demand, split
from tfrkit.data.engine.node import Context
from tfrkit.data.sources.numbers import RangeNode


def _range(count):
    return tfr.Dataset.range(count).node


def _cursor(node, state=None):
    return Cursor(node, Context(), state, objects=True)


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


class _Counted(RunsNode):
    """Counts, for every iterator, how often it was saved and pulled."""

    def start(self, context, state=None):
        iterator = super().start(context, state)
        calls = {"save": 0, "pull": 0}
        self.spec.append(calls)

        def counted(name):
            method = getattr(iterator, name)

            def call(*args):
                calls[name] += 1
                return method(*args)

            return call

        iterator.save, iterator.pull = counted("save"), counted("pull")
        return iterator


STAGES = {
    "map": lambda ds: ds.map(lambda x: x),
    "parallel map": lambda ds: ds.map(lambda x: x, num_parallel_calls=2),
    "filter": lambda ds: ds.filter(lambda x: x != b"3"),
    "prefetch": lambda ds: ds.prefetch(2),
    "batch": lambda ds: ds.batch(4),
    "parse": lambda ds: ds.batch(4).map(lambda x: x).unbatch().batch(3).prefetch(1),
    "interleave": lambda ds: ds.batch(4).flat_map(tfr.Dataset.from_tensor_slices),
}


@pytest.mark.parametrize("stage", STAGES)
def test_an_input_is_saved_at_most_once_a_pull(stage):
    calls = []
    chunk = ObjectChunk([b"%d" % number for number in range(50)])
    source = _Counted((chunk, ValueError("between"), chunk), calls)
    iterator = iter(STAGES[stage](Dataset(source)).ignore_errors())
    for _ in iterator:
        iterator._root.save()
    assert calls[0]["pull"] > 2
    assert all(each["save"] <= each["pull"] + 1 for each in calls)


def _taken(segments):
    return [each for segment in segments for each in segment.chunk.objects()]


def test_what_was_taken_is_put_back_in_any_parts():
    cursor = Cursor(
        RunsNode((ObjectChunk([*range(5)]), OSError("after 4"), ObjectChunk([5, 6, 7]))), Context()
    )
    first = cursor.take_all(4)
    assert _taken(first) == [0, 1, 2, 3]
    second = cursor.take_all(4)
    assert (_taken(second), str(second[-1].error)) == ([4], "after 4")
    cursor.put_all_back(second)
    kept, rest = split(first, 1)
    cursor.put_all_back(rest)
    assert _taken(kept) == [0]
    assert cursor.save() == {"at": [0, 0], "skip": 1}
    one = cursor.take(1)
    cursor.put_back(one)
    assert _taken(cursor.take_all(9)) == [1, 2, 3, 4]
    assert _taken(cursor.take_all(9)) == [5, 6, 7]
    assert cursor.take(1) is None
