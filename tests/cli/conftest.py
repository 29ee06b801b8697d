"""What the tests of commands share: running one in this process, and a folder to work in."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import tfrkit as tfr
from tfrkit.cli.main import run


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Run `tfr` with some arguments, and bytes for its standard input."""

    def call(*arguments: str, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = run(arguments)
        return Done(code, *capsys.readouterr())

    return call


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def words(folder):
    """Five Examples in `words.tfrecord`, and the names that they have."""
    names = ["zero", "one", "two", "three", "four"]
    with tfr.TFRecordWriter("words.tfrecord") as writer:
        for number, name in enumerate(names):
            writer.write_example({"number": number, "name": name})
    return names
