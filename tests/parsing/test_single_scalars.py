"""Numbers of one example are numpy's own scalars, whatever made them."""

from __future__ import annotations

import pickle
import sys
import threading
import tracemalloc

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit import _core
from tfrkit.errors import InvalidArgumentError

SPEC = {
    "i": tfr.FixedLenFeature([], "int64"),
    "f": tfr.FixedLenFeature([], "float32"),
    "b": tfr.FixedLenFeature([], "string"),
    "pair": tfr.FixedLenFeature([2], "int64"),
}


def _record(i=7, f=0.5):
    return tfr.make_example({"i": i, "f": f, "b": b"text", "pair": [1, 2]}).SerializeToString()


@pytest.mark.parametrize("value", [0, 1, -1, 2**63 - 1, -(2**63), 0x0123456789ABCDEF])
def test_int64_is_numpys(value):
    found = tfr.parse_single_example(_record(i=value), SPEC)["i"]
    expected = np.int64(value)
    assert type(found) is np.int64
    assert (found, hash(found), repr(found), found.dtype) == (
        expected,
        hash(expected),
        repr(expected),
        expected.dtype,
    )
    assert found.tobytes() == expected.tobytes()
    assert pickle.loads(pickle.dumps(found)) == expected


@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, float("inf"), float("-inf"), float("nan"), 1e-45, 3.4e38])
def test_float32_is_numpys(value):
    found = tfr.parse_single_example(_record(f=value), SPEC)["f"]
    expected = np.float32(value)
    assert type(found) is np.float32
    assert (found.tobytes(), repr(found), found.dtype) == (expected.tobytes(), repr(expected), expected.dtype)
    assert (found + np.float32(1)).dtype == np.float32


def test_scalars_compute_like_numpys():
    one = tfr.parse_single_example(_record(), SPEC)
    assert (one["i"] * 2 + 1, one["i"] / 2, int(one["i"]), range(9)[one["i"]]) == (15, 3.5, 7, 7)
    assert np.stack([one["i"], one["i"]]).dtype == np.int64


def test_results_share_nothing():
    first, second = (tfr.parse_single_example(_record(), SPEC) for _ in range(2))
    assert first is not second
    assert first["i"] is not second["i"]
    first["new"] = first.pop("i")
    assert "i" in second
    assert "new" not in tfr.parse_single_example(_record(), SPEC)


def test_references_are_counted():
    one = tfr.parse_single_example(_record(), SPEC)
    values = [one[key] for key in SPEC]
    del one
    assert [sys.getrefcount(value) for value in values] == [3] * len(
        values
    )  # the list, the loop, the argument


def test_many_calls_leave_no_memory_behind():
    record, wrong = _record(), b"\xff"

    def work(count):
        for _ in range(count):
            tfr.parse_single_example(record, SPEC)
        with pytest.raises(InvalidArgumentError):
            tfr.parse_single_example(wrong, SPEC)

    work(1000)
    tracemalloc.start()
    try:
        work(1000)
        before = tracemalloc.get_traced_memory()[0]
        work(30_000)
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 30_000


def test_threads_parse_at_once():
    wrong = []

    def work(number):
        record = _record(i=number)
        for _ in range(3000):
            if tfr.parse_single_example(record, SPEC)["i"] != number:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_items_know_a_dict_by_its_values():
    first, second = object(), object()
    items = _core.DictItems({"a": first, "b": second})
    assert items.are_in({"a": first, "b": second})
    assert _core.DictItems({str(12345): first}).are_in({str(12345): first})
    assert _core.DictItems({}).are_in({})
    for other in [
        {"b": second, "a": first},
        {"a": second, "b": first},
        {"a": first, "c": second},
        {"a": first},
        {"a": first, "b": second, "c": first},
        [first, second],
        None,
    ]:
        assert not items.are_in(other)


def test_items_are_compared_without_running_code():
    class Name(str):
        __slots__ = ()

        def __eq__(self, other):
            raise AssertionError

        __hash__ = str.__hash__

    value = object()
    assert not _core.DictItems({"a": value}).are_in({Name("a"): value})
