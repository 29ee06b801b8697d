"""What an iterator gives, call by call: elements, errors in their places, and the end."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import tfrkit as tfr
from tests.data.support.same import same

__all__ = [
    "END",
    "LIMIT",
    "Failure",
    "chain_folder",
    "difference",
    "ended",
    "outcomes",
    "placeless",
    "resume",
]

END = "end of sequence"
LIMIT = 300  # outcomes that are looked at; what fails for ever is cut off here


class Failure(NamedTuple):
    """An error: its class, its text, and its place where it has one."""

    name: str
    text: str


def outcomes(iterator: Iterator[Any], limit: int = LIMIT) -> list[Any]:
    """What `next` gives until the end, which is END, or until the limit."""
    found: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tfr.errors.DataLossWarning)
        while len(found) < limit:
            try:
                found.append(next(iterator))
            except StopIteration:
                return [*found, END]
            except Exception as error:
                found.append(Failure(type(error).__name__, str(error)))
    return found


def resume(dataset: tfr.Dataset, state: Any) -> Iterator[Any]:
    """An iterator from a state on. It may read again what was warned of before the state was saved, and warn again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tfr.errors.DataLossWarning)
        return dataset.iter_from(state)


def ended(found: list[Any]) -> bool:
    """Whether the end is among outcomes; no element is a str."""
    return bool(found) and isinstance(found[-1], str)


def difference(found: list[Any], wanted: list[Any]) -> str:
    """Say where two lists of outcomes part, or '' if nowhere."""
    for number, (one, other) in enumerate(zip(found, wanted, strict=False)):
        if not same(one, other):
            return f"outcome {number} is {one!r}, not {other!r}\n  found  {found!r}\n  wanted {wanted!r}"
    if len(found) != len(wanted):
        return f"{len(found)} outcomes, not {len(wanted)}\n  found  {found!r}\n  wanted {wanted!r}"
    return ""


def placeless(found: list[Any]) -> list[Any]:
    """Outcomes without the places in files that errors name: the plain engine does not know them everywhere."""
    return [
        Failure(one.name, re.sub(r"(; in|,)( record \d+)?( \(frame at byte \d+\))? of '.*'", "", one.text))
        if isinstance(one, Failure)
        else one
        for one in found
    ]


def chain_folder(folder: Path) -> Path:
    """A folder with the files of all random chains; written once."""
    from tests.data.support.chains import write_files
    from tests.data.support.random_features import write_examples
    from tests.data.support.random_large import write_large

    write_files(folder)
    write_examples(folder)
    write_large(folder)
    return folder
