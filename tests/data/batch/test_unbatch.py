from __future__ import annotations

import numpy as np
import pytest

from tests.data.support.outcomes import outcomes, resumed
from tests.data.support.runs_node import RunsNode, pull_all
from tfrkit import Block, Dataset, Ragged, Sparse
from tfrkit.data.batch.batch import BatchNode
from tfrkit.data.batch.unbatch import UnbatchNode
from tfrkit.data.elements.chunk import ObjectChunk, RecordChunk
from tfrkit.data.engine.node import Context

ERROR = ValueError("told")


def test_rows_of_all_kinds():
    element = (
        [1, 2],
        {"r": Ragged.from_list([[1, 2], [3]]), "s": Sparse([[0, 1]], np.array([5]), [2, 2]), "b": ["x", "y"]},
        None,
    )
    found = list(Dataset.from_tensors(element).unbatch())
    assert [row[0].tolist() for row in found] == [1, 2]
    assert [row[1]["r"].tolist() for row in found] == [[1, 2], [3]]
    assert [row[1]["s"].to_dense().tolist() for row in found] == [[0, 5], [0, 0]]
    assert [row[1]["b"] for row in found] == [b"x", b"y"]
    assert found[0][2] is None


def test_records_are_references_again():
    records = RecordChunk([Block.from_records([b"a", b"b", b"c"])])
    node = UnbatchNode(BatchNode(RunsNode((records,)), 2, False))
    run = node.begin(Context()).pull(10)
    assert run is not None
    assert isinstance(run.chunk, RecordChunk)
    assert pull_all(node) == [b"a", b"b", b"c"]


def test_elements_without_rows_are_passed_over():
    dataset = Dataset.range(4).map(lambda x: np.full(int(x) % 2, x)).unbatch()
    assert outcomes(dataset) == [1, 3]


def test_errors_come_between_the_rows_of_elements():
    node = UnbatchNode(RunsNode((ObjectChunk([np.arange(2)]), ERROR, ObjectChunk([np.arange(1)]), ERROR)))
    assert pull_all(node) == [0, 1, ERROR, 0, ERROR]


def test_parts_of_different_lengths_are_an_error_of_their_element():
    dataset = Dataset.range(3).map(lambda x: (np.zeros(2), np.zeros(1 if x == 1 else 2))).unbatch()
    found = outcomes(dataset)
    assert found[2] == (
        "InvalidArgumentError: Input element must have the same batch size in each component. "
        "Component 0 had size 2 but component 1 had size, 1."
    )
    assert len(found) == 5


def test_scalars_are_refused_at_once_or_when_they_come():
    with pytest.raises(ValueError, match=r"^Cannot unbatch an input with scalar components\.$"):
        Dataset.range(3).unbatch()
    assert outcomes(Dataset.range(1).map(lambda x: x).unbatch()) == [
        "InvalidArgumentError: Input element must have a non-scalar value in each component."
    ]


def test_one_element_is_pulled_at_a_time():
    seen: list[int] = []
    iterator = iter(Dataset.range(5).map(lambda x: seen.append(int(x)) or np.zeros(3)).unbatch())
    for _ in range(3):
        next(iterator)
    assert seen == [0]


@pytest.mark.parametrize("at", range(8))
def test_states_between_rows(at):
    make = lambda: Dataset.range(7).batch(3).unbatch()  # noqa: E731
    assert resumed(make, at) == list(range(7))[at:]
    failing = lambda: Dataset.range(6).map(lambda x: np.zeros((int(x) % 3,) * (x != 4))).unbatch()  # noqa: E731
    assert resumed(failing, at) == outcomes(failing())[at:]


def test_cardinality():
    numbers = Dataset.range(6)
    assert numbers.batch(2, drop_remainder=True).unbatch().cardinality() == 6
    assert numbers.batch(2).unbatch().cardinality() == -2
    assert numbers.batch(2).repeat().unbatch().cardinality() == -1
    assert numbers.batch(2).map(lambda x: x).unbatch().cardinality() == -2
