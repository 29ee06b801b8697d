"""DatasetIterator: elements one by one, from runs; its state, and what it skipped."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from weakref import WeakSet

import numpy as np

from tfrkit.data.elements import structure
from tfrkit.data.elements.optional_value import Optional
from tfrkit.data.elements.owned import own_elements
from tfrkit.data.engine.cursor import Cursor, place
from tfrkit.data.engine.keep_order import keep_order
from tfrkit.data.engine.node import Context, Node, Run, to_json
from tfrkit.data.engine.rewrites import optimise
from tfrkit.data.engine.state import StateKeeper
from tfrkit.data.options import OptionsNode
from tfrkit.errors import OutOfRangeError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.near_names import SuggestsNames
from tfrkit.records.read.damage import Damage
from tfrkit.stores.at_exit import unless_exiting

__all__ = ["DatasetIterator", "NumpyIterator", "new_context"]

_alive: WeakSet[DatasetIterator] = (
    WeakSet()
)  # closed at the interpreter's exit, while users' generators can clean up
_of_parents: list[Any] = []  # iterators of the process that forked this one, which cannot even be closed here


def new_context(node: Node) -> Context:
    """What one pass through a pipeline shares, by the pipeline's options."""
    options = OptionsNode.of(node)
    context = Context(origin=_wants_origin(node))
    context.threads = options.thread_count() or context.threads
    context.turned_off = options.turned_off()
    if options.deterministic is not None:
        context.deterministic = options.deterministic
    _check(node, context)
    return context


def _check(node: Node, context: Context) -> None:
    """Refuse what cannot run, before anything runs."""
    node.check(context)
    for part in node.inputs:
        _check(part, context)


def _wants_origin(node: Node) -> bool:
    return node.wants_origin or any(map(_wants_origin, node.inputs))


class DatasetIterator(SuggestsNames):
    """An iterator over the elements of a Dataset.

    After an error the next call continues with what follows, as in TensorFlow. It may be used by several threads; each
    element goes to one of them. Dropping it, or `close`, ends all background work. In a forked child it continues
    independently, with what its parent had not taken.
    """

    _keeps_values: ClassVar = False  # what the user gets cannot be written to

    def __init__(self, node: Node, state: Mapping[str, Any] | None = None) -> None:
        """Use `iter(dataset)` or `dataset.iter_from(state)`."""
        self._node = node
        self._keeper = StateKeeper(node)
        self._items: list[Any] = []  # of the run at hand, the next one last
        self._count = 0  # elements of that run
        self._error: Exception | None = None  # after them
        self._at: tuple[Any, int] = (None, 0)  # where the pipeline stood before that run
        self._lock = threading.RLock()  # a signal's handler may ask for the state while this thread holds it
        self._pulling = False
        self._pid = os.getpid()
        self._open(None if state is None else place(*self._keeper.check(state)))
        _alive.add(self)

    def _open(self, state: Any) -> None:
        """Begin, or resume from a position."""
        plan = optimise(keep_order(self._node))
        self._context = new_context(self._node)
        self._root = Cursor(plan, self._context, state)
        self._at, self._count = self._root.position(), 0

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        while True:
            try:
                return self._items.pop()
            except IndexError:
                pass
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
            error, self._error = self._error, None
            self._at, self._count = self._root.position(), 0
            raise error
        self._at, self._count = self._root.position(), 0
        run = self._pull()
        if run is None or self._context.closed:
            return False
        self._error = run.error
        items, owned = run.chunk.objects(), self._keeps_values or run.chunk.makes_own_objects
        del run  # so that the list is the only owner of what is not kept elsewhere
        self._count, self._items = len(items), (items if owned else own_elements(items))[::-1]
        return True

    def _pull(self) -> Run | None:
        self._pulling = True
        try:
            return self._root.take(self._root.demand)
        except Exception:
            if self._context.closed:  # by another thread, which has taken the files away
                return None
            raise
        finally:
            self._pulling = False

    def _begin_in_child(self) -> None:
        """Resume after a fork: the threads have stayed with the parent, and locks that they held stay locked."""
        state = to_json(place(*self._position()))
        _of_parents.append(self._root)
        self._pid, self._lock, self._pulling = os.getpid(), threading.RLock(), False
        self._items, self._error = [], None
        if not self._context.closed:
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
        """Number of damages in files that were skipped so far."""
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
        if self._pid != os.getpid():
            self._begin_in_child()
        with self._lock:
            self._settle()
            return self._keeper.write(*self._position())

    def _position(self) -> tuple[Any, int]:
        """Where the element stands that comes next."""
        at, skip = self._at
        return at, skip + self._count - len(self._items)

    def _settle(self) -> None:
        """Take the present place as the one to count from, unless something of a run is left, or under way."""
        left = self._items or self._error is not None
        if not (left or self._pulling or self._context.closed):
            self._at, self._count = self._root.position(), 0

    def state_dict(self) -> dict[str, Any]:
        """The same as `state`, under the name that PyTorch's stateful loader expects."""
        return self.state()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Move to where another iterator stood; work in progress is dropped."""
        if self._pid != os.getpid():
            self._begin_in_child()
        with self._lock:
            at = place(*self._keeper.check(state))
            self._end()
            self._items, self._error = [], None
            self._open(at)

    def close(self) -> None:
        """End all background work and release files; the iterator is then at its end.

        Its state stays that of the element that would have come next.
        """
        if self._pid == os.getpid() and self._lock.acquire(
            blocking=False
        ):  # else it is pulling, and knows the place
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


class NumpyIterator:
    """Elements with numpy scalars, read-only arrays and bytes only, as TensorFlow returns them."""

    def __init__(self, iterator: DatasetIterator) -> None:
        self._iterator = iterator

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return structure.map_structure(_as_numpy, next(self._iterator))


def _as_numpy(value: Any) -> Any:
    if isinstance(value, BytesColumn):
        value = value.to_numpy()
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    return value
