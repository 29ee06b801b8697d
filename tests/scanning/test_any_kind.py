"""Conditions on records of which nothing is known."""

from __future__ import annotations

import pytest

import tfrkit as tfr
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.records.where import parse_where
from tfrkit.scanning.any_kind import rows_of_any_kind

RECORDS = [
    tfr.make_example({"n": 1}).SerializeToString(),
    tfr.make_example({"n": 2.5}).SerializeToString(),
    b"\xff not an Example",
    tfr.make_example({"n": [0, 7]}).SerializeToString(),
    tfr.make_example({"n": b"text"}).SerializeToString(),
    tfr.make_example({"other": 1}).SerializeToString(),
]


def kept(text, kinds, sizes=(6,)):
    notes = []
    rows = rows_of_any_kind(["unread"], parse_where(text), kinds, notes.append)
    blocks, at = [], 0
    for size in sizes:
        blocks.append(Block.from_records(RECORDS[at : at + size]))
        blocks[-1].first_record = at
        at += size
    found = [number for block in rows.keep(blocks) for number in block.places()[0].tolist()]
    return found, sum(notes)


@pytest.mark.parametrize("kinds", [{}, {"n": "int64"}, {"n": "float32"}])
@pytest.mark.parametrize("sizes", [(6,), (1, 5), (2, 2, 2), (1,) * 6])
def test_every_kind_is_compared_and_the_rest_is_passed_over(kinds, sizes):
    assert kept("n > 2", kinds, sizes) == ([1, 3], 2)


def test_text_is_found_among_numbers():
    assert kept("n == 'text'", {}) == ([4], 4)


def test_records_that_cannot_be_compared_are_not_taken_by_not():
    assert kept("not n > 2", {}) == ([0, 5], 2)


def test_presence_needs_no_kind():
    assert kept("n", {}) == ([0, 1, 3, 4], 1)


@pytest.mark.parametrize(
    ("text", "kinds", "at", "expected"),
    [
        (
            "m or n > 2",
            {"n": "bytes"},
            5,
            "expected to compare 'n' with text but got the number 2: it is bytes",
        ),
        ("n > 'a'", {"n": "int64"}, 0, "expected to compare 'n' with a number but got text: it is int64"),
        ("n > 'a' and n < 2", {}, 0, "expected to compare 'n' with a number but got text"),
    ],
)
def test_literal_of_another_kind_is_refused_with_its_place(text, kinds, at, expected):
    with pytest.raises(InvalidArgumentError, match=expected) as caught:
        kept(text, kinds)
    assert caught.value.at == at
