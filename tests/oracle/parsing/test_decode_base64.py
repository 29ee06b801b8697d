"""decode_base64 and encode_base64 in TensorFlow and in tfrkit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.parsed import core
from tests.support.rules import tf_rule


def attempt(function, *arguments, **options):
    try:
        found = function(*arguments, **options)
    except Exception as error:
        return Failure(type(error).__name__, core(str(getattr(error, "message", error))))
    if isinstance(found, tfr.BytesColumn):
        found = found.to_numpy()
    elif hasattr(found, "numpy"):
        found = found.numpy()
    return found if isinstance(found, bytes) else (found.shape, found.tolist())


def both(name, *arguments, **options):
    """What TensorFlow gives, after seeing that tfrkit gives the same."""
    reference = attempt(getattr(tensorflow().io, name), *arguments, **options)
    assert attempt(getattr(tfr, name), *arguments, **options) == reference
    return reference


@tf_rule("3 decode_base64")
@pytest.mark.parametrize(
    "text", ["", "YQ", "YQ==", "YWI=", "YWI", "YWJj", "Y-_", "YR", "YR==", "YWJ", "YWJjYQ==", b"YWJjYWI="]
)
def test_decode(text):
    assert not isinstance(both("decode_base64", text), Failure)


@tf_rule("3 decode_base64 errors")
@pytest.mark.parametrize(
    "text",
    [
        "YQ=", "Y", "YWI==", "YWJj=", "YWJj====", "Y+/", " YQ", "YQ\n", "=", "==", "===", "====", "A=B=", "YQ==YQ==",
        b"\xff\xff", "YW=j", "YWJjY", "YWJjYQ=", "YWJjYQ===", "YQ==\0", "Y=", "Y==", "Y===", b"AAAA\x80", "YWJjYWJj==",
    ],
)  # fmt: skip
def test_errors(text):
    assert both("decode_base64", text).name == "InvalidArgumentError"


@tf_rule("3 decode_base64 errors")
@settings(max_examples=300, deadline=None)
@given(st.text("AZaz09-_=+ ", max_size=10))
def test_any_text(text):
    both("decode_base64", text)


@tf_rule("3 encode_base64")
@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=20), st.sampled_from([True, False, None]))
def test_encode(data, pad):
    text = both("encode_base64", data, pad)
    assert both("decode_base64", text) == data


@tf_rule("3 base64 shape")
@pytest.mark.parametrize(
    "given_",
    [["YQ", "YWI"], [["YQ"], ["YWI="]], np.array([], object), np.zeros((0, 2), object), [["YQ", "?"]]],
)
def test_shape(given_):
    both("decode_base64", given_)
    both("encode_base64", given_, pad=True)


@tf_rule("3 base64 arguments")
@pytest.mark.parametrize("given_", [5, None, ["YQ", 5]])
def test_wrong_arguments(given_):
    assert both("decode_base64", given_).name in ("TypeError", "ValueError")
    assert both("encode_base64", given_).name in ("TypeError", "ValueError")


@tf_rule("3 base64 arguments")
@pytest.mark.parametrize("pad", [1, "x"])
def test_wrong_padding(pad):
    assert both("encode_base64", b"a", pad).name == "TypeError"
