"""interleave and flat_map: elements of datasets that a function makes, from several of them in turn.

Here are the node and the order, which is that of TensorFlow: slots are visited round robin, `block` elements a visit; a
dataset that has ended leaves its slot empty until the next visit, which opens the next one. Where all slots are open
and it cannot be observed, whole rounds are put together at once. A slot holds an open dataset, which is made
again of its element to resume from a state.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ObjectChunk, concat, gather
from tfrkit.data.engine.call_each import call_with, name_of
from tfrkit.data.engine.cursor import Cursor, Segment
from tfrkit.data.engine.function_spec import result_spec
from tfrkit.data.engine.node import AUTOTUNE, Context, Node, NodeIterator, Run, UnaryNode
from tfrkit.data.engine.rewrites import keep_order, optimise
from tfrkit.data.stages.prefetch import PrefetchNode
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.policy import TFRKIT
from tfrkit.records.read.open_ahead import OPEN_AHEAD
from tfrkit.threads import default_threads

if TYPE_CHECKING:
    from tfrkit.data.sources.records_source import RecordsNode

__all__ = ["InterleaveNode", "resolve_cycle"]

_LITTLE: Final = 64  # a consumer that asks for less gets it from whole rounds, where that cannot be observed
_AHEAD: Final = 256  # elements of rounds, or of one dataset, that are asked for at once then
_OVER: Final = -1  # in states: of a dataset that could not be made, and whose error was given
_NAMES_AHEAD: Final = 4 * OPEN_AHEAD  # of files, that are looked at together
_CORES_PER_FILE: Final = 3  # cores for each dataset that TensorFlow opens if it may choose


@dataclass(frozen=True, eq=False)
class InterleaveNode(UnaryNode):
    """`cycle` datasets are open (AUTOTUNE: by the cores); `block` elements of each in turn.

    Attributes:
        input: what the datasets are made of.
        function: makes one of an element; a `pure` one of tfrkit's own has an attribute of that name.
        cycle: how many datasets are open.
        block: how many elements are taken at a visit.
        parallel: not None: the datasets are read ahead in threads.
        deterministic: accepted; the order is always kept.
        name: the verb.
    """

    function: Callable[..., Any]
    cycle: int
    block: int
    parallel: int | None
    deterministic: bool | None
    name: str = field(metadata={"unsigned": True})

    counts = True
    keeps_count = False
    makes_datasets = True

    @property
    def verb(self) -> str:
        return self.name

    @property
    def pure(self) -> bool:
        return bool(getattr(self.function, "pure", False)) and self.input.pure

    @property
    def threaded(self) -> bool:
        return self.parallel is not None

    @property
    def unindexable(self) -> str:  # type: ignore[override]  # it depends on what it reads
        if self.opaque:
            return (
                f"Put {self.verb}() after what needs the numbers. Of files, give TFRecordDataset a list; of datasets, "
                "use concatenate()."
            )
        return "Leave num_parallel_reads out, which changes the order, and give the names of the files in a list."

    @property
    def record_source(self) -> RecordsNode | None:
        """The source of the same files, if a dataset is made of each by tfrkit's own function."""
        files, make = self.input.file_names, getattr(self.function, "make", None)
        return None if files is None or make is None else make(files).record_source

    @property
    def opaque(self) -> bool:
        return not getattr(self.function, "pure", False)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _InterleaveIterator(self, context, state)

    def element_spec(self) -> Any:
        """That of the first dataset, or of one that is made for a made-up element."""
        return result_spec(
            self.input, lambda element: _node_of(call_with(self.function, element)).element_spec()
        )

    @property
    def label(self) -> str:
        if self.opaque and self.verb == "interleave":
            return f"interleave({name_of(self.function)}, {self.cycle}, {self.block})"
        if self.opaque:
            return f"{self.verb}({name_of(self.function)})"
        return f"{self.verb}({self.input.label}, {self.cycle} in turn)"

    def resolved_cycle(self) -> int:
        """How many datasets are open, on this machine."""
        if self.cycle != AUTOTUNE:
            return self.cycle
        cores = default_threads()
        if self.parallel is None:
            return cores
        return math.ceil(cores / _CORES_PER_FILE) if self.parallel == AUTOTUNE else min(self.parallel, cores)


