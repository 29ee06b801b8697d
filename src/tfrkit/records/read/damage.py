"""Damage: one place where a file is not what it should be, and the error that it becomes.

`frame_splitter.py` finds damage; the policy says what to do about it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from tfrkit.errors import DataLossError, InvalidArgumentError, OpError

__all__ = ["MAX_DAMAGES", "Damage", "Kind"]

MAX_DAMAGES: Final = (
    10_000  # of which details are kept, so that a file of nothing else fits into memory; all are counted
)

Kind = Literal[
    "bad length CRC", "bad data CRC", "truncated", "garbage", "too large", "bad container", "bad image"
]

_ADVICE: Final[dict[str, str]] = {
    "bad length CRC": 'Copy the file again, or pass on_corrupt="skip" to continue with the next intact record.',
    "bad data CRC": 'Copy the file again, or pass on_corrupt="skip" to drop such records.',
    "truncated": 'Copy the file again or wait until it is written; on_corrupt="skip" takes what is whole.',
    "garbage": 'Copy the file again, or pass on_corrupt="skip" to ignore what follows the last intact record.',
    "too large": "If such records are right, pass a larger max_record_bytes.",
    "bad image": 'Write the image again, or pass on_corrupt="skip" to drop such elements.',
    "bad container": 'Copy the file again, or pass on_corrupt="skip" to take what can be inflated.',
}


@dataclass(frozen=True, slots=True)
class Damage:
    """A damaged range of the uncompressed stream.

    Attributes:
        kind: what is wrong.
        start: offset of the first byte that belongs to no intact frame; -1 for a broken image in an intact record.
        end: offset after the last such byte; equal to `start` where the extent is not known.
        record: how many intact records stand before it in the file.
        text: TensorFlow's words for it.
        detail: numbers that help, such as stored and computed CRC.
        tail: fewer bytes than a header before the end, or a container without its end.
    """

    kind: Kind
    start: int
    end: int
    record: int
    text: str
    detail: str = ""
    tail: bool = False

    @property
    def bytes(self) -> int:
        """Number of damaged bytes."""
        return self.end - self.start

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a JSON-able dict."""
        return asdict(self)

    def to_error(self, path: str, hint: str = "") -> OpError:
        """Make the exception: TensorFlow's words, then where, then what to do.

        Args:
            path: the file.
            hint: what the file looks like, if it is no TFRecord file.
        """
        detail = f": {self.detail}," if self.detail else ""
        where = f"in record {self.record} (frame at byte {self.start}) of {path!r}."
        if hint:
            where += f" The file looks like {hint}" + ("" if hint.endswith("?") else ".")
        else:
            where += " " + _ADVICE[self.kind]
        negative = self.text.startswith("Can't read a negative")
        cls: type[OpError] = InvalidArgumentError if negative else DataLossError
        return cls(f"{self.text}{detail} {where}", path=path, record=self.record, offset=self.start)
