"""zip and concatenate of values in memory: tfrkit against tf.data, live."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.data.support.spaces import Space
from tests.oracle.data.test_data_values import SOURCES, Point, ragged, sparse
from tests.oracle.support.data_scenarios import agree, fails
from tests.support.rules import tf_rule


@tf_rule("5 zip")
def test_zip():
    agree(lambda lib: lib.Dataset.zip(lib.Dataset.range(3), lib.Dataset.range(5)), [(0, 0), (1, 1), (2, 2)])
    agree(lambda lib: lib.Dataset.zip((lib.Dataset.range(5), lib.Dataset.from_tensor_slices(["a", "b"]))))
    agree(lambda lib: lib.Dataset.zip(lib.Dataset.range(2)), [0, 1])
    agree(lambda lib: lib.Dataset.zip(datasets=(lib.Dataset.range(2),)))
    agree(
        lambda lib: lib.Dataset.zip(
            {"b": lib.Dataset.range(2), "a": (lib.Dataset.range(3), lib.Dataset.from_tensors([7]))}
        )
    )
    agree(lambda lib: lib.Dataset.zip(Point(lib.Dataset.range(2), SOURCES["dict"](lib))))
    agree(
        lambda lib: lib.Dataset.zip(
            lib.Dataset.range(3), SOURCES["ragged"](lib), SOURCES["sparse"](lib)
        ).batch(2)
    )
    agree(lambda lib: lib.Dataset.zip(lib.Dataset.range(3).repeat(), SOURCES["strings"](lib)).batch(2))
    agree(lambda lib: lib.Dataset.zip(lib.Dataset.range(3).repeat(), lib.Dataset.range(2).repeat()), limit=10)


@tf_rule("5 zip")
@tf_rule("5 zip list")
def test_zip_errors():
    wrong = (
        "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects"
    )
    for made in (
        lambda lib: lib.Dataset.zip([lib.Dataset.range(2)]),
        lambda lib: lib.Dataset.zip(([lib.Dataset.range(2)],)),
        lambda lib: lib.Dataset.zip(lib.Dataset.range(2), [lib.Dataset.range(2)]),
    ):
        agree(
            made,
            fails(
                "TypeError", f"{wrong}. Python `list` is not supported and you should use `tuple` instead."
            ),
        )
    for made in (lambda lib: lib.Dataset.zip(1), lambda lib: lib.Dataset.zip((lib.Dataset.range(1), 2))):
        agree(made, fails("TypeError", f"{wrong} but encountered object of type <class 'int'>."))
    agree(lambda lib: lib.Dataset.zip(), fails("TypeError", "Must pass at least one dataset to `zip`."))
    agree(
        lambda lib: lib.Dataset.zip(lib.Dataset.range(1), datasets=lib.Dataset.range(1)),
        fails("TypeError", "Both `*args` and `datasets` cannot be set."),
    )


@tf_rule("5 zip")
def test_an_error_in_one_part_of_zip_keeps_the_others_in_step():
    def failing(lib: Space, count: int, wrong: int) -> Any:
        made = [lib.Dataset.from_tensors(([n], [n, n] if n == wrong else [n])) for n in range(count)]
        joined = made[0]
        for each in made[1:]:
            joined = joined.concatenate(each)
        return joined.unbatch()

    agree(lambda lib: lib.Dataset.zip(lib.Dataset.range(4), failing(lib, 4, 1)))
    agree(lambda lib: lib.Dataset.zip(failing(lib, 5, 2), failing(lib, 4, 1)))
    agree(lambda lib: lib.Dataset.zip(failing(lib, 5, 1), failing(lib, 4, 1)))
    agree(lambda lib: lib.Dataset.zip(failing(lib, 5, 2), lib.Dataset.range(2)))
    agree(lambda lib: lib.Dataset.zip(lib.Dataset.range(2), failing(lib, 5, 2)))
    agree(lambda lib: failing(lib, 6, 2).batch(2))
    agree(lambda lib: failing(lib, 6, 0).batch(3, drop_remainder=True))
    agree(lambda lib: failing(lib, 6, 5).batch(2))
    agree(lambda lib: failing(lib, 6, 3).padded_batch(2))
    agree(lambda lib: failing(lib, 6, 3).ragged_batch(4))
    agree(lambda lib: failing(lib, 3, 1).concatenate(failing(lib, 3, 0)))


@tf_rule("5 concatenate")
@tf_rule("5 concatenate shapes")
def test_concatenate():
    agree(lambda lib: lib.Dataset.range(2).concatenate(lib.Dataset.range(3)), [0, 1, 0, 1, 2])
    agree(lambda lib: lib.Dataset.from_tensors([1, 2]).concatenate(lib.Dataset.from_tensors([1, 2, 3])))
    agree(lambda lib: lib.Dataset.from_tensors([1, 2]).concatenate(lib.Dataset.from_tensors([[1], [2]])))
    agree(lambda lib: SOURCES["ragged"](lib).concatenate(SOURCES["ragged"](lib)).batch(4))
    agree(lambda lib: SOURCES["dict"](lib).concatenate(SOURCES["dict"](lib).take(1)).batch(3))
    agree(lambda lib: lib.Dataset.range(2).repeat().concatenate(lib.Dataset.range(3)), limit=10)
    agree(
        lambda lib: (
            lib.Dataset.from_tensors(sparse(lib, [[1, 0]]))
            .concatenate(lib.Dataset.from_tensors(sparse(lib, [[1, 2, 3], [0, 0, 4]])))
            .batch(2)
        )
    )


@tf_rule("5 concatenate")
@tf_rule("5 concatenate types")
@pytest.mark.parametrize(
    "other",
    [
        lambda lib: lib.Dataset.from_tensors(1),
        lambda lib: lib.Dataset.from_tensors((np.int64(1), np.int64(1))),
        lambda lib: lib.Dataset.from_tensors({"a": np.int64(1)}),
        lambda lib: lib.Dataset.from_tensors("x"),
        lambda lib: lib.Dataset.from_tensors(ragged(lib, [[1]])),
        lambda lib: lib.Dataset.from_tensors(sparse(lib, [1])),
    ],
    ids=["int32", "tuple", "dict", "string", "ragged", "sparse"],
)
def test_concatenate_refuses_other_types(other):
    reference = agree(lambda lib: lib.Dataset.range(2).concatenate(other(lib)))
    assert reference.message.startswith("Incompatible dataset elements:")
