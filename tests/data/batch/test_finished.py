"""Which values need no conversion."""

from __future__ import annotations

import sys
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

from tests.data.batch.test_collate import NUMBERS
from tfrkit import _core
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse

Pair = namedtuple("Pair", ["x", "y"])  # noqa: PYI024


def _frozen(array):
    array.flags.writeable = False
    return array


WHOLE = np.zeros(3)
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


@pytest.mark.parametrize(
    "value",
    [
        *(1, 1.5, True, "a", None, [np.int64(1)], bytearray(b"a")),
        WHOLE[1:],
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


def test_only_the_types_that_are_named_are_finished():
    column = BytesColumn.from_list([b"a"])
    assert not _core.is_finished(column, ())
    assert not _core.is_finished(column, (Ragged,))


def test_endless_structures_are_not_finished():
    endless: dict[str, object] = {}
    endless["a"] = endless
    assert not _core.is_finished(endless, TYPES)


def _maker(convert=lambda value: ["whole", value], convert_part=lambda value: ["part", value]):
    return _core.element_maker(TYPES, convert, convert_part)


def test_finished_values_are_elements():
    finished = {"a": np.int64(1), "b": (b"", _frozen(np.zeros(2)))}
    assert _maker()(finished) is finished


def test_other_values_are_converted_in_their_places():
    assert _maker()([1]) == ["whole", [1]]
    assert _maker()(None) == ["whole", None]
    made = _maker()({"b": 1, "a": (b"x", {"c": [2]}, None)})
    assert made == {"b": ["part", 1], "a": (b"x", {"c": ["part", [2]]}, ["part", None])}
    assert list(made) == ["b", "a"]


def test_arrays_on_memory_of_others_cannot_be_written_to():
    whole, texts = np.arange(3), np.array([b"a"], object)
    array = whole[:2]
    made = _maker()((array, texts, np.array(5), whole))
    assert (made[0].flags.writeable, array.flags.writeable) == (False, True)
    assert np.shares_memory(made[0], array)
    assert made[3] is whole
    assert made[1] == ["part", texts]
    assert made[2] == ["part", np.array(5)]
    assert not _maker()(array).flags.writeable
    alone = np.arange(6).reshape(3, 2)
    assert _maker()(alone) is alone


def test_errors_of_conversions_come_out():
    def fail(value):
        raise ZeroDivisionError(value)

    with pytest.raises(ZeroDivisionError, match="1"):
        _maker(convert=fail)(1)
    with pytest.raises(ZeroDivisionError, match="2"):
        _maker(convert_part=fail)({"a": 2})


def test_a_conversion_may_change_what_is_converted():
    value = {"a": [1], "b": [2], "c": [3]}

    def change(part):
        value.clear()
        return part[0]

    assert _maker(convert_part=change)(value) == {"a": 1, "b": 2, "c": 3}


def test_endless_structures_are_left_to_the_conversion():
    endless: dict[str, object] = {}
    endless["a"] = endless
    made = _maker(convert_part=lambda _: "end")(endless)
    depth = 0
    while made != "end":
        made, depth = made["a"], depth + 1
    assert depth == 32


def test_references_of_elements_are_counted():
    finished, other, array = {"a": np.int64(1)}, ["x"], np.arange(3)
    tracked = [finished, other, array]
    before = [sys.getrefcount(value) for value in tracked]
    make = _maker(lambda value: value, lambda value: value)
    for _ in range(1000):
        make(finished)
        make(other)
        make((array, other, {"f": finished}))
    assert [sys.getrefcount(value) for value in tracked] == before
