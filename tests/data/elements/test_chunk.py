from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.support.changes import arrays_of
from tests.data.support.same import same
from tfrkit import Block, BytesColumn, Ragged, Sparse
from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk, RecordChunk, concat, gather
from tfrkit.data.elements.columns import Padded, RowList
from tfrkit.data.elements.origin import Origin

RAGGED = Ragged.from_list([[1, 2], [], [3], [4, 5, 6], [7]])


def block(first: int, count: int, path: str) -> Block:
    made = Block.from_records([b"%s%d" % (path.encode(), first + i) for i in range(count)])
    return Block(made.data, made.offsets, made.lengths, path=path, first_record=first)


def all_kinds(count: int) -> ColumnChunk:
    ids = np.arange(count)
    ragged = Ragged.from_lengths(np.arange(ids.sum()), ids)
    return ColumnChunk(
        {
            "z": ids,
            "matrix": np.arange(count * 6).reshape(count, 2, 3),
            "bytes": BytesColumn.from_list([b"x" * i for i in range(count)]),
            "grid": BytesColumn.from_list([b"y" * i for i in range(count * 2)]).reshape(count, 2),
            "nested": (ragged, Padded(ragged, -1)),
            "sparse": Sparse(np.stack([ids, ids], axis=1), ids * 10, [count, 20]),
        },
        count,
    )


CHUNKS = [
    pytest.param(lambda: RecordChunk([block(0, 4, "a"), block(7, 6, "b")]), id="records"),
    pytest.param(
        lambda: RecordChunk([block(0, 4, "a"), block(7, 6, "b")]).take(np.arange(10)[::-1]), id="chosen"
    ),
    pytest.param(lambda: RecordChunk([block(0, 20, "a")], None, np.arange(10) * 2), id="one block"),
    pytest.param(lambda: all_kinds(10), id="columns"),
    pytest.param(lambda: ObjectChunk([(np.int64(i), b"x") for i in range(10)]), id="objects"),
]


@pytest.mark.parametrize("make", CHUNKS)
class TestEveryForm:
    def test_slice_is_that_of_the_objects(self, make):
        chunk: Chunk = make()
        for start, stop in [(0, 10), (0, 3), (2, 5), (9, 10), (4, 4)]:
            assert same(chunk.slice(start, stop).objects(), chunk.objects()[start:stop])
            assert len(chunk.slice(start, stop)) == stop - start

    def test_take_is_that_of_the_objects(self, make):
        chunk: Chunk = make()
        rows = np.array([7, 0, 7, 9, 4])
        assert same(chunk.take(rows).objects(), [chunk.objects()[row] for row in rows])
        twice = chunk.take(rows).take(np.array([4, 0]))
        assert same(twice.objects(), [chunk.objects()[row] for row in (4, 7)])

    def test_concat_and_gather_are_those_of_the_objects(self, make):
        parts = [make().slice(0, 4), make().take(np.array([5, 1])), make()]
        lists = [part.objects() for part in parts]
        joined = concat(parts)
        assert type(joined) is type(parts[0])
        assert same(joined.objects(), [item for items in lists for item in items])
        which, rows = np.array([2, 0, 1, 2, 0]), np.array([9, 3, 0, 0, 3])
        gathered = gather(parts, which, rows)
        assert type(gathered) is type(parts[0])
        assert same(gathered.objects(), [lists[w][r] for w, r in zip(which, rows, strict=True)])

    def test_gather_of_few_among_many(self, make):
        parts = [make() for _ in range(10)]
        assert same(
            gather(parts, np.array([8, 8, 1]), np.array([3, 2, 1])).objects(),
            [parts[0].objects()[i] for i in (3, 2, 1)],
        )

    def test_nbytes_grows_with_the_elements(self, make):
        chunk = make()
        assert 0 < chunk.slice(5, 6).nbytes < chunk.nbytes

    def test_writing_to_frozen_elements_changes_no_others(self, make):
        chunk = make()
        frozen = chunk.frozen()
        assert same(frozen.objects(), chunk.objects())
        assert same(frozen.batch(), chunk.batch())
        own = [*arrays_of(frozen.batch()), *(array for item in frozen.objects() for array in arrays_of(item))]
        for array in own:
            if array.flags.writeable:
                array[...] = 0
        assert same(chunk.objects(), make().objects())
        assert same(frozen.objects(), make().objects())
        assert same(frozen.batch(), make().batch())


