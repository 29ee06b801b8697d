"""Rewrites: a plan gives what the stages one by one give, errors and states included."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrkit as tfr
from tests.data.features.test_parse import shown
from tests.data.support.runs_node import RunsNode, pull_all
from tests.data.support.same import same
from tfrkit.data.batch.batch import FusedBatchNode
from tfrkit.data.batch.batch_iterators import BackgroundBatches
from tfrkit.data.dataset import Dataset
from tfrkit.data.elements.chunk import ObjectChunk, RecordChunk
from tfrkit.data.engine.node import Context
from tfrkit.data.engine.rewrites import optimise
from tfrkit.data.features.decode_raw import DecodeRawOp
from tfrkit.data.stages.prefetch import PrefetchNode
from tfrkit.model.block import Block

SPEC = {
    "a": tfr.FixedLenFeature([], "int64"),
    "ids": tfr.VarLenFeature("int64"),
    "raw": tfr.FixedLenFeature([], "bytes"),
    "steps": tfr.FixedLenSequenceFeature([], "float32", allow_missing=True),
}


def record(number, *, raw=b"abcd"):
    return tfr.make_example(
        {"a": number, "ids": list(range(number % 3 + 1)), "raw": raw, "steps": [0.5] * (number % 4 + 1)}
    ).SerializeToString()


GOOD = [record(number) for number in range(12)]
KINDS = {"good": None, "damaged": b"\xff", "odd": record(5, raw=b"abc"), "long": record(6, raw=b"abcdefgh")}


@st.composite
def sources(draw):
    """Runs of records, a few of which fail in parse or in decode_raw, and errors between them."""
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        kinds = draw(st.lists(st.sampled_from(["good"] * 6 + ["damaged", "odd", "long"]), max_size=9))
        records = [KINDS[kind] or GOOD[place] for place, kind in enumerate(kinds)]
        if records:
            parts.append(
                draw(st.sampled_from([RecordChunk([Block.from_records(records)]), ObjectChunk(records)]))
            )
        if draw(st.integers(0, 3)) == 0:
            parts.append(OSError(f"told {len(parts)}"))
    return RunsNode(tuple(parts))


VERBS = {
    "select": lambda ds: ds.select("ids", "a", "raw"),
    "cast": lambda ds: ds.cast(a="int32"),
    "decode": lambda ds: ds.decode_raw("raw", "uint16"),
    "rename": lambda ds: ds.rename(a="b").rename(b="a"),
}


@st.composite
def pipelines(draw):
    """A source, stages, a batch, stages, perhaps a prefetch."""
    ds = Dataset(draw(sources()))
    size, drop = draw(st.integers(1, 4)), draw(st.booleans())
    early = draw(st.booleans())
    if early:
        ds = ds.parse(SPEC)
        for verb in draw(st.lists(st.sampled_from(sorted(VERBS)), max_size=2)):
            if verb != "decode" or not isinstance(getattr(ds.node, "op", None), DecodeRawOp):
                ds = VERBS[verb](ds)
    verb = draw(st.sampled_from(["batch", "padded_batch", "ragged_batch"])) if early else "batch"
    ds = getattr(ds, verb)(size, drop_remainder=drop)
    if not early:
        ds = ds.parse(SPEC)
    for verb in draw(st.lists(st.sampled_from(["select", "cast", "rename"]), max_size=1)):
        ds = VERBS[verb](ds)
    prefetch = draw(st.sampled_from([None, None, 1, 3, -1]))
    return ds if prefetch is None else ds.prefetch(prefetch)


@settings(max_examples=250, deadline=None)
@given(pipelines(), st.integers(1, 3))
def test_a_plan_gives_the_same_as_its_stages(ds, threads):
    expected = pull_all(ds.node, 1)
    found = pull_all(optimise(ds.node), 1, Context(threads=threads))
    assert [type(each) for each in found] == [type(each) for each in expected]
    assert same(shown(found), shown(expected))


def follow(node, state):
    iterator = node.begin(Context(threads=2), state)
    found = []
    while (run := iterator.pull(1)) is not None:
        found += [*run.chunk.objects(), *([run.error] if run.error else [])]
    iterator.close()
    return found


@settings(max_examples=80, deadline=None)
@given(pipelines(), st.integers(0, 5), st.booleans())
def test_a_state_is_good_with_and_without_the_plan(ds, seen, fused):
    plain, plan = ds.node, optimise(ds.node)
    expected = pull_all(plain, 1)
    iterator = (plan if fused else plain).begin(Context(threads=2))
    given = 0
    while given < seen and (run := iterator.pull(1)) is not None:
        given += len(run.chunk) + (run.error is not None)
    state = json.loads(json.dumps(iterator.save()))
    iterator.close()
    for node in (plain, plan):
        assert same(shown(follow(node, state)), shown(expected[given:]))


def kinds_of(node):
    return [type(node), *(kind for each in node.inputs for kind in kinds_of(each))]


def source():
    return Dataset(RunsNode((RecordChunk([Block.from_records(GOOD)]),)))


@pytest.mark.parametrize(
    ("ds", "label"),
    [
        (source().parse(SPEC).batch(4), "parse(4 features) + batch(4)"),
        (source().parse(SPEC).padded_batch(4), "parse(4 features) + padded_batch(4)"),
        (source().parse(SPEC).ragged_batch(4), "parse(4 features) + ragged_batch(4)"),
        (source().batch(4).parse(SPEC), "batch(4) + parse(4 features)"),
        (
            source().parse(SPEC).select("a").cast(a="int8").batch(2).rename(a="b"),
            "parse(4 features) + select('a') + cast(a=int8) + batch(2) + rename({'a': 'b'})",
        ),
    ],
)
def test_stages_round_a_batch_become_one(ds, label):
    plan = optimise(ds.node)
    assert kinds_of(plan) == [FusedBatchNode, RunsNode]
    assert plan.label == label
    assert plan.element_spec() == ds.element_spec
    assert plan.cardinality() == ds.node.cardinality()
    ahead = optimise(ds.prefetch(-1).node)
    assert kinds_of(ahead) == [FusedBatchNode, RunsNode]
    assert ahead.label == f"{label} + prefetch(AUTOTUNE)"


def test_what_a_user_could_notice_is_not_made_ahead():
    called = []
    ds = source().map(lambda each: called.append(1) or each).parse(SPEC).batch(2).prefetch(1)
    plan = optimise(ds.node)
    assert kinds_of(plan)[:2] == [PrefetchNode, FusedBatchNode]
    iterator = plan.inputs[0].begin(Context())
    assert not isinstance(iterator, BackgroundBatches)
    iterator.close()
    assert not called


def test_a_batch_is_made_without_the_plan_too():
    ds = source().batch(5)
    assert optimise(ds.node) is ds.node


def test_batches_in_threads_come_in_order_and_the_thread_ends_with_its_iterator():
    big = RecordChunk([Block.from_records([record(number) for number in range(500)])])
    node = optimise(Dataset(RunsNode((big,) * 20)).parse(SPEC).batch(16).prefetch(2).node)
    found = [int(each["a"][0]) for each in pull_all(node, 3, Context(threads=3))]
    expected = [
        int(each) for part in np.split(np.tile(np.arange(500), 20), range(16, 10000, 16)) for each in part[:1]
    ]
    assert found == expected
    iterator = node.begin(Context(threads=3))
    iterator.pull(1)
    iterator.close()
    assert iterator.pull(1) is None


@pytest.mark.parametrize("place", ["work", "taken"])
def test_an_interruption_of_the_consumer_leaves_no_batch_unmade(monkeypatch, place):
    interruptions = iter([KeyboardInterrupt()])
    original = getattr(BackgroundBatches, place)

    def interrupted(self, slot, *args):
        if slot.own and (error := next(interruptions, None)) is not None:
            raise error
        return original(self, slot, *args)

    ds = source().parse(SPEC).batch(4)
    expected = pull_all(ds.node, 1)
    monkeypatch.setattr(BackgroundBatches, place, interrupted)
    iterator = optimise(ds.node).begin(Context(threads=1))
    with pytest.raises(KeyboardInterrupt):
        iterator.pull(1)
    found = []
    while (run := iterator.pull(1)) is not None:
        found += run.chunk.objects()
    assert same(found, expected)
