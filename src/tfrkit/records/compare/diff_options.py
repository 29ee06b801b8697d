"""What `diff` takes besides its inputs, for the function and for the command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from tfrkit.options import OptionSet, option, option_class

__all__ = ["CompareOptions", "Compared", "DiffKeywords"]

Compared = Literal["all", "records", "statistics"]


@option_class
class CompareOptions(OptionSet):
    """How two data sets are compared."""

    key: str | Sequence[str] | None = option(
        None,
        "Feature that identifies a record, with one int64 or bytes value; several together if given several times.",
        more="Without a key, records are compared by position.",
        metavar="NAME",
        several=True,
    )
    compare: Compared = option("all", "What to compare: records, statistics with schemas, or both.")
    tolerance: float = option(
        0.0,
        "Floats a and b are the same up to this times max(1, |a|, |b|).",
        more="Records whose other features are equal count as the same then.",
        least=0,
    )
    max_drift: float | None = option(
        None,
        "A feature that drifts farther is a difference.",
        more="If only statistics are compared, any drift is one by default.",
        least=0,
        most=1,
    )
    limit: int = option(5, "How many examples to show of each kind of difference.", least=0, most=1000)


class DiffKeywords(TypedDict, total=False):
    """Keywords of `CompareOptions`, for type checkers."""

    key: str | Sequence[str] | None
    compare: Compared
    tolerance: float
    max_drift: float | None
    limit: int
