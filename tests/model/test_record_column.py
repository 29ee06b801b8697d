from __future__ import annotations

import pickle

import numpy as np
import pytest

from tfrkit import Block, BytesColumn, FixedLenFeature, Ragged, make_example, parse_example
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.record_column import RecordColumn
from tfrkit.model.record_rows import RecordRows

SPEC = {"x": FixedLenFeature([], "int64")}


def column_of(records: list[bytes]) -> RecordColumn:
    half = len(records) // 2
    blocks = [Block.from_records(records[:half]), Block.from_records(records[half:])]
    return RecordColumn(RecordRows(blocks))


@pytest.fixture
def column() -> RecordColumn:
    return column_of([b"zero", b"", b"two", b"three", b"4"])


def test_it_is_a_bytes_column_to_everybody(column):
    plain = BytesColumn.from_list([b"zero", b"", b"two", b"three", b"4"])
    assert isinstance(column, BytesColumn)
    assert column == plain
    assert plain == column
    assert column.to_list() == plain.to_list()
    assert column.to_numpy().tolist() == plain.to_list()
    assert (column.shape, column.size, column.nbytes) == ((5,), 5, 13)
    assert column.lengths.tolist() == [4, 0, 3, 5, 1]
    assert column[-2] == b"three"
    assert column.reshape(5, 1).shape == (5, 1)
    assert repr(column) == repr(plain)


def test_slices_and_choices_stay_references(column):
    for part, expected in [
        (column[1:4], [b"", b"two", b"three"]),
        (column[::-2], [b"4", b"two", b"zero"]),
        (column[[3, 3]], [b"three", b"three"]),
        (column.take([4, -5]), [b"4", b"zero"]),
    ]:
        assert isinstance(part, RecordColumn)
        assert part._copy is None
        assert part.to_list() == expected
        assert part.data.tobytes() == b"".join(expected)


def test_it_stands_in_for_a_bytes_column_inside_a_ragged(column):
    plain = Ragged(BytesColumn.from_list(column.to_list()), [0, 2, 5])
    made = Ragged(column, [0, 2, 5])
    assert made == plain
    assert plain == made
    assert Ragged.concat([made, plain]).to_list() == plain.to_list() * 2
    assert Ragged.concat([made, made]).to_list() == plain.to_list() * 2


def test_pickle_writes_a_bytes_column_of_the_records_only(column):
    again = pickle.loads(pickle.dumps(column[1:3]))
    assert type(again) is BytesColumn
    assert again.to_list() == [b"", b"two"]
    assert again.data.tobytes() == b"two"


def test_parsers_read_the_blocks_without_a_copy():
    column = column_of([make_example({"x": i}).SerializeToString() for i in range(10)])
    chosen = column.take([9, 2, 2])
    assert parse_example(column, SPEC)["x"].tolist() == list(range(10))
    assert parse_example(chosen, SPEC)["x"].tolist() == [9, 2, 2]
    assert column._copy is None
    assert chosen._copy is None


def test_an_error_names_file_record_and_offset():
    good = make_example({"x": 1}).SerializeToString()
    made = Block.from_records([good, good, b"\xff"])
    block = Block(made.data, made.offsets, made.lengths, path="some.tfrecord", first_record=100, start=5000)
    chosen = RecordColumn(RecordRows([Block.from_records([good]), block])).take([0, 3])
    with pytest.raises(InvalidArgumentError) as caught:
        parse_example(chosen, SPEC)
    assert caught.value.path == "some.tfrecord"
    assert caught.value.record == 102
    assert caught.value.offset == 5000 + 2 * (len(good) + 16)


def test_rows_outside_the_blocks_are_refused():
    rows = RecordRows([Block.from_records([b"a"])], None, np.array([1]))
    with pytest.raises(IndexError, match=r"^a row lies outside its block$"):
        rows.to_list()
    nowhere = RecordRows([Block.from_records([b"a"])], np.array([-1]), np.array([0]))
    with pytest.raises(IndexError, match=r"^a record is not of any of the blocks$"):
        nowhere.to_list()
    with pytest.raises(IndexError, match=r"^expected one of 1 records but got 1$"):
        RecordRows([Block.from_records([b"a"])]).find(1)
