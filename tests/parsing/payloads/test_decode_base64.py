"""decode_base64 and encode_base64: text, padding, shapes and refusals."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr
from tfrkit.errors import InvalidArgumentError


@given(st.binary(max_size=100), st.booleans())
def test_what_is_encoded_is_decoded(data, pad):
    text = tfr.encode_base64(data, pad)
    assert text == (base64.urlsafe_b64encode(data) if pad else base64.urlsafe_b64encode(data).rstrip(b"="))
    assert tfr.decode_base64(text) == data


def test_shape_is_kept():
    encoded = tfr.encode_base64([[b"a", b"bc"], [b"", b"def"]])
    assert encoded.shape == (2, 2)
    assert encoded.reshape((4,)).to_list() == [b"YQ", b"YmM", b"", b"ZGVm"]
    assert tfr.decode_base64(encoded).to_numpy().tolist() == [[b"a", b"bc"], [b"", b"def"]]


def test_surplus_bits_are_ignored():
    assert tfr.decode_base64("YR") == b"a"


@pytest.mark.parametrize("text", ["+/==", "YQ\n=", "YQ=", "====", "YQ==YQ==", b"\xff\xff"])
def test_other_characters_are_refused(text):
    with pytest.raises(InvalidArgumentError, match=r"^Invalid character found in base64\.$"):
        tfr.decode_base64(text)


@pytest.mark.parametrize("text", ["Y", "YWJjY", "YWJj="])
def test_one_character_too_many_is_refused(text):
    with pytest.raises(InvalidArgumentError, match=r"^Base64 string length cannot be 1 modulo 4\.$"):
        tfr.decode_base64(text)


def test_padding_must_be_a_bool():
    with pytest.raises(TypeError, match=r"^Expected bool for argument 'pad' not 1\.$"):
        tfr.encode_base64(b"a", pad=1)
