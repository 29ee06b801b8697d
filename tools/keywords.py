"""Make src/tfrkit/build/keywords.pyi: the options of building functions as type checkers and editors understand them.

A function takes `**options: Unpack[SelectKeywords]`. Only a TypedDict that stands in a file has a meaning there, so it
is generated from the class of the options; `docs/generate.py` writes it, and checks that it is fresh. It is a stub
without a module: nothing imports it when a program runs.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import sys
from dataclasses import Field
from pathlib import Path
from typing import Any

from tfrkit.options import OptionSet, info_of, option_fields

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 110  # of a line, as the formatter has it
TARGET = ROOT / "src" / "tfrkit" / "build" / "keywords.pyi"
MODULES = (
    "tfrkit.build.export.export_options",
    "tfrkit.build.images.image_arguments",
    "tfrkit.build.reshape.frame_options",
    "tfrkit.build.tables.hive.hive_options",
    "tfrkit.build.tables.table_options",
)
HEAD = "# Made by docs/generate.py from the classes of options: keywords of building functions, for type checkers.\n\n"


def render() -> str:
    """Return the whole text of the stub."""
    whole = [each for module in MODULES for each in _classes(module)]
    used = {
        base: None for each in whole for base in reversed(each.__mro__) if base not in (OptionSet, object)
    }
    imports: dict[str, set[str]] = {"typing": {"TypedDict"}}
    bodies = []
    for each in dict.fromkeys([*used, *whole]):
        bases = [f"{_name(base)}Keywords" for base in each.__bases__ if base in used] or ["TypedDict"]
        head, listed = f"class {_name(each)}Keywords(", f"{', '.join(bases)}, total=False"
        short = len(head) + len(listed) + len("):") <= WIDTH
        lines = [f"{head}{listed}):"] if short else [head, f"    {listed}", "):"]
        if not short and len(lines[1]) > WIDTH:
            lines = [head, *(f"    {part}," for part in (*bases, "total=False")), "):"]
        fields = _own(each)
        if not fields:
            lines[-1] += " ..."
        for field in fields:
            for module, name in _imports(each.__module__, str(field.type)):
                imports.setdefault(module, set()).add(name)
            lines.append(f"    {field.name}: {str(field.type).replace(chr(39), chr(34))}")
        bodies.append("\n".join(lines) + "\n")
    text = HEAD + "\n".join(_import_lines(imports)) + "\n\n" + "\n".join(bodies)
    return re.sub(
        r"(?<=\.\.\.\n)\n(?=class .*\.\.\.\n)", "", text
    )  # as the formatter has classes without fields


def _name(each: type) -> str:
    return each.__name__.removesuffix("Options")


def _own(each: type) -> list[Field[Any]]:
    """Return the options of a function that a class itself declares."""
    if not issubclass(each, OptionSet):
        return []
    mine = inspect.get_annotations(each)
    return [field for field, _ in option_fields(each) if field.name in mine and info_of(field).python]


def _classes(module: str) -> list[type[OptionSet]]:
    """Return the classes of a module that are all the options of a function, as their docstrings say."""
    found = [
        each
        for each in vars(importlib.import_module(module)).values()
        if inspect.isclass(each) and issubclass(each, OptionSet) and each.__module__ == module
    ]
    return [each for each in found if (each.__doc__ or "").startswith("The options of `")]


@functools.cache
def _sources(module: str) -> dict[str, str]:
    """Where each name of a module comes from."""
    tree = ast.parse(Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.update((alias.asname or alias.name, node.module) for alias in node.names)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.setdefault(node.target.id, module)
    return found


def _imports(module: str, annotation: str) -> list[tuple[str, str]]:
    names = {node.id for node in ast.walk(ast.parse(annotation)) if isinstance(node, ast.Name)}
    return [(_sources(module)[name], name) for name in sorted(names) if name in _sources(module)]


def _import_lines(imports: dict[str, set[str]]) -> list[str]:
    own = {module: names for module, names in imports.items() if module.startswith("tfrkit")}
    lines = []
    for group in ({module: names for module, names in imports.items() if module not in own}, own):
        lines += [
            f"from {module} import {', '.join(_sorted(names))}" for module, names in sorted(group.items())
        ]
        lines.append("")
    return lines[:-1]


def _sorted(names: set[str]) -> list[str]:
    return sorted(names, key=lambda name: (not name.isupper(), name))
