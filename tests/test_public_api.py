"""What `import tfrkit` gives, and what it costs."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tfrkit

REPEATS = 7
BUDGET_SECONDS = 0.05  # over numpy alone
OPTIONAL = {
    "ml_dtypes",
    "zstandard",
    "tensorflow",
    "torch",
    "jax",
    "pyarrow",
    "pandas",
    "polars",
    "PIL",
    "fsspec",
    "obstore",
}


def _run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def _constants_classes_functions(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_all_is_sorted_and_without_repeats():
    # The order that the linter makes.
    assert list(tfrkit.__all__) == sorted(set(tfrkit.__all__), key=_constants_classes_functions)


def test_all_is_what_is_exported():
    exported = {
        name
        for name in dir(tfrkit)
        if not name.startswith("_")
        and name != "annotations"
        and (name in tfrkit.__all__ or not isinstance(getattr(tfrkit, name), ModuleType))
    }
    assert exported == {name for name in tfrkit.__all__ if not name.startswith("_")}


def test_type_checkers_see_what_is_imported_on_first_use():
    tree = ast.parse(Path(tfrkit.__file__).read_text("utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)]
    seen = {
        (alias.name, node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    submodules = {(name, f"tfrkit.{path}".rpartition(".")[0]) for name, path in tfrkit._SUBMODULES.items()}
    assert seen == {(name, f"tfrkit.{module}") for name, module in tfrkit._MODULE_OF.items()} | submodules
    assert {name for name, _ in seen} | {"errors"} == set(tfrkit.__all__)


@pytest.mark.parametrize(
    ("module", "name", "nearest"),
    [
        (tfrkit, "raed_records", "read_records"),
        (tfrkit, "TFRecordFile", "RecordFile"),
        (tfrkit.build, "tabel", "table"),
        (tfrkit.image, "resise", "resize"),
    ],
)
def test_misspelt_name_is_an_attribute_error_that_names_the_nearest(module, name, nearest):
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    expected = f"module {module.__name__!r} has no attribute {name!r}. Did you mean {nearest!r}?"
    assert str(caught.value) == expected


@pytest.mark.parametrize("module", [tfrkit, tfrkit.build, tfrkit.image])
def test_names_that_are_nothing_like_another_are_plain_attribute_errors(module):
    for name in ("__wrapped__", "_private", "zzz"):
        assert not hasattr(module, name)
        with pytest.raises(AttributeError, match=f"^module {module.__name__!r} has no attribute {name!r}$"):
            getattr(module, name)


def test_submodules_are_imported_from_packages_that_suggest_names():
    code = "from tfrkit import stores, tf; from tfrkit.build import job; "
    code += "print(stores.__name__, tf.__name__, job.__name__)"
    assert _run(code) == "tfrkit.stores tfrkit.tf tfrkit.build.job\n"


@pytest.mark.parametrize("name", tfrkit.__all__)
def test_exported_name_is_there_and_explained(name):
    value = getattr(tfrkit, name)
    if callable(value) or isinstance(value, ModuleType):
        assert value.__doc__, f"tfrkit.{name} has no docstring"


def test_import_takes_little_longer_than_numpy():
    def seconds(packages: str) -> float:
        start = "import time; start = time.process_time()"
        return float(_run(f"{start}; import {packages}; print(time.process_time() - start)"))

    # The time of this process alone, in turn and the best of each, so that other load does not count.
    times = [(seconds("numpy"), seconds("numpy, tfrkit")) for _ in range(REPEATS)]
    numpy, both = (min(column) for column in zip(*times, strict=True))
    assert both - numpy < BUDGET_SECONDS, f"numpy {numpy:.3f} s, with tfrkit {both:.3f} s"


def test_import_pulls_in_no_optional_package():
    loaded = set(json.loads(_run("import json, sys, tfrkit; print(json.dumps(sorted(sys.modules)))")))
    assert not loaded & OPTIONAL


def test_import_writes_nothing():
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import tfrkit"], capture_output=True, text=True
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
