"""The features of a step: which values of an episode's record a step has, and what they become.

A feature whose values lie side by side, as many for each step, is picked before it is decoded, so that no other frame
is. One that holds sequences of its own is decoded for the whole episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from tfrkit.cached_property import cached_property
from tfrkit.data.elements import columns
from tfrkit.data.elements.columns import Column, Padded
from tfrkit.errors import NotFoundError
from tfrkit.folders.decode.nest import nested
from tfrkit.folders.decode.stored_keys import BadValue, Stored
from tfrkit.folders.decode.tree_columns import Leaf, flat_leaves, leaves_of
from tfrkit.folders.feature_tree import DictFeature, FeatureTree, SequenceFeature
from tfrkit.folders.rlds.episode_record import EpisodeRecord, as_run, pick_values
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import IntArray

__all__ = ["STEPS", "Picked", "StepLeaf", "step_feature", "step_leaves"]

STEPS = "steps"


@dataclass(frozen=True, slots=True)
class Picked:
    """Values of some steps of one episode: of each key, not decoded; or decoded rows."""

    stored: dict[str, Any]
    rows: Column | None = None


@dataclass(frozen=True)
class StepLeaf:
    """A feature of a step.

    Attributes:
        name: its names inside a step, joined by "/".
        leaf: it as a feature of one step.
        whole: it as a feature of an episode.
    """

    name: str
    leaf: Leaf
    whole: Leaf

    @cached_property
    def keys(self) -> dict[str, str]:
        """The keys of its values, and the type under each."""
        return {key: str(spec.dtype) for key, spec in self._spec.items()}

    @property
    def each(self) -> dict[str, int]:
        """How many values a step has under each key; nothing if that differs from step to step."""
        return {} if self.leaf.levels else {key: prod(spec.shape) for key, spec in self._spec.items()}

    @property
    def is_numbers(self) -> bool:
        """True if a step has numbers of one shape, stored as they are."""
        shape, dtype = self.leaf.value_spec()
        listed = "bytes" not in self.keys.values()
        return listed and not self.leaf.levels and shape is not None and dtype.kind in "biuf"

    @property
    def is_float(self) -> bool:
        """True if its values are floats."""
        return self.leaf.value_spec()[1].kind == "f"

    @cached_property
    def _spec(self) -> dict[str, Any]:
        return self.whole.spec()

    def pick(self, record: EpisodeRecord, length: int, steps: IntArray) -> Picked:
        """Take the values of some steps of an episode, which has `length`.

        Raises:
            BadValue: the record has not as many values.
        """
        try:
            if self.leaf.levels:
                return Picked({}, columns.take(self._rows(record, length), steps))
            return Picked({key: self._picked(record, key, length, steps) for key in self._spec})
        except BadValue as bad:
            raise BadValue(0, f"feature {self.whole.key!r}: {bad.reason}") from None

    def _picked(self, record: EpisodeRecord, key: str, length: int, steps: IntArray) -> Any:
        shape = tuple(self._spec[key].shape)
        values, each = record.values[key], prod(shape)
        if len(values) != length * each:
            raise BadValue(0, _wrong_count(len(values), each, length))
        if not shape:
            return pick_values(values, steps)
        numbers = (steps[:, None] * each + np.arange(each)).ravel()
        return pick_values(values, numbers).reshape((len(steps), *shape))

    def _rows(self, record: EpisodeRecord, length: int) -> Column:
        """Decode all steps."""
        shapes = {key: tuple(spec.shape) for key, spec in self._spec.items()}
        parsed: dict[str, Any] = {key: as_run(record.values[key], shape) for key, shape in shapes.items()}
        values, stored = self.whole.decoded(parsed, 1, 1)
        found = int(Stored(None, stored.nesting[:1]).row_splits(1)[-1])
        if found != length:
            raise BadValue(0, _wrong_count(found, 1, length))
        shape, dtype = self.whole.value_spec()
        inner = Stored(stored.flat, stored.nesting[1:])
        return nested(values, inner, length, shape or (), dtype, steps=self.whole.steps)

    def column(self, picked: Sequence[Picked], order: IntArray | None, count: int, threads: int) -> Column:
        """Decode values of steps.

        Args:
            picked: of one episode after another.
            order: which of all these steps are wanted, in this order; None: all.
            count: how many that are.
            threads: to decode with.

        Raises:
            BadValue: those of one step cannot be decoded.
        """
        if self.leaf.levels:
            return _chosen([each.rows for each in picked], order)
        parsed = {key: _chosen([each.stored[key] for each in picked], order) for key in self._spec}
        return self.leaf.column(parsed, count, threads)

    def windows(self, column: Column, count: int, width: int | None) -> Column:
        """Put a column of steps into `count` windows of `width`; None: leave it as it is."""
        if width is None:
            return column
        rows = column.ragged if isinstance(column, Padded) else column
        if isinstance(rows, Ragged):
            return Ragged.unchecked(rows, np.arange(0, len(rows) + 1, width))
        shape, dtype = self.leaf.value_spec()
        return nested(column, Stored(None, (width,)), count, shape or (), dtype, steps=True)

    def element_spec(self, width: int | None) -> Any:
        """Return the spec of a window of so many steps; of a step, if that is None."""
        levels = self.leaf.levels if width is None else (width, *self.leaf.levels)
        return replace(self.leaf, levels=levels).element_spec()


def _chosen(parts: Sequence[Any], order: IntArray | None) -> Column:
    joined = columns.concat(parts)
    in_order = order is None or np.array_equal(order, np.arange(len(order)))
    return joined if in_order or order is None else columns.take(joined, order)


def _wrong_count(found: int, each: int, length: int) -> str:
    if each and found % each:
        return f"expected {each:,} values for each step but got {found:,} in all"
    return f"expected values for {length:,} steps, which the episode has, but got those of {found // max(1, each):,}"


def step_feature(tree: FeatureTree, path: str) -> SequenceFeature:
    """Return the feature `steps` of an RLDS data set.

    Raises:
        NotFoundError: it has none.
    """
    found = tree.features.get(STEPS) if isinstance(tree, DictFeature) else None
    if isinstance(found, SequenceFeature):
        return found
    names = sorted(tree.features) if isinstance(tree, DictFeature) else []
    has = f"it has {', '.join(map(repr, names))}" if names else "it is no dict of features"
    raise NotFoundError(
        f"{path}; this is no RLDS data set: expected a feature 'steps' that is a Dataset or Sequence but {has}. "
        "tfr.load(folder) opens any data set.",
        path=path,
    )


def step_leaves(steps: SequenceFeature) -> list[StepLeaf]:
    """Return the features of a step. Pure: no I/O.

    Raises:
        UnimplementedError: one cannot be stored as the features say.
    """
    singles = flat_leaves(leaves_of(steps.feature, STEPS))
    wholes = flat_leaves(leaves_of(steps.feature, STEPS, (None,), steps.steps))
    return [
        StepLeaf(whole.key.removeprefix(STEPS).removeprefix("/"), single, whole)
        for single, whole in zip(singles, wholes, strict=True)
    ]
