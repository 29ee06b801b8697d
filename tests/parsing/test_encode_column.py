"""Single columns on their way to the encoder: what is joined natively, what is refused, and in which words."""

from __future__ import annotations

import pickle
import threading
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr
from tfrkit import _core
from tfrkit.model.features import feature_values
from tfrkit.parsing.encode import ExampleEncoder

ITEMS = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.lists(st.integers(-5, 5), max_size=3),
    st.lists(st.integers(-5, 5), max_size=3).map(tuple),
    st.lists(st.integers(0, 5), max_size=3).map(lambda items: np.array(items, np.uint8)),
    st.integers(-5, 5).map(np.int16),
)


def values_of(column: object) -> list[object]:
    """What one column gives in each row; None where the feature is missing."""
    rows = [tfr.to_dict(record) for record in tfr.encode_examples({"a": column, "row": range(len(column))})]
    return [list(row["a"]) if "a" in row else None for row in rows]


def test_error_of_a_number_that_is_too_large_can_be_sent_to_another_process():
    with pytest.raises(ValueError, match="at most") as raised:
        tfr.encode_examples({"a": np.array([[1], [2**63]], np.uint64)})
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), str(again), again.row) == (type(raised.value), str(raised.value), 1)


@given(st.lists(ITEMS))
def test_rows_joined_natively_are_those_of_the_rules(items):
    kind, values, splits, present = _core.gather_lists(items)
    rules = [None if item is None else feature_values(item) for item in items]
    full = next((found[0] for found in rules if found is not None and len(found[1])), None)
    if full not in (None, 3):
        assert splits is None
        return
    lengths = [0 if found is None else len(found[1]) for found in rules]
    assert np.diff(splits).tolist() == lengths
    assert (np.ones(len(items), np.uint8) if present is None else present).tolist() == [
        int(found is not None) for found in rules
    ]
    if full is not None:
        assert kind == 3
        assert values.tolist() == [number for found in rules if found for number in found[1]]


@pytest.mark.parametrize(
    "items",
    [
        [[1, 2], None, [], (3,)],
        [np.array([1, 2]), None, np.array([], np.float32), [3]],
        [np.int8([1, 2]), None, [], np.uint16(3)],
    ],
)
def test_lists_tuples_and_arrays_of_numbers(items):
    assert values_of(items) == [[1, 2], None, [], [3]]
    assert _core.gather_lists(items)[2] is not None


def test_lists_of_strings():
    assert values_of([["a", b"b"], [], "c"]) == [[b"a", b"b"], [], [b"c"]]
    assert _core.gather_lists([["a", b"b"], [], "c"])[1] == ["a", b"b", "c"]


@pytest.mark.parametrize("items", [[[1], ["a"]], [[1, None]], [[[1]]], [[2**63]], [np.zeros((1, 1))], [1j]])
def test_what_is_unusual_is_left_to_the_rules(items):
    assert _core.gather_lists(items) == (0, None, None, None)


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ([[1], ["a"]], "feature list 'a', row 1, step 0: expected int64 as before but got bytes: 'a'"),
        ([[1, 2], [3, 1.5]], "feature list 'a', row 1, step 1: expected int64 as before but got float: 1.5"),
        ([[], None, [[1], None]], "feature list 'a', row 2, step 1: expected values but got None"),
        ([[1, "x"], 3], "feature list 'a', row 1: expected a list of steps but got 3"),
    ],
)
def test_errors_of_steps_name_row_and_step(column, text):
    with pytest.raises(TypeError) as caught:
        tfr.encode_sequence_examples(None, {"a": column})
    assert text in str(caught.value)


def test_steps_of_numpy_rows_and_iterators():
    block = tfr.encode_sequence_examples(None, {"a": [np.arange(2), iter([[5, 6]]), None]})
    lists = [tfr.to_dict(record, sequence=True)["feature_lists"] for record in block]
    assert [[list(step) for step in found.get("a", [])] for found in lists] == [[[0], [1]], [[5, 6]], []]


