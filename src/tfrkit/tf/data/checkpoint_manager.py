"""tf.train.CheckpointManager: the last few checkpoints of a folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from tfrkit.tf.data.checkpoint import Checkpoint
from tfrkit.tf.data.checkpoint_files import Checkpoints, checkpoint_exists, remove_checkpoint

__all__ = ["CheckpointManager"]


class CheckpointManager:
    """Saves checkpoints of one object in a folder, and removes the oldest.

    Args:
        checkpoint: what is saved.
        directory: the folder; checkpoints that are there already are known.
        max_to_keep: how many stay; None for all.
        keep_checkpoint_every_n_hours: one in so many hours is never removed.
        checkpoint_name: begins the names of files.
        step_counter: something with the number of the step, for `checkpoint_interval`.
        checkpoint_interval: save only if so many steps have passed since the last time.
        init_fn: called by `restore_or_initialize` if there is no checkpoint.

    Raises:
        ValueError: `max_to_keep` is not positive, or there is an interval without a counter.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self.checkpoint = checkpoint
        self.directory = os.fspath(directory)
        self.checkpoint_interval = checkpoint_interval
        self._keep = max_to_keep
        self._hours = keep_checkpoint_every_n_hours
        self._name = checkpoint_name
        self._step_counter = step_counter
        self._last_step = last_checkpoint_step
        self._init = init_fn
        known = Checkpoints.read(self.directory) or Checkpoints()
        now = time.time()
        times = known.times if len(known.times) == len(known.paths) else [now] * len(known.paths)
        pairs = [pair for pair in zip(known.paths, times, strict=True) if checkpoint_exists(pair[0])]
        self._saved: dict[str, float] = dict(pairs)
        self._latest = known.latest
        self._preserved = known.last_preserved if known.last_preserved is not None else now

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the last one, None if there is none."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of those that are kept, the oldest first."""
        return list(self._saved)

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
    ) -> str | None:
        """Save a checkpoint; None if the interval has not passed.

        Args:
            checkpoint_number: for its name; by default the number of saves.
            check_interval: whether the interval counts.
            options: ignored.
        """
        if self.checkpoint_interval is not None and check_interval:
            step = int(self._step_counter)
            if self._last_step is not None and step - self._last_step < self.checkpoint_interval:
                return None
            self._last_step = step
        prefix = os.path.join(self.directory, self._name)
        if checkpoint_number is None:
            path = self.checkpoint.save(prefix)
        else:
            self.checkpoint.count()
            path = self.checkpoint.write(f"{prefix}-{int(checkpoint_number)}")
        self._saved.pop(path, None)
        self._saved[path] = time.time()
        self._latest = path
        self._sweep()
        times = list(self._saved.values())
        Checkpoints(path, self.checkpoints, times, self._preserved).write(self.directory)
        return path

    def _sweep(self) -> None:
        """Remove the oldest, except one for every so many hours."""
        while self._keep is not None and len(self._saved) > self._keep:
            path, when = next(iter(self._saved.items()))
            del self._saved[path]
            if self._hours is not None and when - self._preserved >= self._hours * 3600:
                self._preserved = when
            else:
                remove_checkpoint(path)

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint, and give its path; without one, call the function for that."""
        if self._latest is not None:
            self.checkpoint.restore(self._latest)
            return self._latest
        if self._init is not None:
            self._init()
        return None

    def sync(self) -> None:
        """Nothing: a checkpoint is written when `save` returns."""
