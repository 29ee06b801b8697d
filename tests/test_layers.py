"""Imports go down the layers only, in no circle, and optional packages come through one door."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "tfrkit"

# A module may import its own part, and parts with a smaller number. The package itself may import everything.
LAYERS: dict[str, float] = {
    "_core": 1,  # the native module
    "errors": 2,
    "optional": 2.1,  # raises errors
    "model": 2.2,  # raises errors, and converts to optional packages' types
    "threads": 2.3,
    "stores": 3,
    "values": 3,
    "codecs": 3.1,  # read what stores give
    "parsing": 3.2,  # takes arguments as values do
    "records": 4,
    "images": 4,
    "image": 4.1,  # names of images, as users see them
    "data": 5,
    "engines": 5,
    "build": 7,
    "tf": 8,
    "testing": 8,
    "cli": 10,
    "": 11,
    "__main__": 11,  # the command
}
DOORS = {
    "tfrkit.optional",
    "tfrkit",
    "tfrkit.build",
    "tfrkit.cli.command_group",
    "tfrkit.image",
    "tfrkit.tf.namespace",
}  # modules that may import by computed name: extras, and parts on first use


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, with where it stands."""

    module: str
    target: str
    line: int
    typing_only: bool

    def __str__(self) -> str:
        return f"{self.module} (line {self.line}) imports {self.target}"


def modules() -> dict[str, Path]:
    """Every module of the package, by full name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("tfrkit", *path.relative_to(SOURCE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()
TREES = {name: ast.parse(path.read_text("utf-8"), str(path)) for name, path in MODULES.items()}


def part_of(module: str) -> str:
    """`tfrkit.records.read.reader` -> `records`; the package itself -> the empty string."""
    return module.split(".")[1] if "." in module else ""


def imports_of(module: str, tree: ast.Module) -> Iterator[Import]:
    """All imports of a module, also those inside functions."""
    typing_only: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            typing_only |= {part for child in node.body for part in ast.walk(child)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, node.lineno, node in typing_only)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno}: relative import"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                target = full if full in MODULES or full == "tfrkit._core" else str(node.module)
                yield Import(module, target, node.lineno, node in typing_only)


IMPORTS = [found for name, tree in TREES.items() for found in imports_of(name, tree)]
OWN = [found for found in IMPORTS if found.target.split(".")[0] == "tfrkit"]


def core_packages() -> set[str]:
    """Import names of the packages that are always installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {re.split(r"[^\w-]", line, maxsplit=1)[0].replace("-", "_") for line in project["dependencies"]}
    return {"google" if name == "protobuf" else name for name in names}


def test_there_is_something_to_check():
    assert len(MODULES) > 5
    assert len(OWN) > 5


def test_every_part_has_a_layer():
    unknown = {part_of(name) for name in MODULES} - LAYERS.keys()
    assert not unknown, f"{sorted(unknown)}: give it a number in LAYERS, or put it into an existing part"


def test_every_part_stands_in_the_layout_for_contributors():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    layout = text[text.index("## Layout") : text.index("Imports go down this list")]
    parts = {path.name + "/" for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    parts |= {path.stem for path in SOURCE.glob("*.py") if not path.stem.startswith("_")}
    assert not [part for part in sorted(parts) if not re.search(rf"\b{part}(?![\w.])", layout)]


def test_imports_go_down():
    wrong = [
        str(found)
        for found in OWN
        if part_of(found.target) != part_of(found.module)
        and LAYERS[part_of(found.target)] >= LAYERS[part_of(found.module)]
    ]
    assert not wrong, "imports that go up or sideways:\n" + "\n".join(wrong)


def test_imports_make_no_circle():
    # Imports inside functions count: deferring an import hides a circle, and does not open it.
    graph: dict[str, set[str]] = {name: set() for name in MODULES}
    for found in OWN:
        if not found.typing_only and found.target != found.module:
            graph[found.module].add(found.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a file is in the wrong place: {' -> '.join(error.args[1])}")


def test_optional_packages_come_through_one_door():
    allowed = core_packages() | sys.stdlib_module_names | {"tfrkit"}
    wrong = [
        str(found)
        for found in IMPORTS
        if found.target.split(".")[0] not in allowed
        and not found.typing_only
        and found.module != "tfrkit.optional"
    ]
    assert not wrong, "optional packages that do not come through tfrkit.optional:\n" + "\n".join(wrong)


def test_modules_are_imported_by_name():
    wrong = []
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called.split(".")[-1] in {"import_module", "__import__"} and name not in DOORS:
                wrong.append(f"{name}:{node.lineno}: {called}")
    assert not wrong, "imports by computed name, which this test cannot follow:\n" + "\n".join(wrong)
