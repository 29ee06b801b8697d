"""tf.train.Checkpoint and CheckpointManager, for iterators: they save and restore the positions of iterators.

There are no variables here; the format is tfrkit's own (see `tf/data/checkpoint_files.py`), the calls are TensorFlow's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tfrkit.data.dataset import Dataset
from tfrkit.data.engine.iterator import DatasetIterator
from tfrkit.errors import InvalidArgumentError, NotFoundError
from tfrkit.tf.data.checkpoint_files import (
    Checkpoints,
    checkpoint_exists,
    read_states,
    remove_checkpoint,
    write_states,
)
from tfrkit.tf.tensors.tensor import Tensor

__all__ = ["Checkpoint", "CheckpointManager", "CheckpointOptions"]


class CheckpointOptions:
    """Kept, without effect."""

    def __init__(self, **options: Any) -> None:
        self.__dict__.update(options)


class Checkpoint:
    """Iterators by name, to be saved and restored together.

    Args:
        root: an iterator or another Checkpoint, whose objects are saved as this one's.
        objects: iterators; Checkpoints, lists and dicts of them; Datasets, which have nothing to save.

    Raises:
        ValueError: something else is among them.
    """

    _objects: dict[str, Any]
    _counter: int | None  # of saved checkpoints; None until it is first asked for
    _pending: LoadStatus | None  # of the last restored checkpoint, for objects that are added later

    def __init__(self, root: Any = None, **objects: Any) -> None:
        super().__setattr__("_objects", {})
        super().__setattr__("_counter", None)
        super().__setattr__("_pending", None)
        if root is not None:
            _check("root", root)
            self._objects["root"] = root
        for name, value in objects.items():
            _check(name, value)
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Add an object, and restore it if the last restored checkpoint has its state."""
        super().__setattr__(name, value)
        if not name.startswith("_") and _is_trackable(value):
            self._objects[name] = value
            if self._pending is not None:
                self._pending.restore_more(dict(_walk(name, value)))

    @property
    def save_counter(self) -> Tensor:
        """Number of saved checkpoints."""
        number = self._counter or 0
        super().__setattr__("_counter", number)
        return Tensor(np.int64(number))

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Save a checkpoint, numbered from 1, and record it as the latest of its folder.

        Returns:
            Its path: the prefix and the number.
        """
        path = self.write(f"{os.fspath(file_prefix)}-{self.count()}", options)
        Checkpoints(path, [path]).write(os.path.dirname(path))
        return path

    def count(self) -> int:
        """Count a checkpoint that is being saved."""
        number = int(self.save_counter.value) + 1
        super().__setattr__("_counter", number)
        return number

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Write a checkpoint under exactly this path."""
        path: str = os.fspath(file_prefix)
        states = {name: each.state() for name, each in self._iterators().items()}
        write_states(path, states, self._counter)
        return path

    def read(self, save_path: Any, options: Any = None) -> LoadStatus:
        """Restore the iterators to their positions in a checkpoint.

        Returns:
            A status with assertions about what was restored.

        Raises:
            NotFoundError: there is no such checkpoint, or an iterator is of another dataset.
        """
        path = os.fspath(save_path)
        states, counter = read_states(path)
        status = LoadStatus(self, path, states, counter)
        super().__setattr__("_pending", status)
        status.restore_more(self._iterators())
        return status

    def restore(self, save_path: Any, options: Any = None) -> LoadStatus:
        """Read a checkpoint and continue its numbering; None restores nothing."""
        if save_path is None:
            return LoadStatus(self, None, {}, None)
        self.save_counter  # noqa: B018  # from now on there is one
        try:
            status = self.read(save_path, options)
        except NotFoundError as failure:
            raise NotFoundError(
                f"Error when restoring from checkpoint or SavedModel at {save_path}: {failure}\n"
                "Please double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the "
                "'-1' in 'path/to/ckpt-1').",
                path=os.fspath(save_path),
            ) from failure
        if status.counter is not None:
            super().__setattr__("_counter", status.counter)
        return status

    def sync(self) -> None:
        """Do nothing: a checkpoint is written when `save` returns."""

    def _iterators(self) -> dict[str, DatasetIterator]:
        found: dict[str, DatasetIterator] = {}
        for name, value in self._objects.items():
            found.update(_walk("" if name == "root" else name, value))
        return found


