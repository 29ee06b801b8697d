"""Regular expressions of RE2: the same calls through TensorFlow and through tfrkit.tf."""

from __future__ import annotations

import random

import pytest

from tests.oracle.support.tf_scenarios import fails, same
from tests.support.rules import tf_rule

SOURCES = [
    "a1b22",
    "héé",
    b"h\xff\xe9",
    "h\né",
    "Aé٣",
    "a\nb\n",
    "aAbB",
    "aaaa",
    "ab-3",
    "a\x0bb \t",
    "",
    "foo bar",
]
PATTERNS = [
    "[0-9]+", "([0-9])", "a*", "a*?", ".", r"\w", r"\d", r"\pN", r"\p{L}", r"\PN", r"b\z", "b$", "(?m)b$", r"\n\z",
    "(?i)[ab]", "(?U)a+", "(?P<n>a)", "(?:a|b){2}", "a{2,}", "a{,2}", r"\Q.\Ea", "[[:alpha:]]", "[[:^alpha:]]", r"\s",
    r"\x{61}|\142", r"\a", r"[\pL]", r"[^\pL]", "[]a]", "", "(?s).", "[a&&b]", r"\bf", "(?i:É)", "^a", "(?m)^b", "[^a]",
    r"\Aa", "(a)(b)?", r"a(?i)B", r"[\w-]", r"\.", r"[^\W\d]",
]  # fmt: skip


@tf_rule("6 strings.regex_replace")
@pytest.mark.parametrize("rewrite", ["x", r"<\0>", r"\1", r"\2", r"q\x", "\\\\", ""])
def test_regex_replace(rewrite):
    for pattern in PATTERNS:
        same(lambda tf: tf.strings.regex_replace(SOURCES, pattern, rewrite))
        same(lambda tf: tf.strings.regex_replace(SOURCES, pattern, rewrite, replace_global=False))


@tf_rule("6 strings.regex_full_match")
def test_regex_full_match():
    for pattern in PATTERNS:
        same(lambda tf: tf.strings.regex_full_match(SOURCES, pattern))
    same(lambda tf: tf.strings.regex_full_match(tf.ragged.constant([["hello"], ["b", "cc"]]), "h.*"))


WRONG = [
    "(", ")", "*", "a**", "[a", "[b-a]", "\\", "a{2,1}", r"\pX", "(?<=a)1", r"(a)\1", r"b\Z", "a++", "(?>a)", "(?<n>a)",
    "a{1001}", r"\y", "a(?=b)", "(?x)a b", "[a--b]", "[[:foo:]]", "(?P<a b>c)", "(?", "(?i", "(?P=n)", r"\x{110000}",
    r"\8", "+?", "{2}?", r"[)\p", r"a\p",
]  # fmt: skip


@tf_rule("6 strings.regex errors")
def test_regex_that_re2_refuses():
    for pattern in WRONG:
        fails(lambda tf: tf.strings.regex_full_match("a", pattern), "InvalidArgumentError", "Invalid pattern")
    fails(lambda tf: tf.strings.regex_replace("a", ["a", "b"], "-"), "InvalidArgumentError", "must be scalar")


TOKENS = [
    *"abcAé.*+?|()[]^-$1_\n", "(?:", "(?P<n>", r"\d", r"\w", r"\W", r"\s", r"\b", r"\pL", r"\PN", r"\p{Lu}", "(?i)",
    "(?s)", "(?m)", "(?U)", "(?i:", "{2}", "{1,3}", "{0,}", "{,2}", r"\z", r"\A", "[a-c]", "[^a]", r"[^a-b\d]",
    "[[:alpha:]]", r"\x61", r"\142", r"\1", r"\Q", r"\E", "*?", r"\_", r"\]", "(?-i)", "(?i-s:",
]  # fmt: skip


@tf_rule("6 strings.regex_replace")
def test_random_patterns():
    source = random.Random(5)
    for _ in range(400):
        pattern = "".join(source.choices(TOKENS, k=source.randrange(1, 6)))
        same(lambda tf: tf.strings.regex_replace(SOURCES, pattern, r"<\0>"))
