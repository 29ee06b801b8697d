"""Random records, damage and options, from fixed seeds: tfrkit and TensorFlow never part."""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.oracle.support.frames import compress, damage, frame, frames, make_records, member, put
from tests.oracle.support.oracle import (
    COMPRESSIONS,
    WINDOW,
    Failure,
    Outcome,
    assert_same,
    attempt,
    drain,
    our_block_results,
    our_results,
    our_writer,
    tensorflow,
    tf_iterator,
    tf_results,
    tf_writer,
)
from tests.support.rules import tf_rule
from tfrkit.tf.v1.polling import tf_record_iterator

KINDS = (*COMPRESSIONS, "members")


def _pack(rng: random.Random, records: Sequence[bytes], kind: str) -> bytes:
    """A file of the kind; members are cut anywhere, and now and then one is empty."""
    if kind != "members":
        return compress(frames(records), kind, rng.choice((-1, 0, 1, 9)))
    plain = frames(records)
    cuts = sorted(rng.randrange(len(plain) + 1) for _ in range(rng.randrange(1, 6)))
    edges = [0, *cuts, len(plain)]
    parts = [plain[start:end] for start, end in itertools.pairwise(edges)]
    return b"".join(member(part) for part in parts if part or rng.random() < 0.3)


def _type(kind: str) -> str:
    return "GZIP" if kind == "members" else kind


def _until_error(path: Path, compression: str) -> list[Outcome]:
    """TensorFlow's outcomes of one file up to the first error; a dataset gives the same and takes 600 times longer."""
    records = tf_iterator(str(path), compression)
    outcomes = drain(lambda: next(records))
    errors = [number for number, outcome in enumerate(outcomes) if isinstance(outcome, Failure)]
    return outcomes[: errors[0] + 1] if errors else outcomes


@tf_rule("1.2 every reader")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_small_files(tmp_path: Path, kind: str, seed: int) -> None:
    rng = random.Random(f"small {kind} {seed}")
    for _ in range(150):
        file, what = damage(rng, _pack(rng, make_records(rng, rng.randrange(1, 8), 300), kind))
        if rng.random() < 0.3:
            file, more = damage(rng, file)
            what += f", {more}"
        path = put(tmp_path / "a", file)
        theirs = _until_error(path, _type(kind))
        what = f"{what}: {file.hex() if len(file) < 2000 else len(file)}"
        assert_same(our_results(path, _type(kind)), theirs, what)
        assert_same(our_block_results(path, _type(kind)), theirs, f"blocks, {what}")


@tf_rule("1.3 container checksum")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_of_several_windows(tmp_path: Path, kind: str, seed: int) -> None:
    rng = random.Random(f"large {kind} {seed}")
    records = [rng.randbytes(rng.choice((0, 900, 20_000))) for _ in range(60)]
    records += [bytes([rng.randrange(256)]) * rng.randrange(60_000) for _ in range(30)]
    rng.shuffle(records)
    whole = _pack(rng, records, kind)
    for _ in range(12):
        file, what = damage(rng, whole)
        path = put(tmp_path / "a", file)
        theirs = _until_error(path, _type(kind))
        assert_same(our_results(path, _type(kind)), theirs, f"{what} of {len(whole)}")
        assert_same(our_block_results(path, _type(kind)), theirs, f"blocks, {what} of {len(whole)}")


@tf_rule("1.2 next file after data loss")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_lists_of_damaged_files(tmp_path: Path, kind: str, threads: int) -> None:
    """One dataset over damaged files with a whole one between each; also with skip."""
    rng = random.Random(f"lists {kind} {threads}")
    paths, damages = [], []
    for number in range(120):
        whole = _pack(rng, make_records(rng, rng.randrange(1, 5), 100), kind)
        file, what = damage(rng, whole)
        good = compress(frame(b"whole %d" % number), _type(kind))
        paths += [put(tmp_path / f"{number}", file), put(tmp_path / f"{number}.good", good)]
        damages.append(f"{number}: {what}")
    theirs = tf_results(paths, _type(kind))
    assert_same(our_results(paths, _type(kind), threads=threads), theirs, "; ".join(damages))
    assert_same(our_block_results(paths, _type(kind), threads=threads), theirs, "; ".join(damages))
    for skip in (1, 7, 50):
        ours = our_results(paths, _type(kind), skip=skip, threads=threads)
        assert_same(ours, tf_results(paths, _type(kind), skip=skip), f"skip({skip}) of {'; '.join(damages)}")


