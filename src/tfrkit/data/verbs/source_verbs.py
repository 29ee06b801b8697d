"""SourceVerbs: the verbs of Dataset that begin a pipeline: numbers, arrays in memory, generators, names of files.

Datasets of the contents of files are classes of their own: `records_dataset.py`, `text_lines.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tfrkit.data.arguments import integer
from tfrkit.data.elements import element_values as convert
from tfrkit.data.engine.node import INFINITE_CARDINALITY
from tfrkit.data.shuffle.epoch_seeds import SeedGenerator
from tfrkit.data.sources.generator import make_generator_node
from tfrkit.data.sources.list_files import make_list_files_node
from tfrkit.data.sources.numbers import RandomNode, RangeNode
from tfrkit.data.sources.slices import make_slices_node, make_tensors_node
from tfrkit.data.verbs.verb_group import VerbGroup
from tfrkit.errors import InvalidArgumentError

if TYPE_CHECKING:
    from tfrkit.data.dataset import Dataset

__all__ = ["SourceVerbs"]


class SourceVerbs(VerbGroup):
    """Where elements come from."""

    @classmethod
    def range(cls, *args: int, output_type: Any = None, name: str | None = None) -> Dataset:
        """Count, as Python's range does; int64 unless another type is asked for.

        >>> import numpy as np, tfrkit as tfr
        >>> list(tfr.Dataset.range(5, 1, -2)) == [5, 3]
        True
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(
                f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}."
            )
        numbers = [integer(each, "args") for each in args]
        first, stop, step = {1: (0, *numbers, 1), 2: (*numbers, 1), 3: numbers}[len(args)]
        if step == 0:
            raise InvalidArgumentError("step must be a non-zero integer.")
        count = max(0, -((first - stop) // step))
        dtype = np.dtype(np.int64) if output_type is None else convert.as_dtype(output_type)
        return cls._over(RangeNode(first, step, count, dtype))

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Dataset:
        """One element for each row of the given arrays.

        >>> import tfrkit as tfr
        >>> [int(x) for x in tfr.Dataset.from_tensor_slices([1, 2, 3])]
        [1, 2, 3]
        """
        return cls._over(make_slices_node(tensors))

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Dataset:
        """A single element: the given arrays themselves.

        >>> import numpy as np, tfrkit as tfr
        >>> list(tfr.Dataset.from_tensors((1, "a")))
        [(np.int32(1), b'a')]
        """
        return cls._over(make_tensors_node(tensors))

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What a generator yields; it is called anew for every iterator.

        Args:
            generator: a function that returns an iterable.
            output_types: types of the elements' parts.
            output_shapes: shapes of the elements' parts.
            args: arguments for the generator.
            output_signature: a structure of TensorSpec and the like, instead of types and shapes.
            name: ignored; TensorFlow has it.
        """
        return cls._over(make_generator_node(generator, output_types, output_shapes, args, output_signature))

    @classmethod
    def list_files(
        cls,
        file_pattern: Any,
        shuffle: bool | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Names of the files that match, as bytes; matching happens now.

        Args:
            file_pattern: a pattern or several, by TensorFlow's rules: `*`, `?` and `[...]` within one part of a path,
                dot files and folders included.
            shuffle: False returns them sorted; otherwise they are shuffled anew in every pass.
            seed: for the order; see `shuffle`.
            name: ignored; TensorFlow has it.

        Raises:
            InvalidArgumentError: nothing matches.
        """
        return cls._over(make_list_files_node(file_pattern, shuffle, seed))

    @classmethod
    def counter(cls, start: Any = 0, step: Any = 1, dtype: Any = "int64", name: str | None = None) -> Dataset:
        """Count without end.

        >>> import tfrkit as tfr
        >>> [int(x) for x in tfr.Dataset.counter(5, 2).take(3)]
        [5, 7, 9]
        """
        return cls._over(RangeNode(start, step, INFINITE_CARDINALITY, convert.as_dtype(dtype)))

    @classmethod
    def random(
        cls, seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """Random numbers of 32 bits, as int64, without end; TensorFlow's for a seed.

        Args:
            seed: an integer; None draws one.
            rerandomize_each_iteration: others in every pass.
            name: ignored; TensorFlow has it.
        """
        return cls._over(RandomNode(SeedGenerator.of(seed, bool(rerandomize_each_iteration))))
