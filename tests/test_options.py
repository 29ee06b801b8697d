"""OptionSet as fields of a dataclass: signatures, documentation, checks, texts of a command line."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any, Literal

import pytest
import typer
from typer.testing import CliRunner

import tfrkit as tfr
from tfrkit.cli.console import UsageError
from tfrkit.cli.options import command
from tfrkit.errors import InvalidArgumentError
from tfrkit.options import (
    OptionSet,
    info_of,
    option,
    option_class,
    option_fields,
    read_list,
    read_pairs,
    size_bytes,
    takes,
)


@option_class
class Shared(OptionSet):
    level: int | None = option(None, "How hard to try.", least=0, most=9)
    quiet: bool = option(False, "Say nothing.", "--quiet", "-q")


@option_class
class Cooking(Shared):
    """The options of `cook`."""

    minutes: int = option(5, "How long.", more="Not counting the way home.", least=1)
    heat: Literal["low", "high"] = option("low", "How hot.")
    spices: Collection[str] = option(
        (), "What to add.", "--spice", metavar="A,B", several=True, read=read_list
    )
    names: Mapping[str, str] | None = option(None, "Other names.", "--name", several=True, read=read_pairs)
    size: int = option(100, "How much.", metavar="SIZE", read=size_bytes)
    share: float | None = option(None, "Which share.", least=0, most=1)
    stir: bool = option(True, "Stir.", "--stir/--no-stir")
    tell: Callable[[str], None] | None = option(None, "Called at the end.", shell=False)
    debug: bool = option(False, "Only here.", python=False)


@takes(Cooking)
def cook(food: str, **options: Any) -> Cooking:
    """Cook something.

    Args:
        food: what.

    Returns:
        What was understood.
    """
    return Cooking.of(options)


def run(*arguments: str) -> tuple[int, str]:
    app = typer.Typer()
    seen: list[Cooking] = []

    @app.command()
    @command("cook")
    def cook_it(food: str, options: Cooking) -> None:
        seen.append(options)

    done = CliRunner().invoke(app, ["soup", *arguments])
    if isinstance(done.exception, UsageError):
        return done.exception.exit_code, str(done.exception)
    assert done.exit_code == 0, done.output
    return 0, repr(seen[0])


def test_own_options_come_before_those_of_bases():
    names = [each.name for each, _ in option_fields(Cooking)]
    assert names[:2] == ["minutes", "heat"]
    assert names[-2:] == ["level", "quiet"]


def test_signature_and_documentation_are_those_of_the_fields():
    parameters = inspect.signature(cook).parameters
    assert list(parameters)[:3] == ["food", "minutes", "heat"]
    assert parameters["minutes"].default == 5
    assert parameters["minutes"].kind is inspect.Parameter.KEYWORD_ONLY
    assert "debug" not in parameters
    assert "    minutes: How long. Not counting the way home.\n" in (cook.__doc__ or "")
    assert (cook.__doc__ or "").endswith("Returns:\n    What was understood.")


def test_values_are_frozen():
    with pytest.raises(FrozenInstanceError):
        cook("soup").minutes = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"minutes": 0}, "Expected a whole number of at least 1 for minutes (--minutes) but got 0."),
        ({"minutes": "3"}, "Expected a whole number of at least 1 for minutes (--minutes) but got '3'."),
        ({"minutes": None}, "Expected a whole number of at least 1 for minutes (--minutes) but got None."),
        ({"minutes": True}, "Expected a whole number of at least 1 for minutes (--minutes) but got True."),
        ({"level": 10}, "Expected a whole number from 0 to 9 for level (--level) but got 10."),
        (
            {"heat": "hihg"},
            "Expected one of 'low', 'high' for heat (--heat) but got 'hihg'. Did you mean 'high'?",
        ),
        ({"heat": 3}, "Expected one of 'low', 'high' for heat (--heat) but got 3."),
        ({"spices": "salt"}, "Expected a list for spices (--spice) but got 'salt'."),
        ({"names": ["a"]}, "Expected a dict for names (--name) but got ['a']."),
        ({"share": 1.5}, "Expected a number from 0 to 1 for share (--share) but got 1.5."),
        ({"stir": 1}, "Expected True or False for stir (--stir) but got 1."),
        ({"tell": 1}, "Expected a function for tell but got 1."),
    ],
)
def test_wrong_values_are_refused(given, text):
    with pytest.raises(InvalidArgumentError) as caught:
        cook("soup", **given)
    assert caught.value.message == text


def test_unknown_options_name_the_closest():
    with pytest.raises(TypeError, match=r"there is no option 'minuets'. Did you mean 'minutes'\?"):
        cook("soup", minuets=3)
    with pytest.raises(TypeError, match="there is no option 'debug'"):
        cook("soup", debug=True)


def test_command_line_gives_the_same_values_as_python():
    assert run() == (0, repr(cook("soup")))
    words = "--minutes 7 --heat high --spice salt,pepper --spice dill --name a=b --size 1kB --share 0.5 --no-stir -q"
    expected = cook(
        "soup", minutes=7, heat="high", spices=["salt", "pepper", "dill"], names={"a": "b"}, size=1000, share=0.5,
        stir=False, quiet=True,
    )  # fmt: skip
    assert run(*words.split()) == (0, repr(expected))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("--minutes 0", "Expected a whole number of at least 1 for minutes (--minutes) but got 0."),
        ("--minutes x", "Expected a whole number of at least 1 for minutes (--minutes) but got 'x'."),
        (
            "--heat hihg",
            "Expected one of 'low', 'high' for heat (--heat) but got 'hihg'. Did you mean 'high'?",
        ),
        (
            "--size much",
            "Expected a size such as 256MB, 1GB, 64MiB or 4096 for size (--size) but got 'much'.",
        ),
        ("--name a=b --name c", "Expected OLD=NEW, such as image=picture, for names (--name) but got 'c'."),
        ("--share 2", "Expected a number from 0 to 1 for share (--share) but got 2.0."),
    ],
)
def test_wrong_words_are_refused_as_in_python(words, text):
    assert run(*words.split()) == (2, text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("256MB", 256_000_000), ("64MiB", 1 << 26), ("1g", 10**9), ("0.5 kB", 500), ("2TiB", 2 << 40)],
)
def test_sizes_are_read_with_their_unit(text, size):
    assert size_bytes(text) == size


@pytest.mark.parametrize("text", ["", "MB", "12 apples", "-3", "1e9", "MiB4"])
def test_what_is_no_size_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="a size such as 256MB, 1GB, 64MiB or 4096"):
        size_bytes(text)


def test_sizes_below_a_byte_are_refused():
    with pytest.raises(ValueError, match="at least 1 byte"):
        size_bytes("0")


FUNCTIONS = [
    tfr.build.table, tfr.build.images, tfr.build.export, tfr.build.export_images,
    tfr.build.export_webdataset, tfr.build.export_array_record, tfr.compress, tfr.merge, tfr.reshard, tfr.sample,
    tfr.select, tfr.shuffle,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_building_functions_show_every_option(function):
    parameters = inspect.signature(function).parameters
    assert not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    for name in parameters:
        assert f"\n    {name}: " in function.__doc__
    with pytest.raises(TypeError, match="Did you mean 'overwrite'"):
        function("a", "b", overwrit=True)


SAMPLE = """
import tfrkit as tfr

tfr.build.table("a.csv", "out", shards=8, shuffle=True)
tfr.build.table(inputs="a.csv", out="out", shards="per-input")
tfr.build.table("a.csv", "out", shards="8")  # wrong
tfr.build.table("a.csv", "out", shard=8)  # wrong
tfr.build.images("photos", "out", names="ful")  # wrong
tfr.build.export("a.tfrecord", "a.csv", "csv", columns=3)  # wrong
"""


def test_type_checkers_know_the_options(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(SAMPLE)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(program)]
    done = subprocess.run(mypy, capture_output=True, text=True, cwd=Path(__file__).parent.parent, timeout=600)
    wrong = {number for number, line in enumerate(SAMPLE.splitlines(), 1) if "# wrong" in line}
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert found == wrong, done.stdout


def test_every_option_of_a_command_has_a_help_text():
    from tools.keywords import MODULES, _classes

    for module in MODULES:
        for each in _classes(module):
            for field, _ in option_fields(each):
                assert info_of(field).help.endswith((".", ")", "]", "...")), field.name
