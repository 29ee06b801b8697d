"""Specs survive JSON."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr

Ragged = tfr.RaggedFeature
DTYPES = st.sampled_from(["int64", "float32", "bytes"])
SHAPES = st.lists(st.integers(0, 5), max_size=3)
NAMES = st.text(min_size=1, max_size=5)
VALUES = st.one_of(
    st.none(),
    st.binary(),
    st.text(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.lists(st.binary()),
)
PARTITIONS = st.one_of(
    st.builds(Ragged.RowSplits, NAMES),
    st.builds(Ragged.RowLengths, NAMES),
    st.builds(Ragged.RowStarts, NAMES),
    st.builds(Ragged.RowLimits, NAMES),
    st.builds(Ragged.ValueRowIds, NAMES),
    st.builds(Ragged.UniformRowLength, st.integers(0, 9)),
)
FEATURES = st.one_of(
    st.builds(tfr.FixedLenFeature, SHAPES, DTYPES, VALUES),
    st.builds(tfr.VarLenFeature, DTYPES),
    st.builds(tfr.FixedLenSequenceFeature, SHAPES, DTYPES, st.booleans(), VALUES),
    st.builds(
        tfr.SparseFeature, NAMES | st.lists(NAMES, min_size=1), NAMES, DTYPES, st.integers(0), st.booleans()
    ),
    st.builds(
        Ragged,
        DTYPES,
        st.none() | NAMES,
        st.lists(PARTITIONS),
        st.sampled_from(["int32", "int64"]),
        st.booleans(),
    ),
)


@given(st.dictionaries(st.text(), FEATURES, max_size=4))
def test_every_spec_comes_back(spec):
    text = tfr.spec_to_json(spec)
    back = tfr.spec_from_json(text)
    assert back == spec
    assert list(back) == list(spec)
    json.loads(text, parse_constant=pytest.fail)  # NaN and Infinity are not JSON


def test_what_means_the_same_is_written_the_same():
    spec = {"a": tfr.FixedLenFeature((2,), np.float32, np.array([1, 2], np.float32))}
    assert tfr.spec_from_json(tfr.spec_to_json(spec)) == {
        "a": tfr.FixedLenFeature([2], "float32", [1.0, 2.0])
    }


def test_bytes_default_is_base64():
    text = tfr.spec_to_json({"a": tfr.FixedLenFeature([], bytes, b"\x00\xff")})
    assert json.loads(text) == {
        "a": {"feature": "FixedLen", "shape": [], "dtype": "bytes", "default_value": {"base64": "AP8="}}
    }


def test_floats_without_a_form_in_json():
    spec = {"a": tfr.FixedLenFeature([2], "float32", [math.nan, -math.inf])}
    first, second = tfr.spec_from_json(tfr.spec_to_json(spec))["a"].default_value
    assert math.isnan(first)
    assert second == -math.inf


def test_empty_spec():
    assert tfr.spec_to_json({}) == "{}"
    assert tfr.spec_from_json("{}") == {}


def test_what_is_no_feature_is_refused():
    with pytest.raises(TypeError, match="expected a feature for key 'a' but got int"):
        tfr.spec_to_json({"a": 5})
    with pytest.raises(
        TypeError,
        match=r"^default_value of the feature 'a': expected numbers, strings, bytes or lists of them but got set$",
    ):
        tfr.spec_to_json({"a": tfr.FixedLenFeature([], "int64", {1})})


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 5}',
        '{"a": {"feature": "None"}}',
        '{"a": {"feature": "VarLen"}}',
        '{"a": {"feature": "VarLen", "dtype": "int64", "x": 1}}',
        '{"a": {"feature": "Ragged", "dtype": "int64", "partitions": [{"partition": "X"}]}}',
        '{"a": {"feature": "Ragged", "dtype": "int64", "partitions": [{"partition": "_make", "iterable": []}]}}',
        '{"a": {"feature": "FixedLen", "shape": [], "dtype": "bytes", "default_value": {"base64": "?"}}}',
        '{"a": {"feature": "FixedLen", "shape": "x", "dtype": "int64"}}',
        '{"a": {"feature": "FixedLen", "shape": [-1], "dtype": "int64"}}',
        '{"a": {"feature": "VarLen", "dtype": "nope"}}',
    ],
)
def test_what_is_no_spec_in_json_is_refused_by_key(text):
    with pytest.raises(ValueError, match="expected the JSON form of a feature for key 'a' but got"):
        tfr.spec_from_json(text)


def test_what_is_no_object_is_refused():
    with pytest.raises(ValueError, match="expected a JSON object of features but got list"):
        tfr.spec_from_json("[]")


def test_nesting_without_end_is_refused():
    with pytest.raises(ValueError, match="lists inside each other without end"):
        tfr.spec_from_json("[" * 100_000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label", "expected a spec as JSON but got 'label': Expecting value: line 1 column 1 (char 0)"),
        (
            '{"a": {"feature": "FixLen"}}',
            (
                "expected the JSON form of a feature for key 'a' but got {'feature': 'FixLen'}: it needs a dtype, and "
                "a feature that is one of FixedLen, VarLen, Sparse, FixedLenSequence, Ragged"
            ),
        ),
    ],
)
def test_what_is_no_spec_is_shown_with_what_it_needs(text, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        tfr.spec_from_json(text)
    assert str(caught.value) == message
