from __future__ import annotations

import json
import pickle

import pytest

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


def test_hint_takes_the_place_of_the_advice():
    error = Damage("bad length CRC", 0, 9, 0, "corrupted record at 0").to_error(
        "a", "an HTML page. Fetch it again"
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
            'Copy the file again or wait until it is written; on_corrupt="skip" takes what is whole.',
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