@tf_rule("1.2 skip leaves data unchecked")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_skip_in_damaged_files(tmp_path: Path, compression: str) -> None:
    rng = random.Random(f"skip {compression}")
    for _ in range(25):
        file, what = damage(rng, frames(make_records(rng, rng.randrange(1, 8), 60)))
        path = put(tmp_path / "a", compress(file, compression))
        skip = rng.randrange(1, 9)
        theirs = tf_results(path, compression, skip=skip)
        assert_same(our_results(path, compression, skip=skip), theirs, f"skip({skip}), {what}: {file.hex()}")


def _poll(records: Any, again: int) -> list[Any]:
    """Take records until there are none, and ask again a few times; nothing behind a damaged container.

    TensorFlow notices that a file grew only after it has reported the end once; tfrkit does so at once. And asked
    again, TensorFlow gives records from the very buffer whose inflating failed.
    """
    outcomes = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tfr.errors.DataLossWarning)
        while not outcomes or isinstance(outcomes[-1], bytes):
            outcomes.append(attempt(lambda: next(records)))
        if _is_broken(outcomes):
            return outcomes
        return outcomes + [attempt(lambda: next(records)) for _ in range(again)]


def _is_broken(outcomes: list[Any]) -> bool:
    return outcomes[-1].message.startswith("inflate()")


@tf_rule("1.4 iterator polls")
@pytest.mark.parametrize("kind", KINDS)
def test_iterators_on_growing_damaged_files(tmp_path: Path, kind: str) -> None:
    """Both iterators see the same file grow by random pieces, are closed and reopened at random."""
    rng = random.Random(f"grow {kind}")
    path = tmp_path / "a"
    for _ in range(80):
        file, what = _pack(rng, make_records(rng, rng.randrange(1, 6), 200), kind), "whole"
        if rng.random() < 0.4:
            file, what = damage(rng, file)
        path.write_bytes(b"")
        pair = tf_record_iterator(str(path), _type(kind)), tf_iterator(str(path), _type(kind))
        written, sizes = 0, []
        while written < len(file):
            written += rng.choice((1, 5, 40, 200))
            sizes.append(written)
            path.write_bytes(file[:written])
            again, reopen = rng.randrange(3), rng.random() < 0.1
            ours, theirs = (_poll(records, again) for records in pair)
            assert_same(ours, theirs, f"{what}, grown to {sizes}: {file.hex()}")
            if _is_broken(theirs):
                break
            for records in pair if reopen else ():
                records.close()
                records.reopen()


def _random_options(rng: random.Random, compression: str) -> dict[str, int]:
    """Some options that TensorFlow survives: sync and full flushes loop for ever in small output buffers."""
    bits = [9, 10, 12, 15] if compression == "ZLIB" else [25, 27, 31]
    options = {
        "flush_mode": rng.choice((0, 1, 2, 3, 5)),
        "input_buffer_size": rng.choice((0, 1, 16, 100, 1000, WINDOW)),
        "output_buffer_size": rng.choice((16, 100, 1000, WINDOW)),
        "window_bits": rng.choice([*bits, -15, -9]),
        "compression_level": rng.choice((-1, 1, 2, 3, 5, 6, 8, 9)),
        "compression_method": 8,
        "mem_level": rng.randrange(1, 10),
        "compression_strategy": rng.choice((0, 0, 1, 2, 3, 4)),
    }
    return {name: value for name, value in options.items() if rng.random() < 0.5}


