"""Tests of the bytes of zones: what comes back, and what is refused."""

from __future__ import annotations

import dataclasses
import math
import struct
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.records.access.test_zones import load, many, same, write
from tfrkit import _core
from tfrkit.records.access.index import zones_path
from tfrkit.records.access.zone_bytes import decode_zones, encode_zones
from tfrkit.records.access.zone_maker import ZoneMaker
from tfrkit.records.access.zones import Zones
from tfrkit.stores.files import write_bytes


def golden() -> Zones:
    """Make zones with every kind of entry."""
    some = [
        {"i": [3, -4], "f": [0.5, math.nan], "b": [b"\xff" * 20, b"a" * 17]},
        {"i": [7], "f": [math.inf], "b": [b""]},
    ]
    maker = ZoneMaker(whole_pieces=False, threads=1)
    lists = tfr.make_sequence_example({"i": 5}, {"l": [[1, 2], [3]]}).SerializeToString()
    examples = [tfr.make_example(each).SerializeToString() for each in some]
    block = tfr.Block.from_records([*examples, lists, b"\xff"])
    maker.add(block.data, block.offsets, block.lengths)
    return maker.finish(100, 7)


GOLDEN = encode_zones(golden())


def with_crc(body: bytes) -> bytes:
    return body + struct.pack("<I", _core.crc32c(body))


def only_value_errors(data: bytes) -> Zones | None:
    """Decode; what comes out is in order, and bounded."""
    try:
        made = decode_zones(data)
    except ValueError:
        return None
    assert encode_zones(made)
    assert int(made.ends[-1]) == made.records if len(made) else made.records == 0
    for zone in made.features.values():
        assert all(
            len(column) == len(made)
            for column in (
                zone.known,
                zone.present,
                zone.values,
                zone.least,
                zone.greatest,
                zone.nans,
                zone.single,
            )
        )
    return made


def test_golden_zones_come_back() -> None:
    made = only_value_errors(GOLDEN)
    assert made is not None
    same(made, golden())
    assert made.features["b"].open_above.tolist() == [True]
    assert (made.records, made.sequences, made.other, made.complete) == (4, 1, 1, True)


@given(st.binary(max_size=400))
def test_random_bytes_are_no_zones(data: bytes) -> None:
    assert only_value_errors(data) is None


@settings(max_examples=400)
@given(st.integers(0, len(GOLDEN) - 5), st.sampled_from([0, 1, 2, 16, 17, 127, 128, 255]), st.integers(0, 8))
@example(at=64, value=255, cut=0)
def test_changed_bytes_are_refused_or_in_order(at: int, value: int, cut: int) -> None:
    body = bytearray(GOLDEN[:-4])
    body[at] = value
    assert only_value_errors(bytes(body) + GOLDEN[-4:]) is None or bytes(body) == GOLDEN[:-4]
    only_value_errors(with_crc(bytes(body)[: len(body) - cut]))
    only_value_errors(with_crc(bytes(body) + bytes(cut)))


@given(st.integers(0, (len(GOLDEN) - 4) // 4 - 1), st.integers(0, 2**64 - 1), st.binary(max_size=40))
def test_changed_words_are_refused_or_in_order(word: int, value: int, tail: bytes) -> None:
    body = bytearray(GOLDEN[:-4])
    body[4 * word : 4 * word + 8] = struct.pack("<Q", value)
    only_value_errors(with_crc(bytes(body)[: len(GOLDEN) - 4] + tail))


def test_every_truncation_is_refused() -> None:
    for size in range(len(GOLDEN)):
        assert only_value_errors(GOLDEN[:size]) is None
        assert only_value_errors(with_crc(GOLDEN[:size])) is None or size == len(GOLDEN) - 4


@pytest.mark.parametrize("data", [b"", b"TFRKZON2" + GOLDEN[8:], GOLDEN[:-1], b"x" * 1000])
def test_a_file_that_is_no_zones_is_ignored(data: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", many(3))
    write_bytes(zones_path(path), data)
    assert load(path) is None


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.tfrecord", many(3), zones=True)
    monkeypatch.setattr("tfrkit.records.access.zones.MAX_ZONE_BYTES", 10)
    assert load(path) is None


def test_zones_of_a_folder_or_a_pipe_are_none(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", many(3))
    Path(zones_path(path)).mkdir(parents=True)
    assert load(path) is None


def test_bounds_out_of_order_are_refused() -> None:
    made = golden()
    zone = made.features["i"]
    swapped = dataclasses.replace(zone, least=zone.greatest, greatest=zone.least)
    with pytest.raises(ValueError, match="bad zones: order of bounds"):
        decode_zones(encode_zones(dataclasses.replace(made, features={**made.features, "i": swapped})))


def test_only_what_is_looked_at_is_decoded() -> None:
    made = golden()
    zone = made.features["i"]
    swapped = dataclasses.replace(zone, least=zone.greatest, greatest=zone.least)
    data = encode_zones(dataclasses.replace(made, features={**made.features, "i": swapped}))
    found = decode_zones(data, ["f", "nowhere"])
    assert list(found.features) == list(made.features)
    assert found.features["f"].values.tolist() == made.features["f"].values.tolist()
    assert found.features.get("nowhere") is None
    assert len(found.outline.features) == len(made.outline.features)
    for names in (["i"], None):
        with pytest.raises(ValueError, match="bad zones: order of bounds"):
            decode_zones(data, names)
    with pytest.raises(ValueError, match="bad zones: order of bounds"):
        found.features["i"]
