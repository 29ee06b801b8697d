from __future__ import annotations

import subprocess
import sys
from typing import Annotated, Literal

import pytest
import typer

from tfrkit.cli.quick_values import read_quickly

app = typer.Typer(rich_markup_mode=None)


@app.command()
def show(
    paths: list[str],
    count: Annotated[int, typer.Option("-n", min=1, max=20)] = 5,
    ratio: float = 0.5,
    names: Annotated[list[str] | None, typer.Option("--name")] = None,
    mode: Literal["a", "b"] = "a",
    size: Annotated[int | None, typer.Option(parser=len)] = None,
    limit: Annotated[int, typer.Option(parser=len)] = "twelve",  # type: ignore[assignment]
    flag: bool = False,
    text: str = "x",
) -> object:
    return (paths, count, ratio, names, mode, size, limit, flag, text)


@pytest.mark.parametrize(
    "arguments",
    [
        ["p"],
        ["p", "q", "-n", "7", "--text", "y"],
        ["p", "--name", "u", "--name", "v", "--flag", "--mode", "b", "--ratio", "1.5", "--size", "four"],
        ["caf\udce9", "-n", "20"],
        ["p", "-n", "٣"],  # a digit, and none for typer
        [],
        ["p", "-n", "0"],
        ["p", "-n", "21"],
        ["p", "-n", "-2"],
        ["p", "-n", "1.5"],
        ["p", "-n", "9" * 30],
        ["p", "--mode", "c"],
    ],
)
def test_values_are_what_typer_makes_of_them(arguments):
    def read(quickly):
        command = typer.main.get_command(app)
        if quickly:
            read_quickly(command)
        try:
            with command.make_context("show", list(arguments)) as context:
                return {name: value or None for name, value in context.params.items()}
        except typer.BadParameter as error:
            return error.format_message()

    assert read(True) == read(False)


def test_simple_command_lines_import_neither_pydantic_nor_protobuf(words):
    code = (
        "import sys; from tfrkit.cli.main import run; run(['count', 'words.tfrecord']); "
        "run(['head', 'words.tfrecord', '-n', '1', '--key', 'name']); "
        "print([name for name in ('pydantic', 'google.protobuf', 'rich', 'tfrkit.data') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
