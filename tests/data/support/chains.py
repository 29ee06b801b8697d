"""Pipelines as data: a source and verbs with their arguments, built with any `Space`.

chain = Chain(Step("range", (10,)), (Step("map", (Function("half"),)), Step("batch", (3,))))
print(chain)                                     # as code
dataset = build(chain, space, folder)            # folder: see `write_files`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tests.data.support.spaces import TOLD, Space, ToldError
from tests.oracle.support.frames import flip, frames
from tests.oracle.support.wire import entry, example, floats, ints, strings

FILES = {  # name -> (number of records, damage)
    "empty": (0, ""),
    "one": (1, ""),
    "three": (3, ""),
    "seven": (7, ""),
    "bad data": (5, "data"),
    "bad length": (4, "length"),
    "examples": (8, ""),
    "more examples": (40, ""),
    "bad examples": (5, "lacking"),
}
LINES = b"one\ntwo three\r\n\nfour\r\nlast"


def write_files(folder: Path) -> None:
    """Write the files that chains read; the damaged ones are damaged in their third record."""
    for name, (count, damage) in FILES.items():
        if "examples" in name:
            records = [_example(number, damage == "lacking" and number == 2) for number in range(count)]
        else:
            records = [f"{name} {'x' * number}{number}".encode() for number in range(count)]
        data = frames(records)
        at = len(frames(records[:2]))
        if damage == "data":
            data = flip(data, at + 12)
        elif damage == "length":
            data = flip(data, at)
        (folder / f"{name}.tfrecord").write_bytes(data)
    (folder / "lines.txt").write_bytes(LINES)


def _example(number: int, lacking: bool) -> bytes:
    """An Example with the features of `Space.parse`, or without one of them."""
    features = [
        entry(b"n", ints(number)),
        entry(b"pair", floats(number + 0.5, -number)),
        entry(b"name", strings(b"name %d" % number)),
    ]
    return example(*(features[1:] if lacking else features))


class Kind(NamedTuple):
    """What is known of an element: its leaves, and how they hang together."""

    form: str  # "leaf", "tuple" or "dict"
    ranks: tuple[int | None, ...]  # of each leaf; None for ragged ones
    even: bool = True  # whether all elements have the same shapes
    nested: bool = False  # whether parts of the tuple or dict are tuples or dicts
    examples: bool = False  # whether they are serialised Examples


@dataclass(frozen=True)
class Function:
    """A function of elements, by name; it fails where the amount of an element leaves this rest, if one is given."""

    name: str
    fail: tuple[int, int] | None = None
    inner: tuple[Step, ...] = ()  # of functions that give a dataset: the verbs after its source

    def __repr__(self) -> str:
        parts = [self.name]
        if self.fail:
            modulus, rest = self.fail
            parts.append(f"fails if amount(x) % {modulus} == {rest}")
        parts += [f".{step}" for step in self.inner]
        return f"<{' '.join(parts)}>"

    def make(self, space: Space) -> Callable[..., Any]:
        """The function itself. Parts of tuples come as arguments."""

        def call(*arguments: Any) -> Any:
            element = arguments[0] if len(arguments) == 1 else arguments
            amount = space.amount(element)
            if self.fail:
                modulus, rest = self.fail
                element, amount = space.check(amount % modulus != rest, (element, amount))
            made = FUNCTIONS[self.name](space, element, amount)
            for step in self.inner:
                made = step.apply(made, space)
            return made

        return call


# name -> what is made of an element and its amount
FUNCTIONS: dict[str, Callable[[Space, Any, Any], Any]] = {
    "x": lambda space, x, amount: x,
    "amount": lambda space, x, amount: amount,
    "(x, amount)": lambda space, x, amount: (x, amount),
    "[amount, x]": lambda space, x, amount: [amount, x],
    "{x, n}": lambda space, x, amount: {"x": x, "n": amount},
    "(amount, 7)": lambda space, x, amount: (amount, 7),
    "half": lambda space, x, amount: space.cast(amount, "float32") * 0.5,
    "text": lambda space, x, amount: space.text(amount),
    "three": lambda space, x, amount: space.full(3, amount),
    "uneven": lambda space, x, amount: space.full(amount % 4, amount),
    "uneven text": lambda space, x, amount: space.full(amount % 3, space.text(amount)),
    "even?": lambda space, x, amount: amount % 2 == 0,
    "not third?": lambda space, x, amount: amount % 3 != 0,
    "all?": lambda space, x, amount: amount == amount,
    "range": lambda space, x, amount: space.Dataset.range(amount % 4),
    "again": lambda space, x, amount: space.Dataset.from_tensors(x).repeat(amount % 3),
    "slices": lambda space, x, amount: space.Dataset.from_tensor_slices(space.full(amount % 4, amount)),
}
PREDICATES = ("even?", "not third?", "all?")
LEAF = Kind("leaf", (0,))
GIVES: dict[str, Callable[[Kind], Kind]] = {
    "x": lambda kind: kind,
    "amount": lambda kind: LEAF,
    "(x, amount)": lambda kind: _around("tuple", (*kind.ranks, 0), kind),
    "[amount, x]": lambda kind: _around("tuple", (0, *kind.ranks), kind),
    "{x, n}": lambda kind: _around("dict", (*kind.ranks, 0), kind),
    "(amount, 7)": lambda kind: Kind("tuple", (0, 0)),
    "half": lambda kind: LEAF,
    "text": lambda kind: LEAF,
    "three": lambda kind: Kind("leaf", (1,)),
    "uneven": lambda kind: Kind("leaf", (1,), even=False),
    "uneven text": lambda kind: Kind("leaf", (1,), even=False),
    "range": lambda kind: LEAF,
    "again": lambda kind: kind,
    "slices": lambda kind: LEAF,
}


def _around(form: str, ranks: tuple[int | None, ...], kind: Kind) -> Kind:
    return Kind(form, ranks, kind.even, kind.form != "leaf")


SHOWN = {  # verbs that take datasets, as code; what comes before is `self`
    "concatenate": "concatenate(self.skip(%s))",
    "concatenate self": "concatenate(self)",
    "zip": "zip(self, %s)",
    "zip dict": "zip({'a': self, 'b': %s})",
    "zip self": "zip((self, self))",
    "apply": "apply(lambda self: self.take(%s))",
}


@dataclass(frozen=True)
class Step:
    """A verb with its arguments; datasets among them are chains."""

    verb: str
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        shown = [*map(repr, self.arguments), *(f"{key}={value!r}" for key, value in self.options.items())]
        all_shown = ", ".join(shown)
        return SHOWN.get(self.verb, f"{self.verb}(%s)") % (() if self.verb.endswith("self") else all_shown)

    @property
    def does_nothing(self) -> bool:
        """Whether TensorFlow leaves the verb out."""
        nothing = {"take": (-1,), "skip": (0,), "repeat": (1,), "map": (Function("x"),)}
        return self.arguments == nothing.get(self.verb) or (self.verb, *self.arguments[:1]) == ("shard", 1)

    def apply(self, dataset: Any, space: Space, folder: Path | None = None) -> Any:
        """The dataset with this verb."""
        if self.verb == "concatenate self":
            return dataset.concatenate(dataset)
        arguments = [_made(argument, space, folder) for argument in self.arguments]
        if self.verb == "zip":
            return space.Dataset.zip(dataset, *arguments)
        if self.verb == "zip dict":
            return space.Dataset.zip({"a": dataset, "b": arguments[0]})
        if self.verb == "zip self":
            return space.Dataset.zip((dataset, dataset))
        if self.verb == "parse" and not isinstance(arguments[0], dict):  # a spec is taken as it is
            return space.parse(dataset, *arguments)
        if self.verb == "concatenate":
            return dataset.concatenate(dataset.skip(*arguments))
        if self.verb == "assert_cardinality":
            return space.assert_cardinality(dataset, *arguments)
        if self.verb == "apply":
            return dataset.apply(lambda whole: whole.take(*arguments))
        return getattr(dataset, self.verb)(*arguments, **self.options)


def _made(argument: Any, space: Space, folder: Path | None) -> Any:
    if isinstance(argument, Function):
        return argument.make(space)
    return build(argument, space, folder) if isinstance(argument, Chain) else argument


@dataclass(frozen=True)
class Chain:
    """A source and verbs after it.

    Attributes:
        source: a verb of Dataset, `TFRecordDataset` or `generator`.
        steps: the verbs.
        kind: of the elements.
        size: about as many elements, at most.
        fails: whether an element may be an error.
    """

    source: Step
    steps: tuple[Step, ...] = ()
    kind: Kind = LEAF
    size: int = 0
    fails: bool = False

    def __repr__(self) -> str:
        return ".".join(map(repr, (self.source, *self.steps)))

    def then(self, step: Step, **changes: Any) -> Chain:
        """The chain with one verb more."""
        return replace(self, steps=(*self.steps, step), **changes)

    def has_pair(self, first: str, second: str) -> bool:
        """Whether the one verb comes right after the other, here or in a part; verbs that do nothing do not count."""
        verbs = [step.verb for step in self.steps if not step.does_nothing]
        return (first, second) in pairwise(verbs) or any(
            part.has_pair(first, second) for part in self.parts()
        )

    def parts(self) -> Iterator[Chain]:
        """Chains among the arguments, and those inside of functions."""
        for argument in (argument for step in self.steps for argument in step.arguments):
            if isinstance(argument, Chain):
                yield argument
            elif isinstance(argument, Function):
                yield Chain(Step("range"), argument.inner)


def build(chain: Chain, space: Space, folder: Path | None = None) -> Any:
    """Make the dataset.

    Args:
        chain: what to build.
        space: with whose classes.
        folder: where `write_files` put the files; not needed if the chain reads none.
    """
    source = chain.source
    if source.verb == "TFRecordDataset":
        assert folder is not None
        names = [str(folder / f"{name}.tfrecord") for name in source.arguments[0]]
        dataset = space.TFRecordDataset(names, **source.options)
    elif source.verb == "TextLineDataset":
        assert folder is not None
        dataset = space.TextLineDataset([str(folder / "lines.txt")] * source.arguments[0])
    elif source.verb == "generator":
        count, fail = source.arguments
        signature = space.TensorSpec((), "int64")
        dataset = space.Dataset.from_generator(lambda: _count(count, fail), output_signature=signature)
    else:
        dataset = getattr(space.Dataset, source.verb)(*source.arguments)
    for step in chain.steps:
        dataset = step.apply(dataset, space, folder)
    return dataset


def _count(count: int, fail: int | None) -> Iterator[int]:
    for number in range(count):
        if number == fail:
            raise ToldError(TOLD)
        yield number
