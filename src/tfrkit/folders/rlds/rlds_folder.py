"""RldsFolder: the episodes of a data set, their steps, and windows of steps."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Final, Literal

import numpy as np

from tfrkit.data.dataset import Dataset
from tfrkit.errors import InvalidArgumentError
from tfrkit.folders.decode.decode_tree import without_decoding
from tfrkit.folders.decode.tree_columns import leaves_of
from tfrkit.folders.folder_kind import FolderDescription
from tfrkit.folders.load import load, open_folder, records_of
from tfrkit.folders.rlds.episode_lengths import count_steps
from tfrkit.folders.rlds.step_leaves import StepLeaf, step_feature, step_leaves
from tfrkit.folders.rlds.step_statistics import statistics_of
from tfrkit.folders.rlds.windows import MASK, Span, WindowsNode
from tfrkit.folders.shard_records import ShardRecordsNode
from tfrkit.folders.split_language import EvenSplit
from tfrkit.model.arguments import as_integer
from tfrkit.model.near_names import near_names
from tfrkit.model.row_selection import IntArray
from tfrkit.stores.paths import PathLike

__all__ = ["RldsFolder", "open"]

_OBSERVATION: Final = "observation"
_ACTION: Final = "action"
_MOST_NUMBERS: Final = 64  # of a state in a step: embeddings and depths have more
_STEPS_AT_ONCE: Final = 4096
_WIDEST: Final = 1 << 20  # steps of a window
_FARTHEST: Final = 1 << 31  # steps from the one that a window is of
_SHOWN: Final = 3  # empty episodes that are named


class RldsFolder:
    """A data set of episodes, as RLDS and Open X-Embodiment have them; `open` makes it.

    How many steps each episode has is counted when that is first asked for, in one pass over the files of a split that
    decodes nothing, and kept in memory.

    Attributes:
        description: what is in the folder; `print` it.
    """

    def __init__(self, description: FolderDescription) -> None:
        self.description = description
        self._steps = step_feature(description.features, description.path)
        self._counted: dict[str, IntArray] = {}

    def __repr__(self) -> str:
        splits = ", ".join(f"{name!r}: {each.records}" for name, each in self.description.splits.items())
        return f"<RldsFolder {self.description.path!r}: episodes {{{splits}}}>"

    def episodes(self, split: str | EvenSplit, *, decode: bool = True) -> Dataset:
        """Return the episodes whole, as `tfrkit.load` does: `steps` is a dict of arrays over all steps.

        Args:
            split: such as "train" or "train[:10%]".
            decode: decode image files; else they are returned as bytes.
        """
        found: Dataset = load(self.description.path, split, decode)
        return found

    def lengths(self, split: str | EvenSplit) -> IntArray:
        """Return how many steps each episode of a split has, in their order; 0 for one without steps.

        Raises:
            OpError: a file or a record is damaged.
        """
        return self._lengths(records_of(self.description, split))

    def steps(self, split: str | EvenSplit, *, decode: bool = True) -> Dataset:
        """Return all steps of all episodes as one indexable dataset.

        Args:
            split: such as "train" or "train[:10%]".
            decode: decode image files; else they are returned as bytes.
        """
        return self._dataset(split, None, mask=False, decode=decode)

    def windows(
        self,
        split: str | EvenSplit,
        history: int = 2,
        future: int = 8,
        pad: Literal["repeat", "mask"] = "repeat",
        spans: Mapping[str, Span | None] | None = None,
        *,
        decode: bool = True,
    ) -> Dataset:
        """Return a window for each step t of each episode, as one indexable dataset.

        A window has the features of a step, each over some steps: observations over t - history + 1 ... t, all others
        over t ... t + future - 1. Beyond the ends of the episode the nearest step is repeated. Only the frames of a
        window are decoded. Episodes without steps have no windows, which a warning says.

        Args:
            split: such as "train" or "train[:10%]".
            history: how many observations, the last of them that of the step itself.
            future: how many actions, rewards and so on.
            pad: "mask" adds a feature `mask`, which has for each feature a boolean for each step: whether it is in the
                episode, or repeated.
            spans: other steps for some features, by their names inside a step such as "observation/image", or those
                of dicts: from and up to, counted from t; the last is not in it, as in `range`. None leaves it out.
            decode: decode image files; else they are returned as bytes.

        Raises:
            InvalidArgumentError: a span is empty or wider than 1,048,576 steps, or no feature has such a name.

        >>> ds = tfrkit.rlds.open("bridge/1.0.0").windows(
        ...     "train", history=2, future=8, spans={"language_instruction": (0, 1)}
        ... )  # doctest: +SKIP
        >>> ds[1000]["observation"]["image"].shape, ds[1000]["action"].shape  # doctest: +SKIP
        ((2, 256, 256, 3), (8, 7))
        """
        if pad not in ("repeat", "mask"):
            raise InvalidArgumentError(f"Expected pad to be 'repeat' or 'mask' but got {pad!r}.")
        default = {_OBSERVATION: (1 - _positive("history", history), 1), "": (0, _positive("future", future))}
        if spans is not None and not isinstance(spans, Mapping):
            raise InvalidArgumentError(
                f"Expected spans to be a dict such as {{'action': (0, 8)}} but got {spans!r:.60}."
            )
        chosen = _spans(step_leaves(self._steps), default, spans or {})
        return self._dataset(split, chosen, mask=pad == "mask", decode=decode)

    def statistics(self, split: str | EvenSplit, features: Sequence[str] | None = None) -> dict[str, Any]:
        """Compute the statistics by which actions and states are normalised, in one pass that decodes no images.

        Args:
            split: such as "train" or "train[:10%]".
            features: names inside a step, such as "action"; by default those of floats, at most 64 in a step, that are
                `action` or `observation`, or in a dict of that name. Their values are held in memory.

        Returns:
            For each feature a dict of `mean`, `std`, `max`, `min`, `q01` and `q99`, lists of the shape that it has in
            a step; and `num_transitions` and `num_trajectories`, the numbers of steps and of episodes. That is what
            Octo and OpenVLA keep in dataset_statistics.json; `json.dump` writes it.

        Raises:
            InvalidArgumentError: there is no such feature of numbers, or no steps.

        >>> found = tfrkit.rlds.open("bridge/1.0.0").statistics("train")  # doctest: +SKIP
        >>> len(found["action"]["q01"]), found["num_trajectories"]  # doctest: +SKIP
        (7, 25460)
        """
        leaves = {leaf.name: leaf for leaf in step_leaves(self._steps)}
        default = [name for name, leaf in leaves.items() if _is_state(leaf)]
        names = default if features is None else list(features)
        for name in names:
            if name not in leaves or not leaves[name].is_numbers:
                raise InvalidArgumentError(
                    f"There is no feature {name!r} of numbers, one shape for all steps. "
                    f"{near_names(name, [each for each, leaf in leaves.items() if leaf.is_numbers])}"
                )
        if not names:
            raise InvalidArgumentError("There are no actions and states of floats: pass features=[...].")
        ds = self._dataset(split, dict.fromkeys(names, (0, 1)), mask=False, decode=True)
        count = len(ds)
        if not count:
            raise InvalidArgumentError(f"There are no steps in {split!r} of which there could be statistics.")
        parts: dict[str, list[Any]] = {name: [] for name in names}
        for batch in ds.batch(_STEPS_AT_ONCE):
            for name, found in parts.items():
                found.append(reduce(dict.__getitem__, name.split("/") if name else [], batch)[:, 0])
        made: dict[str, Any] = {name: statistics_of(np.concatenate(each)) for name, each in parts.items()}
        episodes = len(self.lengths(split))
        return {**made, "num_transitions": count, "num_trajectories": episodes}

    def _dataset(
        self, split: str | EvenSplit, spans: Mapping[str, Span] | None, *, mask: bool, decode: bool
    ) -> Dataset:
        records = records_of(self.description, split)
        lengths = self._lengths(records)
        if not lengths.all():
            warnings.warn(_named_empty(records, lengths, split), stacklevel=3)
        steps: Any = self._steps if decode else without_decoding(self._steps)
        node = WindowsNode(records, steps, lengths, spans, mask)
        names = leaves_of(steps.feature)
        if mask and not isinstance(names, dict):
            raise InvalidArgumentError(
                "The steps are no dicts, beside whose features a mask could be: pass pad='repeat'."
            )
        if mask and MASK in names:
            raise InvalidArgumentError(f"The steps have a feature named {MASK!r} already: pass pad='repeat'.")
        return Dataset(node)

    def _lengths(self, records: ShardRecordsNode) -> IntArray:
        files = records.input.files
        new = [file for file in files if file not in self._counted]
        if new:
            self._counted.update(count_steps(new, step_leaves(self._steps)))
        counts = [self._counted[file] for file in files]
        records.check_counts([*map(len, counts)])
        return np.concatenate([np.zeros(0, np.int64), *counts])[
            records.order.numbers(np.arange(records.order.size))
        ]


def open(folder: PathLike) -> RldsFolder:  # noqa: A001  # tfrkit.rlds.open
    """Open a data set of episodes: a folder that TensorFlow Datasets made by RLDS, such as those of Open X-Embodiment.

    Args:
        folder: a path or URL of the folder of a version, such as "bridge/1.0.0".

    Raises:
        NotFoundError: there is no such folder, or its examples have no `steps`.
        DataLossError: a file that describes it is damaged.

    >>> robots = tfrkit.rlds.open("bridge/1.0.0")  # doctest: +SKIP
    >>> len(robots.episodes("train")), len(robots.steps("train"))  # doctest: +SKIP
    (25460, 864292)
    """
    return RldsFolder(open_folder(folder))


def _is_state(leaf: StepLeaf) -> bool:
    named = leaf.name.split("/")[0] in (_ACTION, _OBSERVATION)
    return named and leaf.is_numbers and leaf.is_float and max(leaf.each.values()) <= _MOST_NUMBERS


def _positive(name: str, value: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not 1 <= as_integer(name, value) <= _WIDEST:
        raise InvalidArgumentError(f"Expected {name} to be from 1 to {_WIDEST:,} but got {value}.")
    return value


def _is_span(span: Any) -> bool:
    if not isinstance(span, (tuple, list)) or len(span) != 2:
        return False
    first, last = (as_integer("a span", each) for each in span)
    return first < last <= first + _WIDEST and max(abs(first), abs(last)) <= _FARTHEST


def _spans(
    leaves: list[StepLeaf], default: Mapping[str, Span], given: Mapping[str, Span | None]
) -> dict[str, Span]:
    """Return the steps of each feature that is wanted: by the longest of the names that it is of. Pure: no I/O."""
    names = {leaf.name for leaf in leaves}
    for name, span in given.items():
        if not any(f"{each}/".startswith(f"{name}/") for each in names):
            raise InvalidArgumentError(
                f"There is no feature {name!r} in the steps. {near_names(name, sorted(names))}"
            )
        if span is not None and not _is_span(span):
            raise InvalidArgumentError(
                f"Expected the span of {name!r} to be (from, up to), such as (-1, 1), but got {span!r:.60}; "
                f"a window has at most {_WIDEST:,} steps."
            )
    found = {}
    for name in sorted(names):
        parts = name.split("/")
        prefixes = ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]
        span = next((given[each] for each in prefixes if each in given), default.get(parts[0], default[""]))
        if span is not None:
            found[name] = (int(span[0]), int(span[1]))
    if not found:
        raise InvalidArgumentError(
            "Expected a feature that is left in the windows but the spans leave out all."
        )
    return found


def _named_empty(records: ShardRecordsNode, lengths: IntArray, split: Any) -> str:
    empty = np.flatnonzero(lengths == 0)
    numbers = records.order.numbers(empty[:_SHOWN])
    places = [records.input.record_files.locate(int(number)) for number in numbers]
    named = ", ".join(f"record {record} of {path!r}" for path, record in places)
    more = f" and {len(empty) - _SHOWN:,} more" if len(empty) > _SHOWN else ""
    return f"{len(empty):,} episodes of {split!r} have no steps, and so no windows: {named}{more}"
