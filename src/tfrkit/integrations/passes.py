"""Passes: one run through a dataset as what a framework takes, and where its consumer stands.

Background work belongs to the `PassIterator` that the user holds, and ends with it. The `Pass` outlives it, so that a
loader knows its state after the loop was left. Whose passes they are is in `pass_loader.py` and `torch_datasets.py`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tfrkit.data.engine.iterator import Bookmark, DatasetIterator
from tfrkit.integrations.ahead import Ahead
from tfrkit.records.read.damage import Damage
from tfrkit.stores.at_exit import unless_exiting

__all__ = ["Pass", "PassIterator", "PassOwner", "as_made"]


def as_made(made: Any) -> Any:
    """What was made, as the user gets it."""
    return made


class PassOwner(Protocol):
    """Who makes passes, and hears of them."""

    def open(self, state: Mapping[str, Any] | None) -> DatasetIterator:
        """Begin the next pass, or resume one from a state or a position."""

    def begun(self, state: Mapping[str, Any] | None) -> None:
        """Note that a pass has given its first element, which was made to resume from this state."""

    def ended(self, state: Mapping[str, Any] | None) -> None:
        """Note that a pass has given its last element."""


class Pass:
    """One run through a dataset.

    Args:
        owner: who opens the iterator: when an element, or the state, is first asked for.
        state: what to resume from; None for a beginning.
        make: makes tensors or arrays of an element, and begins to move them.
        receive: makes what the user gets of that, in the user's thread.
        depth: how many elements are made ahead, in another thread; 0: each is made when it is asked for.

    Attributes:
        claimed: a user has its iterator.
        started: an element was asked for.
        begun: an element was given.
        over: all were.
        closed: no more will be.
    """

    def __init__(
        self,
        owner: PassOwner,
        state: Mapping[str, Any] | None,
        make: Callable[[Any], Any],
        receive: Callable[[Any], Any] = as_made,
        depth: int = 0,
    ) -> None:
        self._owner = owner
        self._state = self._made_for = state
        self._make = make
        self._receive = receive
        self._depth = depth
        self._iterator: DatasetIterator | None = None
        self._ahead: Ahead | None = None
        self._mark: Bookmark | None = None  # after what the consumer took, if there is more
        self._pid = os.getpid()
        self.claimed = self.started = self.begun = self.over = self.closed = False

    def next(self) -> Any:
        """Return the next element.

        Raises:
            StopIteration: there is none.
        """
        if self.closed:
            raise StopIteration
        self.started = True
        try:
            element = self._next_ahead() if self._depth else self._next()
        except StopIteration:
            if not self.over:
                self.over = True
                self._owner.ended(self._made_for)
            raise
        if not self.begun:
            self.begun = True
            self._owner.begun(self._made_for)
        return element

    def state(self) -> dict[str, Any]:
        """Where the consumer stands: the element that comes next."""
        if self._iterator is None and self._state is not None:
            return dict(self._state)
        return self._place().state()

    def position(self) -> dict[str, Any]:
        """Where the epoch stands, for any number of ranks.

        Raises:
            InvalidArgumentError: a stage of the dataset prevents it.
        """
        return self._place().position()

    @property
    def skipped(self) -> int:
        """Number of damages in files that were skipped so far; what is made ahead may have met more."""
        return 0 if self._iterator is None else self._iterator.skipped

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """The first of them, as (path, Damage)."""
        return [] if self._iterator is None else self._iterator.damages

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from another place; work in progress is dropped."""
        self.close()
        self._iterator = self._ahead = self._mark = None
        self._state = state
        self.over = self.closed = False

    def take_over(self, other: Pass) -> None:
        """Use the iterator of a pass that was opened for its state only."""
        self._iterator, other._iterator = other._iterator, None

    def close(self) -> None:
        """End background work; the state stays."""
        self.closed = True
        if self._iterator is not None and self._pid == os.getpid():
            if self._ahead is not None:
                self._ahead.close()
            self._iterator.close()

    def open(self) -> DatasetIterator:
        """Its iterator, which is opened if it is not."""
        if self._iterator is None:
            self._iterator = self._owner.open(self._state)
        return self._iterator

    def _place(self) -> Bookmark:
        return self.open().bookmark() if self._mark is None else self._mark

    def _next(self) -> Any:
        return self._receive(self._make(DatasetIterator.__next__(self.open())))

    def _next_ahead(self) -> Any:
        if self._pid != os.getpid():
            self._begin_in_child()
        if self._ahead is None:
            iterator = self.open()
            self._mark = iterator.bookmark()
            self._ahead = Ahead(functools.partial(_made, iterator, self._make), self._depth)
        element, error, mark = self._ahead.take()
        if error is None:
            element = self._receive(element)
        self._mark = mark
        if error is not None:
            raise error
        return element

    def _begin_in_child(self) -> None:
        """Resume after a fork: the thread, and what it had made, have stayed with the parent."""
        self._pid, self._ahead = os.getpid(), None
        if self._mark is not None:
            self._iterator = self._owner.open(self._mark.state())


def _made(iterator: DatasetIterator, make: Callable[[Any], Any]) -> tuple[Any, Exception | None, Bookmark]:
    """Make the next element: it or its error, and where the iterator stands then."""
    element = failure = None
    try:
        element = make(DatasetIterator.__next__(iterator))  # of tfrkit.tf: values without Tensors
    except StopIteration:
        raise
    except Exception as error:  # noqa: BLE001  # it belongs to the consumer
        failure = error
    return element, failure, iterator.bookmark()


class PassIterator:
    """What `iter` of a loader returns. Dropping it, or `close`, ends all background work.

    After an error the next call continues with what follows. One thread at a time may use it.
    """

    def __init__(self, run: Pass) -> None:
        self._pass = run
        run.claimed = True

    def __iter__(self) -> PassIterator:
        return self

    def __next__(self) -> Any:
        return self._pass.next()

    def state_dict(self) -> dict[str, Any]:
        """Where it stands: the element that comes next. JSON can hold it."""
        return self._pass.state()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from where another one stood."""
        self._pass.load(state)

    def position(self) -> dict[str, Any]:
        """Where the epoch stands, for any number of ranks; see `DatasetIterator.position`."""
        return self._pass.position()

    @property
    def skipped(self) -> int:
        """Number of damages in files that were skipped so far, by what is made ahead too."""
        return self._pass.skipped

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """The first of them, as (path, Damage)."""
        return self._pass.damages

    def close(self) -> None:
        """End all background work; its state stays."""
        self._pass.close()

    @unless_exiting
    def __del__(self) -> None:
        if "_pass" in self.__dict__ and self._pass.started:
            self._pass.close()
