"""RE2's syntax in Python's `re`: what is known, and what is refused with a reason."""

from __future__ import annotations

import pytest

from tfrkit.errors import InvalidArgumentError, UnimplementedError
from tfrkit.tf.ops.strings.regex_syntax import compile_re2


@pytest.mark.parametrize("pattern", [rb"\C", rb"\p{Greek}", rb"[\p{Han}]"])
def test_what_is_not_known_here_says_so(pattern):
    with pytest.raises(UnimplementedError, match=r"not known here"):
        compile_re2(pattern)


def test_bytes_that_are_no_utf8_match_only_themselves():
    text = b"a\xffb".decode("utf-8", "surrogateescape")
    assert compile_re2(b"a.b").fullmatch(text) is None
    assert compile_re2(b"a[^x]b").fullmatch(text) is None
    assert compile_re2(b"a.b").fullmatch("aéb")


def test_pattern_must_be_utf8():
    with pytest.raises(InvalidArgumentError, match="invalid UTF-8"):
        compile_re2(b"\xff")


def test_flags_hold_to_the_end_of_their_group():
    assert compile_re2(b"(?:a(?i)b|c)d").fullmatch("Cd")
    assert compile_re2(b"(?:a(?i)b|c)d").fullmatch("CD") is None


def test_greediness_is_turned_by_flag():
    assert compile_re2(b"(?U)a+").match("aaa").group() == "a"
    assert compile_re2(b"(?U)a+?").match("aaa").group() == "aaa"


def test_words_are_ascii():
    assert compile_re2(rb"\w").fullmatch("é") is None
    assert compile_re2(rb"\ba").search("éa")


def test_dollar_is_the_very_end():
    assert compile_re2(b"a$").search("a\n") is None
    assert compile_re2(b"(?m)a$").search("a\n")