def test_masked_half_floats_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert values_of(np.ma.array([1, 2], np.float16, mask=[0, 1])) == [[1.0], None]


@pytest.mark.parametrize("dtype", ["S1", "U1", np.int64, np.float32, np.dtypes.StringDType()])
def test_rows_of_no_values_have_the_feature(dtype):
    assert values_of(np.zeros((2, 0), dtype)) == [[], []]


def test_nullable_arrays_of_pandas_have_missing_rows():
    assert values_of(pd.array([2**62 + 1, None], "Int64")) == [[2**62 + 1], None]
    assert values_of(pd.array([True, None], "boolean")) == [[1], None]
    assert values_of(pd.array(["a", None], "string")) == [[b"a"], None]


def test_an_index_of_pandas_without_a_name_is_no_feature():
    frame = pd.DataFrame({"a": [1, 2, 3]})
    assert [*tfr.to_dict(tfr.encode_examples(frame[frame.a > 1])[0])] == ["a"]


@pytest.mark.parametrize(
    "column",
    [
        tfr.Sparse([[0]], np.array([5]), [3]),
        tfr.Sparse([[0, 1]], np.array([5]), [3, 2]),
        pa.array([[1, None]]),
        pd.to_datetime(pd.Series(["2020-01-01"])),
    ],
)
def test_errors_of_columns_name_the_feature_once(column):
    with pytest.raises((TypeError, ValueError)) as caught:
        tfr.encode_examples({"a": column})
    assert str(caught.value).startswith("feature 'a': ")
    assert "column ''" not in str(caught.value)


class Slow:
    """A value whose conversion lets others run."""

    def __init__(self, meanwhile) -> None:
        self.meanwhile = meanwhile

    def __array__(self, dtype=None, copy=None):
        self.meanwhile()
        return np.arange(2)


def test_the_encoder_may_be_called_while_it_converts():
    encoder = ExampleEncoder()
    inner = []
    made = encoder.encode({"a": Slow(lambda: inner.append(encoder.encode({"b": 7}))), "c": "x"})
    assert tfr.to_dict(made)["a"].tolist() == [0, 1]
    assert tfr.to_dict(inner[0])["b"].tolist() == [7]
    assert tfr.to_dict(encoder.encode({"a": 1, "c": "y"}))["c"] == [b"y"]


def test_the_encoder_may_be_called_by_another_thread_meanwhile():
    encoder = ExampleEncoder()
    found = []

    def other() -> None:
        thread = threading.Thread(target=lambda: found.append(encoder.encode({"b": 7})))
        thread.start()
        thread.join()

    encoder.encode({"a": Slow(other)})
    assert tfr.to_dict(found[0])["b"].tolist() == [7]


def test_what_lies_under_nulls_does_not_matter():
    values = np.array([1, 2**64 - 1], np.uint64)
    nulls = np.array([False, True])
    assert values_of(pa.array(values, mask=nulls)) == [[1], None]
    lists = pa.FixedSizeListArray.from_arrays(pa.array(values), 1, mask=pa.array(nulls))
    assert values_of(lists) == [[1], None]


@pytest.mark.parametrize(
    "encode",
    [
        lambda key: tfr.make_example({key: 1}),
        lambda key: ExampleEncoder().encode({key: 1}),
        lambda key: tfr.encode_examples({key: [1]}),
        lambda key: tfr.encode_sequence_examples({key: [1]}),
    ],
    ids=["make_example", "encoder", "encode_examples", "encode_sequence_examples"],
)
def test_names_that_are_no_unicode_are_shown(encode):
    with pytest.raises(ValueError, match=r"feature in Unicode but got 'a\\ud800' \(str\)") as caught:
        encode("a\ud800")
    assert type(caught.value) is ValueError
    with pytest.raises(TypeError, match="feature as str but got b'a'"):
        encode(b"a")
