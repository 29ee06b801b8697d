"""decode_json_example: what JSON becomes, the liberties it may take, and the places that errors name."""

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

PREFIX = "Error while parsing JSON: invalid JSON in type.googleapis.com/tensorflow.Example"


def with_list(kind: str, values: str) -> str:
    return f'{{"features":{{"feature":{{"a":{{"{kind}":{{"value":{values}}}}}}}}}}}'


def lists(kind: str, values: str) -> bytes:
    """The content of the one list in the result."""
    encoded = tfr.decode_json_example(with_list(kind, values))
    head = b"\x0a" + bytes([len(encoded) - 2]) + b"\x0a" + bytes([len(encoded) - 4]) + b"\x0a\x01a\x12"
    assert encoded.startswith(head)
    return encoded[len(head) + 3 :]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ('[1, "2", 3.0, 4e0, "5.0", "0x6"]', b"\x08\1\x08\2\x08\3\x08\4\x08\5\x08\6"),
        ("[1,]", b"\x08\1"),
        ("[[1], [2, [3]], []]", b"\x08\1\x08\2\x08\3"),
        ("[null]", b"\x08\0"),
        ("null", b""),
        ("7", b"\x08\7"),
        ("['1']", b"\x08\1"),
        ("[-1]", b"\x08" + b"\xff" * 9 + b"\1"),
    ],
)
def test_int64(values, expected):
    assert lists("int64List", values) == expected
    assert lists("int64_list", values) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1.5", 1.5), ('"1.5"', 1.5), ('"NaN"', math.nan), ('"-Infinity"', -math.inf), ('"1e400"', math.inf),
        ('" 2 "', 2), ('"0x1p3"', 8), ("null", 0), ("16777217", 16777216),
    ],
)  # fmt: skip
def test_float(value, expected):
    np.testing.assert_array_equal(
        np.frombuffer(lists("floatList", f"[{value}]")[1:], "<f4"), np.float32([expected])
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [('"YWI="', b"ab"), ('"YWI"', b"ab"), ('"_-8"', b"\xff\xef"), ('""', b""), ("null", b"")],
)
def test_bytes(value, expected):
    assert lists("bytesList", f"[{value}]")[2:] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", b""),
        ('{"features":null}', b""),
        ("{features:{}}", b"\x0a\0"),
        ("{'features':{},}", b"\x0a\0"),
        ('{"features":{"feature":{"a":null}}}', b"\x0a\5\x0a\3\x0a\1a"),
        ('{"features":{"feature":{"a":{}}}}', b"\x0a\7\x0a\5\x0a\1a\x12\0"),
        (
            '{"features":{"feature":{"\\u00e9\\ud83d\\ude00":null}}}',
            b"\x0a\x0a\x0a\x08\x0a\6\xc3\xa9\xf0\x9f\x98\x80",
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
    ("text", "message"),
    [
        ("", "Error while parsing JSON: unexpected EOF"),
        ('{"features"', "Error while parsing JSON: unexpected EOF"),
        ("{} x", "Error while parsing JSON: extraneous characters after end of JSON object"),
        ("nonsense", f"{PREFIX}, near 1:1 (offset 0): unexpected character: 'n'; expected '{{'"),
        ('{"x":1}', f"{PREFIX}, near 1:6 (offset 5): no such field: 'x'"),
        (
            '{\n "features": {\n  "x": 1}}',
            f"{PREFIX} @ features: message tensorflow.Features, near 3:7 (offset 23): no such field: 'x'",
        ),
        (
            with_list("int64List", '[1, "x"]'),
            f"{PREFIX} @ features.feature[0].int64List.value[1]: int64, near 1:54 (offset 53): invalid number: 'x'",
        ),
        (
            with_list("int64List", "[1.5]"),
            (
                f"{PREFIX} @ features.feature[0].int64List.value[0]: int64, near 1:52 (offset 51): expected "
                "integer, but JSON number had fractional part"
            ),
        ),
        (
            with_list("floatList", "[1e39]"),
            f"{PREFIX} @ features.feature[0].floatList.value[0]: float, near 1:52 (offset 51): float out of range",
        ),
        (
            with_list("bytesList", '["a"]'),
            f"{PREFIX} @ features.feature[0].bytesList.value[0]: bytes, near 1:52 (offset 51): corrupt base64",
        ),
        (
            '{"features":{"feature":{"a":{},"a":{}}}}',
            (
                f"{PREFIX} @ features.feature[1]: message tensorflow.Features.FeatureEntry, near 1:32 (offset 31): got "
                "unexpectedly-repeated repeated map key: 'a'"
            ),
        ),
        (
            '{"features":{"feature":{"a":{"int64List":{},"floatList":{}}}}}',
            (
                f"{PREFIX} @ features.feature[0].floatList: message tensorflow.FloatList, near 1:57 (offset 56): "
                "'floatList' has already been set (either directly or as part of a oneof)"
            ),
        ),
        (
            with_list("int64List", "[" * 200),
            (
                f"{PREFIX} @ features.feature[0].int64List.value[94]: int64, near 1:147 (offset 146): JSON content "
                "was too deeply nested"
            ),
        ),
    ],
)
def test_refusals_name_the_place(text, message):
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.decode_json_example(text)
    assert str(caught.value) == message


@given(st.binary(max_size=40))
def test_any_bytes_give_an_example_or_our_error(data):
    for text in (data, with_list("int64List", "[1]").encode()[:-4] + data):
        with contextlib.suppress(InvalidArgumentError):
            tfr.decode_json_example(text)
