"""The pages of the documentation: their fenced blocks, and how code in them is run."""

from __future__ import annotations

import doctest
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page."""

    info: str
    code: str
    line: int


def page_name(page: Path) -> str:
    """Give a page's path within the project."""
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


def imports_jax(page: Path) -> bool:
    """Whether a page's code imports JAX, after which a process must not fork."""
    code = "".join(block.code for block in blocks_of(page.read_text("utf-8")) if block.info == "python")
    return re.search(r"^import (jax|grain|keras)\b", code, re.MULTILINE) is not None


def run_page(page: Path, kinds: Collection[str] = ("python",)) -> None:
    """Run the blocks of a page that are fenced as one of some kinds; by default those that need no server."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(page.read_text("utf-8")):
        if block.info in kinds:
            run_block(block, page_name(page), namespace)


def _with(info: str) -> list[Path]:
    return [page for page in PAGES if any(block.info == info for block in blocks_of(page.read_text("utf-8")))]


WITH_CODE = _with("python")
WITH_RECORDINGS = _with("console")
