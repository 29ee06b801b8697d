"""DatasetIterator: elements one by one, from runs; its state, and what it skipped."""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple
from weakref import WeakSet

import numpy as np

from tfrkit.data.elements import structure
from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.elements.owned import own_elements
from tfrkit.data.engine.cursor import Cursor, Segment, place
from tfrkit.data.engine.lookup import has_position
from tfrkit.data.engine.node import Context, Node, to_json
from tfrkit.data.engine.position import PositionKeeper
from tfrkit.data.engine.position_form import is_position
from tfrkit.data.engine.rewrites import keep_order, optimise
from tfrkit.data.engine.state import StateKeeper
from tfrkit.data.engine.tally_reader import TallyReader, counts_failures, notes_times
from tfrkit.data.options import OptionsNode
from tfrkit.errors import InvalidArgumentError, OutOfRangeError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.near_names import SuggestsNames
from tfrkit.records.read.damage import Damage
from tfrkit.stores.at_exit import unless_exiting

__all__ = ["Bookmark", "DatasetIterator", "Optional", "new_context", "to_numpy"]

# Closed at the interpreter's exit, while users' generators can clean up.
_alive: WeakSet[DatasetIterator] = WeakSet()
_of_parents: list[Any] = []  # iterators of the process that forked this one, which cannot even be closed here


def new_context(node: Node) -> Context:
    """What one pass through a pipeline shares, by the pipeline's options."""
    options = OptionsNode.of(node)
    context = Context(origin=any(each.wants_origin for each in node.stages()))
    context.threads = options.thread_count() or context.threads
    context.turned_off = options.turned_off()
    if options.deterministic is not None:
        context.deterministic = options.deterministic
    for each in node.stages():  # refuse what cannot run, before anything runs
        each.check(context)
    return context


class _Plan(NamedTuple):
    """What an iterator runs, and from where on."""

    node: Node
    at: Any
    passed: tuple[int, int | None, Any]  # as of a Bookmark


class Bookmark(NamedTuple):
    """Where an iterator stood: its state and its position, made when they are asked for."""

    keeper: StateKeeper
    node: Node
    at: Any
    skip: int
    passed: tuple[int, int | None, Any]  # the epoch, the elements of it that were taken, what it resumed from
    used: int | None = None  # what tallies say was used for them
    # Times through a repeat, and elements of the next, if some failed before that.
    again: tuple[int, int] | None = None

    def state(self) -> dict[str, Any]:
        """What `DatasetIterator.state` returned there."""
        return self.keeper.write(self.at, self.skip, self.passed)

    def position(self) -> dict[str, Any]:
        """What `DatasetIterator.position` returned there."""
        epoch, taken, _ = self.passed
        keeper, context = PositionKeeper(self.node), new_context(self.node)
        if self.again is not None:
            taken = keeper.taken_at(context, *self.again)
        if taken is None:
            raise InvalidArgumentError(
                "There is no position: it is not known how many elements of the epoch were used. One of them has "
                "failed, or the iterator resumed from a state that does not tell. Take it in the next epoch, and let "
                "repeat() come after batch()."
            )
        return keeper.write(context, (epoch, taken, self.used), self.keeper.files())


