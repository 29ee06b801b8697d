"""Parsing Examples: serialised examples and a spec in, arrays out.

The reading itself is the kernel's; here the spec is found compiled, the input is made into pieces, and the results
into columns. Only the features that the spec names are looked at.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final

from tfrkit import _core
from tfrkit.model.policy import TFRKIT, ReadPolicy
from tfrkit.model.specs import Spec
from tfrkit.parsing.example_names import example_names as checked_names
from tfrkit.parsing.failure import batch_failure, single_failure
from tfrkit.parsing.parse_plan import ExamplesPlan, PlanCache, compile_examples
from tfrkit.parsing.serialized_input import SerializedInput, as_records, as_scalar

__all__ = [
    "FAILED_SPECS",
    "native_threads",
    "parse_example",
    "parse_one",
    "parse_record",
    "parse_single_example",
    "plan_of",
    "single_plan_of",
]

_BATCH: Final = {"protobuf": _core.PROTOBUF, "tensorflow": _core.TENSORFLOW_BATCH}
_SINGLE: Final = {"protobuf": _core.PROTOBUF, "tensorflow": _core.TENSORFLOW_SINGLE}
_PLANS: Final[PlanCache[ExamplesPlan]] = PlanCache(compile_examples)

# While a list is set here, it gets the features, and feature lists, of calls that fail: they only try out a function.
FAILED_SPECS: Final[ContextVar[list[tuple[Spec, Spec | None]] | None]] = ContextVar(
    "FAILED_SPECS", default=None
)


def parse_example(
    serialized: Any,
    features: Spec,
    example_names: Any = None,
    name: str | None = None,
    *,
    policy: ReadPolicy = TFRKIT,
    threads: int | None = None,
) -> dict[str, Any]:
    """Parse a batch of serialised Examples into columns.

    Args:
        serialized: a list or array of bytes, a Block, a list or iterator of Blocks, a BytesColumn, an Arrow array of
            binary, or a list of messages. A single one is parsed as by `parse_single_example`.
        features: the spec: feature names and what is expected of them.
        example_names: names of the examples, for error messages.
        name: ignored; TensorFlow has it.
        policy: with `TENSORFLOW`, bytes that TensorFlow reads differently from protobuf are read as by TensorFlow.
        threads: the most cores to use; None uses all. Small batches take one.

    Returns:
        A dict in the order of the spec. FixedLen becomes an array (bytes: BytesColumn) with the examples as first
        dimension; VarLen and Ragged a Ragged; FixedLenSequence an array padded to the longest; SparseFeature a
        Sparse. Arrays may be read-only.

    Raises:
        InvalidArgumentError: an example is damaged or does not fit the spec. The text begins with TensorFlow's; path,
            record and offset are attributes where the input knows them.
        TypeError: the type or shape of a feature in the spec is not one.
        ValueError: the spec is incomplete or contradicts itself, or the input cannot be parsed.

    >>> import tfrkit as tfr
    >>> records = [tfr.make_example({"label": i, "ids": [1] * (i + 1)}).SerializeToString() for i in range(3)]
    >>> spec = {"label": tfr.FixedLenFeature([], "int64"), "ids": tfr.VarLenFeature("int64")}
    >>> batch = tfr.parse_example(records, spec)
    >>> batch["label"], batch["ids"]
    (array([0, 1, 2]), Ragged(shape=(3, None), dtype=int64, [[1], [1, 1], [1, 1, 1]]))
    """
    plan = _PLANS.get(features)
    records = as_records(serialized, strict=policy.wire == "tensorflow")
    if records.scalar:
        checked_names(example_names, ())
        return parse_record(plan, records, policy)
    names = None if example_names is None else checked_names(example_names, (records.count,))
    columns, _, failure = plan.native.parse(records.pieces, _BATCH[policy.wire], native_threads(threads))
    if failure is not None:
        _note_failed(plan)
        raise batch_failure(failure, plan.slots, records, names)
    return plan.make_batch(columns, records.count)


def parse_single_example(
    serialized: Any,
    features: Spec,
    example_names: Any = None,
    name: str | None = None,
    *,
    policy: ReadPolicy = TFRKIT,
) -> dict[str, Any]:
    r"""Parse one serialised Example.

    Args:
        serialized: bytes, or a message.
        features: the spec: feature names and what is expected of them.
        example_names: checked to be one name; TensorFlow has it.
        name: ignored; TensorFlow has it.
        policy: with `TENSORFLOW`, bytes that TensorFlow reads differently from protobuf are read as by TensorFlow.

    Returns:
        A dict in the order of the spec. FixedLen of shape [] becomes a numpy scalar or bytes, of another shape an array
        (of bytes objects); VarLen a 1-D array (bytes: BytesColumn); FixedLenSequence an array of one dimension more;
        SparseFeature a Sparse; RaggedFeature a Ragged, or without partitions the same as VarLen.

    Raises:
        InvalidArgumentError: the example is damaged or does not fit the spec. The text is TensorFlow's.
        TypeError: the type or shape of a feature in the spec is not one.
        ValueError: the spec is incomplete or contradicts itself, or the input is not one example.

    >>> import tfrkit as tfr
    >>> record = tfr.make_example({"label": 3, "name": "x"}).SerializeToString()
    >>> one = tfr.parse_single_example(record, {"label": tfr.FixedLenFeature([1], "int64")})
    >>> one["label"]
    array([3])
    """
    return parse_one(single_plan_of(features), serialized, example_names, policy)


def single_plan_of(features: Spec) -> ExamplesPlan:
    """Return the compiled spec for `parse_one`.

    Raises:
        ValueError: the spec is missing, incomplete or contradicts itself.
    """
    if not features:
        raise ValueError(f"Invalid argument: features cannot be {'None' if features is None else 'empty'}.")
    return _PLANS.get(features)


def parse_one(plan: ExamplesPlan, serialized: Any, example_names: Any, policy: ReadPolicy) -> dict[str, Any]:
    """Parse one serialised Example; see `parse_single_example`."""
    if plan.quick is not None and type(serialized) is bytes and example_names is None:
        row = plan.quick.parse_one(serialized, _SINGLE[policy.wire])
        if type(row) is dict:
            for key, make in plan.quick_makers:
                row[key] = make(row, 1)
            return row
    records = as_scalar(serialized)
    checked_names(example_names, ())
    return parse_record(plan, records, policy)


def native_threads(threads: int | None) -> int:
    """Return a number of threads as the kernels take it: 0 is all cores."""
    if threads is None:
        return 0
    if threads < 1:
        raise ValueError(f"expected threads to be positive or None but got {threads}")
    return threads


def plan_of(features: Spec) -> ExamplesPlan:
    """Return the compiled spec; see `compile_examples`."""
    return _PLANS.get(features)


def parse_record(plan: ExamplesPlan, records: SerializedInput, policy: ReadPolicy) -> dict[str, Any]:
    """Parse the first of some records alone."""
    row = plan.native.parse_one(records[0], _SINGLE[policy.wire])
    if not isinstance(row, dict):
        _note_failed(plan)
        raise single_failure(row, plan.slots, records)
    return plan.make_single(row)


def _note_failed(plan: ExamplesPlan) -> None:
    failed = FAILED_SPECS.get()
    if failed is not None:
        failed.append((plan.features, None))
