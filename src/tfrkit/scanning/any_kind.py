"""rows_of_any_kind: a condition on data that nothing is known of, which takes what fits and passes over what does not.

Features are lists of any length and of any kind that the condition can be about, so that no survey comes first, and
records that are no Examples are no error. `scan` is stricter: a table has columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tfrkit.errors import InvalidArgumentError, OpError
from tfrkit.model.block import Block
from tfrkit.model.specs import VarLenFeature
from tfrkit.records.where import WhereChoice
from tfrkit.scanning.chunks import RowFilter
from tfrkit.scanning.scan import scan

__all__ = ["rows_of_any_kind"]

_KINDS: Final = ("int64", "float32", "bytes")
_MOST_KINDS: Final = 9  # combinations of kinds that the features of a condition are tried with


def rows_of_any_kind(
    paths: Sequence[str], where: WhereChoice, kinds: Mapping[str, str], note: Callable[[int], object]
) -> RowFilter:
    """Return the choice of rows of a condition.

    Args:
        paths: of the files.
        where: the condition.
        kinds: of features that are known, which are tried first: "int64", "float32" or "bytes".
        note: called with a number of records that cannot be compared, by several threads.

    Raises:
        InvalidArgumentError: a comparison does not fit the kind of its feature; `at` is where its name stands.
    """
    named = zip(where.keys, where.places, strict=True)
    choices = [_kinds_of(where, key, place, kinds.get(key) or None) for key, place in named]
    found = []
    for chosen in itertools.islice(itertools.product(*choices), _MOST_KINDS):
        spec = {key: VarLenFeature(kind) for key, kind in zip(where.keys, chosen, strict=True)}
        rows = scan(list(paths), [], where.text, spec=spec).chosen_rows()
        assert rows is not None  # there is a condition
        found.append(rows)
    first = found[0]
    return _AnyKind(first.parser, first.mask, first.share, first.before, tuple(found[1:]), note)


@dataclass(frozen=True, slots=True)
class _AnyKind(RowFilter):
    """A choice of rows that is tried with other kinds of features where records do not have the usual ones.

    What no kinds fit is looked at in halves, down to single records, which are not taken.
    """

    others: tuple[RowFilter, ...] = ()
    note: Callable[[int], object] = int

    def keep(self, blocks: list[Block]) -> list[Block]:
        for each in (None, *self.others):
            try:
                return RowFilter.keep(self, blocks) if each is None else each.keep(blocks)
            except OpError:
                continue
        rows = sum(map(len, blocks))
        if rows == 1:
            self.note(1)
            return []
        kept: list[Block] = []
        for half in _halves(blocks, rows // 2):
            kept += self.keep(half)
        return kept


def _halves(blocks: list[Block], first: int) -> tuple[list[Block], list[Block]]:
    """Divide blocks after some records. Pure: no I/O."""
    one: list[Block] = []
    other: list[Block] = []
    for block in blocks:
        here = min(max(first, 0), len(block))
        one += [block[:here]] if here else []
        other += [block[here:]] if here < len(block) else []
        first -= len(block)
    return one, other


def _kinds_of(where: WhereChoice, key: str, place: int, known: str | None) -> list[str]:
    """Return the kinds that a feature may have, its usual one first. Pure: no I/O."""
    wrong = {kind: where.mismatch({key: kind}) for kind in _KINDS}
    fitting = [kind for kind in _KINDS if wrong[kind] is None]
    refused = wrong.get(known or "int64")
    if not fitting or (known is not None and refused is not None):
        text = refused[1] if refused is not None else f"expected to compare {key!r} with one kind of literals"
        error = InvalidArgumentError(f"{text}: it is {known or 'unknown'}. Text stands in quotes.")
        error.at = place
        raise error
    return sorted(fitting, key=lambda kind: kind != known)
