"""Verbs on the features of dict elements: select, rename, cast, decode_raw. One node, one small operation each.

An operation works on whole columns where the elements are columns, otherwise on single elements, with the same result.
An element may be a batch itself: its values are then columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk
from tfrkit.data.elements.columns import Column, Padded, RowList
from tfrkit.data.engine.chunk_node import ChunkFunction, ChunkNode
from tfrkit.data.engine.node import Context
from tfrkit.data.features.raw_column import decode_column, decode_value
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.element_spec import RaggedTensorSpec, SparseTensorSpec, TensorSpec
from tfrkit.model.near_names import near_names
from tfrkit.values.cast import cast_value
from tfrkit.values.operands import STRING, cast_array

__all__ = [
    "CastOp",
    "ColumnOp",
    "ColumnsNode",
    "DecodeRawOp",
    "RenameOp",
    "SelectOp",
    "apply_op",
    "require_features",
]


class ColumnOp(ABC):
    """What is done to the features of every element. Subclasses are dataclasses of the verb's arguments."""

    verb: ClassVar[str]

    @property
    def label(self) -> str:
        """The stage as the user wrote it."""
        return f"{self.verb}({self._shown()})"

    @abstractmethod
    def _shown(self) -> str: ...

    @abstractmethod
    def on_columns(self, columns: dict[str, Any], /) -> dict[str, Any]:
        """Do it to all elements at once; may raise without saying for which."""

    @abstractmethod
    def on_element(self, element: dict[str, Any], /) -> dict[str, Any]:
        """Do it to one element."""

    @abstractmethod
    def on_spec(self, spec: dict[str, Any], /) -> dict[str, Any]:
        """Return the element spec of the result."""


@dataclass(frozen=True)
class SelectOp(ColumnOp):
    """Keep some features, in the order of the keys."""

    keys: tuple[str, ...]

    verb = "select"

    def _shown(self) -> str:
        return ", ".join(map(repr, self.keys))

    def on_columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        require_features(self, columns, self.keys)
        return {key: columns[key] for key in self.keys}

    on_element = on_columns
    on_spec = on_columns


@dataclass(frozen=True)
class RenameOp(ColumnOp):
    """Give features other names; they keep their places."""

    names: dict[str, str]

    verb = "rename"

    def _shown(self) -> str:
        return repr(self.names)

    def on_columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        require_features(self, columns, self.names)
        made = {self.names.get(key, key): value for key, value in columns.items()}
        if len(made) < len(columns):
            twice = [new for old, new in self.names.items() if new in columns and new not in self.names]
            twice = twice or list(self.names.values())
            raise InvalidArgumentError(
                f"{self.label}: expected every name once but {twice[0]!r} would be two features"
            )
        return made

    on_element = on_columns
    on_spec = on_columns


@dataclass(frozen=True)
class CastOp(ColumnOp):
    """Change types, as tf.cast does."""

    dtypes: dict[str, np.dtype[Any]]

    verb = "cast"

    def _shown(self) -> str:
        return ", ".join(f"{key}={dtype.name}" for key, dtype in self.dtypes.items())

    def on_columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        require_features(self, columns, self.dtypes)
        return columns | {key: _cast_column(columns[key], dtype) for key, dtype in self.dtypes.items()}

    def on_element(self, element: dict[str, Any]) -> dict[str, Any]:
        require_features(self, element, self.dtypes)
        return element | {key: cast_value(element[key], dtype) for key, dtype in self.dtypes.items()}

    def on_spec(self, spec: dict[str, Any]) -> dict[str, Any]:
        require_features(self, spec, self.dtypes)
        return spec | {key: _with_type(spec[key], dtype) for key, dtype in self.dtypes.items()}


