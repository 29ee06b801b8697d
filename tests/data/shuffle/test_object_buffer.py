"""ObjectBuffer draws what the native buffer draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfrkit.data.elements.chunk import ColumnChunk, ObjectChunk
from tfrkit.data.elements.origin import Origin
from tfrkit.data.shuffle.chunk_store import ChunkStore
from tfrkit.data.shuffle.object_buffer import ObjectBuffer


def hold(store: Any, chunk: Any) -> Any:
    """Let a store keep elements, whose numbers count from 0."""
    return store.hold(chunk, np.arange(len(chunk)))


@given(st.data())
def test_it_draws_as_the_other_store_does(data):
    ours, theirs = ObjectBuffer(), ChunkStore()
    seed, drawn = data.draw(st.integers(0, 2**40)), data.draw(st.integers(0, 20))
    for store in (ours, theirs):
        store.reseed(seed, 7, drawn)
    number = 0
    for _ in range(data.draw(st.integers(1, 12))):
        count = data.draw(st.integers(1, 9))
        items = ObjectChunk(list(range(number, number + count)))
        number += count
        filled = data.draw(st.integers(0, count))
        window = data.draw(st.sampled_from([0, len(ours) + filled]))
        if window < count - filled:
            window = 0
        found = []
        for store in (ours, theirs):
            hold(store, items)
            store.append(filled)
            chunk = store.draw(count - filled, window, exchange=True) if filled < count else ObjectChunk([])
            drawn_now = store.draw(min(2, len(store)))
            store.tidy()
            found.append([*chunk.objects(), *drawn_now.objects()])
        assert found[0] == found[1]
        assert len(ours) == len(theirs)


def test_origins_come_along():
    store = ObjectBuffer()
    store.reseed(1, 2)
    origin = Origin(("a", "b"), np.array([0, 1, 0], np.int32), np.array([5, 6, 7]))
    hold(store, ObjectChunk(["a5", "b6", "a7"], origin))
    store.append(3)
    found = store.draw(3)
    names = [
        f"{found.origin.paths[file]}{record}"
        for file, record in zip(found.origin.files, found.origin.records, strict=True)
    ]
    assert names == found.objects()
    assert len(store) == 0
    hold(store, ObjectChunk(["x"]))
    store.append(1)
    assert store.draw(1).origin is None


def test_other_chunks_become_objects():
    store = ObjectBuffer()
    hold(store, ColumnChunk({"x": np.arange(3)}, 3))
    store.append(3)
    assert sorted(int(each["x"]) for each in store.draw(3).objects()) == [0, 1, 2]


def test_what_was_drawn_is_let_go():
    store = ObjectBuffer()
    for number in range(5000):
        hold(store, ObjectChunk([bytes(100)]))
        if number < 10:
            store.append(1)
        else:
            store.draw(1, exchange=True)
        store.tidy()
    assert len(store) == 10
    assert store.live_bytes == 1000
    assert len(store._entries) < 2100
