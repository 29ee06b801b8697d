"""The public names of TensorFlow, as docs/tensorflow_names.txt holds them: facts, from which docs/names.md is made.

    python -m tests.oracle.support.tensorflow_names    write the file; needs TensorFlow

A line is a module and its names. Of compat.v1 only those are listed that the same module of TensorFlow 2 has not.
"""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

from tests.oracle.support.oracle import tensorflow

TARGET = Path(__file__).resolve().parents[3] / "docs" / "tensorflow_names.txt"
MODULES = [
    "", "io", "io.gfile", "data", "data.experimental", "train", "image", "strings", "math", "nn", "linalg", "bitwise",
    "random", "random.experimental", "sparse", "ragged", "debugging", "errors", "nest", "dtypes", "queue", "autograph",
    "autograph.experimental", "config", "compat", "version",
]  # fmt: skip
OLD = [
    "", "io", "gfile", "python_io", "data", "data.experimental", "train", "image", "strings", "math", "random",
    "sparse", "ragged", "debugging", "errors", "queue", "logging",
]  # fmt: skip


def names_of(module: Any, path: str) -> list[str]:
    """The names of one of TensorFlow's modules that are no modules themselves."""
    for part in filter(None, path.split(".")):
        module = getattr(module, part)
    found = [name for name in dir(module) if not name.startswith("_")]
    return sorted(name for name in found if not isinstance(getattr(module, name, None), types.ModuleType))


def render() -> str:
    """The whole text of the file."""
    tf = tensorflow()
    lines = [f"{path or 'tf'}: {' '.join(names_of(tf, path))}" for path in MODULES]
    for path in OLD:
        new = set(names_of(tf, path)) if path in MODULES else set()
        old = [name for name in names_of(tf.compat.v1, path) if name not in new]
        if old:
            lines.append(f"compat.v1{path and '.'}{path}: {' '.join(old)}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(render(), "utf-8")
