"""shard in TensorFlow and in tfrkit."""

from __future__ import annotations

import pytest

from tests.oracle.support.data_scenarios import USER, agree, fails
from tests.support.rules import tf_rule


@tf_rule("5 shard")
@tf_rule("5 cardinality part")
@pytest.mark.parametrize(("count", "index"), [(1, 0), (2, 1), (3, 0), (3, 2), (20, 7), (20, 19)])
def test_every_nth(count, index):
    agree(lambda lib: lib.Dataset.range(10).shard(count, index), list(range(10))[index::count])


@tf_rule("5 shard arguments")
@pytest.mark.parametrize("index", [3, -1, 9])
def test_index_out_of_range(index):
    text = f"Index must be between 0 and 2 (currently index = {index})."
    agree(lambda lib: lib.Dataset.range(10).shard(3, index), fails("InvalidArgumentError", text))


@tf_rule("5 shard arguments")
@pytest.mark.parametrize("count", [0, -2])
def test_too_few_shards(count):
    text = f"Number of shards must be greater than zero (currently num_shards = {count})."
    agree(lambda lib: lib.Dataset.range(10).shard(count, 0), fails("InvalidArgumentError", text))


def agree_first(size, function, shards, index, expected=None):
    """tfrkit does by its own names what TensorFlow does if the shard comes first: ranks make their own elements."""

    def mapped(lib, ds):
        return ds.map(lambda x: function(lib, x))

    agree(
        lambda lib: mapped(lib, lib.Dataset.range(size)).shard(shards, index),
        expected,
        own=lambda lib: mapped(lib, lib.Dataset.range(size).shard(shards, index)),
    )


@tf_rule("5 shard error")
@pytest.mark.parametrize("fail", range(10))
@pytest.mark.parametrize("index", range(3))
def test_after_an_error(fail, index):
    agree_first(10, lambda lib, x: lib.check(x != fail, x), 3, index)


@tf_rule("5 shard error")
def test_after_several_errors():
    agree_first(10, lambda lib, x: lib.check(x != 3, x), 3, 1, [1, USER, 6, 9])
    agree_first(20, lambda lib, x: lib.check(x % 5 != 2, x), 3, 1)
    agree_first(20, lambda lib, x: lib.check(x % 3 != 2, x), 2, 0)


@tf_rule("5 shard")
@tf_rule("5 cardinality part")
def test_of_endless_and_unknown():
    agree(lambda lib: lib.Dataset.range(2).repeat().shard(3, 1), [1, 0, 1, 0], limit=4)
    agree(lambda lib: lib.Dataset.range(9).filter(lambda x: x > 1).shard(3, 1), [3, 6])
    agree(lambda lib: lib.Dataset.range(12).shard(2, 1).shard(3, 2), [5, 11])
