"""SequenceExamples become columns: results, and every error in TensorFlow's words."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr
from tests.parsing.support.made import sequence
from tfrkit.errors import InvalidArgumentError
from tfrkit.testing.example_reference import parse_lists_by_messages

Fixed, Var, Sequence, Sparse, Ragged = (
    tfr.FixedLenFeature,
    tfr.VarLenFeature,
    tfr.FixedLenSequenceFeature,
    tfr.SparseFeature,
    tfr.RaggedFeature,
)
RECORD = sequence({"n": [1], "b": [b"x", b"y"]}, t=[[1, 2], [3, 4]], w=[[b"a"], None], f=[[1.0]])
SHORT = sequence({}, t=[])
POLICIES = [tfr.TFRKIT, tfr.TENSORFLOW]
CONTEXT = {"n": Fixed([], "int64", 7), "b": Var("bytes"), "r": Ragged("bytes", "b2")}
LISTS = {
    "z": Sequence([], "int64", True),
    "t": Sequence([2], "int64"),
    "w": Var("bytes"),
    "f": Ragged("float32", row_splits_dtype="int64"),
}


@pytest.mark.parametrize("policy", POLICIES, ids=["tfrkit", "tensorflow"])
def test_a_batch(policy):
    context, lists, lengths = tfr.parse_sequence_example([RECORD, SHORT], CONTEXT, LISTS, policy=policy)
    assert (list(context), list(lists), list(lengths)) == (["n", "b", "r"], ["z", "t", "w", "f"], ["z", "t"])
    assert context["n"].tolist() == [1, 7]
    assert context["b"].to_list() == [[b"x", b"y"], []]
    assert context["r"].to_list() == [[], []]
    assert lists["z"].shape == (2, 0)
    assert lists["t"].tolist() == [[[1, 2], [3, 4]], [[0, 0], [0, 0]]]
    assert lists["w"].to_list() == [[[b"a"], []], []]
    assert lists["f"].to_list() == [[[1.0]], []]
    assert [splits.dtype for splits in lists["f"].nested_row_splits] == [np.int64, np.int64]
    assert {key: steps.tolist() for key, steps in lengths.items()} == {"z": [0, 0], "t": [2, 0]}


@pytest.mark.parametrize("policy", POLICIES, ids=["tfrkit", "tensorflow"])
def test_one_example(policy):
    context, lists = tfr.parse_single_sequence_example(RECORD, CONTEXT, LISTS, policy=policy)
    assert isinstance(context["n"], np.int64)
    assert context["b"].to_list() == [b"x", b"y"]
    assert lists["z"].shape == (0,)
    assert lists["t"].tolist() == [[1, 2], [3, 4]]
    assert lists["w"].to_list() == [[b"a"], []]
    assert lists["f"].to_list() == [[1.0]]
    same, also, lengths = tfr.parse_sequence_example(RECORD, CONTEXT, LISTS, policy=policy)
    assert same["n"] == context["n"]
    assert also["w"] == lists["w"]
    assert lengths == {"z": 0, "t": 2}
    assert isinstance(lengths["t"], np.int64)


def test_shapes_of_context_features():
    spec = {"b": Fixed([2, 1], "bytes"), "n": Fixed([1], "int64"), "m": Fixed([2], "float32", [1, 2])}
    context, _ = tfr.parse_single_sequence_example(RECORD, spec)
    assert (context["b"].dtype, context["b"].tolist()) == (object, [[b"x"], [b"y"]])
    assert (context["n"].tolist(), context["m"].tolist()) == ([1], [1.0, 2.0])
    batch, _, _ = tfr.parse_sequence_example([RECORD], spec)
    assert (batch["b"].shape, batch["n"].shape) == ((1, 2, 1), (1, 1))


def test_steps_of_bytes():
    record = sequence({}, t=[[b"a", b"b"], [b"c", b"d"]])
    spec = {"t": Sequence([2], "bytes")}
    _, lists, _ = tfr.parse_sequence_example([record, SHORT], None, spec)
    assert lists["t"].to_list() == [[[b"a", b"b"], [b"c", b"d"]], [[b"", b""], [b"", b""]]]
    _, one = tfr.parse_single_sequence_example(record, None, spec)
    assert (one["t"].dtype, one["t"].tolist()) == (object, [[b"a", b"b"], [b"c", b"d"]])


def test_partitions_of_context_and_lists():
    rows = Ragged("int64", "v", [Ragged.RowLengths("p")])
    context, _, _ = tfr.parse_sequence_example([sequence({"v": [1, 2, 3], "p": [1, 2]}), SHORT], {"a": rows})
    assert context["a"].to_list() == [[[1], [2, 3]], []]
    records = [sequence({}, v=[[1, 2, 3], [4]], p=[[1, 2], [1]]), SHORT]
    _, lists, _ = tfr.parse_sequence_example(records, None, {"a": rows})
    assert lists["a"].to_list() == [[[[1], [2, 3]], [[4]]], []]
    _, one = tfr.parse_single_sequence_example(records[0], None, {"a": rows})
    assert one["a"].to_list() == [[[1], [2, 3]], [[4]]]


def test_partitions_with_fewer_steps_than_values():
    record = sequence({}, v=[[1, 2, 3], [4]], p=[[1, 2]])
    loose, strict = (
        {"a": Ragged("int64", "v", [Ragged.RowLengths("p")], validate=validate)} for validate in (False, True)
    )
    _, lists, _ = tfr.parse_sequence_example([record, SHORT], None, loose)
    assert lists["a"].to_list() == [[[[1], [2, 3]]], []]
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_sequence_example([record, SHORT], None, strict)
    assert caught.value.message == (
        "Feature a: values and partitions are not aligned\nCondition x == y did not hold.\n"
        "Indices of first 2 different values:\n[[1]\n [2]]\nCorresponding x values:\n[2 2]\n"
        "Corresponding y values:\n[1 1]\nFirst 3 elements of x:\n[0 2 2]\nFirst 3 elements of y:\n[0 1 1]"
    )


SPECS = [
    (
        None,
        {"t": Fixed([], "int64")},
        "Unsupported FixedLenFeature FixedLenFeature(shape=[], dtype='int64', default_value=None) for key 't'",
    ),
    (
        {"n": Sparse("n", "b", "int64", 3)},
        None,
        (
            "Unsupported SparseFeature SparseFeature(index_key='n', value_key='b', dtype='int64', size=3, "
            "already_sorted=False) for key 'n'"
        ),
    ),
    ({"n": 5}, None, "Unsupported int 5 for key 'n'"),
    (None, {"t": Sequence([2], "int64", True, 5)}, "Value feature_list.dense_defaults[t] must be None"),
    (
        {"n": Fixed([], "int32")},
        None,
        "Value for attr 'Tcontext_dense' of int32 is not in the list of allowed values: float, int64, string",
    ),
    (
        {"n": Var("int32")},
        None,
        "Value for attr 'context_sparse_types' of int32 is not in the list of allowed values: float, int64, string",
    ),
    (
        None,
        {"t": Sequence([], "int32")},
        (
            "Value for attr 'feature_list_dense_types' of int32 is not in the list of allowed values: "
            "float, int64, string"
        ),
    ),
    (
        None,
        {"t": Var("int32")},
        (
            "Value for attr 'feature_list_sparse_types' of int32 is not in the list of allowed values: "
            "float, int64, string"
        ),
    ),
    (None, {"t": Sequence([2, None], "int64")}, "Shape [2,?] is not fully defined"),
    (
        {"n": Fixed([2], "int64", 5)},
        None,
        "Input to reshape is a tensor with 1 values, but the requested shape has 2",
    ),
]


@pytest.mark.parametrize(("context", "lists", "text"), SPECS, ids=range(len(SPECS)))
def test_errors_of_specs(context, lists, text):
    for parse, serialized in (
        (tfr.parse_sequence_example, [RECORD]),
        (tfr.parse_single_sequence_example, RECORD),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            parse(serialized, context, lists)


def test_one_of_the_specs_must_be_given():
    for specs in ((None, None), ({}, {})):
        with pytest.raises(
            ValueError, match=r"^Both `context_features` and `sequence_features` argument are None"
        ):
            tfr.parse_sequence_example([RECORD], *specs)
        with pytest.raises(
            ValueError, match=r"^Both context_features and sequence_features are None, but at least"
        ):
            tfr.parse_single_sequence_example(RECORD, *specs)


NAME = "Name: <unknown>, "
RECORDS = [
    (
        None,
        {"q": Sequence([], "int64")},
        RECORD,
        NAME + "Feature list 'q' is required but could not be found.  Did you mean to include it in "
        "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
    ),
    (
        None,
        {"t": Sequence([2], "float32")},
        RECORD,
        NAME + "Feature list: t, Index: 0.  Data types don't match. Expected type: float",
    ),
    (
        None,
        {"t": Var("bytes")},
        RECORD,
        NAME + "Feature list: t, Index: 0.  Data types don't match. Expected type: string",
    ),
    (
        {"n": Fixed([], "float32")},
        None,
        RECORD,
        NAME + "Context feature: n.  Data types don't match. Expected type: float",
    ),
    (
        {"n": Ragged("float32")},
        None,
        RECORD,
        NAME + "Context feature: n.  Data types don't match. Expected type: float",
    ),
    (
        None,
        {"t": Sequence([], "int64")},
        sequence({}, t=[[1], None]),
        NAME + "Key: t, Index: 1.  Number of values != expected.  values size: 0 but output shape: []",
    ),
    ({"n": Fixed([], "int64")}, None, b"\xff\xff", "Invalid protocol message input, example id: <unknown>"),
]


@pytest.mark.parametrize(("context", "lists", "record", "text"), RECORDS, ids=range(len(RECORDS)))
@pytest.mark.parametrize("policy", POLICIES, ids=["tfrkit", "tensorflow"])
def test_errors_of_records(policy, context, lists, record, text):
    for parse, serialized in (
        (tfr.parse_sequence_example, [record]),
        (tfr.parse_single_sequence_example, record),
    ):
        with pytest.raises(InvalidArgumentError) as caught:
            parse(serialized, context, lists, policy=policy)
        assert caught.value.message == text


@pytest.mark.parametrize(
    ("context", "lists", "text"),
    [
        (
            {"b": Fixed([], "bytes")},
            None,
            "Inconsistent max number of elements for feature b: expected 1, but found 2",
        ),
        (
            {"q": Fixed([], "int64")},
            None,
            "Inconsistent max number of elements for feature q: expected 1, but found 0",
        ),
        (
            None,
            {"t": Sequence([3], "int64")},
            (
                "Feature list 't' has an unexpected number of values.  Total values size: 4 is not consistent with "
                "output shape: [?,3]"
            ),
        ),
    ],
    ids=["context", "missing", "list"],
)
def test_errors_of_counts_as_tensorflow_has_them(context, lists, text):
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_sequence_example([RECORD], context, lists, policy=tfr.TENSORFLOW)
    assert caught.value.message == text
    with pytest.raises(InvalidArgumentError):
        tfr.parse_sequence_example([RECORD], context, lists)


def test_default_of_a_context_feature_without_a_kind():
    spec = {"q": Fixed([], "int64", 5)}
    assert tfr.parse_sequence_example([sequence({"q": None})], spec)[0]["q"].tolist() == [5]
    with pytest.raises(InvalidArgumentError, match=r"^Unexpected number of elements in example <unknown>"):
        tfr.parse_sequence_example([sequence({"q": None})], spec, policy=tfr.TENSORFLOW)


def test_missing_context_feature_that_another_example_has():
    for policy in POLICIES:
        with pytest.raises(InvalidArgumentError) as caught:
            tfr.parse_sequence_example([RECORD, SHORT], {"n": Fixed([], "int64")}, policy=policy)
        assert caught.value.message == "Feature: n (data type: int64) is required but could not be found."


def test_errors_tell_file_and_record(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([RECORD, b"\xff"])
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_sequence_example(tfr.read_blocks(path), {"b": Var("bytes")})
    assert caught.value.message == (
        "Invalid protocol message input, example id: <unknown>; "
        f"in record 1 (frame at byte {len(RECORD) + 16}) of {path!r}"
    )
    assert (caught.value.path, caught.value.record) == (path, 1)


def test_no_examples():
    context, lists, lengths = tfr.parse_sequence_example(
        [], {"n": Fixed([2], "int64"), "b": Var("bytes")}, {"t": Sequence([2], "int64"), "w": Ragged("bytes")}
    )
    assert (context["n"].shape, context["b"].to_list()) == ((0, 2), [])
    assert (lists["t"].shape, lists["w"].to_list(), lengths["t"].tolist()) == ((0, 0, 2), [], [])
    with pytest.raises(
        InvalidArgumentError, match=r"^Inconsistent max number of elements for feature n: expected 2"
    ):
        tfr.parse_sequence_example(np.zeros(0, object), {"n": Fixed([2], "int64")}, policy=tfr.TENSORFLOW)


_VALUES = {"i": st.integers(-(2**63), 2**63 - 1), "s": st.binary(max_size=5)}


@st.composite
def _records(draw):
    records = []
    for _ in range(draw(st.integers(1, 4))):
        lists = {}
        for name, values in _VALUES.items():
            if draw(st.booleans()):
                steps = draw(st.lists(st.lists(values, max_size=3), max_size=4))
                lists[name] = [step or None for step in steps]
            lists["fixed " + name] = draw(st.lists(st.lists(values, min_size=2, max_size=2), max_size=3))
        records.append(sequence({}, **lists))
    return records


@given(_records())
def test_lists_are_those_of_the_reference(records):
    spec = {
        "i": Var("int64"),
        "s": Ragged("bytes"),
        "fixed i": Sequence([2], "int64", True),
        "fixed s": Sequence([1, 2], "bytes", True),
    }
    expected = [parse_lists_by_messages(record, spec) for record in records]
    for policy in POLICIES:
        _, lists, lengths = tfr.parse_sequence_example(records, None, spec, policy=policy)
        for key in ("i", "s"):
            assert lists[key].to_list() == [row[key] for row in expected]
        for key in ("fixed i", "fixed s"):
            assert lengths[key].tolist() == [len(row[key]) for row in expected]
            column = lists[key].to_list() if isinstance(lists[key], tfr.BytesColumn) else lists[key].tolist()
            for row, steps, want in zip(column, lengths[key], expected, strict=True):
                assert row[:steps] == want[key]
        _, one = tfr.parse_single_sequence_example(records[0], None, spec, policy=policy)
        assert one["i"].to_list() == expected[0]["i"]
        assert one["fixed s"].tolist() == expected[0]["fixed s"]


def test_keys_may_be_bytes():
    context, lists = (
        {key.encode(): feature for key, feature in spec.items()}
        for spec in ({"n": CONTEXT["n"]}, {"t": LISTS["t"]})
    )
    for data in ([RECORD, SHORT], RECORD):
        results = tfr.parse_sequence_example(data, context, lists)
        assert [list(result) for result in results] == [[b"n"], [b"t"], [b"t"]]
        expected = tfr.parse_sequence_example(data, {"n": CONTEXT["n"]}, {"t": LISTS["t"]})
        for result, other in zip(results, expected, strict=True):
            assert np.array_equal(*result.values(), *other.values())


def test_a_wrong_number_of_values_in_the_context_has_a_note():
    with pytest.raises(
        InvalidArgumentError, match="Unexpected number of elements in example <unknown>"
    ) as caught:
        tfr.parse_single_sequence_example(RECORD, {"b": Fixed([3], "bytes")})
    assert caught.value.__notes__ == ["Expected 3 values of the context feature 'b' but got 2."]
