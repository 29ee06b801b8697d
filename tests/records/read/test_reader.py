from __future__ import annotations

import gzip
import io
import logging
import os
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.records.support.made import (
    CONTAINERS,
    GOLDEN,
    GOLDEN_RECORDS,
    contain,
    flip,
    frame,
    frames,
    header,
    put,
)
from tests.records.support.strategies import damaged_files
from tfrkit.errors import DataLossError, DataLossWarning, InvalidArgumentError, OpError
from tfrkit.testing import reference

IN_TMP = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def collect(reader: object) -> tuple[list[object], list[OpError]]:
    """Take everything, going on after errors."""
    found: list[object] = []
    errors: list[OpError] = []
    while True:
        try:
            found.append(next(reader))  # type: ignore[call-overload]
        except StopIteration:
            return found, errors
        except OpError as error:
            errors.append(error)


FILES = st.lists(st.tuples(damaged_files(), st.sampled_from(CONTAINERS)), min_size=1, max_size=4)
HOW = {"block_bytes": st.sampled_from([1, 13, 100, 1 << 20]), "threads": st.sampled_from([1, 2, 3])}


def write_files(folder, files) -> list[str]:
    return [str(put(folder / str(i), contain(data, kind))) for i, (data, kind) in enumerate(files)]


def detected(files) -> list[tuple[bytes, str]]:
    """Only files whose compression is found by their content: a damaged first frame hides that of ZLIB."""
    return [(data, "GZIP" if kind == "ZLIB" else kind) for data, kind in files]


@IN_TMP
@given(files=FILES.map(detected), **HOW)
def test_skip_gives_every_intact_record_of_every_file(files, block_bytes, threads, tmp_path):
    expected = [reference.read(data, sized=not kind) for data, kind in files]
    paths = write_files(tmp_path, files)
    reader = tfr.read_records(paths, on_corrupt="skip", block_bytes=block_bytes, threads=threads)
    assert list(reader) == [record for records, _ in expected for record in records]
    assert [(path, d.kind, d.start, d.end, d.record) for path, d in reader.damages] == [
        (path, d.kind, d.start, d.end, d.record)
        for path, (_, lost) in zip(paths, expected, strict=True)
        for d in lost
    ]
    assert reader.skipped == len(reader.damages)


@IN_TMP
@given(files=FILES.map(detected), crc=st.booleans(), **HOW)
def test_raise_gives_an_error_in_the_place_of_the_first_damage_of_each_file(
    files, crc, block_bytes, threads, tmp_path
):
    expected: list[bytes] = []
    first: list[tuple[str, int, int]] = []
    paths = write_files(tmp_path, files)
    for path, (data, kind) in zip(paths, files, strict=True):
        records, lost = reference.read(data, crc=crc, sized=not kind)
        expected += records[: lost[0].record if lost else None]
        first += [(path, d.record, d.start) for d in lost[:1]]
    reader = tfr.read_records(paths, crc=crc, block_bytes=block_bytes, threads=threads)
    found, errors = collect(reader)
    assert found == expected
    assert [(error.path, error.record, error.offset) for error in errors] == first


@IN_TMP
@given(files=FILES.map(detected), **HOW)
@pytest.mark.filterwarnings("ignore::tfrkit.errors.DataLossWarning")
def test_stop_gives_the_records_before_the_first_damage_of_each_file(files, block_bytes, threads, tmp_path):
    expected: list[bytes] = []
    stops = 0
    for data, kind in files:
        records, lost = reference.read(data, sized=not kind)
        expected += records[: lost[0].record if lost else None]
        stops += bool(lost)
    paths = write_files(tmp_path, files)
    reader = tfr.read_records(paths, on_corrupt="stop", block_bytes=block_bytes, threads=threads)
    assert list(reader) == expected
    assert reader.skipped == stops


@IN_TMP
@given(records=st.lists(st.binary(max_size=300), max_size=30), kind=st.sampled_from(CONTAINERS), **HOW)
def test_blocks_hold_all_records_in_order(records, kind, block_bytes, threads, tmp_path):
    path = put(tmp_path / "a", contain(frames(records), kind))
    blocks = list(tfr.read_blocks(path, block_bytes=block_bytes, threads=threads))
    assert [record for block in blocks for record in block] == records
    assert [block.first_record for block in blocks] == [
        sum(len(before) for before in blocks[:i]) for i in range(len(blocks))
    ]
    for block in blocks:
        starts = block.start + block.offsets - 12
        assert block.path == str(path)
        assert starts[0] == len(frames(records[: block.first_record]))
        assert np.array_equal(np.diff(starts), block.lengths[:-1] + 16)


