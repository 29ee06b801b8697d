"""How much bad input a job may leave out: a number, or a share; and never all of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self, TypeAlias

from tfrkit.build.job.progress import BadInput
from tfrkit.errors import InvalidArgumentError

__all__ = ["BadLimit", "MaxBad"]

MaxBad: TypeAlias = int | str
_SHARE: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)%")
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class BadLimit:
    """How much bad input is too much. Without a number and a share, only all of it is.

    Attributes:
        text: as it was given.
        number: how many inputs may be bad; None: any number.
        share: which share of all inputs may be bad.
    """

    text: str = ""
    number: int | None = None
    share: Fraction | None = None

    @classmethod
    def parse(cls, given: MaxBad | None) -> Self:
        """Parse what a user passes: 100, "100" or "0.5%". Pure: no I/O.

        Raises:
            InvalidArgumentError: it is neither a number nor a share.

        >>> BadLimit.parse("0.5%").share, BadLimit.parse(100).number
        (Fraction(1, 200), 100)
        """
        if given is None:
            return cls()
        text = str(given).strip()
        if not isinstance(given, bool) and text.isascii() and text.isdecimal():
            return cls(text, number=int(text))
        if (found := _SHARE.fullmatch(text)) is not None and (share := Fraction(found[1]) / 100) <= 1:
            return cls(text, share=share)
        raise InvalidArgumentError(
            f"Expected a number from 0 on, or a share up to 100%, for max_bad (--max-bad) but got {given!r}, such as "
            "100 or 0.5%."
        )

    def exceeded(self, bad: int, good: int | None) -> bool:
        """Return whether too many are bad; `good` is None while it is not known. Pure: no I/O."""
        if self.number is not None and bad > self.number:
            return True
        if good is None or not bad:
            return False
        return good == 0 or (self.share is not None and bad > self.share * (bad + good))

    def check(self, counts: Mapping[str, int], good: int | None, listed: Sequence[BadInput]) -> None:
        """Compare what was left out, by reason, with what may be; `listed` are the first bad inputs.

        Raises:
            InvalidArgumentError: it is too much; the text says the reasons and the first places.
        """
        bad = sum(counts.values())
        if not self.exceeded(bad, good):
            return
        reasons = ", ".join(f"{reason} ({number:,})" for reason, number in counts.items())
        first = "; ".join(found.shown for found in listed[:_SHOWN])
        said = f"{reasons}. The first: {first}. Nothing was published. " if first else f"{reasons}. "
        if good == 0:
            raise InvalidArgumentError(
                f"All {bad:,} inputs are bad, so there is nothing to write: {said}Fix the input, or the options that "
                "say how to read it."
            )
        of = "" if good is None else f" of {bad + good:,}"
        raise InvalidArgumentError(
            f"{bad:,}{of} inputs are bad, and at most {self.text} may be: {said}Fix the input, or allow more with "
            "max_bad= (--max-bad)."
        )
