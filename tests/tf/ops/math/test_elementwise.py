"""The table of elementwise functions: each row makes a function that also works on ragged values."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from tfrkit import tf
from tfrkit.errors import InvalidArgumentError
from tfrkit.tf.names.math import PAIRS, SINGLES, last_part, rows
from tfrkit.tf.ops.math import elementwise

ROWS = rows(SINGLES) + rows(PAIRS)


@pytest.mark.parametrize("row", ROWS, ids=[last_part(row[0]) for row in ROWS])
def test_a_row_is_a_function(row):
    names, kernel, types, _, more = row
    function = getattr(elementwise, last_part(names))
    assert kernel[0].isupper()
    assert names.split()[0] in function.__doc__
    wanted = more.split() if more not in ("", "sparse") else ["x", "y"][: 1 + (row in rows(PAIRS))]
    assert list(inspect.signature(function).parameters) == wanted
    if "real" in types.split():
        refused = [tf.constant("a")] * len(wanted)
        with pytest.raises(InvalidArgumentError, match="Value for attr 'T' of string is not in the list"):
            function(*[value.value for value in refused])


@pytest.mark.parametrize("row", rows(SINGLES), ids=[last_part(row[0]) for row in rows(SINGLES)])
def test_ragged_values_work_entry_by_entry(row):
    kind = {"bool": bool, "ints uints": np.int32}.get(row[2], np.float32)
    flat = np.array([0, 1, 1], kind)
    ragged = tf.RaggedTensor.from_row_lengths(tf.constant(flat), [2, 0, 1])
    function = tf
    for part in row[0].split()[0].split("."):
        function = getattr(function, part)
    found = function(ragged)
    assert found.row_lengths().numpy().tolist() == [2, 0, 1]
    np.testing.assert_array_equal(found.flat_values.numpy(), function(tf.constant(flat)).numpy())


def test_zero_stays_zero_in_functions_of_sparse_values():
    for row in rows(SINGLES):
        if row[4] == "sparse":
            assert getattr(elementwise, last_part(row[0]))(np.float32(0)) == 0, row[0]