class DatasetIterator(SuggestsNames):
    """An iterator over the elements of a Dataset.

    After an error the next call continues with what follows, as in TensorFlow. It may be used by several threads; each
    element goes to one of them. Dropping it, or `close`, ends all background work. In a forked child it continues
    independently, with what its parent had not taken.
    """

    _keeps_values: ClassVar = False  # what the user gets cannot be written to

    def __init__(self, node: Node, state: Mapping[str, Any] | None = None, *, epoch: int = 0) -> None:
        """Use `iter(dataset)` or `dataset.iter_from(state)`."""
        self._written = node
        self._keeper = StateKeeper(node)
        self._items: list[Any] = []  # of the run at hand, the next one last
        self._count = 0  # elements of that run
        self._error: Exception | None = None  # after them
        self._at: tuple[Any, int] = (None, 0)  # where the pipeline stood before that run
        self._lock = threading.RLock()  # a signal's handler may ask for the state while this thread holds it
        self._pulling = False
        self._pid = os.getpid()
        self._begin(self._planned(state, epoch))
        _alive.add(self)

    def _planned(self, state: Mapping[str, Any] | None, epoch: int = 0) -> _Plan:
        """What to run from the beginning of an epoch, or from a state or a position. A refusal changes nothing."""
        node, at, start = self._written, None, None
        taken: int | None = 0
        if is_position(state):
            start = state
        elif state is not None:
            at = place(*self._keeper.check(state))
            epoch, taken, start = self._keeper.more(state)
        if start is not None:
            keeper, context = PositionKeeper(self._written), new_context(self._written)
            node, begun = keeper.resume(start, context)
            epoch = begun if at is None else epoch
        if state is not None:
            self._keeper.adopt(state)
        return _Plan(node, at, (epoch, taken, start))

    def _begin(self, plan: _Plan) -> None:
        self._node = plan.node
        self.epoch, taken, self._start = plan.passed
        self._taken, self._known = taken or 0, taken is not None  # elements of the epoch that were taken
        self._failed = self._failed_at = 0  # errors; how many elements and errors there were at the last one
        self._open(plan.at)

    def _open(self, state: Any) -> None:
        """Begin, or resume from a place."""
        node = self._node.at_epoch(self.epoch)
        plan = optimise(keep_order(node))
        self._context = new_context(node)
        leaving = any(each.tallies or each.leaves_out for each in self._node.stages())
        self._tallies = TallyReader(self._node) if leaving and has_position(self._node) else None
        self._context.tallies = None if self._tallies is None else {}
        self._context.times = deque() if state is None and not leaving and notes_times(self._node) else None
        self._root = Cursor(plan, self._context, state)
        self._at, self._count = self._root.position(), 0

    def _mark(self) -> None:
        """Count from where the pipeline stands now."""
        taken = self._taken + self._count
        if self._context.tallies is not None:
            self._used(taken, forget=True)
        if self._context.times:
            self._known_again(taken)  # forgets earlier times
        at = self._root.position()
        self._taken, self._at, self._count = taken, at, 0  # all or nothing, if it is interrupted

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        while True:
            items = self._items
            if items:
                # Not `pop`: between a call and the return an interruption would lose the element. Without a call there
                # is no change of threads either.
                element = items[-1]
                del items[-1]
                return element
            if self._pid != os.getpid():
                self._begin_in_child()
            with self._lock:
                if not self._items and not self._refill():
                    raise StopIteration

    def _refill(self) -> bool:
        """Get the next run; False at the end. Raises the error that is due."""
        if self._pulling:
            raise RuntimeError(
                "the iterator is already at work in this thread: a function of its pipeline, or a signal's handler, "
                "must not ask it for elements"
            )
        if self._context.closed:
            return False
        if self._error is not None:
            self._mark()
            self._count_failure()
            due, self._error = self._error, None
            raise due
        self._mark()
        self._pulling = True
        run: Segment | None = None
        items: list[Any] = []
        at: Any = None
        skip, error = 0, None
        try:
            run = self._root.take(self._root.demand)
            if run is None or self._context.closed:
                return False
            at, skip, error = run.at, run.skip, run.error
            items, owned = run.chunk.objects(), self._keeps_values or run.chunk.makes_own_objects
            count = len(items)
            run = None  # so that the list is the only owner of what is not kept elsewhere
            items = (items if owned else own_elements(items))[::-1]
            # Nothing is called from here on, so that an interruption finds all of it or nothing.
            self._error, self._count, self._items = error, count, items
        except Exception:
            if not self._context.closed:  # else another thread did, which has taken the files away
                raise
            return False
        except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
            if run is None and items:
                run = Segment(ObjectChunk(items), error, at, skip)
            if run is not None:
                self._root.undo((run,))
            raise
        finally:
            self._pulling = False
        return True

    def _count_failure(self) -> None:
        """Count an element that failed, if it is known of how many samples it was made."""
        if self._tallies is None and counts_failures(self._node):
            self._taken += 1
            return
        self._known = False
        self._failed += 1
        self._failed_at = self._taken + self._failed

    def _known_again(self, taken: int) -> tuple[int, int] | None:
        """How often a repeat was through, and what was taken since, if none of that has failed."""
        times, given = self._context.times, taken + self._failed
        if not times:
            return None
        while len(times) > 1 and times[1][1] <= given:
            times.popleft()
        time, begun = times[0]
        known = not self._known and self._failed_at <= begun <= given
        return (time, given - begun) if known else None

    def _begin_in_child(self) -> None:
        """Resume after a fork: the threads have stayed with the parent, and locks that they held stay locked."""
        state = to_json(place(*self._position()))
        _of_parents.append(self._root)
        self._pid, self._lock, self._pulling = os.getpid(), threading.RLock(), False
        left, self._items, self._error = len(self._items), [], None
        if not self._context.closed:
            self._taken += self._count - left
            self._open(state)

    def get_next(self) -> Any:
        """Return the next element.

        Raises:
            OutOfRangeError: the iterator is at its end.
        """
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None

    def get_next_as_optional(self) -> Optional:
        """Return the next element, or the end, as an Optional: `has_value()`, `get_value()`."""
        try:
            return Optional(next(self))
        except StopIteration:
            return Optional()

    @property
    def element_spec(self) -> Any:
        """The structure of an element."""
        return self._node.element_spec()

    @property
    def skipped(self) -> int:
        """Number of damages in files that were skipped so far.

        It counts what was read, which may be ahead of the elements that were taken: at the end of a pass the two are
        the same. An iterator that resumes begins at 0 and counts what it reads itself, so that damage which was read
        ahead before the state was saved counts in both.
        """
        return self._context.skipped

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """The first of them, as (path, Damage)."""
        return self._context.damages

    @property
    def ignored(self) -> int:
        """Number of errors that `ignore_errors` left out so far."""
        return self._context.ignored

    def state(self) -> dict[str, Any]:
        """Return the iterator's position: `dataset.iter_from` resumes with the element that would have come next.

        Returns:
            A dict that JSON can hold: positions and counts, never the data. It is valid in another process and with
            another number of threads, as long as the pipeline and its files are the same.
        """
        return self.bookmark().state()

    def position(self) -> dict[str, Any]:
        """Return where the epoch stands, for any number of ranks: `dataset.iter_from` continues it elsewhere.

        It counts what this rank has taken times the number of ranks, so that all ranks must have taken equally many
        elements. Another number of ranks, workers or threads, and another size of batches, may continue from it: no
        sample comes twice, and none is lost. With a filter ranks differ: `merge_positions` takes those of all.

        Returns:
            A dict of a few numbers that JSON can hold.

        Raises:
            InvalidArgumentError: a stage prevents it, which the text names.
        """
        return self.bookmark().position()

    def bookmark(self) -> Bookmark:
        """Note where it stands now; cheap, for who takes elements ahead of somebody else."""
        if self._pid != os.getpid():
            self._begin_in_child()
        with self._lock:
            self._settle()
            taken = self._taken + self._count - len(self._items)
            passed = self.epoch, taken if self._known else None, self._start
            again = self._known_again(taken)
            return Bookmark(self._keeper, self._node, *self._position(), passed, self._used(taken), again)

    def _used(self, taken: int, *, forget: bool = False) -> int | None:
        """What tallies say was used for so many elements, if there are any."""
        tallies = self._context.tallies
        if tallies is None or self._tallies is None:
            return None
        return self._tallies.used(taken, tallies, forget=forget)

    def _position(self) -> tuple[Any, int]:
        """Where the element stands that comes next."""
        at, skip = self._at
        return at, skip + self._count - len(self._items)

    def _settle(self) -> None:
        """Take the present place as the one to count from, unless something of a run is left, or under way."""
        left = self._items or self._error is not None
        if not (left or self._pulling or self._context.closed):
            self._mark()

    def state_dict(self) -> dict[str, Any]:
        """The same as `state`, under the name that PyTorch's stateful loader expects."""
        return self.state()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Move to where another iterator stood; work in progress is dropped.

        Raises:
            InvalidArgumentError: it cannot; the iterator then stays where it is.
        """
        if self._pid != os.getpid():
            self._begin_in_child()
        with self._lock:
            plan = self._planned(state)
            self._end()
            self._items, self._error, self._count = [], None, 0
            self._begin(plan)

    def close(self) -> None:
        """End all background work and release files; the iterator is then at its end.

        Its state stays that of the element that would have come next.
        """
        # If it is locked, it is pulling, and knows the place.
        if self._pid == os.getpid() and self._lock.acquire(blocking=False):
            try:
                self._settle()
                self._count -= len(self._items)
                self._items, self._error = [], None
            finally:
                self._lock.release()
        self._end()

    def _end(self) -> None:
        root = getattr(self, "_root", None)
        if self._pid != os.getpid():
            _of_parents.append(root)
        elif root is not None:
            self._context.closed = True
            root.close()
            self._context.opening.close()

    @unless_exiting
    def __del__(self) -> None:
        if "_root" in self.__dict__:  # else the beginning was interrupted
            self._end()


@atexit.register
def _close_all() -> None:
    for iterator in list(_alive):
        iterator.close()


class Optional:
    """What `DatasetIterator.get_next_as_optional` returns: an element, or nothing at the end.

    >>> Optional(3).has_value(), Optional(3).get_value(), Optional().has_value()
    (True, 3, False)
    """

    __slots__ = ("_values",)

    def __init__(self, *values: Any) -> None:
        """Hold the one value, or none."""
        self._values = values

    def has_value(self, name: str | None = None) -> bool:
        """Whether there is an element."""
        return bool(self._values)

    def get_value(self, name: str | None = None) -> Any:
        """Return the element.

        Raises:
            InvalidArgumentError: there is no value.
        """
        if not self._values:
            raise InvalidArgumentError("The given optional does not have a value.")
        return self._values[0]

    def __repr__(self) -> str:
        return f"Optional({', '.join(map(repr, self._values))})"


def to_numpy(element: Any) -> Any:
    """The element with numpy scalars, read-only arrays and bytes only, as TensorFlow returns it."""
    return structure.map_structure(_as_numpy, element)


def _as_numpy(value: Any) -> Any:
    if isinstance(value, BytesColumn):
        value = value.to_numpy()
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    return value
