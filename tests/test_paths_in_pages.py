"""The pages for contributors name files, folders and functions that exist, and every folder of the source.

In backticks: a path from the root, from `src/` or from `src/tfrkit/`, or the bare name of a file; `*` matches anything,
and `NAME` stands for what a reader chooses. After a path and a colon come functions, classes or methods of that file:
`records/write/writer.py: TFRecordWriter.write_batch`.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import PurePosixPath

import pytest

from tests.support.pages import FENCE, ROOT, page_name
from tools.check_tree import tracked_files

CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = [CONTRIBUTING, ROOT / "docs" / "architecture.md", ROOT / "benchmarks" / "README.md"]
MADE = {".venv/"}  # by make
STARTS = ("", "src/", "src/tfrkit/")
SPAN = re.compile(r"`([^`\n]+)`")
NAMED = re.compile(r"(?P<path>[\w.*/-]+\.(?:py|cc|h|md|txt|toml)|[\w.*/-]+/)(?:: (?P<names>[\w., ]+))?")


@functools.cache
def known_paths() -> frozenset[str]:
    files = {path.relative_to(ROOT).as_posix() for path in tracked_files()}
    return frozenset(files | {f"{folder}/" for name in files for folder in PurePosixPath(name).parents})


def find(path: str) -> list[str]:
    """All files or folders that a path on a page may mean."""
    if "NAME" in path:
        path = path[: path.index("NAME")].rpartition("/")[0].removesuffix("/*") + "/"
    pattern = re.escape(path).replace(r"\*", "[^/]*")
    starts = "|".join(STARTS) if "/" in path else "(.*/)?"
    return sorted(filter(re.compile(f"({starts}){pattern}").fullmatch, known_paths()))


def defines(path: str, name: str) -> bool:
    """Tell whether a file defines a function, a class, a constant, or a method written as Class.method."""
    text = (ROOT / path).read_text("utf-8")
    if not path.endswith(".py"):
        return re.search(rf"\b{re.escape(name)}\b", text) is not None
    body: list[ast.stmt] = ast.parse(text).body
    for word in name.split("."):
        found = [node for node in body if word in _names(node)]
        if not found:
            return False
        body = getattr(found[0], "body", [])
    return True


def _names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return {target.id for target in targets if isinstance(target, ast.Name)}


def wrong_in(text: str) -> list[str]:
    """What a page names and the tree does not have."""
    wrong = []
    for span in SPAN.findall(FENCE.sub("", text)):
        named = NAMED.fullmatch(span)
        if named is None or named["path"] in MADE:
            continue
        paths = find(named["path"])
        if not paths:
            wrong.append(f"{named['path']} does not exist")
        for name in (named["names"] or "").replace(",", " ").split():
            if not any(defines(path, name) for path in paths if not path.endswith("/")):
                wrong.append(f"{named['path']} does not define {name}")
    return wrong


def folders_of_map(text: str) -> list[str]:
    """The folders of the map in CONTRIBUTING.md: a line each, a folder inside another indented by two more."""
    block = next(found["code"] for found in FENCE.finditer(text) if found["code"].startswith("src/"))
    folders, open_folders = [], []
    for line in block.splitlines():
        name = re.match(r"( *)([\w/]+/)  ", line)
        assert name is not None, f"not a folder and what it has: {line!r}"
        del open_folders[len(name[1]) // 2 :]
        open_folders.append(name[2])
        folders.append("".join(open_folders))
    return folders


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_what_a_page_names_exists(page):
    assert not wrong_in(page.read_text("utf-8"))


def test_map_has_every_folder_of_the_source_once():
    source = {name for name in known_paths() if re.fullmatch(r"src/.+/", name)}
    listed = folders_of_map(CONTRIBUTING.read_text("utf-8"))
    assert sorted(listed) == sorted(source)


def test_path_that_does_not_exist_is_found():
    text = (
        "`records/manifest.py` `records/no_file.py` `no_file.py` `writer.py` `data/no_folder/` `core/*/*.cc`"
    )
    assert wrong_in(text) == [
        "records/no_file.py does not exist",
        "no_file.py does not exist",
        "data/no_folder/ does not exist",
    ]


def test_function_that_does_not_exist_is_found():
    text = "`tools/layers.py: LAYERS, part_of, Import.is_own, Import.gone, gone`"
    assert wrong_in(text) == [
        "tools/layers.py does not define Import.gone",
        "tools/layers.py does not define gone",
    ]


def test_name_that_a_reader_chooses_stands_for_a_file_of_its_folder():
    assert not wrong_in("`codecs/NAME.py`, `tests/codecs/test_NAME.py`")
    assert wrong_in("`no_folder/NAME.py`")


def test_blocks_of_code_and_other_words_are_left_alone():
    assert not wrong_in("```text\n`gone.py`\n```\n`tfr.read_blocks`, `a: b`, `make lint`\n")
