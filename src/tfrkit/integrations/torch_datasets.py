"""MapDataset and IterableDataset: tfrkit's datasets for PyTorch's DataLoader and its worker processes.

Workers cannot count epochs, so they are told: the number is in memory that they share with the process that made the
dataset. Which elements a worker has is computed; nothing is divided among ranks unless it is said so.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tfrkit.cached_property import cached_property
from tfrkit.data.dataset import Dataset
from tfrkit.data.engine.iterator import DatasetIterator, new_context
from tfrkit.data.engine.lookup import Lookup, checked_numbers, require_lookup
from tfrkit.data.engine.node import INFINITE_CARDINALITY, Context
from tfrkit.data.engine.position_form import is_position
from tfrkit.data.engine.state import StateKeeper
from tfrkit.data.left_out import nothing_left
from tfrkit.data.shuffle.epoch_seeds import find_seeds, restore_seeds, save_seeds
from tfrkit.data.shuffle.pass_seeds import move_seeds
from tfrkit.data.stages.shard import ShardNode
from tfrkit.errors import InvalidArgumentError
from tfrkit.integrations.passes import Pass, PassIterator
from tfrkit.integrations.torch_tensors import RaggedAs, TensorMaker, plain
from tfrkit.integrations.worker_notes import LoadedState, RequestWatch, SharedCount, ToldEpoch, WaitingState
from tfrkit.optional import require
from tfrkit.records.read.damage import Damage

__all__ = ["IterableDataset", "MapDataset", "collate"]

_data = require("torch.utils.data", "tfrkit.torch")
_MapBase: Any = _data.Dataset
_IterableBase: Any = _data.IterableDataset
_NO_BATCH: Final = (
    "A DataLoader cannot leave out what it has asked for by number: iterate (tfr.torch.loader, "
    "tfr.torch.IterableDataset), which can"
)
_OVER: Final = "over"  # in a state: the pass has given all, so that the next one begins


class _Finished:
    """A batch that needs no collating: what stands for each of its elements in `MapDataset.__getitems__`'s list."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch


def _finished(batch: Any, *, collate_fn_map: Any = None) -> Any:  # noqa: ARG001  # torch passes it
    return batch[0].batch


# What DataLoader calls by default looks up there how samples of a type are put together.
_data._utils.collate.default_collate_fn_map[_Finished] = _finished  # noqa: SLF001  # has no other name


