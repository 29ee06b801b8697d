"""The names of `tfrkit.tf` beside TensorFlow's, for docs/names.md.

TensorFlow's are read from docs/tensorflow_names.txt, ours from the tables of `tfrkit.tf`; TensorFlow is not needed, and
nothing native.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if importlib.util.find_spec("tfrkit") is None:  # where only the linters are installed
    sys.path.insert(0, str(ROOT / "src"))

from tfrkit.tf.entry import Absent  # noqa: E402
from tfrkit.tf.namespace import VERSION, all_names  # noqa: E402

HEAD = """<!-- Made by docs/generate.py from tensorflow_names.txt and the tables of tfrkit.tf. -->
# TensorFlow's names

What `from tfrkit import tf` has of the public names of TensorFlow {version}, module by module: {here} of {total} in
these modules, and {share} % where data is concerned (all but `tf`, `tf.nn`, `tf.linalg` and training in TensorFlow 1).
A name that is not here raises AttributeError and says what is nearest or what to do instead. `tf.compat.v1` has the
names of TensorFlow 2 too; below are those that only TensorFlow 1 had.
"""
ASIDE = ("tf", "nn", "linalg", "compat.v1", "compat.v1.train")


def read_names(path: Path = ROOT / "docs" / "tensorflow_names.txt") -> dict[str, list[str]]:
    """TensorFlow's names, by module."""
    lines = (line.partition(":") for line in path.read_text("utf-8").splitlines())
    return {module: names.split() for module, _, names in lines}


def present() -> set[str]:
    """Every dotted name that `tfrkit.tf` has."""
    return {name for name, entry in all_names().items() if not isinstance(entry, Absent)}


def render_names() -> str:
    """Return the whole text of docs/names.md."""
    theirs, ours = read_names(), present()
    found = {module: _split(module, names, ours) for module, names in theirs.items()}
    here, missing = (sum(len(parts[side]) for parts in found.values()) for side in (0, 1))
    narrow = [found[module] for module in found if module not in ASIDE]
    share = (
        100 * sum(len(parts[0]) for parts in narrow) // sum(len(parts[0]) + len(parts[1]) for parts in narrow)
    )
    lines = [HEAD.format(version=VERSION, here=here, total=here + missing, share=share)]
    for module, (has, has_not) in found.items():
        title = module if module == "tf" else f"tf.{module}"
        lines += [f"## {title}: {len(has)} of {len(has) + len(has_not)}", ""]
        lines += [f"{_listed(has)}", ""] if has else []
        lines += [f"Missing: {_listed(has_not)}", ""] if has_not else []
    lines += ["## Only here", "", "Names of TensorFlow 1 that are also where TensorFlow 2 has none:", ""]
    lines.append(_listed(_beyond(theirs, ours)))
    return "\n".join(lines) + "\n"


def _split(module: str, names: list[str], ours: set[str]) -> tuple[list[str], list[str]]:
    before = "" if module == "tf" else f"{module}."
    return [name for name in names if before + name in ours], [
        name for name in names if before + name not in ours
    ]


def _beyond(theirs: dict[str, list[str]], ours: set[str]) -> list[str]:
    known = {
        name if module == "tf" else f"{module}.{name}" for module, names in theirs.items() for name in names
    }
    modules = set(theirs) | {""}
    return sorted(
        name
        for name in ours - known
        if not name.startswith("compat.")
        and (name.rpartition(".")[0] in modules or f"compat.v1.{name}" in known)
    )


def _listed(names: list[str]) -> str:
    return " ".join(f"`{name}`" for name in names)
