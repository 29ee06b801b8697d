"""What must not be shown is left out of every text."""

from __future__ import annotations

import secrets

import pytest

from tfrkit.redact import hide_secrets, keep_secret, redact


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at https://host/a?b=c&d=e, again", "at https://host/a?***, again"),
        ("at https://host/a?b=c. Then", "at https://host/a?***. Then"),
        ("HTTPS://me:word@host:80/a", "HTTPS://***@host:80/a"),
        ("s3://key:word@bucket/a?b", "s3://***@bucket/a?b"),
        ("ftp://me@host/a", "ftp://***@host/a"),
        ("https://host/a?", "https://host/a?"),
        ("no URL at all?", "no URL at all?"),
    ],
)
def test_queries_and_passwords_of_urls(text, shown):
    assert redact(text) == shown


def test_values_that_are_secret_also_inside_each_other():
    short, long = secrets.token_hex(8), secrets.token_hex(8)
    keep_secret(short)
    keep_secret(f"{long}{short}{long}")
    assert redact(f"a {long}{short}{long} b {short} c") == "a *** b *** c"
    assert hide_secrets(f"https://host/?{short}") == "https://host/?***"


def test_nothing_and_short_values_are_no_secrets():
    for value in (None, "", "abc", 12):
        keep_secret(value)
    assert redact("abc 12") == "abc 12"


def test_parts_of_many_signed_urls_are_kept_for_a_while_only():
    lasting, parts = secrets.token_hex(8), [secrets.token_hex(8) for _ in range(1000)]
    keep_secret(lasting)
    for part in parts:
        keep_secret(part, lasting=False)
    assert redact(f"{lasting} {parts[-1]}") == "*** ***"
    assert redact(f"https://host/a?{parts[0]}") == "https://host/a?***"
