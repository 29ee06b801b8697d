"""TensorFlow's names: change `import tensorflow as tf` to `from tfrkit import tf`, and a TFRecord program runs.

What a name means is in tables (`names/`), operations in `ops/`, `tfrkit.data` and below; here
are only the wrappers that users see, such as Tensor. No file of this package has a name that TensorFlow uses, since an
imported file becomes an attribute.
"""

from __future__ import annotations

from typing import Any

from tfrkit.tf.namespace import VERSION, install

__version__ = VERSION
_root = install(__name__)


def __getattr__(name: str) -> Any:
    value = _root.find(name)
    if not name.startswith("__"):
        globals()[name] = value  # the next time it is found at once
    return value


def __dir__() -> list[str]:
    return _root.names()
