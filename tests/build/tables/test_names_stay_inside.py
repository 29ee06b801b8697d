"""No other module of tables, and no command, knows a name, a suffix or the first bytes of an input format."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tfrkit.build.tables.format_table import all_formats

SOURCE = Path(__file__).parents[3] / "src" / "tfrkit"
# The table, and the formats themselves; the lists of photos, of which only the suffixes are said.
ALLOWED = ("build/tables/format_table.py", "build/tables/delimited/", "build/tables/arrow/")
KNOWN = {each.name for each in all_formats()} | {suffix for each in all_formats() for suffix in each.suffixes}


def is_all(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
    )


def leaks(tree: ast.AST) -> Iterator[str]:
    """Yield the constants of a module that only the table should know. Prose and public names do not count."""
    public = {node for each in ast.walk(tree) if is_all(each) for node in ast.walk(each)}
    for node in ast.walk(tree):
        if node in public:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in KNOWN:
            yield f"line {node.lineno}: {node.value!r}"


def modules() -> list[str]:
    paths = [*SOURCE.rglob("build/tables/**/*.py"), SOURCE / "cli/commands/build.py"]
    names = sorted(path.relative_to(SOURCE).as_posix() for path in paths)
    return [name for name in names if not name.startswith(ALLOWED)]


def test_modules_ask_the_table():
    found = {name: list(leaks(ast.parse((SOURCE / name).read_bytes()))) for name in modules()}
    assert len(found) > 15
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_leak_is_found():
    program = 'if kind == "csv" or name.endswith(".parquet"): "csv or tsv"'
    assert len(list(leaks(ast.parse(program)))) == 2
