"""ElementVerbs: the verbs of Dataset that change or select single elements, mostly with a user's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tfrkit.data.arguments import integer
from tfrkit.data.elements import element_values as convert
from tfrkit.data.engine.node import INFINITE_CARDINALITY
from tfrkit.data.sources.numbers import RangeNode
from tfrkit.data.stages.filter import FilterNode, TakeWhileNode
from tfrkit.data.stages.ignore_errors import IgnoreErrorsNode
from tfrkit.data.stages.interleave import InterleaveNode, resolve_cycle
from tfrkit.data.stages.map import MapNode
from tfrkit.data.stages.scan import ScanNode
from tfrkit.data.stages.seeded import make_seeded_node
from tfrkit.data.stages.unique import UniqueNode
from tfrkit.data.stages.zip import make_zip_node
from tfrkit.data.verbs.verb_group import VerbGroup
from tfrkit.errors import InvalidArgumentError

if TYPE_CHECKING:
    from tfrkit.data.dataset import Dataset

__all__ = ["ElementVerbs"]


class ElementVerbs(VerbGroup):
    """Functions of elements."""

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
        *,
        seeded: bool = False,
        seed: int | None = None,
    ) -> Dataset:
        """Apply a function to every element.

        Args:
            map_func: takes an element (the parts of a tuple as arguments) and returns another.
            num_parallel_calls: how many calls may run at once; AUTOTUNE finds out.
            deterministic: keep the order (the default) although calls run at once. It is kept anyway before stages
                that make elements again to resume from a state: shuffle, cache, unbatch, zip, interleave.
            synchronous: ignored; TensorFlow has it.
            use_unbounded_threadpool: ignored; TensorFlow has it.
            name: ignored; TensorFlow has it.
            seeded: hand the function a seed as its last argument: two numbers in an int64 array, made of `seed`, the
                epoch and the sample. Random augmentation is then the same on any number of ranks, workers and threads,
                and new in every epoch.
            seed: for `seeded`; None takes that of the global_shuffle before it, if one was given there, or draws one,
                which travels with the dataset and refuses `shard`.

        >>> import numpy as np, tfrkit as tfr
        >>> def noisy(x, seed):
        ...     return x + np.random.default_rng(seed).random()
        >>> ds = tfr.Dataset.range(3).map(noisy, seeded=True, seed=1)
        >>> list(ds.epoch(0))[1:2] == list(ds.shard(2, 1).epoch(0)), list(ds.epoch(0)) == list(ds.epoch(1))
        (True, False)
        """
        if seed is not None and not seeded:
            raise InvalidArgumentError("seed= is for functions that get one: pass seeded=True too.")
        node = make_seeded_node(self.node, seed) if seeded else self.node
        return self._over(MapNode(node, self._function(map_func), num_parallel_calls, deterministic))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Keep the elements for which a function is true.

        Args:
            predicate: takes an element (the parts of a tuple as arguments) and returns a bool. Anything else is a
                ValueError at that element.
            name: ignored; TensorFlow has it.

        >>> import numpy as np, tfrkit as tfr
        >>> list(tfr.Dataset.range(5).filter(lambda x: x > 2))
        [np.int64(3), np.int64(4)]
        """
        return self._over(FilterNode(self.node, self._function(predicate)))

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Put a number, from `start` on, before every element.

        >>> import numpy as np, tfrkit as tfr
        >>> list(tfr.Dataset.from_tensor_slices(["a", "b"]).enumerate(start=5))
        [(np.int64(5), b'a'), (np.int64(6), b'b')]
        """
        numbers = self._over(RangeNode(integer(start, "start"), 1, INFINITE_CARDINALITY, np.dtype(np.int64)))
        return self._over(make_zip_node((numbers, self), None))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """Make a dataset of every element, and return their elements one after another.

        Args:
            map_func: takes an element and returns a Dataset. Anything else is a TypeError at that element.
            name: ignored; TensorFlow has it.

        >>> import tfrkit as tfr
        >>> [int(x) for x in tfr.Dataset.range(4).flat_map(tfr.Dataset.range)]
        [0, 0, 1, 0, 1, 2]
        """
        return self._over(InterleaveNode(self.node, self._function(map_func), 1, 1, None, None, "flat_map"))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Make a dataset of every element, and take from several of them in turn.

        Args:
            map_func: takes an element and returns a Dataset.
            cycle_length: of how many at once; by default as many as there are cores.
            block_length: how many elements of one before the next has its turn; by default 1.
            num_parallel_calls: how many of them are read ahead at once; at most `cycle_length`.
            deterministic: False: whichever has an element first.
            name: ignored; TensorFlow has it.

        Raises:
            InvalidArgumentError: a length is not positive.
            ValueError: there are more parallel calls than datasets in turn.

        >>> import tfrkit as tfr
        >>> ds = tfr.Dataset.range(1, 4).interleave(lambda x: tfr.Dataset.from_tensors(x).repeat(3), 2, 2)
        >>> [int(x) for x in ds]
        [1, 1, 2, 2, 1, 2, 3, 3, 3]
        """
        cycle, block = resolve_cycle(cycle_length, block_length, num_parallel_calls)
        return self._over(
            InterleaveNode(
                self.node,
                self._function(map_func),
                cycle,
                block,
                num_parallel_calls,
                deterministic,
                "interleave",
            )
        )

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """What a function makes of a running state and each element.

        Args:
            initial_state: a value, or a tuple or dict of them.
            scan_func: takes the state and an element (each as one argument) and returns the next state and what comes
                out.
            name: ignored; TensorFlow has it.

        Raises:
            TypeError: it does not return a pair, or a state of another type.

        >>> import numpy as np, tfrkit as tfr
        >>> [int(x) for x in tfr.Dataset.range(5).scan(np.int64(0), lambda total, x: (total + x, total + x))]
        [0, 1, 3, 6, 10]
        """
        return self._over(ScanNode(self.node, convert.to_tensors(initial_state), self._function(scan_func)))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which a function is false.

        >>> import tfrkit as tfr
        >>> [int(x) for x in tfr.Dataset.range(9).take_while(lambda x: x != 3)]
        [0, 1, 2]
        """
        return self._over(TakeWhileNode(self.node, self._function(predicate)))

    def unique(self, name: str | None = None) -> Dataset:
        """Every element once, where it comes first; all that came are remembered.

        Raises:
            TypeError: elements are not int32, int64 or strings.
            InvalidArgumentError: they have several parts.
        """
        return self._over(UniqueNode(self.node))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """Leave out what fails; `DatasetIterator.ignored` counts it, and `log_warning` logs it.

        >>> import tfrkit as tfr
        >>> [int(x) for x in tfr.Dataset.range(3).map(lambda x: 2 // int(x)).ignore_errors()]
        [2, 1]
        """
        return self._over(IgnoreErrorsNode(self.node, bool(log_warning)))
