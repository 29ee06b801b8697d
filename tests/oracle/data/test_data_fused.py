"""Where TensorFlow makes one stage of two by default, and what changes by that."""

from __future__ import annotations

import pytest

from tests.oracle.support.data_scenarios import USER, agree, expect, facts, ours, theirs, unfused
from tests.support.rules import tf_rule


@tf_rule("5 map error fused")
@pytest.mark.parametrize(("fail", "next_batch"), [(3, [4, 5, 6]), (4, [5, 6, 7]), (5, [6, 7, 8])])
def test_map_and_batch(fail, next_batch):
    case = lambda lib: lib.Dataset.range(10).map(lambda x: lib.check(x != fail, x)).batch(3)  # noqa: E731
    expect(facts(theirs(), case), [[0, 1, 2], USER, [6, 7, 8], [9]])
    found = agree(lambda lib: unfused(lib, case(lib)))
    expect(facts(ours(), case), found.passes[0][:-1])
    assert found.passes[0][2].values == next_batch


@tf_rule("5 map error fused")
@tf_rule("5 map error in batch")
@pytest.mark.parametrize("fail", [3, 4, 5])
@pytest.mark.parametrize("verb", ["prefetch", "filter", "take"])
def test_with_a_verb_between_them(fail, verb):
    argument = {"prefetch": 1, "filter": lambda x: x >= 0, "take": 9}[verb]
    agree(
        lambda lib: getattr(lib.Dataset.range(10).map(lambda x: lib.check(x != fail, x)), verb)(
            argument
        ).batch(3)
    )


@tf_rule("5 map error in batch")
@pytest.mark.parametrize("fail", [3, 4, 5])
def test_padded_batch_is_never_fused(fail):
    agree(lambda lib: lib.Dataset.range(10).map(lambda x: lib.check(x != fail, x)).padded_batch(3))


@tf_rule("5 map error fused")
@pytest.mark.parametrize("fail", [3, 4, 5])
def test_ragged_batch_is_fused_in_itself(fail):
    def case(lib):
        uneven = lib.Dataset.range(9).map(lambda x: lib.check(x != fail, lib.full(x % 3, x)))
        return uneven.prefetch(1).ragged_batch(3)

    batches = [("ragged", [[0, 0, 1, 3]], [1, 2, 2]), USER, ("ragged", [[0, 0, 1, 3]], [7, 8, 8])]
    expect(facts(theirs(), case), batches)
    found = agree(lambda lib: unfused(lib, case(lib)))
    expect(facts(ours(), case), found.passes[0][:-1])
