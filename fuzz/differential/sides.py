"""A case through each library: plain results, or a failure."""

from __future__ import annotations

import functools
from typing import Any

import tfrkit as tfr
from fuzz.differential.cases import Case
from fuzz.differential.quick import QuickExample
from fuzz.differential.specs import Spec
from tests.oracle.support.oracle import attempt, tensorflow
from tests.oracle.support.parsing import attempt_theirs, make_spec, plain, plain_results, tensor_of

Outcome = Any  # dict of plain results, or a Failure


class Sides:
    """Both libraries, with the specs of the last case kept in the form that each wants."""

    def __init__(self) -> None:
        self._spec: tuple[Spec, Spec | None] | None = None
        self._theirs: tuple[Any, Any] = (None, None)
        self._ours: tuple[Any, Any] = (None, None)
        self._uses = 0
        self._quick: QuickExample | None = None

    def theirs(self, case: Case) -> Outcome:
        """What TensorFlow gives; for the second and further cases of one spec for Examples, the quick way."""
        self._prepare(case)
        self._uses += 1
        if case.lists is None and self._uses > 1:
            return attempt_theirs(lambda: self._run_quick(case))
        return attempt_theirs(lambda: self._run(tensorflow().io, case, self._theirs, {}))

    def ours(self, case: Case, policy: tfr.ReadPolicy) -> Outcome:
        """What tfrkit gives."""
        self._prepare(case)
        return attempt(lambda: self._run(tfr, case, self._ours, {"policy": policy}))

    def _prepare(self, case: Case) -> None:
        if self._spec is not None and self._spec[0] is case.spec and self._spec[1] is case.lists:
            return
        for_theirs, for_ours = (
            tuple(
                None if spec is None else make_spec(spec, namespace) or None
                for spec in (case.spec, case.lists)
            )
            for namespace in (tensorflow().io, tfr)
        )
        self._theirs, self._ours = (for_theirs[0], for_theirs[1]), (for_ours[0], for_ours[1])
        self._spec = (case.spec, case.lists)
        self._uses, self._quick = 0, None

    def _run_quick(self, case: Case) -> dict[str, Any]:
        self._quick = self._quick or QuickExample(self._theirs[0])
        records = tensorflow().constant(case.records[0]) if case.single else tensor_of(case.records)
        return plain_results(self._quick(records), case.spec)

    def _run(
        self, module: Any, case: Case, specs: tuple[Any, Any], options: dict[str, Any]
    ) -> dict[str, Any]:
        records: Any = case.records[0] if case.single else list(case.records)
        if not case.single:
            records = tfr.BytesColumn.from_list(records) if module is tfr else tensor_of(case.records)
        if case.lists is None:
            parse = module.parse_single_example if case.single else module.parse_example
            return plain_results(parse(records, specs[0], **options), case.spec)
        parse = module.parse_single_sequence_example if case.single else module.parse_sequence_example
        context, lists, *lengths = parse(records, *specs, **options)
        results = {f"context {key}": value for key, value in plain_results(context, case.spec).items()}
        results |= {f"list {key}": value for key, value in plain_results(lists, case.lists).items()}
        for one in lengths:
            results |= {f"length {key}": plain(value) for key, value in one.items()}
        return results


@functools.cache
def messages() -> tuple[Any, Any]:
    """TensorFlow's classes of messages."""
    train = tensorflow().train
    return train.Example, train.SequenceExample


def rewritten(record: bytes, *, sequence: bool) -> bytes | Exception:
    """The message as protobuf reads it and writes it again, without unknown fields; or why protobuf refuses it."""
    message = messages()[sequence]()
    try:
        message.ParseFromString(record)
    except Exception as error:  # noqa: BLE001 - that it fails, and how, is the result
        return error
    message.DiscardUnknownFields()
    return bytes(message.SerializeToString(deterministic=True))


def loses_entries(record: bytes, *, sequence: bool) -> bool:
    """Whether upb put map entries among the unknown fields, as it does when they hold an unknown field."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    message = messages()[sequence].FromString(record)
    parts = [message.context, message.feature_lists] if sequence else [message.features]
    return any(
        field.field_number == 1 and field.wire_type == 2 for part in parts for field in UnknownFieldSet(part)
    )
