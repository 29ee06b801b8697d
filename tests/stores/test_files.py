"""What `files.py` finds behind URLs; what each store does is in the suite of the stores."""

from __future__ import annotations

import pytest

from tfrkit.stores.files import find_files, list_tree, match_remote, remove_tree, write_bytes

ROOT = "memory://files-test"


@pytest.fixture(autouse=True)
def objects():
    for name in ("t/dt=1/a.csv", "t/dt=2/b.csv", "t/dt=2/.hidden/c.csv", "t/d.csv", "t/dt=2"):
        write_bytes(f"{ROOT}/{name}", b"" if name == "t/dt=2" else b"x")
    yield
    remove_tree(ROOT)


def names(paths: list[str]) -> list[str]:
    return [path.removeprefix(ROOT + "/") for path in paths]


def test_files_below_a_url_are_listed_without_marks_of_folders():
    found = [info.path for info in list_tree(f"{ROOT}/t")]
    assert names(found) == ["t/d.csv", "t/dt=1/a.csv", "t/dt=2/.hidden/c.csv", "t/dt=2/b.csv"]


@pytest.mark.parametrize(
    ("pattern", "files", "folders"),
    [
        ("t/*", ["t/d.csv", "t/dt=2"], ["t/dt=1", "t/dt=2"]),
        ("t/dt=*/*", ["t/dt=1/a.csv", "t/dt=2/b.csv"], []),
        ("t/**/*.csv", ["t/d.csv", "t/dt=1/a.csv", "t/dt=2/b.csv"], []),
        ("*/dt=[12]", ["t/dt=2"], ["t/dt=1", "t/dt=2"]),
    ],
)
def test_pattern_matches_files_and_folders(pattern, files, folders):
    assert names(find_files(f"{ROOT}/{pattern}")) == files
    found = [info.path for info in match_remote(f"{ROOT}/{pattern}") if info.is_folder]
    assert names(sorted(found)) == folders
