"""decode_json_example in TensorFlow and in tfrkit."""

from __future__ import annotations

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
    "\\",
    "\\u0041",
    "null",
    "1",
    "-",
    ".5",
    "e3",
    " ",
    "\n",
    "x",
    "é",
)
START = "Error while parsing JSON: "


def attempt(call):
    """The Examples that a call gives, or its failure."""
    try:
        found = call()
    except UnicodeDecodeError:
        return Failure("InvalidArgumentError", START)
    except Exception as error:
        return Failure(type(error).__name__, core(str(getattr(error, "message", error))))
    array = np.asarray(found, object)
    return array.shape, [tfr.Example.FromString(data) for data in array.ravel()]


def theirs(text):
    return attempt(lambda: tensorflow().io.decode_json_example(text).numpy())


def ours(text):
    def call():
        found = tfr.decode_json_example(text)
        return found if isinstance(found, bytes) else found.to_numpy()

    return attempt(call)


def with_list(kind, values):
    return f'{{"features":{{"feature":{{"a":{{"{kind}":{{"value":{values}}}}}}}}}}}'


@tf_rule("3 decode_json_example")
@pytest.mark.parametrize(
    "text",
    [
        with_list("int64List", '[1, "2", -3, 4.0, 5e0, "6.0"]'),
        with_list("int64_list", "[9223372036854775807, -9223372036854775808]"),
        with_list("floatList", '[1.5, "Infinity", "-Infinity", "1e5", 16777217, "1e400", 0.1, 1e-37]'),
        with_list("bytesList", '["YWI=", "YWI", "_-8", ""]'),
        with_list("int64List", "[]"), with_list("int64List", "null"), '{"features":null}', ' {"features" : { } } \n',
        '{"features":{"feature":{"b":{},"a":{}}}}', '{"features":{"feature":{"\\u00e9\\ud83d\\ude00":{}}}}',
    ],
)  # fmt: skip
def test_examples(text):
    assert not isinstance(ours(text), Failure)
    assert ours(text) == theirs(text)


@tf_rule("3 decode_json_example shape")
@pytest.mark.parametrize("texts", ["{}", ["{}", '{"features":{}}'], [["{}"]], [b"{}"]], ids=repr)
def test_shape(texts):
    assert ours(texts) == theirs(texts)


@tf_rule("3 decode_json_example liberties")
@pytest.mark.parametrize(
    "text",
    [
        "{features:{}}", "{'features':{}}", '{"features":{},}', '{"features":{"feature":{"a":null}}}',
        '{"features":{},"features":{}}', '{"features":{"feature":{"a\tb":{}}}}', with_list("int64List", "7"),
        with_list("int64List", "[[1], [2, [3]]]"), with_list("int64List", "[null]"), with_list("int64List", '["0x6"]'),
    ],
)  # fmt: skip
def test_liberties_of_tensorflow(text):
    assert not isinstance(theirs(text), Failure)
    assert ours(text).message.startswith(START)


@tf_rule("3 decode_json_example denormals")
def test_floats_below_the_normal_ones():
    text = with_list("floatList", "[1e-39]")
    assert list(theirs(text)[1][0].features.feature["a"].float_list.value) == [0.0]
    assert list(ours(text)[1][0].features.feature["a"].float_list.value) == [np.float32(1e-39)]


@tf_rule("3 decode_json_example errors")
@pytest.mark.parametrize(
    "text",
    [
        "", "null", "[]", '{"features"', "{} x", '{"x":1}', '{\n "features": {\n  "x": 1}}', '{"features":5}',
        '{"features":[]}', '{"features":{"feature":{"a":[]}}}', '{"features":{"feature":{"a":{},"a":{}}}}',
        '{"features":{"feature":{"a":{"int64List":{},"floatList":{}}}}}', with_list("int64List", '[1, "x"]'),
        with_list("int64List", "[1.5]"), with_list("int64List", "[01]"), with_list("int64List", "[true]"),
        with_list("int64List", "[1 2]"), with_list("int64List", '[" 1"]'), with_list("int64List", '["1_0"]'),
        with_list("floatList", "[1e39]"), with_list("floatList", '["1e39"]'), with_list("floatList", '["x"]'),
        with_list("floatList", "[NaN]"), with_list("floatList", "[true]"), with_list("bytesList", '["a"]'),
        with_list("bytesList", '["!!"]'), with_list("bytesList", "[1]"), with_list("int64List", "[" * 200),
        '{"features":{"feature":{"\\ud800":{}}}}',
    ],
)  # fmt: skip
def test_errors(text):
    for found in (theirs(text), ours(text)):
        assert found.name == "InvalidArgumentError"
        assert found.message.startswith(START)


@tf_rule("3 decode_json_example errors")
@settings(max_examples=300)
@given(st.data())
def test_damaged_texts_give_the_same_example_or_an_error(data):
    text = with_list("int64List", '[1, "2"]')[:-2] + ', "b": {"bytesList": {"value": ["YQ=="]}}}}'
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(WORDS)) + text[at + data.draw(st.integers(0, 2)) :]
    found = ours(text)
    if isinstance(found, Failure):
        assert found.message.startswith(START)
    else:
        assert found == theirs(text)
