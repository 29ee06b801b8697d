from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.records.support.made import GOLDEN, GOLDEN_RECORDS, flip, frame, frames, header
from tests.records.support.strategies import damaged_files, pieces
from tfrkit import Block, Damage
from tfrkit.records.read.frame_splitter import FrameSplitter, check_block
from tfrkit.testing import reference


def cut(
    data: bytes,
    cuts: list[int] | None = None,
    *,
    resync: bool = False,
    sized: bool = False,
    limit: int = 1 << 32,
) -> tuple[list[bytes], list[Damage]]:
    splitter = FrameSplitter(
        "a",
        check=True,
        resync=resync,
        max_record_bytes=limit,
        size=lambda: len(data) if sized else None,
    )
    events = [event for piece in pieces(data, cuts or []) for event in splitter.feed(piece, 0, len(piece))]
    events += splitter.finish()
    assert splitter.done
    blocks = [event for event in events if isinstance(event, Block)]
    return [r for block in blocks for r in block], [event for event in events if isinstance(event, Damage)]


def facts(damages: list[Damage]) -> list[reference.Lost]:
    return [reference.Lost(d.kind, d.start, d.end, d.record) for d in damages]


@given(damaged_files(), st.lists(st.integers(0, 400)), st.booleans())
@example(frames([b"first"]) + frame(b"a" * 100)[:50] + frame(b"a" * 100)[55:] + frame(b""), [], True)
@example(
    frames([b"first"]) + frame(b"a" * 100)[:50] + frame(b"a" * 100)[70:] + frames([b"zzzz", b"end"]), [], True
)
@example(frame(b"")[:8], [], False)
def test_resynchronising_gives_what_the_reference_gives(data, cuts, sized):
    expected, lost = reference.read(data, sized=sized)
    found, damages = cut(data, cuts, resync=True, sized=sized)
    assert found == expected
    assert facts(damages) == lost


@given(damaged_files(), st.lists(st.integers(0, 400)), st.booleans())
def test_without_resynchronising_the_first_damage_is_the_end(data, cuts, sized):
    expected, lost = reference.read(data, sized=sized)
    found, damages = cut(data, cuts, sized=sized)
    assert found == expected[: lost[0].record if lost else None]
    assert [(d.start, d.record) for d in damages] == [(d.start, d.record) for d in lost[:1]]


@given(damaged_files(), st.lists(st.integers(0, 400)), st.integers(1, 40))
def test_limit_of_the_record_size_is_kept(data, cuts, limit):
    expected, lost = reference.read(data, max_record_bytes=limit)
    found, damages = cut(data, cuts, resync=True, sized=True, limit=limit)
    assert (found, facts(damages)) == (expected, lost)
    assert all(len(record) <= limit for record in found)


def test_frames_inside_a_damaged_payload_are_no_records():
    nested = frame(b"before" + frames([b"nested", b"deeper"]))
    data = frame(b"first") + flip(nested, 13) + frame(b"last")
    assert cut(data, resync=True)[0] == [b"first", b"last"]


@pytest.mark.parametrize("place", range(1, len(GOLDEN)))
def test_every_split_gives_the_same_records(place):
    assert cut(GOLDEN, [place]) == (GOLDEN_RECORDS, [])


def test_blocks_tell_where_they_are():
    splitter = FrameSplitter("a", check=True, resync=False, max_record_bytes=100)
    first = splitter.feed(GOLDEN[:40], 0, 40)[0]
    second = splitter.feed(GOLDEN[40:], 0, len(GOLDEN) - 40)[0]
    assert isinstance(first, Block)
    assert isinstance(second, Block)
    assert (first.path, first.first_record, first.start, len(first)) == ("a", 0, 0, 2)
    assert (second.first_record, second.start, len(second)) == (2, 35, 1)
    assert second.start + second.offsets[0] == 35 + 12


def test_bad_length_crc_shows_both_checksums():
    _, [damage] = cut(flip(GOLDEN, 0))
    assert (damage.kind, damage.text) == (
        "bad length CRC",
        "corrupted record at 0 (Is this even a TFRecord file?)",
    )
    assert damage.detail == "length checksum stored 0x0e4999b0, computed 0x340b2778"


def test_bad_data_crc_shows_both_checksums_and_the_payloads_place():
    _, [damage] = cut(flip(GOLDEN, 12))
    assert (damage.kind, damage.text) == ("bad data CRC", "corrupted record at 12")
    assert damage.detail.startswith("data checksum stored 0x21f1576e, computed 0x")
    assert (damage.start, damage.end, damage.record) == (0, 19, 0)


