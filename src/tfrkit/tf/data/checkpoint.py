"""tf.train.Checkpoint and CheckpointManager, for iterators: they save where an iterator stands, and go back there.

There are no variables here; the format is tfrkit's own (see `tf/data/checkpoint_files.py`), the calls are TensorFlow's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tfrkit.data.dataset import Dataset
from tfrkit.data.engine.iterator import DatasetIterator
from tfrkit.errors import InvalidArgumentError, NotFoundError
from tfrkit.tf.data.checkpoint_files import Checkpoints, read_states, write_states
from tfrkit.tf.tensors.tensor import Tensor

__all__ = ["Checkpoint", "CheckpointOptions"]


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
    _counter: int | None  # of checkpoints that were saved; None until somebody counts
    _pending: LoadStatus | None  # of the last restored, for objects that are still to come

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
        """Add an object; one that the last restored checkpoint knows goes to where it stood."""
        super().__setattr__(name, value)
        if not name.startswith("_") and _is_trackable(value):
            self._objects[name] = value
            if self._pending is not None:
                self._pending.restore_more(dict(_walk(name, value)))

    @property
    def save_counter(self) -> Tensor:
        """How many checkpoints were saved."""
        number = self._counter or 0
        super().__setattr__("_counter", number)
        return Tensor(np.int64(number))

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Save a checkpoint, numbered from 1, and note it as the latest of its folder.

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
        """Go to where the iterators stood in a checkpoint.

        Returns:
            Something that can be asked whether everything was restored.

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
        """The same, and go on with the numbers of checkpoints; None restores nothing."""
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
        """Nothing: a checkpoint is written when `save` returns."""

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
        self._left = dict(states)  # what no object was found for
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
        """Nothing: what is missing causes no warning."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Nothing: it has been restored."""

    def initialize_or_restore(self, session: Any = None) -> None:
        """Nothing: it has been restored."""


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
