"""choose_from_datasets and sample_from_datasets: from which of several datasets the next element comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.data.batch.batch import BatchNode
from tfrkit.data.elements.structure import is_nested
from tfrkit.data.elements.structure_specs import merged
from tfrkit.data.engine.cursor import place
from tfrkit.data.engine.node import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Node
from tfrkit.data.engine.steps import Open, Save, Step, StepInput, StepsNode
from tfrkit.data.shuffle.epoch_seeds import SeedGenerator
from tfrkit.data.sources.numbers import RandomNode
from tfrkit.data.stages.map import MapNode
from tfrkit.data.stages.take import TakeNode
from tfrkit.data.stages.zip import ZipNode
from tfrkit.errors import InvalidArgumentError
from tfrkit.values.philox import scrambled_philox
from tfrkit.values.to_array import to_array

__all__ = ["ChooseNode", "make_choose_node", "make_sample_node"]


@dataclass(frozen=True, eq=False)
class ChooseNode(StepsNode):
    """The next element of the dataset whose number comes next.

    Attributes:
        choice: the numbers.
        parts: the datasets.
        stop: end where the chosen one has ended; otherwise that choice is skipped.
    """

    choice: Node
    parts: tuple[Node, ...]
    stop: bool

    verb = "choose_from_datasets"
    unindexable = "Use concatenate(), and global_shuffle() to mix the datasets."

    def steps(self, begin: Open, state: Any) -> tuple[Step, Save]:
        begun = [place(None)] * len(self.parts) if state is None else state["parts"]
        parts: list[StepInput | None] = [
            None if at is None else begin(part, at) for part, at in zip(self.parts, begun, strict=True)
        ]
        choice = begin(self.choice, None if state is None else state["choice"])

        def step() -> Any:
            while any(part is not None for part in parts):
                number = int(next(choice))
                if not 0 <= number < len(parts):
                    raise InvalidArgumentError(f"Selector index out of range: {number} >= {len(parts)}")
                part = parts[number]
                if part is None:
                    continue
                try:
                    return next(part)
                except StopIteration:
                    if self.stop:
                        raise
                    parts[number] = None
            raise StopIteration

        def save() -> Any:
            return {
                "choice": choice.save(),
                "parts": [None if part is None else part.save() for part in parts],
            }

        return step, save

    def element_spec(self) -> Any:
        return _common_spec(self.parts)

    def cardinality(self) -> int:
        """Infinite if one of them is, as TensorFlow has it."""
        endless = any(part.cardinality() == INFINITE_CARDINALITY for part in self.parts)
        return INFINITE_CARDINALITY if endless else UNKNOWN_CARDINALITY


def make_choose_node(parts: Sequence[Node], choice: Node, stop: bool) -> Node:
    """Check the arguments.

    Raises:
        ValueError: there is no dataset.
        TypeError: the choices are not int64 numbers, or the datasets do not go together.
    """
    _check(parts)
    spec = choice.element_spec()
    if is_nested(spec) or spec.dtype != np.int64 or spec.shape not in {(), None}:
        raise TypeError(
            "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are "
            f"{spec}."
        )
    return ChooseNode(choice, tuple(parts), stop)


def make_sample_node(parts: Sequence[Node], weights: Any, seed: int | None, stop: bool, again: bool) -> Node:
    """Check the arguments, and make the node that draws.

    Args:
        parts: the datasets.
        weights: None, numbers, or a node that gives weights.
        seed: of the draws.
        stop: end where the chosen dataset has ended.
        again: other draws in every pass.

    Raises:
        ValueError: there is no dataset, or another number of weights.
        TypeError: the datasets do not go together, or the weights are no floats.
    """
    _check(parts)
    if isinstance(weights, Node):
        choice = MapNode(ZipNode((_pairs(seed, again), weights), (0, 1)), Draw(None), None, None)
        return ChooseNode(choice, tuple(parts), stop)
    shares = np.ones(len(parts), np.float32) if weights is None else to_array(weights)
    if shares.dtype not in {np.dtype(np.float32), np.dtype(np.float64)}:
        raise TypeError(
            "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
            f"<dtype: '{shares.dtype.name}'>."
        )
    if shares.shape != (len(parts),):
        raise ValueError(
            "Invalid `weights`. `weights` should have the same length as `datasets` but got "
            f"`len(weights)={shares.size}` vs. `len(datasets)={len(parts)}`."
        )
    used = [number for number, share in enumerate(shares) if share > 0]
    if not used:
        return TakeNode(parts[0], 0)
    if len(used) == 1:
        return parts[used[0]]
    logits = np.log(shares[used].astype(np.float32))
    choice = MapNode(_pairs(seed, again), Draw(tuple(logits.tolist())), None, None)
    return ChooseNode(choice, tuple(parts[number] for number in used), stop)


def _pairs(seed: int | None, again: bool) -> Node:
    return RandomPairsNode(RandomNode(SeedGenerator.of(seed, again)), 2, True)


@dataclass(frozen=True, eq=False)
class RandomPairsNode(BatchNode):
    """Numbers two by two: the seeds of a draw."""

    verb = "random_pairs"

    def arguments(self) -> tuple[Any, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Draw:
    """Draw the number of a dataset, as TensorFlow's stateless multinomial does; logits may come with the seeds."""

    logits: tuple[float, ...] | None

    def __call__(self, seeds: npt.NDArray[np.int64], weights: Any = None) -> np.int64:
        if self.logits is None:
            with np.errstate(divide="ignore"):
                logits = np.log(np.asarray(weights, np.float32)).astype(np.float64)
        else:
            logits = np.array(self.logits, np.float64)
        finite = np.isfinite(logits)
        shares = np.where(finite, np.exp(logits - logits[finite].max(initial=-np.inf)), 0.0)
        sums = np.cumsum(shares)
        high, low = scrambled_philox(int(seeds[0]), int(seeds[1])).uint32(2).tolist()
        uniform = ((high & 0xFFFFF) << 32 | low) / 2.0**52
        return np.int64(np.searchsorted(sums, uniform * sums[-1], side="right"))


def _check(parts: Sequence[Node]) -> None:
    if not parts:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    if not any(part.opaque for part in parts):
        _common_spec(parts)


def _common_spec(parts: Sequence[Node]) -> Any:
    spec = parts[0].element_spec()
    for number, part in enumerate(parts[1:], 1):
        other = part.element_spec()
        found = merged(spec, other)
        if found is None:
            raise TypeError(
                "Invalid `datasets`. `datasets` must have compatible element specs.\n Dataset 0 "
                f"element_spec={parts[0].element_spec()}.\nDataset {number} element_spec={other}."
            )
        spec = found
    return spec
