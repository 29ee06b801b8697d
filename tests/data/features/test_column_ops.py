"""select, rename, cast, decode_raw: the same on columns, on single elements and on batches; errors in their place."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.runs_node import RunsNode, pull_all
from tests.data.support.same import same
from tfrkit.data.elements.chunk import ColumnChunk, ObjectChunk
from tfrkit.data.elements.columns import Padded, RowList
from tfrkit.data.elements.origin import Origin
from tfrkit.data.engine.node import Context
from tfrkit.data.features.column_ops import CastOp, ColumnsNode, RenameOp, SelectOp, apply_op
from tfrkit.data.features.decode_raw import DecodeRawOp
from tfrkit.errors import InvalidArgumentError, UnimplementedError
from tfrkit.model.element_spec import RaggedTensorSpec, SparseTensorSpec, TensorSpec

RAGGED = tfr.Ragged.from_list([[1, 2], [], [300]])
COLUMNS = {
    "x": np.array([1.5, -2.5, 300.0], np.float32),
    "ids": RAGGED,
    "steps": Padded(RAGGED, 7),
    "sparse": tfr.Sparse([[0, 1], [2, 0]], np.array([5, 6]), [3, 2]),
    "raw": tfr.BytesColumn.from_list([b"\1\0\2\0", b"\3\0\4\0", b"\5\0\6\0"]),
    "n": np.array([2, 2, 2]),
    "rows": RowList([np.array([1.5]), np.array([2.5, 3.5]), np.array([])]),
}
SPECS = {
    "x": TensorSpec([], "float32"),
    "ids": RaggedTensorSpec([None], "int64", 0),
    "sparse": SparseTensorSpec([2], "int64"),
    "raw": TensorSpec([], "string"),
    "n": TensorSpec([], "int64"),
}
OPS = [
    SelectOp(("n", "x")),
    RenameOp({"x": "y"}),
    CastOp({"x": np.dtype("int32"), "ids": np.dtype("uint8"), "sparse": np.dtype("float64")}),
    CastOp({"steps": np.dtype("float32"), "rows": np.dtype("int8"), "raw": np.dtype(object)}),
    DecodeRawOp("raw", np.dtype("int16"), None, True),
    DecodeRawOp("raw", np.dtype("int16"), ("n",), False),
    DecodeRawOp("raw", np.dtype("uint8"), (-1, "n"), True),
]


def chunk(**more):
    return ColumnChunk({**COLUMNS, **more}, 3)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.label)
def test_columns_and_elements_give_the_same(op):
    whole, error = apply_op(op, chunk())
    singles, other = apply_op(op, ObjectChunk(chunk().objects()))
    assert error is None
    assert other is None
    assert isinstance(whole, ColumnChunk)
    assert same(whole.objects(), singles.objects())


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.label)
def test_a_batch_is_a_batch_of_the_results(op):
    columns = {key: column for key, column in COLUMNS.items() if key != "rows"}
    if isinstance(op, CastOp) and "rows" in op.dtypes:
        op = CastOp({"steps": np.dtype("float32")})
    before, error = apply_op(op, ObjectChunk([ColumnChunk(columns, 3).batch()]))
    after, _ = apply_op(op, ColumnChunk(columns, 3))
    assert error is None
    assert same(before.objects()[0], after.batch())


def test_select_keeps_the_order_of_the_keys_and_the_origin():
    origin = Origin(("f",), np.zeros(3, np.int32), np.arange(3))
    made, _ = apply_op(SelectOp(("n", "x")), ColumnChunk(COLUMNS, 3, origin))
    assert list(made.columns) == ["n", "x"]
    assert made.columns["x"] is COLUMNS["x"]
    assert made.origin is origin


def test_rename_keeps_places():
    made, _ = apply_op(RenameOp({"x": "n", "n": "x"}), ColumnChunk({"x": COLUMNS["x"], "n": COLUMNS["n"]}, 3))
    assert list(made.columns) == ["n", "x"]
    _, error = apply_op(RenameOp({"x": "n"}), chunk())
    assert isinstance(error, InvalidArgumentError)
    assert str(error) == "rename({'x': 'n'}): expected every name once but 'n' would be two features"


def test_a_missing_feature_is_an_error_for_every_element():
    made, error = apply_op(SelectOp(("x", "gone")), chunk())
    assert len(made) == 0
    assert str(error) == (
        "select('x', 'gone'): there is no feature 'gone'. There are "
        "'x', 'ids', 'steps', 'sparse', 'raw', 'n', 'rows'."
    )


def test_a_missing_feature_is_found_when_the_verb_is_called():
    source = RunsNode((), SPECS)
    for op in (SelectOp(("gone",)), RenameOp({"gone": "x"}), CastOp({"gone": np.dtype("int8")})):
        with pytest.raises(InvalidArgumentError, match="there is no feature 'gone'"):
            ColumnsNode(source, op)
    with pytest.raises(InvalidArgumentError, match="there is no feature 'h'"):
        ColumnsNode(source, DecodeRawOp("raw", np.dtype("uint8"), ("h", 3), True))
    with pytest.raises(
        TypeError, match=r"^select\('x'\): expected elements that are dicts of features but got"
    ):
        ColumnsNode(RunsNode(()), SelectOp(("x",)))


def test_cast_of_strings_is_tensorflows_error():
    for op, text in (
        (CastOp({"raw": np.dtype("int64")}), "Cast string to int64 is not supported"),
        (CastOp({"x": np.dtype(object)}), "Cast float to string is not supported"),
    ):
        _, error = apply_op(op, chunk())
        assert isinstance(error, UnimplementedError)
        assert str(error) == text


def test_cast_of_what_does_not_fit():
    values = np.array([np.nan, 1e30, -1.9], np.float32)
    made, _ = apply_op(CastOp({"x": np.dtype("int32")}), chunk(x=values))
    assert made.columns["x"].tolist() == [-(2**31), -(2**31), -1]
    made, _ = apply_op(CastOp({"x": np.dtype("float32")}), chunk(x=np.array([1 + 2j, 3j, 0])))
    assert made.columns["x"].tolist() == [1, 0, 0]


def test_the_padding_is_cast_too():
    made, _ = apply_op(CastOp({"steps": np.dtype("float32")}), ColumnChunk({"steps": COLUMNS["steps"]}, 3))
    assert same(made.batch()["steps"], np.array([[1, 2], [7, 7], [300, 7]], np.float32))


def test_decode_raw_in_one_step():
    made, _ = apply_op(DecodeRawOp("raw", np.dtype("int16"), (1, "n"), True), chunk())
    assert made.columns["raw"].tolist() == [[[1, 2]], [[3, 4]], [[5, 6]]]


def test_decode_raw_with_a_feature_that_is_the_shape():
    for shape in (np.array([[2, 1]] * 3), tfr.Ragged.from_list([[2, 1]] * 3)):
        made, _ = apply_op(DecodeRawOp("raw", np.dtype("int16"), "shape", True), chunk(shape=shape))
        assert made.columns["raw"].tolist() == [[[1], [2]], [[3], [4]], [[5], [6]]]


def test_decode_raw_of_different_shapes_gives_rows():
    raw = tfr.BytesColumn.from_list([b"abcd", b"ab", b""])
    op = DecodeRawOp("raw", np.dtype("uint8"), ("n", -1), True)
    made, error = apply_op(op, ColumnChunk({"ids": RAGGED, "raw": raw, "n": np.array([2, 1, 0])}, 3))
    assert made.objects()[1]["raw"].tolist() == [[97, 98]]
    assert str(error).startswith("Input to reshape is a tensor with 0 values")
    op = DecodeRawOp("raw", np.dtype("uint8"), None, True)
    made, error = apply_op(op, ColumnChunk({"ids": RAGGED, "raw": raw}, 3))
    assert error is None
    assert [row["raw"].shape for row in made.objects()] == [(4,), (2,), (0,)]
    with pytest.raises(
        InvalidArgumentError,
        match=r"different shapes in component 1. First element had shape \[4\] and element 1 had shape \[2\].",
    ):
        made.batch()
    assert same(made.slice(1, 2).batch(), {"ids": RAGGED[1:2], "raw": np.array([[97, 98]], np.uint8)})


def test_decode_raw_fails_in_its_place_and_goes_on():
    raw = tfr.BytesColumn.from_list([b"ab", b"abc", b"abcd"])
    node = RunsNode((ColumnChunk({"raw": raw}, 3),), {"raw": SPECS["raw"]})
    first, error, last = pull_all(ColumnsNode(node, DecodeRawOp("raw", np.dtype("int16"), None, True)))
    assert (first["raw"].tolist(), last["raw"].tolist()) == ([25185], [25185, 25699])
    assert isinstance(error, InvalidArgumentError)
    assert str(error) == "Input to DecodeRaw has length 3 that is not a multiple of 2, the size of int16"
    assert error.__notes__[0].startswith("It came up in decode_raw(")


def test_decode_raw_of_a_batch_wants_one_length():
    batch = {"raw": tfr.BytesColumn.from_list([b"ab", b"abcd"])}
    _, error = apply_op(DecodeRawOp("raw", np.dtype("uint8"), None, True), ObjectChunk([batch]))
    assert str(error) == (
        "DecodeRaw requires input strings to all be the same size, but element 1 has size 2 != 4"
    )
    batch = {"raw": tfr.BytesColumn.from_list([b"ab", b"cd"]), "n": np.array([1, 2])}
    _, error = apply_op(DecodeRawOp("raw", np.dtype("uint8"), ("n", -1), True), ObjectChunk([batch]))
    assert str(error).startswith("expected one shape for all byte strings of a batch but 'n' holds [1, 2]")


def test_decode_raw_of_what_is_not_bytes():
    _, error = apply_op(DecodeRawOp("x", np.dtype("uint8"), None, True), chunk())
    assert isinstance(error, TypeError)
    assert str(error).startswith("expected bytes under 'x' but got")
    _, error = apply_op(DecodeRawOp("raw", np.dtype("uint8"), ("x",), True), chunk())
    assert str(error).startswith("expected integers under 'x', which is to be a shape, but got")


def test_other_elements_are_refused():
    node = ColumnsNode(RunsNode((ObjectChunk([{"x": 1}, (1, 2), {"x": 2}]),), SPECS), SelectOp(("x",)))
    first, error, last = pull_all(node, 2)
    assert (first, last) == ({"x": 1}, {"x": 2})
    assert str(error) == "select('x'): expected elements that are dicts of features but got tuple"


def test_element_specs():
    source = RunsNode((), SPECS)
    cast = CastOp({"ids": np.dtype("int8"), "sparse": np.dtype("float32"), "x": np.dtype(bool)})
    assert ColumnsNode(source, cast).element_spec() == {
        **SPECS,
        "ids": RaggedTensorSpec([None], "int8", 0),
        "sparse": SparseTensorSpec([2], "float32"),
        "x": TensorSpec([], "bool"),
    }
    for shape, expected in (
        (None, [None]),
        ((2, "n", -1), [2, None, None]),
        ("n", None),
    ):
        node = ColumnsNode(source, DecodeRawOp("raw", np.dtype("uint8"), shape, True))
        assert node.element_spec()["raw"] == TensorSpec(expected, "uint8")
    assert list(ColumnsNode(source, RenameOp({"x": "y"})).element_spec()) == [
        "y",
        "ids",
        "sparse",
        "raw",
        "n",
    ]


def test_state_is_that_of_the_input():
    node = ColumnsNode(RunsNode((chunk(), chunk()), SPECS), SelectOp(("x",)))
    iterator = node.begin(Context())
    iterator.pull(4)
    rest = node.begin(Context(), iterator.save())
    assert [each["x"] for each in rest.pull(9).chunk.objects()] == [1.5, -2.5, 300.0]
