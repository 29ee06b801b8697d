"""A tour in a minute: write a million records, damage a copy, find the damage, mend it; and how fast that is.

    python examples/demo.py [RECORDS]

Works in a temporary folder, and removes it.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import tfrkit as tfr

T = TypeVar("T")
DAMAGES = 100


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    records: int
    size_bytes: int
    seconds: float

    def __str__(self) -> str:
        rate = f"{self.records / self.seconds / 1e6:8.2f} M/s"
        return f"{self.what:42}{self.seconds:8.2f} s {rate} {self.size_bytes / self.seconds / 1e9:8.2f} GB/s"


def timed(rows: list[Row], what: str, records: int, size_bytes: int, run: Callable[[], T]) -> T:
    """Run something once, and keep how long it took."""
    start = time.perf_counter()
    result = run()
    rows.append(Row(what, records, size_bytes, time.perf_counter() - start))
    return result


def make_records(count: int) -> list[bytes]:
    """Make records of some 600 bytes that compress like real ones."""
    rng = random.Random(1)
    words = [rng.randbytes(rng.randint(4, 12)) for _ in range(4000)]
    parts = [b" ".join(rng.choices(words, k=65)) for _ in range(2000)]
    return [b"%08d " % number + parts[number * 7 % len(parts)] for number in range(count)]


def write(path: str, records: list[bytes]) -> None:
    """Write all records into one file."""
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(records)


def damage(path: str, copy: str) -> None:
    """Copy a file and spoil it: flipped, overwritten and missing bytes in many places."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    rng = random.Random(2)
    for _ in range(DAMAGES):
        place = rng.randrange(len(data))
        match rng.randrange(3):
            case 0:
                data[place] ^= 1 << rng.randrange(8)
            case 1:
                data[place : place + 50] = rng.randbytes(50)
            case _:
                del data[place : place + rng.randrange(1, 30)]
    with open(copy, "wb") as file:
        file.write(data)


def count_records(path: str) -> int:
    """Read block by block, all checksums checked; return the number of records."""
    return sum(len(block) for block in tfr.read_blocks(path))


def count_one_by_one(path: str) -> int:
    """Read every record as bytes; return their number."""
    return sum(1 for _ in tfr.read_records(path))


def head(report: object, lines: int = 6) -> str:
    """Return the first lines of a report."""
    text = str(report).splitlines()
    more = [f"  ... and {len(text) - lines} lines more"] if len(text) > lines else []
    return "\n".join(text[:lines] + more)


def main(count: int) -> None:
    """Run the tour and print what happened."""
    records = make_records(count)
    size = sum(map(len, records)) + 16 * count
    rows: list[Row] = []
    folder = tempfile.mkdtemp(prefix="tfrkit-demo-")
    try:
        plain, packed, broken, mended = (
            os.path.join(folder, name)
            for name in ("plain.tfrecord", "packed.tfrecord.gz", "broken.tfrecord", "mended.tfrecord")
        )
        print(f"{count:,} records, {size / 1e6:,.0f} MB, on {os.cpu_count()} cores\n")
        timed(rows, "write, plain", count, size, partial(write, plain, records))
        timed(rows, "write, GZIP", count, size, partial(write, packed, records))
        ratio = os.path.getsize(packed) / os.path.getsize(plain)
        for what, path in (("plain", plain), ("GZIP", packed)):
            found = timed(rows, f"read {what}, block-wise", count, size, partial(count_records, path))
            again = timed(rows, f"read {what}, one by one", count, size, partial(count_one_by_one, path))
            assert found == again == count

        damage(plain, broken)
        report = timed(rows, "verify a damaged copy", count, size, partial(tfr.verify, broken))
        repaired = timed(rows, "repair it", count, size, partial(tfr.repair, broken, mended))
        saved = timed(rows, "read what was saved", count, size, lambda: list(tfr.read_records(mended)))
        assert set(saved) <= set(records), "a record that was never written came out"

        print("\n".join(map(str, rows)))
        print(f"\nGZIP takes {ratio:.0%} of the plain size.")
        print(f"\n{DAMAGES} places of a copy were damaged. verify says:\n{head(report)}")
        print(f"\nrepair says:\n{head(repaired)}")
        print(f"\n{len(saved):,} of {count:,} records were saved, all of them as they had been written.")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
