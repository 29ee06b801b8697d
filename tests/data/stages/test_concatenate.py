from __future__ import annotations

import numpy as np
import pytest

from tests.data.support.outcomes import outcomes, resumed
from tests.data.support.runs_node import RunsNode, pull_all
from tfrkit import Dataset
from tfrkit.data.elements.chunk import ColumnChunk
from tfrkit.data.stages.concatenate import ConcatenateNode

ERROR = ValueError("told")


def test_one_after_the_other_errors_included():
    numbers = ColumnChunk(np.arange(2), 2)
    node = ConcatenateNode(RunsNode((numbers, ERROR)), RunsNode((ERROR, numbers)))
    assert pull_all(node) == [0, 1, ERROR, ERROR, 0, 1]


def test_the_second_is_not_begun_before_the_first_ends():
    seen: list[int] = []
    dataset = Dataset.range(2).concatenate(Dataset.range(2).map(lambda x: seen.append(int(x)) or x))
    iterator = iter(dataset)
    assert [next(iterator), next(iterator)] == [0, 1]
    assert seen == []
    assert list(iterator) == [0, 1]
    assert seen == [0, 1]


def test_shapes_become_as_general_as_needed():
    dataset = Dataset.from_tensors([1, 2]).concatenate(Dataset.from_tensors([1, 2, 3]))
    assert dataset.element_spec.shape == (None,)
    assert outcomes(dataset) == [[1, 2], [1, 2, 3]]


def test_other_types_are_refused_at_once():
    with pytest.raises(TypeError) as caught:
        Dataset.range(2).concatenate(Dataset.from_tensors("x"))
    assert str(caught.value) == (
        "Incompatible dataset elements:\n  TensorSpec(shape=(), dtype=tf.int64, name=None) vs.   "
        "TensorSpec(shape=(), dtype=tf.string, name=None)"
    )


def test_other_types_of_a_function_are_refused_when_they_come():
    dataset = Dataset.range(2).concatenate(Dataset.range(2).map(lambda x: (x, x)))
    found = outcomes(dataset)
    assert found[:2] == [0, 1]
    assert found[2].startswith("TypeError: Incompatible dataset elements:")


@pytest.mark.parametrize("at", range(6))
def test_states(at):
    make = lambda: Dataset.range(3).concatenate(Dataset.range(2))  # noqa: E731
    assert resumed(make, at) == outcomes(make())[at:]


def test_cardinality_is_the_sum():
    numbers = Dataset.range(3)
    assert numbers.concatenate(numbers).cardinality() == 6
    assert numbers.concatenate(numbers.repeat()).cardinality() == -1
    assert numbers.concatenate(numbers.filter(lambda x: x > 1)).cardinality() == -2


def test_something_else_is_refused():
    with pytest.raises(TypeError, match=r"expected a Dataset to concatenate but got list"):
        Dataset.range(2).concatenate([1, 2])
