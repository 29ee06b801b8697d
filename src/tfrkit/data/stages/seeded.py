"""Seeds for users' functions: one for each sample and epoch, the same on any number of ranks, workers and threads."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ObjectChunk
from tfrkit.data.elements.origin import Origin
from tfrkit.data.engine.chunk_node import ChunkFunction, ChunkNode
from tfrkit.data.engine.lookup import Found, Lookup, LookupOver, MadeLookup
from tfrkit.data.engine.node import Context, Node
from tfrkit.data.shuffle.epoch_seeds import GlobalSeed
from tfrkit.data.shuffle.global_shuffle import given_seed
from tfrkit.data.stages.sample_names import SampleNames, with_rows_counted
from tfrkit.errors import FailedPreconditionError, InvalidArgumentError
from tfrkit.model.element_spec import TensorSpec
from tfrkit.model.row_selection import IntArray

__all__ = ["SeededNode", "check_common_seeds", "make_seeded_node", "sample_seeds"]

_MASK: Final = np.uint64(0xFFFFFFFF)
_NO_NUMBER: Final = (
    "map(seeded=True): it is not known which sample an element is: it was put together of several, or its source does "
    "not number them, as files of records, ranges and slices do. Put map(seeded=True) before batch(), zip() and "
    "enumerate(), and before what makes datasets by a function."
)


@dataclass(frozen=True, eq=False)
class SeededNode(ChunkNode):
    """Every element with a seed as one more argument of the function that follows.

    Attributes:
        seed: that is mixed with those of the samples.
        names: what samples are known by.
        epoch: of the pass.
    """

    seed: GlobalSeed
    names: SampleNames = field(metadata={"unsigned": True})
    epoch: int = field(default=0, metadata={"unsigned": True})

    verb = "seeded"
    wants_origin = True  # a sample is known by it
    chunkwise = False
    varies = True

    def at_epoch(self, epoch: int) -> Node:
        return dataclasses.replace(self, input=self.input.at_epoch(epoch), epoch=epoch)

    def chunk_function(self, context: Context) -> ChunkFunction:
        return functools.partial(_with_seeds, self.seed.value, self.epoch, self.names)

    def lookup_over(self, inner: Lookup, context: Context) -> Lookup:
        return _SeededLookup(inner, self.seed, self.names)

    def element_spec(self) -> Any:
        spec = self.input.element_spec()
        return (*_as_tuple(spec), TensorSpec((2,), np.dtype(np.int64)))


class _SeededLookup(LookupOver):
    def __init__(self, inner: Lookup, seed: GlobalSeed, names: SampleNames) -> None:
        super().__init__(inner)
        self._seed, self._names = seed, names

    def at(self, numbers: IntArray, epoch: int) -> Found:
        # The seed of a position that the dataset resumed from may have taken the place of a drawn one.
        function = functools.partial(_with_seeds, self._seed.value, epoch, self._names)
        return MadeLookup(self.inner, function).at(numbers, epoch)


def make_seeded_node(input: Node, seed: int | None) -> Node:
    """Check where it stands. Without a seed it has that of the last global shuffle before it which was given one.

    Raises:
        InvalidArgumentError: a repeat comes before it, whose passes it could not tell apart; or a shard, and every
            process would draw another seed.
    """
    repeats = next((each for each in input.stages() if each.runs_again), None)
    if repeats is not None:
        raise InvalidArgumentError(
            f"map(seeded=True) after {repeats.label} would give a sample the same seed every time. Put repeat() after "
            "it."
        )
    common = given_seed(input) if seed is None else None
    counted, _ = with_rows_counted(input)
    own = GlobalSeed.of_user(seed) if common is None else GlobalSeed.derived_from(common)
    made = SeededNode(counted, own, SampleNames.before(input))
    shard = next((each for each in input.stages() if getattr(each, "shards", 1) > 1), None)
    if shard is not None:
        check_common_seeds(made, f"map(seeded=True) after {shard.label}")
    return made


def check_common_seeds(node: Node, what: str) -> None:
    """Refuse seeds of functions that every process draws for itself.

    Args:
        node: a pipeline that is divided among processes.
        what: where they are, for the text.

    Raises:
        InvalidArgumentError: there is one.
    """
    if any(isinstance(each, SeededNode) and not each.seed.is_common for each in node.stages()):
        raise InvalidArgumentError(
            f"{what}: without a seed every process would draw another, and samples would change with the number of "
            "ranks. Give map() a seed, the same everywhere, or global_shuffle() before it."
        )


def _with_seeds(seed: int, epoch: int, names: SampleNames, chunk: Chunk) -> tuple[Chunk, Exception | None]:
    origin = chunk.origin
    if origin is None or (names.only_files and None in origin.paths):
        return ObjectChunk([]), FailedPreconditionError(_NO_NUMBER)
    seeds = list(sample_seeds(seed, epoch, origin, names))
    items = [(*_as_tuple(item), each) for item, each in zip(chunk.objects(), seeds, strict=True)]
    return ObjectChunk(items, origin), None


def _as_tuple(element: Any) -> tuple[Any, ...]:
    return element if type(element) is tuple else (element,)


def sample_seeds(seed: int, epoch: int, origin: Origin, names: SampleNames) -> Any:
    """Return two numbers of 32 bits for each sample, as int64: a seed for numpy and for stateless random operations."""
    numbers = [_file_number(names.of(path)) for path in origin.paths]
    files = np.array(numbers, np.uint64)[origin.files]
    mixed = _mix(
        _mix(_mix(np.uint64(seed % 2**64) ^ _mix(np.uint64(epoch))) + files)
        + origin.records.astype(np.uint64)
    )
    return np.stack([mixed >> np.uint64(32), mixed & _MASK], axis=1).astype(np.int64)


@functools.lru_cache(maxsize=65536)
def _file_number(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(os.fsencode(name), digest_size=8).digest(), "little")


def _mix(value: Any) -> Any:
    """The finaliser of splitmix64."""
    with np.errstate(over="ignore"):
        value = value + np.uint64(0x9E3779B97F4A7C15)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return value ^ (value >> np.uint64(31))
