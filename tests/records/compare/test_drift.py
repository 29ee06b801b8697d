"""Drift and schema differences against plain Python."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.records.support.examples import example, sequence, write


def compared(folder, old, new, **options):
    a, b = (write(folder / f"{name}.tfrecord", *records) for name, records in (("a", old), ("b", new)))
    return tfr.diff(a, b, compare="statistics", **options)


def drift_of(folder, old, new, name="x"):
    return next(each for each in compared(folder, old, new).drifts if each.name == name)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("drift")


def greatest_gap(a, b):
    """The Kolmogorov-Smirnov distance; NaN is beyond all numbers."""
    places = [x for x in {*a, *b} if not math.isnan(x)]
    share = [lambda x, side=side: sum(y <= x for y in side) / len(side) for side in (a, b)]
    return max((abs(share[0](x) - share[1](x)) for x in places), default=0.0)


_float = st.one_of(st.floats(-2, 2, width=32), st.sampled_from([math.nan, math.inf, -math.inf]))


@settings(deadline=None)
@given(st.lists(_float, min_size=1, max_size=9), st.lists(_float, min_size=1, max_size=9))
def test_floats_by_the_greatest_gap(place, a, b):
    found = drift_of(place, [example(x=x) for x in a], [example(x=x) for x in b])
    assert found.parts["values"] == pytest.approx(greatest_gap(a, b))
    assert 0 <= found.drift <= 1


@settings(deadline=None)
@given(*[st.lists(st.integers(0, 3), min_size=15, max_size=30)] * 2)
def test_labels_and_repeated_texts_by_shares(place, a, b):
    def variation(x, y):
        return sum(abs(Counter(x)[n] / len(x) - Counter(y)[n] / len(y)) for n in range(4)) / 2

    found = drift_of(place, [example(x=f"类{n}") for n in a], [example(x=f"类{n}") for n in b])
    assert found.parts["values"] == pytest.approx(variation(a, b))
    if len(set(a)) > 1:  # else it does not look like a label
        found = drift_of(place, [example(label=n) for n in a], [example(label=n) for n in b], "label")
        assert found.parts["values"] == pytest.approx(variation(a, b))


def test_equal_statistics_have_no_drift(place):
    records = [example(x=i / 7, n=i % 5, t=f"t{i}", ids=list(range(i % 3))) for i in range(50)]
    report = compared(place, records, list(reversed(records)))
    assert [(each.drift, each.by) for each in report.drifts] == [(0.0, "")] * 4
    assert not report
    assert "no differences" in str(report)


@pytest.mark.parametrize(
    ("old", "new", "by", "drift"),
    [
        ([{"x": 1}] * 4, [{"x": 1}, {}, {}, {}], "presence", 0.75),
        ([{"x": 1}] * 4, [{"x": 0.5}] * 4, "kind", 1.0),
        ([{"x": 1}] * 4, [{"x": 1}, {"x": [1, 1]}, {"x": 1}, {"x": 1}], "lengths", 0.25),
        ([{"x": 1}, {"x": 2}], [{"x": 1}, {"x": 3}], "values", 0.5),
        ([{"x": "a"}, {"x": "bb"}], [{"x": "cc"}, {"x": "dd"}], "sizes", 0.5),
        ([{}] * 2, [{"x": 1}] * 2, "presence", 1.0),
    ],
)
def test_the_greatest_part_is_the_drift(place, old, new, by, drift):
    found = drift_of(place, [example(**each) for each in old], [example(**each) for each in new])
    assert (found.by, found.drift) == (by, drift)


def test_steps_of_feature_lists(place):
    old, new = ([sequence({}, {"s": [[1]] * n}) for n in counts] for counts in ((1, 1), (1, 3)))
    [found] = compared(place, old, new).drifts
    assert (found.name, found.is_list, found.by, found.drift) == ("s", True, "steps", 0.5)


def test_beyond_exact_counts_within_the_error_of_ranks(place):
    random = np.random.default_rng(4)
    sides = []
    for name, shift in (("a", 0.0), ("b", 0.5)):
        path = place / f"{name}.tfrecord"
        with tfr.TFRecordWriter(str(path)) as writer:
            writer.write_batch({"x": (random.standard_normal((1, 300_000)) + shift).astype(np.float32)})
        sides.append(path)
    [found] = tfr.diff(*sides, compare="statistics").drifts
    assert found.old.float32.rank_error > 0
    expected = math.erf(0.25 / math.sqrt(2))  # of two normal distributions 0.5 apart
    assert found.drift == pytest.approx(expected, abs=0.01)


def test_schema_differences(place):
    old = [
        example(kind=1, one=1, fixed=[1, 2], gone="a", often=1),
        example(kind=1, one=2, fixed=[3, 4], often=1),
    ]
    new = [
        example(kind=0.5, one=[1, 2], fixed=[1, 2, 3], come=[0.5]),
        example(kind=0.5, one=1, fixed=[4, 5, 6], often=1),
    ]
    report = compared(place, old, new)
    assert [(each.name, each.what, each.old, each.new) for each in report.schema] == [
        ("come", "feature", "absent", "float32, one value"),
        ("fixed", "values", "2", "3"),
        ("gone", "feature", "bytes, one value", "absent"),
        ("kind", "kind", "int64", "float32"),
        ("often", "present", "always", "not always"),
        ("one", "values", "one", "lists"),
    ]
    assert compared(place, old, new, max_drift=1.0).differs
    assert "one     values   one               lists\n" in str(report)


def test_other_kinds_of_records(place):
    report = compared(place, [example(x=1)], [b"\xff\xff"])
    assert [(each.what, each.old, each.new) for each in report.schema] == [
        ("records", "Example", "other"),
        ("feature", "int64, one value", "absent"),
    ]
