"""PassLoader: pass after pass of a dataset as what a framework takes, and where the last one stands."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from tfrkit.data.dataset import Dataset
from tfrkit.data.engine.iterator import DatasetIterator
from tfrkit.data.report.profile import Profile, profile
from tfrkit.integrations.ahead import made_ahead
from tfrkit.integrations.passes import Pass, PassIterator, as_made
from tfrkit.records.read.damage import Damage

__all__ = ["PassLoader"]


class PassLoader:
    """The elements of a dataset for a framework. Each `iter` is the next epoch, as for the dataset itself.

    It pickles if the dataset does, and counts epochs from 0 then.

    Args:
        ds: the dataset.
        make, receive, depth: as for a Pass.

    Attributes:
        name: of the function that makes it.
    """

    name: ClassVar[str]

    def __init__(
        self,
        ds: Dataset,
        make: Callable[[Any], Any],
        receive: Callable[[Any], Any] = as_made,
        depth: int = 0,
    ) -> None:
        self._dataset = ds
        self._make = make
        self._receive = receive
        self._depth = depth
        self._pending: Mapping[str, Any] | None = None  # what the next pass resumes from
        self._pass: Pass | None = None  # the last one

    def __iter__(self) -> PassIterator:
        last, run = self._pass, self._new_pass()
        if last is not None and not last.claimed:
            run.take_over(last)
        self._pass = run
        return PassIterator(run)

    def __len__(self) -> int:
        """The number of elements of a pass.

        Raises:
            TypeError: it is not known.
        """
        return len(self._dataset)

    def state_dict(self) -> dict[str, Any]:
        """Where the last pass stands, whatever was made ahead: after its end, where the next one begins.

        Returns:
            What `DatasetIterator.state` returns for the element that comes next; JSON can hold it.
        """
        return self._current().state()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next `iter` go on from a state or a position.

        Raises:
            InvalidArgumentError: it is of another pipeline, or a file has changed.
        """
        self._pending = copy.copy(state)  # each is known by its own
        self._pass = self._new_pass()
        self._pass.open()

    def position(self) -> dict[str, Any]:
        """Where the epoch stands, for any number of ranks; see `DatasetIterator.position`.

        Raises:
            InvalidArgumentError: a stage of the dataset prevents it.
        """
        return self._current().position()

    @property
    def skipped(self) -> int:
        """Number of damages in files that the last pass skipped so far, by what is made ahead too."""
        return 0 if self._pass is None else self._pass.skipped

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """The first of them, as (path, Damage)."""
        return [] if self._pass is None else self._pass.damages

    def set_epoch(self, epoch: int) -> None:
        """Let the next `iter` be the pass with this number; a state of that epoch that was loaded stays."""
        if self._pending is not None:
            # States of releases without epochs are of this one, if all are alike.
            unknown = self._pending.get("epoch") is None and not self._dataset.node.varies
            if unknown or self._current().open().epoch == epoch:
                return
        self._pending = self._pass = None
        self._dataset.set_epoch(epoch)

    def profile(self, step: Callable[[Any], Any], seconds: float = 5) -> Profile:
        """Call a step of training with every element for some seconds, and say how long it waited, and for what.

        Args:
            step: gets the elements as `iter` gives them. JAX, and torch on a CUDA device, work in the background: wait
                for the result.
            seconds: how long, at most.
        """
        make, receive = self._maker(), self._receive
        if not self._depth:
            return self._dataset.profile(seconds, lambda element: step(receive(make(element))))
        ahead = partial(made_ahead, make, self._depth)
        return profile(self._dataset.node, seconds, lambda made: step(receive(made)), ahead)

    def _maker(self) -> Callable[[Any], Any]:
        """What makes the elements of a pass that begins here and now."""
        return self._make

    def _current(self) -> Pass:
        if self._pass is None or self._pass.over:
            self._pass = self._new_pass()
        return self._pass

    def _new_pass(self) -> Pass:
        return Pass(self, self._pending, self._maker(), self._receive, self._depth)

    def open(self, state: Mapping[str, Any] | None) -> DatasetIterator:
        """Begin the next pass, or resume one; a Pass calls it."""
        return iter(self._dataset) if state is None else self._dataset.iter_from(state)

    def begun(self, state: Mapping[str, Any] | None) -> None:
        """Forget what was to be resumed, if that was it; a Pass calls it."""
        if self._pending is state:
            self._pending = None

    def ended(self, state: Mapping[str, Any] | None) -> None:
        """Forget what was to be resumed, if that was it; a Pass calls it."""
        self.begun(state)

    def __getstate__(self) -> dict[str, Any]:
        """Without the last pass: a copy begins its own, with what was loaded."""
        return {**vars(self), "_pass": None}

    def __repr__(self) -> str:
        return f"<{self.name} of {self._dataset!r}>"
