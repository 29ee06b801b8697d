"""shuffle: elements in TensorFlow's random order, perhaps again and again.

Here is decided when the buffer is filled, when an element is drawn, and what happens at the end of an epoch; the
elements are in a store, which their first chunk chooses. As in TensorFlow, a shuffle that is repeated is one stage:
epochs are not mixed, but the buffer already fills with the next one while the rest of the last is given out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk, RecordChunk
from tfrkit.data.engine.node import UNKNOWN_CARDINALITY, Context, Node, NodeIterator, Run, UnaryNode
from tfrkit.data.shuffle.chunk_store import ChunkStore
from tfrkit.data.shuffle.epoch_seeds import SeedGenerator, find_seeds
from tfrkit.data.shuffle.object_buffer import ObjectBuffer
from tfrkit.data.shuffle.record_store import RecordStore
from tfrkit.data.shuffle.shuffle_state import (
    Epoch,
    Mark,
    Marks,
    columns_of,
    list_numbers,
    list_places,
    read_again,
)
from tfrkit.data.stages.repeat import RepeatNode, repeated_count
from tfrkit.records.read.position import Places

__all__ = ["ShuffleIterator", "ShuffleNode"]

_MAX_EPOCHS: Final = 3  # TensorFlow fills no further when there are more in the buffer
_NO_LIMIT: Final = 1 << 62
_SNAPSHOT_OUTPUTS: Final = 1 << 14  # at least, between two snapshots of the buffer
# How much is asked of the input at once: as many elements as have this many bytes together, more for a large buffer.
_RUN_BYTES: Final = 1 << 20
_MOST_RUN_BYTES: Final = 1 << 21
_RUN_PART: Final = 16  # of the buffer
_FIRST_RUN: Final = 256
# By the first chunk that comes. What a store of one kind is given later of another, it makes its own.
_STORES: Final[dict[type[Chunk], Callable[[], Any]]] = {
    RecordChunk: RecordStore,
    ColumnChunk: ChunkStore,
    ObjectChunk: ObjectBuffer,
}


@dataclass(frozen=True, eq=False)
class ShuffleNode(UnaryNode):
    """A buffer of `size` elements, of which a random one is given.

    Attributes:
        size: of the buffer; UNKNOWN_CARDINALITY for all of the input.
        seeds: shared by all iterators.
        repeats: how many times the input is gone through; for ever if that is negative.
    """

    size: int
    seeds: SeedGenerator
    repeats: int = 1

    verb = "shuffle"
    unindexable = "Use global_shuffle() instead of shuffle()."
    counts = True
    reorders = True

    @property
    def input_passes(self) -> int:
        return max(1, self.repeats)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return ShuffleIterator(self, context, state)

    def cardinality(self) -> int:
        return repeated_count(self.input.cardinality(), self.repeats)

    def repeated(self, count: int) -> Node:
        """A shuffle repeats by itself, once."""
        if self.repeats == 1 and count not in (0, 1):
            return replace(self, repeats=count)
        return RepeatNode(self, count)

    @property
    def label(self) -> str:
        again = "" if self.repeats == 1 else f".repeat({'' if self.repeats < 0 else self.repeats})"
        return f"shuffle({self.size}){again}"


@dataclass(slots=True)
class _Pulled:
    """A run of the input on its way into the buffer."""

    count: int  # elements
    error: Exception | None  # after them
    state: Any  # of the input before them,
    before: int = 0  # and how many that were used already come first
    used: int = 0


class ShuffleIterator(NodeIterator):
    """A shuffle at work."""

    def __init__(self, node: ShuffleNode, context: Context, state: Any = None) -> None:
        self._node = node
        self._context = context
        self._source = node.input.record_source
        self._store: Any = ObjectBuffer()  # until there are elements
        self._came = 0  # elements into the store, in all
        self._marks = Marks()
        self._placed = False  # records were read again by their places, and have no numbers
        self._chosen = False
        self._input: NodeIterator | None = None
        self._pure = node.input.pure
        self._run: _Pulled | None = None
        self._limit = _FIRST_RUN  # elements to ask for at once
        self._epochs: deque[Epoch] = deque()  # in the buffer
        self._begun = 0  # epochs, in all
        self._capacity: int | None = None  # of a buffer for whole epochs
        self._ended = False
        self._last: Any = None  # what the input said at its last end
        self._base: dict[str, Any] | None = None  # from which a state counts
        self._outputs = 0  # since the base
        self._errors = 0
        self._mute = 0  # errors that were given out before the state was saved
        self._due: list[Exception] = []  # errors to give out next
        self._failed = False  # there were errors
        if state is None:
            self._seed(node.seeds.draw())
        else:
            self._restore(state)

    # ---- elements

    def pull(self, n: int) -> Run | None:
        """Fill the buffer and draw; then every element that is drawn makes room for one of the input."""
        if self._due:
            self._errors += 1
            return Run(ObjectChunk([]), self._due.pop(0))
        if self._ended:
            return None
        if self._outputs >= max(_SNAPSHOT_OUTPUTS, len(self._store)):
            self._snapshot()
        found: Run | None = None
        while found is None:
            if self._may_fill() and self._room() > 0:
                if self._run is not None or self._ask(n):
                    found = self._feed(n)
            elif len(self._store):
                self._turn()
                # After one draw there may be room again, which is filled first.
                count = min(1 if self._may_fill() else n, self._epochs[0].count)
                found = Run(self._store.draw(count, self._epochs[0].count))
                self._epochs[0].count -= count
                self._numbers += count
            else:
                self._ended = True
                return None
        self._outputs += len(found.chunk)
        self._errors += found.error is not None
        return found

    def _may_fill(self) -> bool:
        """Whether the buffer is to be filled before the next draw, if there is room."""
        if self._input is None and self._begun == self._node.repeats:
            return False
        return len(self._epochs) <= _MAX_EPOCHS or not len(self._store)

    def _room(self) -> int:
        """How many more elements the buffer may have."""
        count = len(self._store)
        if self._node.size != UNKNOWN_CARDINALITY:
            return self._node.size - count
        # No limit as long as the epoch that is drawn from next is not complete.
        filling = self._input is not None and self._epochs[-1].count == count
        return (_NO_LIMIT if filling or self._capacity is None else self._capacity) - count

    def _ask(self, n: int) -> bool:
        """Pull a run of the input; False if there is none, because an epoch has ended."""
        if self._input is None:
            self._begin_epoch()
        assert self._input is not None
        # What n outputs surely need, or more if that cannot be observed.
        need = 1 if len(self._epochs) > _MAX_EPOCHS else self._room() + n - 1
        state = self._input.save()
        run = self._input.pull(min(self._limit, max(need, self._limit) if self._pure else need))
        if run is None:
            self._end_epoch()
            return False
        self._marks.add(Mark(self._came, self._epochs[-1].number, state))
        count = len(run.chunk)
        if count:
            if not self._chosen:
                self._choose_store(run.chunk)
            each = self._store.hold(run.chunk, np.arange(self._came, self._came + count))
            size = min(_MOST_RUN_BYTES, max(_RUN_BYTES, self._store.live_bytes // _RUN_PART))
            self._limit = max(1, min(size // each, 4 * self._limit))
        self._run = _Pulled(count, run.error, state)
        return True

    def _choose_store(self, chunk: Chunk) -> None:
        """Begin the store for such elements, the first ones."""
        self._chosen = True
        for kind, store in _STORES.items():
            if isinstance(chunk, kind):
                self._store = store()
        self._store.reseed(*self._seeds, self._numbers)

    def _feed(self, n: int) -> Run | None:
        """Put elements of the pulled run into the buffer, and draw as soon as it is full."""
        run, store, last = self._run, self._store, self._epochs[-1]
        assert run is not None
        one = len(self._epochs) > _MAX_EPOCHS
        left, room = run.count - run.used, self._room() - 1
        filled = min(left, room, 1 if one else left)
        if filled > 0:
            store.append(filled)
            self._count(run, last, filled)
            left -= filled
        chunk: Chunk | None = None
        if left and filled == room:
            self._turn()
            window = 0 if len(self._epochs) == 1 else self._epochs[0].count
            count = min(left, n, window or n, 1 if one else n)
            chunk = store.draw(count, window, exchange=True)
            self._count(run, last, count)
            self._epochs[0].count -= count
            self._numbers += count
        # An error comes when the buffer would be filled from there, which may not be before some draws.
        fed = filled > 0 or chunk is not None
        wanted = run.error is None or not fed or (self._may_fill() and self._room() > 0)
        done = run.used == run.count and wanted
        error: Exception | None = None
        if done:
            self._run, error = None, run.error
        if error is not None:
            self._failed = True
            last.errors += 1
            if self._mute:
                self._mute, error = self._mute - 1, None
        if chunk is None and error is None:
            return None
        return Run(ObjectChunk([]) if chunk is None else chunk, error)

    def _count(self, run: _Pulled, epoch: Epoch, count: int) -> None:
        run.used += count
        self._came += count
        epoch.count += count
        epoch.pulled += count

    # ---- epochs

    def _seed(self, seeds: tuple[int, int], drawn: int = 0) -> None:
        self._seeds, self._numbers = seeds, drawn
        self._store.reseed(*seeds, drawn)

    def _begin_epoch(self) -> None:
        """Begin the input, for the first time or again."""
        self._input = self._node.input.begin(self._context)
        self._epochs.append(Epoch(self._begun, self._input.save()))
        self._begun += 1
        if self._base is None:
            self._rebase()

    def _end_epoch(self) -> None:
        assert self._input is not None
        self._last = self._input.save()
        self._input.close()
        self._input = None
        self._capacity = max(len(self._store), self._capacity or 0)
        if self._node.repeats < 0 and not self._epochs[-1].pulled:
            self._begun = self._node.repeats  # else it would look for a first element for ever

    def _turn(self) -> None:
        """Go to the next epoch if the first one in the buffer is given out."""
        while len(self._epochs) > 1 and not self._epochs[0].count:
            self._epochs.popleft()
            self._seed(self._node.seeds.draw())
            if self._begins_alike():
                self._rebase()

    # ---- state

    def _begins_alike(self) -> bool:
        """Whether beginning at the present epoch would pull as much of the input as is pulled now.

        If not, an error would come earlier. Where there are none, the order is the same in any case.
        """
        if not self._failed or self._room() <= 1:
            return True
        return self._input is None and self._begun == self._node.repeats and len(self._epochs) <= _MAX_EPOCHS

    def _rebase(self) -> None:
        """Remember the beginning of the present epoch."""
        epoch = self._epochs[0]
        self._base = self._new_base(0, [Epoch(epoch.number, epoch.start)], {"at": epoch.start, "skip": 0})
        self._marks.oldest(self._came - len(self._store))
        self._outputs = 0
        self._errors = sum(each.errors for each in self._epochs)

    def _snapshot(self) -> None:
        """Remember what is in the buffer, if that can be had again."""
        if self._mute or not len(self._store):
            return
        elements = None
        if self._source is not None and isinstance(self._store, RecordStore):
            elements = list_places(self._store, self._source)
        if elements is None and not self._placed:
            elements = list_numbers(self._store.numbers(), self._marks, self._came, self._node.input)
        if elements is None:
            return
        self._base = self._new_base(self._numbers, list(self._epochs), self._save_input(), elements)
        self._outputs = self._errors = 0

    def _new_base(self, drawn: int, epochs: list[Epoch], at: Any, elements: Any = None) -> dict[str, Any]:
        """A point from which a shuffle can resume.

        Args:
            drawn: random numbers used in the present epoch.
            epochs: those in the buffer, the present one first.
            at: where the input stands, and how many elements to drop there; None between two epochs.
            elements: what is in the buffer; None if that is nothing.
        """
        return {
            "seeds": list(self._seeds),
            "drawn": drawn,
            "generator": self._node.seeds.save(),
            "epochs": [epoch.save() for epoch in epochs],
            "input": at,
            "elements": elements,
            "capacity": self._capacity
            if elements is not None
            else None,  # of a buffer that takes a whole epoch
        }

    def _save_input(self) -> dict[str, Any] | None:
        if self._input is None:
            return None
        if self._run is None:
            return {"at": self._input.save(), "skip": 0}
        return {"at": self._run.state, "skip": self._run.before + self._run.used}

    def save(self) -> Any:
        """The last base, and what has come out since."""
        if self._ended:
            return {"ended": self._last, "generator": self._node.seeds.save()}
        if self._base is None:
            # The input begins with the first element, not because its position is asked for.
            generators = [each.save() for each in find_seeds(self._node)]
            return {"unbegun": list(self._seeds), "generators": generators}
        return {"base": self._base, "outputs": self._outputs, "errors": self._errors}

    def _restore(self, state: Any) -> None:
        node = self._node
        if "unbegun" in state:
            for each, saved in zip(find_seeds(node), state["generators"], strict=True):
                each.restore(saved)
            seed, seed2 = state["unbegun"]
            self._seed((seed, seed2))
            return
        if "ended" in state:
            self._ended, self._last = True, state["ended"]
            node.seeds.restore(state["generator"])
            node.input.begin(
                self._context, self._last
            ).close()  # shuffles before this one remember seeds, too
            return
        base = self._base = state["base"]
        node.seeds.restore(base["generator"])
        seed, seed2 = base["seeds"]
        self._seed((seed, seed2), base["drawn"])
        self._epochs.extend(Epoch(*each) for each in base["epochs"])
        self._begun = self._epochs[-1].number + 1
        self._capacity = base["capacity"]
        if base["elements"] is not None:
            self._fetch(base["elements"])
        if base["input"] is not None:
            at, skip = base["input"]["at"], base["input"]["skip"]
            self._input = node.input.begin(self._context, at)
            self._marks.add(Mark(self._came - skip, self._epochs[-1].number, at))
            for error in _drop(self._input, skip):  # one at most, after the last
                self._run = _Pulled(0, error, at, skip)
        self._mute = state["errors"]
        self._failed = self._mute > 0 or any(epoch.errors for epoch in self._epochs)
        self._due = _drop(self, state["outputs"])
        self._errors = state["errors"]

    def _fetch(self, elements: Any) -> None:
        """Read the buffer's elements again."""
        if "read" in elements:
            starts = {epoch.number: epoch.start for epoch in self._epochs}
            chunk, numbers = (
                read_again(elements, self._node.input, self._context, starts),
                columns_of(elements)[0],
            )
            self._marks.add(Mark(0, elements["epoch"], elements["from"]))
            self._came = elements["read"]
        else:
            assert self._source is not None
            chunk = self._source.fetch(Places(*columns_of(elements)), threads=self._context.threads)
            numbers, self._came, self._placed = np.arange(len(chunk)), len(chunk), True
        self._choose_store(chunk)
        self._store.hold(chunk, numbers)
        self._store.append(len(chunk))

    def close(self) -> None:
        self._ended = True
        if self._input is not None:
            self._input.close()
        self._run = None
        self._store = ObjectBuffer()


def _drop(iterator: NodeIterator, count: int) -> list[Exception]:
    """Pull elements that were seen before a state was saved; return the errors on the way."""
    errors = []
    while count > 0 and (run := iterator.pull(count)) is not None:
        count -= len(run.chunk)
        if run.error is not None:
            errors.append(run.error)
    return errors
