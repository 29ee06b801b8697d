"""Names are found in tables, imported on first use, and a wrong one names the nearest."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pydoc
import re
from pathlib import Path
from types import ModuleType

import pytest

import tfrkit.tf
from tfrkit.tf.entry import Absent, Raw
from tfrkit.tf.namespace import all_names

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
        found = importlib.import_module(f"tfrkit.tf.{dotted}")
        assert type(found) is ModuleType, "in another class names are found ten times as slowly"


def test_what_was_used_once_is_an_attribute():
    for dotted in ("train.Feature", "io.FixedLenFeature", "compat.v1.train.Example"):
        space, _, name = dotted.rpartition(".")
        assert find(dotted) is vars(find(space))[name]


def test_lifted_operations_pickle_by_name():
    for dotted, entry in NAMES.items():
        if not isinstance(entry, Raw) and not dotted.startswith("compat."):
            assert callable(pickle.loads(pickle.dumps(find(dotted)))), dotted


def test_no_file_hides_a_name():
    # An imported file becomes an attribute of its folder, and `data` and `io` are modules of TensorFlow too.
    top = Path(tfrkit.tf.__file__).parent
    names = {".".join(name.split(".")[:depth]) for name in NAMES for depth in range(1, 5)}
    files = {".".join(path.relative_to(top).with_suffix("").parts) for path in top.rglob("*.py")}
    assert not files & names


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        ("Tensr", "Tensor"),
        ("log", "math.log"),
        ("data.TFRecordDatset", "data.TFRecordDataset"),
        ("image.read_file", "io.read_file"),
        ("compat.v1.parse_exampel", "compat.v1.parse_example"),
        ("math.reduce_summ", "math.reduce_sum"),
    ],
)
def test_an_unknown_name_names_the_nearest(wrong, nearest):
    with pytest.raises(AttributeError, match=re.escape(f"The nearest that exists is tf.{nearest}.")):
        find(wrong)


def test_a_name_that_is_like_nothing_leads_to_the_list():
    with pytest.raises(AttributeError, match=re.escape("tf.qqq does not exist in tfrkit. See docs/names.md")):
        find("qqq")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("Session", "everything runs when it is called"),
        ("compat.v1.Session", "everything runs when it is called"),
        ("placeholder", "call the function with the value itself"),
        ("train.start_queue_runners", "There are no queue runners"),
        ("initialize_all_variables", "There are no variables"),
        ("keras", "PyTorch, JAX or Keras 3"),
        ("GradientTape", "There are no variables"),
        ("linalg.inv", "numpy"),
        ("compat.v1.matrix_inverse", "numpy"),
        ("math.lgamma", "SciPy"),
        ("math.accumulate_n", "Use tf.add_n."),
        ("dynamic_stitch", "Use tf.scatter_nd"),
    ],
)
def test_a_name_that_is_left_out_says_what_to_do(name, advice):
    with pytest.raises(AttributeError, match=re.escape(advice)):
        find(name)
    space, _, last = name.rpartition(".")
    assert last not in dir(find(space) if space else tfrkit.tf)


def test_modules_can_be_imported():
    old = importlib.import_module("tfrkit.tf.compat.v1")
    assert old.parse_single_sequence_example is find("io.parse_single_sequence_example")
    assert tfrkit.tf.__version__ == tfrkit.tf.version.VERSION
    assert "io" in dir(tfrkit.tf)


def test_signatures_and_help_are_those_of_the_operation():
    assert str(inspect.signature(tfrkit.tf.reshape)) == "(tensor: 'Any', shape: 'Any', *, name=None) -> 'Any'"
    assert "another shape" in pydoc.render_doc(tfrkit.tf.reshape)
    assert tfrkit.tf.reshape.__qualname__ == "reshape"
