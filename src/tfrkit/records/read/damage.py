"""Damage: one place where a file is not what it should be, and the error that it becomes.

`frame_splitter.py` finds damage; the policy says what to do about it. `damage_error` looks at the file for what to say.
"""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from tfrkit.errors import DataLossError, InvalidArgumentError, OpError
from tfrkit.records.sniff.file_sniffer import sniff_file
from tfrkit.stores.source import ByteSource

__all__ = ["MAX_DAMAGES", "Damage", "Kind", "damage_error", "indexing_error", "still_written"]

MAX_DAMAGES: Final = (
    10_000  # of which details are kept, so that a file of nothing else fits into memory; all are counted
)

Kind = Literal[
    "bad length CRC", "bad data CRC", "truncated", "garbage", "too large", "bad container", "bad image"
]

_ADVICE: Final[dict[str, str]] = {
    "bad length CRC": 'Copy the file again, or pass on_corrupt="skip" to continue with the next intact record.',
    "bad data CRC": 'Copy the file again, or pass on_corrupt="skip" to drop such records.',
    "truncated": 'Copy the file again; on_corrupt="skip" takes what is whole.',
    "garbage": 'Copy the file again, or pass on_corrupt="skip" to ignore what follows the last intact record.',
    "too large": "If such records are right, pass a larger max_record_bytes.",
    "bad image": 'Write the image again, or pass on_corrupt="skip" to drop such elements.',
    "bad container": 'Copy the file again, or pass on_corrupt="skip" to take what can be inflated.',
}
_WHEN_WRITTEN: Final = (
    'Read it again when it is finished; on_corrupt="skip" takes what is whole now. If no program is writing it, '
    "copy it again."
)
_TO_INDEX: Final = (
    "copy the file again, or repair it with tfrkit.repair: no index can be made of it as it is."
)
_RECENT_SECONDS: Final = (
    30  # a file that ends in the middle of a record and has just been modified is still written
)
_BEYOND_REPAIR: Final = (
    "bad image",
    "too large",
)  # `repair` copies records, and believes lengths no more than readers


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

    def to_error(self, path: str, advice: str = "") -> OpError:
        """Make the exception: TensorFlow's words, then where, then what to do.

        Args:
            path: the file.
            advice: what to do, if that is not the usual because the file is none of records, or not finished.
        """
        detail = f": {self.detail}," if self.detail else ""
        where = f"in record {self.record} (frame at byte {self.start}) of {path!r}."
        negative = self.text.startswith("Can't read a negative")
        cls: type[OpError] = InvalidArgumentError if negative else DataLossError
        text = f"{self.text}{detail} {where} {advice or _ADVICE[self.kind]}"
        error = cls(text, path=path, record=self.record, offset=self.start)
        error.repairable = not advice and self.kind not in _BEYOND_REPAIR
        return error


def damage_error(damage: Damage, source: ByteSource, compression: str) -> OpError:
    """Make the exception about damage, with what the file shows of its cause: another kind of file, or not finished."""
    if not source.regular or damage.kind in ("bad data CRC", "bad image"):
        return damage.to_error(source.name)
    if not damage.start and not damage.record:
        look = sniff_file(source.read_at(0, 1024), compression)
        if look:
            return damage.to_error(
                source.name, f"The file looks like {look}" + ("" if look.endswith("?") else ".")
            )
    growing = (
        ""
        if damage.kind != "truncated" or source.fd is None
        else still_written(source.fd, source.opened_bytes)
    )
    return damage.to_error(source.name, growing and f"{growing} {_WHEN_WRITTEN}")


def indexing_error(error: OpError) -> OpError:
    """The error about damage where an index was to be made, which cannot skip it. Pure: no I/O."""
    skipping = [advice for advice in (*_ADVICE.values(), _WHEN_WRITTEN) if "on_corrupt" in advice]
    found = next((advice for advice in skipping if error.message.endswith(advice)), None)
    if found is None:
        return error
    growing = "Open it again when it is finished. If no program is writing it, "
    advice = growing + _TO_INDEX if found is _WHEN_WRITTEN else _TO_INDEX[0].upper() + _TO_INDEX[1:]
    message = error.message.removesuffix(found) + advice
    made = type(error)(message, path=error.path, record=error.record, offset=error.offset)
    made.repairable = error.repairable
    return made


def still_written(file: str | int, opened_bytes: int | None = None) -> str:
    """Say that a local file which ends too early is still being written, as far as can be told; "" if nothing shows it.

    `opened_bytes` is how many bytes the file had when it was opened, if that is known.
    """
    status = os.stat(file)
    if opened_bytes is not None and status.st_size > opened_bytes:
        sizes = f"from {opened_bytes} to {status.st_size} bytes while it was read"
        return f"The file is still being written: it grew {sizes}."
    if abs(time.time() - status.st_mtime) > _RECENT_SECONDS:
        return ""
    return f"The file is probably still being written: it was modified within the last {_RECENT_SECONDS} seconds."
