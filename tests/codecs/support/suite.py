"""What holds for every compression: a subclass of `CodecSuite` has a fixture `codec`."""

from __future__ import annotations

import io
import os
import random

import numpy as np
import pytest

import tfrkit as tfr
from tests.records.support.made import put
from tfrkit.codecs.codec import CHUNK_BYTES, Codec, Decoder
from tfrkit.codecs.table import canonical, from_suffix, names, sniff
from tfrkit.errors import DataLossError, DataLossWarning, FailedPreconditionError, InvalidArgumentError
from tfrkit.records.record_names import record_suffix
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.records.sniff.file_sniffer import sniff_file
from tfrkit.stores.files import open_source, read_bytes, write_bytes

RANDOM = random.Random(1)
STREAM = b"".join(RANDOM.randbytes(50) + b"repeated " * 20 for _ in range(4000))  # 0.9 MB
RECORDS = [b"%d " % number + RANDOM.randbytes(number % 300) for number in range(3000)]


class OneByteAtATime(io.BytesIO):
    """A pipe from a slow program."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 0, 1) if size else size)


def packed(used: Codec, data: bytes, level: int | None = None) -> bytes:
    assert used.encoder is not None
    encoder = used.encoder(used.default_level if level is None else level)
    half = len(data) // 2
    return encoder.compress(data[:half]) + encoder.compress(memoryview(data)[half:]) + encoder.flush()


def unpacked(decoder: Decoder) -> bytes:
    return b"".join(iter(decoder.read, b""))


class CodecSuite:
    """Streams of bytes, then files of records."""

    # -- bytes ------------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("place", ["default", "lowest", "highest"])
    def test_a_stream_of_any_level_comes_back(self, codec, place, tmp_path):
        level = {"default": codec.default_level, "lowest": codec.levels[0], "highest": codec.levels[1]}[place]
        data = packed(codec, STREAM, level)
        for target in (str(put(tmp_path / "a", data)), io.BytesIO(data)):
            decoder = codec.open(open_source(target))
            parts = list(iter(decoder.read, b""))
            assert b"".join(parts) == STREAM
            assert max(map(len, parts)) <= 65 * CHUNK_BYTES
            assert not decoder.truncated
            assert not decoder.lost

    def test_a_stream_that_comes_in_small_pieces_comes_back(self, codec):
        assert (
            unpacked(codec.open(open_source(OneByteAtATime(packed(codec, STREAM[:3000]))))) == STREAM[:3000]
        )

    def test_an_empty_stream_is_empty(self, codec):
        assert unpacked(codec.open(open_source(io.BytesIO(packed(codec, b""))))) == b""
        assert unpacked(codec.open(open_source(io.BytesIO(b"")))) == b""

    def test_streams_one_after_another_are_one(self, codec):
        data = b"".join(packed(codec, part) for part in (b"one", b"", b"two", STREAM[:100_000], b"three"))
        assert unpacked(codec.open(open_source(io.BytesIO(data)))) == b"onetwo" + STREAM[:100_000] + b"three"

    def test_a_stream_that_is_cut_anywhere_is_noticed(self, codec):
        data = packed(codec, STREAM[:300])
        for size in range(1, len(data)):
            decoder = codec.open(open_source(io.BytesIO(data[:size])))
            assert STREAM.startswith(unpacked(decoder))
            assert decoder.truncated or not codec.name, size

    def test_what_is_no_such_data_is_an_error_that_names_the_file(self, codec, tmp_path):
        path = str(put(tmp_path / "a", b"no container at all, of any kind"))
        if not codec.name:
            return
        decoder = codec.open(open_source(path))
        with pytest.raises(DataLossError) as caught:
            decoder.read()
        assert caught.value.path == path
        assert not decoder.recover()

    # -- names and first bytes --------------------------------------------------------------------------------------

    def test_it_is_found_by_name_suffix_and_first_bytes(self, codec):
        assert canonical(codec.name.lower()) == codec.name
        assert codec.name in names()
        for suffix in codec.suffixes:
            assert from_suffix("a.tfrecord" + suffix) == from_suffix("A" + suffix.upper()) == codec.name
        assert all(sniff(magic + bytes(20)) == codec for magic in codec.magic)

    def test_a_wrong_compression_is_named(self, codec):
        head = packed(codec, STREAM)[:HEAD_BYTES]
        if codec.name:
            assert f'compression="{codec.name}"' in sniff_file(head)
            assert sniff_file(head, codec.name) == ""

    # -- files of records -------------------------------------------------------------------------------------------

    def written(self, codec: Codec, folder, **options) -> str:
        path = str(folder / ("a" + record_suffix(codec.name)))
        with tfr.TFRecordWriter(path, **options) as writer:  # the suffix chooses
            writer.write_many(RECORDS)
        return path

    def test_records_are_written_by_suffix_and_by_name_and_read_by_content(self, codec, tmp_path):
        path = self.written(codec, tmp_path)
        other = str(tmp_path / "b")
        with tfr.TFRecordWriter(other, compression=codec.name or "none") as writer:
            writer.write_many(RECORDS)
        with open(path, "rb") as first, open(other, "rb") as second:
            data = first.read()
            assert data == second.read()
        assert sniff_compression(data[:HEAD_BYTES]) == codec.name
        for target in (path, other, io.BytesIO(data)):
            assert list(tfr.read_records(target)) == RECORDS
        assert tfr.verify([path, other]).records == 2 * len(RECORDS)
        assert list(tfr.read_records(path, compression=codec.name or "none")) == RECORDS

    def test_it_is_written_to_and_read_from_another_store(self, codec, tmp_path):
        url = f"memory://{tmp_path.name}/a{record_suffix(codec.name)}"
        with tfr.TFRecordWriter(url) as writer:
            writer.write_many(RECORDS)
        with open(self.written(codec, tmp_path), "rb") as file:
            assert read_bytes(url) == file.read()
        assert list(tfr.read_records(url)) == RECORDS
        assert tfr.verify(url).records == len(RECORDS)
        damaged = bytearray(read_bytes(url))
        damaged[len(damaged) // 2] ^= 0xFF
        write_bytes(url, bytes(damaged))
        with pytest.raises(DataLossError):
            list(tfr.read_records(url))
        saved = list(tfr.read_records(url, on_corrupt="skip"))
        kept = set(saved)
        assert saved == [record for record in RECORDS if record in kept]
        assert len(saved) < len(RECORDS)

    @pytest.mark.parametrize("level", [-100, 100])
    def test_a_level_beyond_its_range_is_refused(self, codec, level, tmp_path):
        low, high = codec.levels
        with pytest.raises(InvalidArgumentError, match=f"from {low} to {high} but got {level}"):
            tfr.TFRecordWriter(str(tmp_path / "a"), compression=codec.name or "none", level=level)

    def test_a_flush_shows_what_was_written(self, codec, tmp_path):
        path = str(tmp_path / ("a" + record_suffix(codec.name)))
        with tfr.TFRecordWriter(path) as writer:
            writer.write_many(RECORDS[:10])
            writer.flush()
            if codec.appends:
                assert list(tfr.read_records(path)) == RECORDS[:10]
            writer.write_many(RECORDS[10:])
        assert list(tfr.read_records(path)) == RECORDS

    def test_records_are_appended(self, codec, tmp_path):
        path = self.written(codec, tmp_path)
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            before = file.read()
        with tfr.TFRecordWriter(path, append=True) as writer:
            writer.write_many([b"more", b"and more"])
        assert list(tfr.read_records(path)) == [*RECORDS, b"more", b"and more"]
        with open(path, "rb") as file:
            assert (file.read(size) == before) == codec.appends  # in place, or written again
        other = next(name for name in names() if name != codec.name)
        with pytest.raises(FailedPreconditionError, match="cannot append"):
            tfr.TFRecordWriter(path, compression=other or "none", append=True)

    def test_a_torn_end_is_cut_off_before_appending(self, codec, tmp_path):
        path = self.written(codec, tmp_path)
        os.truncate(path, os.path.getsize(path) - 5)
        with pytest.warns(DataLossWarning, match="torn record"):
            writer = tfr.TFRecordWriter(path, append=True)
        kept = writer.records
        with writer:
            writer.write(b"more")
        assert list(tfr.read_records(path)) == [*RECORDS[:kept], b"more"]

    @pytest.mark.parametrize("index", ["auto", "save", "memory"])
    def test_records_are_read_in_any_order(self, codec, index, tmp_path):
        file = tfr.RecordFile(self.written(codec, tmp_path), index=index)
        assert len(file) == len(RECORDS)
        assert file.compression == codec.name
        assert file[17] == RECORDS[17]
        assert file.take([2999, 0, 5]).to_list() == [RECORDS[2999], RECORDS[0], RECORDS[5]]

    def test_an_index_is_kept_only_where_there_are_places_to_start_at(self, codec, tmp_path):
        if codec.seeks:
            self.written(codec, tmp_path, index=True)
            assert (tmp_path / ".tfrkit").is_dir()
        else:
            with pytest.raises(InvalidArgumentError, match=f"no index of one {codec.name} stream"):
                self.written(codec, tmp_path, index=True)

    def test_shards_have_the_suffix_and_are_replaced(self, codec, tmp_path):
        for overwrite in (False, True):
            with tfr.ShardWriter(
                tmp_path / "a", shards=2, compression=codec.name or "none", overwrite=overwrite
            ) as writer:
                writer.write_many(RECORDS)
        shards = sorted(path.name for path in tmp_path.glob("a-*"))
        assert shards == [f"a-0000{number}-of-00002{record_suffix(codec.name)}" for number in range(2)]
        assert sorted(tfr.read_records(tmp_path / "a-*")) == sorted(RECORDS)
        report = tfr.verify(str(tmp_path))
        assert (report.records, report.ok) == (len(RECORDS), True)

    def test_damage_is_found_and_repaired(self, codec, tmp_path):
        path = self.written(codec, tmp_path)
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) * 2 // 3)
        assert not tfr.verify(path).ok
        with pytest.raises(DataLossError):
            list(tfr.read_records(path))
        target = str(tmp_path / ("mended" + record_suffix(codec.name)))
        report = tfr.repair(path, target)
        assert list(tfr.read_records(target)) == RECORDS[: report.records]
        assert tfr.verify(target).ok

    def test_examples_are_described_and_trained_from(self, codec, tmp_path):
        path = str(tmp_path / ("a" + record_suffix(codec.name)))
        with tfr.TFRecordWriter(path) as writer:
            writer.write_batch(
                {"label": np.arange(1000), "name": [b"x%d" % number for number in range(1000)]}
            )
        assert tfr.inspect(path).records == 1000
        dataset = tfr.TFRecordDataset(path).parse({"label": tfr.FixedLenFeature([], "int64")}).batch(1000)
        assert next(iter(dataset))["label"].tolist() == list(range(1000))
        lines = str(put(tmp_path / "lines.txt", packed(codec, b"one\ntwo\n" * 100)))
        kind = None if codec.magic else codec.name
        assert list(tfr.TextLineDataset(lines, kind)) == [b"one", b"two"] * 100
