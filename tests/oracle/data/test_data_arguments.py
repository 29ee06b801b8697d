"""Arguments of verbs that are no integers or no functions, in TensorFlow and in tfrkit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.support.data_scenarios import agree, fails
from tests.support.rules import tf_rule

INTEGERS = {
    "range": lambda lib, value: lib.Dataset.range(value),
    "take": lambda lib, value: lib.Dataset.range(3).take(value),
    "skip": lambda lib, value: lib.Dataset.range(3).skip(value),
    "repeat": lambda lib, value: lib.Dataset.range(3).repeat(value),
    "batch": lambda lib, value: lib.Dataset.range(3).batch(value),
    "padded_batch": lambda lib, value: lib.Dataset.range(3).padded_batch(value),
    "shuffle": lambda lib, value: lib.Dataset.range(3).shuffle(value, seed=1),
    "shard": lambda lib, value: lib.Dataset.range(3).shard(value, 0),
    "prefetch": lambda lib, value: lib.Dataset.range(3).prefetch(value),
    "enumerate": lambda lib, value: lib.Dataset.range(3).enumerate(value),
    "assert_cardinality": lambda lib, value: lib.assert_cardinality(lib.Dataset.range(3), value),
}


@tf_rule("5 integers")
@pytest.mark.parametrize("value", [2.0, 2.5, "2"], ids=repr)
@pytest.mark.parametrize("verb", INTEGERS)
def test_what_is_no_integer(verb, value):
    agree(
        lambda lib: INTEGERS[verb](lib, value),
        fails("TypeError", f"Cannot convert {value!r} to EagerTensor of dtype int64"),
    )


@tf_rule("5 integers")
def test_a_seed_that_is_no_integer():
    agree(
        lambda lib: lib.Dataset.range(3).shuffle(3, seed=1.5),
        fails("TypeError", "Cannot convert 1.5 to EagerTensor of dtype int64"),
    )


@tf_rule("5 integers")
@pytest.mark.parametrize("verb", ["take", "skip", "batch", "shuffle"])
def test_none(verb):
    text = "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."
    agree(lambda lib: INTEGERS[verb](lib, None), fails("ValueError", text))


@tf_rule("5 integers")
@pytest.mark.parametrize(
    "value", [2, np.int32(2), np.uint8(2), np.array(2)], ids=lambda value: type(value).__name__
)
@pytest.mark.parametrize("verb", ["range", "take", "batch", "repeat", "shard"])
def test_integers_of_numpy(verb, value):
    agree(lambda lib: INTEGERS[verb](lib, value))


@tf_rule("5 prefetch")
@tf_rule("5 repeat")
@pytest.mark.parametrize("verb", ["prefetch", "repeat"])
def test_none_that_means_something(verb):
    agree(lambda lib: INTEGERS[verb](lib, None).take(4))


@tf_rule("5 functions")
@pytest.mark.parametrize("verb", ["map", "filter", "flat_map", "interleave"])
@pytest.mark.parametrize("value", [None, 3])
def test_what_cannot_be_called(verb, value):
    text = f"Argument `func` must be a callable. Received func={value} (of type {type(value)})"
    agree(lambda lib: getattr(lib.Dataset.range(3), verb)(value), fails("ValueError", text))
