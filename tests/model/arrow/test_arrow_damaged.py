"""Arrow structures that make no sense: an error wherever the interface lets one see it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfrkit import ArrowStream, BytesColumn, Ragged
from tfrkit.model.arrow.arrow_exchange import export_array, import_stream


class ArrowArray(ctypes.Structure):
    pass


ArrowArray._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.POINTER(ArrowArray)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.argtypes, get_pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p


class Damaged:
    """A column's capsules, with something changed in the array."""

    def __init__(self, column: Any, change: Callable[[ArrowArray], None]) -> None:
        self.capsules = (
            ArrowStream(column).__arrow_c_array__() if isinstance(column, dict) else export_array(column)
        )
        change(ArrowArray.from_address(get_pointer(self.capsules[1], b"arrow_array")))

    def __arrow_c_array__(self) -> tuple[object, object]:
        return self.capsules


def put(**fields: Any) -> Callable[[ArrowArray], None]:
    def change(array: ArrowArray) -> None:
        for name, value in fields.items():
            setattr(array, name, value)

    return change


def no_buffer(index: int) -> Callable[[ArrowArray], None]:
    def change(array: ArrowArray) -> None:
        array.buffers[index] = None

    return change


def no_child(array: ArrowArray) -> None:
    array.children[0] = ctypes.POINTER(ArrowArray)()


def short_child(array: ArrowArray) -> None:
    array.children[0].contents.length = 1


NUMBERS = np.arange(4)
WORDS = BytesColumn.from_list([b"a", b"bc"])
ROWS = Ragged.from_list([[1], [2, 3]])


@pytest.mark.parametrize(
    ("column", "change", "message"),
    [
        (NUMBERS, put(length=-1), "its length or offset makes no sense"),
        (NUMBERS, put(offset=-1), "its length or offset makes no sense"),
        (NUMBERS, put(null_count=-2), "its length or offset makes no sense"),
        (NUMBERS, put(offset=2**63 - 1), "its length or offset makes no sense"),
        (NUMBERS, put(n_buffers=-1), "its number of parts makes no sense"),
        (NUMBERS, put(n_buffers=2**40), "its number of parts makes no sense"),
        (NUMBERS, put(n_buffers=1), "fewer buffers than its type needs"),
        (NUMBERS, put(n_children=1), "its number of parts makes no sense"),
        (NUMBERS, put(buffers=None), "its number of parts makes no sense"),
        (NUMBERS, no_buffer(1), "a buffer that is needed is missing"),
        (WORDS, no_buffer(1), "a buffer that is needed is missing"),
        (WORDS, no_buffer(2), "a buffer that is needed is missing"),
        (WORDS, put(n_buffers=2), "fewer buffers than its type needs"),
        (ROWS, no_child, "a part is missing"),
        (ROWS, short_child, "expected at least 3 entries in an Arrow array but it has 1"),
        (ROWS, put(n_children=0), "expected one child of an Arrow list but got 0"),
        (np.zeros((2, 3)), short_child, "expected at least 6 entries in an Arrow array but it has 1"),
        ({"x": NUMBERS}, put(n_children=0), "expected 1 columns in an Arrow batch but got 0"),
        ({"x": NUMBERS}, put(length=5), "expected at least 5 entries in an Arrow array but it has 4"),
        ({"x": NUMBERS}, put(offset=1), "expected at least 5 entries in an Arrow array but it has 4"),
    ],
    ids=[str(number) for number in range(20)],
)
def test_damage_is_an_error(column, change, message):
    with pytest.raises(ValueError, match=message):
        import_stream(Damaged(column, change))


@pytest.mark.parametrize("offsets", [[0, 2, 1], [-1, 1, 2]], ids=str)
def test_offsets_that_descend_are_an_error(offsets):
    text = BytesColumn.unchecked(np.zeros(9, np.uint8), np.array(offsets))
    rows = Ragged.unchecked(np.zeros(9), np.array(offsets))
    for column in (text, rows):
        with pytest.raises(ValueError, match="expected the offsets of an Arrow array to ascend"):
            import_stream(column)
