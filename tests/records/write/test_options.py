from __future__ import annotations

import zlib

import pytest

from tfrkit import TFRecordCompressionType, TFRecordOptions
from tfrkit.errors import InvalidArgumentError

NAME_OF = TFRecordOptions.get_compression_type_string


def test_numbers_are_tensorflows():
    kinds = TFRecordCompressionType
    assert (kinds.NONE, kinds.ZLIB, kinds.GZIP) == (0, 1, 2)


@pytest.mark.parametrize(
    ("given", "name"),
    [(None, ""), ("", ""), (0, ""), (1, "ZLIB"), (2, "GZIP"), ("ZLIB", "ZLIB"), ("GZIP", "GZIP")],
)
def test_compression_by_name_or_number(given, name):
    assert NAME_OF(given) == name
    assert NAME_OF(TFRecordOptions(given)) == name


def test_options_of_options():
    assert NAME_OF(TFRecordOptions(TFRecordOptions("GZIP"))) == "GZIP"


@pytest.mark.parametrize("given", ["gzip", "XZ", 3])
def test_unknown_compression_is_refused_at_once(given):
    with pytest.raises(ValueError, match=f'^Not a valid compression_type: "{given}"$'):
        TFRecordOptions(given)


def test_what_is_not_given_is_zlibs_default():
    assert TFRecordOptions("GZIP").zlib_arguments() == (-1, zlib.DEFLATED, 31, 9, 0)
    assert TFRecordOptions("ZLIB").zlib_arguments() == (-1, zlib.DEFLATED, 15, 9, 0)


def test_every_option_reaches_zlib():
    options = TFRecordOptions(
        "GZIP", window_bits=25, compression_level=3, compression_method=8, mem_level=4, compression_strategy=2
    )
    assert options.zlib_arguments() == (3, 8, 25, 4, 2)
    options.check()


@pytest.mark.parametrize("name", ["flush_mode", "input_buffer_size", "compression_level", "mem_level"])
def test_any_option_but_the_type_needs_one_plain_stream(name):
    assert TFRecordOptions("GZIP", **{name: 1}).tunes_zlib()
    assert not TFRecordOptions("GZIP").tunes_zlib()


@pytest.mark.parametrize(
    ("name", "value", "bits"),
    [("compression_level", 128, 8), ("mem_level", "9", 8), ("input_buffer_size", 2**63, 64)],
)
def test_option_that_does_not_fit_is_a_type_error(name, value, bits):
    text = f"^incompatible function arguments: expected {name} to be an int{bits} but got {value!r}$"
    with pytest.raises(TypeError, match=text):
        TFRecordOptions("GZIP", **{name: value}).check()


@pytest.mark.parametrize(
    ("name", "value"), [("compression_level", 10), ("mem_level", 0), ("window_bits", 99)]
)
def test_option_that_zlib_refuses_is_an_invalid_argument(name, value):
    with pytest.raises(
        InvalidArgumentError, match=r"^zlib refuses these options: .*\. Level, method, window bits"
    ):
        TFRecordOptions("GZIP", **{name: value}).check()


def test_output_buffer_must_hold_more_than_a_byte():
    with pytest.raises(ValueError, match=r"^Expected output_buffer_size to be at least 2 but got 1\.$"):
        TFRecordOptions("GZIP", output_buffer_size=1).check()
