"""Histograms of a feature in two data sets with the same edges, so that one can be drawn over the other. Pure: no I/O.

They are made of what `stats` has counted: exact where it is, else of what gives the quantiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.records.describe.native_statistics import decode_values
from tfrkit.records.describe.statistics import Statistics

__all__ = ["Overlay", "overlays"]

_BINS: Final = 24
_FAR: Final = 4  # outer numbers get a wider bin if they make the range this many times that of 98 % of them
_SIDES: Final = ("values", "length", "bytes")
Array = npt.NDArray[Any]
_Counted = tuple[Array, Array]  # values, ascending, and how often each occurs


class Overlay(NamedTuple):
    """Two histograms with the same edges; a bin has its lower edge, the last one both."""

    edges: tuple[float, ...]
    old: tuple[int, ...]
    new: tuple[int, ...]


def overlays(a: Statistics, b: Statistics, is_list: bool) -> dict[str, dict[str, Overlay]]:
    """Return histograms by feature: of its `values`, of how many there are (`length`), of their sizes (`bytes`).

    Only what both have is there, and varies.
    """
    sides = [dict(_counted(each, is_list)) for each in (a, b)]
    return {name: _both(sides[0][name], sides[1][name]) for name in sides[0] if name in sides[1]}


def _counted(found: Statistics, is_list: bool) -> Iterator[tuple[str, dict[str, _Counted]]]:
    native = found.native
    if native is None:
        return
    for place, name in enumerate(native.names(is_list)):
        known = native.feature(place, is_list, 0)
        kinds = known["kinds"]
        sides = {"length": _sorted(*known["counts"]["values"])}
        if _core.FLOAT in kinds:
            sides["values"] = _sorted(*decode_values(kinds[_core.FLOAT]["numbers"]["values"], floats=True))
        if _core.INT64 in kinds:
            sides["values"] = _sorted(*kinds[_core.INT64]["numbers"]["values"])
        if _core.BYTES in kinds:
            sides["bytes"] = _sorted(*kinds[_core.BYTES]["strings"]["lengths"]["values"])
        yield name, sides


def _sorted(values: Array, weights: Array) -> _Counted:
    order = np.argsort(values, kind="stable")
    return values[order], weights[order]


def _both(a: Mapping[str, _Counted], b: Mapping[str, _Counted]) -> dict[str, Overlay]:
    found: dict[str, Overlay] = {}
    for side in _SIDES:
        if side in a and side in b and len(a[side][0]) and len(b[side][0]):
            edges = _edges(a[side], b[side])
            if edges is not None:
                found[side] = Overlay(tuple(edges), _bins(edges, *a[side]), _bins(edges, *b[side]))
    return found


def _edges(a: _Counted, b: _Counted) -> list[Any] | None:
    """Return edges of equal bins over both; a bin for each number if they are few and whole; None for one number."""
    least = min(a[0][0].item(), b[0][0].item())
    greatest = max(a[0][-1].item(), b[0][-1].item())
    if least == greatest:
        return None
    low = min(_quantile(1, *each) for each in (a, b))
    high = max(_quantile(99, *each) for each in (a, b))
    if low == high or greatest - least <= _FAR * (high - low):
        low, high = least, greatest
    if isinstance(low, int) and high - low < _BINS:
        inner: list[Any] = [*range(low, high + 2)]
    elif isinstance(low, int):
        inner = sorted({low + step * (high - low) // _BINS for step in range(_BINS + 1)})
    else:
        inner = [low + (high / _BINS - low / _BINS) * step for step in range(_BINS)] + [high]
    return [min(least, inner[0]), *inner[1:-1], max(greatest, inner[-1])]


def _quantile(percent: int, values: Array, weights: Array) -> Any:
    ranks = np.cumsum(weights)
    return values[min(int(np.searchsorted(ranks, ranks[-1] * percent / 100)), len(values) - 1)].item()


def _bins(edges: list[Any], values: Array, weights: Array) -> tuple[int, ...]:
    """Count between edges."""
    is_whole = values.dtype == np.int64
    inner = [np.int64(edge) if is_whole else np.float64(edge) for edge in edges[1:-1]]
    places = [0, *(int(np.searchsorted(values, edge)) for edge in inner), len(values)]
    totals = np.concatenate([[0], np.cumsum(weights)])
    return tuple(int(count) for count in np.diff(totals[places]))
