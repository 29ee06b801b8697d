"""Statistics of actions and states, as robot learning projects keep them in dataset_statistics.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["QUANTILES", "statistics_of"]

QUANTILES: Final = {"q01": 0.01, "q99": 0.99}


def statistics_of(values: npt.NDArray[Any]) -> Mapping[str, Any]:
    """Return the mean, standard deviation, extremes and quantiles of each number of a feature, over all steps.

    Args:
        values: the steps, at least one; sums are made in float64.

    >>> found = statistics_of(np.arange(101, dtype=np.float32))
    >>> found["mean"], found["min"], found["max"], found["q01"], found["q99"]
    (50.0, 0.0, 100.0, 1.0, 99.0)
    """
    shape = values.shape[1:]
    made: dict[str, list[float]] = {name: [] for name in ("mean", "std", "max", "min", *QUANTILES)}
    for column in values.reshape((len(values), -1)).T:
        exact = column.astype(np.float64)  # one at a time: a copy of all would take twice the memory or more
        for name in ("mean", "std", "max", "min"):
            made[name].append(float(getattr(exact, name)()))
        for name, found in zip(QUANTILES, np.quantile(exact, list(QUANTILES.values())), strict=True):
            made[name].append(float(found))
    return {name: np.array(each).reshape(shape).tolist() for name, each in made.items()}
