"""Parsing SequenceExamples: a context like an Example's, and feature lists with a value or more for each step."""

from __future__ import annotations

from typing import Any, Final

from tfrkit import _core
from tfrkit.model.policy import TFRKIT, ReadPolicy
from tfrkit.model.specs import Spec
from tfrkit.parsing.example_names import sequence_names
from tfrkit.parsing.parse import FAILED_SPECS, native_threads
from tfrkit.parsing.parse_plan import PlanCache
from tfrkit.parsing.sequence_failure import sequence_failure
from tfrkit.parsing.sequence_plan import SequencesPlan, compile_sequences
from tfrkit.parsing.serialized_input import SerializedInput, as_records, as_scalar

__all__ = [
    "SEQUENCE_DIALECTS",
    "parse_sequence_example",
    "parse_sequence_records",
    "parse_single_sequence_example",
    "sequence_plan_of",
]

SEQUENCE_DIALECTS: Final = {"protobuf": _core.PROTOBUF, "tensorflow": _core.TENSORFLOW_BATCH}
_PLANS: Final[PlanCache[SequencesPlan]] = PlanCache(compile_sequences)
_Results = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]


def parse_sequence_example(
    serialized: Any,
    context_features: Spec | None = None,
    sequence_features: Spec | None = None,
    example_names: Any = None,
    name: str | None = None,
    *,
    policy: ReadPolicy = TFRKIT,
    threads: int | None = None,
) -> _Results:
    """Parse a batch of serialised SequenceExamples into columns.

    Args:
        serialized: as for `parse_example`. Of a single example the results have no batch dimension.
        context_features: spec of the context: FixedLen, VarLen and Ragged.
        sequence_features: spec of the feature lists: FixedLenSequence, VarLen and Ragged.
        example_names: names of the examples, for error messages.
        name: ignored; TensorFlow has it.
        policy: with `TENSORFLOW`, bytes that TensorFlow reads differently from protobuf are read as by TensorFlow.
        threads: the most cores to use; None uses all. Small batches take one.

    Returns:
        The context, as from `parse_example`; the feature lists: FixedLenSequence as an array (bytes: BytesColumn)
        of examples and steps, padded to the longest list, VarLen and Ragged as a Ragged of examples and steps; for
        each FixedLenSequence the number of steps of every example.

    Raises:
        InvalidArgumentError: an example is damaged or does not fit the specs. The text begins with TensorFlow's; path,
            record and offset are attributes where the input knows them.
        TypeError: the type or shape of a feature in a spec is not one.
        ValueError: a spec is incomplete or contradicts itself, or the input cannot be parsed.

    >>> import tfrkit as tfr
    >>> record = tfr.make_sequence_example({"n": 2}, {"t": [[1], [2]]}).SerializeToString()
    >>> context, lists, lengths = tfr.parse_sequence_example(
    ...     [record], {"n": tfr.FixedLenFeature([], "int64")}, {"t": tfr.FixedLenSequenceFeature([], "int64")}
    ... )
    >>> context["n"].tolist(), lists["t"].tolist(), lengths["t"].tolist()
    ([2], [[1, 2]], [2])
    """
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one should have values."
        )
    plan = _PLANS.get_pair(context_features, sequence_features)
    records = as_records(serialized, strict=policy.wire == "tensorflow")
    return parse_sequence_records(plan, records, example_names, policy, threads)


def parse_single_sequence_example(
    serialized: Any,
    context_features: Spec | None = None,
    sequence_features: Spec | None = None,
    example_name: Any = None,
    name: str | None = None,
    *,
    policy: ReadPolicy = TFRKIT,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parse one serialised SequenceExample.

    Args:
        serialized: bytes, or a message.
        context_features: spec of the context: FixedLen, VarLen and Ragged.
        sequence_features: spec of the feature lists: FixedLenSequence, VarLen and Ragged.
        example_name: name of the example, for error messages.
        name: ignored; TensorFlow has it.
        policy: with `TENSORFLOW`, bytes that TensorFlow reads differently from protobuf are read as by TensorFlow.

    Returns:
        The context, as from `parse_single_example`, and the feature lists: FixedLenSequence as an array whose first
        dimension are the steps, VarLen and Ragged as a Ragged of steps.

    Raises:
        InvalidArgumentError: the example is damaged or does not fit the specs. The text is TensorFlow's.
        TypeError: the type or shape of a feature in a spec is not one.
        ValueError: a spec is incomplete or contradicts itself, or the input is not one example.

    >>> import tfrkit as tfr
    >>> record = tfr.make_sequence_example({"n": 2}, {"t": [[1], [2, 3]]}).SerializeToString()
    >>> context, lists = tfr.parse_single_sequence_example(record, None, {"t": tfr.VarLenFeature("int64")})
    >>> lists["t"]
    Ragged(shape=(2, None), dtype=int64, [[1], [2, 3]])
    """
    plan = sequence_plan_of(context_features, sequence_features)
    context, lists, _ = parse_sequence_records(plan, as_scalar(serialized), example_name, policy, 1)
    return context, lists


def sequence_plan_of(context_features: Spec | None, sequence_features: Spec | None) -> SequencesPlan:
    """Return the compiled specs.

    Raises:
        ValueError: both are empty, or one is incomplete or contradicts itself.
    """
    if not (context_features or sequence_features):
        raise ValueError(
            "Both context_features and sequence_features are None, but at least one should have values."
        )
    return _PLANS.get_pair(context_features, sequence_features)


def parse_sequence_records(
    plan: SequencesPlan, records: SerializedInput, example_names: Any, policy: ReadPolicy, threads: int | None
) -> _Results:
    """Parse records by a compiled plan; a single one is returned without a batch dimension."""
    names = sequence_names(example_names, records.count)
    context, lists, failure = plan.native.parse(
        records.pieces, SEQUENCE_DIALECTS[policy.wire], native_threads(threads)
    )
    if failure is not None:
        if (failed := FAILED_SPECS.get()) is not None:
            failed.append((plan.features, plan.list_features))
        raise sequence_failure(failure, plan.context, plan.lists, records, names)
    one = records.scalar
    return (
        plan.make_context(context, records.count, one=one),
        plan.make_lists(lists, one=one),
        plan.make_lengths(lists, one=one),
    )
