"""Make the pages that are tables, docs/compatibility.md and docs/names.md, and src/tfrkit/build/keywords.pyi.

    python docs/generate.py            write the files
    python docs/generate.py --check    exit with 1 if a file is not what would be written

docs/compatibility.md has each statement about TensorFlow with the tests that check it, and is made from source text
(see `tests/support/rule_table.py`); docs/names.md has the names of `tfrkit.tf` beside TensorFlow's (see
`tests/support/name_table.py`); keywords.pyi has the types of the options of building functions
(see `tools/keywords.py`).
No test runs, and TensorFlow is not needed.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.name_table import render_names  # noqa: E402
from tests.support.rule_table import read_checks, read_statements, section_of  # noqa: E402
from tools import keywords  # noqa: E402

TARGET = ROOT / "docs" / "compatibility.md"
NAMES = ROOT / "docs" / "names.md"
SOURCES = {
    TARGET: "the markers in tests/",
    NAMES: "the tables of tfrkit.tf",
    keywords.TARGET: "the classes of options",
}
TITLES = {
    (1,): "Records and files",
    (1, 1): "Layout of a record",
    (1, 2): "Damaged files",
    (1, 3): "Compression",
    (1, 4): "Writers and their options",
    (2,): "Messages",
    (2, 1): "The bytes of an Example in the parsing ops",
    (3,): "Parsing ops",
    (5,): "Pipelines",
}
HEAD = """<!-- Made by docs/generate.py from the markers in tests/; `make docs` writes it. -->
# Compatibility with TensorFlow

What TensorFlow 2.21 does, statement by statement, and the tests that show it: each runs the real TensorFlow
and tfrkit on the same input. `make test` runs them all, and fails when a statement has no test.
"""


def render() -> str:
    """Return the whole text of docs/compatibility.md."""
    checks = read_checks()
    lines = [HEAD]
    shown: tuple[int, ...] = ()
    for rule_id, statement in read_statements().items():
        section = section_of(rule_id)[:2]
        if section != shown:
            lines += _headings(section, shown)
            shown = section
        name = rule_id.split(" ", 1)[-1]
        lines.append(f"| {_cell(name)} | {_cell(statement)} | {_links(checks.get(rule_id, []))} |")
    return "\n".join(lines) + "\n"


def _headings(section: tuple[int, ...], shown: tuple[int, ...]) -> list[str]:
    lines = [""] if shown and section[:1] != shown[:1] else []
    if section[:1] != shown[:1]:
        lines.append(f"## {_number(section[:1])}")
    if len(section) > 1:
        lines += ["", f"### {_number(section)}"]
    return [*lines, "", "| rule | what TensorFlow does | checked by |", "|---|---|---|"]


def _number(section: tuple[int, ...]) -> str:
    return f"{'.'.join(map(str, section))} {TITLES.get(section, '')}".rstrip()


def _links(tests: list[str]) -> str:
    links = []
    for test in tests:
        module, name = test.split("::", 1)
        links.append(f"[`{name}`](../tests/{module})")
    return "<br>".join(links) or "**nothing yet**"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the files, or with ``--check`` compare them; return the exit code."""
    pages = {TARGET: render(), NAMES: render_names(), keywords.TARGET: keywords.render()}
    if "--check" not in arguments:
        for path, text in pages.items():
            path.write_text(text, "utf-8")
        return 0
    stale = [path for path, text in pages.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        print(
            f"error: {path.relative_to(ROOT)} is not what docs/generate.py makes of {SOURCES[path]}\n",
            file=sys.stderr,
        )
    if stale:
        print("hint: run `make docs` and commit the file", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
