"""Names of files as TensorFlow's datasets of files take them, and the stages that open the files.

Checks arguments and builds nodes; opens nothing. Which records or lines a file has is the business of its source.
"""

from __future__ import annotations

import functools
import operator
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.dataset import Dataset
from tfrkit.data.elements.chunk import ColumnChunk
from tfrkit.data.elements.structure import is_nested
from tfrkit.data.elements.structure_specs import types_of
from tfrkit.data.engine.node import AUTOTUNE, Node
from tfrkit.data.sources.file_source import NamedFilesNode
from tfrkit.data.sources.slices import RowsNode
from tfrkit.data.stages.interleave import InterleaveNode
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import TensorSpec, dtype_name
from tfrkit.stores.paths import expand_paths

__all__ = ["FilesNode", "OpenFile", "check_buffer_size", "check_text", "make_reading_node"]

_STRING = np.dtype(object)
_WANTED = "The `filenames` argument must contain `tf.string` elements"


@dataclass(frozen=True, eq=False)
class FilesNode(NamedFilesNode, RowsNode):
    """Names of files, of which a state must find the contents unchanged."""

    verb = "files"

    @property
    def file_names(self) -> tuple[str, ...]:
        return self.files

    def rows(self, start: int, stop: int) -> ColumnChunk:
        return ColumnChunk(
            BytesColumn.from_list(list(map(os.fsencode, self.files[start:stop]))), stop - start
        )

    def cardinality(self) -> int:
        return len(self.files)

    def _shown(self) -> str:
        """How many there are."""
        return str(len(self.files))


@dataclass(frozen=True)
class OpenFile:
    """The function of flat_map and interleave that makes a dataset of a file's name.

    Attributes:
        make: returns the node that reads some files.
        globs: whether a name may be a pattern.
    """

    make: Callable[[tuple[str, ...]], Node]
    globs: bool
    pure = True  # not a user's function: when it runs cannot be observed

    def signature(self) -> tuple[Any, ...]:
        """What states know it by: `globs`, and the arguments of the source."""
        return self.globs, *getattr(self.make, "args", ())

    @property
    def policy(self) -> Any:
        """How the files are read."""
        return self.make.args[0] if isinstance(self.make, functools.partial) else None

    def __call__(self, name: bytes) -> Dataset:
        """Make the dataset of one file."""
        return Dataset(self.make(_expand([os.fsdecode(name)], globs=self.globs)))


def make_reading_node(
    filenames: Any,
    parallel: Any,
    make: Callable[[tuple[str, ...]], Node],
    make_one_of_many: Callable[[tuple[str, ...]], Node],
    *,
    globs: bool,
    verb: str,
) -> Node:
    """Make the node that reads some files: one after another, or several in turn.

    Args:
        filenames: a name, names in lists or arrays, or a Dataset of names.
        parallel: how many files are read in turn, record by record; None for one after another.
        make: returns the node that reads some files in order; it must pickle.
        make_one_of_many: returns a node that reads a file while others are being read as well.
        globs: whether names may be patterns.
        verb: what the user wrote.
    """
    cycle = None if parallel is None else _cycle(parallel)
    opener = OpenFile(make if cycle is None or cycle == 1 else make_one_of_many, globs)
    if isinstance(filenames, Dataset):
        _check_names_dataset(filenames)
        return InterleaveNode(filenames.node, opener, cycle or 1, 1, cycle, None, verb)
    files = _expand(_names(filenames), globs=globs)
    if cycle is None or cycle == 1:  # the same order, and the same errors
        return make(files)
    return InterleaveNode(FilesNode(files), opener, cycle, 1, cycle, None, verb)


def check_buffer_size(size: Any, least: int, meaning: str) -> None:
    """Check TensorFlow's `buffer_size`, which has no effect here: blocks are read.

    Raises:
        InvalidArgumentError: it is less than `least`.
        TypeError: it is not an integer.
    """
    if size is None:
        return
    try:
        count = operator.index(size)
    except TypeError:
        raise TypeError(f"Expected int64, but got {size} of type '{type(size).__name__}'.") from None
    if count < least:
        raise InvalidArgumentError(f"`buffer_size` must be >= 0 (0 == {meaning})")


def check_text(value: Any) -> str | None:
    """Return a string argument as str.

    Raises:
        TypeError: it is not a string.
    """
    if isinstance(value, bytes):
        return os.fsdecode(value)
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"Expected string, but got {value} of type '{type(value).__name__}'.")


def _cycle(parallel: Any) -> int:
    try:
        count = operator.index(parallel)
    except TypeError:
        raise TypeError(f"Cannot convert {parallel!r} to EagerTensor of dtype int64") from None
    if count < 1 and count != AUTOTUNE:
        raise InvalidArgumentError("`cycle_length` must be > 0")
    return count


def _expand(names: list[str], *, globs: bool) -> tuple[str, ...]:
    """Replace patterns by the files that match; "-" stays, and is standard input when it is opened."""
    files: list[str] = []
    for name in names:
        files.extend([name] if name == "-" else (str(file) for file in expand_paths(name, globs=globs)))
    return tuple(files)


def _names(filenames: Any) -> list[str]:
    """Flatten what a user gave into names.

    Raises:
        TypeError: there are numbers.
        ValueError: there is something else.
    """
    leaves = _leaves(filenames)
    others = [leaf for leaf in leaves if not isinstance(leaf, (str, bytes, os.PathLike))]
    if not others:
        return [os.fsdecode(leaf) for leaf in leaves]
    found = others[0]
    if not isinstance(found, (bool, int, float, complex, np.generic)):
        raise ValueError(
            f"Attempt to convert a value ({found!r}) with an unsupported type ({type(found)}) to a Tensor."
        )
    if len(others) < len(leaves):
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    dtype = np.min_scalar_type(found) if isinstance(found, bool) else np.asarray(found).dtype
    small = {"int64": "int32", "float64": "float32"} if not isinstance(found, np.generic) else {}
    raise TypeError(f"{_WANTED}. Got `tf.{small.get(dtype.name, dtype_name(dtype))}` elements.")


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, BytesColumn):
        return list(value.to_numpy().ravel())
    if isinstance(value, np.ndarray):
        return list(value.ravel()) if value.size else []
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def _check_names_dataset(dataset: Dataset) -> None:
    """See that the elements are single strings.

    Raises:
        TypeError: they are not.
    """
    spec = dataset.node.element_spec()
    if is_nested(spec) or not isinstance(spec, TensorSpec) or spec.dtype != _STRING:
        raise TypeError(f"{_WANTED}. Got a dataset of `{types_of(spec, kinds=True)!r}` elements.")
    if spec.shape:
        raise TypeError(
            f"{_WANTED} of shape [] (i.e. scalars). Got a dataset of element shape TensorShape({list(spec.shape)})."
        )
