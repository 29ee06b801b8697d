from __future__ import annotations

import pickle

import numpy as np
import pytest

from tests.records.support.made import GOLDEN, GOLDEN_RECORDS
from tfrkit import Block

RECORDS = [b"zero", b"", b"two", b"three" * 10, b"four"]


@pytest.fixture
def block() -> Block:
    return Block.from_records(RECORDS)


def test_from_records_gives_the_frames_as_on_disk():
    assert Block.from_records(GOLDEN_RECORDS).data.tobytes() == GOLDEN


def test_from_records_takes_str_as_utf8_and_any_buffer():
    assert Block.from_records(["ü", bytearray(b"b"), memoryview(b"m")]).to_list() == [b"\xc3\xbc", b"b", b"m"]


def test_from_records_takes_any_sequence():
    assert Block.from_records(tuple(RECORDS)) == Block.from_records(RECORDS)


def test_from_records_refuses_what_is_no_record():
    with pytest.raises(TypeError, match=r"^expected bytes or str but got int at index 1$"):
        Block.from_records([b"a", 7])  # type: ignore[list-item]


def test_offsets_and_lengths_are_those_of_the_payloads(block):
    assert block.lengths.tolist() == [4, 0, 3, 50, 4]
    assert block.offsets.tolist() == [12, 32, 48, 67, 133]
    assert (block.offsets.dtype, block.lengths.dtype, block.data.dtype) == (np.int64, np.int64, np.uint8)


def test_data_is_read_only(block):
    with pytest.raises(ValueError, match="read-only"):
        block.data[0] = 1


def test_index_gives_bytes(block):
    assert [block[0], block[1], block[-1]] == [b"zero", b"", b"four"]


def test_index_out_of_range_is_an_index_error(block):
    with pytest.raises(IndexError, match="out of bounds"):
        block[5]


def test_iteration_gives_all_records(block):
    assert list(block) == block.to_list() == RECORDS


@pytest.mark.parametrize(
    "part",
    [
        slice(None),
        slice(1, 3),
        slice(-2, None),
        slice(None, None, 2),
        slice(None, None, -1),
        slice(3, 1),
        slice(9, None),
    ],
    ids=str,
)
def test_slice_is_a_block_of_those_records(block, part):
    found = block[part]
    assert isinstance(found, Block)
    assert found.to_list() == RECORDS[part]


def test_slice_is_a_view_on_the_same_buffer(block):
    assert np.shares_memory(block[1:3].data, block.data)


def test_slice_counts_records_on():
    block = Block.from_records(RECORDS)
    block.first_record = 100
    assert (block[2:].first_record, block[-1:].first_record, block[:1].first_record) == (102, 104, 100)


def test_every_record_knows_its_place():
    block = Block.from_records(RECORDS)
    block.first_record, block.start = 100, 1000
    frames = [1000 + int(offset) - 12 for offset in block.offsets]
    assert [block.place(i) for i in range(5)] == list(zip(range(100, 105), frames, strict=True))
    assert block[2:].place(1) == (103, frames[3])
    assert block[::-2].place(1) == (102, frames[2])
    assert block.take([4, 1])[1:].place(0) == (101, frames[1])
    assert pickle.loads(pickle.dumps(block.take([-1]))).place(0) == (104, frames[4])
    assert block.take([3, 4]).take([1]).first_record == 104


def test_gathered_records_have_no_offset():
    block = Block.from_records(RECORDS)
    gathered = Block(block.data, block.offsets, block.lengths, start=-1, numbers=np.array([9, 2, 5, 7, 1]))
    assert gathered.place(1) == (2, None)
    assert gathered[2:].place(0) == (5, None)


def test_take_gives_records_in_the_order_asked_for(block):
    assert block.take([3, 0, 0, -1]).to_list() == [RECORDS[3], b"zero", b"zero", b"four"]


def test_take_of_nothing_is_empty(block):
    assert len(block.take([])) == 0


def test_nbytes_counts_payloads_only(block):
    assert block.nbytes == sum(map(len, RECORDS))


def test_blocks_with_the_same_records_are_equal(block):
    shifted = Block.from_records([b"something before", *RECORDS])[1:]
    assert block == shifted
    assert not np.array_equal(block.offsets, shifted.offsets)


@pytest.mark.parametrize("others", [RECORDS[:-1], [*RECORDS[:-1], b"FOUR"], RECORDS[::-1], []])
def test_blocks_with_other_records_differ(block, others):
    assert block != Block.from_records(others)


def test_a_block_equals_nothing_else(block):
    assert block != RECORDS
    assert block.__eq__(RECORDS) is NotImplemented


def test_a_block_is_not_hashable(block):
    with pytest.raises(TypeError, match="unhashable type"):
        hash(block)


def test_empty_block():
    block = Block.from_records([])
    assert (len(block), block.to_list(), block.nbytes, list(block[:])) == (0, [], 0, [])


def test_pickle_keeps_records_and_origin():
    block = Block.from_records(RECORDS)
    block.path, block.first_record, block.start = "a.tfrecord", 7, 1234
    copy = pickle.loads(pickle.dumps(block[1:]))
    assert copy == block[1:]
    assert (copy.path, copy.first_record, copy.start) == ("a.tfrecord", 8, 1234)
    assert not copy.data.flags.writeable


def test_repr_tells_count_size_and_origin(block):
    assert repr(block) == "<Block: 5 records, 61 bytes>"
    block.path, block.first_record = "a.tfrecord", 7
    assert repr(block) == "<Block: 5 records, 61 bytes of 'a.tfrecord' from record 7>"


def test_gathered_block_knows_its_frames_if_told():
    made = Block.from_records([b"ab", b"c", b""])
    numbers, frames = made.places()
    assert (numbers.tolist(), frames.tolist()) == ([0, 1, 2], [0, 18, 35])
    gathered = Block(
        made.data, made.offsets, made.lengths, start=-1, numbers=numbers + 7, frames=frames + 100
    )
    assert gathered.place(1) == (8, 118)
    assert pickle.loads(pickle.dumps(gathered[1:].take([1]))).place(0) == (9, 135)
    assert Block(made.data, made.offsets, made.lengths, start=-1).places()[1] is None
