"""Index lists mean the same everywhere: blocks, files of records, columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr
from tests.records.support.made import frames, members
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import row_numbers
from tfrkit.model.sparse import Sparse

RECORDS = [b"zero", b"", b"two", b"three", b"four"]
NUMBERS = [[0], [1, 2], [], [3], [4, 5, 6]]
KINDS = ["file", "members", "block", "bytes", "ragged", "sparse"]


def made(kind: str, folder: Path) -> tuple[Any, list[Any]]:
    """Something of five rows, and these as a list."""
    if kind in ("file", "members"):
        path = folder / "a.tfrecord"
        path.write_bytes(frames(RECORDS) if kind == "file" else members([RECORDS[:2], RECORDS[2:]]))
        return tfr.RecordFile(path), RECORDS
    if kind == "block":
        return Block.from_records(RECORDS), RECORDS
    if kind == "bytes":
        return BytesColumn.from_list(RECORDS), RECORDS
    ragged = Ragged.from_list(NUMBERS)
    return (ragged, NUMBERS) if kind == "ragged" else (ragged.to_sparse(), ragged.to_padded().tolist())


def listed(rows: Any) -> list[Any]:
    return rows.to_dense().tolist() if isinstance(rows, Sparse) else rows.to_list()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "indices",
    [[3, 0, -1], [], (2, 2), range(1, 4), np.array([4, 1], np.uint8), np.array([-5], np.int16), np.array([])],
    ids=repr,
)
def test_integers_are_numbers_of_rows(kind, indices, tmp_path):
    rows, expected = made(kind, tmp_path)
    chosen = [expected[int(number)] for number in indices]
    assert listed(rows.take(indices)) == chosen
    if not isinstance(indices, tuple) and len(indices):
        assert listed(rows[indices]) == chosen


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [list, np.array])
def test_booleans_are_a_mask(kind, make, tmp_path):
    rows, expected = made(kind, tmp_path)
    mask = make([True, False, False, True, True])
    chosen = [expected[0], expected[3], expected[4]]
    assert listed(rows.take(mask)) == listed(rows[mask]) == chosen
    assert listed(rows.take(np.array(mask, object))) == chosen  # as pandas makes them
    for wrong in ([True], [True] * 6):
        for index in (rows.take, rows.__getitem__):
            with pytest.raises(IndexError, match="boolean"):
                index(make(wrong))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "indices",
    [[1.0, 2.0], np.array([0.5]), ["1"], [None], [[1], [2, 3]], "a", 1.5, None, {1}, [b"a"]],
    ids=repr,
)
def test_anything_else_is_a_type_error(kind, indices, tmp_path):
    rows, _ = made(kind, tmp_path)
    with pytest.raises(TypeError, match="expected integers or a mask as indices"):
        rows.take(indices)
    if kind in ("file", "members", "block"):
        with pytest.raises(TypeError, match="expected integers or a mask as indices"):
            rows[indices]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [5, -6, 2**40, 2**70, -(2**70), np.uint64(2**64 - 1)], ids=repr)
def test_numbers_that_are_not_there_are_an_index_error(kind, number, tmp_path):
    rows, _ = made(kind, tmp_path)
    for index in (rows.take, rows.__getitem__):
        with pytest.raises(IndexError):
            index([0, number])


@pytest.mark.parametrize("kind", ["file", "members", "block"])
def test_several_indices_are_a_type_error(kind, tmp_path):
    rows, _ = made(kind, tmp_path)
    with pytest.raises(TypeError, match=r"^expected one index but got 2: a list stands for several rows$"):
        rows[1, 2]
    with pytest.raises(IndexError, match=r"^expected indices of 1 dimension but got 2$"):
        rows[[[True] * 5]]


@pytest.mark.parametrize("kind", ["file", "members", "block"])
def test_an_integer_of_any_kind_is_one_record(kind, tmp_path):
    rows, _ = made(kind, tmp_path)
    assert [rows[3], rows[np.int8(-2)], rows[np.array(3)], rows[np.uint64(3)]] == [b"three"] * 4


@given(st.integers(0, 9), st.lists(st.integers(-9, 8) | st.booleans(), max_size=9))
def test_numbers_and_masks_are_numpys(size, indices):
    array = np.asarray(indices, None if indices else np.int64)
    try:
        expected = np.arange(size)[array].tolist()
    except IndexError:
        expected = None
    try:
        numbers = row_numbers(indices, size)
        found = np.arange(size)[numbers].tolist()
    except IndexError:
        found = None
    assert found == expected


def test_the_numbers_are_a_copy():
    given_numbers = np.array([1, 2])
    assert not np.shares_memory(row_numbers(given_numbers, 3), given_numbers)
