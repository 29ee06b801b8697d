"""Verbs on images that are arrays: resize and normalize. One small operation each, for `ColumnsNode`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.data.elements.columns import RowList, rows
from tfrkit.data.features.column_ops import ColumnOp, require_features
from tfrkit.images.image_maker import round_image
from tfrkit.images.normalize import Normalization
from tfrkit.images.resize.resize import resize
from tfrkit.model.element_spec import TensorSpec

__all__ = ["NormalizeOp", "ResizeOp"]

_RANK = 3  # of an image: height, width, channels


@dataclass(frozen=True)
class ResizeOp(ColumnOp):
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

    def on_columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Resize all images in one step if they have one size."""
        column = _feature(self.label, columns, self.key)
        if isinstance(column, np.ndarray) and column.ndim == _RANK + 1:
            return columns | {self.key: self._resized(column)}
        return columns | {self.key: RowList([self._resized(row) for row in rows(column)])}

    def on_element(self, element: dict[str, Any]) -> dict[str, Any]:
        return element | {self.key: self._resized(_feature(self.label, element, self.key))}

    def _resized(self, value: Any) -> npt.NDArray[Any]:
        images = _numbers(self.label, value, self.key)
        made: npt.NDArray[Any] = resize(images, self.size, self.method, antialias=self.antialias)
        if self.dtype is not None and made.dtype != self.dtype:
            made = round_image(made) if self.dtype == np.uint8 else made.astype(self.dtype)
        return made

    def on_spec(self, spec: dict[str, Any]) -> dict[str, Any]:
        """The size is known, and the type."""
        found = _feature(self.label, spec, self.key)
        kept = found.dtype if self.method == "nearest" else np.dtype(np.float32)
        known = found.shape is not None and len(found.shape) >= _RANK
        shape = (*found.shape[:-_RANK], *self.size, found.shape[-1]) if known else None
        return spec | {self.key: TensorSpec(shape, self.dtype or kept)}


@dataclass(frozen=True)
class NormalizeOp(ColumnOp):
    """Numbers divided by a scale, less a mean, divided by a deviation."""

    key: str
    change: Normalization

    verb = "normalize"

    def _shown(self) -> str:
        given = {"mean": self.change.mean, "std": self.change.std}
        more = [f", {name}={value}" for name, value in given.items() if value is not None]
        return f"{self.key!r}{''.join(more)}"

    def on_columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Change all in one step if they have one shape."""
        column = _feature(self.label, columns, self.key)
        if isinstance(column, np.ndarray):
            return columns | {self.key: self._changed(column)}
        return columns | {self.key: RowList([self._changed(row) for row in rows(column)])}

    def on_element(self, element: dict[str, Any]) -> dict[str, Any]:
        return element | {self.key: self._changed(_feature(self.label, element, self.key))}

    def _changed(self, value: Any) -> Any:
        return self.change(_numbers(self.label, value, self.key))

    def on_spec(self, spec: dict[str, Any]) -> dict[str, Any]:
        found = _feature(self.label, spec, self.key)
        return spec | {self.key: TensorSpec(found.shape, np.dtype(np.float32))}


def _feature(label: str, found: dict[str, Any], key: str) -> Any:
    return require_features(label, found, [key])[key]


def _numbers(label: str, value: Any, key: str) -> npt.NDArray[Any]:
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
        return np.asarray(value)
    raise TypeError(f"{label}: expected an array of numbers under {key!r} but got {type(value).__name__}")
