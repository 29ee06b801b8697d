"""with_column: a function's value for every element, called only for elements that were asked for."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.runs_node import RunsNode, pull_all
from tests.data.support.same import same
from tfrkit.data.elements.chunk import ColumnChunk, ObjectChunk
from tfrkit.data.engine.node import Context
from tfrkit.data.features.with_column import WithColumnNode
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.element_spec import TensorSpec

IDS = tfr.Ragged.from_list([[1, 2], [], [3]])
COLUMNS = ColumnChunk({"x": np.arange(3), "ids": IDS}, 3)
SPEC = {"x": TensorSpec([], "int64")}


def pulled(function, chunk=COLUMNS):
    return WithColumnNode(RunsNode((chunk,), SPEC), "y", function).begin(Context()).pull(9)


@pytest.mark.parametrize(
    ("function", "batch"),
    [
        (lambda e: e["x"] * 2, np.array([0, 2, 4])),
        (lambda e: int(e["x"]), np.array([0, 1, 2], np.int32)),
        (lambda e: "ab", tfr.BytesColumn.from_list([b"ab"] * 3)),
        (lambda e: [e["x"], 1.5], np.array([[0, 1.5], [1, 1.5], [2, 1.5]], np.float32)),
    ],
)
def test_values_become_a_column(function, batch):
    run = pulled(function)
    assert isinstance(run.chunk, ColumnChunk)
    assert list(run.chunk.columns) == ["x", "ids", "y"]
    made = run.chunk.batch()
    assert same(np.asarray(made["y"], batch.dtype) if isinstance(batch, np.ndarray) else made["y"], batch)
    assert same(made["ids"], IDS)


def test_different_shapes_are_rows_and_no_batch():
    run = pulled(lambda e: e["ids"])
    assert [row["y"].tolist() for row in run.chunk.objects()] == [[1, 2], [], [3]]
    with pytest.raises(
        InvalidArgumentError, match=r"^Cannot batch tensors with different shapes in component 2"
    ):
        run.chunk.batch()


def test_an_error_comes_out_in_its_place_and_the_function_is_not_called_ahead():
    called = []

    def function(element):
        called.append(int(element["x"]))
        if element["x"] == 1:
            raise KeyError("one")
        return element["x"]

    iterator = WithColumnNode(RunsNode((COLUMNS,), SPEC), "y", function).begin(Context())
    run = iterator.pull(9)
    assert (len(run.chunk), type(run.error), called) == (1, KeyError, [0, 1])
    assert iterator.save() == {"at": [0, 0], "skip": 2}
    assert [row["y"] for row in iterator.pull(9).chunk.objects()] == [2]


def test_python_elements():
    run = pulled(lambda e: e["x"] + 1, ObjectChunk([{"x": np.int64(1)}]))
    assert run.chunk.objects() == [{"x": 1, "y": 2}]
    run = pulled(lambda e: e, ObjectChunk([(1,)]))
    assert str(run.error) == "with_column('y'): expected elements that are dicts of features but got tuple"


def test_a_feature_of_the_name_is_replaced():
    node = WithColumnNode(RunsNode((COLUMNS,), SPEC), "x", lambda e: e["x"] + 1)
    assert [row["x"] for row in pull_all(node)] == [1, 2, 3]


def test_element_spec_has_what_the_function_gives():
    node = WithColumnNode(RunsNode((COLUMNS,), SPEC), "y", lambda e: e["ids"])
    assert node.element_spec() == {**SPEC, "y": TensorSpec([None], "int64")}
    assert not node.pure
