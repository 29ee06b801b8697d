"""`tfr.image`: the functions of all modules of images, imported when they are used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tfrkit as tfr


def test_all_is_sorted_and_what_is_exported():
    assert tfr.image.__all__ == sorted(set(tfr.image.__all__))
    assert dir(tfr.image) == tfr.image.__all__
    assert set(tfr.image.__all__) == set(tfr.image.MODULE_OF)


def test_type_checkers_see_what_is_imported_on_first_use():
    tree = ast.parse(Path(tfr.image.__file__).read_text("utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)]
    seen = {(alias.name, node.module) for node in block.body for alias in node.names}
    assert seen == {(name, f"tfrkit.images.{module}") for name, module in tfr.image.MODULE_OF.items()}


@pytest.mark.parametrize("name", tfr.image.__all__)
def test_every_function_is_there_and_explained(name):
    function = getattr(tfr.image, name)
    assert function.__doc__
    assert function.__name__ == name


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'tfrkit\.image' has no attribute 'resise'"):
        _ = tfr.image.resise


def test_nothing_is_imported_before_it_is_used():
    code = "import tfrkit, sys; tfrkit.image; print(any(name.startswith('tfrkit.images.') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
