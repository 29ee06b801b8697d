"""parse: a run of records gives, row by row, what each record alone gives, and as a batch what parse_example gives."""

from __future__ import annotations

import json

import numpy as np
import pytest
from google.protobuf import timestamp_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.data.support.example_cases import any_examples
from tests.data.support.runs_node import RunsNode, pull_all
from tests.data.support.same import same
from tfrkit.data.elements.chunk import ColumnChunk, ObjectChunk, RecordChunk, concat
from tfrkit.data.engine.node import Context
from tfrkit.data.features.parse import ParseNode
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.element_spec import RaggedTensorSpec, SparseTensorSpec, TensorSpec

POLICIES = [tfr.TFRKIT, tfr.TENSORFLOW]
SPEC = {"a": tfr.FixedLenFeature([], "int64"), "b": tfr.VarLenFeature("bytes")}


def record(number, *names):
    return tfr.make_example({"a": number, "b": list(names)}).SerializeToString()


def as_records(records, cut=None):
    """Records of two blocks, in an order that is not theirs."""
    cut = len(records) // 2 if cut is None else cut
    blocks = [Block.from_records(records[cut:]), Block.from_records(records[:cut])]
    which = np.array([1] * cut + [0] * (len(records) - cut), np.int64)
    rows = np.array([*range(cut), *range(len(records) - cut)], np.int64)
    return RecordChunk(blocks, which, rows)


def outcome(function):
    try:
        return function()
    except Exception as error:
        return error


def shown(outcomes):
    return [str(each) if isinstance(each, Exception) else each for each in outcomes]


def as_batch(node, n=1 << 30):
    """All that a node gives, as one batch."""
    iterator = node.begin(Context())
    chunks = []
    while (run := iterator.pull(n)) is not None:
        assert run.error is None
        chunks.append(run.chunk)
    return concat(chunks).batch()


@settings(max_examples=300, deadline=None)
@given(any_examples(), st.sampled_from(POLICIES), st.integers(1, 7))
def test_rows_are_those_of_parse_single_example(case, policy, n):
    spec, records = case
    expected = [
        outcome(lambda each=each: tfr.parse_single_example(each, spec, policy=policy)) for each in records
    ]
    node = ParseNode(RunsNode((as_records(records),)), spec, policy)
    found = pull_all(node, n)
    assert [type(each) for each in found] == [type(each) for each in expected]
    assert same(shown(found), shown(expected))


@settings(max_examples=300, deadline=None)
@given(any_examples(), st.integers(1, 7))
def test_a_batch_of_parsed_records_is_a_parsed_batch(case, n):
    spec, records = case
    each = [outcome(lambda one=one: tfr.parse_single_example(one, spec)) for one in records]
    good = [one for one, made in zip(records, each, strict=True) if not isinstance(made, Exception)]
    whole = outcome(lambda: tfr.parse_example(good, spec))
    # Borders that do not fit an example's values reach into the next one in a batch, as in TensorFlow.
    cut = {key for key, feature in spec.items() if getattr(feature, "partitions", ())}
    if not good or isinstance(whole, Exception):
        return
    made = as_batch(ParseNode(RunsNode((as_records(good),)), spec, tfr.TFRKIT), n)
    assert list(made) == list(whole)
    assert all(same(made[key], whole[key]) for key in spec if key not in cut)
    rows = [{key: one[key] for key in cut} for one in each if not isinstance(one, Exception)]
    assert all(same(list(made[key]), [row[key] for row in rows]) for key in cut)


@pytest.mark.parametrize("default", [float("nan"), 0.0, -1.5])
def test_sequences_of_any_default_are_padded_whatever_comes_together(default):
    spec = {"a": tfr.FixedLenSequenceFeature([], "float32", allow_missing=True, default_value=default)}
    records = [
        tfr.make_example({"a": tfr.float_list_feature(v)}).SerializeToString() for v in ([], [], [7.0])
    ]
    made = as_batch(ParseNode(RunsNode((as_records(records),)), spec, tfr.TFRKIT), 1)
    assert same(made, tfr.parse_example(records, spec))