def resolve_cycle(cycle: int | None, block: int | None, parallel: int | None) -> tuple[int, int]:
    """Check the arguments as TensorFlow does, and put in the defaults.

    Returns:
        The cycle length, which may be AUTOTUNE, and the block length.

    Raises:
        InvalidArgumentError: one is not positive, or there are more parallel calls than open datasets.

    >>> resolve_cycle(None, None, None), resolve_cycle(4, 2, 3)
    ((-1, 1), (4, 2))
    """
    cycle = AUTOTUNE if cycle is None else cycle
    block = 1 if block is None else block
    if parallel is None:
        for name, value in (("cycle_length", cycle), ("block_length", block)):
            if value < 1 and (name, value) != ("cycle_length", AUTOTUNE):
                raise InvalidArgumentError(f"{name} must be greater than zero.")
        return cycle, block
    if parallel < 1 and parallel != AUTOTUNE:
        raise InvalidArgumentError("num_parallel_calls must be greater than zero.")
    if cycle < 1 and cycle != AUTOTUNE:
        raise InvalidArgumentError(
            f"`cycle_length` must be `tf.data.AUTOTUNE` or greater than 0 but is {cycle}"
        )
    if block < 1:
        raise InvalidArgumentError("`block_length` must be > 0")
    if parallel > cycle != AUTOTUNE:
        raise InvalidArgumentError(
            "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either `tf.data.AUTOTUNE` or a "
            "value less than or equal to `cycle_length`. However, `num_parallel_calls` is "
            f"{parallel} and `cycle_length` is {cycle}"
        )
    return cycle, block