def test_a_batch_of_columns_is_the_columns_with_padding():
    chunk = all_kinds(4)
    batch = chunk.batch()
    assert batch["nested"][1].tolist() == [[-1, -1, -1], [0, -1, -1], [1, 2, -1], [3, 4, 5]]
    assert batch["nested"][0].to_list() == [[], [0], [1, 2], [3, 4, 5]]
    assert batch["z"].flags.writeable
    assert list(batch) == list(chunk.columns)


def test_a_batch_of_objects_is_stacked():
    batch = ObjectChunk([(np.int64(1), b"a"), (np.int64(2), b"bc")]).batch()
    assert same(batch, (np.array([1, 2]), BytesColumn.from_list([b"a", b"bc"])))


def test_columns_of_different_shapes_become_single_rows():
    joined = concat([ColumnChunk(np.zeros((1, 2)), 1), ColumnChunk(np.zeros((1, 3)), 1)])
    assert isinstance(joined.columns, RowList)
    assert [item.shape for item in joined.objects()] == [(2,), (3,)]
    assert isinstance(
        concat([ColumnChunk((np.zeros(1),), 1), ColumnChunk({"a": np.zeros(1)}, 1)]), ObjectChunk
    )


def test_nothing_is_an_empty_list():
    assert concat([]).objects() == []
    assert concat([ObjectChunk([]), ColumnChunk(np.zeros(0), 0)]).objects() == []


def test_structures_without_columns_have_elements_too():
    assert ColumnChunk({}, 2).objects() == [{}, {}]
    assert ColumnChunk((), 3).slice(1, 3).objects() == [(), ()]


def test_records_know_where_they_came_from():
    origin = RecordChunk([block(0, 4, "a"), block(7, 6, "b")]).take(np.array([5, 0, 9])).slice(0, 2).origin
    assert origin.paths == ("a", "b")
    assert (origin.files.tolist(), origin.records.tolist()) == ([1, 0], [8, 0])
    numbered = RecordChunk([block(0, 4, "a").take([3, 1])]).origin
    assert numbered.records.tolist() == [3, 1]


@pytest.mark.parametrize(
    "make",
    [lambda o: ColumnChunk(np.arange(3), 3, o), lambda o: ObjectChunk([1, 2, 3], o)],
    ids=["columns", "objects"],
)
def test_origin_follows_its_elements(make):
    chunk = make(Origin(("a", "b"), np.array([0, 1, 1], np.int32), np.array([5, 6, 7])))
    assert chunk.take(np.array([2, 0])).origin.records.tolist() == [7, 5]
    assert chunk.slice(1, 3).origin.files.tolist() == [1, 1]
    assert concat([chunk, chunk.slice(0, 1)]).origin.records.tolist() == [5, 6, 7, 5]
    chosen = gather([chunk, chunk], np.array([1, 0]), np.array([0, 2])).origin
    assert (chosen.files.tolist(), chosen.records.tolist()) == ([0, 1], [5, 7])
    assert concat([chunk, make(None)]).origin is None
    mixed = concat([chunk, RecordChunk([block(3, 1, "c")])]).origin
    assert (mixed.paths, mixed.records.tolist()) == (("a", "b", "c"), [5, 6, 7, 3])


def test_gather_names_a_block_once():
    one = block(0, 8, "a")
    parts = [RecordChunk([one]).take(np.array([1, 2])), RecordChunk([one]).take(np.array([3]))]
    assert len(RecordChunk.concat(parts).blocks) == 1


@given(
    sizes=st.lists(st.integers(0, 4), min_size=1, max_size=5),
    rounds=st.lists(st.lists(st.integers(0, 100), max_size=6), max_size=3),
)
def test_any_choice_of_records_is_that_of_the_list(sizes, rounds):
    records = RecordChunk([block(0, size, chr(97 + i)) for i, size in enumerate(sizes)])
    expected = records.objects()
    for chosen in rounds:
        rows = np.array([row % len(expected) for row in chosen] if expected else [], np.int64)
        records = records.take(rows)
        expected = [expected[row] for row in rows]
        assert records.objects() == expected
        assert records.batch().to_list() == expected
        assert records.lengths().tolist() == [len(record) for record in expected]
