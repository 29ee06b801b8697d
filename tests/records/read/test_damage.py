from __future__ import annotations

import gzip
import json
import os
import pickle

import pytest

import tfrkit as tfr
from tests.records.support.made import frames
from tfrkit import Damage
from tfrkit.errors import DataLossError, InvalidArgumentError

DAMAGE = Damage("bad data CRC", 100, 150, 7, "corrupted record at 112", "data checksum stored 1, computed 2")


def test_bytes_is_the_extent():
    assert DAMAGE.bytes == 50


def test_to_dict_is_json():
    assert json.loads(json.dumps(DAMAGE.to_dict())) == {
        "kind": "bad data CRC",
        "start": 100,
        "end": 150,
        "record": 7,
        "text": "corrupted record at 112",
        "detail": "data checksum stored 1, computed 2",
        "tail": False,
    }


def test_error_says_what_where_and_what_to_do():
    error = DAMAGE.to_error("a.tfrecord")
    assert type(error) is DataLossError
    assert str(error) == (
        "corrupted record at 112: data checksum stored 1, computed 2, in record 7 (frame at byte 100) of 'a.tfrecord'. "
        'Copy the file again, or pass on_corrupt="skip" to drop such records.'
    )
    assert (error.path, error.record, error.offset) == ("a.tfrecord", 7, 100)


def test_what_the_file_is_takes_the_place_of_the_advice():
    error = Damage("bad length CRC", 0, 9, 0, "corrupted record at 0").to_error(
        "a", "The file looks like an HTML page. Fetch it again."
    )
    assert str(error) == (
        "corrupted record at 0 in record 0 (frame at byte 0) of 'a'. The file looks like an HTML page. Fetch it again."
    )


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        (
            "bad length CRC",
            'Copy the file again, or pass on_corrupt="skip" to continue with the next intact record.',
        ),
        ("bad data CRC", 'Copy the file again, or pass on_corrupt="skip" to drop such records.'),
        (
            "truncated",
            'Copy the file again; on_corrupt="skip" takes what is whole.',
        ),
        (
            "garbage",
            'Copy the file again, or pass on_corrupt="skip" to ignore what follows the last intact record.',
        ),
        ("too large", "If such records are right, pass a larger max_record_bytes."),
        ("bad container", 'Copy the file again, or pass on_corrupt="skip" to take what can be inflated.'),
    ],
)
def test_every_kind_has_its_advice(kind, advice):
    assert str(Damage(kind, 0, 1, 0, "text").to_error("a")).endswith(advice)


def test_negative_size_is_an_invalid_argument_as_in_tensorflow():
    error = Damage("too large", 0, 1, 0, "Can't read a negative number of bytes: -7").to_error("a")
    assert type(error) is InvalidArgumentError


def test_error_survives_pickling_with_its_facts():
    error = pickle.loads(pickle.dumps(DAMAGE.to_error("a.tfrecord")))
    assert type(error) is DataLossError
    assert (error.path, error.record, error.offset) == ("a.tfrecord", 7, 100)
    assert str(error) == str(DAMAGE.to_error("a.tfrecord"))


def test_a_file_that_grows_while_it_is_read_is_still_being_written(tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames([b"abc", b"defg"])[:-2])
    blocks = tfr.read_blocks(str(path), threads=1, block_bytes=19)
    assert next(blocks).to_list() == [b"abc"]
    with path.open("ab") as file:
        file.write(b"?")
    with pytest.raises(DataLossError) as caught:
        next(blocks)
    assert str(caught.value) == (
        "truncated record at 19' failed with Read less bytes than requested: the frame is 20 bytes long, more than the "
        f"file has, in record 1 (frame at byte 19) of {str(path)!r}. The file is still being written: it grew from 37 "
        'to 38 bytes while it was read. Read it again when it is finished; on_corrupt="skip" takes what is whole now. '
        "If no program is writing it, copy it again."
    )
    assert not caught.value.repairable


def test_a_compressed_file_without_its_end_that_was_just_modified_is_still_being_written(tmp_path):
    path = tmp_path / "a.tfrecord.gz"
    path.write_bytes(gzip.compress(frames([b"abc" * 100]))[:-9])
    with pytest.raises(
        DataLossError, match="The file is probably still being written: it was modified within"
    ):
        list(tfr.read_blocks(str(path)))
    os.utime(path, (1, 1))
    with pytest.raises(
        DataLossError, match=r'\. Copy the file again; on_corrupt="skip" takes what is whole\.$'
    ):
        list(tfr.read_blocks(str(path)))
