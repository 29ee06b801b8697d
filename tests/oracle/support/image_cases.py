"""Images for tests: small pieces of real photos with odd sizes, in every type, one by one and in batches."""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np

INTEGERS = ("uint8", "int8", "uint16", "int16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
TYPES = (*INTEGERS, *FLOATS)


@functools.cache
def photos() -> tuple[np.ndarray, np.ndarray]:
    """The photos of scikit-learn: a temple in China, a flower; 427 x 640."""
    from sklearn.datasets import load_sample_images

    china, flower = load_sample_images().images
    return china, flower


@functools.cache
def pieces() -> tuple[np.ndarray, ...]:
    """Pieces of them: odd sizes, one pixel, one row, one column."""
    china, flower = photos()
    boxes = (
        china[100:167, 200:293],
        flower[13:44, 40:101],
        china[5:6, 7:8],
        flower[100:102, 30:47],
        flower[200:213, 300:301],
    )
    return tuple(map(np.ascontiguousarray, boxes))


def batch() -> np.ndarray:
    """Three different images of one size."""
    china, flower = photos()
    return np.stack([china[10:31, 20:43], flower[10:31, 20:43], flower[150:171, 200:223]])


def cast(image: np.ndarray, dtype: str) -> Any:
    """The image in another type; floats are in [0, 1]."""
    if dtype == "bool":
        return image > 127
    if dtype == "bfloat16":
        return (image / np.float32(255)).astype(ml_dtypes.bfloat16)
    return (image / np.float64(255)).astype(dtype) if dtype.startswith("float") else image.astype(dtype)


def tensor(tf: Any, value: Any) -> Any:
    """A tensor of a module: functions of TensorFlow may convert arrays before they look at them."""
    return tf.constant(value) if hasattr(tf, "constant") else tf.Tensor(value)
