"""ignore_errors in TensorFlow and in tfrkit."""

from __future__ import annotations

import pytest

from tests.oracle.support.data_scenarios import USER, agree, unfused
from tests.oracle.support.frames import flip, frames
from tests.support.rules import tf_rule


@tf_rule("5 ignore_errors")
@pytest.mark.parametrize("options", [{}, {"log_warning": False}], ids=str)
def test_leaves_out_what_fails(options):
    agree(
        lambda lib: lib.Dataset.range(6).map(lambda x: lib.check(x % 2 == 0, x)).ignore_errors(**options),
        [0, 2, 4],
    )


@tf_rule("5 ignore_errors")
def test_everything_fails():
    agree(lambda lib: lib.Dataset.range(3).map(lambda x: lib.check(x > 5, x)).ignore_errors(), [])


@tf_rule("5 ignore_errors place")
def test_what_comes_later_still_fails():
    agree(
        lambda lib: lib.Dataset.range(4).ignore_errors().map(lambda x: lib.check(x != 2, x)), [0, 1, USER, 3]
    )


@tf_rule("5 ignore_errors")
@tf_rule("5 map error in batch")
def test_after_batch_a_part_of_the_batch_is_lost():
    agree(
        lambda lib: unfused(
            lib, lib.Dataset.range(8).map(lambda x: lib.check(x != 3, x)).batch(2).ignore_errors()
        ),
        [[0, 1], [4, 5], [6, 7]],
    )


@tf_rule("5 ignore_errors")
def test_damaged_files(tmp_path):
    good = frames([b"a", b"b", b"c"])
    paths = [str(tmp_path / name) for name in ("1", "2")]
    for path, data in zip(paths, (flip(good, 17 + 12), good), strict=True):
        with open(path, "wb") as file:
            file.write(data)
    agree(lambda lib: lib.TFRecordDataset(paths).ignore_errors(), [b"a", b"a", b"b", b"c"])


@tf_rule("5 ignore_errors")
def test_errors_of_batch():
    agree(
        lambda lib: lib.Dataset.range(6).map(lambda x: lib.full(x % 3, x)).take(-1).batch(2).ignore_errors(),
        spec=False,
    )
