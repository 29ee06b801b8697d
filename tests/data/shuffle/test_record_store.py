"""Records in a shuffle's buffer: what comes out is what went in, with its place, in TensorFlow's order."""

from __future__ import annotations

import pickle
import random
import resource
from typing import Any

import numpy as np
import pytest

from tfrkit import Block
from tfrkit.data.elements.chunk import ObjectChunk, RecordChunk
from tfrkit.data.shuffle.chunk_store import ChunkStore
from tfrkit.data.shuffle.record_store import RecordStore
from tfrkit.model.scattered_block import ScatteredBlock

WHO = getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)  # macOS counts for the process alone


def hold(store: Any, chunk: Any) -> Any:
    """Let a store keep elements, whose numbers count from 0."""
    return store.hold(chunk, np.arange(len(chunk)))


def block_of(path: str | None, first: int, records: list[bytes]) -> Block:
    made = Block.from_records(records)
    return Block(made.data, made.offsets, made.lengths, path=path, first_record=first, start=1000 * first)


def files(seed: int, most: int) -> list[RecordChunk]:
    rng = random.Random(seed)
    runs = []
    for number in range(30):
        blocks = [
            block_of(
                f"file {number % 3}", 100 * number, [rng.randbytes(rng.randrange(most)) for _ in range(20)]
            )
            for _ in range(rng.randrange(1, 3))
        ]
        runs.append(RecordChunk(blocks))
    return runs


def through(store: RecordStore | ChunkStore, runs: list[RecordChunk], size: int) -> list[RecordChunk]:
    """What comes out of a buffer of this size, and then of what is left in it."""
    store.reseed(5, 6)
    drawn = []
    for run in runs:
        hold(store, run)
        fill = min(len(run), size - len(store))
        store.append(fill)
        if fill < len(run):
            drawn.append(store.draw(len(run) - fill, exchange=True))
    while len(store):
        drawn.append(store.draw(min(7, len(store))))
    return drawn  # type: ignore[return-value]


@pytest.mark.parametrize("most", [1, 40, 3000])
def test_gives_the_records_that_a_store_of_chunks_gives(most):
    runs = files(1, most)
    ours, others = through(RecordStore(), runs, 100), through(ChunkStore(), runs, 100)
    assert [each.objects() for each in ours] == [each.objects() for each in others]
    for one, other in zip(ours, others, strict=True):
        rows = [(records.find(row)) for records in (one, other) for row in range(len(records))]
        places = [(block.path, block.place(row)) for block, row in rows]
        assert places[: len(one)] == places[len(one) :]


def test_some_of_a_run_and_chosen_rows():
    run = RecordChunk([block_of("a", 0, [b"0", b"1"]), block_of("b", 5, [b"5", b"6", b"7"])])
    store = RecordStore()
    hold(store, run.take(np.array([4, 0, 3])))
    store.append(1)
    assert store.draw(1).objects() == [b"7"]
    store.append(2)
    assert sorted(store.draw(2).objects()) == [b"0", b"6"]


def test_bytes_that_are_in_no_file():
    store = RecordStore()
    hold(store, ObjectChunk([b"x", b""]))
    store.append(2)
    drawn = store.draw(2)
    assert sorted(drawn.objects()) == [b"", b"x"]
    assert [block.path for block in drawn.blocks] == [None]


def test_tells_where_everything_stands():
    store = RecordStore()
    hold(store, RecordChunk([block_of("a", 3, [b"x", b"yy"]), block_of("b", 0, [b"z"])]))
    store.append(3)
    numbers, records, frames = store.places()
    paths = store.paths
    assert store.numbers().tolist() == [0, 1, 2]
    assert [paths[number] for number in numbers.tolist()] == ["a", "a", "b"]
    assert records.tolist() == [3, 4, 0]
    assert frames.tolist() == [3000, 3017, 0]


def test_holds_little_more_than_its_records():
    rng = random.Random(2)
    store = RecordStore()
    store.reseed(1, 1)
    for turn in range(60):
        size = rng.choice([300, 600, 1200])
        run = RecordChunk(
            [block_of("a", turn, [rng.randbytes(rng.randrange(size, 2 * size)) for _ in range(500)])]
        )
        hold(store, run)
        if turn < 20:
            store.append(len(run))
        else:
            store.draw(len(run), exchange=True)
        assert store.held_bytes <= 1.5 * store.live_bytes + (2 << 20)
    while len(store):
        store.draw(min(100, len(store)))
        assert store.held_bytes <= 1.5 * store.live_bytes + (3 << 20)


