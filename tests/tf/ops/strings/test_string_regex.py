"""Regular expressions by RE2: linear time, all of its syntax, and what is said where the package is missing."""

from __future__ import annotations

import sys

import pytest

from tfrkit.errors import InvalidArgumentError, MissingExtraError
from tfrkit.tf.ops.strings import string_regex
from tfrkit.tf.ops.strings.string_regex import regex_full_match, regex_replace


def test_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    string_regex._compile.cache_clear()
    with pytest.raises(MissingExtraError, match=r"needs the package google-re2.*'tfrkit\[regex\]'"):
        regex_full_match("a", "a")


@pytest.mark.parametrize("pattern", ["(a|aa)+$", "(a*)*b", "(a|a?)+b"])
def test_time_is_linear(pattern):
    assert not regex_full_match(b"a" * 100_000 + b"c", pattern)


def test_scripts_and_single_bytes_are_known():
    assert regex_full_match(["αβγ", "abc"], r"\p{Greek}+").tolist() == [True, False]
    assert regex_full_match(b"a\xff", r"a\C")


def test_bytes_that_are_not_utf8_match_nothing():
    assert regex_full_match([b"a\xffb", "aéb"], "a.b").tolist() == [False, True]
    assert regex_replace(b"\xff\xc3a", "", "-") == b"-\xff-\xc3-a-"


def test_empty_matches_stand_between_characters_not_bytes():
    assert regex_replace("aé", "", "-") == "-a-é-".encode()
    assert regex_replace("aé\U0001f600", "b*", "-") == "-a-é-\U0001f600-".encode()


@pytest.mark.parametrize("pattern", [b"\xff", "(?<name>a)", r"(a)\1"])
def test_refused_pattern_is_quoted(pattern):
    with pytest.raises(InvalidArgumentError, match=r"^Invalid pattern: .*, error: invalid "):
        regex_full_match("a", pattern)


def test_group_after_a_wrong_escape_counts():
    assert regex_replace("ab", "a", r"\q\1") == b"ab"
    assert regex_replace("ab", "a", r"x\q\0") == b"xb"
