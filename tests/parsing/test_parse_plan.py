"""Specs are compiled once, and again when they have changed."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tfrkit as tfr
from tests.parsing.support.made import example
from tfrkit.parsing.parse_plan import PlanCache, compile_examples

Fixed, Ragged = tfr.FixedLenFeature, tfr.RaggedFeature


class Counting:
    """A compiler that counts its calls."""

    def __init__(self):
        self.calls = 0

    def __call__(self, *specs):
        self.calls += 1
        return specs


@pytest.fixture
def cache():
    return PlanCache(Counting())


def _calls(cache):
    return cache._compile.calls


def test_the_same_dict_is_compiled_once(cache):
    spec = {"a": Fixed([], "int64"), "b": Fixed([], "int64", np.array([1, 2]))}
    plans = {id(cache.get(spec)) for _ in range(3)}
    assert (len(plans), _calls(cache)) == (1, 1)


def test_an_equal_dict_is_compiled_once(cache):
    for _ in range(3):
        cache.get(
            {"a": Fixed([], "int64", np.array([1, 2])), "b": Ragged("int64", "v", [Ragged.RowSplits("p")])}
        )
    assert _calls(cache) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a": Fixed([], "int64", 1)}, {"a": Fixed([], "int64", 1.0)}),
        ({"a": Fixed([], "int64", 1)}, {"a": Fixed([], "int64", True)}),
        ({"a": Fixed([2], "int64")}, {"a": Fixed([3], "int64")}),
        ({"a": Fixed([], "float32", np.array([0.0]))}, {"a": Fixed([], "float32", np.array([-0.0]))}),
        (
            {"a": Ragged("int64", "v", [Ragged.RowSplits("p")])},
            {"a": Ragged("int64", "v", [Ragged.RowStarts("p")])},
        ),
        (
            {"a": Fixed([], "int64"), "b": Fixed([], "int64")},
            {"b": Fixed([], "int64"), "a": Fixed([], "int64")},
        ),
    ],
    ids=str,
)
def test_what_differs_is_compiled_apart(cache, first, second):
    assert cache.get(first) is not cache.get(second)
    assert _calls(cache) == 2


def test_a_changed_dict_is_compiled_again(cache):
    spec = {"a": Fixed([], "int64")}
    cache.get(spec)
    spec["a"] = Fixed([], "float32")
    assert cache.get(spec) == ({"a": Fixed([], "float32")},)
    spec["b"] = spec.pop("a")
    assert cache.get(spec) == ({"b": Fixed([], "float32")},)
    assert _calls(cache) == 3


def test_changes_of_a_spec_show_in_the_results():
    spec = {"a": Fixed([], "int64"), "b": Fixed([], "int64")}
    record = example(a=[1], b=[2])
    assert list(tfr.parse_single_example(record, spec)) == ["a", "b"]
    spec["a"] = spec.pop("a")
    assert list(tfr.parse_single_example(record, spec)) == ["b", "a"]
    del spec["a"]
    assert list(tfr.parse_single_example(record, spec)) == ["b"]


def test_pairs(cache):
    context, lists = {"a": Fixed([], "int64")}, {"b": Fixed([], "int64")}
    assert cache.get_pair(context, lists) == (context, lists)
    assert cache.get_pair(context, None) == (context, None)
    assert cache.get_pair(None, lists) == (None, lists)
    assert cache.get_pair(None, dict(lists)) == (None, lists)
    assert cache.get_pair(lists, context) == (lists, context)
    assert _calls(cache) == 4


def test_memory_is_bounded(cache):
    for size in range(1000):
        cache.get({"a": Fixed([size], "int64")})
    assert len(cache) < 200
    assert len(cache._by_identity) < 200


def test_errors_are_not_kept():
    cache = PlanCache(compile_examples)
    for _ in range(2):
        with pytest.raises(ValueError, match="Unsupported int"):
            cache.get({"a": 5})
    assert len(cache) == 0


def test_many_threads_ask():
    records = [example(a=[number]) for number in range(50)]
    wrong = []

    def work():
        for number in range(400):
            spec = {f"{number % 7}": tfr.VarLenFeature("int64"), "a": Fixed([], "int64")}
            if tfr.parse_single_example(records[number % 50], spec)["a"] != number % 50:
                wrong.append(number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