@pytest.mark.parametrize(
    ("size", "detail"),
    [
        (20, "the file ends 1 bytes into the 12 bytes of a header"),
        (30, "the file ends 11 bytes into the 12 bytes of a header"),
        (31, "the frame is 16 bytes long, more than the file has"),
        (34, "the frame is 16 bytes long, more than the file has"),
    ],
)
def test_cut_frame_says_how_much_is_there(size, detail):
    found, [damage] = cut(GOLDEN[:size])
    assert found == [b"abc"]
    assert (damage.kind, damage.start, damage.end, damage.record) == ("truncated", 19, size, 1)
    assert damage.text == "truncated record at 19' failed with Read less bytes than requested"
    assert damage.detail == detail
    assert damage.tail == (size < 31)


def test_record_over_the_limit_names_both_numbers():
    _, [damage] = cut(frame(bytes(200)), sized=True, limit=100)
    assert (damage.kind, damage.text) == ("too large", "record size too large")
    assert damage.detail == "the length field says 200 bytes, the limit is 100"


def test_length_beyond_a_known_size_is_noticed_without_waiting():
    data = header(1 << 31) + bytes(100)
    splitter = FrameSplitter("a", check=True, resync=False, max_record_bytes=1 << 40, size=lambda: len(data))
    [damage] = splitter.feed(data, 0, 50)
    assert isinstance(damage, Damage)
    assert damage.detail == "the frame is 2147483664 bytes long, more than the file has"
    assert splitter.done


def test_size_is_asked_for_again_because_the_file_may_have_grown():
    sizes = [30, 54, 54]
    splitter = FrameSplitter("a", check=True, resync=False, max_record_bytes=99, size=lambda: sizes.pop(0))
    data = frame(b"") + frame(b"grown" + bytes(17))
    events = splitter.feed(data, 0, 30) + splitter.feed(data, 30, len(data)) + splitter.finish()
    assert [len(event) for event in events if isinstance(event, Block)] == [1, 1]


def test_piece_is_joined_in_the_headroom_if_there_is_room():
    splitter = FrameSplitter("a", check=True, resync=False, max_record_bytes=99)
    assert splitter.feed(GOLDEN[:15], 0, 15) == []
    roomy = bytearray(100) + GOLDEN[15:]
    [block] = splitter.feed(roomy, 100, len(roomy))
    assert isinstance(block, Block)
    assert block.to_list() == GOLDEN_RECORDS
    assert bytes(roomy[85:]) == GOLDEN


def test_gap_settles_what_came_before_it():
    splitter = FrameSplitter("a", check=True, resync=True, max_record_bytes=99)
    splitter.feed(GOLDEN[:25], 0, 25)
    tail, gap = splitter.gap("inflate() failed")
    assert isinstance(tail, Damage)
    assert isinstance(gap, Damage)
    assert (tail.kind, tail.start, tail.end) == ("truncated", 19, 25)
    assert (gap.kind, gap.start, gap.text) == ("bad container", 25, "inflate() failed")
    [block] = splitter.feed(GOLDEN, 0, len(GOLDEN))
    assert isinstance(block, Block)
    assert (block.to_list(), block.start, block.first_record) == (GOLDEN_RECORDS, 25, 1)


def test_gap_without_resynchronising_is_the_end():
    splitter = FrameSplitter("a", check=True, resync=False, max_record_bytes=99)
    assert len(splitter.gap("inflate() failed")) == 1
    assert splitter.feed(GOLDEN, 0, len(GOLDEN)) == splitter.finish() == splitter.gap("again") == []


@pytest.mark.parametrize("bad", range(4))
def test_check_block_keeps_what_stands_before_the_first_bad_record(bad):
    wanted = [b"one", b"two", b"three", b"four"]
    offsets = Block.from_records(wanted).offsets
    data = flip(frames(wanted), int(offsets[bad]))
    block = Block(data, offsets, Block.from_records(wanted).lengths, path="a", first_record=10, start=1000)
    *before, damage = check_block(block)
    assert [record for part in before for record in part] == wanted[:bad]
    assert isinstance(damage, Damage)
    assert (damage.kind, damage.start) == ("bad data CRC", 1000 + offsets[bad] - 12)
    assert (damage.end - damage.start, damage.record) == (16 + len(wanted[bad]), 10 + bad)


def test_check_block_gives_an_intact_block_as_it_is():
    block = Block.from_records([b"one", b"two"])
    assert check_block(block)[0] is block
