"""Features in JSON: every value comes back exactly, and what is no feature says so."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrkit.build.tables.json_notation import decode_special, float_texts, json_values
from tfrkit.model.bytes_column import BytesColumn


def read_back(text: str, dtype: type) -> list:
    """The values of one feature, as a reader of JSON sees them."""
    value = json.loads(text)
    if isinstance(value, dict):
        return decode_special(value)[1]
    values = value if isinstance(value, list) else [value]
    return [item.encode() if isinstance(item, str) else dtype(item) for item in values]


@given(st.lists(st.integers(0, 2**32 - 1), max_size=40))
def test_floats_of_all_bits_come_back(bits):
    values = np.array(bits, np.uint32).view(np.float32)
    quiet = np.array(bits, np.uint32)
    for splits in (None, np.array([0, len(bits) // 2, len(bits)])):
        texts = json_values(values, splits)
        read = [value for text in texts for value in read_back(text, np.float32)]
        got = np.array(read, np.float32).view(np.uint32)
        np.testing.assert_array_equal(got, quiet)


@given(st.lists(st.binary(max_size=12) | st.text(max_size=12).map(str.encode), max_size=20))
def test_bytes_come_back(values):
    column = BytesColumn.from_list(values)
    for splits in (None, np.array([0, len(values) // 2, len(values)])):
        read = [value for text in json_values(column, splits) for value in read_back(text, bytes)]
        assert read == values


def test_integers_and_empty_lists():
    values = np.array([2**63 - 1, -(2**63), 0])
    assert json_values(values, None) == ["9223372036854775807", "-9223372036854775808", "0"]
    assert json_values(values, np.array([0, 0, 3])) == [
        "[]",
        "[9223372036854775807, -9223372036854775808, 0]",
    ]
    assert json_values(values[:0], np.array([0, 0]), "float") == ['{"$empty": "float"}']
    assert decode_special({"$empty": "float"}) == ("float", [])


def test_floats_are_short_and_never_look_like_integers():
    values = np.array([1, 0.1, 16777216, 3.4028235e38, -0.0, 1e-45, np.inf], np.float32)
    assert float_texts(values) == ["1.0", "0.1", "1.6777216e+07", "3.4028235e+38", "-0.0", "1e-45", "inf"]
    assert json_values(values[-1:], None) == ["Infinity"]


def test_the_float_that_would_be_rounded_twice_comes_back():
    values = np.array([0x15AE43FD, 0x95AE43FD, 0x15AE43FE], np.uint32).view(np.float32)
    assert np.float32(float("7.038531e-26")) != values[0]
    assert [np.float32(float(text)) for text in float_texts(values)] == values.tolist()


def test_only_features_with_other_bytes_are_base64():
    column = BytesColumn.from_list([b"a", b"b", b"\xff", b"c"])
    assert json_values(column, np.array([0, 2, 4])) == ['["a", "b"]', '{"$base64": ["/w==", "Yw=="]}']


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"$base64": "a"}, "expected base64 in '$base64' but got 'a'"),
        ({"$base64": ["YQ==", 3]}, "expected a value, a list, or one of"),
        ({"$float32": "ffff"}, "expected 8 hexadecimal digits in '$float32' but got 'ffff'"),
        ({"$empty": "text"}, "expected a value, a list, or one of"),
        ({"x": 1}, "expected a value, a list, or one of"),
        ({}, "expected a value, a list, or one of"),
    ],
)
def test_other_objects_are_refused(value, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        decode_special(value)