def _write(make: Any, path: Path, options: Any, records: Sequence[bytes], flushes: set[int]) -> list[bytes]:
    """Write; give the file's bytes after each flush and at the end."""
    seen = []
    with make(str(path), options) as writer:
        for number, record in enumerate(records):
            writer.write(record)
            if number in flushes:
                writer.flush()
                seen.append(path.read_bytes())
    return [*seen, path.read_bytes()]


def _compare_writers(tmp_path: Path, rng: random.Random, compression: str, options: dict[str, int]) -> None:
    records = make_records(rng, rng.randrange(0, 30), rng.choice((50, 3000, 90_000)))
    flushes = {number for number in range(len(records)) if rng.random() < 0.1}
    ours = _write(
        our_writer, tmp_path / "ours", tfr.TFRecordOptions(compression, **options), records, flushes
    )
    original = tensorflow().io.TFRecordOptions(compression, **options)
    theirs = _write(tf_writer, tmp_path / "theirs", original, records, flushes)
    sizes = [len(record) for record in records]
    assert_same(
        ours, theirs, f"{compression} {options}, records of {sizes} bytes, flush after {sorted(flushes)}"
    )


@tf_rule("1.4 every option")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("compression", ["ZLIB", "GZIP"])
def test_writers_with_random_options(tmp_path: Path, compression: str, seed: int) -> None:
    rng = random.Random(f"options {compression} {seed}")
    for _ in range(25):
        _compare_writers(tmp_path, rng, compression, _random_options(rng, compression))


@tf_rule("1.4 every option")
@pytest.mark.parametrize("flush_mode", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("sizes", [(0, 6), (16, 6), (64, 7), (64, 8), (1000, 50), (WINDOW, 2), (100, WINDOW)])
def test_flush_modes_and_small_buffers(tmp_path: Path, sizes: tuple[int, int], flush_mode: int) -> None:
    if flush_mode in (2, 3) and sizes[1] < 6:
        flush_mode = 0
    rng = random.Random(f"buffers {sizes} {flush_mode}")
    options = {"input_buffer_size": sizes[0], "output_buffer_size": sizes[1], "flush_mode": flush_mode}
    for compression in ("ZLIB", "GZIP"):
        _compare_writers(tmp_path, rng, compression, options)


@tf_rule("1.4 every option")
@pytest.mark.parametrize("sizes", [(0, 100), (100, 16), (1000, 1000), (WINDOW, 100), (WINDOW, WINDOW)])
@pytest.mark.parametrize("flush_mode", [0, 1, 3])
def test_stored_blocks(tmp_path: Path, sizes: tuple[int, int], flush_mode: int) -> None:
    """At level 0 the blocks follow the buffers: the one level at which sizes alone change the bytes."""
    rng = random.Random(f"stored {sizes} {flush_mode}")
    options = {"input_buffer_size": sizes[0], "output_buffer_size": sizes[1], "flush_mode": flush_mode}
    for compression in ("ZLIB", "GZIP"):
        _compare_writers(tmp_path, rng, compression, {**options, "compression_level": 0})
        _compare_writers(tmp_path, rng, compression, {**options, "compression_level": 0, "mem_level": 1})


@tf_rule("1.1 layout")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_random_records(tmp_path: Path, compression: str, seed: int) -> None:
    """Random records written by both give the same file, and are read back by both."""
    rng = random.Random(f"records {compression} {seed}")
    records = make_records(rng, rng.randrange(1, 200), 4000)
    ours = _write(our_writer, tmp_path / "ours", compression, records, set())
    assert ours == _write(tf_writer, tmp_path / "theirs", compression, records, set())
    path = tmp_path / "ours"
    assert_same(tf_results(path, compression), records, "TensorFlow")
    assert_same(our_results(path, compression, quiet=False), records)
    assert_same(our_block_results(path, compression), records)
