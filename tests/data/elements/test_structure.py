from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, fields

import pytest

from tfrkit.data.elements.structure import flatten, map_structure, pack, require_same

Point = namedtuple("Point", "x y")  # noqa: PYI024


@dataclass
class Pair:
    """A class as attrs makes them, without the package: it is known by the list of its fields."""

    left: int
    right: int


Pair.__attrs_attrs__ = fields(Pair)  # type: ignore[attr-defined]


def test_dicts_are_flattened_by_sorted_keys_and_lists_are_leaves():
    assert flatten({"b": (1, [2, 3]), "a": {"z": 4, "c": 5}}) == [5, 4, 1, [2, 3]]


def test_pack_keeps_the_order_of_keys_and_the_kind_of_tuples():
    structure = {"b": Point(0, 0), "a": (0,), "p": Pair(0, 0)}
    packed = pack(structure, [1, 2, 3, 4, 5])
    assert packed == {"b": Point(2, 3), "a": (1,), "p": Pair(4, 5)}
    assert list(packed) == ["b", "a", "p"]
    assert type(packed["b"]) is Point


@pytest.mark.parametrize("leaves", [[1], [1, 2, 3]])
def test_pack_refuses_another_number_of_leaves(leaves):
    with pytest.raises(ValueError, match=rf"^expected 2 leaves for the structure but got {len(leaves)}$"):
        pack((0, 0), leaves)


def test_map_structure_walks_several_structures():
    assert map_structure(max, (1, {"a": 5}), (2, {"a": 4})) == (2, {"a": 5})


def test_keys_that_cannot_be_sorted_are_refused():
    with pytest.raises(TypeError, match=r"^nest only supports dicts with sortable keys\.$"):
        flatten({"a": 1, 2: 3})


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ((1, 2), (1,), ValueError),
        ((1, (2, 3)), ((1, 2), 3), ValueError),
        ({"a": 1}, {"b": 1}, ValueError),
        ({"a": 1}, (1,), TypeError),
        ((1, 2), Point(1, 2), TypeError),
    ],
)
def test_different_structures_are_refused(first, second, kind):
    with pytest.raises(kind, match=r"^The two "):
        require_same(first, second)


def test_structures_that_differ_in_leaves_only_are_the_same():
    require_same({"a": 1, "b": (2,)}, {"b": ("x",), "a": [1]})
