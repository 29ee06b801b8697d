"""Which kind of feature each Python value becomes, and what is said about those that become none."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr
from tfrkit.model.features import feature_values


class Colour(enum.Enum):
    RED = 1
    NAMED = "blue"


class Level(enum.IntEnum):
    HIGH = 5


def ints(*values):
    return tfr.Feature(int64_list=tfr.Int64List(value=values))


def floats(*values):
    return tfr.Feature(float_list=tfr.FloatList(value=values))


def strings(*values):
    return tfr.Feature(bytes_list=tfr.BytesList(value=values))


WIDTHS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
CHOSEN = [
    (7, ints(7)),
    (True, ints(1)),
    (np.bool_(False), ints(0)),
    (Colour.RED, ints(1)),
    (Level.HIGH, ints(5)),
    (Colour.NAMED, strings(b"blue")),
    ([Colour.RED, Level.HIGH, 2], ints(1, 5, 2)),
    (-(2**63), ints(-(2**63))),
    (2**63 - 1, ints(2**63 - 1)),
    (1.5, floats(1.5)),
    (np.float16(0.5), floats(0.5)),
    (np.float32(0.1), floats(np.float32(0.1))),
    (np.float64(0.1), floats(0.1)),
    (1e300, floats(math.inf)),
    ("é", strings(b"\xc3\xa9")),
    (b"\xff\x00", strings(b"\xff\x00")),
    (bytearray(b"ab"), strings(b"ab")),
    (memoryview(b"ab"), strings(b"ab")),
    (np.str_("a"), strings(b"a")),
    (np.bytes_(b"a"), strings(b"a")),
    ([1, True, np.int8(3)], ints(1, 1, 3)),
    ((1.5, np.float32(2.5)), floats(1.5, 2.5)),
    (["a", b"b"], strings(b"a", b"b")),
    (range(3), ints(0, 1, 2)),
    (np.array(["a", "bc"]), strings(b"a", b"bc")),
    (np.array([b"a", b"bc"]), strings(b"a", b"bc")),
    (np.array(["a", b"b"], object), strings(b"a", b"b")),
    (np.array([True, False]), ints(1, 0)),
    (np.array(5), ints(5)),
    (np.arange(6)[::2], ints(0, 2, 4)),
    (np.array([1, -2], ">i4"), ints(1, -2)),
    (np.array([1.5, -2], ">f8"), floats(1.5, -2)),
    ([np.array(1), np.array(2)], ints(1, 2)),
    (np.ma.array([1, 2]), ints(1, 2)),
    ([], tfr.Feature()),
    ((), tfr.Feature()),
    (np.zeros(0, object), tfr.Feature()),
    (np.zeros(0, str), strings()),
    (np.zeros(0, bytes), strings()),
    (range(0), ints()),
    (np.zeros(0, np.int64), ints()),
    (np.zeros(0, np.float32), floats()),
    (None, tfr.Feature()),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), CHOSEN, ids=[str(place) for place in range(len(CHOSEN))])
def test_kind_is_chosen_from_the_value(value, expected):
    assert tfr.feature(value) == expected


@pytest.mark.parametrize("width", WIDTHS)
def test_every_width_of_integer_is_int64(width):
    limits = np.iinfo(width)
    largest = min(limits.max, 2**63 - 1)
    assert tfr.feature(np.array([limits.min, largest], width)) == ints(limits.min, largest)
    assert tfr.feature(np.dtype(width).type(largest)) == ints(largest)


def test_bfloat16_is_a_float():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert tfr.feature(np.array([1.5, 2], ml_dtypes.bfloat16)) == floats(1.5, 2)
    assert tfr.feature(ml_dtypes.bfloat16(1.5)) == floats(1.5)


def test_an_object_that_offers_an_array_is_taken_as_one():
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            return np.array([1, 2], np.int32)

    assert tfr.feature(Tensor()) == ints(1, 2)
    assert tfr.int64_list_feature(Tensor()) == ints(1, 2)


ITEMS = "bool, int, float, str or bytes"
TIME = "Give a number, such as microseconds since 1970, or text, such as isoformat()."
REFUSED = [
    (dt.datetime(2020, 1, 2, tzinfo=dt.UTC), TypeError, f"expected {ITEMS} but got datetime.datetime(2020"),
    (dt.date(2020, 1, 2), TypeError, f"expected {ITEMS} but got datetime.date(2020, 1, 2) (date). {TIME}"),
    (np.datetime64("2020-01-02"), TypeError, f"(datetime64). {TIME}"),
    (np.timedelta64(3, "s"), TypeError, f"(timedelta64). {TIME}"),
    (np.array(["2020-01-02", "2021-01-01"], "M8[D]"), TypeError, "type datetime64[D]. Convert it to one"),
    (decimal.Decimal("1.5"), TypeError, f"expected {ITEMS} but got Decimal('1.5') (Decimal). Give float(value)"),
    (1j, TypeError, f"expected {ITEMS} but got 1j (complex). Give the real and the imaginary part as two features."),
    ([[1], [2]], TypeError, f"expected {ITEMS} but got [1] (list) as item 0. Flatten it"),
    ([1, (2, 3)], TypeError, f"expected {ITEMS} but got (2, 3) (tuple) as item 1. Flatten it"),
    (np.zeros((2, 3)), TypeError, "an array of shape (2, 3) and type float64. Flatten it"),
    ([1, 2.5], TypeError, "expected values of one kind but got int64 and float (item 1) in [1, 2.5]. Convert them"),
    (["a", 1], TypeError, "expected values of one kind but got bytes and int64 (item 1) in ['a', 1]."),
    ([1.5, b"a"], TypeError, "expected values of one kind but got float and bytes (item 1)"),
    ([1, None], TypeError, "got None (NoneType) as item 1."),
    ({"a": 1}, TypeError, "got {'a': 1} (dict). Give each of its entries a feature of its own."),
    ({1}, TypeError, "got {1} (set)."),
    (object, TypeError, "<class 'object'>"),
    (2**63, ValueError, "expected an integer from -2**63 to 2**63 - 1 but got 9223372036854775808 (int)"),
    ([0, -(2**63) - 1], ValueError, "but got -9223372036854775809 (int) as item 1"),
    (np.uint64(2**63), ValueError, "but got 9223372036854775808 (int)"),
    (np.array([1, 2**63], np.uint64), ValueError, "expected at most 2**63 - 1 but got 9223372036854775808 at place 1."),
    (np.array([1, 2**63], ">u8"), ValueError, "expected at most 2**63 - 1 but got 9223372036854775808 at place 1."),
    ("\ud800", ValueError, "expected Unicode but got '\\ud800' (str): surrogates not allowed. Pass bytes instead."),
    (np.ma.array([1, 2], mask=[0, 1]), ValueError, ". Fill them first."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "error", "text"), REFUSED, ids=[str(place) for place in range(len(REFUSED))]
)
def test_what_no_feature_can_hold_is_refused_by_name(value, error, text):
    with pytest.raises(error) as caught:
        tfr.feature(value)
    assert text in str(caught.value)
    with pytest.raises(error) as caught:
        tfr.make_example({"a": 1, "the key": value})
    assert str(caught.value).startswith("feature 'the key': expected ")
    assert text in str(caught.value)


def test_long_values_are_shortened_in_errors():
    with pytest.raises(TypeError) as caught:
        tfr.int64_feature("x" * 100_000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("make", "value", "expected"),
    [
        (tfr.int64_feature, 3, ints(3)),
        (tfr.int64_feature, [3], ints(3)),
        (tfr.int64_feature, np.array([3], np.uint8), ints(3)),
        (tfr.int64_feature, True, ints(1)),
        (tfr.int64_feature, Colour.RED, ints(1)),
        (tfr.float_feature, 0.5, floats(0.5)),
        (tfr.float_feature, 2, floats(2.0)),
        (tfr.float_feature, (0.5,), floats(0.5)),
        (tfr.float_feature, np.int64(2), floats(2)),
        (tfr.float_feature, math.nan, None),
        (tfr.bytes_feature, b"a", strings(b"a")),
        (tfr.bytes_feature, "a", strings(b"a")),
        (tfr.bytes_feature, ["a"], strings(b"a")),
        (tfr.int64_list_feature, [1, 2], ints(1, 2)),
        (tfr.int64_list_feature, np.arange(2, dtype=np.int8), ints(0, 1)),
        (tfr.int64_list_feature, {4}, ints(4)),
        (tfr.int64_list_feature, (value for value in (1, 2)), ints(1, 2)),
        (tfr.int64_list_feature, [], ints()),
        (tfr.float_list_feature, [1, 2.5, True], floats(1, 2.5, 1)),
        (tfr.float_list_feature, np.arange(2), floats(0, 1)),
        (tfr.float_list_feature, [], floats()),
        (tfr.bytes_list_feature, [b"a", "b"], strings(b"a", b"b")),
        (tfr.bytes_list_feature, np.array(["a"]), strings(b"a")),
        (tfr.bytes_list_feature, [], strings()),
    ],
    ids=[str(place) for place in range(24)],
)
def test_helper_makes_its_kind(make, value, expected):
    made = make(value)
    if expected is None:
        assert math.isnan(made.float_list.value[0])
    else:
        assert made == expected


@pytest.mark.parametrize(
    ("make", "value", "error", "text"),
    [
        (tfr.int64_feature, 1.0, TypeError, "expected integers but got 1.0 (float)."),
        (tfr.int64_feature, math.nan, ValueError, "expected integers but got nan (float)."),
        (tfr.int64_list_feature, [1, math.nan], ValueError, "expected integers but got nan (float) as item 1."),
        (tfr.int64_list_feature, np.array([1.5, 2]), TypeError, "expected integers but got array([1.5, 2. ])"),
        (tfr.int64_feature, "3", TypeError, "expected integers but got '3' (str)."),
        (tfr.int64_feature, None, TypeError, "expected integers but got None"),
        (tfr.int64_feature, [1, 2], ValueError, "expected one value but got 2: [1, 2] (list). Use int64_list_feature"),
        (tfr.int64_feature, [], ValueError, "expected one value but got 0: [] (list)."),
        (tfr.float_feature, "a", TypeError, "expected numbers but got 'a' (str)."),
        (tfr.float_feature, 10**400, ValueError, "expected numbers that fit into a float but got"),
        (tfr.bytes_feature, 1, TypeError, "expected bytes or str but got 1 (int)."),
        (tfr.int64_list_feature, 3, TypeError, "expected a list or array of integers but got 3 (int)"),
        (tfr.int64_list_feature, np.array(3), TypeError, "expected a list or array of integers but got array(3)"),
        (tfr.bytes_list_feature, b"ab", TypeError, "expected a list or array of bytes or str but got b'ab' (bytes)"),
        (tfr.bytes_list_feature, {"a": 1}, TypeError, "expected a list or array of bytes or str but got"),
        (tfr.float_list_feature, [1, "a"], TypeError, "expected numbers but got 'a' (str) as item 1."),
        (tfr.bytes_list_feature, ["a", 1], TypeError, "expected bytes or str but got 1 (int) as item 1."),
    ],
    ids=[str(place) for place in range(17)],
)  # fmt: skip
def test_helper_refuses_other_kinds(make, value, error, text):
    with pytest.raises(error) as caught:
        make(value)
    assert str(caught.value).startswith(text)


# Half way between the largest float32 and infinity, protobuf's two implementations differ; ours is the native one's.
HALF_WAY = 3.4028235677973366e38


@given(st.lists(st.floats(allow_nan=False).filter(lambda value: abs(value) != HALF_WAY)))
def test_floats_are_rounded_as_protobuf_rounds(values):
    kind, made = feature_values(values, kind=2)
    assert kind == 2
    assert made.tolist() == list(tfr.FloatList(value=values).value)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_integers_are_kept(values):
    assert list(tfr.feature(values).int64_list.value) == values
    assert list(tfr.feature(np.array(values)).int64_list.value) == values
