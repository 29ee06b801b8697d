"""Positions: where an epoch stands, for any number of ranks, workers and threads, and any size of batches.

The samples of an epoch have an order, which is computed. When all ranks have taken equally many elements, what they
have had together is the beginning of that order: its length is the position, and the rest of the order is divided anew.
Stages between the samples and the user say how many elements they use of their input (`Node.used`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.engine.fetch_node import NumberedNode
from tfrkit.data.engine.fingerprint import fingerprint
from tfrkit.data.engine.lookup import Lookup, Renumbered, require_lookup, samples_of
from tfrkit.data.engine.merge_positions import moved_on, numbers_after
from tfrkit.data.engine.node import Context, Node
from tfrkit.data.engine.position_form import VERSION, check_form, is_of_one_rank
from tfrkit.data.engine.rewrites import keep_order
from tfrkit.data.engine.state import files_of
from tfrkit.data.engine.tally_reader import TallyReader, chain_of
from tfrkit.data.shuffle.epoch_seeds import check_seeds, seeds_of
from tfrkit.errors import InvalidArgumentError

__all__ = ["PositionKeeper"]


@dataclass(frozen=True, eq=False)
class ResumedNode(NumberedNode):
    """The samples of an epoch without the first ones, which all ranks together have had.

    Attributes:
        first: how many those are.
        left: the numbers of some of them that were not used; they come before the others.
        epoch: of the pass.
    """

    first: int
    left: tuple[int, ...] = ()
    epoch: int = 0

    verb = ""  # where a pipeline stands is no part of what it is
    unindexable = ""
    numbers_elements = True
    runs_by_number = True
    selects = True

    @property
    def resumed(self) -> bool:
        return True

    def lookup(self, context: Context) -> Lookup:
        inner, left = self.input.lookup(context), np.array(self.left, np.int64)
        size = inner.size if inner.size < 0 else len(left) + max(0, inner.size - self.first)
        return Renumbered(inner, size, lambda places: numbers_after(left, self.first, places))

    @property
    def label(self) -> str:
        return f"resumed after {self.first - len(self.left)} samples"


class PositionKeeper:
    """Writes the positions of one iterator, and finds the pipeline that resumes from one.

    Args:
        node: the pipeline as written.

    Raises:
        InvalidArgumentError: it can have no position; the text names the stage.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._base = samples_of(node)
        self._repeat: Any = None
        self._fixed: int | None = None  # the epoch, if the user has chosen it
        varying = False  # a stage after this one
        for each in chain_of(node):
            again, fixed = each.runs_again, each.fixed_epoch
            if self._repeat is not None and (again or fixed is not None):
                raise InvalidArgumentError(
                    f"There is no position after {self._repeat.label} of {each.label}. Let one repeat() be the last of "
                    "such stages."
                )
            if varying and fixed is not None:
                raise InvalidArgumentError(
                    f"There is no position: map(seeded=True) after {each.label} is in another epoch than its samples. "
                    "Put epoch() after it."
                )
            varying = varying or each.varies
            self._repeat = each if again else self._repeat
            self._fixed = self._fixed if fixed is None else fixed
        try:
            require_lookup(self._base)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"There is no position: {error.message}") from None
        self._check_undivided()

    def _check_undivided(self) -> None:
        """Refuse samples of one rank: how many there are of the others, and which, is not known."""
        shard = next((each for each in self._base.stages() if getattr(each, "shards", 1) > 1), None)
        if shard is not None:
            raise InvalidArgumentError(
                f"There is no position: {self._base.label} comes after {shard.label}, so that only samples of this "
                "rank can be counted. Put shard() after it."
            )

    def write(
        self, context: Context, passed: tuple[int, int, int | None], files: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Make the position when every rank has taken so many elements of a pass.

        Args:
            context: of the pipeline.
            passed: the epoch, the elements of it that were taken, and what `TallyReader.used` says of them.
            files: what `files_of` says.

        Raises:
            InvalidArgumentError: what was taken may not be the beginning of the order.
        """
        self._check_order(context)
        epoch, taken, used = passed
        epoch = epoch if self._fixed is None else self._fixed
        base: Any = self._base.inputs[0] if isinstance(self._base, ResumedNode) else self._base
        common = {
            "size": base.lookup(context).size,
            "order": fingerprint(base),
            "seed": seeds_of(self._node),
            "files": files["all"],
        }
        reader = TallyReader(self._node)
        if reader.needed:
            begun = _start(self._base, epoch) | common
            return reader.position(begun, used)
        time, stage, count = self._passed(self._node, taken, context)
        if self._repeat is not None:
            epoch = self._repeat.epoch_of(time, epoch)
        return moved_on(_start(stage, epoch) | common, count)

    def taken_at(self, context: Context, time: int, count: int) -> int:
        """How many elements a rank takes if none fails: of so many times through a repeat, and so many of the next."""
        if time == self._repeat.done:
            return count
        first = _sizes(self._repeat.first or self._repeat.input, context)[1]
        whole = _sizes(self._repeat.input, context)[1]
        taken: int = first + (time - self._repeat.done - 1) * whole + count
        return taken

    def _check_order(self, context: Context) -> None:
        """Refuse stages whose elements come in no order."""
        for each in keep_order(self._node).stages():
            if each.unordered(context):
                raise InvalidArgumentError(
                    f"There is no position: {each.label} keeps no order. Pass deterministic=True."
                )

    def _passed(self, node: Any, count: int, context: Context) -> tuple[int, Node, int]:
        """How often a repeat was through, what it runs, and how much of that all ranks together have had then."""
        if node.used(0) is None:
            return 0, node, count
        if not node.runs_again:
            inner, count = node.inputs[0], node.used(count)
            # More than there is counts as all: of a last batch that is not full, or of ranks that have less.
            most = _of_rank(inner, last=False).lookup(context).size
            return self._passed(inner, count if most < 0 else min(count, most), context)
        stage, time, count = self._through(node, count, context)
        return time, *self._passed(stage, count, context)[1:]

    def _through(self, node: Any, count: int, context: Context) -> tuple[Any, int, int]:
        """What a repeat runs when every rank has taken so many elements of it, for which time, and how many of that."""
        stage, time = node.first or node.input, node.done
        sizes, whole = (_sizes(each, context) for each in (stage, node.input))
        if node.count in (0, time + 1) or max(whole) <= 0:  # it is not, or there is no end to it
            return stage, time, count
        if node.count > 0 and count >= max(sizes) + (node.count - 1 - time) * max(whole):  # all is over
            return node.input, node.count - 1, max(whole)
        if self._within(node, count, sizes):
            return stage, time, count
        time, count = time + 1, count - max(sizes)
        if time + 1 == node.count or self._within(node, count, whole):
            return node.input, time, count
        more, count = divmod(count, max(whole))
        return node.input, time + more, count

    def _within(self, node: Any, count: int, sizes: tuple[int, int]) -> bool:
        """Whether all ranks are still in an epoch of which they have so many elements at least, and at most."""
        least, most = sizes
        if least < count and least < most:
            shard = next(each for each in node.input.stages() if hasattr(each, "shards"))
            raise InvalidArgumentError(
                f"There is no position: of {shard.label} before {node.label} the ranks have {least} to {most} elements "
                "of an epoch, so that some are in the next one already. Put repeat() before shard(), or pass tail=."
            )
        return count < most

    def resume(self, position: Mapping[str, Any], context: Context) -> tuple[Node, int]:
        """Return the pipeline that resumes from a position, and the epoch to run it in. Its seeds stay as they are.

        Raises:
            InvalidArgumentError: the position is of other data, or of another seed.
        """
        self._check(position, context)
        epoch = int(position["epoch"])
        epoch, time = (epoch, 0) if self._repeat is None else self._repeat.times_of(epoch)
        if self._fixed is not None and epoch != self._fixed:
            raise InvalidArgumentError(
                f"the position is of another epoch: expected epoch {epoch} but the dataset is that of epoch "
                f"{self._fixed}. Resume without epoch(), or with that one."
            )
        return self._resumed(self._node, position, time), epoch

    def _resumed(self, node: Any, position: Mapping[str, Any], time: int) -> Node:
        if node is self._base:
            return ResumedNode(node, int(position["samples"]), tuple(position.get("left", ())))
        inner = self._resumed(node.inputs[0], position, time)
        if node.runs_again:
            node = dataclasses.replace(node, first=inner, done=time)
            inner = node.inputs[0]
        elif getattr(node, "tail", "") == "repeat":
            node = dataclasses.replace(node, beginning=node.inputs[0])
        made: Node = node.with_inputs((inner,))
        return made

    def _check(self, position: Mapping[str, Any], context: Context) -> None:
        check_form(position)
        if is_of_one_rank(position):
            raise InvalidArgumentError(
                f"the position is that of rank {position['rank']} of {position.get('ranks')} alone, and others may "
                "have used more samples, or fewer. Give tfr.merge_positions() those of all ranks, and resume from what "
                "it returns."
            )
        size = self._base.lookup(context).size
        files = files_of(self._node)["all"]
        if position["files"] != files or position["size"] != size:
            raise InvalidArgumentError(
                f"the position is of other data: expected {position['size']} samples of the files {position['files']} "
                f"but got {size} of {files}. Resume with the same files, or start the epoch over."
            )
        check_seeds(self._node, position["seed"])
        if position["order"] != fingerprint(self._base):
            raise InvalidArgumentError(
                f"the position is of other samples: those of {self._base.label} and the stages before it are not the "
                "ones that were counted. Keep these stages and their arguments, or start the epoch over."
            )


def _start(base: Any, epoch: int) -> dict[str, Any]:
    """Where a pass began: at the beginning of the epoch, or where it resumed."""
    found = {"position": VERSION, "epoch": epoch, "samples": 0}
    if isinstance(base, ResumedNode):
        return found | {"samples": base.first} | ({"left": list(base.left)} if base.left else {})
    return found


def _sizes(node: Any, context: Context) -> tuple[int, int]:
    """How many elements of a pipeline the rank with the fewest has, and that with the most."""
    least, most = (_of_rank(node, last).lookup(context).size for last in (True, False))
    return least, most


def _of_rank(node: Any, last: bool) -> Any:
    """The pipeline of the last rank, or of the first, down to the samples."""
    if node.used(0) is None:
        return node
    made = node.with_inputs((_of_rank(node.inputs[0], last),))
    if made.runs_again and made.first is not None:
        made = dataclasses.replace(made, first=_of_rank(made.first, last))
    return (
        dataclasses.replace(made, index=made.shards - 1 if last else 0) if hasattr(made, "shards") else made
    )
