"""Plans: specs for Examples, compiled once, with everything that parsing needs.

Compiling takes a millisecond, finding a compiled plan half a microsecond, which keeps a Python loop over single
examples fast.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from operator import is_
from typing import Any, Final, Generic, TypeVar

import numpy as np

from tfrkit import _core
from tfrkit.model.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from tfrkit.parsing.assemble import Make, batch_maker, single_maker
from tfrkit.parsing.expected_features import Attributes, ExpectedFeature, ExpectedFeatures, find_expected

__all__ = [
    "ExamplesPlan", "PlanCache", "ResultMaker", "compile_examples", "native_slot", "rename", "tensorflow_order",
]  # fmt: skip

_ALLOWED: Final = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature)
_NOT_DENSE: Final = (VarLenFeature, SparseFeature, RaggedFeature)
_CACHED: Final = 128  # specs; the oldest goes first
_PLAIN: Final = (bool, int, float, str, bytes)
_Plan = TypeVar("_Plan")


class PlanCache(Generic[_Plan]):
    """A cache of compiled specs. Thread-safe.

    A dict that was seen before is found by its identity, if it still holds the same features under the same keys; an
    equal one by its contents. A change inside a feature is not noticed, such as of a list that is its shape.
    """

    __slots__ = ("_by_content", "_by_identity", "_compile", "_lock")

    def __init__(self, compile_specs: Callable[..., _Plan]) -> None:
        self._compile = compile_specs
        self._by_identity: dict[Hashable, tuple[_Copy, _Copy, _Plan]] = {}
        self._by_content: dict[Hashable, tuple[_Copy, _Copy, _Plan]] = {}
        self._lock = threading.Lock()

    def get(self, spec: Any) -> _Plan:
        """Return the plan of a spec."""
        found = self._by_identity.get(id(spec))
        if found is not None and (found[0].items.are_in(spec) or found[0].is_of(spec)):
            return found[2]
        return self._find(id(spec), (spec,))

    def get_pair(self, first: Any, second: Any) -> _Plan:
        """Return the plan of two specs that belong together; either may be None."""
        key = (id(first), id(second))
        found = self._by_identity.get(key)
        if found is not None and found[0].is_of(first) and found[1].is_of(second):
            return found[2]
        return self._find(key, (first, second))

    def __len__(self) -> int:
        return len(self._by_content)

    def _find(self, key: Hashable, specs: tuple[Any, ...]) -> _Plan:
        # The copies are taken before compiling, as another thread may change the spec meanwhile.
        copies = [_Copy(spec) for spec in specs]
        content = tuple(copy.fingerprint() for copy in copies)
        found = self._by_content.get(content)
        plan = self._compile(*(copy.spec for copy in copies)) if found is None else found[2]
        entry = (copies[0], copies[-1], plan)
        with self._lock:
            _keep(self._by_identity, key, entry)
            if found is None:
                _keep(self._by_content, content, entry)
        return plan


def _keep(plans: dict[Hashable, Any], key: Hashable, entry: Any) -> None:
    plans.pop(key, None)
    while len(plans) >= _CACHED:
        del plans[next(iter(plans))]
    plans[key] = entry


class _Copy:
    """A spec as it was when it was compiled; the order of its keys is that of the result."""

    __slots__ = ("items", "keys", "spec", "values")

    def __init__(self, spec: Any) -> None:
        if spec and not isinstance(spec, Mapping):
            raise TypeError(f"expected a dict of names and features but got {type(spec).__name__}")
        self.spec: Any = dict(spec) if isinstance(spec, Mapping) else spec
        content = self.spec if isinstance(self.spec, dict) else {}
        self.items = _core.DictItems(content)  # compares in a quarter of the time that `is_of` takes
        self.keys = [*content]
        self.values = [*content.values()]

    def is_of(self, spec: Any) -> bool:
        """Whether a spec holds these very features, which are alive as long as this is."""
        if not spec:
            return not self.keys
        return (
            len(spec) == len(self.values)
            and all(map(is_, spec.values(), self.values))
            and [*spec] == self.keys
        )

    def fingerprint(self) -> Hashable:
        """What the spec says, with types: 1 is not 1.0, and tuples of different classes are not the same."""
        return _fingerprint(self.spec)


def _fingerprint(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple((key, _fingerprint(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return type(value).__name__, *map(_fingerprint, value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if value is None or type(value) in _PLAIN:
        return type(value), repr(value)
    return "object", id(value)  # what it belongs to is kept with the plan, so the number is not used again


class ResultMaker:
    """How the kernel's columns, or the values of one example, become the result of a spec.

    Attributes:
        keys: of the result, as text.
        given: of the result, where some are bytes; None if `keys` are they.
        places: by key, the number of its column, and what is expected under the key.
        single_makers: in sorted order, how a value of one example is made; None is the kernel's value itself.
    """

    __slots__ = ("_batch_makers", "given", "keys", "places", "single_makers")

    def __init__(self, table: ExpectedFeatures) -> None:
        places = {slot.key: (index, slot) for index, slot in enumerate(table.slots)}
        ordered = sorted(table.features.items())
        self.keys: tuple[str, ...] = tuple(table.features)
        self.given: tuple[str | bytes, ...] | None = None if table.given == self.keys else table.given
        self.places = places
        self._batch_makers: list[tuple[str, int, Make | None]] = [
            (key, places[key][0] if key in places else -1, batch_maker(key, feature, places))
            for key, feature in ordered
        ]
        self.single_makers: list[tuple[str, Make | None]] = [
            (key, single_maker(key, feature, places)) for key, feature in ordered
        ]

    def make_batch(self, columns: list[Any], count: int) -> dict[str, Any]:
        """Make the result of a batch."""
        result = dict.fromkeys(self.keys)
        for key, index, make in self._batch_makers:
            result[key] = columns[index] if make is None else make(columns, count)
        return rename(result, self.given)

    def make_single(self, row: dict[str, Any]) -> dict[str, Any]:
        """Make the result of one example from what the kernel read under each key."""
        result = dict.fromkeys(self.keys)
        for key, make in self.single_makers:
            result[key] = row[key] if make is None else make(row, 1)
        return rename(result, self.given)


class ExamplesPlan(ResultMaker):
    """A compiled spec.

    Attributes:
        features: the spec, keys as text.
        slots: what the kernel reads, sorted by key; failures name them by number.
        native: reads a batch, and decides which error comes first.
        quick: reads one example into a dict in the order of the spec; None if that dict would not be the result.
        quick_makers: what is still to be made of the quick dict's values, by key.
        variable: keys of the result whose features are VarLenFeatures.
        tensorflow_order: the keys in the order that TensorFlow's result has them; None if it is that of the spec.
        dense: all results are arrays, bytes and BytesColumns.
    """

    __slots__ = (
        "dense", "features", "native", "quick", "quick_makers", "slots", "tensorflow_order", "variable",
    )  # fmt: skip

    def __init__(self, table: ExpectedFeatures) -> None:
        super().__init__(table)
        self.features = table.features
        self.slots: tuple[ExpectedFeature, ...] = table.slots
        self.native: Any = _core.ExamplePlan([native_slot(slot) for slot in table.slots])
        pairs = list(zip(table.given, table.features.values(), strict=True))
        self.variable = tuple(key for key, feature in pairs if isinstance(feature, VarLenFeature))
        order = tensorflow_order(dict(pairs))
        self.tensorflow_order = None if order == table.given else order
        self.dense = not any(isinstance(feature, _NOT_DENSE) for _, feature in pairs)
        self.quick: Any = None
        self.quick_makers: list[tuple[str, Make]] = []
        # Where each feature reads its own key alone, a dict by slot in the order of the spec is nearly the result.
        if self.given is None and self.places.keys() == set(self.keys):
            self.quick = _core.ExamplePlan([native_slot(self.places[key][1]) for key in self.keys])
            self.quick_makers = [(key, make) for key, make in self.single_makers if make is not None]


def tensorflow_order(features: Mapping[Any, Any]) -> tuple[Any, ...]:
    """The keys of a spec in the order of TensorFlow's results: sparse, dense, ragged, composed; sorted within each.

    >>> dense = FixedLenFeature([], "int64")
    >>> tensorflow_order({"b": dense, "a": dense, "c": VarLenFeature("int64")})
    ('c', 'a', 'b')
    """

    def group(key: Any) -> int:
        feature = features[key]
        if isinstance(feature, RaggedFeature):
            return 2 if feature.value_key in {None, key} else 3
        return {"VarLenFeature": 0, "SparseFeature": 3}.get(type(feature).__name__, 1)

    return tuple(sorted(features, key=lambda key: (group(key), key)))


def rename(result: dict[str, Any], given: tuple[Any, ...] | None) -> dict[Any, Any]:
    """Return a result with the keys of its spec, which may be bytes; None leaves it as it is."""
    return result if given is None else dict(zip(given, result.values(), strict=True))


def native_slot(slot: ExpectedFeature) -> tuple[str, int, int, int, Any]:
    """Return a feature as the kernel takes it: key, kind, count or -1, divisor of the count, default."""
    if slot.form == "dense":
        return slot.key, slot.kind, slot.size, 1, slot.default
    return slot.key, slot.kind, -1, max(slot.size, 1) if slot.form == "sequence" else 0, None


def compile_examples(features: Any) -> ExamplesPlan:
    """Compile a spec for Examples.

    Raises:
        InvalidArgumentError: a type or a default is not possible.
        TypeError: the type or shape of a feature is not one.
        ValueError: a feature is incomplete or not supported, or two are in conflict.
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    spec = dict(features)
    for key, feature in spec.items():
        if type(feature).__name__ == "FixedLenSequenceFeature":
            if not feature.allow_missing:
                raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
            spec[key] = FixedLenSequenceFeature([None] + list(feature.shape), *tuple(feature)[1:])  # noqa: RUF005
    return ExamplesPlan(find_expected(spec, _ALLOWED, Attributes()))
