"""A slice of the differential fuzz, always the same one: random Examples, specs and damage in all three libraries."""

from __future__ import annotations

import warnings

import pytest

from fuzz.differential.cases import Case, make_case
from fuzz.differential.check import EXCEPTIONS, Checker
from fuzz.differential.shrink import reproducer, shrink
from fuzz.differential.unsafe import danger_of
from fuzz.differential.worker import is_complete, run_all, run_cases
from tests.oracle.support.parsing import fixed, variable
from tests.oracle.support.wire import (
    BYTES,
    FLOAT,
    entry,
    example,
    feature,
    field,
    floats,
    ints,
    sequence_example,
    unpacked_floats,
    varint,
)

SEED = 2021


@pytest.mark.parametrize("part", range(4))
def test_no_disagreement_in_two_thousand_cases(part):
    checker = Checker()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = run_cases(SEED, part * 500, part * 500 + 500, checker)
    assert not found, "\n".join(f"{one['says']}\n{one['code']}" for one in found)
    assert checker.counts["cases"] == 500
    allowed = sum(checker.counts[name] for name in EXCEPTIONS)
    assert allowed < 150, checker.counts


def test_runs_go_on_where_they_stopped(tmp_path):
    journal = tmp_path / "journal"
    entry = '{"run": [0, 1000], "counts": {"cases": 1000}, "found": []}\n'
    journal.write_text(entry)
    assert not is_complete(journal, 1001)
    assert is_complete(journal, 1000)
    assert list(run_all(1, 1000, 2, journal)) == [({"cases": 1000}, [])]


def test_cases_are_always_the_same():
    assert make_case(5, 1234) == make_case(5, 1234)
    assert make_case(5, 1234) != make_case(6, 1234)


@pytest.mark.parametrize(
    ("record", "spec", "danger"),
    [
        (example(entry(b"a", feature(FLOAT, unpacked_floats([1, 2])))), {"a": fixed((1,), "float32")}, True),
        (example(entry(b"a", feature(FLOAT, unpacked_floats([1, 2])))), {"a": fixed((2,), "float32")}, False),
        (example(entry(b"a", feature(FLOAT, unpacked_floats([1, 2])))), {"a": variable("float32")}, False),
        (example(entry(b"a", floats(1, 2))), {"a": fixed((1,), "float32")}, False),
        (
            example(entry(b"a", field(FLOAT, b"\x0a" + varint(2**31) + b"1234"))),
            {"a": variable("float32")},
            True,
        ),
        (example(entry(b"a", ints(-1, -1))), {"a": variable("float32")}, False),
        (b"\x0a\x7f" + entry(b"a", feature(BYTES, b"\x0a" + varint(2**31))), {"a": variable("string")}, True),
    ],
    ids=range(7),
)
def test_what_tensorflow_must_not_be_given_is_found(record, spec, danger):
    assert bool(danger_of((record,), spec)) is danger


def test_bytes_beyond_their_list_are_found():
    record = sequence_example([entry(b"a", feature(BYTES, field(1, b"x") + b"\x0a\x05abc"))])
    assert danger_of((record,), {}, sequence=True)
    assert not danger_of((record,), {})


def test_shrinking_keeps_the_complaint_only():
    case = Case((b"abcXdef", b"ghi"), {"a": variable(), "b": variable()}, None, single=False)
    small = shrink(
        case, "has 1 X", lambda one: [f"has {len(one.records)} X" for record in one.records if b"X" in record]
    )
    assert small.records == (b"X",)
    assert len(small.spec) == 1
    assert reproducer(small, 3, 4) == f"# seed 3 case 4\nparse_example([b'X'], {small.spec!r})"
