"""Random pipelines whose elements have numbers: sources, one-to-one stages, orders, ranks and batches, from a seed.

A chain knows the kind of its elements, as in `random_pipelines.py`; here no element fails, except that the elements of
a batch may have different shapes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tfrkit as tfr
from tests.data.support.chains import GIVES, LEAF, Chain, Function, Kind, Step
from tests.data.support.image_files import SPEC as IMAGES
from tests.data.support.image_files import image_record
from tests.data.support.random_features import KINDS, SPEC, example_record
from tests.data.support.random_pipelines import SLICES

__all__ = ["make_indexable", "write_indexable"]

LARGEST = 60  # elements; verbs that make more of them stop here
RECORDS = {"none": 0, "one": 1, "four": 4, "nine": 9, "gz three": 3, "gz eight": 8}
EXAMPLES = {"ex one": 1, "ex six": 6, "ex eleven": 11, "gz ex five": 5}
PICTURES = {"pictures three": 3, "pictures five": 5}
MAPS = ["x", "amount", "(x, amount)", "{x, n}", "half", "text", "three", "uneven", "uneven text"]
ROWS: list[tuple[Any, Kind]] = [
    *SLICES,
    (tfr.Ragged.from_list([[1, 2], [], [3], [4, 5, 6], []]), Kind("leaf", (1,), even=False)),
    (tfr.Ragged.from_list([[b"a"], [b"", b"bc"], []]), Kind("leaf", (1,), even=False)),
    ({"r": tfr.Ragged.from_list([[0.5], []]), "n": [7, 8]}, Kind("dict", (1, 0), even=False)),
]


def write_indexable(folder: Path) -> Path:
    """Write the files that the chains read, some of them compressed."""
    for name, count in RECORDS.items():
        _write(folder / f"{name}.tfrecord", [f"{name} {'x' * i}{i}".encode() for i in range(count)])
    for name, count in EXAMPLES.items():
        _write(folder / f"{name}.tfrecord", [example_record(i + count) for i in range(count)])
    for name, count in PICTURES.items():
        _write(folder / f"{name}.tfrecord", [image_record(i + count) for i in range(count)])
    return folder


def _write(path: Path, records: list[bytes]) -> None:
    with tfr.TFRecordWriter(path, "GZIP" if path.name.startswith("gz") else "none") as writer:
        writer.write_many(records)


def make_indexable(seed: int) -> Chain:
    """Make the chain of this seed."""
    return _Maker(random.Random(seed)).chain(6)


class _Maker:
    """Draws sources and verbs. `keys`: the features of the chain that is made, by name, while they are known."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.keys: dict[str, str] = {}
        self.located = False  # each element is of one record

    def chain(self, longest: int) -> Chain:
        """A source and up to so many verbs."""
        sources = [self.range, self.slices, self.records, self.records, self.examples, self.examples]
        if self.rng.random() < 0.1:
            sources = [self.pictures]
        chain = self.rng.choice(sources)()
        for _ in range(self.rng.randint(0, longest)):
            chain = self.grow(chain)
        return chain

    def grow(self, chain: Chain) -> Chain:
        """The chain with one verb more, sometimes two."""
        names = [name for name, weight in WEIGHTS.items() for _ in range(weight)]
        while True:
            longer: Chain | None = getattr(self, self.rng.choice(names))(chain)
            if longer is not None:
                return longer

    def _then(self, chain: Chain, step: Step, **changes: Any) -> Chain:
        """The chain with a verb after which nothing is known of features and records."""
        self.keys, self.located = {}, False
        return chain.then(step, **changes)

    # ---- sources

    def range(self) -> Chain:
        arguments = self.rng.choice([(0,), (1,), (10,), (23,), (50,), (9, -3, -2), (3, 20, 4)])
        return Chain(Step("range", arguments), size=len(range(*arguments)))

    def slices(self) -> Chain:
        values, kind = self.rng.choice(ROWS)
        if self.rng.random() < 0.1:
            return Chain(Step("from_tensors", (values,)), kind=_lifted(kind), size=1)
        leaf = values
        while isinstance(leaf, dict | tuple):
            leaf = next(iter(leaf.values())) if isinstance(leaf, dict) else leaf[0]
        return Chain(Step("from_tensor_slices", (values,)), kind=kind, size=len(leaf))

    def _files(self, sizes: dict[str, int], kind: Kind) -> Chain:
        names = self.rng.choices(list(sizes), k=self.rng.randint(1, 3))
        self.located = True
        options: dict[str, Any] = {}
        if all(name.startswith("gz") for name in names) and self.rng.random() < 0.5:
            options = {"compression_type": "GZIP"}
        if self.rng.random() < 0.2:
            options["on_corrupt"] = "skip"
        source = Step("TFRecordDataset", (names,), options)
        return Chain(source, kind=kind, size=sum(sizes[name] for name in names))

    def records(self) -> Chain:
        return self._files(RECORDS, LEAF)

    def examples(self) -> Chain:
        chain = self._files(EXAMPLES, LEAF)
        before = self.rng.choice([None, self.global_shuffle, self.shard, self.repeat, self.batch, self.take])
        located = self.located
        chain = (before(chain) if before else None) or chain
        self.located = located and chain.kind == LEAF
        chosen = [key for key in SPEC if self.rng.random() < 0.35] or ["n"]
        self.rng.shuffle(chosen)
        self.keys = {key: KINDS[key] for key in chosen}
        step = Step("parse", ({key: SPEC[key] for key in chosen},))
        return chain.then(step, kind=Kind("dict", (None,), even=False))

    def pictures(self) -> Chain:
        chain = self._files(PICTURES, LEAF).then(Step("parse", (IMAGES,)))
        sized: dict[str, Any] = {"size": (6, 7)} if self.rng.random() < 0.6 else {}
        chain = chain.then(
            Step("decode_image", ("image",), sized), kind=Kind("dict", (3, 0), even=bool(sized))
        )
        if self.rng.random() < 0.5:
            chain = chain.then(Step("resize", ("image", (4, 5))), kind=Kind("dict", (3, 0)))
        if self.rng.random() < 0.5:
            chain = chain.then(Step("normalize", ("image",), {"mean": 0.5}))
        return chain

    # ---- verbs of features

    def feature(self, chain: Chain) -> Chain | None:
        if not self.keys:
            return None
        return self.rng.choice([self.select, self.rename, self.cast, self.decode_raw, self.add])(chain)

    def select(self, chain: Chain) -> Chain:
        chosen = self.rng.sample(list(self.keys), self.rng.randint(1, len(self.keys)))
        self.keys = {key: self.keys[key] for key in chosen}
        return chain.then(Step("select", tuple(chosen)))

    def rename(self, chain: Chain) -> Chain:
        key = self.rng.choice(list(self.keys))
        self.keys = {f"{key}_" if each == key else each: kind for each, kind in self.keys.items()}
        return chain.then(Step("rename", ({key: f"{key}_"},)))

    def cast(self, chain: Chain) -> Chain | None:
        numbers = [key for key, kind in self.keys.items() if kind in ("int", "array", "ragged", "padded")]
        if not numbers:
            return None
        dtype = self.rng.choice(["int32", "float32", "float64", "uint8", "int64"])
        key = self.rng.choice(numbers)
        if self.keys[key] in ("int", "array") and self.rng.random() < 0.4:
            return chain.then(Step("normalize", (key,), {"mean": 0.5, "std": 2.0}))
        return chain.then(Step("cast", ({key: dtype},)))

    def decode_raw(self, chain: Chain) -> Chain | None:
        if self.keys.get("raw") != "raw":
            return None
        self.keys["raw"] = "array"
        shape = self.rng.choice([None, [4], [2, 2]])
        return chain.then(Step("decode_raw", ("raw", "uint16"), {"shape": shape}))

    def add(self, chain: Chain) -> Chain | None:
        if "sum" in self.keys or "Sparse" in repr(chain):  # which has no amount
            return None
        self.keys["sum"] = "int"
        return chain.then(Step("with_column", ("sum", Function("amount"))))

    def source(self, chain: Chain) -> Chain | None:
        if not self.located or "file" in self.keys or (chain.kind.form == "tuple" and not chain.kind.nested):
            return None
        if chain.kind.form == "leaf":
            return self._then(chain, Step("with_source"), kind=Kind("dict", (*chain.kind.ranks, 0, 0)))
        if chain.kind.form != "dict" or any(step.verb == "with_source" for step in chain.steps):
            return None
        return chain.then(
            Step("with_source"), kind=chain.kind._replace(ranks=(*chain.kind.ranks, 0, 0), nested=True)
        )

    # ---- verbs of elements

    def map(self, chain: Chain) -> Chain | None:
        if "Sparse" in repr(chain):
            return None
        name = self.rng.choice(MAPS)
        kind = GIVES[name](chain.kind)
        if len(kind.ranks) > 5:
            return None
        options = {"num_parallel_calls": self.rng.choice([2, 3, -1])} if self.rng.random() < 0.3 else {}
        located = self.located
        chain = self._then(chain, Step("map", (Function(name),), options), kind=kind)
        self.located = located
        return chain

    def enumerate(self, chain: Chain) -> Chain | None:
        if len(chain.kind.ranks) > 3:
            return None
        kind = Kind("tuple", (0, *chain.kind.ranks), chain.kind.even, chain.kind.form != "leaf")
        return self._then(chain, Step("enumerate", self.rng.choice([(), (5,)])), kind=kind)

    def simple(self, chain: Chain) -> Chain:
        return chain.then(Step("prefetch", (self.rng.choice([0, 1, 2, 5, -1]),)))

    # ---- order and number

    def take(self, chain: Chain) -> Chain:
        return chain.then(Step("take", (self.rng.choice([-1, 0, 1, 2, 5, 8, 30]),)))

    def skip(self, chain: Chain) -> Chain:
        return chain.then(Step("skip", (self.rng.choice([-1, 0, 1, 2, 3, 5]),)))

    def slice(self, chain: Chain) -> Chain:
        bounds = [None, 0, 1, 2, 5, 40, -1, -3]
        cut = slice(
            self.rng.choice(bounds), self.rng.choice(bounds), self.rng.choice([None, 1, 2, 3, -1, -2])
        )
        return chain.then(Step("__getitem__", (cut,)))

    def shard(self, chain: Chain) -> Chain:
        count = self.rng.randint(1, 4)
        options: dict[str, Any] = {}
        tail = self.rng.choice([None, None, "drop", "repeat", "repeat"])
        if tail == "drop" and count > 1:
            chain = chain.then(Step("concatenate self")).then(Step("concatenate self"))
            chain = chain.then(Step("repeat", (2,)), size=8 * chain.size)
        if tail is not None:
            options["tail"] = tail
        named = chain.kind.form == "dict" and "mask" not in repr(chain)
        if tail == "repeat" and named and self.rng.random() < 0.5:
            options["mask"] = "mask"
            self.keys, self.located = {}, False
            chain = chain.then(Step("take", (-1,)), kind=chain.kind._replace(ranks=(*chain.kind.ranks, 0)))
        step = Step("shard", (count, self.rng.randrange(count)), options)
        return chain.then(step, size=chain.size // count + 1)

    def global_shuffle(self, chain: Chain) -> Chain:
        options: dict[str, Any] = {"seed": self.rng.choice([0, 1, -5, 2**63 - 1, 2**64 - 1])}
        if self.rng.random() < 0.3:
            options["reshuffle_each_iteration"] = False
        if self.rng.random() < 0.4:
            options["window"] = self.rng.choice([1, 50, 300, 1000, 10_000, 1 << 22])
        return chain.then(Step("global_shuffle", (), options))

    def repeat(self, chain: Chain) -> Chain | None:
        if chain.size > LARGEST:
            return None
        if self.rng.random() < 0.3:
            count = self.rng.choice([0, 1, 5, 12, 30])
            endless = chain.then(Step("repeat", self.rng.choice([(), (-1,)])))
            return endless.then(Step("take", (count,)), size=count)
        count = self.rng.choice([0, 1, 2, 3])
        return chain.then(Step("repeat", (count,)), size=chain.size * count)

    def concatenate(self, chain: Chain) -> Chain | None:
        if chain.size > LARGEST:
            return None
        steps = [Step("concatenate self"), Step("concatenate", (self.rng.randint(0, 3),))]
        return chain.then(self.rng.choice(steps), size=2 * chain.size)

    def zip(self, chain: Chain) -> Chain | None:
        kind = chain.kind
        if len(kind.ranks) > 3 or "decode_image" in repr(
            chain
        ):  # beside which rows are not known to be ragged
            return None
        if self.rng.random() < 0.4:
            made = Kind("tuple", kind.ranks * 2, kind.even, kind.form != "leaf")
            return self._then(chain, Step("zip self"), kind=made)
        other = _Maker(self.rng).chain(2)
        if "decode_image" in repr(other):
            return None
        verb = self.rng.choice(["zip", "zip dict"])
        nested = kind.form != "leaf" or other.kind.form != "leaf"
        form = "tuple" if verb == "zip" else "dict"
        made = Kind(form, kind.ranks + other.kind.ranks, kind.even and other.kind.even, nested)
        return self._then(chain, Step(verb, (other,)), kind=made, size=min(chain.size, other.size))

    # ---- batches

    def batch(self, chain: Chain) -> Chain | None:
        kind = chain.kind
        count, drop = self.rng.choice([1, 2, 3, 4, 7]), self.rng.random() < 0.3
        if not self.keys and (None in kind.ranks or not kind.even):
            verb = "ragged_batch" if kind.ranks == (1,) and kind.form == "leaf" else "padded_batch"
        else:
            verb = self.rng.choice(["batch", "batch", "padded_batch"]) if None not in kind.ranks else "batch"
        if verb == "padded_batch" and (None in kind.ranks or max(kind.ranks) > 2):
            return None
        keys = self.keys
        options: dict[str, Any] = {"drop_remainder": True} if drop else {}
        ranks = (None,) if verb == "ragged_batch" else tuple(r if r is None else r + 1 for r in kind.ranks)
        made = kind._replace(ranks=ranks, even=kind.even and (drop or count == 1))
        chain = self._then(chain, Step(verb, (count,), options), kind=made, size=chain.size // count + 1)
        # Verbs of features work on batches too.
        self.keys = {key: kind for key, kind in keys.items() if kind != "raw"} if verb == "batch" else {}
        return chain


def _lifted(kind: Kind) -> Kind:
    """The kind of a whole batch as one element."""
    ranks = tuple(None if rank is None else rank + 1 for rank in kind.ranks)
    return kind._replace(ranks=ranks if kind.even else (None,), even=kind.even)


Verb = Callable[[Chain], Chain | None]
WEIGHTS = {  # a method of _Maker -> how often it is tried
    "map": 5, "feature": 6, "source": 2, "enumerate": 2, "simple": 1, "take": 2, "skip": 2, "slice": 3, "shard": 4,
    "global_shuffle": 5, "repeat": 3, "concatenate": 2, "zip": 2, "batch": 4,
}  # fmt: skip
