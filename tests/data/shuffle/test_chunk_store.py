"""What a shuffle holds: the right elements, and little more memory than they take."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.support.runs_node import RunsNode
from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk, RecordChunk
from tfrkit.data.engine.node import Context
from tfrkit.data.shuffle import chunk_store
from tfrkit.data.shuffle.chunk_store import ChunkStore
from tfrkit.data.shuffle.epoch_seeds import SeedGenerator
from tfrkit.data.shuffle.shuffle import ShuffleIterator, ShuffleNode
from tfrkit.model.block import Block
from tfrkit.model.ragged import Ragged
from tfrkit.testing.shuffle_reference import PlainSeeds, plain_shuffle


def hold(store: Any, chunk: Any) -> Any:
    """Let a store keep elements, whose numbers count from 0."""
    return store.hold(chunk, np.arange(len(chunk)))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy survivors and put chunks together already with a few."""
    monkeypatch.setattr(chunk_store, "_SLACK_BYTES", 100)
    monkeypatch.setattr(chunk_store, "_MANY_SLOTS", 4)
    monkeypatch.setattr(chunk_store, "_KEEP_SLOTS", 2)


def shuffled(parts: list[Chunk], size: int) -> ShuffleIterator:
    iterator = ShuffleNode(RunsNode(tuple(parts)), size, SeedGenerator(1, 2, reshuffle=False)).begin(
        Context()
    )
    assert isinstance(iterator, ShuffleIterator)
    return iterator


def placed_blocks(rng: random.Random, count: int) -> tuple[list[Block], dict[bytes, tuple[str, int, int]]]:
    """Blocks of three files, and where each record stands."""
    blocks, places = [], {}
    number = 0
    positions = dict.fromkeys("abc", 0)
    records = dict.fromkeys("abc", 0)
    while number < count:
        path = rng.choice("abc")
        made = [
            b"%d:" % i + rng.randbytes(rng.choice([0, 5, 100]))
            for i in range(number, number + rng.randint(1, 30))
        ]
        number += len(made)
        plain = Block.from_records(made)
        start, first = positions[path], records[path]
        blocks.append(
            Block(plain.data, plain.offsets, plain.lengths, path=path, first_record=first, start=start)
        )
        for i, record in enumerate(made):
            places[record] = (path, first + i, start + int(plain.offsets[i]) - 12)
        positions[path] += len(plain.data)
        records[path] += len(made)
    return blocks, places


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("size", [1, 10, 77, 10_000])
@pytest.mark.parametrize("n", [1, 16, 500])
def test_records_keep_their_places_when_they_are_copied(size, n):
    blocks, places = placed_blocks(random.Random(size), 1500)
    iterator = shuffled([RecordChunk([block]) for block in blocks], size)
    order = [record for block in blocks for record in block]
    expected = plain_shuffle(order, size, PlainSeeds(1, 2, reshuffle=False))
    while (run := iterator.pull(n)) is not None:
        assert isinstance(run.chunk, RecordChunk)
        for row, record in enumerate(run.chunk.objects()):
            assert record == next(expected)
            block, place = run.chunk.find(row)
            assert (block.path, *block.place(place)) == places[record]
    assert next(expected, None) is None
    assert iterator._store.live_bytes == 0


def test_no_more_than_half_again_is_held():
    rng = random.Random(3)
    largest = 0

    def chunk() -> RecordChunk:
        nonlocal largest
        made = Block.from_records(
            [rng.randbytes(rng.choice([10, 1000, 5000])) for _ in range(rng.randint(50, 500))]
        )
        largest = max(largest, len(made.data))
        return RecordChunk([made])

    iterator = shuffled([chunk() for _ in range(60)], 4000)
    worst = 0.0
    while iterator.pull(64) is not None:
        spare = (1 << 20) + max(largest, 1 << 20)  # a run on its way
        assert iterator._store.held_bytes <= 1.5 * iterator._store.live_bytes + spare
        worst = max(worst, iterator._store.held_bytes / (iterator._store.live_bytes + spare))
    assert worst > 0.5


def test_chunks_are_let_go():
    iterator = shuffled([ColumnChunk(np.zeros((500, 5000), np.uint8), 500) for _ in range(40)], 1000)
    most = 0
    while iterator.pull(100) is not None:
        most = max(most, len(iterator._store._slots))
    assert most < 20
    assert iterator._store.copied_bytes > 0
    assert (iterator._store.held_bytes, iterator._store.live_bytes, len(iterator._store._slots)) == (0, 0, 0)


FORMS = ["columns", "ragged", "objects", "records"]


def make(form: str, numbers: list[int]) -> Chunk:
    if form == "columns":
        return ColumnChunk({"x": np.array(numbers), "y": np.zeros((len(numbers), 3))}, len(numbers))
    if form == "ragged":
        return ColumnChunk(
            Ragged.from_list([[number] * (number % 5) + [number] for number in numbers]), len(numbers)
        )
    if form == "objects":
        return ObjectChunk([(np.int64(number), b"text") for number in numbers])
    return RecordChunk([Block.from_records([b"%d" % number for number in numbers])])


def number_of(element: Any) -> int:
    if isinstance(element, bytes):
        return int(element)
    if isinstance(element, np.ndarray):
        assert len(element) == element[0] % 5 + 1
        return int(element[0])
    return int(element["x"] if isinstance(element, dict) else element[0])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("forms", [[form] for form in FORMS] + [FORMS])
@pytest.mark.parametrize("length", [1, 7, 40])
def test_many_chunks_become_few(forms, length):
    kinds = itertools.cycle(forms)
    parts = [make(next(kinds), list(range(first, first + length))) for first in range(0, 40 * length, length)]
    iterator = shuffled(parts, 300)
    found: list[int] = []
    for n in itertools.cycle([1, 3, 50]):
        run = iterator.pull(n)
        if run is None:
            break
        found += map(number_of, run.chunk.objects())
        if isinstance(iterator._store, ChunkStore):
            assert len(iterator._store._slots) <= 8 + 300 // 16
        else:
            assert forms in (["objects"], ["records"])
    assert found == list(plain_shuffle(range(40 * length), 300, PlainSeeds(1, 2, reshuffle=False)))


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=5), max_size=20), st.integers(1, 30))
def test_chosen_rows_of_shared_blocks(chosen, size):
    # Chunks that refer to some records of blocks that others refer to as well.
    blocks = [Block.from_records([b"%d" % (6 * i + j) for j in range(6)]) for i in range(3)]
    parts = [
        RecordChunk(blocks, np.array([number % 3 for number in rows]), np.array(rows, np.int64))
        for rows in chosen
    ]
    iterator = shuffled(list(parts), size)
    items = [record for part in parts for record in part.objects()]
    found: list[bytes] = []
    while (run := iterator.pull(3)) is not None:
        found += run.chunk.objects()
    assert found == list(plain_shuffle(items, size, PlainSeeds(1, 2, reshuffle=False)))
    assert iterator._store.live_bytes == 0


def test_a_chunk_is_not_let_go_before_all_of_it_is_in():
    store = ChunkStore()
    hold(store, ObjectChunk([b"a", b"b", b"c"]))
    assert store.draw(1, exchange=True).objects() == [b"a"]
    store.tidy()
    assert len(store._slots) == 1
    store.append(2)
    assert sorted(store.draw(2).objects()) == [b"b", b"c"]
    store.tidy()
    assert len(store._slots) == 0
