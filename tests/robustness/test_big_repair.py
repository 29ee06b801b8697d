"""Repair of a large file with many damages: the whole promise, counted."""

from __future__ import annotations

import itertools
import random

import tfrkit as tfr

RECORDS = 100_000
DAMAGES = 1_000


def make_file(rng: random.Random) -> tuple[list[bytes], bytes, list[int]]:
    """Make records that are all different, their file, and where each frame begins."""
    records = [b"%d:" % number + rng.randbytes(rng.choice((0, 3, 20, 60, 150))) for number in range(RECORDS)]
    block = tfr.Block.from_records(records)
    return records, block.data.tobytes(), [*(block.offsets - 12).tolist(), len(block.data)]


def damage(rng: random.Random, data: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Give damaged bytes, and the ranges of the original that are no longer what they were."""
    places = sorted(rng.sample(range(len(data)), DAMAGES))
    parts, touched, at = [], [], 0
    for place in places:
        if place < at:
            continue
        parts.append(data[at:place])
        kind = rng.choice(("flip", "insert", "delete", "cut", "zero"))
        size = {
            "flip": 1,
            "insert": 0,
            "delete": rng.randrange(1, 60),
            "cut": rng.randrange(60, 2000),
            "zero": 30,
        }[kind]
        old = data[place : place + size]
        if kind == "flip":
            parts.append(bytes([old[0] ^ 1 << rng.randrange(8)]))
        elif kind == "insert":
            parts.append(rng.randbytes(rng.randrange(1, 60)))
        elif kind == "zero":
            parts.append(bytes(len(old)))
        touched.append((place, place + size))
        at = place + size
    parts.append(data[at:-7])  # the end is missing too
    touched.append((len(data) - 7, len(data)))
    return b"".join(parts), touched


def untouched_records(starts: list[int], touched: list[tuple[int, int]]) -> set[int]:
    """Give the numbers of the records whose frames are whole. An insertion between two frames touches none."""
    bad = set()
    number = 0
    for begin, end in touched:
        while starts[number + 1] <= begin:
            number += 1
        first = number
        if begin == end and begin == starts[first]:
            continue
        while first < RECORDS and (starts[first] < end or starts[first] <= begin < starts[first + 1]):
            bad.add(first)
            first += 1
    return set(range(RECORDS)) - bad


def test_every_untouched_record_is_saved_and_nothing_that_was_never_written(tmp_path):
    rng = random.Random(20)
    records, data, starts = make_file(rng)
    damaged, touched = damage(rng, data)
    (tmp_path / "bad").write_bytes(damaged)
    report = tfr.repair(tmp_path / "bad", tmp_path / "good")

    number_of = {record: number for number, record in enumerate(records)}
    saved = list(tfr.read_records(tmp_path / "good"))
    strangers = [record for record in saved if record not in number_of]
    assert strangers == []
    numbers = [number_of[record] for record in saved]
    assert all(a < b for a, b in itertools.pairwise(numbers))  # in order, and none twice

    untouched = untouched_records(starts, touched)
    assert RECORDS - 6 * DAMAGES < len(untouched) < RECORDS - DAMAGES // 2
    assert untouched <= set(numbers)

    assert report.records == len(saved)
    assert report.lost_bytes == len(damaged) - sum(len(record) + 16 for record in saved)
    assert all(a.end <= b.start for a, b in itertools.pairwise(report.lost))
    assert tfr.verify(tmp_path / "good").ok
