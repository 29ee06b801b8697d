"""decode_json_example in TensorFlow and in tfrkit."""

from __future__ import annotations

import re
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.parsed import core
from tests.support.rules import tf_rule

WORDS = (
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"',
    "'",
    "\\",
    "\\u0041",
    "null",
    "true",
    "1",
    "-",
    ".5",
    "e3",
    " ",
    "\n",
    "x",
    "é",
)


def attempt(call):
    """What a call gives, or its failure; TensorFlow puts any number of spaces into its texts."""
    try:
        found = call()
    except UnicodeDecodeError:
        return Failure("InvalidArgumentError", "")
    except Exception as error:
        return Failure(type(error).__name__, re.sub(" +", " ", core(str(getattr(error, "message", error)))))
    return found if isinstance(found, bytes) else found.tolist()


def both(text):
    """What TensorFlow gives, after seeing that tfrkit gives the same bytes, or an error that begins so."""
    reference = attempt(lambda: tensorflow().io.decode_json_example(text).numpy())
    found = attempt(lambda: _ours(text))
    if isinstance(reference, Failure) and isinstance(found, Failure):
        assert found.name == reference.name
        assert found.message.startswith(reference.message)
    else:
        assert found == reference
    return reference


def _ours(text):
    found = tfr.decode_json_example(text)
    return found if isinstance(found, bytes) else found.to_numpy()


def with_list(kind, values):
    return f'{{"features":{{"feature":{{"a":{{"{kind}":{{"value":{values}}}}}}}}}}}'


@tf_rule("3 decode_json_example")
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("int64List", '[1, "2", -3, 4.0, 5e0, "0x6", null]'),
        ("int64_list", "[9223372036854775807, -9223372036854775808]"),
        ("floatList", '[1.5, "NaN", "Infinity", "-Infinity", "1e5", 16777217, null]'),
        ("bytesList", '["YWI=", "YWI", "_-8", "", null]'),
        ("int64List", "[]"),
        ("int64List", "null"),
        ("int64List", "[[1], [2, [3]]]"),
        ("int64List", "7"),
    ],
)
def test_lists(kind, values):
    assert isinstance(both(with_list(kind, values)), bytes)


@tf_rule("3 decode_json_example")
def test_lists_are_not_packed_and_parse_like_packed_ones():
    data = both(with_list("int64List", "[1, 2]"))
    assert data.endswith(b"\x1a\x04\x08\x01\x08\x02")
    spec = {"a": tensorflow().io.FixedLenFeature([2], "int64")}
    assert tensorflow().io.parse_single_example(data, spec)["a"].numpy().tolist() == [1, 2]
    assert list(tfr.Example.FromString(data).features.feature["a"].int64_list.value) == [1, 2]


@tf_rule("3 decode_json_example shape")
@pytest.mark.parametrize("texts", ["{}", ["{}", '{"features":{}}'], [["{}"]], [b"{}"]], ids=repr)
def test_shape(texts):
    both(texts)


@tf_rule("3 decode_json_example liberties")
@pytest.mark.parametrize(
    "text",
    [
        "{features:{}}", "{'features':{}}", '{"features":{},}', '{"features":null}', ' {"features" : { } } \n',
        '{"features":{"feature":{"a":null}}}', '{"features":{"feature":{"a":{}}}}', '{"features":{},"features":{}}',
        '{"features":{"feature":{"\\u00e9\\ud83d\\ude00":{}}}}', '{"features":{"feature":{"a\tb":{}}}}',
    ],
)  # fmt: skip
def test_liberties(text):
    assert isinstance(both(text), bytes)


@tf_rule("3 decode_json_example denormals")
def test_floats_below_the_normal_ones():
    text = with_list("floatList", "[1e-39]")
    theirs = tensorflow().io.decode_json_example(text).numpy()
    assert struct.unpack("<f", theirs[-4:]) == (0.0,)
    assert struct.unpack("<f", tfr.decode_json_example(text)[-4:]) == (np.float32(1e-39),)


@tf_rule("3 decode_json_example errors")
@pytest.mark.parametrize(
    "text",
    [
        "", "null", "[]", '{"features"', "{} x", '{"x":1}', '{\n "features": {\n  "x": 1}}', '{"features":5}',
        '{"features":{"feature":{"a":{},"a":{}}}}', '{"features":{"feature":{"a":{"int64List":{},"floatList":{}}}}}',
        with_list("int64List", '[1, "x"]'), with_list("int64List", "[1.5]"), with_list("int64List", "[1e16]"),
        with_list("int64List", "[01]"), with_list("int64List", "[true]"), with_list("int64List", "[1 2]"),
        with_list("int64List", '[" 1"]'), with_list("floatList", "[1e39]"), with_list("floatList", '["x"]'),
        with_list("floatList", "[NaN]"), with_list("bytesList", '["a"]'), with_list("bytesList", "[1]"),
        with_list("int64List", "[" * 200), '{"features":{"feature":{"\\ud800":{}}}}',
    ],
)  # fmt: skip
def test_errors(text):
    found = both(text)
    assert found.name == "InvalidArgumentError"
    assert found.message.startswith("Error while parsing JSON: ")


@tf_rule("3 decode_json_example errors")
@settings(max_examples=300)
@given(st.data())
def test_damaged_texts(data):
    text = with_list("int64List", '[1, "2"]')[:-2] + ', "b": {"bytesList": {"value": ["YQ=="]}}}}'
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(WORDS)) + text[at + data.draw(st.integers(0, 2)) :]
    both(text)
