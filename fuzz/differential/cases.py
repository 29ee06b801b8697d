"""Case number n of a seed: a spec and some records, always the same.

Neighbouring cases share their schema and spec, so that both libraries work out a spec once for some cases.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from fuzz.differential.content import Column, make_items, make_schema, make_steps
from fuzz.differential.encoding import Writer, mutate
from fuzz.differential.specs import Spec, make_sequence_specs, make_spec

CASES_PER_SPEC = 16


@dataclass(frozen=True)
class Case:
    """What is given to the parsers.

    Attributes:
        records: the bytes; exactly one if single.
        spec: of an Example, or of the context of a SequenceExample.
        lists: of the feature lists of a SequenceExample; None for an Example.
        single: by the function for one record.
    """

    records: tuple[bytes, ...]
    spec: Spec
    lists: Spec | None
    single: bool


@dataclass(frozen=True)
class Plan:
    """What the cases of one spec share."""

    schema: list[Column]
    steps: list[Column] | None
    spec: Spec
    lists: Spec | None


def make_plan(seed: int, number: int) -> Plan:
    """The schema and spec of case so-and-so."""
    rng = random.Random(f"spec {seed} {number // CASES_PER_SPEC}")
    if rng.random() < 0.7:
        schema = make_schema(rng)
        return Plan(schema, None, make_spec(rng, schema), None)
    context, steps = make_schema(rng, groups=False)[:2], make_schema(rng, groups=False)[:3]
    first, second = make_sequence_specs(rng, context, steps)
    return Plan(context, steps, first, second)


def make_case(seed: int, number: int, plan: Plan | None = None) -> Case:
    """Case so-and-so; the plan is `make_plan` of the same, if it is at hand."""
    plan = plan or make_plan(seed, number)
    rng = random.Random(f"case {seed} {number}")
    single = rng.random() < 0.4
    strictly = rng.random() < 0.6
    strangeness = rng.choice((0.0, 0.0, 0.0, 0.3, 0.6, 1.0))
    writer = Writer(rng, strangeness)
    count = 1 if single else rng.choice((0, 1, 1, 2, 3, 8)) if rng.random() < 0.5 else 1
    records = [_record(rng, plan, writer, strictly=strictly) for _ in range(count)]
    if records and rng.random() < 0.3:
        at = rng.randrange(count)
        records[at] = mutate(rng, records[at], rng.choice(records))
    elif records and rng.random() < strangeness * 0.1:
        records[0] += _record(rng, plan, writer, strictly=strictly)
    return Case(tuple(records), plan.spec, plan.lists, single)


def _record(rng: random.Random, plan: Plan, writer: Writer, *, strictly: bool) -> bytes:
    items = make_items(rng, plan.schema, strictly=strictly)
    if plan.steps is None:
        return writer.example(items)
    lists: list[tuple[bytes, Any]] = [
        (column.key.encode(), make_steps(rng, column, strictly=strictly))
        for column in plan.steps
        if strictly or rng.random() < 0.9
    ]
    return writer.sequence_example(items, lists)
