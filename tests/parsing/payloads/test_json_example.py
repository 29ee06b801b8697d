"""decode_json_example: what JSON becomes, and why some of it is refused."""

from __future__ import annotations

import contextlib
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr
from tfrkit.errors import InvalidArgumentError


def with_list(kind: str, values: str) -> str:
    return f'{{"features":{{"feature":{{"a":{{"{kind}":{{"value":{values}}}}}}}}}}}'


def values_of(kind: str, values: str) -> list:
    """The values of the one feature of the result."""
    feature = tfr.Example.FromString(tfr.decode_json_example(with_list(kind, values))).features.feature["a"]
    return list(getattr(feature, feature.WhichOneof("kind")).value)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ('[1, "2", 3.0, 4e0, "5.0"]', [1, 2, 3, 4, 5]),
        ('[-9223372036854775808, "9223372036854775807"]', [-(2**63), 2**63 - 1]),
        ("null", []),
        ("[]", []),
    ],
)
def test_int64(values, expected):
    assert values_of("int64List", values) == expected
    assert values_of("int64_list", values) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1.5", 1.5), ('"1.5"', 1.5), ('"NaN"', math.nan), ('"-Infinity"', -math.inf), ('"1e400"', math.inf),
        ('" 2 "', 2), ("16777217", 16777216), ("1e-39", np.float32(1e-39)),
    ],
)  # fmt: skip
def test_float(value, expected):
    np.testing.assert_array_equal(values_of("floatList", f"[{value}]"), np.float32([expected]))


@pytest.mark.parametrize(
    ("value", "expected"), [('"YWI="', b"ab"), ('"YWI"', b"ab"), ('"_-8"', b"\xff\xef"), ('""', b"")]
)
def test_bytes(value, expected):
    assert values_of("bytesList", f"[{value}]") == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", b""),
        ('{"features":null}', b""),
        ('{"features":{}}', b"\x0a\0"),
        ('{"features":{"feature":{"a":{}}}}', b"\x0a\7\x0a\5\x0a\1a\x12\0"),
        (
            '{"features":{"feature":{"\\u00e9\\ud83d\\ude00":{}}}}',
            b"\x0a\x0c\x0a\x0a\x0a\6\xc3\xa9\xf0\x9f\x98\x80\x12\0",
        ),
    ],
)
def test_objects(text, expected):
    assert tfr.decode_json_example(text) == expected


def test_a_batch_keeps_its_shape():
    decoded = tfr.decode_json_example([["{}", b'{"features":{}}']])
    assert decoded.shape == (1, 2)
    assert decoded.to_list() == [[b"", b"\x0a\0"]]


@given(
    st.dictionaries(
        st.text(max_size=5).filter(lambda key: key.isprintable()),
        st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4)
        | st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=4, min_size=1),
        max_size=4,
    ),
    st.sampled_from([None, 1]),
)
def test_what_json_says_is_what_parses(features, indent):
    kinds = {
        key: "floatList" if value and isinstance(value[0], float) else "int64List"
        for key, value in features.items()
    }
    text = json.dumps(
        {"features": {"feature": {key: {kinds[key]: {"value": value}} for key, value in features.items()}}},
        indent=indent,
    )
    example = tfr.Example.FromString(tfr.decode_json_example(text))
    found = {
        key: list(getattr(value, value.WhichOneof("kind")).value)
        for key, value in example.features.feature.items()
    }
    assert found == features


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Expecting value: line 1 column 1"),
        ("{} x", "Extra data: line 1 column 4"),
        ("[]", "expected an object"),
        ("{features:{}}", "Expecting property name enclosed in double quotes"),
        ('{"features":[]}', "expected an object at features"),
        ('{"features":{"feature":{"a":[]}}}', "expected an object at features.feature.a"),
        ('{"x":{}}', 'has no field named "x"'),
        ('{"features":{"feature":{"a":{},"a":{}}}}', "a key occurs twice in ['a', 'a']"),
        ('{"features":{"feature":{"a":{"int64List":{},"floatList":{}}}}}', '"kind" oneof'),
        ('{"features":{"feature":{"\\ud800":{}}}}', "urrogate"),
        (with_list("int64List", '[1, "x"]'), "'x'"),
        (with_list("int64List", "[1.5]"), "1.5"),
        (with_list("int64List", "[9223372036854775808]"), "out of range"),
        (
            with_list("int64List", '["1_000"]'),
            "expected a number at features.feature.a.int64List.value, got '1_000'",
        ),
        (with_list("int64List", "7"), "must be in []"),
        (with_list("int64List", "[" * 100_000), "recursion"),
        (with_list("floatList", "[1e39]"), "too large"),
        (
            with_list("floatList", '["1e39"]'),
            "expected a number at features.feature.a.floatList.value, got '1e39'",
        ),
        (
            with_list("floatList", "[true]"),
            "expected a number at features.feature.a.floatList.value, got True",
        ),
        (with_list("floatList", "[null]"), "null"),
        (with_list("bytesList", '["!!"]'), "expected base64 at features.feature.a.bytesList.value, got '!!'"),
        (b"\xff", "'utf-8' codec can't decode byte 0xff"),
    ],
)
def test_refusals_say_why(text, reason):
    with pytest.raises(InvalidArgumentError, match=r"^Error while parsing JSON: ") as caught:
        tfr.decode_json_example(text)
    assert reason in str(caught.value)


@given(st.binary(max_size=40))
def test_any_bytes_give_an_example_or_our_error(data):
    for text in (data, with_list("int64List", "[1]").encode()[:-4] + data):
        with contextlib.suppress(InvalidArgumentError):
            tfr.decode_json_example(text)