@dataclass(frozen=True)
class DecodeRawOp(ColumnOp):
    """Bytes to numbers, of the given shape for every byte string."""

    key: str
    dtype: np.dtype[Any]
    shape: Any
    little_endian: bool

    verb = "decode_raw"

    def _shown(self) -> str:
        shape = "" if self.shape is None else f", shape={self.shape!r}"
        return f"{self.key!r}, {self.dtype.name}{shape}"

    def on_columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Decode all byte strings in one step if they are equally long."""
        require_features(self, columns, self._used())
        return columns | {
            self.key: decode_column(columns, self.key, self.dtype, self.shape, self.little_endian)
        }

    def on_element(self, element: dict[str, Any]) -> dict[str, Any]:
        """Decode one, or those of one batch."""
        require_features(self, element, self._used())
        return element | {
            self.key: decode_value(element, self.key, self.dtype, self.shape, self.little_endian)
        }

    def on_spec(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Sizes that other features hold are not known."""
        require_features(self, spec, self._used())
        outer = spec[self.key].shape
        if outer is None or isinstance(self.shape, str):
            return spec | {self.key: TensorSpec(None, self.dtype)}
        sizes = (None,) if self.shape is None else self.shape
        inner = tuple(size if isinstance(size, (int, np.integer)) and size >= 0 else None for size in sizes)
        return spec | {self.key: TensorSpec((*outer, *inner), self.dtype)}

    def _used(self) -> list[str]:
        """The features it looks at."""
        sizes = [self.shape] if isinstance(self.shape, str) else self.shape or ()
        return [self.key, *(size for size in sizes if isinstance(size, str))]


@dataclass(frozen=True, eq=False)
class ColumnsNode(ChunkNode):
    """One operation on every element."""

    op: ColumnOp

    def __post_init__(self) -> None:
        """Find out at once if a feature is missing, where that takes no user's code."""
        if not self.input.opaque:
            self.element_spec()

    def chunk_function(self, context: Context) -> ChunkFunction:
        return partial(apply_op, self.op)

    def element_spec(self) -> Any:
        return self.op.on_spec(require_features(self.op, self.input.element_spec()))

    @property
    def verb(self) -> str:
        return self.op.verb

    @property
    def label(self) -> str:
        return self.op.label


def require_features(stage: ColumnOp | str, element: Any, keys: Iterable[str] = ()) -> dict[str, Any]:
    """Check that an element (or its spec, or its columns) is a dict with these features; errors name the stage.

    Raises:
        TypeError: it is not a dict.
        InvalidArgumentError: it lacks a feature.
    """
    missing = [key for key in keys if key not in element] if isinstance(element, dict) else [""]
    if not missing:
        return element  # type: ignore[no-any-return]  # nothing is missing, so it is a dict
    label = stage if isinstance(stage, str) else stage.label
    if not isinstance(element, dict):
        raise TypeError(
            f"{label}: expected elements that are dicts of features but got {type(element).__name__}"
        )
    raise InvalidArgumentError(
        f"{label}: there is no feature {missing[0]!r}. {near_names(missing[0], element)}"
    )


def apply_op(op: ColumnOp, chunk: Chunk) -> tuple[Chunk, Exception | None]:
    """Do an operation to elements up to the first that fails.

    Returns:
        What was made of those before it, and its error; all of them and None if none fails.
    """
    if not isinstance(chunk, ColumnChunk) or not isinstance(chunk.columns, dict):
        made, error = _one_by_one(op, chunk)
        return ObjectChunk.made_of(chunk, made), error
    try:
        return ColumnChunk(op.on_columns(chunk.columns), len(chunk), chunk.origin), None
    except Exception as first:  # of some element: find out which
        made, error = _one_by_one(op, chunk)
        if error is None:
            raise first from None
        good = chunk.slice(0, len(made))
        return (
            ColumnChunk(op.on_columns(good.columns), len(good), good.origin) if made else ObjectChunk([])
        ), error


def _one_by_one(op: ColumnOp, chunk: Chunk) -> tuple[list[Any], Exception | None]:
    made: list[Any] = []
    for element in chunk.objects():
        try:
            made.append(op.on_element(require_features(op, element)))
        except Exception as error:
            error.add_note(f"It came up in {op.label}.")
            return made, error
    return made, None


def _with_type(spec: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(spec, RaggedTensorSpec):
        return RaggedTensorSpec(spec.shape, dtype, spec.ragged_rank, spec.row_splits_dtype)
    return (
        SparseTensorSpec(spec.shape, dtype)
        if isinstance(spec, SparseTensorSpec)
        else TensorSpec(spec.shape, dtype)
    )


def _cast_column(column: Column, dtype: np.dtype[Any]) -> Column:
    """Cast all rows of a column.

    Raises:
        UnimplementedError: of or to strings; the text is TensorFlow's.
    """
    if isinstance(column, Padded):
        filler = column.default if dtype == STRING else cast_array(np.asarray(column.default), dtype)[()]
        return Padded(cast_value(column.ragged, dtype), filler)
    if isinstance(column, RowList):
        return RowList([cast_value(item, dtype) for item in column.items])
    made: Column = cast_value(column, dtype)
    return made
