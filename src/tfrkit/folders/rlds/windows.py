"""The stage that makes windows of steps: records of episodes in, single steps or runs of them out, by number.

An element is found by arithmetic on the lengths of the episodes. Each record is read once for all elements that want
it, what they want is picked out of it, and the pictures of all of them are then decoded at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from tfrkit.cached_property import cached_property
from tfrkit.data.elements import columns
from tfrkit.data.elements.chunk import ColumnChunk
from tfrkit.data.elements.columns import Column
from tfrkit.data.elements.origin import Origin
from tfrkit.data.engine.lookup import Found, Lookup, LookupIterator
from tfrkit.data.engine.node import Context, NodeIterator, UnaryNode
from tfrkit.data.features.image_column import for_each_row
from tfrkit.errors import InvalidArgumentError
from tfrkit.folders.decode.stored_keys import BadValue
from tfrkit.folders.decode.tree_columns import Leaf, leaves_of, map_leaves
from tfrkit.folders.feature_tree import SequenceFeature
from tfrkit.folders.rlds.episode_record import EpisodeReader, EpisodeRecord
from tfrkit.folders.rlds.step_leaves import STEPS, Picked, StepLeaf, step_leaves
from tfrkit.model.element_spec import TensorSpec
from tfrkit.model.row_selection import IntArray, splits_of

__all__ = ["MASK", "Span", "WindowsNode"]

MASK = "mask"
Span = tuple[
    int, int
]  # steps from and up to, counted from the one that the window is of; the last is not in it
_ALONE: Span = (0, 1)
_AGAIN: Final = (
    1.1  # places for each step that is decoded, up to which those in several places are decoded again
)


@dataclass(frozen=True, eq=False)
class WindowsNode(UnaryNode):
    """Windows of the steps of episodes, one for each step.

    Attributes:
        input: the records, indexable; one is an episode.
        steps: the feature of their steps.
        lengths: how many steps each episode has.
        spans: which steps each feature has, by its name; None: just the step, which is not in a sequence.
        mask: add which steps of a window are in the episode.
    """

    steps: SequenceFeature
    lengths: IntArray = field(metadata={"unsigned": True})
    spans: Mapping[str, Span] | None
    mask: bool

    unindexable = ""
    wants_origin = True  # a broken image is named by its file and record

    @property
    def verb(self) -> str:
        return STEPS if self.spans is None else "windows"

    def arguments(self) -> tuple[Any, ...]:
        spans = "" if self.spans is None else repr(sorted(self.spans.items()))
        return spans, self.mask

    @cached_property
    def leaves(self) -> list[StepLeaf]:
        """The features that are wanted."""
        return [leaf for leaf in step_leaves(self.steps) if self.spans is None or leaf.name in self.spans]

    def span(self, leaf: StepLeaf) -> Span:
        """Which steps a feature has."""
        return _ALONE if self.spans is None else self.spans[leaf.name]

    def width(self, leaf: StepLeaf) -> int | None:
        """How many steps a feature has; None: it is not in a sequence."""
        if self.spans is None:
            return None
        first, last = self.spans[leaf.name]
        return last - first

    def cardinality(self) -> int:
        return int(self.lengths.sum())

    def element_spec(self) -> Any:
        specs = {leaf.name: leaf.element_spec(self.width(leaf)) for leaf in self.leaves}
        masks = {leaf.name: TensorSpec((self.width(leaf),), bool) for leaf in self.leaves}
        return self.nested(specs, masks)

    def nested(self, values: Mapping[str, Any], masks: Mapping[str, Any]) -> Any:
        """Return values by the names of features in dicts as the features are; and masks, if they are wanted."""
        tree = leaves_of(self.steps.feature, STEPS)
        made = _wanted(map_leaves(tree, partial(_named, values)))
        if not self.mask:
            return made
        return {**made, MASK: _wanted(map_leaves(tree, partial(_named, masks)))}

    def lookup(self, context: Context) -> Lookup:
        return _WindowsLookup(self, context)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return LookupIterator(self.lookup(context), 0, state)

    def _shown(self) -> str:
        return "" if self.spans is None else f"{len(self.leaves)} features"


_Missing = object()


def _named(values: Mapping[str, Any], leaf: Leaf) -> Any:
    return values.get(leaf.key.removeprefix(STEPS).removeprefix("/"), _Missing)


def _wanted(tree: Any) -> Any:
    """Return a tree without the leaves that are not wanted, and without dicts that have no others."""
    if not isinstance(tree, dict):
        return tree
    parts = {name: _wanted(each) for name, each in tree.items()}
    return {
        name: each
        for name, each in parts.items()
        if each is not _Missing and not (isinstance(each, dict) and not each)
    }


@dataclass(slots=True)
class _Wanted:
    """The steps that elements have in one span.

    Attributes:
        steps: for each episode that is read, those that are wanted.
        places: for each element and each step of its span, which of all steps that are wanted it is.
        inside: the same: whether the step is in the episode, or stands for one beyond its ends.
    """

    steps: list[IntArray]
    places: IntArray
    inside: Any


class _WindowsLookup(Lookup):
    def __init__(self, node: WindowsNode, context: Context) -> None:
        self._node = node
        self._context = context
        self._records = node.input.lookup(context)
        self._starts = splits_of(node.lengths)
        self.size = int(self._starts[-1])
        self._reader = EpisodeReader({key: kind for leaf in node.leaves for key, kind in leaf.keys.items()})
        self._held: tuple[int, EpisodeRecord] | None = None  # the last: steps in order read it many times

    def element_bytes(self) -> float:
        return max(1.0, self._records.element_bytes() * len(self._node.lengths) / max(1, self.size))

    def at(self, numbers: IntArray, epoch: int) -> Found:
        """Make the elements.

        Raises:
            OpError: a record is damaged, or has not the steps that it had when they were counted.
            InvalidArgumentError: an image cannot be decoded.
        """
        node = self._node
        of_element = np.searchsorted(self._starts, numbers, side="right") - 1
        steps = numbers - self._starts[of_element]
        episodes, rows = np.unique(of_element, return_inverse=True)
        wanted = {
            span: self._wanted(span, episodes, rows, steps)
            for span in dict.fromkeys(map(node.span, node.leaves))
        }
        records, picked = self._pick(episodes, wanted, epoch)
        made = {}
        for number, leaf in enumerate(node.leaves):
            found = wanted[node.span(leaf)]
            column = self._decode(leaf, found, [each[number] for each in picked], records)
            made[leaf.name] = leaf.windows(column, len(numbers), node.width(leaf))
        masks = {leaf.name: wanted[node.span(leaf)].inside.copy() for leaf in node.leaves if node.mask}
        return Found(ColumnChunk(node.nested(made, masks), len(numbers), _origin(records, rows)))

    def _wanted(self, span: Span, episodes: IntArray, rows: IntArray, steps: IntArray) -> _Wanted:
        """Find the steps of a span. Pure: no I/O."""
        lengths = self._node.lengths[episodes]
        begins = splits_of(lengths)
        beyond = steps[:, None] + np.arange(*span)
        inside = np.clip(beyond, 0, lengths[rows, None] - 1)
        all_steps, places = np.unique(begins[rows, None] + inside, return_inverse=True)
        bounds = np.searchsorted(all_steps, begins)
        chosen = [
            all_steps[first:last] - begin
            for first, last, begin in zip(bounds, bounds[1:], begins, strict=False)
        ]
        return _Wanted(chosen, places.ravel(), beyond == inside)

    def _pick(
        self, episodes: IntArray, wanted: Mapping[Span, _Wanted], epoch: int
    ) -> tuple[list[tuple[str | None, int]], list[list[Picked]]]:
        """Read each episode, and pick what is wanted of it; return where it is, and a list for its features."""
        places: list[Any] = [None] * len(episodes)
        picked: list[Any] = [None] * len(episodes)
        leaves, lengths = self._node.leaves, self._node.lengths[episodes]

        def work(row: int) -> None:
            record = self._record(int(episodes[row]), epoch, keep=row + 1 == len(episodes))
            places[row] = record.path, record.record
            try:
                picked[row] = [
                    leaf.pick(record, int(lengths[row]), wanted[self._node.span(leaf)].steps[row])
                    for leaf in leaves
                ]
            except BadValue as bad:
                raise _located(bad.reason, places[row]) from None

        _, error = for_each_row(len(episodes), self._context.threads, work)
        if error is not None:
            raise error
        return places, picked

    def _record(self, episode: int, epoch: int, *, keep: bool) -> EpisodeRecord:
        held = self._held
        if held is not None and held[0] == episode:
            return held[1]
        self._held = held = None  # before the next is read
        chunk: Any = self._records.at(np.array([episode]), epoch).chunk
        record = self._reader.read(chunk.blocks[0])
        if keep:
            self._held = episode, record
        return record

    def _decode(
        self,
        leaf: StepLeaf,
        wanted: _Wanted,
        picked: Sequence[Picked],
        records: Sequence[tuple[str | None, int]],
    ) -> Column:
        """Decode the steps of a feature, and put them into their places."""
        ends = np.cumsum([*map(len, wanted.steps)])
        # Where few steps are in several places, all are decoded in their places: pixels are not copied again.
        again = len(wanted.places) > _AGAIN * int(ends[-1])
        order = None if again else wanted.places
        count = int(ends[-1]) if again else len(wanted.places)
        try:
            column = leaf.column(picked, order, count, self._context.threads)
        except BadValue as bad:
            number = bad.row if order is None else int(order[bad.row])
            row = int(np.searchsorted(ends, number, side="right"))
            step = int(np.concatenate(wanted.steps)[number])
            raise _located(f"step {step}: {bad.reason}", records[row]) from None
        return columns.take(column, wanted.places) if again else column


def _located(reason: str, place: tuple[str | None, int]) -> InvalidArgumentError:
    path, record = place
    error = InvalidArgumentError(f"{reason}; in record {record} of {path!r}", path=path, record=record)
    error.add_note("Write the episode again, or leave out the feature with spans={...: None}.")
    return error


def _origin(records: Sequence[tuple[str | None, int]], rows: IntArray) -> Origin:
    paths = {path: number for number, path in enumerate(dict.fromkeys(path for path, _ in records))}
    files = np.array([paths[path] for path, _ in records], np.int32)
    numbers = np.array([record for _, record in records], np.int64)
    return Origin(tuple(paths), files[rows], numbers[rows])
