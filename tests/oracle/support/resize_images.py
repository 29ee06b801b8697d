"""Images to resize: of every type, from a seed; and the photographs of scikit-learn."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Final

import numpy as np

METHODS: Final = (
    "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic",
)  # fmt: skip
TYPES: Final = (
    "uint8", "int8", "uint16", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
)  # fmt: skip


def dtype_of(name: str) -> np.dtype[Any]:
    """A type by its name; bfloat16 is that of ml_dtypes."""
    return np.dtype(importlib.import_module("ml_dtypes").bfloat16 if name == "bfloat16" else name)


def random_images(seed: int, dtype: str, shape: tuple[int, ...]) -> Any:
    """An array of random numbers, integers from the whole range of their type."""
    generator = np.random.default_rng(seed)
    kind = dtype_of(dtype)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return generator.integers(limits.min, limits.max, shape, kind, endpoint=True)
    return (generator.standard_normal(shape) * 100).astype(kind)


@functools.cache
def photo(name: str) -> Any:
    """A photograph as an array of uint8."""
    return importlib.import_module("sklearn.datasets").load_sample_image(name)
