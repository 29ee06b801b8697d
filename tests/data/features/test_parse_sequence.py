"""parse_sequence: rows are what each record alone gives, and a batch is what parse_sequence_example gives."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.data.features.test_parse import POLICIES, as_batch, as_records, outcome, shown
from tests.data.support.example_cases import any_sequences
from tests.data.support.runs_node import RunsNode, pull_all
from tests.data.support.same import same
from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.features.parse import ParseSequenceNode
from tfrkit.model.element_spec import RaggedTensorSpec, TensorSpec

CONTEXT = {"n": tfr.FixedLenFeature([], "int64")}
LISTS = {"t": tfr.FixedLenSequenceFeature([], "int64"), "w": tfr.VarLenFeature("bytes")}


def record(number, *steps):
    lists = {"t": [[step] for step in steps], "w": [[b"x"] * step for step in steps]}
    return tfr.make_sequence_example({"n": number}, lists).SerializeToString()


@settings(max_examples=300, deadline=None)
@given(any_sequences(), st.sampled_from(POLICIES), st.integers(1, 7))
def test_rows_are_those_of_parse_single_sequence_example(case, policy, n):
    context, lists, records = case

    def alone(each):
        return outcome(lambda: tfr.parse_single_sequence_example(each, context, lists, policy=policy))

    node = ParseSequenceNode(RunsNode((as_records(records),)), context, lists, policy)
    found, expected = pull_all(node, n), [alone(each) for each in records]
    assert [type(each) for each in found] == [type(each) for each in expected]
    assert same(shown(found), shown(expected))


@settings(max_examples=200, deadline=None)
@given(any_sequences(), st.integers(1, 7))
def test_a_batch_of_parsed_records_is_a_parsed_batch(case, n):
    context, lists, records = case
    cut = {key for spec in (context, lists) for key in spec if getattr(spec[key], "partitions", ())}
    context = {key: feature for key, feature in context.items() if key not in cut}
    lists = {key: feature for key, feature in lists.items() if key not in cut}
    if not context and not lists:
        return
    alone = [
        outcome(lambda one=one: tfr.parse_single_sequence_example(one, context, lists)) for one in records
    ]
    good = [one for one, made in zip(records, alone, strict=True) if not isinstance(made, Exception)]
    if not good:
        return
    made = as_batch(ParseSequenceNode(RunsNode((as_records(good),)), context, lists, tfr.TFRKIT), n)
    assert same(made, tfr.parse_sequence_example(good, context, lists)[:2])


def test_a_failing_record_is_an_error_in_its_place():
    records = as_records([record(0, 1), b"\xff", record(2, 1, 2)])
    first, error, last = pull_all(ParseSequenceNode(RunsNode((records,)), CONTEXT, LISTS, tfr.TFRKIT))
    assert (first[0]["n"], last[0]["n"]) == (0, 2)
    assert str(error).startswith("Invalid protocol message input, example id: <unknown>")


def test_batches_also_give_the_lengths():
    batch = tfr.BytesColumn.from_list([record(0, 1), record(1)])
    (found,) = pull_all(ParseSequenceNode(RunsNode((ObjectChunk([batch]),)), CONTEXT, LISTS, tfr.TFRKIT))
    assert same(found, tfr.parse_sequence_example(batch, CONTEXT, LISTS))
    assert found[2]["t"].tolist() == [1, 0]


def test_no_spec_is_refused_at_once():
    with pytest.raises(ValueError, match=r"^Both context_features and sequence_features are None"):
        ParseSequenceNode(RunsNode(()), None, {}, tfr.TFRKIT)


def test_element_spec():
    one = ParseSequenceNode(RunsNode(()), CONTEXT, LISTS, tfr.TFRKIT).element_spec()
    assert one == (
        {"n": TensorSpec([], "int64")},
        {"t": TensorSpec([None], "int64"), "w": RaggedTensorSpec([None, None], "string", 1)},
    )
    many = ParseSequenceNode(RunsNode((), TensorSpec([None], "string")), CONTEXT, LISTS, tfr.TFRKIT)
    context, lists, lengths = many.element_spec()
    assert context == {"n": TensorSpec([None], "int64")}
    assert lists["w"] == RaggedTensorSpec([None, None, None], "string", 2)
    assert lengths == {"t": TensorSpec([None], "int64")}
