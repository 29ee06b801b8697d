"""Examples become columns: results, and every error in TensorFlow's words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import tfrkit as tfr
from tests.parsing.support.made import example
from tests.parsing.support.strategies import fitting_batches
from tfrkit.errors import InvalidArgumentError
from tfrkit.testing.example_reference import parse_by_messages, parse_one_by_messages

Fixed, Var, Sequence, Sparse, Ragged = (
    tfr.FixedLenFeature,
    tfr.VarLenFeature,
    tfr.FixedLenSequenceFeature,
    tfr.SparseFeature,
    tfr.RaggedFeature,
)
POLICIES = [tfr.TFRKIT, tfr.TENSORFLOW]


def plain(result):
    """A result as lists."""
    if isinstance(result, tfr.Sparse):
        values = result.values
        values = values.to_list() if isinstance(values, tfr.BytesColumn) else values.tolist()
        return result.indices.tolist(), values, result.dense_shape.tolist()
    if isinstance(result, (tfr.Ragged, tfr.BytesColumn)):
        return result.to_list()
    return result if isinstance(result, bytes) else np.asarray(result).tolist()


@given(fitting_batches())
def test_results_are_those_of_the_reference(case):
    spec, records = case
    expected = parse_by_messages(records, spec)
    one = parse_one_by_messages(records[0], spec)
    for policy in POLICIES:
        batch = tfr.parse_example(records, spec, policy=policy)
        assert list(batch) == list(spec)
        assert {key: plain(column) for key, column in batch.items()} == expected
        single = tfr.parse_single_example(records[0], spec, policy=policy)
        assert list(single) == list(spec)
        assert {key: plain(value) for key, value in single.items()} == one


def test_types_of_a_batch():
    spec = {
        "n": Fixed([], "int64"),
        "x": Fixed([2], "float32"),
        "s": Fixed([], "bytes"),
        "t": Fixed([1, 2], "bytes"),
        "v": Var("float32"),
        "w": Var("bytes"),
    }
    record = example(n=[1], x=[1.0, 2.0], s=[b"a"], t=[b"b", b"c"], v=[3.0], w=[b"d"])
    batch = tfr.parse_example([record, record], spec)
    assert (batch["n"].dtype, batch["n"].shape) == (np.int64, (2,))
    assert (batch["x"].dtype, batch["x"].shape) == (np.float32, (2, 2))
    assert isinstance(batch["s"], tfr.BytesColumn)
    assert batch["s"].to_list() == [b"a", b"a"]
    assert batch["t"].shape == (2, 1, 2)
    assert isinstance(batch["v"], tfr.Ragged)
    assert batch["v"].dtype == np.float32
    assert batch["v"].row_splits.dtype == np.int64
    assert batch["w"].to_list() == [[b"d"], [b"d"]]


def test_types_of_one_example():
    spec = {
        "n": Fixed([], "int64"),
        "m": Fixed([1], "int64"),
        "x": Fixed([2, 1], "float32"),
        "s": Fixed([], "bytes"),
        "t": Fixed([2], "bytes"),
        "v": Var("int64"),
        "w": Var("bytes"),
        "q": Sequence([1], "bytes", True),
    }
    record = example(
        n=[1], m=[2], x=[1.0, 2.0], s=[b"a"], t=[b"b", b"c\x00"], v=[3, 4], w=[b"d"], q=[b"e", b"f"]
    )
    one = tfr.parse_single_example(record, spec)
    assert isinstance(one["n"], np.int64)
    assert (one["m"].shape, one["x"].shape) == ((1,), (2, 1))
    assert one["s"] == b"a"
    assert one["t"].dtype == object
    assert one["t"].tolist() == [b"b", b"c\x00"]
    assert one["v"].tolist() == [3, 4]
    assert isinstance(one["w"], tfr.BytesColumn)
    assert (one["q"].dtype, one["q"].tolist()) == (object, [[b"e"], [b"f"]])


def test_a_batch_of_one_keeps_its_dimension():
    batch = tfr.parse_example([example(a=[1])], {"a": Fixed([], "int64")})
    assert batch["a"].shape == (1,)
    assert tfr.parse_example([example(a=[1])], {"a": Fixed([1], "int64")})["a"].shape == (1, 1)


def test_sequences_are_padded():
    records = [example(a=[1, 2, 3, 4]), example(), example(a=[5, 6])]
    assert tfr.parse_example(records, {"a": Sequence([2], "int64", True, 9)})["a"].tolist() == [
        [[1, 2], [3, 4]],
        [[9, 9], [9, 9]],
        [[5, 6], [9, 9]],
    ]
    words = tfr.parse_example([example(a=[b"x", b"yz"]), example()], {"a": Sequence([], "bytes", True)})["a"]
    assert words.to_list() == [[b"x", b"yz"], [b"", b""]]
    one = tfr.parse_single_example(example(), {"a": Sequence([2], "int64", True, 9)})["a"]
    assert one.shape == (0, 2)


def test_sequences_of_a_shape_without_values():
    spec = {"a": Sequence([0], "int64", True)}
    assert tfr.parse_example([example(a=[]), example()], spec)["a"].shape == (2, 0, 0)
    assert tfr.parse_single_example(example(a=[]), spec)["a"].shape == (0, 0)
    for serialized in (example(a=[1]), [example(a=[1])]):
        with pytest.raises(InvalidArgumentError, match=r"Saw 1 values but output shape is: \[\?,0\]"):
            tfr.parse_example(serialized, spec)


def test_sparse_features_are_sorted_and_not_checked():
    spec = {"s": Sparse("i", "v", "int64", 10)}
    records = [example(i=[3, 1, 3], v=[1, 2, 3]), example(i=[-1, 20], v=[5, 6]), example()]
    batch = tfr.parse_example(records, spec)["s"]
    assert batch.indices.tolist() == [[0, 1], [0, 3], [0, 3], [1, -1], [1, 20]]
    assert (batch.values.tolist(), batch.dense_shape.tolist()) == ([2, 1, 3, 5, 6], [3, 10])
    unsorted = tfr.parse_single_example(records[0], {"s": Sparse("i", "v", "int64", 10, True)})["s"]
    assert unsorted.indices.tolist() == [[3], [1], [3]]


def test_sparse_feature_of_several_dimensions():
    spec = {"s": Sparse(["i", "j"], "v", "bytes", [10, 5])}
    record = example(i=[3, 1, 3], j=[2, 2, 1], v=[b"1", b"2", b"3"])
    batch = tfr.parse_example([record], spec)["s"]
    assert batch.indices.tolist() == [[0, 1, 2], [0, 3, 1], [0, 3, 2]]
    assert (batch.values.to_list(), batch.dense_shape.tolist()) == ([b"2", b"3", b"1"], [1, 10, 5])
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_example([example(i=[3, 1], j=[1], v=[b"1", b"2"])], spec)
    assert caught.value.message == (
        "ConcatOp : Dimension 0 in both shapes must be equal: shape[0] = [2,1] vs. shape[2] = [1,1]"
    )


def test_sparse_feature_with_more_indices_than_values():
    with pytest.raises(ValueError, match=r"^Dimensions 2 and 1 are not compatible$"):
        tfr.parse_example([example(i=[3, 1], v=[1])], {"s": Sparse("i", "v", "int64", 10)})


INT, FLOAT, BYTES = Fixed([2], "int64"), Fixed([2], "float32"), Fixed([2], "bytes")
SINGLE = [
    (INT, example(), "Feature: a (data type: int64) is required but could not be found."),
    (FLOAT, example(a=None), "Feature: a (data type: float) is required but could not be found."),
    (INT, example(a=[1.5]), "Key: a.  Data types don't match. Data type: float but expected type: int64"),
    (
        Sequence([], "int64", True),
        example(a=[b"x"]),
        "Key: a.  Data types don't match. Data type: string but expected type: int64",
    ),
    (
        Var("int64"),
        example(a=[1.5]),
        "Key: a.  Data types don't match. Expected type: int64, Actual type: float",
    ),
    (
        Ragged("bytes"),
        example(a=[]),
        "Key: a.  Data types don't match. Expected type: string, Actual type: int64",
    ),
    (INT, example(a=[1]), "Key: a.  Can't parse serialized Example: Some int64_list slice was not parsed."),
    (
        FLOAT,
        example(a=[1.0]),
        "Key: a.  Can't parse serialized Example: Some float_list slice was not parsed.",
    ),
    (
        BYTES,
        example(a=[b"x"]),
        "Key: a.  Can't parse serialized Example: Some bytes_list slice was not parsed.",
    ),
    (BYTES, example(a=[b"x"] * 3), "Key: a.  Can't parse serialized Example: Parsing bytes_list failed."),
    (
        Sequence([2], "int64", True),
        example(a=[1, 2, 3]),
        "Error while parsing feature with key a: number of elements should be divisible by 2, found 3 instead",
    ),
    (INT, b"x", "Could not parse example input, value: 'x'"),
]


@pytest.mark.parametrize("policy", POLICIES, ids=["tfrkit", "tensorflow"])
@pytest.mark.parametrize(("feature", "record", "text"), SINGLE, ids=range(len(SINGLE)))
def test_errors_of_one_example(policy, feature, record, text):
    for parse in (tfr.parse_example, tfr.parse_single_example):
        with pytest.raises(InvalidArgumentError) as caught:
            parse(record, {"a": feature}, policy=policy)
        assert caught.value.message == text


AT = "Name: <unknown>, Key: a, Index: 1.  "
BATCH = [
    (INT, example(), "Name: <unknown>, Feature: a (data type: int64) is required but could not be found."),
    (INT, example(a=[1.5]), AT + "Data types don't match. Data type: float but expected type: int64"),
    (Var("int64"), example(a=[1.5]), AT + "Data types don't match. Expected type: int64, Actual type: float"),
    (INT, example(a=[1]), AT + "Number of int64 values != expected.  Values size: 1 but output shape: [2]"),
    (
        Fixed([1, 2], "float32"),
        example(a=[1.0] * 3),
        AT + "Number of float values != expected.  Values size: 3 but output shape: [1,2]",
    ),
    (
        BYTES,
        example(a=[b"x"]),
        AT + "Number of bytes values != expected.  Values size: 1 but output shape: [2]",
    ),
    (BYTES, example(a=[b"x"] * 3), AT + "Can't parse serialized Example."),
    (
        Sequence([2], "int64", True),
        example(a=[1, 2, 3]),
        AT
        + "Number of int64 values is not a multiple of stride length. Saw 3 values but output shape is: [?,2]",
    ),
    (INT, b"x", "Could not parse example input, value: 'x'"),
]


@pytest.mark.parametrize("policy", POLICIES, ids=["tfrkit", "tensorflow"])
@pytest.mark.parametrize(("feature", "record", "text"), BATCH, ids=range(len(BATCH)))
def test_errors_of_a_batch(policy, feature, record, text):
    good = {"int64": [1, 2], "float32": [1.0, 2.0], "bytes": [b"x", b"y"]}[feature.dtype]
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_example([example(a=good), record, record], {"a": feature}, policy=policy)
    assert caught.value.message == text
    assert caught.value.__notes__[0] == "It is example 1 of 3, counted from 0."


def test_tensorflow_counts_what_its_worker_has_seen():
    records = [example(a=[1, 2])] * 19 + [example(a=[1, 2, 3])] + [example()] * 20
    spec = {"a": Sequence([2], "int64", True)}
    with pytest.raises(InvalidArgumentError, match=r"Index: 19.*Saw 11 values"):
        tfr.parse_example(records, spec, policy=tfr.TENSORFLOW)
    with pytest.raises(InvalidArgumentError, match=r"Index: 19.*Saw 3 values"):
        tfr.parse_example(records, spec)


def test_of_several_missing_features_the_first_by_name_is_told():
    spec = {"b": Fixed([], "int64"), "a": Fixed([], "float32"), "c": Fixed([], "int64", 1)}
    for serialized, name in ((example(), ""), ([example()], "Name: <unknown>, ")):
        with pytest.raises(InvalidArgumentError) as caught:
            tfr.parse_example(serialized, spec)
        assert (
            caught.value.message == f"{name}Feature: a (data type: float) is required but could not be found."
        )
    with pytest.raises(InvalidArgumentError, match=r"^Feature: a "):
        tfr.parse_single_example(example(), spec)


def test_damaged_examples_are_shown_up_to_a_kilobyte():
    spec = {"a": Fixed([], "int64")}
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_example([b"\xff\xfe"], spec)
    assert caught.value.message == "Could not parse example input, value: '\\xff\\xfe'"
    with pytest.raises(InvalidArgumentError) as caught:
        tfr.parse_single_example(b"x" * 4999, spec)
    assert caught.value.message == f"Could not parse example input, value: '{'x' * 1024}... (4999 bytes)'"


def test_only_the_requested_features_are_looked_at():
    damaged = example(a=[1]) + b"\x0a\x09\x0a\x07\x0a\x01b\x12\x02\x1a\x7f"
    assert tfr.parse_example([damaged], {"a": Fixed([], "int64")})["a"].tolist() == [1]


def test_wire_dialects_differ():
    # One Feature with two int64_lists: protobuf merges them, TensorFlow takes the first.
    feature = bytes.fromhex("1a030a0101") + bytes.fromhex("1a030a0102")
    entry = b"\x0a\x01a\x12" + bytes([len(feature)]) + feature
    features = b"\x0a" + bytes([len(entry)]) + entry
    record = b"\x0a" + bytes([len(features)]) + features
    spec = {"a": Var("int64")}
    assert tfr.parse_single_example(record, spec)["a"].tolist() == [1, 2]
    assert tfr.parse_single_example(record, spec, policy=tfr.TENSORFLOW)["a"].tolist() == [1]
    assert tfr.parse_example([record], spec)["a"].to_list() == [[1, 2]]
    assert tfr.parse_example([record], spec, policy=tfr.TENSORFLOW)["a"].to_list() == [[1]]


@pytest.mark.parametrize("threads", [1, 2, None])
def test_many_examples_on_several_threads(threads):
    records = [example(a=[number], v=[b"%d" % number] * (number % 3) or None) for number in range(20_000)]
    batch = tfr.parse_example(records, {"v": Var("bytes"), "a": Fixed([], "int64")}, threads=threads)
    assert np.array_equal(batch["a"], np.arange(20_000))
    assert batch["v"][19_999].to_list() == [b"19999"]
    assert batch["v"].row_lengths().sum() == sum(number % 3 for number in range(20_000))


def test_threads_are_positive():
    with pytest.raises(ValueError, match=r"^expected threads to be positive or None but got 0$"):
        tfr.parse_example([], {"a": Var("int64")}, threads=0)


def test_columns_outlive_their_input():
    block = tfr.Block.from_records([example(a=[b"hello"])])
    column = tfr.parse_example(block, {"a": Fixed([], "bytes")})["a"]
    del block
    assert column.to_list() == [b"hello"]


def test_keys_may_be_bytes():
    records = [example(a=[1], v=[2, 3], s=[0, 1])]
    for spec in (
        {"a": Fixed([], "int64")},
        {"v": Var("int64"), "a": Fixed([1], "int64"), "r": Ragged("int64", "s"), "s": Ragged("int64")},
    ):
        named = {key.encode(): feature for key, feature in spec.items()}
        for data, parse in ((records, tfr.parse_example), (records[0], tfr.parse_single_example)):
            expected = parse(data, spec)
            result = parse(data, named)
            assert list(result) == list(named)
            assert [plain(value) for value in result.values()] == [
                plain(value) for value in expected.values()
            ]


@pytest.mark.parametrize("spec", [{b"a": Var("int64"), "b": Var("int64")}, {5: Var("int64")}])
def test_other_keys_are_refused(spec):
    with pytest.raises(TypeError):
        tfr.parse_example([b""], spec)


def test_keys_in_bytes_are_named_as_text():
    with pytest.raises(InvalidArgumentError, match="Feature: a \\(data type: int64\\) is required"):
        tfr.parse_single_example(b"", {b"a": Fixed([], "int64")})
    with pytest.raises(ValueError, match="can't decode byte 0xff"):
        tfr.parse_single_example(b"", {b"\xff": Var("int64")})


@pytest.mark.parametrize("spec", [5, [("a", Var("int64"))], "a"])
def test_what_is_no_spec_is_refused(spec):
    for call in (
        lambda: tfr.parse_example([b""], spec),
        lambda: tfr.parse_single_example(b"", spec),
        lambda: tfr.parse_sequence_example([b""], None, spec),
        lambda: tfr.parse_single_sequence_example(b"", spec),
    ):
        with pytest.raises(
            TypeError, match=f"expected a dict of names and features but got {type(spec).__name__}"
        ):
            call()