def test_errors_come_between_the_files(tmp_path):
    good, bad = put(tmp_path / "good", GOLDEN), put(tmp_path / "bad", flip(GOLDEN, 32))
    reader = tfr.read_records([bad, good, bad, good])
    assert next(reader) == b"abc"
    with pytest.raises(DataLossError, match=r"^corrupted record at 31"):
        next(reader)
    assert [next(reader) for _ in range(4)] == [*GOLDEN_RECORDS, b"abc"]
    with pytest.raises(DataLossError, match=r"in record 1 \(frame at byte 19\) of '.*bad'"):
        next(reader)
    assert list(reader) == GOLDEN_RECORDS
    assert list(reader) == []


def test_error_of_a_bad_data_crc_is_whole(tmp_path):
    path = str(put(tmp_path / "a", flip(GOLDEN, 12)))
    with pytest.raises(DataLossError) as caught:
        list(tfr.read_records(path))
    assert str(caught.value) == (
        "corrupted record at 12: data checksum stored 0x21f1576e, computed 0xfe1610ed, in record 0 (frame at byte 0) "
        f'of {path!r}. Copy the file again, or pass on_corrupt="skip" to drop such records.'
    )
    assert (caught.value.path, caught.value.record, caught.value.offset) == (path, 0, 0)
    assert isinstance(caught.value, ValueError)


def test_error_of_a_cut_file_is_whole(tmp_path):
    path = str(put(tmp_path / "a", GOLDEN[:-1]))
    os.utime(path, (1, 1))  # long ago: nothing is writing it
    with pytest.raises(DataLossError) as caught:
        list(tfr.read_records(path))
    assert caught.value.repairable
    assert str(caught.value) == (
        "truncated record at 35' failed with Read less bytes than requested: the frame is 18 bytes long, more than the "
        f"file has, in record 2 (frame at byte 35) of {path!r}. Copy the file again; "
        'on_corrupt="skip" takes what is whole.'
    )
    assert (caught.value.path, caught.value.record, caught.value.offset) == (path, 2, 35)


def test_error_of_a_container_names_the_decoders_text(tmp_path):
    data = contain(frames([b"abc" * 100]), "GZIP")
    path = str(put(tmp_path / "a", flip(data, -5, 0xFF)))
    with pytest.raises(DataLossError) as caught:
        list(tfr.read_records(path))
    assert str(caught.value).startswith("inflate() failed with error -3: incorrect data check")
    assert caught.value.path == path


def test_without_crc_damaged_data_is_given(tmp_path):
    path = put(tmp_path / "a", flip(GOLDEN, 12))
    assert list(tfr.read_records(path, crc=False)) == [b"`bc", b"", b"\xff\x00"]


def test_without_crc_the_length_is_checked(tmp_path):
    with pytest.raises(DataLossError, match=r"^corrupted record at 0 \(Is this even a TFRecord file\?\)"):
        list(tfr.read_records(put(tmp_path / "a", flip(GOLDEN, 0)), crc=False))


def test_stop_warns_with_place_and_reason(tmp_path):
    bad, good = put(tmp_path / "bad", flip(GOLDEN, 32)), put(tmp_path / "good", GOLDEN)
    with pytest.warns(
        DataLossWarning, match=r"^the rest of the file is left out: corrupted record at 31.*bad'"
    ):
        found = list(tfr.read_records([bad, good], on_corrupt="stop"))
    assert found == [b"abc", *GOLDEN_RECORDS]


def test_skip_is_logged(tmp_path, caplog):
    with caplog.at_level(logging.INFO, "tfrkit"):
        list(tfr.read_records(put(tmp_path / "a", flip(GOLDEN, 32)), on_corrupt="skip"))
    assert [record.getMessage()[:40] for record in caplog.records] == [
        "skipped 16 bytes: corrupted record at 31"
    ]


def test_tensorflow_policy_ends_at_a_cut_header_with_a_warning(tmp_path):
    path = put(tmp_path / "a", GOLDEN + b"\x05\0\0")
    with pytest.warns(DataLossWarning, match=r"^ignored, as TensorFlow does: truncated record at 53'"):
        assert list(tfr.read_records(str(path), policy=tfr.TENSORFLOW)) == GOLDEN_RECORDS


def test_tensorflow_policy_repeats_the_error_of_a_missing_file(tmp_path):
    reader = tfr.read_records(str(tmp_path / "missing"), policy=tfr.TENSORFLOW)
    for _ in range(3):
        with pytest.raises(FileNotFoundError, match=r"missing; No such file or directory$"):
            next(reader)


