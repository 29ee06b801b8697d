"""make_example, make_sequence_example and to_dict undo each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr

FLOATS = st.floats(width=32, allow_nan=False)
FEATURES = st.one_of(
    st.just(tfr.Feature()),
    st.lists(st.binary(max_size=5), max_size=4).map(tfr.bytes_list_feature),
    st.lists(FLOATS, max_size=4).map(tfr.float_list_feature),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4).map(tfr.int64_list_feature),
)
KEYS = st.text(st.characters(codec="utf-8"), max_size=5)
DICTS = st.dictionaries(KEYS, FEATURES, max_size=5)


@given(DICTS)
def test_example_survives_the_way_through_a_dict(features):
    example = tfr.make_example(features)
    assert {
        key: tfr.Feature.FromString(value.SerializeToString()) for key, value in features.items()
    } == dict(example.features.feature)
    assert tfr.make_example(tfr.to_dict(example)) == example
    assert tfr.make_example(tfr.to_dict(example.SerializeToString())) == example


@given(DICTS, st.dictionaries(KEYS, st.lists(FEATURES, max_size=4), max_size=3))
def test_sequence_example_survives_the_way_through_dicts(context, lists):
    example = tfr.make_sequence_example(context, lists)
    assert tfr.make_sequence_example(**tfr.to_dict(example)) == example
    assert tfr.make_sequence_example(**tfr.to_dict(example.SerializeToString(), sequence=True)) == example


def test_dict_has_arrays_and_lists_in_the_order_of_names():
    example = tfr.make_example({"z": [1, 2], "a": 0.5, "m": ["x"], "n": None})
    made = tfr.to_dict(example)
    assert list(made) == ["a", "m", "n", "z"]
    assert (made["a"].dtype, made["a"].tolist()) == (np.float32, [0.5])
    assert (made["z"].dtype, made["z"].tolist()) == (np.int64, [1, 2])
    assert made["m"] == [b"x"]
    assert made["n"] is None


def test_empty_lists_keep_their_kind():
    example = tfr.make_example(
        {"b": np.zeros(0, "S1"), "f": np.zeros(0, np.float32), "i": np.zeros(0, np.int64), "e": [], "u": None}
    )
    kinds = {key: value.WhichOneof("kind") for key, value in example.features.feature.items()}
    assert kinds == {"b": "bytes_list", "f": "float_list", "i": "int64_list", "e": None, "u": None}
    assert tfr.to_dict(example)["b"] == []
    assert tfr.make_example(tfr.to_dict(example)) == example


def test_nothing_is_an_empty_message():
    assert tfr.make_example({}) == tfr.Example()
    assert tfr.make_sequence_example() == tfr.SequenceExample()
    assert tfr.to_dict(b"") == {}
    assert tfr.to_dict(b"", sequence=True) == {"context": {}, "feature_lists": {}}


def test_steps_may_be_arrays_lists_and_messages():
    example = tfr.make_sequence_example(
        {"user": "u1"},
        {
            "a": np.array([1, 2]),
            "b": np.array([[0.5, 1.5], [2.5, 3.5]]),
            "c": [["x"], [], None],
            "d": tfr.FeatureList(feature=[tfr.feature(3)]),
            "e": [tfr.feature(4)],
            "f": [],
        },
    )
    lists = tfr.to_dict(example)["feature_lists"]
    assert {
        key: [None if step is None else list(step) for step in steps] for key, steps in lists.items()
    } == {
        "a": [[1], [2]],
        "b": [[0.5, 1.5], [2.5, 3.5]],
        "c": [[b"x"], [], None],
        "d": [[3]],
        "e": [[4]],
        "f": [],
    }


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tfr.make_example([1]), "expected a dict of features by name but got [1] (list)"),
        (lambda: tfr.make_example({1: 2}), "expected the name of a feature as str but got 1 (int)"),
        (lambda: tfr.make_example({"a": tfr.Example()}), "feature 'a': expected a Feature but got a message"),
        (lambda: tfr.make_sequence_example({"a": 1j}), "context feature 'a': expected bool, int"),
        (lambda: tfr.make_sequence_example({}, {"a": [1, 1j]}), "feature list 'a', step 1: expected bool, int"),
        (lambda: tfr.make_sequence_example({}, {"a": "xyz"}), "feature list 'a': expected a list or array of steps"),
        (lambda: tfr.make_sequence_example({}, {"a": tfr.feature(1)}), "feature list 'a': expected a FeatureList"),
        (lambda: tfr.to_dict("text"), "expected a message or bytes but got 'text' (str)"),
        (lambda: tfr.to_dict(tfr.Feature()), "expected an Example or a SequenceExample but got a message"),
    ],
    ids=[str(place) for place in range(9)],
)  # fmt: skip
def test_what_cannot_be_converted_is_named(call, text):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).startswith(text)


def test_bytes_that_are_no_example():
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match="expected a serialised Example but these 3 bytes"
    ):
        tfr.to_dict(b"abc")
