"""Rows of columns as elements: the values are those of numpy's own views, on memory of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfrkit import _core
from tfrkit.data.elements.columns import has_own_rows, rows
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged

CODES = "?bhilqBHILQefdFD"
SHAPES = [(0,), (3,), (0, 2), (3, 0), (3, 2), (2, 3, 4), (2, 4096)]


def sample(shape: tuple[int, ...], code: str) -> Any:
    return np.random.default_rng(1).integers(0, 100, shape).astype(code)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("strided", [False, True])
def test_rows_are_those_of_numpy(shape: Any, code: str, frozen: bool, strided: bool) -> None:
    array = sample((*shape[:-1], 2 * shape[-1]), code)[..., ::2] if strided else sample(shape, code)
    array.flags.writeable = not frozen
    found, wanted = rows(array), list(array)
    assert [type(row) for row in found] == [type(row) for row in wanted]
    assert [row.dtype for row in found] == [row.dtype for row in wanted]
    assert [row.shape for row in found] == [row.shape for row in wanted]
    assert all(map(np.array_equal, found, wanted))
    if array.ndim > 1:
        assert has_own_rows(array)
        assert all(row.flags.writeable for row in found)
        assert not (frozen and any(np.shares_memory(row, array) for row in found))


@pytest.mark.parametrize("code", [*CODES, ">i4"])
@pytest.mark.parametrize("splits", [np.int32, np.int64, np.int16])
@pytest.mark.parametrize("inner", [(), (2,)])
def test_ragged_rows_are_those_of_the_column(code: str, splits: Any, inner: Any) -> None:
    values = sample((7, *inner), code)
    values.flags.writeable = False
    column = Ragged.unchecked(values, np.array([1, 1, 3, 7, 7], splits))
    found = rows(column)
    assert [row.dtype for row in found] == [row.dtype for row in column]
    assert [row.shape for row in found] == [row.shape for row in column]
    assert all(map(np.array_equal, found, column))
    assert all(row.flags.writeable and not np.shares_memory(row, values) for row in found)


@pytest.mark.parametrize("splits", [[0, 8], [-1, 2], [3, 2], [0, 2**62]])
def test_splits_outside_of_the_values_are_refused(splits: list[int]) -> None:
    with pytest.raises(ValueError, match="ascending splits"):
        _core.cut_runs(np.arange(7), np.array(splits))


def test_what_is_not_of_numbers_is_left_to_numpy() -> None:
    objects = np.array([[b"a"], [b"b"]], object)
    assert _core.cut_rows(objects) is None
    assert _core.cut_rows(np.array(5)) is None
    assert _core.cut_runs(objects, np.array([0, 1])) is None
    assert _core.cut_runs(np.arange(3), np.array([], np.int64)) is None
    objects.flags.writeable = False
    assert [row.tolist() for row in rows(objects)] == [[b"a"], [b"b"]]
    assert all(row.flags.writeable for row in rows(objects))
    assert [row.tolist() for row in rows(BytesColumn.from_list([b"a", b"b"]).reshape(2, 1))] == [
        [b"a"],
        [b"b"],
    ]


def test_dicts_of_rows_have_the_names_in_their_order_and_nothing_in_common():
    made = _core.zip_dicts(("b", "a"), [[1, 2], [[3], [4]]], 2)
    assert made == [{"b": 1, "a": [3]}, {"b": 2, "a": [4]}]
    assert list(made[0]) == ["b", "a"]
    made[0]["c"] = 5
    assert "c" not in made[1]
    assert _core.zip_dicts((), [], 2) == [{}, {}]


@pytest.mark.parametrize(
    ("values", "text"),
    [([[1, 2]], "a list for each name"), ([[1, 2], [3]], "lists of one length"), ([[1, 2], (3, 4)], "lists")],
)
def test_dicts_of_what_is_no_row_are_refused(values, text):
    with pytest.raises(ValueError, match=text):
        _core.zip_dicts(("a", "b"), values, 2)
