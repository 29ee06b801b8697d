from __future__ import annotations

import numpy as np
import pytest

from tests.data.support.outcomes import outcomes, resumed
from tests.data.support.runs_node import RunsNode, pull_all
from tests.data.support.same import same
from tfrkit import Block, Dataset, FixedLenFeature, make_example, parse_example
from tfrkit.data.batch.batch import BatchNode
from tfrkit.data.elements.chunk import ColumnChunk, ObjectChunk, RecordChunk
from tfrkit.data.engine.node import Context
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.model.record_column import RecordColumn

ERROR = ValueError("told")


def numbers(*values: int) -> ColumnChunk:
    return ColumnChunk(np.array(values), len(values))


def batches(*parts: object, size: int = 2, drop: bool = False) -> list[object]:
    found = pull_all(BatchNode(RunsNode(parts), size, drop))  # type: ignore[arg-type]
    return [item.tolist() if isinstance(item, np.ndarray) else item for item in found]


def test_the_last_batch_may_be_smaller_or_is_dropped():
    assert batches(numbers(1, 2, 3), numbers(4, 5)) == [[1, 2], [3, 4], [5]]
    assert batches(numbers(1, 2, 3), numbers(4, 5), drop=True) == [[1, 2], [3, 4]]
    assert batches() == []


def test_an_error_loses_what_was_collected_and_the_next_batch_begins_after_it():
    assert batches(numbers(1, 2, 3), ERROR, numbers(4, 5)) == [[1, 2], ERROR, [4, 5]]
    assert batches(numbers(1, 2), ERROR, numbers(3)) == [[1, 2], ERROR, [3]]
    assert batches(ERROR, ERROR, numbers(3), ERROR) == [ERROR, ERROR, ERROR]
    assert batches(numbers(1, 2), ERROR, drop=True) == [[1, 2], ERROR]


def test_shapes_that_differ_are_an_error_of_their_batch_only():
    dataset = Dataset.range(6).map(lambda x: np.zeros(2 if x == 1 else 1)).batch(2)
    found = outcomes(dataset)
    assert found[0] == (
        "InvalidArgumentError: Cannot batch tensors with different shapes in component 0. "
        "First element had shape [1] and element 1 had shape [2]."
    )
    assert found[1:] == [[[0.0], [0.0]]] * 2


def test_a_failing_batch_does_not_swallow_an_error_that_follows_it():
    uneven = ObjectChunk([np.zeros(1), np.zeros(2)])
    found = pull_all(BatchNode(RunsNode((uneven, ERROR, numbers(1, 2))), 2, False))
    assert isinstance(found[0], InvalidArgumentError)
    assert found[1] is ERROR
    assert found[2].tolist() == [1, 2]


def test_nothing_is_pulled_beyond_the_batch():
    seen: list[int] = []
    iterator = iter(Dataset.range(100).map(lambda x: seen.append(int(x)) or x).batch(3))
    next(iterator)
    assert seen == [0, 1, 2]
    next(iterator)
    assert seen == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("n", [1, 2, 3, 100])
def test_several_batches_at_once_are_the_same(n):
    parts = (numbers(*range(7)), ERROR, numbers(*range(5)), numbers(5), ERROR, numbers(9))
    found = pull_all(BatchNode(RunsNode(parts), 2, False), n)
    plain = [item.tolist() if isinstance(item, np.ndarray) else item for item in found]
    assert plain == [[0, 1], [2, 3], [4, 5], ERROR, [0, 1], [2, 3], [4, 5], ERROR, [9]]


def test_a_batch_of_records_refers_to_their_blocks():
    example = [make_example({"x": i}).SerializeToString() for i in range(5)]
    block = Block.from_records(example)
    batch = pull_all(BatchNode(RunsNode((RecordChunk([block]),)), 3, False))
    assert [len(part) for part in batch] == [3, 2]
    assert isinstance(batch[0], RecordColumn)
    assert np.shares_memory(batch[0].records.blocks[0].data, block.data)
    spec = {"x": FixedLenFeature([], "int64")}
    assert parse_example(batch[1], spec)["x"].tolist() == [3, 4]
    assert same(batch[1].to_list(), example[3:])


def test_batches_of_columns_are_views_until_they_are_handed_out():
    array = np.arange(4.0).reshape(4, 1)
    dataset = Dataset.from_tensor_slices(array).batch(2)
    (inside,) = dataset.node.begin(Context()).pull(1).chunk.objects()
    assert np.shares_memory(inside, array)
    assert not inside.flags.writeable
    batch = next(iter(dataset))
    assert not np.shares_memory(batch, array)
    assert batch.flags.writeable


@pytest.mark.parametrize("at", range(5))
def test_states_between_batches(at):
    def make() -> Dataset:
        return Dataset.range(7).map(_fail_at_two).batch(2)

    assert resumed(make, at) == outcomes(make())[at:]


def _fail_at_two(x):
    if x == 2:
        raise DataLossError("two")
    return x


def test_cardinality_and_spec():
    dataset = Dataset.range(7)
    assert [dataset.batch(3).cardinality(), dataset.batch(3, drop_remainder=True).cardinality()] == [3, 2]
    assert dataset.repeat().batch(3).cardinality() == -1
    assert repr(dataset.batch(3).element_spec) == "TensorSpec(shape=(None,), dtype=tf.int64, name=None)"
    assert dataset.batch(3, drop_remainder=True).element_spec.shape == (3,)
    assert dataset.batch(3, drop_remainder=True).node.label == "batch(3, drop_remainder=True)"


@pytest.mark.parametrize("size", [0, -1])
def test_sizes_that_are_refused(size):
    with pytest.raises(InvalidArgumentError, match=r"^Batch size must be greater than zero\.$"):
        Dataset.range(3).batch(size)


def test_closing_closes_the_input():
    iterator = BatchNode(RunsNode((numbers(1),)), 2, False).begin(Context())
    iterator.close()
    iterator.close()
    assert iterator._cursor.input.closed  # type: ignore[attr-defined]
