"""Arguments that must be integers are refused by name, wherever they are given."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit.values.integers import as_integer


def test_integers_of_numpy_are_integers():
    assert as_integer("threads", np.int64(3)) == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda path: tfr.read_blocks(path, threads="2"),
            "expected threads to be an integer but got '2' (str)",
        ),
        (
            lambda path: tfr.read_blocks(path, block_bytes=1e6),
            "expected block_bytes to be an integer but got 1000000.0 (float)",
        ),
        (
            lambda path: tfr.TFRecordWriter(path, compression="GZIP", level="9"),
            "expected level to be an integer but got '9' (str)",
        ),
        (
            lambda path: tfr.ShardWriter(path, shards="4"),
            "expected shards to be an integer but got '4' (str)",
        ),
        (
            lambda path: tfr.read_blocks(path, compression=3),
            "expected the name of a compression but got 3 (int)",
        ),
        (
            lambda path: tfr.TFRecordWriter(path).write_many("abc"),
            "expected records but got one str: use write() for one",
        ),
    ],
)
def test_arguments_of_another_type_are_named(call, message, tmp_path):
    with pytest.raises(TypeError) as caught:
        call(str(tmp_path / "a.tfrecord"))
    assert str(caught.value) == message
