"""Compare the outcomes of a case, and the list of all that is allowed to differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import tfrkit as tfr
from fuzz.differential.cases import Case
from fuzz.differential.sides import Outcome, Sides, loses_entries, rewritten
from fuzz.differential.specs import DTYPES, Spec
from fuzz.differential.unsafe import danger_of, keys_of
from tests.oracle.support.oracle import Failure, explain_difference
from tests.oracle.support.parsing import BROKEN

# What may differ, and why. A case that meets one of them is counted under its name.
EXCEPTIONS = {
    "unpacked floats beyond a FixedLenFeature": "TensorFlow 2.21 writes out of bounds; it is not run.",
    "a length of many megabytes": "TensorFlow takes the memory before it looks, and may die of it; it is not run.",
    "bytes beyond their list": "TensorFlow's op for SequenceExamples writes out of bounds; it is not run.",
    "equal indices": "TensorFlow's sort of a SparseFeature is not stable beyond 16 values; tfrkit's is.",
    "a message of over 1 kB": "tfrkit shortens the bytes that TensorFlow's message shows whole.",
    "another of several faults": "Of several faults tfrkit may report another one than TensorFlow, which looks at the "
    "features of SequenceExamples in the order of a hash table, and at those of Examples in the order of their bytes.",
    "faults of a SequenceExample": "tfrkit's own policy has one set of rules and texts: in a context, too, defaults "
    "hold for what is unset, and an empty batch lacks nothing.",
    "partitions that do not fit": "TensorFlow makes a broken RaggedTensor of them; tfrkit's rows end with the values, "
    "and a row id far beyond the number of ids is an error instead of gigabytes of empty rows.",
    "damage that was not asked for": "tfrkit does not look into features that the spec does not name.",
    "damage that is replaced": "tfrkit does not look into a map entry that another of the same key replaces.",
    "a key that is not UTF-8": "protobuf refuses the message; tfrkit compares keys as bytes.",
    "an entry with an unknown field": "upb drops the map entry; tfrkit keeps it, as protobuf's C++ does.",
}
UNPARSABLE = ("Could not parse example input, value: '", "Invalid protocol message input")
PARSE_TEXTS = ("Could not parse", "Key: ", "Name: ", "Feature: ", "Unsupported datatype")  # of the op itself
CONTEXT_TEXTS = (
    "Inconsistent max number of elements",
    "Unexpected number of elements in example",
    "Feature: ",
)


class Checker:
    """Runs cases and says how they end.

    Attributes:
        counts: how many comparisons ended in which way.
        shapes: how many disagreements look like this.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.shapes: Counter[str] = Counter()
        self._sides = Sides()

    def quietly(self, case: Case) -> list[str]:
        """As `check`, without counting."""
        kept = self.counts.copy()
        found = self.check(case)
        self.counts = kept
        return found

    def check(self, case: Case) -> list[str]:
        """Compare the libraries on a case; give the disagreements."""
        danger = danger_of(case.records, case.spec, sequence=case.lists is not None)
        theirs = None
        found = []
        if danger:
            self.counts[danger] += 1
            self._sides.ours(case, tfr.TENSORFLOW)  # it must not crash, whatever it gives
        else:
            theirs = self._sides.theirs(case)
            self.counts["TensorFlow gives values" if isinstance(theirs, dict) else "TensorFlow fails"] += 1
            found += self._compare(case, self._sides.ours(case, tfr.TENSORFLOW), theirs)
        return found + self._check_own(case, theirs)

    def _compare(self, case: Case, ours: Outcome, theirs: Outcome) -> list[str]:
        difference = explain_difference([ours], [theirs])
        if not difference:
            return []
        if _shortened(ours, theirs):
            self.counts["a message of over 1 kB"] += 1
        elif case.lists is not None and self._is_another_fault(case, ours, theirs):
            self.counts["another of several faults"] += 1
        elif _is_broken(case, ours, theirs):
            self.counts["partitions that do not fit"] += 1
        elif _sorted_alike(ours, theirs):
            self.counts["equal indices"] += 1
        else:
            return [f"TENSORFLOW policy: {difference}"]
        return []

    def _is_another_fault(self, case: Case, ours: Outcome, theirs: Outcome) -> bool:
        """Whether TensorFlow says of one feature alone what tfrkit says of all."""
        if not isinstance(ours, Failure) or not isinstance(theirs, Failure) or ours.name != theirs.name:
            return False
        parts = [replace(case, spec=spec, lists=case.lists and {}) for spec in _single_specs(case.spec)]
        parts += [replace(case, spec={}, lists={key: feature}) for key, feature in (case.lists or {}).items()]
        return any(not explain_difference([ours], [self._sides.theirs(part)]) for part in parts)

    def _check_own(self, case: Case, theirs: Outcome) -> list[str]:
        """Tfrkit's own policy on the bytes as they are, against TensorFlow on what protobuf makes of them."""
        sequence = case.lists is not None
        again = [rewritten(record, sequence=sequence) for record in case.records]
        plain = tuple(one for one in again if isinstance(one, bytes))
        ours = self._sides.ours(case, tfr.TFRKIT)
        if len(plain) < len(again):
            return self._check_refused(case, [str(one) for one in again if isinstance(one, Exception)], ours)
        if plain != case.records or theirs is None:
            theirs = self._sides.theirs(replace(case, records=plain))
        self.counts["protobuf gives values"] += 1
        difference = explain_difference([ours], [theirs])
        if not difference:
            return []
        if any(loses_entries(record, sequence=sequence) for record in case.records):
            self.counts["an entry with an unknown field"] += 1
            return []
        if self._is_another_fault(replace(case, records=plain), ours, theirs):
            self.counts["another of several faults"] += 1
            return []
        if sequence and _is_fault_of_sequence(ours, theirs):
            self.counts["faults of a SequenceExample"] += 1
            return []
        if _is_broken(case, ours, theirs):
            self.counts["partitions that do not fit"] += 1
            return []
        if _sorted_alike(ours, theirs):
            self.counts["equal indices"] += 1
            return []
        return [f"own policy: {difference.replace('TensorFlow', 'TensorFlow on the rewritten message')}"]

    def _check_refused(self, case: Case, reasons: list[str], ours: Outcome) -> list[str]:
        self.counts["protobuf refuses"] += 1
        if isinstance(ours, Failure):
            return []
        if any("UTF-8" in reason for reason in reasons):
            self.counts["a key that is not UTF-8"] += 1
            return []
        for record in case.records:
            if isinstance(rewritten(record, sequence=case.lists is not None), bytes):
                continue
            keys = keys_of(record)
            if any(not _is_utf8(key) for key in keys):
                self.counts["a key that is not UTF-8"] += 1
            elif len(set(keys)) < len(keys):
                self.counts["damage that is replaced"] += 1
            elif not self._refuses_something(record, case):
                return [f"own policy: tfrkit takes all of a record that protobuf refuses ({reasons[0]})"]
            else:
                self.counts["damage that was not asked for"] += 1
        return []

    def _refuses_something(self, record: bytes, case: Case) -> bool:
        """Whether some feature of the record is refused, whatever its kind is taken for."""
        for requests in _requests(record, sequence=case.lists is not None):
            outcomes = [self._sides.ours(replace(one, records=(record,)), tfr.TFRKIT) for one in requests]
            if all(isinstance(outcome, Failure) for outcome in outcomes):
                return True
        return False


