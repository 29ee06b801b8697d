"""shuffle: order, demand, errors and epochs, against a plain model and golden orders of TensorFlow."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr
from tests.data.support.runs_node import RunsNode
from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk, RecordChunk
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run
from tfrkit.data.shuffle.epoch_seeds import SeedGenerator
from tfrkit.data.shuffle.shuffle import ShuffleNode
from tfrkit.model.block import Block
from tfrkit.testing.shuffle_reference import PlainSeeds, plain_shuffle_repeat

# What TensorFlow 2.21 gives for range(count).shuffle(size, seed), one epoch after another.
GOLDEN = [
    (12, 5, 42, [[0, 2, 3, 6, 7, 9, 4, 5, 8, 1, 10, 11], [3, 5, 2, 1, 8, 4, 0, 11, 9, 10, 7, 6]]),
    (1, 1, 0, [[0], [0]]),
    (10, 1, 7, [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]),
    (
        10,
        3,
        0,
        [[0, 2, 3, 5, 1, 4, 6, 7, 8, 9], [0, 3, 2, 5, 4, 6, 8, 1, 9, 7], [1, 3, 2, 5, 6, 0, 8, 9, 4, 7]],
    ),
    (10, 10, 1, [[0, 9, 5, 1, 2, 7, 3, 8, 6, 4], [8, 9, 7, 5, 4, 6, 2, 1, 0, 3]]),
    (10, 100, 1, [[0, 9, 5, 1, 2, 7, 3, 8, 6, 4], [8, 9, 7, 5, 4, 6, 2, 1, 0, 3]]),
    (
        16,
        -2,
        5,
        [
            [13, 12, 5, 6, 0, 9, 4, 7, 2, 10, 3, 1, 8, 11, 14, 15],
            [4, 1, 15, 10, 11, 8, 12, 2, 5, 3, 7, 13, 14, 0, 6, 9],
        ],
    ),
    (13, 4, -1, [[2, 4, 3, 6, 1, 5, 7, 9, 0, 12, 8, 11, 10], [2, 3, 0, 1, 4, 7, 8, 5, 6, 12, 9, 10, 11]]),
    (
        13,
        4,
        2147483647,
        [[0, 3, 2, 6, 5, 1, 9, 7, 10, 12, 4, 8, 11], [3, 0, 2, 6, 7, 4, 1, 10, 11, 12, 5, 8, 9]],
    ),
    (
        13,
        4,
        2147483648,
        [[0, 4, 5, 1, 2, 7, 9, 6, 3, 11, 10, 8, 12], [2, 1, 3, 4, 6, 8, 7, 5, 10, 9, 0, 12, 11]],
    ),
    (
        9,
        2,
        123456789012,
        [[1, 2, 3, 0, 5, 4, 7, 8, 6], [1, 0, 2, 3, 4, 6, 7, 5, 8], [0, 2, 3, 4, 1, 5, 6, 7, 8]],
    ),
    (
        20,
        7,
        2021,
        [
            [0, 4, 2, 1, 8, 11, 5, 10, 14, 3, 7, 17, 12, 13, 9, 16, 15, 19, 18, 6],
            [3, 6, 5, 0, 4, 1, 10, 2, 13, 8, 16, 14, 18, 19, 12, 7, 17, 11, 9, 15],
        ],
    ),
]


@dataclass(frozen=True, eq=False)
class Noticing(RunsNode):
    """A source that counts what is pulled, and so must not be pulled ahead."""

    counts: Any = None

    @property
    def pure(self) -> bool:
        return False

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _Counting(super().start(context, state), self.counts)


class _Counting(NodeIterator):
    def __init__(self, inner: NodeIterator, counts: list[int]) -> None:
        self.inner, self.counts = inner, counts

    def pull(self, n: int) -> Run | None:
        run = self.inner.pull(n)
        if run is not None:
            self.counts[0] += len(run.chunk)
        return run

    def save(self) -> Any:
        return self.inner.save()


def make_chunk(form: str, numbers: list[int]) -> Chunk:
    if form == "columns":
        return ColumnChunk({"x": np.array(numbers, np.int64)}, len(numbers))
    if form == "objects":
        return ObjectChunk([{"x": np.int64(number)} for number in numbers])
    return RecordChunk([Block.from_records([b"%d" % number for number in numbers])])


def number_of(element: Any) -> int:
    return int(element) if isinstance(element, bytes) else int(element["x"])


def make_parts(form: str, items: list[Any], cuts: list[int]) -> tuple[Chunk | Exception, ...]:
    """Chunks of the items, cut at errors and after so many."""
    parts: list[Chunk | Exception] = []
    sizes = itertools.cycle(cuts)
    pending: list[int] = []
    left = next(sizes)
    for item in [*items, None]:
        if pending and (item is None or isinstance(item, Exception) or len(pending) == left):
            parts.append(make_chunk(form, pending))
            pending, left = [], next(sizes)
        if isinstance(item, Exception):
            parts.append(item)
        elif item is not None:
            pending.append(item)
    return tuple(parts)


def events(iterator: NodeIterator, sizes: Iterator[int], limit: int = 1 << 30) -> list[Any]:
    """What comes out, errors in their places."""
    found: list[Any] = []
    while (
        len(found) < limit and (run := iterator.pull(n := min(next(sizes), limit - len(found)))) is not None
    ):
        assert len(run.chunk) <= n
        assert len(run.chunk) or run.error
        found += map(number_of, run.chunk.objects())
        if run.error is not None:
            found.append(run.error)
    return found


FORMS = st.sampled_from(["records", "columns", "objects"])
SIZES = st.sampled_from([1, 2, 3, 5, 17, 100, 2**40, -2])


@st.composite
def pipelines(draw: Any) -> tuple[list[Any], int, int, list[int], list[int], str]:
    count = draw(st.integers(0, 60))
    items: list[Any] = list(range(count))
    for place in draw(st.lists(st.integers(0, count), max_size=4)):
        items.insert(place, ValueError(f"before {place}"))
    lengths = st.lists(st.integers(1, 30), min_size=1, max_size=3)
    return items, draw(SIZES), draw(st.sampled_from([1, 2, 5, -1])), draw(lengths), draw(lengths), draw(FORMS)


@given(pipelines(), st.booleans(), st.booleans())
def test_equals_the_plain_model(pipeline, pure, reshuffle):
    items, size, repeats, pulls, cuts, form = pipeline
    if repeats < 0 and not any(isinstance(item, int) for item in items):
        repeats = 1
    parts = make_parts(form, items, cuts)
    source = RunsNode(parts) if pure else Noticing(parts, counts=[0])
    node = ShuffleNode(source, size, SeedGenerator(3, 4, reshuffle=reshuffle), repeats)
    epochs = itertools.repeat(items) if repeats < 0 else itertools.repeat(items, repeats)
    expected = plain_shuffle_repeat(epochs, size, PlainSeeds(3, 4, reshuffle=reshuffle))
    iterator = node.begin(Context())
    assert events(iterator, itertools.cycle(pulls), 300)[:300] == list(itertools.islice(expected, 300))
    if repeats > 0 and len(items) * repeats < 300:
        assert iterator.pull(1) is None
        assert iterator.pull(1) is None


@given(pipelines())
def test_pulls_no_more_than_tensorflow(pipeline):
    items, size, repeats, _, cuts, form = pipeline
    if repeats < 0 and not any(isinstance(item, int) for item in items):
        repeats = 1
    counts, plain = [0], [0]

    def epoch() -> Iterator[Any]:
        for item in items:
            plain[0] += isinstance(item, int)
            yield item

    node = ShuffleNode(
        Noticing(make_parts(form, items, cuts), counts=counts),
        size,
        SeedGenerator(3, 4, reshuffle=True),
        repeats,
    )
    epochs = (epoch() for _ in (itertools.count() if repeats < 0 else range(repeats)))
    expected = plain_shuffle_repeat(epochs, size, PlainSeeds(3, 4, reshuffle=True))
    iterator = node.begin(Context())
    for _ in range(200):
        found = events(iterator, itertools.repeat(1), 1)  # an error comes with the element before it
        assert found == list(itertools.islice(expected, max(1, len(found))))
        assert counts == plain


@pytest.mark.parametrize(("count", "size", "seed", "orders"), GOLDEN)
def test_orders_of_tensorflow(count, size, seed, orders):
    dataset = tfr.Dataset.range(count).shuffle(size, seed=seed)
    assert [[int(x) for x in dataset] for _ in orders] == orders
    dataset = tfr.Dataset.range(count).shuffle(size, seed=seed).repeat(len(orders))
    assert [int(x) for x in dataset] == [number for order in orders for number in order]


def test_the_same_order_again_without_reshuffling():
    dataset = tfr.Dataset.range(12).shuffle(5, seed=42, reshuffle_each_iteration=False)
    assert [int(x) for x in dataset] == [int(x) for x in dataset] == [2, 5, 1, 7, 0, 8, 9, 10, 6, 3, 4, 11]
    assert [int(x) for x in dataset.repeat(2)] == 2 * [2, 5, 1, 7, 0, 8, 9, 10, 6, 3, 4, 11]


def test_seeds_are_drawn_when_an_iterator_is_made():
    _, _, _, orders = GOLDEN[0]
    dataset = tfr.Dataset.range(12).shuffle(5, seed=42)
    first, second = iter(dataset), iter(dataset)
    assert [int(x) for x in second] == orders[1]
    assert [int(x) for x in first] == orders[0]


def test_a_shuffle_begins_its_input_at_the_first_element():
    # So that of two shuffles in a row, the first draws its seeds then.
    dataset = tfr.Dataset.range(20).shuffle(7, seed=1).shuffle(5, seed=2)
    alone = tfr.Dataset.range(20).shuffle(7, seed=1).shuffle(5, seed=2)
    one, two = iter(dataset), iter(dataset)
    found = [int(x) for x in two], [int(x) for x in one]
    first, second = iter(alone), iter(alone)
    assert ([int(x) for x in first], [int(x) for x in second]) != found[::-1]
    assert sorted(found[0]) == sorted(found[1]) == list(range(20))


def test_size_must_be_positive():
    for size in (0, -1, -3):
        with pytest.raises(
            tfr.errors.InvalidArgumentError,
            match="buffer_size must be greater than zero or UNKNOWN_CARDINALITY",
        ):
            tfr.Dataset.range(3).shuffle(size)


def test_a_huge_buffer_takes_no_memory_before_it_is_filled():
    dataset = tfr.Dataset.range(100).shuffle(2**62, seed=1)
    assert sorted(int(x) for x in dataset) == list(range(100))


def test_endless_repeating_of_nothing_ends():
    assert list(tfr.Dataset.range(0).shuffle(5).repeat()) == []


def test_cardinality_and_label():
    dataset = tfr.Dataset.range(10).shuffle(3)
    assert int(dataset.cardinality()) == 10
    assert int(dataset.repeat(3).cardinality()) == 30
    assert int(dataset.repeat().cardinality()) == tfr.INFINITE_CARDINALITY
    assert dataset.node.label == "shuffle(3)"
    assert dataset.repeat().node.label == "shuffle(3).repeat()"
    assert dataset.repeat(2).node.label == "shuffle(3).repeat(2)"


def test_a_closed_iterator_is_at_its_end():
    node: Node = tfr.Dataset.range(10).shuffle(3).node
    iterator = node.begin(Context())
    assert iterator.pull(2) is not None
    iterator.close()
    iterator.close()
    assert iterator.pull(2) is None


def test_records_stay_records_and_columns_columns():
    for form, kind in [("records", RecordChunk), ("columns", ColumnChunk), ("objects", ObjectChunk)]:
        node = ShuffleNode(RunsNode((make_chunk(form, [1, 2, 3]),)), 2, SeedGenerator(1, 2, reshuffle=True))
        run = node.begin(Context()).pull(3)
        assert run is not None
        assert isinstance(run.chunk, kind)
