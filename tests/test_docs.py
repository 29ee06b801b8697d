"""The code in the documentation runs, and its links lead somewhere.

Every block that is fenced as `python` is run, those of one file in order and in one namespace, in an empty
folder. A block fenced as `python skip` is not run: it shows another program, or something that does not end.
"""

from __future__ import annotations

import doctest
import re

import pytest

from tests.support.pages import (
    FENCE,
    PAGES,
    ROOT,
    WITH_CODE,
    WITH_RECORDINGS,
    Block,
    blocks_of,
    page_name,
    run_block,
)

LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
ALONE = [page for page in WITH_CODE if page not in WITH_RECORDINGS]  # the others run with their recordings


@pytest.mark.parametrize("page", ALONE, ids=page_name)
def test_code_of_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(page.read_text("utf-8")):
        if block.info == "python":
            run_block(block, page_name(page), namespace)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
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
