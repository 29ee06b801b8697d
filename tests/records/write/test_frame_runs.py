from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit.model.block import Block
from tfrkit.records.access.index import build_index, load_index
from tfrkit.records.write.frame_runs import FrameRuns, frames_of
from tfrkit.stores.files import open_source

RECORDS = [bytes([i % 251]) * (i * 37 % 3000) for i in range(2000)]
COMPRESSIONS = ["none", "GZIP", "ZLIB", "XZ", "ZSTD"]


def write(path: Path, blocks: list[Block], compression: str = "none", *, trusted: bool = True) -> bytes:
    with tfr.TFRecordWriter(path, compression=compression) as writer:
        for block in blocks:
            if trusted:
                writer.write_frames(block)
            else:
                writer.write_many(block)
    return path.read_bytes()


def cut(block: Block, *places: int) -> list[Block]:
    edges = [0, *places, len(block)]
    return [block[begin:end] for begin, end in pairwise(edges)]


def test_frames_that_lie_together_are_a_view():
    block = Block.from_records(RECORDS)
    frames = frames_of(block[10:20], checked=True)
    assert frames.obj is not None
    assert np.shares_memory(np.frombuffer(frames, np.uint8), block.data)


def test_frames_from_all_over_are_copied_with_their_checksums(tmp_path):
    block = Block.from_records(RECORDS).take([7, 3, 1999, 3])
    write(tmp_path / "a", [block])
    assert list(tfr.read_records(tmp_path / "a")) == [RECORDS[i] for i in (7, 3, 1999, 3)]


@pytest.mark.parametrize("trusted", [True, False])
def test_bytes_without_frames_get_some(trusted, tmp_path):
    block = Block(b"helloxyz", np.array([0, 5, 5]), np.array([5, 0, 3]))
    assert write(tmp_path / "a", [block], trusted=trusted) == bytes.fromhex(
        "0500000000000000eab2043e68656c6c6fbb1f1c19"
        "000000000000000029039807d8ea82a2"
        "0300000000000000b099490e78797a1e358d73"
    )


def test_write_many_makes_new_checksums_for_data_that_was_changed(tmp_path):
    block = Block.from_records([b"hello", b"xyz"])
    changed = block.data.copy()
    changed[12] = ord("j")
    write(tmp_path / "a", [Block(changed, block.offsets, block.lengths)], trusted=False)
    assert list(tfr.read_records(tmp_path / "a")) == [b"jello", b"xyz"]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_bytes_do_not_depend_on_how_frames_were_cut_into_blocks(compression, tmp_path):
    block = Block.from_records(RECORDS)
    whole = write(tmp_path / "whole", [block], compression)
    assert whole == write(tmp_path / "parts", cut(block, 1, 2, 500, 501, 1300), compression)
    assert whole == write(tmp_path / "many", cut(block, *range(1, 2000, 7)), compression, trusted=False)
    assert list(tfr.read_records(tmp_path / "parts")) == RECORDS


def test_index_of_copied_frames_is_that_of_the_file(tmp_path):
    block = Block.from_records([*RECORDS[:-1], b"large" * 20_000])
    for name in ("a.tfrecord", "a.tfrecord.gz"):
        path = tmp_path / name
        with tfr.TFRecordWriter(path, index=True) as writer:
            for part in cut(block, 3, 900):
                writer.write_frames(part)
        index = load_index(str(path), open_source(str(path)))
        assert index is not None
        assert index.to_bytes() == build_index(str(path)).to_bytes()
        assert len(index) == writer.records == 2000
        assert tfr.RecordFile(path).take([1999, 5]).to_list() == [b"large" * 20_000, RECORDS[5]]


def test_single_records_and_blocks_keep_their_order(tmp_path):
    block = Block.from_records(RECORDS)
    with tfr.TFRecordWriter(tmp_path / "a.gz") as writer:
        writer.write(b"first")
        writer.write_frames(block[:5])
        writer.write(b"between")
        writer.write_frames(block[5:9])
        writer.write_many([b"list"])
        writer.write_many(block[9:10])
        writer.flush()
        assert list(tfr.read_records(tmp_path / "a.gz"))[-1] == RECORDS[9]
    assert list(tfr.read_records(tmp_path / "a.gz")) == [
        b"first", *RECORDS[:5], b"between", *RECORDS[5:9], b"list", RECORDS[9]
    ]  # fmt: skip


def test_empty_block_writes_nothing(tmp_path):
    assert write(tmp_path / "a", [Block.from_records([])]) == b""


def test_runs_end_before_the_frame_that_does_not_fit():
    block = Block.from_records([b"x" * 84] * 5 + [b"y" * 984, b"z" * 84])
    runs = FrameRuns()
    full = list(runs.add(frames_of(block, checked=True), block.lengths, 250))
    assert [len(run.lengths) for run in full] == [2, 2, 1, 1]
    rest = runs.rest()
    assert rest is not None
    assert len(rest.lengths) == 1
    assert runs.rest() is None
