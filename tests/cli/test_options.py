"""Every option of every command: a wrong value ends with 2, and the words are those of Python."""

from __future__ import annotations

import importlib
from dataclasses import Field
from typing import Any

import pytest

from tfrkit.cli.commands import build, export
from tfrkit.cli.main import COMMANDS
from tfrkit.errors import InvalidArgumentError
from tfrkit.options import OptionSet, flag_of, info_of, option_fields, value_of

WRONG = "no such value"


def functions() -> dict[tuple[str, ...], Any]:
    """Every command by its words, as the function that it was made of."""
    found: dict[tuple[str, ...], Any] = {}
    for name, module in COMMANDS.items():
        if name not in ("build", "export", "cache"):
            found[name,] = getattr(importlib.import_module(module), name)
    for name, group in (("build", build), ("export", export)):
        for each in group.app.registered_commands:
            assert each.callback is not None
            found[name, each.callback.__name__] = each.callback
    found["cache", "clear"] = importlib.import_module(COMMANDS["cache"]).clear
    return found


def options() -> list[tuple[tuple[str, ...], type[OptionSet], Field[Any], Any]]:
    return [
        (words, kind, each, hint)
        for words, function in functions().items()
        for kind in function.option_classes
        for each, hint in option_fields(kind)
        if info_of(each).shell
    ]


def refused(kind: type[OptionSet], each: Field[Any], hint: Any) -> str:
    """What is said of the wrong value; empty if the option takes any text."""
    try:
        kind(**{each.name: value_of(each, hint, [WRONG] if info_of(each).several else WRONG)})
    except InvalidArgumentError as error:
        return error.message if f"for {each.name} (" in error.message else ""
    return ""


def paths(words: tuple[str, ...]) -> list[str]:
    return ["a.tfrecord", "b.tfrecord"][: 1 if words in (("demo",), ("sql",), ("cache", "clear")) else 2]


CASES = [
    pytest.param(words, each, text, id=f"{' '.join(words)} {flag_of(each)}")
    for words, kind, each, hint in options()
    if each.type not in ("bool", "bool | None") and (text := refused(kind, each, hint))
]


def test_commands_have_options_that_can_be_wrong():
    assert len(CASES) > 60
    assert {words for words, *_ in options()} == set(functions())


@pytest.mark.parametrize(("words", "each", "text"), CASES)
def test_a_wrong_value_ends_with_2_and_the_words_of_python(command, words, each, text):
    done = command(*words, *paths(words), flag_of(each), WRONG)
    error, blank, hint = done.err.splitlines()
    assert (done.code, done.out, error, blank) == (2, "", f"error: {text}", "")
    assert hint == f"hint: `tfr {' '.join(words)} --help` explains it."


@pytest.mark.parametrize("words", functions(), ids=" ".join)
def test_an_option_that_there_is_not_names_the_closest(command, words):
    flag = next(flag_of(each) for other, _, each, _ in options() if other == words)
    done = command(*words, *paths(words), flag + "x")
    assert done.code == 2
    assert f"no such option: {flag}x" in done.err.lower()
