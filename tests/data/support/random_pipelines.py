"""Random chains of verbs, made from a seed.

A chain knows the kind of its elements, so that each verb fits what comes before; now and then one does not, on
purpose, and the error is what is compared. No chain is endless, whatever fails in it.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.data.support.chains import GIVES, LEAF, PREDICATES, Chain, Function, Kind, Step, build, write_files

__all__ = ["Chain", "build", "make_chain", "write_files"]

LARGEST = 60  # elements; verbs that make more of them stop here
MAPS = [name for name in GIVES if name not in ("range", "again", "slices")]
GOOD_FILES = ("empty", "one", "three", "seven")
BAD_FILES = ("bad data", "bad length")


def make_chain(seed: int, *, files: bool = True, generators: bool = True) -> Chain:
    """Make the chain of this seed.

    Args:
        seed: any number; the same gives the same chain.
        files: whether it may read TFRecord files.
        generators: whether it may begin with a generator.
    """
    rng = random.Random(seed)
    chain = _Maker(rng, files, generators).chain(6)
    if rng.random() < 0.05:  # at the end only: its error comes for ever
        chain = chain.then(Step("assert_cardinality", (rng.choice([0, 3, 5, 10]),)))
    return chain


class _Maker:
    """Draws sources and verbs."""

    def __init__(self, rng: random.Random, files: bool, generators: bool) -> None:
        self.rng = rng
        self.sources: list[Callable[[], Chain]] = [self.range, self.range, self.slices, self.slices]
        if files:
            self.sources += [self.records, self.records, self.examples, self.lines]
        if generators:
            self.sources.append(self.generator)

    def chain(self, longest: int) -> Chain:
        """A source and up to so many verbs."""
        chain = self.rng.choice(self.sources)()
        for _ in range(self.rng.randint(1, longest)):
            chain = self.grow(chain)
        return chain

    # ---- sources

    def range(self) -> Chain:
        arguments = self.rng.choice([(0,), (1,), (5,), (10,), (13,), (50,), (2, 9), (9, -3, -2), (3, 20, 4)])
        return Chain(Step("range", arguments), size=len(range(*arguments)))

    def slices(self) -> Chain:
        values, kind = self.rng.choice(SLICES)
        leaf = values
        while isinstance(leaf, dict | tuple):
            leaf = leaf["a"] if isinstance(leaf, dict) else leaf[0]
        return Chain(Step("from_tensor_slices", (values,)), kind=kind, size=len(leaf))

    def records(self) -> Chain:
        names = self.rng.choices(GOOD_FILES, k=self.rng.randint(1, 3))
        fails = self.rng.random() < 0.3
        if fails:
            names.insert(self.rng.randint(0, len(names)), self.rng.choice(BAD_FILES))
        options = {"num_parallel_reads": self.rng.choice([1, 2, 3])} if self.rng.random() < 0.3 else {}
        chain = Chain(Step("TFRecordDataset", (names,), options), size=7 * len(names), fails=fails)
        # TensorFlow does not check what skip and shard leave out of a file, if they follow directly.
        return chain.then(Step("take", (30,))) if "bad data" in names else chain

    def examples(self) -> Chain:
        names = self.rng.choices(
            ["examples", "more examples", "bad examples"], [4, 2, 1], k=self.rng.randint(1, 2)
        )
        kind = LEAF._replace(examples=True)
        source = Chain(Step("TFRecordDataset", (names,)), kind=kind, size=40, fails="bad examples" in names)
        before = self.rng.choice([None, self.shuffle, self.take, self.shard, self.repeat, self.batch])
        chain = (before(source) if before else None) or source
        return self.parse(chain) or chain

    def lines(self) -> Chain:
        count = self.rng.randint(1, 2)
        return Chain(Step("TextLineDataset", (count,)), size=5 * count)

    def generator(self) -> Chain:
        count = self.rng.randint(0, 9)
        fail = self.rng.randint(0, 9) if self.rng.random() < 0.3 else None
        return Chain(Step("generator", (count, fail)), size=count, fails=fail is not None)

    # ---- verbs

    def grow(self, chain: Chain) -> Chain:
        """The chain with one verb more, sometimes two."""
        names = [name for name, weight in WEIGHTS.items() for _ in range(weight)]
        while True:
            longer: Chain | None = getattr(self, self.rng.choice(names))(chain)
            if longer is not None:
                return longer

    def function(self, name: str, often: float = 0.25) -> Function:
        """A function that fails now and then."""
        if self.rng.random() >= often:
            return Function(name)
        modulus = self.rng.choice([2, 3, 5, 7])
        return Function(name, (modulus, self.rng.randrange(modulus)))

    def parallel(self) -> dict[str, int]:
        return {"num_parallel_calls": self.rng.choice([1, 2, 3, -1])} if self.rng.random() < 0.25 else {}

    def map(self, chain: Chain) -> Chain | None:
        name = self.rng.choice(MAPS)
        kind = GIVES[name](chain.kind)
        if len(kind.ranks) > 5:
            return None
        function = self.function(name)
        step = Step("map", (function,), self.parallel())
        return chain.then(step, kind=kind, fails=chain.fails or function.fail is not None)

    def parse(self, chain: Chain) -> Chain | None:
        if not chain.kind.examples or chain.kind.ranks not in ((0,), (1,)):
            return None
        (rank,) = chain.kind.ranks
        kind = Kind("dict", (rank, rank + 1, rank), chain.kind.even)
        return chain.then(Step("parse", (rank == 1,)), kind=kind)

    def filter(self, chain: Chain) -> Chain:
        function = self.function(self.rng.choice(PREDICATES), 0.15)
        return chain.then(Step("filter", (function,)), fails=chain.fails or function.fail is not None)

    def nest(self, chain: Chain) -> Chain | None:
        """flat_map or interleave, with up to two verbs inside."""
        if chain.size > LARGEST:
            return None
        name = self.rng.choice(["range", "again", "slices"])
        inner = Chain(Step(name), kind=GIVES[name](chain.kind), size=3)
        for _ in range(self.rng.randint(0, 2)):
            inner = getattr(self, self.rng.choice(["map", "filter", "take", "skip", "batch"]))(inner) or inner
        fail = self.function(name, 0.2).fail
        function = Function(name, fail, inner.steps)
        changes = {
            "kind": inner.kind,
            "size": chain.size * inner.size,
            "fails": chain.fails or inner.fails or fail is not None,
        }
        if self.rng.random() < 0.4:
            return chain.then(Step("flat_map", (function,)), **changes)
        cycle, block = self.rng.choice([1, 2, 3, 5]), self.rng.choice([1, 1, 2, 3])
        options = {"cycle_length": cycle, "block_length": block}
        if self.rng.random() < 0.4:
            options["num_parallel_calls"] = self.rng.randint(1, cycle)
        return chain.then(Step("interleave", (function,), options), **changes)

    def batch(self, chain: Chain) -> Chain | None:
        kind = chain.kind
        if None in kind.ranks or max(kind.ranks) > 3:
            return None
        count, drop = self.rng.choice([1, 2, 3, 4, 7]), self.rng.random() < 0.3
        ranks = tuple(rank + 1 for rank in kind.ranks)
        changes = {"size": chain.size // count + 1, "fails": chain.fails or not kind.even}
        even = kind.even and (drop or count == 1)
        options: dict[str, object] = {"drop_remainder": True} if drop else {}
        return chain.then(
            Step("batch", (count,), options), kind=kind._replace(ranks=ranks, even=even), **changes
        )

    def padded_batch(self, chain: Chain) -> Chain | None:
        kind = chain.kind
        if None in kind.ranks or max(kind.ranks) > 3:
            return None
        count, drop = self.rng.choice([1, 2, 3, 4]), self.rng.random() < 0.3
        ranks = tuple(rank + 1 for rank in kind.ranks)
        options: dict[str, object] = {"drop_remainder": True} if drop else {}
        fits = kind == Kind("leaf", (1,), even=False) and self.rng.random() < 0.4
        if fits:  # some elements do not
            options["padded_shapes"] = self.rng.choice([[2], [4], [None]])
        even = kind.even and (drop or count == 1)
        made = kind._replace(ranks=ranks, even=even)
        step = Step("padded_batch", (count,), options)
        return chain.then(step, kind=made, size=chain.size // count + 1, fails=chain.fails or fits)

    def ragged_batch(self, chain: Chain) -> Chain | None:
        kind = chain.kind
        if kind != Kind("leaf", (1,), even=False):
            return None
        count = self.rng.choice([1, 2, 3, 4])
        step = Step("ragged_batch", (count,))
        return chain.then(step, kind=Kind("leaf", (None,), even=False), size=chain.size // count + 1)

    def unbatch(self, chain: Chain) -> Chain | None:
        kind = chain.kind
        if None in kind.ranks or not min(kind.ranks) or chain.size > LARGEST:
            return None
        ranks = tuple(rank - 1 for rank in kind.ranks)
        changes = {"size": chain.size * 7, "fails": chain.fails or (len(ranks) > 1 and not kind.even)}
        return chain.then(Step("unbatch"), kind=kind._replace(ranks=ranks), **changes)

    def shuffle(self, chain: Chain) -> Chain:
        options: dict[str, object] = {"seed": self.rng.randint(0, 99)}
        if self.rng.random() < 0.3:
            options["reshuffle_each_iteration"] = False
        return chain.then(Step("shuffle", (self.rng.choice([1, 2, 3, 5, 8, 100, -2]),), options))

    def repeat(self, chain: Chain) -> Chain | None:
        if chain.size > LARGEST:
            return None
        if not chain.fails and self.rng.random() < 0.4:
            count = self.rng.choice([0, 1, 5, 12, 30])
            endless = chain.then(Step("repeat", self.rng.choice([(), (-1,), (None,), (-4,)])))
            return endless.then(Step("take", (count,)), size=count)
        count = self.rng.choice([0, 1, 2, 3])
        return chain.then(Step("repeat", (count,)), size=chain.size * count)

    def take(self, chain: Chain) -> Chain:
        return chain.then(Step("take", (self.rng.choice([-1, 0, 1, 2, 3, 5, 8, 30]),)))

    def skip(self, chain: Chain) -> Chain:
        return chain.then(Step("skip", (self.rng.choice([-1, 0, 1, 2, 3, 5, 8]),)))

    def shard(self, chain: Chain) -> Chain:
        count = self.rng.randint(1, 4)
        return chain.then(Step("shard", (count, self.rng.randrange(count))))

    def simple(self, chain: Chain) -> Chain:
        steps = [
            Step("cache"),
            Step("prefetch", (self.rng.choice([0, 1, 2, 5, -1]),)),
            Step("apply", (self.rng.choice([1, 4]),)),
        ]
        return chain.then(self.rng.choice(steps))

    def ignore_errors(self, chain: Chain) -> Chain:
        return chain.then(Step("ignore_errors"), fails=False)

    def enumerate(self, chain: Chain) -> Chain | None:
        if len(chain.kind.ranks) > 3:
            return None
        arguments = self.rng.choice([(), (5,)])
        kind = Kind("tuple", (0, *chain.kind.ranks), chain.kind.even, chain.kind.form != "leaf")
        return chain.then(Step("enumerate", arguments), kind=kind)

    def concatenate(self, chain: Chain) -> Chain | None:
        if chain.size > LARGEST:
            return None
        steps = [Step("concatenate self"), Step("concatenate", (self.rng.randint(0, 3),))]
        return chain.then(self.rng.choice(steps), size=2 * chain.size)

    def zip(self, chain: Chain) -> Chain | None:
        kind = chain.kind
        if len(kind.ranks) > 3:
            return None
        if self.rng.random() < 0.3 and not _races(chain):
            made = Kind("tuple", kind.ranks * 2, kind.even, kind.form != "leaf")
            return chain.then(Step("zip self"), kind=made)
        other = self.chain(2)
        verb = self.rng.choice(["zip", "zip dict"])
        nested = kind.form != "leaf" or other.kind.form != "leaf"
        form = "tuple" if verb == "zip" else "dict"
        made = Kind(form, kind.ranks + other.kind.ranks, kind.even and other.kind.even, nested)
        size, fails = min(chain.size, other.size), chain.fails or other.fails
        return chain.then(Step(verb, (other,)), kind=made, size=size, fails=fails)


def _races(chain: Chain) -> bool:
    """Whether two iterators of it, side by side, would draw seeds in the background, in an order that is left open."""
    text = repr(chain)
    return "shuffle" in text and ("prefetch" in text or "num_parallel" in text)


WEIGHTS = {  # a method of _Maker -> how often it is tried
    "map": 8, "filter": 3, "nest": 3, "batch": 5, "padded_batch": 2, "ragged_batch": 2, "unbatch": 3, "shuffle": 4,
    "repeat": 3, "take": 3, "skip": 3, "shard": 2, "simple": 4, "ignore_errors": 2, "enumerate": 2,
    "concatenate": 2, "zip": 2,
}  # fmt: skip
SLICES = [  # what from_tensor_slices is given, and the kind of its rows
    ([3, 1, 4, 1, 5, 9, 2, 6], LEAF),
    ([0.5, 1.5, 2.5], LEAF),
    (["a", "bc", "", "defg"], LEAF),
    ([[1, 2], [3, 4], [5, 6]], Kind("leaf", (1,))),
    (([1, 2, 3, 4, 5], ["v", "w", "x", "y", "z"]), Kind("tuple", (0, 0))),
    ({"a": [1, 2, 3, 4], "b": [[1.5], [2.5], [3.5], [4.5]]}, Kind("dict", (0, 1))),
    (
        ({"a": ["p", "q"], "b": [7, 8]}, [[True, False], [False, False]]),
        Kind("tuple", (0, 0, 1), nested=True),
    ),
    ([True, False, True], LEAF),
]
