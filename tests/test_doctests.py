"""The examples in the docstrings of tfrkit are run, each in a folder of its own."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import tfrkit


def _examples() -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = ["tfrkit", *(found.name for found in pkgutil.walk_packages(tfrkit.__path__, "tfrkit."))]
    found = [
        test
        for name in names
        if not name.endswith("__main__")
        for test in finder.find(importlib.import_module(name), name)
    ]
    return [test for test in found if test.examples]


EXAMPLES = _examples()


@pytest.mark.parametrize("example", EXAMPLES, ids=[test.name for test in EXAMPLES])
def test_docstring(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(example, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def test_there_are_examples():
    assert EXAMPLES
