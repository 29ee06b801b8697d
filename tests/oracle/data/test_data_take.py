"""take and skip in TensorFlow and in tfrkit."""

from __future__ import annotations

import pytest

from tests.oracle.support.data_scenarios import (
    USER,
    agree,
    difference,
    expect,
    facts,
    fails,
    ours,
    same,
    theirs,
)
from tests.oracle.support.frames import flip, frames, put
from tests.support.rules import tf_rule


@tf_rule("5 take")
@tf_rule("5 cardinality part")
@pytest.mark.parametrize("count", [-1, 0, 2, 4, 9])
def test_take(count):
    agree(lambda lib: lib.Dataset.range(4).take(count), list(range(4 if count < 0 else min(4, count))))


@tf_rule("5 take")
@tf_rule("5 take cardinality")
def test_take_of_other_negative_counts():
    case = lambda lib: lib.Dataset.range(4).take(-5)  # noqa: E731
    reference = facts(theirs(), case)
    expect(reference, [0, 1, 2, 3])
    assert reference.cardinality == -5
    assert difference(facts(ours(), case), reference._replace(cardinality=4)) == ""


@tf_rule("5 take error")
def test_errors_are_not_counted_by_take():
    agree(
        lambda lib: lib.Dataset.range(6).map(lambda x: lib.check(x % 2 == 1, x)).take(2),
        [USER, 1, USER, 3],
    )


@tf_rule("5 take")
@tf_rule("5 cardinality part")
def test_take_of_endless_and_unknown():
    agree(lambda lib: lib.Dataset.range(2).repeat().take(3), [0, 1, 0])
    agree(lambda lib: lib.Dataset.range(2).repeat().take(-1), limit=4)
    agree(lambda lib: lib.Dataset.range(5).filter(lambda x: x > 0).take(2), [1, 2])
    agree(lambda lib: lib.Dataset.range(5).filter(lambda x: x > 0).take(0), [])


@tf_rule("5 skip")
@tf_rule("5 cardinality part")
@pytest.mark.parametrize("count", [-5, -1, 0, 2, 4, 9])
def test_skip(count):
    agree(lambda lib: lib.Dataset.range(4).skip(count), list(range(4))[count:] if count >= 0 else [])


@tf_rule("5 skip")
@tf_rule("5 cardinality part")
def test_skip_of_endless_and_unknown():
    agree(lambda lib: lib.Dataset.range(2).repeat().skip(3), [1, 0, 1], limit=3)
    agree(lambda lib: lib.Dataset.range(2).repeat().skip(-1), [])
    agree(lambda lib: lib.Dataset.range(5).filter(lambda x: x > 0).skip(1), [2, 3, 4])


@tf_rule("5 skip error")
@pytest.mark.parametrize(
    ("fail", "left"), [(0, [USER, 4, 5]), (1, [USER, 5]), (2, [USER]), (3, [USER, 4, 5])]
)
def test_error_while_skipping_starts_it_over(fail, left):
    agree(lambda lib: lib.Dataset.range(6).map(lambda x: lib.check(x != fail, x)).skip(3), left)


@tf_rule("5 skip error")
def test_several_errors_while_skipping():
    agree(lambda lib: lib.Dataset.range(9).map(lambda x: lib.check(x % 3 != 1, x)).skip(2))
    agree(lambda lib: lib.Dataset.range(9).map(lambda x: lib.check(x % 3 != 1, x)).skip(1))


@tf_rule("5 skip unchecked")
@pytest.mark.parametrize("verb", ["skip", "shard"])
def test_damage_in_records_that_are_left_out(tmp_path, verb):
    path = put(tmp_path / "a", flip(frames([b"a", b"b", b"c", b"d"]), 17 + 12))
    leave_out = {"skip": lambda ds: ds.skip(2), "shard": lambda ds: ds.shard(2, 0)}[verb]
    found = [[b"c", b"d"], [b"a", b"c"]][verb == "shard"]
    expect(facts(theirs(), lambda lib: leave_out(lib.TFRecordDataset(str(path)))), found)
    error = fails("DataLossError", "corrupted record at 29")
    checked = agree(lambda lib: leave_out(lib.TFRecordDataset(str(path)).prefetch(1)))
    assert any(same(outcome, error) for outcome in checked.passes[0])
    mine = facts(ours(), lambda lib: leave_out(lib.TFRecordDataset(str(path))))
    assert difference(mine, checked) == ""


@tf_rule("5 take")
@tf_rule("5 skip")
def test_both_together():
    agree(lambda lib: lib.Dataset.range(9).skip(2).take(5).skip(1).take(2), [3, 4])
    agree(lambda lib: lib.Dataset.range(9).batch(2).take(2).unbatch().skip(3), [3])
