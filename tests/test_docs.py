"""The code in the documentation runs, and its links lead somewhere.

Every block that is fenced as `python` is run, those of one file in order and in one namespace, in an empty
folder. A block fenced as `python skip` is not run: it shows another program, or something that does not end.
"""

from __future__ import annotations

import doctest
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```\s*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page."""

    info: str
    code: str
    line: int


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(text: str) -> list[Block]:
    """All fenced blocks; `line` is that of the first line of code, counted from 1."""
    return [
        Block(found["info"].strip(), found["code"], text.count("\n", 0, found.start("code")) + 1)
        for found in FENCE.finditer(text)
    ]


def run_block(block: Block, page: str, namespace: dict[str, object]) -> None:
    """Run a block; line numbers in its traceback are those of the page."""
    if ">>> " in block.code:
        test = doctest.DocTestParser().get_doctest(block.code, namespace, page, page, block.line - 1)
        runner = doctest.DebugRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test, clear_globs=False)
        namespace.update(test.globs)
    else:
        exec(compile("\n" * (block.line - 1) + block.code, page, "exec"), namespace)


WITH_CODE = [
    page for page in PAGES if any(block.info == "python" for block in blocks_of(page.read_text("utf-8")))
]


@pytest.mark.parametrize("page", WITH_CODE, ids=_name)
def test_code_of_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(page.read_text("utf-8")):
        if block.info == "python":
            run_block(block, _name(page), namespace)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_of_page_lead_to_files(page):
    text = FENCE.sub("", page.read_text("utf-8"))
    targets = {found["target"].split("#")[0] for found in LINK.finditer(text)}
    local = {
        target for target in targets if target and "://" not in target and not target.startswith("mailto:")
    }
    missing = sorted(target for target in local if not (page.parent / target).exists())
    assert not missing


def test_readme_has_code():
    assert ROOT / "README.md" in WITH_CODE


def test_blocks_know_their_lines():
    text = "a\n\n```python\nx = 1\ny = 2\n```\n\n```bash\nmake\n```\n```python skip\nz\n```\n"
    assert blocks_of(text) == [
        Block("python", "x = 1\ny = 2\n", 4),
        Block("bash", "make\n", 9),
        Block("python skip", "z\n", 12),
    ]


def test_error_in_a_block_names_the_line_of_the_page():
    with pytest.raises(ZeroDivisionError) as caught:
        run_block(Block("python", "x = 1\nx / 0\n", 40), "page.md", {})
    assert caught.traceback[-1].lineno == 40  # counted from 0


def test_examples_of_a_session_are_compared():
    namespace: dict[str, object] = {}
    run_block(Block("python", ">>> x = 2\n>>> x\n2\n", 1), "page.md", namespace)
    assert namespace["x"] == 2
    with pytest.raises(doctest.DocTestFailure):
        run_block(Block("python", ">>> x\n3\n", 1), "page.md", namespace)