@pytest.mark.parametrize("threads", [1, 2])
def test_length_over_the_limit_is_damage(threads, tmp_path):
    path = put(tmp_path / "a", frame(b"small") + frame(bytes(1000)) + frame(b"next"))
    reader = tfr.read_records(path, max_record_bytes=100, threads=threads, on_corrupt="skip")
    assert list(reader) == [b"small", b"next"]
    assert [damage.kind for _, damage in reader.damages] == ["too large"]
    with pytest.raises(DataLossError, match="the length field says 1000 bytes, the limit is 100"):
        list(tfr.read_records(path, max_record_bytes=100))


@pytest.mark.parametrize("length", [1 << 31, 1 << 32, (1 << 32) + 1, 2**63 - 1, 2**64 - 1])
def test_length_that_claims_too_much_is_an_error_at_once(length, tmp_path):
    path = put(tmp_path / "a", GOLDEN + header(length) + bytes(900))
    found, errors = collect(tfr.read_records(path))
    assert found == GOLDEN_RECORDS
    assert [error.offset for error in errors] == [53]


@pytest.mark.parametrize("compression", ["auto", None, "GZIP", "gzip"])
def test_compression_is_found_or_given(compression, tmp_path):
    path = put(tmp_path / "a", gzip.compress(GOLDEN))
    assert list(tfr.read_records(path, compression=compression)) == GOLDEN_RECORDS


def test_files_of_different_compression_at_once(tmp_path):
    paths = [put(tmp_path / f"a-{kind}", contain(GOLDEN, kind)) for kind in CONTAINERS]
    assert list(tfr.read_records(paths)) == GOLDEN_RECORDS * len(CONTAINERS)


def test_unknown_compression_is_refused_at_once():
    with pytest.raises(
        InvalidArgumentError, match=r"^Unknown compression 'LZ4': expected none, GZIP, ZLIB, XZ or ZSTD\.$"
    ):
        tfr.read_records("a", compression="LZ4")


def test_zlib_streams_one_after_another(tmp_path):
    path = put(tmp_path / "a", zlib.compress(GOLDEN) * 3)
    assert list(tfr.read_records(path)) == GOLDEN_RECORDS * 3


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"threads": 0}, "expected threads to be at least 1 but got 0"),
        ({"block_bytes": 0}, "expected block_bytes to be at least 1 but got 0"),
        ({"max_record_bytes": 0}, "expected max_record_bytes to be positive but got 0"),
        (
            {"on_corrupt": "ignore"},
            "expected on_corrupt to be one of ('raise', 'skip', 'stop') but got 'ignore'",
        ),
    ],
)
def test_bad_option_is_refused_at_once(options, text):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is compared below
        tfr.read_records(io.BytesIO(), **options)
    assert str(caught.value) == text


def test_skip_passes_over_records_of_several_files(tmp_path):
    path = put(tmp_path / "a", GOLDEN)
    reader = tfr.read_records([path, path, path])
    reader.skip(5)
    assert list(reader) == (GOLDEN_RECORDS * 3)[5:]


def test_skip_beyond_the_end_is_the_end(tmp_path):
    reader = tfr.read_records(put(tmp_path / "a", GOLDEN))
    reader.skip(99)
    assert list(reader) == []


def test_closed_reader_is_at_its_end(tmp_path):
    path = put(tmp_path / "a", GOLDEN)
    reader = tfr.read_records([path, path])
    assert next(reader) == b"abc"
    reader.close()
    assert list(reader)[2:] == []


def test_blocks_may_be_kept(tmp_path):
    records = [bytes([i % 256]) * 100 for i in range(20_000)]
    path = put(tmp_path / "a", tfr.Block.from_records(records).data.tobytes())
    blocks = list(tfr.read_blocks(path, block_bytes=10_000))
    assert [record for block in blocks for record in block] == records


def test_empty_file_has_no_records(tmp_path):
    assert list(tfr.read_records(put(tmp_path / "a", b""))) == []


def test_streams_of_several_files_are_inflated_ahead(tmp_path):
    paths = [str(put(tmp_path / f"{i}", gzip.compress(frame(b"%d" % i)))) for i in range(6)]
    reader = tfr.read_blocks(paths, threads=3)
    assert next(reader).to_list() == [b"0"]
    assert len(reader._lanes) == 3  # the file at hand and two ahead of it
    assert [block.to_list() for block in reader] == [[b"%d" % i] for i in range(1, 6)]


def test_named_pipe_is_not_opened_before_its_turn(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    first = put(tmp_path / "first", frame(b"first"))
    records = tfr.read_records([first, pipe], threads=2)
    assert next(records) == b"first"  # opening the pipe would wait for a writer
    records.close()
