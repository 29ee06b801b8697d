"""Partitions of a RaggedFeature, where they fit and where they do not."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr
from tests.parsing.support.made import example
from tfrkit.errors import InvalidArgumentError
from tfrkit.testing.example_reference import parse_by_messages, parse_one_by_messages

Ragged = tfr.RaggedFeature
Splits, Lengths, Starts, Limits, Ids, Uniform = (
    Ragged.RowSplits,
    Ragged.RowLengths,
    Ragged.RowStarts,
    Ragged.RowLimits,
    Ragged.ValueRowIds,
    Ragged.UniformRowLength,
)
VALUES = [1, 2, 3, 4, 5, 6]


def _spec(*partitions, validate=False, dtype="int64", splits="int32"):
    return {"a": Ragged(dtype, "v", list(partitions), splits, validate)}


def _as_list(result):
    return result.to_list() if isinstance(result, (tfr.Ragged, tfr.BytesColumn)) else result.tolist()


def _one(spec, **features):
    return _as_list(tfr.parse_single_example(example(**features), spec)["a"])


def _batch(spec, *rows):
    return _as_list(tfr.parse_example([example(**row) for row in rows], spec)["a"])


@pytest.mark.parametrize(
    ("partition", "borders"),
    [
        (Splits("p"), [0, 2, 2, 6]),
        (Lengths("p"), [2, 0, 4]),
        (Starts("p"), [0, 2, 2]),
        (Limits("p"), [2, 2, 6]),
        (Ids("p"), [0, 0, 2, 2, 2, 2]),
    ],
    ids=str,
)
@pytest.mark.parametrize("validate", [False, True])
def test_borders_that_fit(partition, borders, validate):
    spec = _spec(partition, validate=validate)
    rows = [[1, 2], [], [3, 4, 5, 6]]
    assert _one(spec, v=VALUES, p=borders) == rows
    assert _batch(spec, {"v": VALUES, "p": borders}, {"v": VALUES, "p": borders}) == [rows, rows]


@pytest.mark.parametrize(
    ("partition", "borders", "one", "batch"),
    [
        (Splits("p"), [0, 2, 4], [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
        (Splits("p"), [0, 2, 9], [[1, 2], [3, 4, 5, 6]], [[1, 2], [3, 4, 5, 6]]),
        (Splits("p"), [0, 4, 2, 6], [[1, 2, 3, 4], [], [3, 4, 5, 6]], [[1, 2, 3, 4], [], [3, 4, 5, 6]]),
        (Splits("p"), [1, 4, 6], [[2, 3, 4], [5, 6]], [[1, 2, 3, 4], [5, 6]]),
        (Splits("p"), [-1, 3, 6], [[], [4, 5, 6]], [[1, 2, 3], [4, 5, 6]]),
        (Splits("p"), [5], [], []),
        (Lengths("p"), [2], [[1, 2]], [[1, 2]]),
        (Lengths("p"), [2, 9], [[1, 2], [3, 4, 5, 6]], [[1, 2], [3, 4, 5, 6]]),
        (Lengths("p"), [2, -1, 5], [[1, 2], [], [2, 3, 4, 5, 6]], [[1, 2], [], [2, 3, 4, 5, 6]]),
        (Lengths("p"), [], [], []),
        (Starts("p"), [1, 2], [[2], [3, 4, 5, 6]], [[2], [3, 4, 5, 6]]),
        (Starts("p"), [0, 9], [[1, 2, 3, 4, 5, 6], []], [[1, 2, 3, 4, 5, 6], []]),
        (Starts("p"), [], [], []),
        (Limits("p"), [4, 2, 6], [[1, 2, 3, 4], [], [3, 4, 5, 6]], [[1, 2, 3, 4], [], [3, 4, 5, 6]]),
        (Ids("p"), [0, 0, 2, 2, 1, 1], [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
        (
            Ids("p"),
            [0, 0, 2, 2, 2, 5],
            [[1, 2], [], [3, 4, 5], [], [], [6]],
            [[1, 2], [], [3, 4, 5], [], [], [6]],
        ),
    ],
    ids=str,
)
def test_rows_are_slices_between_borders_unless_validated(partition, borders, one, batch):
    assert _one(_spec(partition), v=VALUES, p=borders) == one
    result = tfr.parse_example([example(v=VALUES, p=borders)], _spec(partition))["a"]
    assert result.to_list() == [batch]
    tfr.Ragged(result.values, result.row_splits)  # is sound
    tfr.Ragged(result.values.values, result.values.row_splits)


def test_a_gap_between_examples_falls_to_the_next_row():
    spec = _spec(Starts("p"))
    assert _batch(spec, {"v": [9], "p": [0]}, {"v": VALUES, "p": [1, 2]}) == [[[9, 1]], [[2], [3, 4, 5, 6]]]


def _equal(who, x, y):
    return (
        f"Arguments to {who} do not form a valid RaggedTensor\nCondition x == y did not hold.\n"
        f"First 1 elements of x:\n[{x}]\nFirst 1 elements of y:\n[{y}]"
    )


def _negative(who, shape, values, what="RaggedTensor"):
    return (
        f"Arguments to {who} do not form a valid {what}.  \nCondition x >= 0 did not hold element-wise:\n"
        f"x (shape=({shape},) dtype=int32) = \n{values}"
    )


@pytest.mark.parametrize(
    ("partition", "borders", "text"),
    [
        (Splits("p"), [0, 2, 4], _equal("_from_row_partition", 4, 6)),
        (Splits("p"), [1, 4, 6], _equal("from_row_splits", 1, 0).replace("Tensor\n", "Tensor:zero\n", 1)),
        (
            Splits("p"),
            [0, 4, 2, 6],
            _negative("from_row_splits", 3, ["4", "-2", "4"]).replace("Tensor.", "Tensor:monotonic.", 1),
        ),
        (Splits("p"), [], "slice index 0 of dimension 0 out of bounds."),
        (Lengths("p"), [2, 9], _equal("_from_row_partition", 11, 6)),
        (Lengths("p"), [2, -1, 5], _negative("from_row_lengths", 3, ["2", "-1", "5"], "RowPartition")),
        (
            Lengths("p"),
            [2**31 - 1, 2**31 - 1, 8],  # sums that wrap round to 6
            _negative("from_row_lengths", 4, ["0", "2147483647", "-2", "..."], "RowPartition"),
        ),
        (Starts("p"), [1, 2], _equal("from_row_starts", 1, 0)),
        (Starts("p"), [0, 4, 2], _negative("from_row_starts", 2, ["4", "-2"])),
        (Starts("p"), [0, 9], _equal("from_row_starts", 9, 6).replace("x == y", "x <= y")),
        (Limits("p"), [2, 4], _equal("_from_row_partition", 4, 6)),
        (Limits("p"), [4, 2, 6], _negative("from_row_limits", 2, ["-2", "4"])),
        (
            Ids("p"),
            [0, 0, 2, 2, 1, 1],
            _negative("from_value_rowids", 5, ["0", "2", "0", "..."], "RowPartition"),
        ),
        (Ids("p"), [-1, 0, 0, 0, 0, 0], _negative("from_value_rowids", 1, ["-1"], "RowPartition")),
    ],
    ids=str,
)
def test_validation_refuses_borders_that_do_not_fit(partition, borders, text):
    with pytest.raises(InvalidArgumentError) as caught:
        _one(_spec(partition, validate=True), v=VALUES, p=borders)
    assert caught.value.message == text


def test_missing_splits():
    with pytest.raises(ValueError, match=r"^Dimension -1 must be >= 0$"):
        _one(_spec(Splits("p")), v=VALUES)
    assert _batch(_spec(Splits("p")), {"v": VALUES}, {"v": [9], "p": [0, 1]}) == [[], [[*VALUES, 9]]]


def test_ids_must_be_as_many_as_values_and_not_negative():
    with pytest.raises(ValueError, match=r"^Shapes \(6,\) and \(2,\) are incompatible$"):
        _one(_spec(Ids("p")), v=VALUES, p=[0, 1])
    with pytest.raises(InvalidArgumentError, match=r"^Input arr must be non-negative!$"):
        _one(_spec(Ids("p")), v=VALUES, p=[-1, 0, 0, 0, 0, 0])
    with pytest.raises(InvalidArgumentError, match=r"^size \(-1\) must be non-negative$"):
        _one(_spec(Ids("p")), v=VALUES, p=[0, 0, 0, 0, 0, -2])


def test_an_id_in_the_data_allocates_nothing_by_itself():
    spec = _spec(Ids("p"), splits="int64")
    with pytest.raises(InvalidArgumentError, match=r"^size \(1073741825\) is too large"):
        _one(spec, v=[1, 2], p=[0, 1 << 30])


def test_ids_count_in_32_bits():
    spec = _spec(Ids("p"), splits="int64")
    assert _one(spec, v=[1, 2, 3], p=[(1 << 42) + 1, 1, 2]) == [[], [1, 2], [3]]
    assert _one(spec, v=[1, 2, 3], p=[0, -(1 << 33), 1]) == [[1, 2], [3]]
    text = r"^Tensor's shape \(2,\) is not compatible with supplied shape \(4294967298,\)\.$"
    with pytest.raises(ValueError, match=text):
        _one(spec, v=[1, 2], p=[0, (1 << 32) + 1])
    with pytest.raises(InvalidArgumentError, match=r"^size \(-1\) must be non-negative$"):
        _one(spec, v=[1, 2], p=[0, (1 << 32) - 2])
    with pytest.raises(InvalidArgumentError, match=r"^Input arr must be non-negative!$"):
        _one(spec, v=[1, 2], p=[0, (1 << 63) - 1])
    assert _one(_spec(Ids("p")), v=[1, 2, 3], p=[0, 1, 1 << 40]) == [[1, 2]]


def test_uniform_rows_are_dimensions():
    one = tfr.parse_single_example(example(v=VALUES), _spec(Uniform(3), Uniform(2)))["a"]
    assert isinstance(one, np.ndarray)
    assert one.tolist() == [[[1, 2], [3, 4], [5, 6]]]
    batch = tfr.parse_example([example(v=VALUES), example()], _spec(Uniform(2)))["a"]
    assert batch.shape == (2, None, 2)
    assert batch.to_list() == [[[1, 2], [3, 4], [5, 6]], []]
    words = tfr.parse_single_example(example(v=[b"a", b"b"]), _spec(Uniform(2), dtype="bytes"))["a"]
    assert (words.shape, words.to_list()) == ((1, 2), [[b"a", b"b"]])


def test_uniform_rows_of_ragged_rows():
    spec = _spec(Uniform(2), Lengths("p"))
    assert _one(spec, v=VALUES, p=[1, 2, 3, 0]) == [[[1], [2, 3]], [[4, 5, 6], []]]
    with pytest.raises(ValueError, match=r"^uniform_row_length=2 times nrows=1 must equal nvals=3$"):
        _one(_spec(Uniform(2), Lengths("p"), validate=True), v=VALUES, p=[1, 2, 3])


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (4, "Input to reshape is a tensor with 6 values, but the requested shape requires a multiple of 4"),
        (0, "Input to reshape is a tensor with 6 values, but the requested shape has 0"),
        (-1, "Only one input size may be -1, not both 0 and 1"),
    ],
)
def test_uniform_rows_that_do_not_divide(length, text):
    for serialized in (example(v=VALUES), [example(v=VALUES)]):
        with pytest.raises(InvalidArgumentError) as caught:
            tfr.parse_example(serialized, _spec(Uniform(length)))
        assert caught.value.message == text


def test_type_of_row_splits():
    for name in ("int32", "int64"):
        result = tfr.parse_example([example(v=VALUES, p=[2, 4])], _spec(Lengths("p"), splits=name))["a"]
        assert [splits.dtype.name for splits in result.nested_row_splits] == [name, name]
    assert tfr.parse_example([example(v=VALUES)], {"v": Ragged("int64")})["v"].row_splits.dtype == np.int32


def test_several_features_read_the_same_values():
    spec = {
        "flat": Ragged("int64", "v"),
        "rows": Ragged("int64", "v", [Lengths("p")]),
        "v": Ragged("int64", partitions=[Uniform(3)]),
    }
    batch = tfr.parse_example([example(v=VALUES, p=[1, 5])], spec)
    assert list(batch) == ["flat", "rows", "v"]
    assert batch["flat"].to_list() == [VALUES]
    assert batch["rows"].to_list() == [[[1], [2, 3, 4, 5, 6]]]
    assert batch["v"].to_list() == [[[1, 2, 3], [4, 5, 6]]]


def _borders(partition, lengths):
    """What the feature of a partition holds, to cut into rows of these lengths."""
    limits = list(accumulate(lengths, initial=0))
    if isinstance(partition, Splits):
        return limits
    if isinstance(partition, Lengths):
        return list(lengths)
    if isinstance(partition, Starts):
        return limits[:-1]
    if isinstance(partition, Limits):
        return limits[1:]
    return [row for row, length in enumerate(lengths) for _ in range(length)]


@st.composite
def _partitioned(draw):
    """Partitions, and examples that fit them."""
    # Rows at the end that are empty cannot be said with ids, so ids only number the outermost rows.
    inner = draw(st.lists(st.sampled_from([Splits, Lengths, Starts, Limits]), max_size=2))
    kinds = [draw(st.sampled_from([Splits, Lengths, Starts, Limits, Ids])), *inner]
    partitions = [kind(f"p{place}") for place, kind in enumerate(kinds)]
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        features = {}
        count = draw(st.integers(0, 3))
        for place, partition in enumerate(partitions):
            lengths = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
            features[f"p{place}"] = _borders(partition, lengths)
            count = len(features[f"p{place}"]) if isinstance(partition, Ids) else sum(lengths)
        features["v"] = [b"%d" % value for value in range(count)] or None
        rows.append(features)
    return partitions, rows


@given(_partitioned(), st.booleans())
def test_nested_partitions_as_the_reference_has_them(case, validate):
    partitions, rows = case
    spec = _spec(*partitions, validate=validate, dtype="bytes")
    records = [example(**row) for row in rows]
    one = tfr.parse_single_example(records[0], spec)["a"].to_list()
    assert one == parse_one_by_messages(records[0], spec)["a"]
    assert tfr.parse_example(records, spec)["a"].to_list() == parse_by_messages(records, spec)["a"]
