"""Batches for Keras 3: `PyDataset`, which `model.fit` takes on every backend.

Batch i of an epoch is a function of the seeds, the epoch and i, so that Keras may ask in any order. Keras itself is
imported when `PyDataset` is first used: it is a subclass of Keras's own class, which is made then.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from tfrkit.cached_property import cached_property
from tfrkit.data.arguments import integer
from tfrkit.data.dataset import Dataset
from tfrkit.data.elements.structure import is_nested, parts, rebuild
from tfrkit.data.engine.iterator import new_context
from tfrkit.data.engine.lookup import Lookup, checked_numbers, require_lookup
from tfrkit.data.engine.node import Context, Node
from tfrkit.data.left_out import nothing_left
from tfrkit.errors import InvalidArgumentError
from tfrkit.integrations.dataset_argument import require_dataset
from tfrkit.model.near_names import missing_name, near_names
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.optional import require
from tfrkit.records.read.damage import Damage
from tfrkit.threads import spawn

__all__ = ["PyDataset"]

_Chosen: TypeAlias = str | int | Sequence[str | int] | Mapping[str, str | int]
_NO_BATCH: Final = (
    "Keras cannot leave a batch out: make batches larger, so that an intact record is in each (global_shuffle spreads "
    "damage that stands together)"
)
_NO_TENSORS: Final = "OSU"  # kinds of arrays that no backend has: objects and strings


class _Batches:
    """Batches of a Dataset for Keras, as a keras.utils.PyDataset.

    Elements of the dataset are batches: dicts, or tuples `(inputs, targets)` or `(inputs, targets, weights)`, which
    need no names. Every pass over all batches is an epoch of the dataset, in the order that `global_shuffle` has then.
    Give `fit` the argument shuffle=False: samples are shuffled already, and batches that come in order are made ahead.
    Damaged records that `on_corrupt="skip"` leaves out make their batches smaller, and are counted in `skipped`. A
    batch of which nothing is left is a DataLossError, since Keras cannot leave it out.

    Args:
        ds: an indexable dataset of batches; one of `tfrkit.tf` too.
        inputs: a feature; or a list of features, for inputs in this order; or a dict of features by the names of the
            model's inputs. Numbers, if elements are tuples. None: the whole element.
        targets: the same for targets; None if there are none.
        weights: the same for weights of samples, such as the `mask` of `shard(tail="repeat")`.
        workers: how many batches are made ahead, in threads of this process; 0 for none. Keras's own workers are not
            used: they carry batches of one pass over into the next.
        epoch: where to begin, for `fit(initial_epoch=)`.

    Raises:
        InvalidArgumentError: elements cannot be had by number (it names the stage), or there are weights without
            targets, or targets without inputs. Later, at the first batch: there is none, or a feature is missing, or is
            no tensor.
        MissingExtraError: keras is not installed.
    """

    def __init__(
        self,
        ds: Dataset,
        inputs: _Chosen | None = None,
        targets: _Chosen | None = None,
        weights: _Chosen | None = None,
        *,
        workers: int = 1,
        epoch: int = 0,
    ) -> None:
        """Choose what Keras gets of each batch."""
        super().__init__()  # Keras's own workers stay as they are by default: none
        require_lookup(require_dataset(ds).node)
        chosen = [inputs, targets, weights]
        self._chosen = [each for each in chosen if each is not None]
        if self._chosen != chosen[: len(self._chosen)]:
            raise InvalidArgumentError(
                "PyDataset: targets need inputs, and weights need targets: pass these too."
            )
        self._dataset = ds
        self._depth = integer(workers, "workers")
        self._epoch = integer(epoch, "epoch")
        self._asked: set[int] = set()  # batches of this epoch that Keras has had
        self._looking = False  # Keras asks to build a model, not for training
        self._last = -1  # batch that it asked for
        self._ahead: dict[int, Future[Any]] = {}  # batches of this epoch that are being made

    @cached_property
    def _found(self) -> tuple[Lookup, Context]:
        """The batches by number, and what is noted of them."""
        context = new_context(self._dataset.node)
        return self._dataset.node.lookup(context), context

    @property
    def skipped(self) -> int:
        """Number of damaged records that were left out so far, each once an epoch, by what is made ahead too."""
        return self._found[1].skipped

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """The first of them, as (path, Damage)."""
        return self._found[1].damages

    @property
    def num_batches(self) -> int | None:
        """Number of batches of an epoch; None if there is no end: `fit` then needs steps_per_epoch."""
        size = self._found[0].size
        return None if size < 0 else size

    def __len__(self) -> int:
        if self.num_batches is None:
            raise TypeError("The dataset is infinite.")
        return self.num_batches

    @property
    def epoch(self) -> int:
        """The epoch of the dataset that batches are of; it may be set."""
        return self._epoch

    @epoch.setter
    def epoch(self, number: int) -> None:
        if number != self._epoch:
            self._epoch = integer(number, "epoch")
            self._asked.clear()
            self._forget()

    @property
    def callback(self) -> Any:
        """A callback for `fit` that makes Keras's number of the epoch the dataset's.

        Without it the passes of this object are counted. It is for runs that Keras itself resumes (BackupAndRestore).
        With `steps_per_epoch` a pass goes on over as many epochs of Keras as it needs, in one order; a run that is
        resumed within a pass begins it anew, as Keras asks for its first batch.
        """
        base: Any = require("keras", "PyDataset.callback").callbacks.Callback
        told = self._told

        class TellEpoch(base):  # type: ignore[misc]  # no types without the package
            def on_train_begin(self, logs: Any = None) -> None:
                told(None, None)

            def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
                told(epoch, self.params.get("steps"))

        return TellEpoch()

    def _told(self, epoch: int | None, steps: int | None) -> None:
        """Hear that Keras begins to train, or an epoch of so many steps: a pass takes one of these, or several."""
        if epoch is None:
            self._asked.clear()  # Keras begins a pass
        elif not self._asked:
            passes = 1 if not steps or self.num_batches is None else -(-self.num_batches // steps)
            self.epoch = epoch // max(1, passes)

    def on_epoch_begin(self) -> None:
        """Note whether Keras only looks at a batch, to build a model: that is no part of a pass.

        Raises:
            InvalidArgumentError: there is no batch.
        """
        if self.num_batches == 0:
            raise InvalidArgumentError(f"PyDataset has no batches: {_why_empty(self._dataset.node)}.")
        self._looking = _only_looks()

    def on_epoch_end(self) -> None:
        """Begin the next epoch, if all batches of this one were asked for.

        Keras also calls it when it has looked at a batch to build a model, and after `steps_per_epoch` batches.
        """
        looked, self._looking = self._looking, False
        if not looked and len(self._asked) == self.num_batches:
            self.epoch += 1

    def __getitem__(self, index: int) -> Any:
        """Return a batch of the epoch, and begin to make the next ones if batches come in order."""
        size = self._found[0].size
        number = int(checked_numbers([index], size)[0])
        if number != self._last + 1 and number:
            self._forget()
        else:
            stop = number + 1 + self._depth
            for each in range(number + 1, stop if size < 0 else min(stop, size)):
                if each not in self._ahead:
                    self._ahead[each] = spawn(self._made, each, self._epoch)
        self._last = number
        ahead = self._ahead.pop(number, None)
        made = self._made(number, self._epoch) if ahead is None else ahead.result()
        if not self._looking:
            self._asked.add(number)
        return made

    def _forget(self) -> None:
        for each in self._ahead.values():
            each.cancel()
        self._ahead.clear()

    def _made(self, number: int, epoch: int) -> tuple[Any, ...]:
        try:
            element = self._found[0].one(number, epoch)
        except IndexError as error:
            raise nothing_left(self._dataset.node, number, epoch, _NO_BATCH) or error from None
        if self._chosen:
            return tuple(_pick(element, each) for each in self._chosen)
        if type(element) is tuple:
            return tuple(_tensors(part, f"[{place}]") for place, part in enumerate(element))
        return (_tensors(element, ""),)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_found"} | {"_ahead": {}}


def _only_looks() -> bool:
    """Whether Keras asks for batches to build a model. It does not say so: only its functions that call differ."""
    frame = inspect.currentframe()
    while frame is not None and not frame.f_code.co_name.endswith("_symbolic_build"):
        frame = frame.f_back
    return frame is not None


def _why_empty(node: Node) -> str:
    """Name the stage after which nothing is left."""
    for each in node.inputs:
        size = each.lookup(new_context(each)).size
        return f"{node.label} leaves nothing of {size:,} elements" if size else _why_empty(each)
    return f"there is nothing in {node.label}"


def _pick(element: Any, chosen: _Chosen) -> Any:
    if isinstance(chosen, Mapping):
        return {name: _pick(element, each) for name, each in chosen.items()}
    if not isinstance(chosen, (str, int)):
        return tuple(_pick(element, each) for each in chosen)
    try:
        return _tensors(element[chosen], f"[{chosen!r}]")
    except (LookupError, TypeError):
        names = list(element) if isinstance(element, dict) else []
        known = near_names(str(chosen), names) if names else f"Elements are of type {type(element).__name__}."
        raise InvalidArgumentError(f"PyDataset: a batch has no {chosen!r}. {known}") from None


def _tensors(value: Any, name: str) -> Any:
    """Check that all values are arrays of numbers; `name` is where they stand in a batch."""
    if isinstance(value, dict):
        return {key: _tensors(part, f"{name}[{key!r}]") for key, part in value.items()}
    if is_nested(value):
        inner = [_tensors(part, f"{name}[{place}]") for place, part in enumerate(parts(value))]
        return rebuild(value, inner)
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind not in _NO_TENSORS:
        return value
    kind = type(value).__name__
    choose = "or leave it out: inputs= and targets= choose."
    if isinstance(value, (np.generic, bytes)) or not getattr(value, "ndim", 1):
        what = f"one value of type {kind}. Elements have to be batches: put batch() last."
    elif isinstance(value, (Ragged, Sparse)):
        what = f"a {kind}, with rows of different lengths. Pad them (padded_batch, or to_padded in a map), {choose}"
    else:
        what = f"a {kind}, of which Keras has no tensors. Decode it (decode_image, decode_raw), {choose}"
    raise InvalidArgumentError(f"PyDataset: batch{name} is {what}")


if TYPE_CHECKING:

    class PyDataset(_Batches):
        """See `_Batches`: a subclass of keras.utils.PyDataset, too."""

else:

    def __getattr__(name: str) -> Any:
        if name != "PyDataset":
            raise missing_name(__name__, name, __all__)
        base = require("keras", "tfrkit.keras.PyDataset").utils.PyDataset
        own = {"__doc__": _Batches.__doc__, "__module__": __name__}
        made = globals()[name] = type(name, (_Batches, base), own)
        return made


def __dir__() -> list[str]:
    return __all__
