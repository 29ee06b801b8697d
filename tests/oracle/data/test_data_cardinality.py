"""cardinality of all verbs, and assert_cardinality, in TensorFlow and in tfrkit."""

from __future__ import annotations

import pytest

import tfrkit as tfr
from tests.oracle.support.data_scenarios import USER, agree, agree_on, fails
from tests.oracle.support.oracle import tensorflow
from tests.support.rules import tf_rule

INFINITE, UNKNOWN = -1, -2
INPUTS = {  # how many -> a dataset of so many
    "0": lambda lib: lib.Dataset.range(0),
    "7": lambda lib: lib.Dataset.range(7),
    "unknown": lambda lib: lib.Dataset.range(7).filter(lambda x: x > 2),
    "infinite": lambda lib: lib.Dataset.range(7).repeat(),
}


def same_cardinality(make):
    """For a dataset made of each kind of input; gives TensorFlow's numbers."""
    found = {}
    for name, source in INPUTS.items():
        found[name] = int(agree_on(lambda lib, source=source: make(lib, source(lib)).cardinality()).values)
    return found


@tf_rule("5 constants")
def test_constants():
    tf = tensorflow()
    assert tf.data.AUTOTUNE == tfr.AUTOTUNE == -1
    assert tf.data.INFINITE_CARDINALITY == tfr.INFINITE_CARDINALITY == INFINITE
    assert tf.data.UNKNOWN_CARDINALITY == tfr.UNKNOWN_CARDINALITY == UNKNOWN


@tf_rule("5 cardinality sources")
def test_sources():
    agree_on(lambda lib: lib.Dataset.range(2, 9, 3).cardinality(), 3)
    agree_on(lambda lib: lib.Dataset.from_tensor_slices({"a": [1, 2], "b": [3, 4]}).cardinality(), 2)
    agree_on(lambda lib: lib.Dataset.from_tensors([1, 2, 3]).cardinality(), 1)
    agree_on(lambda lib: lib.TFRecordDataset("any").cardinality(), UNKNOWN)
    agree_on(lambda lib: lib.TextLineDataset("any").cardinality(), UNKNOWN)
    agree_on(
        lambda lib: lib.Dataset.from_generator(
            lambda: iter([1]), output_signature=lib.TensorSpec((), "int64")
        ).cardinality(),
        UNKNOWN,
    )


KEPT = {
    "map": lambda lib, ds: ds.map(lambda x: x + 1),
    "parallel map": lambda lib, ds: ds.map(lambda x: x + 1, num_parallel_calls=2),
    "shuffle": lambda lib, ds: ds.shuffle(3),
    "cache": lambda lib, ds: ds.cache(),
    "prefetch": lambda lib, ds: ds.prefetch(2),
    "enumerate": lambda lib, ds: ds.enumerate(),
}


@tf_rule("5 cardinality kept")
@pytest.mark.parametrize("verb", KEPT)
def test_kept(verb):
    found = same_cardinality(KEPT[verb])
    assert found == {"0": 0, "7": 7, "unknown": UNKNOWN, "infinite": INFINITE}


LOST = {
    "filter": lambda lib, ds: ds.filter(lambda x: x > 3),
    "flat_map": lambda lib, ds: ds.flat_map(lib.Dataset.range),
    "interleave": lambda lib, ds: ds.interleave(lib.Dataset.range, 2),
    "unbatch": lambda lib, ds: ds.batch(2).unbatch(),
    "ignore_errors": lambda lib, ds: ds.ignore_errors(),
}


@tf_rule("5 cardinality unknown")
@pytest.mark.parametrize("verb", LOST)
def test_lost(verb):
    assert same_cardinality(LOST[verb])["7"] == UNKNOWN


@tf_rule("5 cardinality repeat")
@pytest.mark.parametrize("count", [None, -1, 0, 1, 3])
def test_repeat(count):
    found = same_cardinality(lambda lib, ds: ds.repeat(count))
    endless = count is None or count < 0
    assert found["7"] == (INFINITE if endless else 7 * count)
    assert found["0"] == 0


@tf_rule("5 cardinality batch")
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("size", [1, 2, 7, 10])
@pytest.mark.parametrize("verb", ["batch", "padded_batch", "ragged_batch"])
def test_batch(verb, size, drop):
    found = same_cardinality(lambda lib, ds: getattr(ds, verb)(size, drop_remainder=drop))
    assert found["7"] == (7 // size if drop else -(-7 // size))


@tf_rule("5 cardinality part")
@pytest.mark.parametrize("verb", ["take", "skip"])
@pytest.mark.parametrize("count", [-1, 0, 3, 7, 9])
def test_take_and_skip(verb, count):
    same_cardinality(lambda lib, ds: getattr(ds, verb)(count))


@tf_rule("5 cardinality part")
@pytest.mark.parametrize(("count", "index"), [(1, 0), (3, 0), (3, 1), (10, 2), (10, 9)])
def test_shard(count, index):
    same_cardinality(lambda lib, ds: ds.shard(count, index))


@tf_rule("5 cardinality zip")
@tf_rule("5 cardinality concatenate")
@pytest.mark.parametrize("other", INPUTS)
def test_of_two(other):
    found = same_cardinality(lambda lib, ds: lib.Dataset.zip(ds, INPUTS[other](lib)))
    if other == "infinite":
        assert found["7"] == 7
    same_cardinality(lambda lib, ds: ds.concatenate(INPUTS[other](lib)))


@tf_rule("5 cardinality concatenate")
def test_sum():
    agree_on(lambda lib: lib.Dataset.range(3).concatenate(lib.Dataset.range(4)).cardinality(), 7)


@tf_rule("5 assert_cardinality")
@tf_rule("5 len")
def test_assertion_that_holds():
    case = lambda lib: lib.assert_cardinality(lib.Dataset.range(3).filter(lambda x: x >= 0), 3)  # noqa: E731
    agree(case, [0, 1, 2])
    agree_on(lambda lib: [len(case(lib))], [3])


@tf_rule("5 assert_cardinality")
def test_too_few():
    text = "Input dataset was expected to contain 7 elements but contained only 5 elements."
    agree(
        lambda lib: lib.assert_cardinality(lib.Dataset.range(5).filter(lambda x: x >= 0), 7),
        [0, 1, 2, 3, 4, *[fails("FailedPreconditionError", text)] * 3],
        limit=8,
    )


@tf_rule("5 assert_cardinality")
def test_too_many():
    text = "Input dataset was expected to contain 4 elements but contained at least 5 elements."
    again = text.replace("at least", "only")
    agree(
        lambda lib: lib.assert_cardinality(lib.Dataset.range(5), 4),
        [0, 1, 2, 3, fails("FailedPreconditionError", text), *[fails("FailedPreconditionError", again)] * 2],
        limit=7,
    )


@tf_rule("5 assert_cardinality")
@pytest.mark.parametrize("count", [0, 1, 2, 5, -1, -2])
@pytest.mark.parametrize("real", [0, 1, 2])
def test_any_number(count, real):
    agree(lambda lib: lib.assert_cardinality(lib.Dataset.range(real), count), limit=6)


@tf_rule("5 assert_cardinality")
def test_errors_do_not_count():
    agree(
        lambda lib: lib.assert_cardinality(lib.Dataset.range(4).map(lambda x: lib.check(x != 2, x)), 3),
        [0, 1, USER, 3],
    )
