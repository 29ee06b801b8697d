"""The statements about TensorFlow beside the tests that check them, read from the source text.

Nothing is imported and no test runs, so that the table can be made without TensorFlow. Statements are the
entries of the `SECTION_*` dicts in `tests/oracle/rules/rules_*.py`; checks are the calls of `tf_rule("...")` in
`tests/**/test_*.py`. A call belongs to the test function whose decorators or body hold it; a call in a list
of cases at module level belongs to every test whose decorators name that list.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"


def read_statements(tests: Path = TESTS) -> dict[str, str]:
    """Read all statements, in the order of their section numbers.

    Returns:
        Rule id -> statement.

    Raises:
        ValueError: Two statements have the same id.
    """
    statements: dict[str, str] = {}
    for path in sorted(tests.glob("oracle/rules/rules_*.py")):
        for name, value in _module_values(ast.parse(path.read_text("utf-8"), str(path))):
            if not name.startswith("SECTION_"):
                continue
            entries: dict[str, str] = ast.literal_eval(value)
            twice = entries.keys() & statements.keys()
            if twice:
                raise ValueError(f"{path.name}: {sorted(twice)} are stated twice")
            statements.update(entries)
    return dict(sorted(statements.items(), key=lambda entry: section_of(entry[0])))


def read_checks(tests: Path = TESTS) -> dict[str, list[str]]:
    """Read which tests check which rule.

    Returns:
        Rule id -> ids of tests, such as ``"oracle/test_reading.py::test_empty_file"``, sorted.

    Raises:
        ValueError: A `tf_rule` has no literal argument, or belongs to no test.
    """
    checks: dict[str, set[str]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        tree = ast.parse(path.read_text("utf-8"), str(path))
        found = _Checks(path.relative_to(tests).as_posix())
        found.visit(tree)
        found.resolve()
        for rule_id, test in found.pairs:
            checks.setdefault(rule_id, set()).add(test)
    return {rule_id: sorted(names) for rule_id, names in checks.items()}


def section_of(rule_id: str) -> tuple[int, ...]:
    """Return the numbers at the start of a rule id, for sorting: ``"1.10 x"`` -> ``(1, 10)``."""
    number = re.match(r"\d+(\.\d+)*", rule_id)
    return tuple(int(part) for part in number.group().split(".")) if number else ()


class _Checks(ast.NodeVisitor):
    """Collects (rule id, test id) pairs of one module."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.pairs: list[tuple[str, str]] = []
        self._scope: list[str] = []
        self._lists: dict[
            str, list[tuple[str, int]]
        ] = {}  # module-level name -> its rule ids with their lines
        self._uses: list[tuple[str, str]] = []  # (name in a decorator, test id)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._scope.append(node.name)
        for child in node.body:
            self.visit(child)
        self._scope.pop()
        tests = [name for _, name in self._tests_of(node)]
        for decorator in node.decorator_list:
            self.pairs += [(rule_id, test) for rule_id, _ in self._rules(decorator) for test in tests]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        test = "::".join([self.module, *self._scope, node.name])
        rules = list(self._rules(node))
        if rules and not node.name.startswith("test"):
            raise ValueError(f"{self.module}:{node.lineno}: tf_rule on {node.name}, which is not a test")
        self.pairs += [(rule_id, test) for rule_id, _ in rules]
        for decorator in node.decorator_list:
            names = (part.id for part in ast.walk(decorator) if isinstance(part, ast.Name))
            self._uses += [(name, test) for name in names]

    def visit_Assign(self, node: ast.Assign) -> None:
        self._keep_list(node.targets, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._keep_list([node.target], node.value)

    def resolve(self) -> None:
        """Give the rules in lists of cases to the tests that use the lists."""
        for name, rules in self._lists.items():
            tests = [test for used, test in self._uses if used == name]
            if not tests:
                raise ValueError(f"{self.module}:{rules[0][1]}: no test's decorator names {name}")
            self.pairs += [(rule_id, test) for rule_id, _ in rules for test in tests]

    def _keep_list(self, targets: list[ast.expr], value: ast.expr) -> None:
        rules = list(self._rules(value))
        for target in targets:
            if rules and isinstance(target, ast.Name):
                name = target.id
                if name == "pytestmark":
                    raise ValueError(f"{self.module}:{rules[0][1]}: mark tests, not whole modules")
                self._lists.setdefault(name, []).extend(rules)

    def _rules(self, node: ast.AST) -> Iterator[tuple[str, int]]:
        for part in ast.walk(node):
            if not isinstance(part, ast.Call):
                continue
            called = part.func.id if isinstance(part.func, ast.Name) else getattr(part.func, "attr", "")
            if called != "tf_rule":
                continue
            argument = part.args[0] if len(part.args) == 1 else None
            if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                raise ValueError(f"{self.module}:{part.lineno}: tf_rule takes one string literal")
            yield argument.value, part.lineno

    def _tests_of(self, node: ast.ClassDef) -> Iterator[tuple[ast.FunctionDef, str]]:
        for child in node.body:
            if isinstance(child, ast.FunctionDef) and child.name.startswith("test"):
                yield child, "::".join([self.module, *self._scope, node.name, child.name])


def _module_values(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value
