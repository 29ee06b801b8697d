"""A tour in a minute: a million records and Examples written, damaged, mended, parsed, shuffled; and how fast that is.

    python examples/demo.py [RECORDS]

Works in a temporary folder (it needs 2 GB for a million records), and removes it.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import tfrkit as tfr

T = TypeVar("T")
DAMAGES = 100
LOOKUPS = 10_000
BYTES_PER_RECORD = 2000  # of disk: the plain file, its damaged copy, the mended one, and GZIP


def make_records(count: int) -> list[bytes]:
    """Make events of a web shop as JSON, some 460 bytes each; bytes 8 to 16 are its number."""
    rng = random.Random(1)
    cities = ["Aarhus", "Bilbao", "Cork", "Dresden", "Evora", "Firenze", "Gdansk", "Haarlem"]
    words = [
        "red",
        "light",
        "wool",
        "garden",
        "small",
        "steel",
        "kids",
        "summer",
        "bath",
        "oak",
        "travel",
        "soft",
    ]
    tails = []
    for _ in range(5000):
        items = [
            f'{{"sku": {rng.randrange(10**7)}, "price": {rng.randrange(100, 9999) / 100}}}' for _ in range(3)
        ]
        scores = ", ".join(f"{rng.gauss(0, 1):.4f}" for _ in range(24))
        tails.append(
            f', "user": "{rng.getrandbits(64):016x}", "city": "{rng.choice(cities)}", '
            f'"query": "{" ".join(rng.choices(words, k=4))}", "seconds": {rng.randrange(1, 600)}, '
            f'"basket": [{", ".join(items)}], "scores": [{scores}]}}'.encode()
        )
    return [b'{"id": "%08d"' % number + tails[number * 7 % len(tails)] for number in range(count)]


class Table:
    """Rates, printed line by line while the work goes on."""

    def __init__(self, count: int, size_bytes: int) -> None:
        self._count = count
        self._size_bytes = size_bytes
        print(f"{'':38}{'seconds':>10}{'M records/s':>14}{'GB/s':>8}")

    def time(self, what: str, run: Callable[[], T], records: int | None = None) -> T:
        """Run something once, and print how long it took."""
        start = time.perf_counter()
        result = run()
        seconds = time.perf_counter() - start
        count = self._count if records is None else records
        rate = self._size_bytes * count / self._count / seconds / 1e9
        print(f"{what:38}{seconds:10.2f}{count / seconds / 1e6:14.2f}{rate:8.2f}", flush=True)
        return result


def write(path: Path, records: list[bytes]) -> None:
    """Write all records into one file."""
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(records)


def count_blocks(path: Path) -> int:
    """Read block by block, all checksums checked; return the number of records."""
    return sum(len(block) for block in tfr.read_blocks(path))


def count_records(path: Path) -> int:
    """Read every record as bytes; return their number."""
    return sum(1 for _ in tfr.read_records(path))


def count_lookups(file: tfr.RecordFile, numbers: list[int]) -> int:
    """Take records from all over a file; return their number."""
    return len(file.take(numbers))


def damage(path: Path, copy: Path) -> None:
    """Copy a file and spoil it: flipped, overwritten, missing and additional bytes in many places."""
    rng = random.Random(2)
    places = sorted(rng.sample(range(path.stat().st_size - 64), DAMAGES))
    with path.open("rb") as old, copy.open("wb") as new:
        for place in places:
            while (missing := place - old.tell()) > 0:
                new.write(old.read(min(missing, 1 << 20)))
            match rng.randrange(4):
                case 0:
                    new.write(bytes([old.read(1)[0] ^ 1 << rng.randrange(8)]))
                case 1:
                    new.write(rng.randbytes(len(old.read(50))))
                case 2:
                    old.read(rng.randrange(1, 30))
                case _:
                    new.write(rng.randbytes(rng.randrange(1, 30)))
        shutil.copyfileobj(old, new, 1 << 20)


def count_true(path: Path, records: list[bytes]) -> int:
    """Read a file; return how many of its records are exactly as they were written, and refuse all others."""
    count = 0
    for record in tfr.read_records(path):
        if record != records[int(record[8:16])]:
            raise AssertionError(f"a record that was never written came out: {record[:40]!r}")
        count += 1
    return count


def make_columns(count: int) -> dict[str, object]:
    """Make clicks on adverts: a label, a name, numbers, and lists of different lengths."""
    rng = np.random.default_rng(4)
    lengths = rng.integers(0, 9, count)
    columns: dict[str, object] = {
        "label": rng.integers(0, 2, count),
        "user": [b"user %d" % number for number in range(count)],
        "bought": tfr.Ragged.from_lengths(rng.integers(0, 10_000, int(lengths.sum())), lengths),
    }
    columns |= {f"score_{i}": rng.normal(size=count).astype(np.float32) for i in range(8)}
    columns |= {f"id_{i}": rng.integers(0, 100_000, count) for i in range(8)}
    return columns


def write_columns(path: Path, columns: dict[str, object]) -> None:
    """Write columns as Examples, one for each row."""
    with tfr.TFRecordWriter(path) as writer:
        writer.write_batch(columns)


def count_positive(path: Path, spec: Mapping[str, Any]) -> int:
    """Parse all Examples of a file into arrays; return how many have label 1."""
    counts: list[int] = [
        int(tfr.parse_example(block, spec)["label"].sum()) for block in tfr.read_blocks(path)
    ]
    return sum(counts)


def examples_tour(count: int) -> None:
    """Write Examples from columns, find out what is in the file, and parse it."""
    path = Path("clicks.tfrecord")
    columns = make_columns(count)
    print("\nThe same number of Examples, from columns of numpy:\n")
    block = tfr.encode_examples({name: column[:1000] for name, column in columns.items()})  # type: ignore[index]
    table = Table(count, (block.nbytes // 1000 + 16) * count)
    table.time("write_batch: columns to a file", partial(write_columns, path, columns))
    schema = table.time("inspect: what is in the file", partial(tfr.inspect, path))
    positive = table.time("parse_example: the file to arrays", partial(count_positive, path, schema.spec))
    few = {key: schema.spec[key] for key in ("label", "bought")}
    again = table.time("parse_example: 2 of 19 features", partial(count_positive, path, few))
    assert positive == again == int(np.asarray(columns["label"]).sum())
    batches = pipeline(path, schema.spec, 3)
    trained = table.time("shuffle, parse, batch: a pipeline", partial(train, iter(batches)))
    print(f"\ninspect says:\n\n{head(schema, 8)}")
    stopped = iter(batches)
    first = train(itertools.islice(stopped, 100))
    state = json.loads(json.dumps(stopped.state()))
    stopped.close()
    rest = train(pipeline(path, schema.spec, 3).iter_from(state))
    assert first + rest == trained == positive
    size = len(json.dumps(state))
    print(f"\nThe pipeline was stopped after 100 batches and went on from a state of {size / 1e3:.0f} kB:")
    print(f"{first:,} + {rest:,} = {trained:,} examples with label 1, as in one go.\n\n{batches.explain()}")


def pipeline(path: Path, spec: Mapping[str, Any], seed: int) -> tfr.Dataset:
    """Describe shuffled batches of a file's Examples."""
    return tfr.TFRecordDataset(path).shuffle(10_000, seed).parse(spec).batch(1024).prefetch(tfr.AUTOTUNE)