def _requests(record: bytes, *, sequence: bool) -> Iterator[list[Case]]:
    """For each key that may be in the record, requests for it as each of the kinds."""
    for key in sorted({key.decode() for key in keys_of(record)}) or [""]:
        specs = [{key: ("VarLenFeature", {"dtype": dtype})} for dtype in DTYPES.values()]
        if not sequence:
            yield [Case((record,), spec, None, single=True) for spec in specs]
        else:
            yield [Case((record,), spec, {}, single=True) for spec in specs]
            yield [Case((record,), {}, spec, single=True) for spec in specs]


def _single_specs(spec: Spec) -> Iterator[Spec]:
    """Each feature alone, and each key of those that have several."""
    for key, (name, options) in spec.items():
        yield {key: (name, options)}
        others = [value for _, value in options.get("partitions", ()) if isinstance(value, str)]
        indices = options.get("index_key", [])
        others += [indices] if isinstance(indices, str) else indices
        yield from ({other: ("VarLenFeature", {"dtype": "int64"})} for other in others)
        if others:
            yield {options["value_key"]: ("VarLenFeature", {"dtype": options["dtype"]})}


def _is_utf8(key: bytes) -> bool:
    return "\N{REPLACEMENT CHARACTER}" not in key.decode("utf-8", "replace")


def _is_fault_of_sequence(ours: Outcome, theirs: Outcome) -> bool:
    if isinstance(ours, Failure) and isinstance(theirs, Failure):
        return ours.name == theirs.name
    return any(isinstance(one, Failure) and one.message.startswith(CONTEXT_TEXTS) for one in (ours, theirs))


def _is_broken(case: Case, ours: Outcome, theirs: Outcome) -> bool:
    """Whether they differ in nothing but ragged tensors that TensorFlow has made wrong, or has no memory for."""
    if isinstance(ours, Failure) and "is too large: expected the last row id" in ours.message:
        return True
    if isinstance(theirs, Failure):
        if theirs.name == "ResourceExhaustedError":
            return True
        if theirs.message.startswith(PARSE_TEXTS):
            return False
        cut = any("partitions" in options for _, options in case.spec.values())
        return cut and isinstance(ours, Failure) and ours.name in ("InvalidArgumentError", "ValueError")
    if not isinstance(theirs, dict) or BROKEN not in theirs.values():
        return False
    if isinstance(ours, Failure):
        return True
    sound = {key: value for key, value in theirs.items() if value != BROKEN}
    return ours.keys() == theirs.keys() and sound == {key: ours[key] for key in sound}


def _sorted_alike(ours: Outcome, theirs: Outcome) -> bool:
    """Whether the outcomes differ in nothing but the order of values at equal indices."""
    if not isinstance(ours, dict) or not isinstance(theirs, dict) or ours.keys() != theirs.keys():
        return False
    return all(_in_order(ours[key]) == _in_order(theirs[key]) for key in ours)


def _in_order(result: Any) -> Any:
    if result[0] != "sparse" or len(set(result[1])) == len(result[1]):
        return result
    _, indices, shape, (_, dtype, size, values) = result
    if isinstance(values, bytes):
        width = len(values) // len(indices)
        values = tuple(values[start : start + width] for start in range(0, len(values), width))
    return shape, dtype, size, sorted(zip(indices, values, strict=True))


def _shortened(ours: Outcome, theirs: Outcome) -> bool:
    if not isinstance(ours, Failure) or not isinstance(theirs, Failure) or ours.name != theirs.name:
        return False
    long = len(theirs.message) > 1000 and theirs.message.startswith(UNPARSABLE)
    return long and ours.message[:600] == theirs.message[:600]
