"""enumerate in TensorFlow and in tfrkit."""

from __future__ import annotations

from tests.oracle.support.data_scenarios import USER, agree, expect, facts, ours, theirs
from tests.support.rules import tf_rule


@tf_rule("5 enumerate")
def test_counts_from_start():
    agree(lambda lib: lib.Dataset.from_tensor_slices(["a", "b"]).enumerate(), [(0, b"a"), (1, b"b")])
    agree(
        lambda lib: lib.Dataset.from_tensor_slices(["a", "b"]).enumerate(start=-3), [(-3, b"a"), (-2, b"b")]
    )
    agree(lambda lib: lib.Dataset.range(2).enumerate(2**40), [(2**40, 0), (2**40 + 1, 1)])


@tf_rule("5 enumerate")
def test_elements_keep_their_structure():
    agree(lambda lib: lib.Dataset.range(2).enumerate().enumerate(5), [(5, (0, 0)), (6, (1, 1))])
    agree(lambda lib: lib.Dataset.from_tensor_slices({"a": [7]}).enumerate(), [(0, {"a": 7})])
    agree(lambda lib: lib.Dataset.range(4).batch(3).enumerate(), [(0, [0, 1, 2]), (1, [3])])


@tf_rule("5 enumerate")
def test_failing_element_uses_up_its_number():
    agree(
        lambda lib: lib.Dataset.range(4).map(lambda x: lib.check(x != 1, x)).enumerate(),
        [(0, 0), USER, (2, 2), (3, 3)],
    )


@tf_rule("5 enumerate")
def test_begins_anew_with_each_pass():
    agree(lambda lib: lib.Dataset.range(2).enumerate().repeat(2), [(0, 0), (1, 1)] * 2, passes=2)
    agree(lambda lib: lib.Dataset.range(2).repeat().enumerate(), [(0, 0), (1, 1), (2, 0)], limit=3)


@tf_rule("5 zip error at a seam")
def test_shuffle_that_fails_at_the_seam_of_concatenate():
    def joined(lib):
        failing = lib.Dataset.range(2).map(lambda x: lib.check(x > 9, x)).shuffle(2, seed=1)
        return lib.Dataset.range(1).concatenate(failing)

    agree(joined, [0, USER, USER])
    expect(facts(theirs(), lambda lib: joined(lib).enumerate()), [(0, 0), USER])
    expect(facts(ours(), lambda lib: joined(lib).enumerate()), [(0, 0), USER, USER])
