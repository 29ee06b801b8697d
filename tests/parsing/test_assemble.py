"""What becomes of the kernels' columns."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit.errors import InvalidArgumentError
from tfrkit.parsing.assemble import make_dense, make_ragged, narrow_splits, pad_rows
from tfrkit.parsing.expected_features import ExpectedFeature

DATA = np.frombuffer(b"abc", np.uint8)
OFFSETS = np.array([0, 1, 3])


def test_dense_columns():
    assert make_dense(np.arange(4), (2, 2)).tolist() == [[0, 1], [2, 3]]
    assert make_dense((DATA, OFFSETS), (2, 1)).to_list() == [[b"a"], [b"bc"]]


def test_ragged_columns():
    assert make_ragged((np.arange(3), np.array([0, 1, 3]))).to_list() == [[0], [1, 2]]
    assert make_ragged((DATA, OFFSETS, np.array([0, 0, 2]))).to_list() == [[], [b"a", b"bc"]]


def test_rows_of_one_length_are_not_copied():
    rows = tfr.Ragged.from_list([[1, 2], [3, 4]])
    padded = pad_rows(rows, ExpectedFeature("a", "sequence", "int64", (2,), np.array([0])))
    assert padded.shape == (2, 1, 2)
    assert np.shares_memory(padded, rows.values)


def test_row_splits_that_int32_cannot_hold_are_refused():
    rows = tfr.Ragged.unchecked(np.zeros(0), np.array([0, 2**31]))
    assert narrow_splits(rows, "int64") is rows
    with pytest.raises(InvalidArgumentError) as caught:
        narrow_splits(rows, "int32")
    assert caught.value.message == (
        "expected at most 2147483647 values for row splits of int32 but got 2147483648; "
        'pass row_splits_dtype="int64", or parse fewer examples at a time'
    )