def train(batches: Iterator[dict[str, Any]]) -> int:
    """Pretend: return how many examples have label 1."""
    return sum(int(batch["label"].sum()) for batch in batches)


def head(report: object, lines: int = 4) -> str:
    """Return the first lines of a report."""
    text = str(report).splitlines()
    more = [f"  ... and {len(text) - lines} lines more"] if len(text) > lines else []
    return "\n".join(text[:lines] + more)


@contextmanager
def work_folder(count: int) -> Iterator[None]:
    """Work in an empty folder that goes away, after a look at the free space."""
    with tempfile.TemporaryDirectory(prefix="tfrkit-demo-") as folder:
        free, needed = shutil.disk_usage(folder).free, count * BYTES_PER_RECORD
        if free < needed:
            fits = free // BYTES_PER_RECORD
            sys.exit(
                f"error: {folder} has {free / 1e9:.1f} GB, {needed / 1e9:.1f} are needed\n\n"
                f"hint: set TMPDIR to a folder with more room, or run: python examples/demo.py {fits}"
            )
        before = Path.cwd()
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def main(count: int) -> None:
    """Run the tour and print what happened."""
    records = make_records(count)
    size = sum(map(len, records)) + 16 * count
    plain, packed = Path("plain.tfrecord"), Path("packed.tfrecord.gz")
    broken, mended = Path("broken.tfrecord"), Path("mended.tfrecord")
    with work_folder(count):
        print(
            f"{count:,} records of about {size // count} bytes, {size / 1e6:,.0f} MB, {os.cpu_count()} cores\n"
        )
        table = Table(count, size)
        for what, path in (("plain", plain), ("GZIP", packed)):
            table.time(f"write {what}", partial(write, path, records))
            found = table.time(f"read {what}, block by block", partial(count_blocks, path))
            again = table.time(f"read {what}, record by record", partial(count_records, path))
            assert found == again == count
        numbers = random.Random(3).choices(range(count), k=LOOKUPS)
        file = table.time("index the plain file", partial(tfr.RecordFile, plain))
        table.time(f"take {LOOKUPS:,} random records of it", partial(count_lookups, file, numbers), LOOKUPS)
        share = packed.stat().st_size / plain.stat().st_size

        damage(plain, broken)
        report = table.time("verify a copy with damages", partial(tfr.verify, broken))
        repaired = table.time("repair it", partial(tfr.repair, broken, mended))
        saved = table.time("read and compare what was saved", partial(count_true, mended, records))

        print(f"\nThe GZIP file has {share:.0%} of the plain one's size.")
        print(f"\nA copy was damaged in {DAMAGES} places. verify says:\n\n{head(report)}")
        print(f"\nrepair says:\n\n{head(repaired)}")
        print(f"\n{saved:,} of {count:,} records were saved; every one is as it was written.")
        examples_tour(count)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
