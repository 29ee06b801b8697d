"""The checks of the source tree find what they look for; `make lint` runs them on the tree."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from tools.check_tree import (
    lines_of_parts,
    problems_of,
    problems_of_folders,
    problems_of_lines,
    questions_about_stages,
    repeated_class_names,
    table_of_lines,
)

INIT = b'"""What lives here."""\n'
PARTS = {
    "src/tfrkit/__init__.py": INIT,
    "src/tfrkit/data/__init__.py": INIT,
    "src/core/README.md": b"# core\n",
}


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("a.py", b"x = 1 \n", "line 1: white space at the end"),
        ("a.py", b"x = 1", "no newline at the end"),
        ("a.py", b"\tx = 1\n", "line 1: tab"),
        ("a.py", b"x = 1\n" * 601, "601 lines; split it by step of the data's path"),
        ("a.py", b"# TO" + b"DO: later\n", "line 1: do it, or leave it out"),
        ("utils.py", b"x = 1\n", "name it after what it owns"),
        ("a.bin", b"\0" * 200_001, "200001 bytes are too many; make it with a script"),
    ],
    ids=["space", "newline", "tab", "lines", "unfinished", "name", "bytes"],
)
def test_file_with_a_problem(name, data, problem):
    assert [*problems_of(PurePosixPath(name), data)] == [problem]


def test_file_without_problems():
    assert not list(problems_of(PurePosixPath("a.py"), b"x = 1\n"))


def test_folders_that_say_what_lives_there_pass():
    assert not list(problems_of_folders(PARTS))


def test_folder_of_more_than_25_files_is_found():
    files = {f"src/tfrkit/data/{number}.py": b"" for number in range(25)}
    assert [*problems_of_folders(PARTS | files)] == [
        "src/tfrkit/data: 26 files; split it into folders of at most 25"
    ]


@pytest.mark.parametrize("init", [None, b"", b"x = 1\n"], ids=["missing", "empty", "without docstring"])
def test_package_that_does_not_say_what_lives_there_is_found(init):
    files = {"src/tfrkit/data/stages/map.py": b""}
    files |= {"src/tfrkit/data/stages/__init__.py": init} if init is not None else {}
    assert [*problems_of_folders(PARTS | files)] == [
        "src/tfrkit/data/stages: an __init__.py with a docstring has to say what lives there and what does not"
    ]


def test_folder_of_cpp_without_readme_is_found():
    assert [*problems_of_folders(PARTS | {"src/core/frames/frame.cc": b""})] == [
        "src/core/frames: a README.md has to say what lives there and what does not"
    ]


def test_folder_of_tests_without_a_folder_of_source_is_found():
    files = {"tests/data/test_x.py": b"", "tests/oracle/x/test_x.py": b"", "tests/old/test_x.py": b""}
    assert [*problems_of_folders(PARTS | files)] == ["tests/old: there is no src/tfrkit/old"]


def test_lines_are_counted_by_part_without_tests():
    files = {
        "src/core/frames/frame.cc": b"1\n2\n",
        "src/core/frames/frame.h": b"1\n",
        "src/core/frames/frame_test.cc": b"1\n",
        "src/core/frames/README.md": b"1\n",
        "src/tfrkit/errors.py": b"1\n",
        "src/tfrkit/data/dataset.py": b"1\n2\n",
        "src/tfrkit/data/stages/map.py": b"1\n2\n",
        "tests/data/test_x.py": b"1\n",
    }
    assert lines_of_parts(files) == {"src/core": 3, "src/tfrkit": 1, "src/tfrkit/data": 4}


def test_part_with_too_many_lines_is_found():
    assert [*problems_of_lines({"src/core": 10, "src/tfrkit/data": 11}, {"src/core": 10})] == [
        "src/tfrkit/data: 11 lines, and PART_LINES allows 0"
    ]
    assert [*problems_of_lines({"src/core": 11}, {"src/core": 10, "src/tfrkit/old": 5})] == [
        "src/core: 11 lines, and PART_LINES allows 10",
        "src/tfrkit/old: in PART_LINES, but not in the tree",
    ]


def test_table_of_lines_is_rounded_up():
    assert [*table_of_lines({"src/core": 1200, "src/tfrkit/data": 1201})] == [
        '    "src/core": 1_200,  # 1,200',
        '    "src/tfrkit/data": 1_250,  # 1,201',
        "    # 1,201 of Python, 1,200 of C++",
    ]


def test_public_class_name_that_occurs_twice_outside_tf_is_found():
    files = {
        "src/tfrkit/data/x.py": b"class Place: ...\nclass _Own: ...\n",
        "src/tfrkit/build/y.py": b"class Place: ...\nclass _Own: ...\n",
        "src/tfrkit/tf/z.py": b"class Dataset: ...\n",
        "src/tfrkit/data/dataset.py": b"class Dataset: ...\n",
    }
    assert [*repeated_class_names(files)] == ["class Place is defined 2 times: build/y.py, data/x.py"]


def test_class_of_a_stage_that_is_asked_for_in_another_file_is_found():
    files = {
        "src/tfrkit/data/stages/map.py": b"class MapNode: ...\nisinstance(1, MapNode)\n",
        "src/tfrkit/data/engine/node.py": b"isinstance(1, Node)\n",
        "src/tfrkit/data/report/explain.py": b"isinstance(1, (int, MapNode, x.FilterNode))\n",
    }
    assert [*questions_about_stages(files)] == [
        "src/tfrkit/data/report/explain.py, line 1: asks for FilterNode; read a trait of the node instead",
        "src/tfrkit/data/report/explain.py, line 1: asks for MapNode; read a trait of the node instead",
    ]
