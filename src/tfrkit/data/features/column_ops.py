"""Verbs on the features of dict elements: select, rename, cast, resize, normalize. One node, one small operation each.

An operation works on whole columns where the elements are columns, otherwise on single elements, with the same result.
An element may be a batch itself: its values are then columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from tfrkit.data.elements.chunk import Chunk, ColumnChunk
from tfrkit.data.elements.columns import Column, Padded, RowList, rows
from tfrkit.data.engine.chunk_node import ChunkFunction, ChunkNode, each_element
from tfrkit.data.engine.node import Context
from tfrkit.errors import InvalidArgumentError
from tfrkit.images.image_maker import round_image
from tfrkit.images.normalize import Normalization
from tfrkit.images.resize.resize import resize
from tfrkit.model.element_spec import RaggedTensorSpec, SparseTensorSpec, TensorSpec
from tfrkit.model.near_names import near_names
from tfrkit.values.cast import cast_value
from tfrkit.values.operands import STRING, cast_array

__all__ = [
    "CastOp",
    "ColumnOp",
    "ColumnsNode",
    "NormalizeOp",
    "RenameOp",
    "ResizeOp",
    "SelectOp",
    "apply_op",
    "require_features",
]


_IMAGE_RANK: Final = 3  # height, width, channels


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


class _NumbersOp(ColumnOp):
    """What is done to the numbers of one feature: all rows in one step if they have one shape."""

    key: str

    @abstractmethod
    def _changed(self, numbers: npt.NDArray[Any]) -> Any: ...

    def _change(self, value: Any) -> Any:
        if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "biuf":
            kind = type(value).__name__
            raise TypeError(f"{self.label}: expected an array of numbers under {self.key!r} but got {kind}")
        return self._changed(np.asarray(value))

    def _at_once(self, column: Column) -> bool:
        return isinstance(column, np.ndarray)

    def on_columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        column = require_features(self, columns, [self.key])[self.key]
        if self._at_once(column):
            return columns | {self.key: self._change(column)}
        return columns | {self.key: RowList([self._change(row) for row in rows(column)])}

    def on_element(self, element: dict[str, Any]) -> dict[str, Any]:
        return element | {self.key: self._change(require_features(self, element, [self.key])[self.key])}


@dataclass(frozen=True)
class ResizeOp(_NumbersOp):
    """Images of another size; of one element, or all images of a batch.

    Attributes:
        dtype: uint8 rounds; None is what the method gives: float32, and nearest keeps the type.
    """

    key: str
    size: tuple[int, int]
    method: str
    antialias: bool
    dtype: np.dtype[Any] | None

    verb = "resize"

    def _shown(self) -> str:
        return f"{self.key!r}, {self.size}"

    def _at_once(self, column: Column) -> bool:
        return isinstance(column, np.ndarray) and column.ndim == _IMAGE_RANK + 1

    def _changed(self, numbers: npt.NDArray[Any]) -> Any:
        made: npt.NDArray[Any] = resize(numbers, self.size, self.method, antialias=self.antialias)
        if self.dtype is None or made.dtype == self.dtype:
            return made
        return round_image(made) if self.dtype == np.uint8 else made.astype(self.dtype)

    def on_spec(self, spec: dict[str, Any]) -> dict[str, Any]:
        """The size is known, and the type."""
        found = require_features(self, spec, [self.key])[self.key]
        kept = found.dtype if self.method == "nearest" else np.dtype(np.float32)
        known = found.shape is not None and len(found.shape) >= _IMAGE_RANK
        shape = (*found.shape[:-_IMAGE_RANK], *self.size, found.shape[-1]) if known else None
        return spec | {self.key: TensorSpec(shape, self.dtype or kept)}


@dataclass(frozen=True)
class NormalizeOp(_NumbersOp):
    """Numbers divided by a scale, less a mean, divided by a deviation."""

    key: str
    change: Normalization

    verb = "normalize"

    def _shown(self) -> str:
        given = {"mean": self.change.mean, "std": self.change.std}
        more = [f", {name}={value}" for name, value in given.items() if value is not None]
        return f"{self.key!r}{''.join(more)}"

    def _changed(self, numbers: npt.NDArray[Any]) -> Any:
        return self.change(numbers)

    def on_spec(self, spec: dict[str, Any]) -> dict[str, Any]:
        found = require_features(self, spec, [self.key])[self.key]
        return spec | {self.key: TensorSpec(found.shape, np.dtype(np.float32))}


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
        return each_element(partial(_apply_to_one, op), chunk)
    try:
        return ColumnChunk(op.on_columns(chunk.columns), len(chunk), chunk.origin), None
    except Exception as first:  # of some element: find out which
        made, error = each_element(partial(_apply_to_one, op), chunk)
        if error is None:
            raise first from None
        good = chunk.slice(0, len(made))
        return (
            ColumnChunk(op.on_columns(good.columns), len(good), good.origin) if len(good) else made
        ), error


def _apply_to_one(op: ColumnOp, element: Any) -> dict[str, Any]:
    try:
        return op.on_element(require_features(op, element))
    except Exception as error:
        error.add_note(f"It came up in {op.label}.")
        raise


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
