"""Random chains over files of Examples: parse, verbs on features, and the others around them.

Some records lack a feature or are no Examples, so that parsing fails in the middle of a file.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import tfrkit as tfr
from tests.data.support.chains import Chain, Function, Kind, Step
from tests.oracle.support.frames import flip, frames

__all__ = ["SPEC", "example_record", "make_feature_chain", "write_examples"]

EXAMPLES = {  # name -> (number of records, damage: of a record, or of an Example)
    "ex none": (0, ""),
    "ex two": (2, ""),
    "ex five": (5, ""),
    "ex nine": (9, ""),
    "ex bad crc": (6, "data"),
    "ex lacking": (6, "lacking"),
    "ex garbage": (5, "garbage"),
}
SPEC: dict[str, Any] = {
    "n": tfr.FixedLenFeature([], "int64"),
    "pair": tfr.FixedLenFeature([2], "float32"),
    "name": tfr.FixedLenFeature([], "bytes"),
    "ids": tfr.VarLenFeature("int64"),
    "words": tfr.VarLenFeature("bytes"),
    "raw": tfr.FixedLenFeature([], "bytes"),
    "steps": tfr.FixedLenSequenceFeature([], "int64", allow_missing=True),
    "marks": tfr.FixedLenSequenceFeature([], "bytes", allow_missing=True, default_value=b"-"),
    "points": tfr.FixedLenSequenceFeature([2], "float32", allow_missing=True, default_value=-1.0),
    "two": tfr.FixedLenFeature([2], "bytes", default_value=[b"", b"none"]),
    "size": tfr.FixedLenFeature([2], "int64"),
    "cut": tfr.RaggedFeature(
        "int64", value_key="cut values", partitions=[tfr.RaggedFeature.RowLengths("lengths")]
    ),
    "flat": tfr.RaggedFeature("float32", value_key="flat values"),
    "sparse": tfr.SparseFeature("index", "value", "float32", 9),
}
KINDS = {  # what can be done with each
    "n": "int", "pair": "array", "name": "bytes", "ids": "ragged", "words": "words", "raw": "raw", "steps": "padded",
    "marks": "words", "points": "padded", "two": "words", "size": "array", "cut": "ragged", "flat": "ragged",
    "sparse": "sparse",
}  # fmt: skip


def write_examples(folder: Path) -> None:
    """Write the files; what is damaged is so in the third record."""
    for name, (count, damage) in EXAMPLES.items():
        records = [example_record(number, damage == "lacking" and number == 2) for number in range(count)]
        if damage == "garbage":
            records[2] = b"\x0a\xff\xff"
        data = frames(records)
        if damage == "data":
            data = flip(data, len(frames(records[:2])) + 12)
        (folder / f"{name}.tfrecord").write_bytes(data)


def example_record(number: int, lacking: bool = False) -> bytes:
    """A serialised Example of the features in SPEC; perhaps without one of them."""
    features: dict[str, Any] = {
        "n": number,
        "pair": [number + 0.5, -float(number)],
        "name": f"name {number}".encode(),
        "ids": tfr.int64_list_feature(list(range(number % 4))),
        "words": tfr.bytes_list_feature([b"w" * size for size in range(number % 3)]),
        "raw": bytes(range(4)) * 2,
        "steps": tfr.int64_list_feature([7] * (number % 3)),
        "marks": tfr.bytes_list_feature([b"m"] * (number % 3)),
        "points": tfr.float_list_feature([0.5, 1.5] * (number % 2)),
        "size": [2, 2],
        "flat values": tfr.float_list_feature([0.25] * (number % 5)),
        "cut values": tfr.int64_list_feature(list(range(number % 4))),
        "lengths": tfr.int64_list_feature([1] * (number % 4)),
        "index": [number % 9],
        "value": [float(number)],
    }
    if number % 2:
        features["two"] = [b"a", str(number).encode()]
    if lacking:
        del features["pair"]
    return bytes(tfr.make_example(features).SerializeToString())


class _Maker:
    """Draws a chain, and knows which features there are and whether they come in batches."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.keys: dict[str, str] = {}  # name -> kind: int, float, bytes, ragged, padded, array
        self.batched = False

    def make(self) -> Chain:
        names = self.rng.choices(list(EXAMPLES), k=self.rng.randint(1, 3))
        options: dict[str, Any] = {}
        if self.rng.random() < 0.2:
            options["num_parallel_reads"] = self.rng.choice([1, 2])
        if self.rng.random() < 0.3:
            options["on_corrupt"] = self.rng.choice(["skip", "stop"])
        chain = Chain(Step("TFRecordDataset", (names,), options), kind=Kind("leaf", (0,)), size=20)
        for _ in range(self.rng.randint(0, 2)):
            chain = self.around(chain)
        if self.rng.random() < 0.3:
            chain = self.batch(chain)
        chain = self.parse(chain)
        for _ in range(self.rng.randint(0, 5)):
            chain = self.rng.choice([self.around, self.around, self.feature, self.feature, self.group])(chain)
        return chain

    def parse(self, chain: Chain) -> Chain:
        chosen = [key for key in SPEC if self.rng.random() < 0.35] or ["n"]
        self.rng.shuffle(chosen)
        self.keys = {key: KINDS[key] for key in chosen}
        return chain.then(Step("parse", ({key: SPEC[key] for key in chosen},)))

    def around(self, chain: Chain) -> Chain:
        """A verb that does not look inside."""
        rng = self.rng
        steps = [
            Step("take", (rng.choice([0, 1, 3, 8, -1]),)),
            Step("skip", (rng.choice([0, 1, 2, 4]),)),
            Step("shard", (2, rng.randrange(2))),
            Step("shuffle", (rng.choice([1, 2, 5, 100]),), {"seed": rng.randint(0, 9)}),
            Step("repeat", (rng.choice([1, 2, 3]),)),
            Step("prefetch", (rng.choice([0, 1, 3, -1]),)),
            Step("cache"),
            Step("ignore_errors"),
            Step("filter", (Function(rng.choice(["even?", "not third?", "all?"]), self.fail()),)),
            Step("concatenate self"),
        ]
        return chain.then(rng.choice(steps))

    def fail(self) -> tuple[int, int] | None:
        return (5, self.rng.randrange(5)) if self.rng.random() < 0.2 else None

    def group(self, chain: Chain) -> Chain:
        """A verb that puts elements together or takes them apart."""
        if self.batched:
            if self.keys and self.rng.random() < 0.6:
                self.batched = False
                return chain.then(Step("unbatch"))
            return chain
        return self.batch(chain)

    def batch(self, chain: Chain) -> Chain:
        self.batched = True
        verb = "batch"
        if self.keys and "sparse" not in self.keys.values() and "cut" not in self.keys:
            verb = self.rng.choice(["batch", "batch", "padded_batch", "ragged_batch"])
        return chain.then(
            Step(verb, (self.rng.choice([1, 2, 3, 5]),), {"drop_remainder": self.rng.random() < 0.3})
        )

    def feature(self, chain: Chain) -> Chain:
        """A verb on features."""
        verbs = [self.select, self.rename, self.cast, self.decode, self.add, self.map, self.source]
        return self.rng.choice(verbs)(chain)

    def source(self, chain: Chain) -> Chain:
        """Where elements came from; behind a batch nobody knows, which is an error for each."""
        if "file" in self.keys:
            return chain
        self.keys |= {"file": "bytes", "record": "int"}
        return chain.then(Step("with_source"))

    def select(self, chain: Chain) -> Chain:
        if not self.keys:
            return chain
        chosen = self.rng.sample(list(self.keys), self.rng.randint(1, len(self.keys)))
        self.keys = {key: self.keys[key] for key in chosen}
        return chain.then(Step("select", tuple(chosen)))

    def rename(self, chain: Chain) -> Chain:
        if not self.keys:
            return chain
        key = self.rng.choice(list(self.keys))
        new = f"{key}_"
        self.keys = {new if each == key else each: kind for each, kind in self.keys.items()}
        return chain.then(Step("rename", ({key: new},)))

    def cast(self, chain: Chain) -> Chain:
        numbers = [key for key, kind in self.keys.items() if kind in ("int", "array", "ragged", "padded")]
        if not numbers:
            return chain
        dtype = self.rng.choice(["int32", "float32", "float64", "uint8", "int64"])
        return chain.then(Step("cast", ({self.rng.choice(numbers): dtype},)))

    def decode(self, chain: Chain) -> Chain:
        raw = [key for key, kind in self.keys.items() if kind == "raw"]
        if not raw:
            return chain
        self.keys[raw[0]] = "array"
        shape = self.rng.choice([None, [4], [2, 2], [-1, 2], "size" if "size" in self.keys else [4]])
        return chain.then(Step("decode_raw", (raw[0], "uint16"), {"shape": shape}))

    def add(self, chain: Chain) -> Chain:
        if not self.keys or "sum" in self.keys:
            return chain
        self.keys["sum"] = "int"
        return chain.then(Step("with_column", ("sum", Function("amount", self.fail()))))

    def map(self, chain: Chain) -> Chain:
        """A user's function, after which arrays are just arrays."""
        options = {"num_parallel_calls": 2} if self.rng.random() < 0.3 else {}
        return chain.then(Step("map", (Function("x", self.fail()),), options))


def make_feature_chain(seed: int) -> Chain:
    """Make the chain of this seed."""
    return _Maker(seed).make()