def test_refuses_to_draw_what_is_not_there():
    store = RecordStore()
    hold(store, ObjectChunk([b"x"]))
    store.append(1)
    with pytest.raises(ValueError, match="not so many"):
        store.draw(2)
    with pytest.raises(ValueError, match="not so many"):
        store.draw(1, 5)


def test_batches_are_drawn_into_memory_that_others_left():
    store = RecordStore()
    store.reseed(1, 1)
    run = RecordChunk([block_of("a", 0, [bytes(600)] * 2000)])
    for _ in range(10):
        hold(store, run)
        store.append(len(run))

    def faults(turns: int) -> int:
        before = resource.getrusage(WHO).ru_minflt
        for _ in range(turns):
            hold(store, run)
            assert len(store.draw(len(run), exchange=True)) == len(run)
        return resource.getrusage(WHO).ru_minflt - before

    faults(50)
    assert faults(50) < 50 * 20  # pages; the records of a batch alone have 300


def test_less_than_one_copy_is_made_of_a_record():
    store = RecordStore()
    store.reseed(1, 1)
    blocks = [block_of("a", number, [bytes([number]) * 600] * 2000) for number in range(100)]
    for number, block in enumerate(blocks):
        hold(store, RecordChunk([block]))
        if number < 20:
            store.append(len(block))
        else:
            store.draw(len(block), exchange=True)
    assert store.copied_bytes < 0.8 * 80 * 2000 * 600


def test_drawn_records_are_read_where_they_lie_until_somebody_keeps_them():
    store = RecordStore()
    records = [bytes([number]) * 50 for number in range(100)]
    hold(store, RecordChunk([block_of("a", 0, records), block_of("b", 7, records)]))
    store.append(200)
    drawn = store.draw(150)
    assert store.copied_bytes == 0
    expected = drawn.objects()
    kept = drawn.batch()
    assert kept.to_list() == expected
    assert not any(isinstance(block, ScatteredBlock) for block in kept.records.blocks)
    for other in (drawn.slice(3, 90), kept.records.slice(3, 90)):
        assert other.to_list() == expected[3:90]
        assert [other.find(row)[0].path for row in range(87)] == [
            drawn.find(row)[0].path for row in range(3, 90)
        ]
    assert drawn.take(np.array([5, 2])).objects() == [expected[5], expected[2]]
    block = drawn.blocks[0]
    assert block[4] == expected[4]
    assert pickle.loads(pickle.dumps(block)) == block.contiguous() == Block.from_records(expected)


@pytest.mark.parametrize("files", ["a", "ab"])
def test_what_is_kept_does_not_keep_all_that_was_in_the_buffer(files):
    store = RecordStore()
    for number in range(4):
        hold(store, RecordChunk([block_of(file, number, [bytes(5000)] * 200) for file in files]))
        store.append(200 * len(files))
    drawn = store.draw(40)
    assert not any(block.scattered for block in drawn.frozen().blocks)
    assert drawn.frozen().objects() == drawn.objects()
    second = RecordStore()
    hold(second, drawn)
    second.append(40)
    assert second.copied_bytes == 40 * 5000
    assert second.draw(40).objects() == drawn.objects()


def test_what_was_drawn_outlives_the_store():
    store = RecordStore()
    hold(store, RecordChunk([block_of("a", 0, [bytes([number]) * 5000 for number in range(200)])]))
    store.append(200)
    drawn = store.draw(200)
    for number in range(30):
        hold(store, RecordChunk([block_of("b", number, [b"x" * 5000] * 200)]))
        store.append(200)
        store.draw(200)
    del store
    assert sorted(drawn.objects()) == [bytes([number]) * 5000 for number in range(200)]


def test_records_that_are_few_of_their_block_are_copied_at_once():
    store = RecordStore()
    run = RecordChunk([block_of("a", 0, [bytes(600)] * 2000)])
    for chosen in (run.take(np.arange(0, 2000, 9)), RecordChunk([run.blocks[0].take(np.arange(0, 2000, 9))])):
        before = store.copied_bytes
        hold(store, chosen)
        store.append(len(chosen))
        assert store.copied_bytes - before == 600 * len(chosen)


def test_records_are_held_one_run_at_a_time():
    store = RecordStore()
    hold(store, ObjectChunk([b"x", b"y"]))
    with pytest.raises(ValueError, match="some records are held already"):
        hold(store, ObjectChunk([b"z"]))
    with pytest.raises(ValueError, match="not so many records held"):
        store.append(3)
