"""Dataset.range in TensorFlow and in tfrkit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.support.data_scenarios import agree, fails
from tests.support.rules import tf_rule


@tf_rule("5 range")
@tf_rule("5 cardinality sources")
@pytest.mark.parametrize(
    "arguments",
    [(0,), (3,), (-2,), (2, 5), (5, 2), (5, 1, -2), (0, 10, 3), (-7, 7, 4), (2**40, 2**40 + 2)],
    ids=str,
)
def test_counts_as_python(arguments):
    agree(lambda lib: lib.Dataset.range(*arguments), list(range(*arguments)))


@tf_rule("5 range")
@pytest.mark.parametrize("dtype", [np.int32, "int64", np.float32, np.float64, np.uint8], ids=str)
def test_type_may_be_chosen(dtype):
    agree(lambda lib: lib.Dataset.range(1, 4, output_type=dtype), [1, 2, 3])


@tf_rule("5 range step")
def test_step_of_zero():
    agree(
        lambda lib: lib.Dataset.range(0, 5, 0),
        fails("InvalidArgumentError", "step must be a non-zero integer."),
    )


@tf_rule("5 range arguments")
@pytest.mark.parametrize("arguments", [(), (1, 2, 3, 4)], ids=str)
def test_wrong_number_of_arguments(arguments):
    text = f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(arguments)}."
    agree(lambda lib: lib.Dataset.range(*arguments), fails("ValueError", text))