class MapDataset(_MapBase):  # type: ignore[misc]  # no types without the package
    """A dataset whose elements can be had by number, for a DataLoader: batches are made whole, in one go.

    It pickles, for workers that are spawned as well as forked ones. Batches are as `Dataset.at` makes them. A
    `collate_fn` of your own gets them from `collate`, which it has to call first.

    Damaged records that `on_corrupt="skip"` leaves out make batches smaller, and are counted in `skipped`. A batch of
    which nothing is left is a DataLossError, since a DataLoader cannot leave it out.

    Args:
        ds: a Dataset that is indexable.
        ragged: as for `loader`.

    Raises:
        InvalidArgumentError: it is not indexable; the text names the stage.

    >>> import tfrkit as tfr
    >>> from torch.utils.data import DataLoader
    >>> ds = tfr.Dataset.range(5).map(lambda x: {"x": x, "square": x * x})
    >>> next(iter(DataLoader(tfr.torch.MapDataset(ds), batch_size=3)))
    {'x': tensor([0, 1, 2]), 'square': tensor([0, 1, 4])}
    """

    def __init__(self, ds: Dataset, *, ragged: RaggedAs = "offsets") -> None:
        self._dataset = plain(ds)
        require_lookup(ds.node)
        self._varies = ds.node.varies
        self._make = TensorMaker(ragged)
        self._epoch = ToldEpoch()
        self._watch = RequestWatch()
        self._skipped = SharedCount()

    @cached_property
    def _found(self) -> tuple[Lookup, Context]:
        """The elements by number, and what is noted of them in this process."""
        context = new_context(self._dataset.node)
        return self._dataset.node.lookup(context), context

    @property
    def skipped(self) -> int:
        """Number of damaged records that were left out so far, here and in workers: each once an epoch and process."""
        return self._skipped.value

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """The first of those that were left out in this process, as (path, Damage)."""
        return self._found[1].damages

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch's order and seeds count from now on, here and in worker processes; at first it is 0."""
        self._epoch.tell(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Which epoch it is, of which pipeline and files; which numbers come next is the sampler's business."""
        return StateKeeper(self._dataset.node).write(None, 0, (self._epoch.told or 0, 0, None))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on in the epoch of a state, here and in worker processes, unless `set_epoch` has said which one it is.

        torchdata loads a state when the next pass begins, which may be that of the epoch after it.

        Raises:
            InvalidArgumentError: it is of another pipeline, or a file has changed.
        """
        keeper = StateKeeper(self._dataset.node)
        keeper.check(state)
        epoch, _, _ = keeper.more(state)
        keeper.adopt(state)
        if self._varies:
            self._epoch.load(epoch)

    def __len__(self) -> int:
        """The number of elements."""
        return len(self._dataset)

    def __getitem__(self, index: Any) -> Any:
        """Return one element as tensors; for a list of numbers a whole batch.

        Raises:
            TypeError: it is a slice.
        """
        if isinstance(index, slice):
            raise TypeError("MapDataset has no slices: slice the Dataset, MapDataset(ds[a:b]).")
        if np.ndim(index):
            return self._batch(index)
        return self._looked_up(checked_numbers([int(index)], self._found[0].size), self._begin(), single=True)

    def __getitems__(self, indices: Any) -> list[Any]:
        """Return the elements with these numbers as one batch of tensors, in a list for `collate` or torch's own.

        The batch stands there once for every number, as torch's StackDataset wants it.
        """
        return [_Finished(self._batch(indices))] * len(indices)

    def _batch(self, indices: Any) -> Any:
        numbers = np.asarray(indices, np.int64)
        epoch = self._begin(numbers)
        if not numbers.size:
            return self._make(self._dataset.at(numbers, epoch))
        return self._looked_up(checked_numbers(numbers, self._found[0].size), epoch)

    def _looked_up(self, numbers: Any, epoch: int, *, single: bool = False) -> Any:
        """Make tensors of what is found, and count what is left out.

        Raises:
            DataLossError: all is.
        """
        lookup, context = self._found
        before = context.skipped
        try:
            if single:
                return self._make(lookup.one(int(numbers[0]), epoch))
            found = lookup.at(numbers, epoch).chunk
            if len(found):
                return self._make(found.batch())
            raise IndexError(f"elements {numbers} were left out")
        except IndexError as error:
            raise nothing_left(self._dataset.node, numbers, epoch, _NO_BATCH) or error from None
        finally:
            self._skipped.add(context.skipped - before)

    def _begin(self, numbers: Any = None) -> int:
        if self._varies:
            seen = numbers is not None and self._watch.is_again(numbers, self._size, self._epoch.times)
            self._epoch.begin(again=seen)
        return self._epoch.told or 0

    @property
    def _size(self) -> int:
        endless = self._dataset.cardinality() == INFINITE_CARDINALITY
        return INFINITE_CARDINALITY if endless else len(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_found", "_watch")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._watch = RequestWatch()

    def __repr__(self) -> str:
        return f"<tfrkit.torch.MapDataset of {self._dataset!r}>"


class _CountedPass(Pass):
    """A pass that adds what it skips to a count which all processes see."""

    def __init__(
        self, owner: IterableDataset, state: Mapping[str, Any] | None, make: TensorMaker, total: SharedCount
    ) -> None:
        super().__init__(owner, state, make)
        self._total = total
        self._counted = 0

    def next(self) -> Any:
        try:
            return super().next()
        finally:
            self._total.add(max(0, self.skipped - self._counted))
            self._counted = self.skipped


class IterableDataset(_IterableBase):  # type: ignore[misc]  # no types without the package
    """Any dataset for a DataLoader: worker processes share the elements of a pass, and none comes twice.

    Batches are best made by the pipeline, and the DataLoader told `batch_size=None`: then they come in the same order
    with any number of workers.

    Args:
        ds: a Dataset. If it is indexable, each worker reads and makes its own elements only; otherwise each runs the
            whole pipeline and keeps its own.
        rank: which part of `world` this process has; by default nothing is divided among processes.
        world: how many parts there are.
        tail: what is done with elements that cannot be divided among ranks, as for `Dataset.shard`.
        ragged: as for `loader`.

    Raises:
        InvalidArgumentError: only one of rank and world is given, or `Dataset.shard` refuses them.

    >>> import tfrkit as tfr
    >>> from torch.utils.data import DataLoader
    >>> ds = tfr.torch.IterableDataset(tfr.Dataset.range(8).batch(2), rank=1, world=2)
    >>> list(DataLoader(ds, batch_size=None))
    [tensor([2, 3]), tensor([6, 7])]
    """

    def __init__(
        self,
        ds: Dataset,
        rank: int | None = None,
        world: int | None = None,
        *,
        tail: str | None = None,
        ragged: RaggedAs = "offsets",
    ) -> None:
        if (rank is None) != (world is None):
            raise InvalidArgumentError(
                f"Expected rank and world together but got rank={rank}, world={world}."
            )
        self._dataset = plain(ds)
        if rank is not None and world is not None:
            self._dataset = self._dataset.shard(world, rank, tail=tail)
        seeds = find_seeds(ds.node)
        self._varies = ds.node.varies or any(each.varies for each in seeds)
        self._make = TensorMaker(ragged)
        self._epoch = ToldEpoch()
        self._skipped = SharedCount()
        self._passes = 0  # that were begun in this process, or epochs before the next one
        self._ended: int | None = None  # how often an epoch had been told when the last pass ended
        self._pending: LoadedState | None = None  # what the next pass resumes from
        self._waiting = WaitingState()  # whether workers that have not got it should have
        self._used: LoadedState | None = None  # what an earlier one resumed from
        self._resumed: Mapping[str, Any] | None = None  # what the last pass of this process resumed from
        self._pass: Pass | None = None

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch's order and seeds count from now on, here and in worker processes.

        Without it the passes of one process are counted; worker processes cannot do that, and run epoch 0.
        """
        self._epoch.tell(epoch)
        loaded = {} if self._pending is None else self._pending.state
        if loaded.get("epoch", epoch) != epoch and not loaded.get(_OVER):
            self._pending = None
            self._waiting.settle()
        if self._resumed is not None and self._resumed.get("epoch", epoch) != epoch:
            self._resumed = None

    def __len__(self) -> int:
        """The number of elements that the DataLoaders of this rank give in a pass.

        Raises:
            TypeError: it is not known.
        """
        return len(self._dataset)

    @property
    def skipped(self) -> int:
        """Number of damages in files that all passes have skipped so far, here and in every worker that met them."""
        return self._skipped.value

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """The first of those that the last pass of this process skipped, as (path, Damage)."""
        return [] if self._pass is None else self._pass.damages

    def __iter__(self) -> PassIterator:
        self._pass = _CountedPass(self, self._due(), self._make, self._skipped)
        return PassIterator(self._pass)

    def state_dict(self) -> dict[str, Any]:
        """Where the last pass of this process stands, or the next one after loading; of a worker, its own part.

        State taken within a pass resumes within it; state taken after its end begins the next one.
        """
        if self._pass is None:
            return self._state_before()
        return self._pass.state() | ({_OVER: True} if self._pass.over else {})

    def _state_before(self) -> dict[str, Any]:
        """Where the next pass will begin; asking for it begins none."""
        due, told = self._due(), self._epoch.told
        if due is not None:
            return dict(due)
        node = self._part(elastic=False).node
        seeds = find_seeds(node)
        before = save_seeds(seeds)
        try:
            if told is not None:
                move_seeds(node, told)
            with contextlib.closing(
                DatasetIterator(node, epoch=self._passes if told is None else told)
            ) as iterator:
                return iterator.state()
        finally:
            restore_seeds(seeds, before)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next pass go on from a state of as many workers, or from a position; those after it begin anew.

        Workers that are started after it get it. One that was before, with `persistent_workers=True`, refuses to begin
        the next pass: make a new DataLoader.
        """
        self._pending, self._pass = LoadedState(copy.copy(state)), None  # each is known by its own copy
        self._waiting.load()

    def _due(self) -> Mapping[str, Any] | None:
        """What a pass that begins now resumes from."""
        return self._pending.state if self._pending is not None and self._pending.is_due() else None

    def position(self, taken: int) -> dict[str, Any]:
        """Where the epoch stands when the DataLoader of every rank has given so many elements.

        Workers make elements ahead, so that only the training loop knows the number. `load_state_dict` goes on from it
        with any number of ranks and workers.

        Args:
            taken: elements of the pipeline since the pass was begun, or resumed: of a DataLoader with
                `batch_size=None`, how often its loop went round.

        Raises:
            InvalidArgumentError: a stage of the dataset prevents it.
        """
        loaded = self._pending.state if self._pending is not None and not self._pending.is_over else None
        start, epoch = loaded or self._resumed, self._epoch.told
        if epoch is None:
            epoch = max(0, self._passes - 1)
        iterator = DatasetIterator(self._dataset.node, start, epoch=epoch)
        try:
            mark = iterator.bookmark()
            epoch, before, origin = mark.passed
            return mark._replace(passed=(epoch, (before or 0) + taken, origin)).position()
        finally:
            iterator.close()

    def open(self, state: Mapping[str, Any] | None) -> DatasetIterator:
        """Begin the part of this worker, or resume it; a Pass calls it."""
        if state is None:
            self._waiting.check()
        part = self._part(is_position(state))
        told = self._epoch.told
        begins = state is None or bool(state.get(_OVER))
        if self._varies and (begins or self._is_told(state)):
            self._epoch.begin(again=self._ended == self._epoch.times, resumed=state is not None)
        self._resumed = None if begins else state
        if self._used is not None and self._used.state is not state:
            self._used.leave()
        if self._pending is not None and not self._pending.is_due():
            self._pending = None
        if state is not None:
            iterator = part.iter_from(state)
            self._passes = iterator.epoch + 1
            if not begins:
                return iterator
            iterator.close()  # it has brought the seeds to where they were
        epoch, self._passes = self._passes if told is None else told, self._passes + 1
        if told is not None:
            move_seeds(part.node, told)
        return DatasetIterator(part.node, epoch=epoch)

    def begun(self, state: Mapping[str, Any] | None) -> None:
        """Forget what was to be resumed, if that was it; a Pass calls it."""
        if self._pending is not None and self._pending.state is state:
            self._pending.use()
            self._waiting.settle()
            self._used, self._pending = self._pending, None

    def ended(self, state: Mapping[str, Any] | None) -> None:
        """Note when that was; a Pass calls it."""
        self.begun(state)
        if _data.get_worker_info() is not None and self._is_told(state):
            self._ended = self._epoch.times

    def _is_told(self, state: Mapping[str, Any] | None) -> bool:
        """Whether a pass that goes on from a state is of the epoch that was told, as far as is known."""
        told = self._epoch.told
        return state is None or told is None or state.get("epoch", told) == told

    def _part(self, elastic: bool) -> Dataset:
        """The elements of this worker: those of a rank in turns, as the DataLoader takes them."""
        info = _data.get_worker_info()
        if info is None or info.num_workers == 1:
            return self._dataset
        node = self._dataset.node
        endless = self._dataset.cardinality() == INFINITE_CARDINALITY
        if elastic or endless or node.by_number or not self._dataset.indexable:
            # Not shard(), which refuses a seed that was drawn: workers have got the one of their parent.
            return Dataset(ShardNode(node, info.num_workers, info.id, alone=True))
        part: Dataset = self._dataset[info.id :: info.num_workers]
        return part

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_pass": None}

    def __repr__(self) -> str:
        return f"<tfrkit.torch.IterableDataset of {self._dataset!r}>"


def collate(batch: Any) -> Any:
    """Put elements together as a DataLoader does, and leave a batch that is finished as it is.

    A DataLoader does the same by default; this is for a `collate_fn` that changes batches.

    >>> collate({"x": 1}), collate([{"x": 1}, {"x": 2}])
    ({'x': 1}, {'x': tensor([1, 2])})
    """
    return _data.default_collate(batch) if isinstance(batch, list) else batch
