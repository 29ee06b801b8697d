"""Notes in memory that worker processes share with the process that made a dataset: the epoch, and who resumed.

Workers cannot count epochs, nor tell their parent what they have done; a few numbers that all of them see can.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tfrkit.errors import FailedPreconditionError, InvalidArgumentError
from tfrkit.model.row_selection import IntArray
from tfrkit.optional import require

__all__ = ["LoadedState", "RequestWatch", "SharedCount", "ToldEpoch", "WaitingState"]

_torch = require("torch", "tfrkit.torch")
_data = require("torch.utils.data", "tfrkit.torch")
_NEVER: Final = -1
_WORKERS: Final = 1024  # more than a DataLoader has; those beyond share a note


def _seed_of_pass(info: Any) -> int:
    """What differs from pass to pass, unless the user seeds torch before each, but not among workers."""
    return int(info.seed - info.id)


class ToldEpoch:
    """The number of the epoch, which one process tells all others that got the dataset from it."""

    def __init__(self) -> None:
        # The epoch, how often one was told, by which seed of a DataLoader a pass was begun since then, and whether a
        # state has told it.
        self._cells = _torch.tensor([_NEVER, 0, _NEVER, 0]).share_memory_()

    def tell(self, epoch: int) -> None:
        """Say which epoch it is from now on.

        Raises:
            InvalidArgumentError: there is no such epoch.
        """
        if epoch < 0:
            raise InvalidArgumentError(f"Expected an epoch of at least 0 but got {epoch}.")
        self._cells[2] = _NEVER
        self._cells[0] = epoch
        self._cells[3] = 0
        self._cells[1] += 1

    def load(self, epoch: int) -> None:
        """Take the epoch of a state, unless the user has told one; warn if that is another, and not the next."""
        if self.told is None or self._cells[3]:
            if self.told != epoch:  # else another worker has loaded it
                self.tell(epoch)
                self._cells[3] = 1
        elif self.told not in (epoch, epoch + 1):
            warnings.warn(
                f"a state of epoch {epoch} is loaded, but set_epoch() has said that it is epoch {self.told}, which "
                f"counts. Call set_epoch({epoch}) after loading to go on where the state was taken.",
                stacklevel=3,
            )

    @property
    def told(self) -> int | None:
        """The epoch; None if none was told."""
        epoch = int(self._cells[0])
        return None if epoch == _NEVER else epoch

    @property
    def times(self) -> int:
        """How often an epoch was told."""
        return int(self._cells[1])

    def begin(self, *, again: bool = False, resumed: bool = False) -> None:
        """Warn if another pass was begun since the epoch was told; only workers can see that by themselves.

        Args:
            again: it is known that one was.
            resumed: it goes on from a state, which says which epoch it is, and is right whatever was before.
        """
        info = _data.get_worker_info()
        if info is not None:
            this, before = _seed_of_pass(info), int(self._cells[2])
            again = again or before not in (_NEVER, this)
            self._cells[2] = this
        if again and not resumed:
            warnings.warn(
                f"epoch {self.told or 0} is run again: datasets that are asked by number, and worker processes, "
                "cannot count epochs. Call set_epoch(epoch) of the dataset before each of them, or every one has the "
                "same order.",
                stacklevel=3,
            )


class SharedCount:
    """A number that this process and its workers add to."""

    def __init__(self) -> None:
        # A cell for every worker, so that no two of them write to the same; the first one is of other processes.
        self._cells = _torch.zeros(1 + _WORKERS, dtype=_torch.int64).share_memory_()

    def add(self, more: int) -> None:
        """Count more."""
        if more:
            info = _data.get_worker_info()
            self._cells[0 if info is None else 1 + info.id % _WORKERS] += more

    @property
    def value(self) -> int:
        """What all have counted."""
        return int(self._cells.sum())


class RequestWatch:
    """Sees from the numbers that a process is asked for that a pass begins again; for ToldEpoch.

    It does so when the numbers that were asked for first since an epoch was told are asked for once more, in the same
    order, after as many as there are. A sampler that goes through a part only, or in another order every time, is not
    noticed: there must be no false alarms.
    """

    def __init__(self) -> None:
        self._told = _NEVER  # how often an epoch had been told
        self._first: IntArray | None = None
        self._count = 0  # numbers since then

    def is_again(self, numbers: IntArray, size: int, told: int) -> bool:
        """Note a request for a batch.

        Args:
            numbers: which elements are asked for.
            size: how many the dataset has.
            told: how often an epoch was told.
        """
        info = _data.get_worker_info()
        workers = 1 if info is None else info.num_workers
        if self._first is None or told != self._told:
            self._told, self._first, self._count = told, numbers.copy(), numbers.size
            return False
        # The other workers are asked for as many, or for one batch less.
        all_asked = workers * (self._count + numbers.size) > size >= 0
        again = all_asked and np.array_equal(numbers, self._first)
        self._count = numbers.size if again else self._count + numbers.size
        return again


class LoadedState:
    """A state that the next pass resumes from, here or in workers that get the dataset, and no pass after it.

    Attributes:
        state: what was loaded.
    """

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.state = state
        # By which seed of a DataLoader a pass resumed; whether a later one was begun; which workers have resumed. One
        # that a worker itself loads is nobody else's business, and a copy that stays does not need the notes.
        inside = _data.get_worker_info() is not None
        notes = None if inside else _torch.zeros(2 + _WORKERS, dtype=_torch.int64)
        self._cells = None if notes is None else notes.share_memory_()
        if self._cells is not None:
            self._cells[0] = _NEVER

    @property
    def is_over(self) -> bool:
        """Whether workers have begun another pass since the one that resumed."""
        return self._cells is not None and bool(self._cells[1])

    def is_due(self) -> bool:
        """Whether a pass that begins here resumes from it."""
        if self._cells is None or self.is_over:
            return not self.is_over
        info, before = _data.get_worker_info(), int(self._cells[0])
        if info is None:
            return before == _NEVER
        if before not in (_NEVER, _seed_of_pass(info)) or self._cells[2 + info.id % _WORKERS]:
            self.leave()
        return not self.is_over

    def use(self) -> None:
        """Note that a pass has resumed from it."""
        info = _data.get_worker_info()
        if info is not None and self._cells is not None:
            self._cells[0] = _seed_of_pass(info)
            self._cells[2 + info.id % _WORKERS] = 1

    def leave(self) -> None:
        """Note that a later pass was begun."""
        if self._cells is not None:
            self._cells[1] = 1


class WaitingState:
    """Whether a state that was loaded still waits for a pass, as workers see it that got the dataset before."""

    def __init__(self) -> None:
        self._known = 0  # states that were loaded when this copy was made
        self._cell = _torch.zeros(1, dtype=_torch.int64).share_memory_()  # the one that waits

    def load(self) -> None:
        """Note that a state was loaded; one that a worker itself loads is nobody else's business."""
        if _data.get_worker_info() is None:
            self._known += 1
            self._cell[0] = self._known

    def settle(self) -> None:
        """Note that it waits no more."""
        self._cell[0] = 0

    def check(self) -> None:
        """Refuse to begin a pass where one is to be resumed from a state that this copy has not got.

        Raises:
            FailedPreconditionError: it has not.
        """
        if self._cell[0] not in (0, self._known):
            raise FailedPreconditionError(
                "a state was loaded after this worker was started, which cannot get it any more: with "
                "persistent_workers=True make a new DataLoader after load_state_dict()."
            )
