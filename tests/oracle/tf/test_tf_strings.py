"""tf.strings: the same calls through TensorFlow and through tfrkit.tf."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.oracle.support.tf_scenarios import fails, same
from tests.support.rules import tf_rule

TEXTS = ["", "a\0B", "a", "héé", b"\xff\xc3a\x80", "  A b\t\n", "ABCÄÖß", "ΑΣΣ ΑΣ", "x" * 70]
ROWS = [["a b", "c"], [], ["", "d  e"]]


def ragged(tf):
    return tf.ragged.constant([["hello"], ["b", "cc"]])


@tf_rule("6 strings.join")
def test_join():
    for parts in (["a", "b"], ["a", ["b", "c"]], [], [["a", "b"], ["c", "d"]], [[], "x"]):
        same(lambda tf: tf.strings.join(parts))
        same(lambda tf: tf.strings.join(parts, separator="-"))
    same(lambda tf: tf.strings.join([ragged(tf), "x"]))
    same(lambda tf: tf.compat.v1.string_join(["a", "b"], "x"))
    fails(
        lambda tf: tf.strings.join([["a"], ["b", "c"]]), "InvalidArgumentError", "Input shapes do not match"
    )
    fails(lambda tf: tf.strings.join(["a", 1]), "TypeError")
    fails(lambda tf: tf.strings.join(["a", "b"], separator=1), "TypeError")
    fails(lambda tf: tf.strings.join("ab"), "TypeError")


@tf_rule("6 strings.length")
def test_length():
    for unit in ("BYTE", "UTF8_CHAR"):
        same(lambda tf: tf.strings.length(TEXTS, unit=unit))
        same(lambda tf: tf.strings.length("é", unit))
        same(lambda tf: tf.strings.length(ragged(tf), unit))
    same(lambda tf: tf.strings.length([["a", "b"], ["cc", ""]]))
    fails(lambda tf: tf.strings.length("a", unit="x"), "InvalidArgumentError")
    fails(lambda tf: tf.strings.length(1), "TypeError")


@tf_rule("6 strings.substr")
def test_substr():
    for unit in ("BYTE", "UTF8_CHAR"):
        for position in range(-6, 7):
            for count in (-1, 0, 2, 100):
                same(lambda tf: tf.strings.substr("hédlo", position, count, unit=unit))
    same(lambda tf: tf.strings.substr(["hello", "ab"], [1, 0], [3, 1]))
    same(lambda tf: tf.strings.substr("hello", [1, 2], [3, 1]))
    square = [["hello", "ab"], ["xyz", "ccc"]]
    same(lambda tf: tf.strings.substr(square, [0, 1], [3, 1]))
    same(lambda tf: tf.strings.substr(square, [[0], [1]], [[3], [1]]))
    same(lambda tf: tf.strings.substr(ragged(tf), 0, 1))
    same(lambda tf: tf.strings.substr("hello", np.int64(1), 3))
    fails(
        lambda tf: tf.strings.substr(square, [[0], [5]], [[3], [1]]),
        "InvalidArgumentError",
        "pos 5 out of range",
    )
    fails(
        lambda tf: tf.strings.substr(square, [0, 1, 1], [3, 1, 1]),
        "InvalidArgumentError",
        "Incompatible shapes",
    )
    fails(lambda tf: tf.strings.substr(["a", "b"], 1, [3, 1]), "InvalidArgumentError", "same shape")
    fails(lambda tf: tf.strings.substr("hello", 1.5, 3.0), "InvalidArgumentError")


@tf_rule("6 strings.split")
def test_split():
    for text in (
        "a b  c ",
        ["a b", "", "c d e"],
        [["a b", "c"], ["d", "e f g"]],
        "",
        ["a\tb\nc\x0bd\x0ce\rf\xa0g"],
    ):
        for most in (-5, -1, 0, 1, 2):
            same(lambda tf: tf.strings.split(text, maxsplit=most))
            same(lambda tf: tf.strings.split(text, sep=" ", maxsplit=most))
    same(lambda tf: tf.strings.split(["a,,b", "", ",c,"], sep=","))
    same(lambda tf: tf.strings.split(["a<><>b<>c<>d"], sep="<>", maxsplit=2))
    same(lambda tf: tf.strings.split(tf.ragged.constant([["a b"], ["b", "cc d"]])))
    fails(lambda tf: tf.strings.split(1), "TypeError")


@tf_rule("6 strings.split v1")
def test_split_of_tensorflow_1():
    for kind in ("SparseTensor", "RaggedTensor"):
        same(lambda tf: tf.compat.v1.strings.split(["a b", "c"], result_type=kind))
        same(lambda tf: tf.compat.v1.strings.split("a b", result_type=kind))
        same(lambda tf: tf.compat.v1.string_split(["a b", "c  d"], result_type=kind))
    same(lambda tf: tf.compat.v1.string_split(["a b", "c  d"], delimiter=""))
    same(lambda tf: tf.compat.v1.string_split(["a b,", "c  d"], delimiter=" ,"))
    same(lambda tf: tf.compat.v1.string_split(["a b,", "c  d"], skip_empty=False))
    fails(lambda tf: tf.compat.v1.string_split("a b"), "InvalidArgumentError", "must be a vector")
    fails(lambda tf: tf.compat.v1.strings.split(["a"], result_type="x"), "ValueError")


@tf_rule("6 strings.bytes_split")
def test_bytes_split():
    for text in ("héa", ["ab", "", "c"], [["ab", ""], ["c", "d"]]):
        same(lambda tf: tf.strings.bytes_split(text))
    same(lambda tf: tf.strings.bytes_split(ragged(tf)))


@tf_rule("6 strings.case")
def test_lower_upper_strip():
    for name in ("lower", "upper"):
        for encoding in ("", "utf-8"):
            same(lambda tf: getattr(tf.strings, name)(TEXTS, encoding=encoding))
            same(
                lambda tf: getattr(tf.strings, name)(
                    "\u0130I\u0131 \u01c5 \ufb01 \u0390 \u0149 ß i", encoding
                )
            )
        same(lambda tf: getattr(tf.strings, name)(ragged(tf)))
        fails(
            lambda tf: getattr(tf.strings, name)("A", encoding="utf-16"), "InvalidArgumentError", "only utf-8"
        )
        fails(lambda tf: getattr(tf.strings, name)(1), "TypeError")
    same(lambda tf: tf.strings.strip([*TEXTS, "\x0bx\xa0"]))


NUMBERS = [
    "1.5", " 3 ", "", "x", "12", "99999999999", "-12", "+15", "0x10", "1e400", "1e-50", "nan", "NAN", "-nan", "nan(1)",
    "inf", "-Infinity", "- 5", "--5", "1_000", "1e5", "1e", ".5", "5.", ".", "1f", "0x1.8p1", "16777217", "1" * 400,
    "1.00000005960464477540", "1.00000005960464477539062500000001", "1.000000059604644775390625", "\x0b1", "it's",
]  # fmt: skip


@tf_rule("6 strings.to_number")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint32", "uint64"])
def test_to_number(dtype):
    for text in NUMBERS:
        same(lambda tf: tf.strings.to_number(text, dtype))
    source = random.Random(dtype)
    for _ in range(150):
        text = "".join(source.choices("0123456789+-.eExXinfaNp() \t_", k=source.randrange(1, 7)))
        same(lambda tf: tf.strings.to_number([text], dtype))


@tf_rule("6 strings.to_number")
def test_to_number_of_many():
    same(lambda tf: tf.strings.to_number([["1", "-2"], [" 3 ", "4"]]))
    same(lambda tf: tf.strings.to_number(tf.ragged.constant([["1"], ["2", "3"]])))
    same(lambda tf: tf.compat.v1.string_to_number("1.5", "float64"))
    fails(
        lambda tf: tf.strings.to_number(["1", "x"]),
        "InvalidArgumentError",
        "could not correctly convert string: x",
    )
    fails(lambda tf: tf.strings.to_number("12", "int16"), "InvalidArgumentError", "list of allowed values")


@tf_rule("6 strings.as_string")
def test_as_string():
    floats = np.array([1.5, -2.0, 1e10, np.nan, np.inf, -np.inf, -0.0, 1e-5, 123456.789])
    for array in (floats, floats.astype("f4"), np.array([1, -2, 300]), np.array([1, 200], "u1"), floats + 2j):
        for fill in ("", " ", "0", "-", "+", "#"):
            for width in (-1, 0, 9):
                same(lambda tf: tf.strings.as_string(array, width=width, fill=fill))
    for options in (
        {"precision": 2},
        {"precision": 0},
        {"scientific": True},
        {"shortest": True, "precision": 3},
    ):
        same(lambda tf: tf.strings.as_string(floats, **options))
    for value in (True, "abc", [[1, 2]], np.uint64(2**64 - 1), np.float16(1.1), np.int8(-3)):
        same(lambda tf: tf.as_string(value))
    same(lambda tf: tf.strings.as_string("abc", width=5))
    same(lambda tf: tf.strings.as_string(tf.ragged.constant([[1], [2, 3]])))


@tf_rule("6 strings.as_string errors")
def test_as_string_refuses():
    for value, options in (
        (3, {"precision": 2}), (3, {"scientific": True}), (3, {"shortest": True}), (True, {"precision": 2}),
        (3.5, {"scientific": True, "shortest": True}), (3.5, {"fill": "x"}), (3.5, {"fill": "ab"}),
    ):  # fmt: skip
        fails(lambda tf: tf.strings.as_string(value, **options), "InvalidArgumentError")


@tf_rule("6 strings.reduce_join")
def test_reduce_join():
    square = [["abc", "123"], ["def", "456"]]
    for axis in (None, 0, 1, -1, [0, 1], [1, 0], []):
        for keep in (False, True):
            same(lambda tf: tf.strings.reduce_join(square, axis=axis, keepdims=keep, separator="-"))
    same(lambda tf: tf.strings.reduce_join("a"))
    same(lambda tf: tf.strings.reduce_join(tf.constant([], tf.string)))
    same(lambda tf: tf.compat.v1.reduce_join(square, 0))
    same(lambda tf: tf.compat.v1.strings.reduce_join(square, reduction_indices=1))
    for axis in (None, 0, 1, -1):
        same(lambda tf: tf.strings.reduce_join(ragged(tf), axis=axis, separator="|"))
    deep = [[["a", "b"], ["c"]], [["d"]]]
    for axis in (0, 1, 2, [1, 2]):
        same(lambda tf: tf.strings.reduce_join(tf.ragged.constant(deep), axis=axis, separator="|"))
    fails(
        lambda tf: tf.strings.reduce_join(square, axis=2), "OutOfRangeError", "Invalid reduction dimension 2"
    )
    fails(
        lambda tf: tf.strings.reduce_join(square, axis=[0, -2]), "InvalidArgumentError", "Duplicate reduction"
    )


@tf_rule("6 strings.hash")
def test_hash_buckets():
    source = random.Random(2)
    texts = [source.randbytes(size) for size in [*range(140), 200, 255, 256, 257, 1000]]
    for count in (1, 10, 2**62 - 1):
        same(lambda tf: tf.strings.to_hash_bucket_fast(texts, count))
    same(lambda tf: tf.compat.v1.string_to_hash_bucket_fast(ragged(tf), 10))
    fails(lambda tf: tf.strings.to_hash_bucket_fast("a", 0), "InvalidArgumentError", "at least minimum 1")


BROKEN = [b"a\xe2\x82b\xf0\x9f\x98\x80\xed\xa0\x80\xc0\xaf\xf8", "hé\x01a".encode(), b""]


@tf_rule("6 strings.unicode")
def test_unicode():
    for errors in ("replace", "ignore", "strict"):
        for name in (
            "unicode_decode",
            "unicode_split",
            "unicode_decode_with_offsets",
            "unicode_split_with_offsets",
        ):
            same(lambda tf: getattr(tf.strings, name)(BROKEN, "UTF-8", errors=errors))
            same(lambda tf: getattr(tf.strings, name)(BROKEN[1], "UTF-8", errors=errors))
    for encoding in ("UTF-16-BE", "UTF-16-LE", "UTF-16", "UTF-32-BE"):
        data = "a\U0001f600é".encode(encoding.lower())
        same(lambda tf: tf.strings.unicode_decode_with_offsets(data, encoding))
    same(lambda tf: tf.strings.unicode_decode("a\x7f\x80\n", "UTF-8", replace_control_characters=True))
    for codes in ([104, 233], [[104, 233], [65, 66]], [0xD800, 65, -1]):
        for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
            for errors in ("replace", "ignore", "strict"):
                same(lambda tf: tf.strings.unicode_encode(codes, encoding, errors=errors))
    same(lambda tf: tf.strings.unicode_encode(tf.ragged.constant([[104, 233], [65]]), "UTF-8"))
    same(lambda tf: tf.strings.unicode_encode(tf.ragged.constant([[[104, 233], [65]], [[66]]]), "UTF-8"))
    fails(lambda tf: tf.strings.unicode_encode([1], "latin1"), "InvalidArgumentError", "output_encoding")
    fails(
        lambda tf: tf.strings.unicode_decode("a", "nope"),
        "InvalidArgumentError",
        "Could not create converter",
    )


@tf_rule("6 strings.types")
@pytest.mark.parametrize("name", ["lower", "upper", "strip", "length", "to_number", "reduce_join"])
def test_numbers_are_refused(name):
    for value in ([1, 2], 1.5):
        same(lambda tf: getattr(tf.strings, name)(tf.constant(value)).shape)
    same(lambda tf: getattr(tf.strings, name)([1, 2]).shape)


@tf_rule("6 strings.types")
def test_numbers_are_refused_with_options():
    for value in ([1, 2], 1.5):
        fails(
            lambda tf: tf.strings.substr(tf.constant(value), 0, 1),
            "InvalidArgumentError",
            "cannot compute Substr",
        )
        fails(
            lambda tf: tf.strings.regex_replace(tf.constant(value), "a", "b"),
            "InvalidArgumentError",
            "expected",
        )
        fails(
            lambda tf: tf.strings.regex_full_match(tf.constant(value), "a"),
            "InvalidArgumentError",
            "expected",
        )
        fails(
            lambda tf: tf.strings.to_hash_bucket_fast(tf.constant(value), 3),
            "InvalidArgumentError",
            "expected",
        )
        fails(
            lambda tf: tf.strings.unicode_decode(tf.constant(value), "UTF-8"),
            "InvalidArgumentError",
            "expected",
        )
        fails(lambda tf: tf.io.read_file(tf.constant(value)), "InvalidArgumentError", "expected")
