from __future__ import annotations

import os
import re

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit import Dataset
from tfrkit.errors import InvalidArgumentError
from tfrkit.stores.glob_files import glob_files


@pytest.fixture
def folder(tmp_path):
    for name in (
        "b.txt",
        "a.txt",
        ".hid",
        "C.txt",
        "a2.txt",
        "sub/one",
        "sub/two",
        ".dot/in",
        "x[1]",
        "q?r",
        "ä.txt",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return str(tmp_path)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*", ".dot .hid C.txt a.txt a2.txt b.txt q?r sub x[1] ä.txt"),
        ("*.txt", "C.txt a.txt a2.txt b.txt ä.txt"),
        ("?.txt", "C.txt a.txt b.txt ä.txt"),
        ("[ab].txt", "a.txt b.txt"),
        ("[!a].txt", "C.txt b.txt ä.txt"),
        ("[^a-c].txt", "C.txt ä.txt"),
        ("[[:upper:]].txt", "C.txt"),
        ("[]a].txt", "a.txt"),
        (r"[\a].txt", "a.txt"),
        ("**", ".dot .hid C.txt a.txt a2.txt b.txt q?r sub x[1] ä.txt"),
        ("*/*", ".dot/in sub/one sub/two"),
        ("**/one", "sub/one"),
        ("sub", "sub"),
        ("sub/", "sub/"),
        ("*/", ".dot .hid C.txt a.txt a2.txt b.txt q?r sub x[1] ä.txt"),
        ("{a,b}.txt", ""),
        ("x[1]", ""),
        (r"x\[1]", "x[1]"),
        (r"q\?r", "q?r"),
        (".*", ".dot .hid"),
        ("./a*", "./a.txt ./a2.txt"),
        ("sub/../a.txt", "sub/../a.txt"),
        ("*/../a.txt", ""),
        ("*//one", ""),
        ("*.TXT", ""),
        ("[", ""),
        ("a\\", ""),
        ("none/*", ""),
        ("a.txt/*", ""),
    ],
)
def test_patterns_match_by_the_rules(pattern, expected, folder):
    assert glob_files([f"{folder}/{pattern}"]) == [f"{folder}/{name}" for name in expected.split()]


def test_relative_patterns_begin_with_a_dot(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert glob_files(["a*"]) == ["./a.txt", "./a2.txt"]
    assert glob_files(["*/one"]) == ["./sub/one"]
    assert glob_files(["sub/o*"]) == ["sub/one"]
    assert glob_files(["a.txt"]) == ["a.txt"]
    assert glob_files([""]) == []


def test_root_is_a_folder_like_any_other():
    top = os.path.abspath(os.sep + os.listdir(os.sep)[0])
    assert top in glob_files(["/*"])


def test_names_come_sorted_over_all_patterns_and_twice_if_matched_twice(folder):
    dataset = Dataset.list_files(
        [f"{folder}/b*", f"{folder}/a*", f"{folder}/b*", f"{folder}/none"], shuffle=False
    )
    assert [os.path.basename(name) for name in dataset] == [b"a.txt", b"a2.txt", b"b.txt", b"b.txt"]
    assert dataset.cardinality() == 4


def test_nothing_that_matches_is_an_error(folder):
    with pytest.raises(
        InvalidArgumentError, match=re.escape(f"No files matched pattern: {folder}/nix*, {folder}/none")
    ):
        Dataset.list_files([f"{folder}/nix*", f"{folder}/none"])


@pytest.mark.parametrize(
    "pattern", [b"a*", os.fspath, np.array(["a*"]), ["a*"], tfr.BytesColumn.from_list([b"a*"])], ids=repr
)
def test_patterns_of_all_kinds(pattern, folder, monkeypatch):
    from pathlib import Path

    monkeypatch.chdir(folder)
    given = Path("a*") if callable(pattern) else pattern
    assert list(Dataset.list_files(given, shuffle=False)) == [b"./a.txt", b"./a2.txt"]


@pytest.mark.parametrize(
    ("pattern", "error", "text"),
    [
        (3, TypeError, "Cannot convert 3 to EagerTensor of dtype string"),
        ([3], TypeError, "Cannot convert 3 to EagerTensor of dtype string"),
        ([["a"], ["b"]], InvalidArgumentError, "must be scalar or vector, but had shape: [2,1]"),
        (np.array([["a"]]), InvalidArgumentError, "must be scalar or vector, but had shape: [1,1]"),
    ],
)
def test_other_patterns_are_refused(pattern, error, text):
    with pytest.raises(error, match=re.escape(text)):
        Dataset.list_files(pattern)


def test_shuffle_is_that_of_the_names(folder):
    names = Dataset.from_tensor_slices(sorted(os.fsencode(f"{folder}/{name}") for name in os.listdir(folder)))
    expected = names.shuffle(len(os.listdir(folder)), seed=42)
    found = Dataset.list_files(f"{folder}/*", seed=42)
    for _ in range(2):
        assert list(found) == list(expected)
