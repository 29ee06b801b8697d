"""Names are found in tables, imported on first use, and a wrong one names the nearest."""

from __future__ import annotations

import importlib
import pickle
import re
from pathlib import Path

import pytest

import tfrkit.tf
from tfrkit.tf.entry import Absent, Raw
from tfrkit.tf.namespace import Namespace, all_names

NAMES = {name: entry for name, entry in all_names().items() if not isinstance(entry, Absent)}


def find(dotted: str) -> object:
    found: object = tfrkit.tf
    for part in dotted.split("."):
        found = getattr(found, part)
    return found


def test_every_name_has_something_behind_it():
    for dotted in NAMES:
        assert find(dotted) is not None or dotted.rpartition(".")[2] == "newaxis", dotted


def test_namespaces_are_modules():
    for dotted in {name.rpartition(".")[0] for name in NAMES} - {""}:
        assert isinstance(importlib.import_module(f"tfrkit.tf.{dotted}"), Namespace)


def test_lifted_operations_pickle_by_name():
    for dotted, entry in NAMES.items():
        if not isinstance(entry, Raw) and not dotted.startswith("compat."):
            assert callable(pickle.loads(pickle.dumps(find(dotted)))), dotted


def test_no_file_hides_a_name():
    files = {path.stem for path in Path(tfrkit.tf.__file__).parent.iterdir()}
    assert not files & {name.split(".")[0] for name in NAMES}


def test_an_unknown_name_names_the_nearest():
    with pytest.raises(AttributeError, match=re.escape("The nearest that exists is tf.Tensor.")):
        tfrkit.tf.Tensr  # noqa: B018