@pytest.mark.parametrize("kind", ["RowSplits", "RowLengths", "RowStarts", "RowLimits", "ValueRowIds"])
def test_partitions_that_fit_are_cut_in_a_batch(kind):
    borders = {
        "RowSplits": ([0, 1, 3], [0, 0]),
        "RowLengths": ([1, 2], [0]),
        "RowStarts": ([0, 1], [0]),
        "RowLimits": ([1, 3], [0]),
        "ValueRowIds": ([0, 1, 1], []),
    }[kind]
    spec = {"v": tfr.RaggedFeature("int64", partitions=[getattr(tfr.RaggedFeature, kind)("p")])}
    records = [
        tfr.make_example({"v": tfr.int64_list_feature(v), "p": tfr.int64_list_feature(p)}).SerializeToString()
        for v, p in zip(([7, 8, 9], []), borders, strict=True)
    ]
    made = as_batch(ParseNode(RunsNode((as_records(records),)), spec, tfr.TFRKIT))
    assert same(made, tfr.parse_example(records, spec))


def test_a_failing_record_says_where_it_stands_and_the_next_follows(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([record(0), record(1), b"\xff", record(3)])
    (block,) = tfr.read_blocks(path)
    mixed = RecordChunk([block], None, np.array([3, 2, 0, 1]))
    first, error, *others = pull_all(ParseNode(RunsNode((mixed,)), SPEC, tfr.TFRKIT))
    assert first["a"] == 3
    assert [each["a"] for each in others] == [0, 1]
    assert isinstance(error, InvalidArgumentError)
    assert str(error).startswith("Could not parse example input, value: ")
    assert (error.path, error.record, error.offset) == (str(path), 2, block.place(2)[1])
    assert not getattr(error, "__notes__", [])


def test_errors_of_the_input_keep_their_place():
    told = OSError("gone")
    node = RunsNode((as_records([record(0), record(1)]), told, as_records([record(2)])))
    found = pull_all(ParseNode(node, SPEC, tfr.TFRKIT), 2)
    assert [each if each is told else each["a"] for each in found] == [0, 1, told, 2]


def test_records_of_any_form_become_columns():
    records = [record(0, b"x"), record(1)]
    for chunk in (
        ObjectChunk(records),
        ColumnChunk(tfr.BytesColumn.from_list(records), 2),
        ColumnChunk(RecordChunk([Block.from_records(records)]).batch(), 2),
    ):
        iterator = ParseNode(RunsNode((chunk,)), SPEC, tfr.TFRKIT).begin(Context())
        run = iterator.pull(10)
        assert isinstance(run.chunk, ColumnChunk)
        assert same(run.chunk.batch(), {**tfr.parse_example(records, SPEC)})


def test_columns_may_be_written_to():
    spec = {**SPEC, "n": tfr.VarLenFeature("int64"), "x": tfr.FixedLenFeature([2], "float32", [0.0, 1.0])}
    run = ParseNode(RunsNode((as_records([record(0)]),)), spec, tfr.TFRKIT).begin(Context()).pull(1)
    columns = run.chunk.columns
    arrays = [
        columns["a"],
        columns["n"].values,
        columns["n"].row_splits,
        columns["b"].row_splits,
        columns["x"],
    ]
    assert all(array.flags.writeable for array in arrays)
    assert tfr.parse_example([record(0)], spec)["a"].flags.writeable


def test_batches_are_parsed_as_batches():
    records = [record(0, b"x"), record(1)]
    batches = [
        RecordChunk([Block.from_records(records)]).batch(),
        tfr.BytesColumn.from_list(records),
        np.array(records, object),
    ]
    found = pull_all(ParseNode(RunsNode((ObjectChunk(batches),)), SPEC, tfr.TFRKIT))
    assert all(same(each, tfr.parse_example(records, SPEC)) for each in found)


def test_a_failing_batch_is_one_error():
    good, bad = tfr.BytesColumn.from_list([record(0)]), tfr.BytesColumn.from_list([record(1), b"\xff"])
    found = pull_all(ParseNode(RunsNode((ObjectChunk([good, bad, good]),)), SPEC, tfr.TFRKIT))
    assert [type(each).__name__ for each in found] == ["dict", "InvalidArgumentError", "dict"]
    assert found[1].__notes__ == ["It is example 1 of 2, counted from 0."]


def test_other_elements_are_refused():
    node = ParseNode(RunsNode((ObjectChunk([{"a": 1}, (b"x", 1)]),)), SPEC, tfr.TFRKIT)
    for error in pull_all(node):
        assert isinstance(error, TypeError)
        assert str(error).startswith("expected records (bytes) or batches of them to parse but got ")


def test_a_wrong_spec_is_refused_at_once():
    with pytest.raises(ValueError, match=r"^Missing type for feature a"):
        ParseNode(RunsNode(()), {"a": tfr.VarLenFeature(None)}, tfr.TFRKIT)
    with pytest.raises(ValueError, match=r"^Argument `features` cannot be None or falsy"):
        ParseNode(RunsNode(()), {}, tfr.TFRKIT)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_state_continues_after_every_run(n):
    records = [record(0), b"\xff", record(2, b"x"), b"\xff", record(4), record(5)]
    node = ParseNode(RunsNode((as_records(records, 3), as_records(records))), SPEC, tfr.TFRKIT)
    whole = pull_all(node, n)
    iterator = node.begin(Context())
    seen = 0
    while True:
        state = json.loads(json.dumps(iterator.save()))
        resumed = node.begin(Context(), state)
        rest = []
        while (run := resumed.pull(n)) is not None:
            rest += [*run.chunk.objects(), *([run.error] if run.error else [])]
        assert same(shown(rest), shown(whole[seen:]))
        run = iterator.pull(n)
        if run is None:
            break
        seen += len(run.chunk) + (run.error is not None)


def test_origin_is_kept_if_somebody_asks():
    context = Context(origin=True)
    iterator = ParseNode(RunsNode((as_records([record(0), record(1)]),)), SPEC, tfr.TFRKIT).begin(context)
    assert iterator.pull(2).chunk.origin.records.tolist() == [0, 0]


def test_element_spec_of_records_and_of_batches():
    spec = {
        "fixed": tfr.FixedLenFeature([2], "float32"),
        "var": tfr.VarLenFeature("bytes"),
        "steps": tfr.FixedLenSequenceFeature([3], "int64", allow_missing=True),
        "sparse": tfr.SparseFeature("i", "v", "int64", 9),
        "cut": tfr.RaggedFeature("int64", partitions=[tfr.RaggedFeature.RowLengths("n")]),
        "even": tfr.RaggedFeature("int64", partitions=[tfr.RaggedFeature.UniformRowLength(2)]),
    }
    one = ParseNode(RunsNode(()), spec, tfr.TFRKIT).element_spec()
    assert one == {
        "fixed": TensorSpec([2], "float32"),
        "var": RaggedTensorSpec([None], "string", 0),
        "steps": TensorSpec([None, 3], "int64"),
        "sparse": SparseTensorSpec([9], "int64"),
        "cut": RaggedTensorSpec([None, None], "int64", 1, "int32"),
        "even": RaggedTensorSpec([None, 2], "int64", 0, "int32"),
    }
    many = ParseNode(RunsNode((), TensorSpec([8], "string")), spec, tfr.TFRKIT).element_spec()
    assert many == {key: each.batched(8) for key, each in one.items()}


OTHERS = [timestamp_pb2.Timestamp(seconds=1 << 40, nanos=1 << 20).SerializeToString()] * 9
LOOKS = "looks like a serialised protobuf message with fields 1, 2. Parse messages of other types with parse_proto."


def warned_of(dataset):
    with pytest.warns(UserWarning, match="is parsed as an Example") as warned:
        found = list(dataset)
    return found, [str(each.message) for each in warned]


def test_a_pipeline_warns_once_of_records_that_are_evidently_not_examples(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(OTHERS)
    spec = {"b": tfr.VarLenFeature("bytes")}
    for dataset in (
        tfr.TFRecordDataset(path).parse(spec),
        tfr.TFRecordDataset(path).parse_sequence(spec, None),
    ):
        found, texts = warned_of(dataset)
        assert len(found) == 9
        assert texts == [
            f"record 0 of {path!r} is parsed as an Example, but {LOOKS} inspect() shows what records are."
        ]
    found, texts = warned_of(tfr.TFRecordDataset(path).batch(2).parse(spec))
    assert len(found) == 5
    assert [LOOKS in text for text in texts] == [True]


def test_examples_and_what_may_be_one_are_parsed_without_a_warning():
    sequence = tfr.make_sequence_example({"a": 1}, {"steps": [[1.0], [2.0]]}).SerializeToString()
    for first in (record(1, "x"), b"", sequence, tfr.make_example({"other": [1] * 9}).SerializeToString()):
        dataset = tfr.Dataset.from_tensor_slices([first, *OTHERS])
        assert (
            len(list(dataset.parse({"b": tfr.VarLenFeature("bytes")}))) == 10
        )  # a warning would be an error


def test_an_error_says_what_a_record_looks_like():
    for data, look in ((b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image"), (b'{"a": 1, "b": 2}', "text")):
        with pytest.raises(InvalidArgumentError) as error:
            tfr.parse_example([record(1), data], SPEC)
        assert error.value.__notes__ == ["It is example 1 of 2, counted from 0.", f"It looks like {look}."]
