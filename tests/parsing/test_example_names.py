"""Names of examples stand in errors, and must be as many as the examples."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tests.parsing.support.made import example, sequence
from tfrkit.errors import InvalidArgumentError

SPEC = {"a": tfr.FixedLenFeature([], "int64")}
GOOD, BAD = example(a=[1]), example()


@pytest.mark.parametrize(
    "names",
    [["first", "second"], ("first", b"second"), np.array(["first", "second"])],
    ids=["list", "tuple", "array"],
)
def test_the_name_stands_in_the_error(names):
    with pytest.raises(InvalidArgumentError, match=r"^Name: second, Feature: a "):
        tfr.parse_example([GOOD, BAD], SPEC, names)


@pytest.mark.parametrize("names", [None, [], np.array([])], ids=["None", "list", "array"])
def test_without_names(names):
    with pytest.raises(InvalidArgumentError, match=r"^Name: <unknown>, Feature: a "):
        tfr.parse_example([GOOD, BAD], SPEC, names)


@pytest.mark.parametrize(
    ("serialized", "names", "shapes"),
    [
        ([GOOD, GOOD], ["a"], "name.shape=[1], serialized.shape=[2]"),
        ([GOOD, GOOD], "a", "name.shape=[], serialized.shape=[2]"),
        (GOOD, ["a"], "name.shape=[1], serialized.shape=[]"),
        (GOOD, [["a"]], "name.shape=[1,1], serialized.shape=[]"),
    ],
    ids=["one for two", "text for two", "list for one", "matrix"],
)
def test_another_number_of_names_is_refused(serialized, names, shapes):
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_example(serialized, SPEC, names)
    assert caught.value.message == f"Expected names have the same shape as serialized: {shapes}"


def test_a_single_example_may_have_a_name():
    assert tfr.parse_single_example(GOOD, SPEC, "x")["a"] == 1


def test_names_are_text():
    with pytest.raises(TypeError, match=r"^Cannot convert \[1, 2\] to EagerTensor of dtype string$"):
        tfr.parse_example([GOOD, GOOD], SPEC, [1, 2])


def test_bytes_that_are_no_text_are_escaped():
    with pytest.raises(InvalidArgumentError, match=r"^Name: \\xff, "):
        tfr.parse_example([BAD], SPEC, [b"\xff"])


def test_names_of_sequence_examples():
    record = sequence({"a": [1.5]})
    for names in ("x", ["x"]):
        with pytest.raises(InvalidArgumentError, match=r"^Name: x, Context feature: a\."):
            tfr.parse_single_sequence_example(record, SPEC, None, names)
    with pytest.raises(InvalidArgumentError, match=r"^Name: y, Context feature: a\."):
        tfr.parse_sequence_example([sequence({"a": [1]}), record], SPEC, None, ["x", "y"])
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_sequence_example([record, record], SPEC, None, ["x"])
    assert caught.value.message == "example_names must be empty or have the correct number of elements"