class _InterleaveIterator(NodeIterator):
    def __init__(self, node: InterleaveNode, context: Context, state: Any) -> None:
        self._node = node
        self._context = context
        saved = state or {"slots": [], "slot": 0, "done": 0, "ended": False, "input": None, "given": 0}
        self._cycle = node.resolved_cycle() if state is None else state["cycle"]
        self._slots: list[_OpenDataset | None] = [None] * self._cycle
        self._at = saved["slot"]  # the slot that is visited
        self._done = saved["done"]  # elements taken at this visit
        self._ended = saved["ended"]  # the input is
        self._single = 0  # visits to make before whole rounds are tried again
        self._counts_errors = node.parallel is not None  # TensorFlow's parallel version does
        self._ready: Chunk | None = None  # whole rounds, for a consumer that asks for little
        self._given = 0  # elements of them that were given
        self._before: dict[str, Any] = {}  # where the iterator stood before them
        for number, each in enumerate(saved["slots"]):
            if each is not None:
                self._slots[number] = _OpenDataset.restore(node, context, each)
        # Last: seeds that stages of the input share are then where the input needs them, not where the slots did.
        self._cursor = Cursor(node.input, context, saved["input"])
        left = saved["given"]
        while left and (run := self._collect(left)) is not None:  # no errors: there were none in those rounds
            left -= len(run.chunk)

    def pull(self, n: int) -> Run | None:
        """Return what is ready, or visit slots until there are n elements, or an error."""
        if self._ready is None and n < _LITTLE:
            before = self.save()
            rounds = self._rounds(_AHEAD)
            if rounds is not None:
                self._ready, self._given, self._before = rounds.chunk, 0, before
        if self._ready is None:
            return self._collect(n)
        end = min(len(self._ready), self._given + n)
        part = self._ready.slice(self._given, end)
        self._given = end
        if end == len(self._ready):
            self._ready = None
        return Run(part)

    def _collect(self, n: int) -> Run | None:
        chunks: list[Chunk] = []
        count = 0
        while count < n and (not self._ended or any(self._slots)):
            run = self._rounds(n - count) or self._visit(n - count)
            if run is None:
                continue
            chunks.append(run.chunk)
            count += len(run.chunk)
            if run.error is not None:
                return Run(concat(chunks), run.error)
        return Run(concat(chunks)) if count else None

    def _visit(self, n: int) -> Run | None:
        """Open the slot that is visited, or take from it: None if that gave nothing."""
        slot = self._slots[self._at]
        if slot is None:
            error = None if self._ended else self._open()
            if self._ended:
                self._next_slot()
            return None if error is None else Run(ObjectChunk([]), error)
        run = slot.take(min(n, self._node.block - self._done))
        if run is None:
            slot.close()
            self._slots[self._at] = None
            self._next_slot()
            return None
        self._done += len(run.chunk)
        error = run.error
        if error is not None and self._done == self._node.block:
            slot.put_back(run, len(run.chunk))  # it belongs to the next visit
            error = None
        if error is not None and self._counts_errors:
            self._done += 1
        if self._done == self._node.block:
            self._next_slot()
        return Run(run.chunk, error)

    def _open(self) -> Exception | None:
        """Make the next dataset; an error instead takes the slot in TensorFlow's parallel version."""
        place = self._cursor.save()
        run = self._cursor.take_one()
        if run is None:
            self._ended = True
            return None
        error = run.error
        if error is None:
            name = run.chunk.objects()[0]
            try:
                slot = self._slots[self._at] = _OpenDataset.open(self._node, self._context, place, name)
                if self._node.input.pure:
                    self._open_ahead(name, slot.node)
            except Exception as failure:
                error = failure
            except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
                self._cursor.put_back(run)
                raise
        if error is not None and self._counts_errors:
            self._slots[self._at] = _OpenDataset.failed(place, error)
            return None
        return error

    def _open_ahead(self, name: Any, made: Node | None) -> None:
        """If a dataset is made of the remote file that its element names, begin to open those that come next."""
        while made is not None and len(made.inputs) == 1:
            made = made.inputs[0]
        if (
            not isinstance(name, bytes)
            or b"://" not in name
            or getattr(made, "paths", ()) != (os.fsdecode(name),)
        ):
            return
        run = self._cursor.take(_NAMES_AHEAD)
        if run is not None:
            names = [os.fsdecode(each) for each in run.chunk.objects()[:OPEN_AHEAD]]
            self._cursor.put_back(run)
            self._context.opening.begin(names, cache=getattr(made, "policy", TFRKIT).cache)

    def _next_slot(self) -> None:
        self._done = 0
        self._at = (self._at + 1) % self._cycle

    def _rounds(self, n: int) -> Run | None:
        """Make whole rounds at once, where all slots are open and can be asked for more than is needed."""
        block = self._node.block
        open_slots = [slot for slot in self._slots[self._at :] + self._slots[: self._at] if slot is not None]
        if self._single:
            self._single -= 1
            return None
        if self._done or n < 2 * block * len(open_slots) or not all(slot.pure for slot in open_slots):
            return None
        if not open_slots or (not self._ended and len(open_slots) < self._cycle):
            return None
        rounds = n // (block * len(open_slots))
        runs = [slot.take(rounds * block) for slot in open_slots]
        rounds = min(0 if run is None else len(run.chunk) // block for run in runs)
        for slot, run in zip(open_slots, runs, strict=True):
            if run is not None:
                slot.put_back(run, rounds * block)
        if not rounds:
            self._single = len(open_slots)
            return None
        parts = [run.chunk for run in runs if run is not None]
        which = np.tile(np.repeat(np.arange(len(parts)), block), rounds)
        rows = np.arange(rounds * block).reshape(rounds, 1, block).repeat(len(parts), axis=1).ravel()
        return Run(gather(parts, which, rows))

    def save(self) -> Any:
        """Where the input stands, the open datasets, which of them is visited, and what was given of later rounds."""
        if self._ready is not None:
            return {**self._before, "given": self._given}
        return {
            "input": self._cursor.save(),
            "slots": [None if slot is None else slot.save() for slot in self._slots],
            "slot": self._at,
            "done": self._done,
            "ended": self._ended,
            "cycle": self._cycle,
            "given": 0,
        }

    def close(self) -> None:
        for slot in self._slots:
            if slot is not None:
                slot.close()
        self._slots = [None] * self._cycle
        self._ended, self._ready = True, None
        self._cursor.close()


def _node_of(made: Any) -> Node:
    """The node of the dataset that a user's function made.

    Raises:
        TypeError: it is not a dataset.
    """
    node = getattr(made, "node", None)
    if not isinstance(node, Node):
        raise TypeError(f"`map_func` must return a `Dataset` object. Got {type(made)}.")
    return node


class _OpenDataset:
    """An open dataset, and the place of the element that it was made of.

    Attributes:
        pure: how far ahead it is read cannot be observed.
        node: what the function made; None if it failed.
    """

    __slots__ = ("_box", "_error", "_place", "node", "pure")

    def __init__(
        self, place: Any, box: Cursor | None, error: Exception | None, *, pure: bool, node: Node | None = None
    ) -> None:
        self._place = place
        self._box = box
        self._error = error  # in the place of a dataset that could not be made
        self.pure = pure
        self.node = node

    @classmethod
    def open(
        cls, node: InterleaveNode, context: Context, place: Any, element: Any, state: Any = None
    ) -> _OpenDataset:
        """Call the function, and start or resume what it makes.

        Raises:
            Exception: that of the function.
        """
        made = named = optimise(keep_order(_node_of(call_with(node.function, element)), free=False))
        pure = made.pure
        if node.parallel is not None and not getattr(made, "reads_ahead", False):
            made = PrefetchNode(made, AUTOTUNE)
        return cls(place, Cursor(made, context, state), None, pure=pure, node=named)

    @classmethod
    def failed(cls, place: Any, error: Exception) -> _OpenDataset:
        """An error in place of a dataset, and then its end."""
        return cls(place, None, error, pure=False)

    @classmethod
    def restore(cls, node: InterleaveNode, context: Context, saved: Any) -> _OpenDataset:
        """Make the dataset again of the same element, and resume it.

        Raises:
            Exception: the input or the function fails where it did not fail before.
        """
        if saved["at"] == _OVER:
            return cls(saved["of"], None, None, pure=False)
        cursor = Cursor(node.input, context, saved["of"])
        try:
            run = cursor.take_one()
        finally:
            cursor.close()
        if run is None or run.error is not None:
            error = None if run is None else run.error
            return cls.failed(saved["of"], error or RuntimeError("the element of a dataset has gone"))
        try:
            return cls.open(node, context, saved["of"], run.chunk.objects()[0], saved["at"])
        except Exception as failure:
            if saved["at"] is not None:
                raise
            return cls.failed(saved["of"], failure)

    def take(self, n: int) -> Segment | None:
        """Return at most n elements."""
        if self._box is None:
            error, self._error = self._error, None
            return None if error is None else Segment(ObjectChunk([]), error)
        return self._box.take(n, _AHEAD if self.pure else 0)

    def put_back(self, run: Segment, used: int) -> None:
        """Put back the run that was taken last, except its first elements, and its error."""
        if self._box is not None:
            self._box.put_back(run, used)

    def save(self) -> Any:
        """The element that it was made of, and where it stands: None if it could not be made, -1 if that was said."""
        at = self._box.save() if self._box is not None else None if self._error is not None else _OVER
        return {"of": self._place, "at": at}

    def close(self) -> None:
        """Close the dataset."""
        if self._box is not None:
            self._box.close()
