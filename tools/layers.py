"""The layers of the package and the wall round `tf`, checked against the imports in the source.

Reads source text only: nothing is imported, so that it runs without the native module. `tests/test_layers.py` and
`tools/check_tree.py` both use it.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "tfrkit"

# A module may import its own part, and parts with a smaller number. The package itself may import everything but `tf`.
LAYERS: dict[str, float] = {
    "_core": 1,  # the native module
    "cached_property": 1.9,  # pure Python
    "redact": 1.9,  # pure text
    "errors": 2,
    "optional": 2.1,  # raises errors
    "model": 2.2,  # raises errors, and converts to optional packages' types
    "options": 2.3,  # what functions and commands take: checks by near names of the model
    "threads": 2.3,
    "stores": 3,
    "values": 3,
    "codecs": 3.1,  # decompress what stores return
    "parsing": 3.2,  # converts arguments as values do
    "records": 4,
    "images": 4,
    "image": 4.1,  # the public names of images
    "data": 5,
    "engines": 5,
    "scanning": 5,
    "folders": 6,  # pipelines over what others wrote
    "build": 7,
    "integrations": 8,
    "tf": 8,
    "testing": 8,
    "viewer": 9,
    "cli": 10,
    "": 11,
    "__main__": 11,  # the command
}
WALLED = "tf"  # no other part imports it, the package and the command line included
DOORS = {  # modules that may import by computed name: extras, and parts on first use
    "tfrkit",
    "tfrkit.build",
    "tfrkit.build.tables.format_table",
    "tfrkit.cli.command_group",
    "tfrkit.image",
    "tfrkit.optional",
    "tfrkit.scanning.frames",
    "tfrkit.stores.table",
    "tfrkit.tf.namespace",
}


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, and the place of the import."""

    module: str
    target: str
    line: int
    typing_only: bool

    def __str__(self) -> str:
        return f"{self.module} (line {self.line}) imports {self.target}"

    @property
    def is_own(self) -> bool:
        """True if the target is a module of tfrkit."""
        return self.target.split(".")[0] == "tfrkit"


def part_of(module: str) -> str:
    """`tfrkit.records.read.reader` -> `records`; the package itself -> the empty string."""
    return module.split(".")[1] if "." in module else ""


@functools.cache
def module_trees() -> dict[str, ast.Module]:
    """Return the syntax tree of every module of the package, by full name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("tfrkit", *path.relative_to(SOURCE).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text("utf-8"), str(path))
    return found


@functools.cache
def all_imports() -> list[Import]:
    """Return the imports of all modules, also those inside functions."""
    trees = module_trees()
    return [found for name, tree in trees.items() for found in imports_of(name, tree, trees.keys())]


def imports_of(module: str, tree: ast.Module, known: Iterable[str]) -> Iterator[Import]:
    """Yield the imports of one module; `known` are the names of all modules. Pure: no I/O."""
    nodes = list(ast.walk(tree))
    typing_only: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.If) and _last_word(node.test) == "TYPE_CHECKING":
            typing_only |= {part for child in node.body for part in ast.walk(child)}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, node.lineno, node in typing_only)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno}: relative import"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                target = full if full in known or full == "tfrkit._core" else str(node.module)
                yield Import(module, target, node.lineno, node in typing_only)


def _last_word(node: ast.expr) -> str | None:
    """`TYPE_CHECKING` or `typing.TYPE_CHECKING` -> `TYPE_CHECKING`; None for anything but a name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def parts_without_layer(modules: Iterable[str]) -> Iterator[str]:
    """Yield the parts that have no number in LAYERS. Pure: no I/O."""
    for part in sorted({part_of(module) for module in modules} - LAYERS.keys()):
        yield f"src/tfrkit/{part} has no layer: put it into LAYERS, or its modules into another part"


def upward_imports(imports: Iterable[Import]) -> Iterator[str]:
    """Yield the imports of a part by one of the same layer or below. Pure: no I/O."""
    for found in imports:
        target, module = part_of(found.target), part_of(found.module)
        if found.is_own and target != module and LAYERS.get(target, 0) >= LAYERS.get(module, 99):
            yield f"{found}, which is not a lower layer"


def breaches_of_the_wall(imports: Iterable[Import]) -> Iterator[str]:
    """Yield the imports into `tf` from outside it, those for type checkers included. Pure: no I/O."""
    for found in imports:
        if found.is_own and part_of(found.target) == WALLED != part_of(found.module):
            yield f"{found}, which only {WALLED} itself may do"


def import_circles(modules: Iterable[str], imports: Iterable[Import]) -> Iterator[str]:
    """Yield a circle of imports, if there is one: a module is in the wrong place. Pure: no I/O.

    Imports inside functions count: deferring an import hides a circle, and does not remove it.
    """
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for found in imports:
        if found.is_own and not found.typing_only and found.target != found.module:
            graph.setdefault(found.module, set()).add(found.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"imports in a circle: {' -> '.join(error.args[1])}"


def imports_past_the_door(imports: Iterable[Import], always: set[str]) -> Iterator[str]:
    """Yield the imports of optional packages other than through `tfrkit.optional`. Pure: no I/O."""
    allowed = always | sys.stdlib_module_names | {"tfrkit"}
    for found in imports:
        optional = found.target.split(".")[0] not in allowed and not found.typing_only
        if optional and found.module != "tfrkit.optional":
            yield f"{found}, an optional package, which comes through tfrkit.optional only"


def computed_imports(trees: dict[str, ast.Module]) -> Iterator[str]:
    """Yield the imports by computed name outside DOORS, which these checks cannot follow. Pure: no I/O."""
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or name in DOORS:
                continue
            if _last_word(node.func) in {"import_module", "__import__"}:
                yield f"{name} (line {node.lineno}) imports by computed name"


def core_packages() -> set[str]:
    """Return the import names of the packages that are always installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {re.split(r"[^\w-]", line, maxsplit=1)[0].replace("-", "_") for line in project["dependencies"]}
    return {"google" if name == "protobuf" else name for name in names}


def problems_of_imports() -> Iterator[str]:
    """Yield everything that is wrong with the imports of the package."""
    trees, imports = module_trees(), all_imports()
    yield from parts_without_layer(trees)
    yield from upward_imports(imports)
    yield from breaches_of_the_wall(imports)
    yield from import_circles(trees, imports)
    yield from imports_past_the_door(imports, core_packages())
    yield from computed_imports(trees)