class LoadStatus:
    """What was restored of a checkpoint.

    Attributes:
        counter: the number of the checkpoint, or None.
    """

    def __init__(
        self, owner: Checkpoint, path: str | None, states: dict[str, Any], counter: int | None
    ) -> None:
        self.counter = counter
        self._owner = owner
        self._path = path
        self._left = dict(states)  # states without an object so far
        self._matched: set[str] = set()
        self._counted = owner._counter is not None  # noqa: SLF001

    def restore_more(self, iterators: Mapping[str, DatasetIterator]) -> None:
        """Restore iterators whose names are in the checkpoint."""
        for name, iterator in iterators.items():
            state = self._left.get(name)
            if state is None:
                continue
            try:
                iterator.load_state_dict(state)
            except InvalidArgumentError as failure:
                raise NotFoundError(
                    f"Failed to restore dataset iterator from checkpoint: {name}. Make sure the dataset definition has "
                    "not changed between the process that saved the checkpoint and the process that is restoring it. "
                    f"({failure})"
                ) from failure
            del self._left[name]
            self._matched.add(name)

    def assert_consumed(self) -> LoadStatus:
        """Fail unless everything in the checkpoint has an object, and every iterator was in it."""
        self.assert_existing_objects_matched()
        unresolved = sorted(self._left)
        if self.counter is not None and not self._counted:
            unresolved.append("save_counter")
        if unresolved:
            raise AssertionError(f"Unresolved object in checkpoint (root).{unresolved[0]}")
        return self

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Fail unless every iterator was in the checkpoint."""
        if self._path is None:
            raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")
        iterators = self._owner._iterators()  # noqa: SLF001
        missing = [each for name, each in iterators.items() if name not in self._matched]
        if missing:
            count = len(missing)
            raise AssertionError(
                f"Found {count} Python objects that were not bound to checkpointed values, likely due to changes in "
                f"the Python program. Showing {min(10, count)} of {count} unmatched objects: {missing[:10]}"
            )
        return self

    def assert_nontrivial_match(self) -> LoadStatus:
        """Fail if nothing of the checkpoint has an object."""
        if self._path is None:
            raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")
        if self._left and not self._matched and not self._counted:
            raise AssertionError("Nothing except the root object matched a checkpointed value.")
        return self

    def expect_partial(self) -> LoadStatus:
        """Do nothing: what is missing causes no warning."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Do nothing: it has been restored."""

    def initialize_or_restore(self, session: Any = None) -> None:
        """Do nothing: it has been restored."""


class CheckpointManager:
    """Save checkpoints of one object in a folder, and remove the oldest.

    Args:
        checkpoint: what is saved.
        directory: the folder; checkpoints that are there already are known.
        max_to_keep: how many to keep; None for all.
        keep_checkpoint_every_n_hours: one checkpoint in this time is never removed.
        checkpoint_name: prefix of the file names.
        step_counter: converts to the number of the step, for `checkpoint_interval`.
        checkpoint_interval: save only if this number of steps has passed since the last time.
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
        """Path of the last checkpoint, or None."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """Paths of the checkpoints that are kept, the oldest first."""
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
        """Remove the oldest, except those that `keep_checkpoint_every_n_hours` preserves."""
        while self._keep is not None and len(self._saved) > self._keep:
            path, when = next(iter(self._saved.items()))
            del self._saved[path]
            if self._hours is not None and when - self._preserved >= self._hours * 3600:
                self._preserved = when
            else:
                remove_checkpoint(path)

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint and return its path; without one, call `init_fn`."""
        if self._latest is not None:
            self.checkpoint.restore(self._latest)
            return self._latest
        if self._init is not None:
            self._init()
        return None

    def sync(self) -> None:
        """Do nothing: a checkpoint is written when `save` returns."""


def _is_trackable(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_trackable, value))
    if isinstance(value, Mapping):
        return all(map(_is_trackable, value.values()))
    return isinstance(value, (DatasetIterator, Checkpoint, Dataset))


def _check(name: str, value: Any) -> None:
    if not _is_trackable(value):
        raise ValueError(
            f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from `Trackable`), got "
            f"{value}. If you believe this object should be trackable (i.e. it is part of the TensorFlow Python API "
            "and manages state), please open an issue."
        )


def _walk(name: str, value: Any) -> Iterator[tuple[str, DatasetIterator]]:
    """The iterators in an object, with their names."""
    if isinstance(value, DatasetIterator):
        yield name, value
        return
    parts: Mapping[Any, Any] = {}
    if isinstance(value, Checkpoint):
        parts = value._objects  # noqa: SLF001
    elif isinstance(value, (list, tuple)):
        parts = dict(enumerate(value))
    elif isinstance(value, Mapping):
        parts = value
    for key, part in parts.items():
        yield from _walk(f"{name}/{key}" if name else str(key), part)
