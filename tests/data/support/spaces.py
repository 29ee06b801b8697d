"""What pipelines of tests are written against: classes that build them, functions that mean the same everywhere.

A test's function runs as Python in tfrkit and as a graph in TensorFlow, where a branch or a `len` would not do. So it
is made of operators and of the methods of a `Space`: `PythonSpace` here, TensorFlow's in `tests/oracle`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import tfrkit as tfr

TOLD = "told to fail"


class ToldError(Exception):
    """What a function of a test raises when it shall fail."""


@dataclass(frozen=True)
class Space(ABC):
    """The classes of one library."""

    name: str
    Dataset: Any
    TFRecordDataset: Any
    TextLineDataset: Any
    TensorSpec: Any
    set_seed: Callable[[int | None], None]
    AUTOTUNE: int = -1

    @abstractmethod
    def check(self, condition: Any, value: Any) -> Any:
        """The value if the condition holds; otherwise the function fails here."""

    @abstractmethod
    def where(self, condition: Any, this: Any, that: Any) -> Any:
        """The one or the other scalar."""

    @abstractmethod
    def full(self, count: Any, value: Any) -> Any:
        """A vector of so many equal values."""

    @abstractmethod
    def length(self, value: Any) -> Any:
        """The first size of an array."""

    @abstractmethod
    def cast(self, value: Any, dtype: str) -> Any:
        """A number in another type."""

    @abstractmethod
    def text(self, number: Any) -> Any:
        """An integer as a string."""

    @abstractmethod
    def note(self, number: Any, calls: list[int]) -> Any:
        """The number; each time a function comes here, the list grows by it."""

    @abstractmethod
    def parse(self, dataset: Any, batched: bool) -> Any:
        """Parse Examples with the features n (an integer), pair (two floats) and name (a string)."""

    def assert_cardinality(self, dataset: Any, count: int) -> Any:
        """The dataset that says it has so many elements."""
        return dataset.assert_cardinality(count)

    def amount(self, element: Any) -> Any:
        """A number made of all that is in an element: sums of numbers and lengths of strings, int64."""
        if isinstance(element, Mapping):
            element = tuple(element[key] for key in sorted(element))
        if isinstance(element, tuple) and not hasattr(element, "dense_shape"):
            total = self.amount(element[0])
            for part in element[1:]:
                total = total + self.amount(part)
            return total
        return self.leaf_amount(element)

    @abstractmethod
    def leaf_amount(self, leaf: Any) -> Any:
        """The same of one array."""


@dataclass(frozen=True)
class PythonSpace(Space):
    """Classes whose functions run as Python: tfrkit's, or those of its plain engine."""

    def check(self, condition: Any, value: Any) -> Any:
        """Raise ToldError unless the condition holds."""
        if not condition:
            raise ToldError(TOLD)
        return value

    def where(self, condition: Any, this: Any, that: Any) -> Any:
        """Choose."""
        return this if condition else that

    def full(self, count: Any, value: Any) -> Any:
        """An array; of strings an object array."""
        return np.array([value] * int(count), object if isinstance(value, bytes) else np.asarray(value).dtype)

    def length(self, value: Any) -> Any:
        """As Python counts."""
        return len(value)

    def cast(self, value: Any, dtype: str) -> Any:
        """A numpy scalar."""
        return np.asarray(value).astype(dtype)[()]

    def text(self, number: Any) -> Any:
        """The digits."""
        return str(int(number)).encode()

    def parse(self, dataset: Any, batched: bool) -> Any:
        """The verb sees by itself whether they are batches."""
        return dataset.parse(
            {
                "n": tfr.FixedLenFeature([], "int64"),
                "pair": tfr.FixedLenFeature([2], "float32"),
                "name": tfr.FixedLenFeature([], "bytes"),
            }
        )

    def note(self, number: Any, calls: list[int]) -> Any:
        """Append."""
        calls.append(int(number))
        return number

    def leaf_amount(self, leaf: Any) -> Any:
        """Sum up."""
        if isinstance(leaf, bytes):
            return np.int64(len(leaf))
        if isinstance(leaf, tfr.Ragged):
            return self.leaf_amount(leaf.flat_values)
        if isinstance(leaf, tfr.BytesColumn):
            leaf = leaf.to_numpy()
        array = np.asarray(leaf)
        if array.dtype.kind in "OS":
            return np.int64(sum(map(len, array.reshape(-1).tolist())))
        return np.int64(array.sum())


def tfrkit_space() -> PythonSpace:
    """tfrkit itself."""
    return PythonSpace(
        "tfrkit", tfr.Dataset, tfr.TFRecordDataset, tfr.TextLineDataset, tfr.TensorSpec, tfr.set_seed
    )
