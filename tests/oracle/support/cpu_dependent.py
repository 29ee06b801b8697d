"""Results that depend on the CPU in TensorFlow itself, and how far its variants are from one another.

TensorFlow's kernels for products of matrices and convolutions are chosen when a program runs: with or without fused
multiply-adds, in wider or narrower vectors, oneDNN's or Eigen's, and for bfloat16 with or without rounding in between.
Equality of bits is then no promise, and each test that such a result goes into is marked `cpu_dependent`. `make
test-cpu` runs them as on CPUs without AVX-512, and without AVX2.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest

__all__ = ["apart", "cpu_dependent"]

cpu_dependent = pytest.mark.cpu_dependent

_HALF_ULP: Final = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
_LEAST: Final = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 2.0**-1074}


def apart(dtype: str, roundings: int, absolute: Any, *, summed_in: str = "") -> npt.NDArray[np.float64]:
    """How far apart two sums of products can be that differ in nothing but order and roundings, one by one.

    Each is within `n u / (1 - n u)` of the sum of the absolute products from the true sum, whatever its order, with
    fused multiply-adds or without (Higham, Accuracy and Stability of Numerical Algorithms, 3.1): so two are within
    twice that. Numbers that are nearly too small for the type are rounded to its smallest.

    Args:
        dtype: the type of the sums.
        roundings: how many of them there are on the way to a sum, at most: n.
        absolute: the sum of the absolute products.
        summed_in: the wider type that all variants add in; then only the sum is rounded to `dtype`.
    """
    wide = np.asarray(absolute, np.float64)
    if summed_in and summed_in != dtype:
        return apart(summed_in, roundings, wide) + apart(dtype, 1, wide)
    share = roundings * _HALF_ULP[dtype]
    return 2 * share / (1 - share) * wide + 2 * roundings * _LEAST[dtype]
