"""Which values need no conversion."""

from __future__ import annotations

import sys
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

from tests.data.test_collate import NUMBERS
from tfrkit import _core
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse

Pair = namedtuple("Pair", ["x", "y"])  # noqa: PYI024


def _frozen(array):
    array.flags.writeable = False
    return array


TYPES = (BytesColumn, Ragged, Sparse)


@pytest.mark.parametrize(
    "value",
    [
        *(np.dtype(name).type(1) for name in NUMBERS),
        b"",
        _frozen(np.zeros(3)),
        _frozen(np.zeros((2, 2), np.bool_)),
        BytesColumn.from_list([b"a"]),
        Ragged.from_list([[1]]),
        {},
        {"a": (np.int64(1), {"b": b""})},
    ],
)
def test_what_elements_consist_of_is_finished(value):
    assert _core.is_finished(value, TYPES)
    assert _core.count_finished([value, value], TYPES) == 2


@pytest.mark.parametrize(
    "value",
    [
        *(1, 1.5, True, "a", None, [np.int64(1)], bytearray(b"a")),
        np.zeros(3),
        _frozen(np.array(1)),
        _frozen(np.array(["a"])),
        _frozen(np.array([b"a"], object)),
        _frozen(np.zeros(3, ">i4")),
        np.longlong(1),
        np.str_("text"),
        OrderedDict(a=np.int64(1)),
        Pair(np.int64(1), np.int64(2)),
        (np.int64(1), [1]),
        {"a": np.int64(1), "b": 1},
    ],
)
def test_what_is_to_be_converted_is_not_finished(value):
    assert not _core.is_finished(value, TYPES)
    assert _core.count_finished([b"", value, b""], TYPES) == 1


def test_only_the_types_that_are_named_are_finished():
    column = BytesColumn.from_list([b"a"])
    assert not _core.is_finished(column, ())
    assert not _core.is_finished(column, (Ragged,))


def test_endless_structures_are_not_finished():
    endless: dict[str, object] = {}
    endless["a"] = endless
    assert not _core.is_finished(endless, TYPES)


def test_an_element_maker_converts_what_is_not_finished():
    def convert(value):
        if value == "wrong":
            raise ZeroDivisionError("told to")
        return ["made of", value]

    make = _core.element_maker(TYPES, convert)
    finished = {"a": np.int64(1)}
    assert make(finished) is finished
    assert make([1]) == ["made of", [1]]
    assert make(None) == ["made of", None]
    with pytest.raises(ZeroDivisionError, match="told to"):
        make("wrong")


def test_an_element_maker_counts_references():
    finished, other = {"a": np.int64(1)}, ["x"]
    before = sys.getrefcount(finished), sys.getrefcount(other)
    make = _core.element_maker(TYPES, lambda value: value)
    for _ in range(1000):
        make(finished)
        make(other)
    assert (sys.getrefcount(finished), sys.getrefcount(other)) == before
