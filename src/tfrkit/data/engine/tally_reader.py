"""TallyReader: what a rank has used of the samples where stages leave elements out.

A filter, and sources that skip what is damaged, keep tallies while they run. From the elements that were taken, the
tallies lead down to how many elements of its shard a rank has used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tfrkit.data.engine.lookup import samples_of
from tfrkit.data.engine.merge_positions import moved_on
from tfrkit.data.engine.node import Context, Node
from tfrkit.data.engine.tally import Tally
from tfrkit.errors import InvalidArgumentError

__all__ = ["TallyReader", "chain_of", "counts_failures", "notes_times"]


def chain_of(node: Any) -> Iterator[Node]:
    """The stages after the samples that positions count, the last one first."""
    base = samples_of(node)
    while node is not base:
        yield node
        (node,) = node.inputs


def counts_failures(node: Any) -> bool:
    """Whether an element that fails counts as one that was taken: it was made of one sample, which has its number."""
    base: Any = samples_of(node)
    numbered = base.runs_by_number or base.numbers_elements
    chain: list[Any] = list(chain_of(node))
    return (numbered or not (base.inputs or hasattr(base, "paths"))) and all(
        each.used(1) == 1
        or (getattr(each, "shards", 1) > 1 and (each.by_number or _is_first(each, chain[place + 1 :])))
        for place, each in enumerate(chain)
    )


def _is_first(shard: Any, before: list[Any]) -> bool:
    """Whether a shard comes before all of these stages, which it was written after, when it runs."""
    return shard.alone and all(each.takes == 1 or each.is_transparent for each in before)


def notes_times(node: Any) -> bool:
    """Whether each element and error is one of a repeat, so that it is known again in its next time what was taken."""
    chain = list(chain_of(node))
    place = next((place for place, each in enumerate(chain) if each.runs_again), None)
    return (
        place is not None
        and sum(each.runs_again for each in node.stages()) == 1
        and all(each.used(1) == 1 for each in chain[:place])
    )


class TallyReader:
    """Reads the tallies of a pipeline.

    Args:
        node: the pipeline as written.

    Attributes:
        needed: whether a position needs them.
    """

    def __init__(self, node: Node) -> None:
        self._chain = list(chain_of(node))
        self._base = samples_of(node)
        filters = [each for each in self._chain if each.tallies]
        self._numbers = {id(each): len(filters) - place for place, each in enumerate(filters)}
        leaving = next((each for each in node.stages() if each.leaves_out), None)
        self._leaving: Node | None = leaving
        # The stage that runs by number, of those that are left out too.
        self._numbered = None
        if leaving is not None:
            self._numbered = next((each for each in (*self._chain, self._base) if each.runs_by_number), None)
        self.needed = bool(filters) or leaving is not None
        stages: list[Any] = [*self._chain, self._base]
        keeping = [place for place, each in enumerate(stages) if each in filters or each is self._numbered]
        self._above = stages[: max(keeping, default=-1) + 1]  # down to the last stage that keeps a tally

    def used(self, taken: int, tallies: Mapping[int, Tally], *, forget: bool = False) -> int:
        """How many elements were used of the stage before the last one that leaves out some, when so many were taken.

        Args:
            taken: elements that were taken of the last stage.
            tallies: of the pass.
            forget: nobody will ask for fewer.
        """
        count = taken
        for stage in self._above:
            number = 0 if stage is self._numbered else self._numbers.get(id(stage))
            tally = None if number is None else tallies.get(number)
            if tally is not None:
                if forget:
                    tally.forget(count)
                count = tally.used(count)
            else:
                count = stage.used(count) or 0
        return count

    def position(self, start: dict[str, Any], used: int | None) -> dict[str, Any]:
        """The position of this rank, or of all if there is one only.

        Args:
            start: where the pass began, as a position.
            used: what `used` said.

        Raises:
            InvalidArgumentError: a stage prevents it.
        """
        self._check()
        if used is None:
            raise InvalidArgumentError(
                f"There is no position: with {self._cause().label} only the iterator knows how many samples were used."
            )
        rank, ranks, unit = 0, 1, 1
        for stage in self._below():
            shards = getattr(stage, "shards", 1)
            if shards > 1 and ranks > 1:
                raise InvalidArgumentError(
                    f"There is no position: with {self._cause().label} there may be one shard() only."
                )
            if shards > 1:
                rank, ranks = stage.index, shards
            elif ranks > 1:
                unit = stage.used(unit)
            else:
                used, most = stage.used(used) or 0, stage.inputs[0].lookup(Context()).size
                used = used if most < 0 else min(used, most)  # a last batch may not be full
        if ranks == 1:
            return moved_on(start, used)
        return {**start, "rank": rank, "ranks": ranks, "used": used, "unit": unit}

    def _below(self) -> list[Any]:
        """The stages from there on to the samples; that which runs by number is one of them."""
        return self._chain[len(self._above) - (self._above[-1] is self._numbered) :]

    def _cause(self) -> Node:
        return self._leaving or next(each for each in self._chain if each.tallies)

    def _check(self) -> None:
        """Refuse stages that tallies cannot lead through."""
        leaving = self._leaving
        if leaving is not None and (self._numbered is None or leaving not in self._numbered.stages()):
            raise InvalidArgumentError(
                f"There is no position: {leaving.label} may leave out elements. Give them numbers by global_shuffle(), "
                'and put batch() after all that leaves some out; or pass on_corrupt="raise".'
            )
        for each in self._chain:
            if each.runs_again:
                raise InvalidArgumentError(
                    f"There is no position with both {self._cause().label} and {each.label}: ranks would be in "
                    "different epochs. Iterate once for every epoch instead of repeat()."
                )
        for each in self._above[:-1]:
            if getattr(each, "shards", 1) > 1:
                raise InvalidArgumentError(
                    f"There is no position: {each.label} comes after {self._cause().label}. Put shard() before it."
                )
