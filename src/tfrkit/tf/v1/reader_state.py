"""Where a reader stands, as bytes: TensorFlow's message ReaderBaseState, and a field more for the place in the file.

Fields 1 to 4 are TensorFlow's: files begun, files ended, records given, name of the last file. Field 5 is the place of
the next record in it, which only a reader of the same kind understands. Pure: no I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NoReturn, Self

from tfrkit.errors import InvalidArgumentError
from tfrkit.parsing.write_wire import wire_bytes, wire_varint

__all__ = ["ReaderState"]

_NUMBERS: Final = {1: "started", 2: "finished", 3: "produced", 5: "place"}
_WORK: Final = 4
_LIMIT: Final = 2**63


@dataclass(slots=True)
class ReaderState:
    """Counts, and the file at hand.

    Attributes:
        started: files that were opened.
        finished: files that have ended.
        produced: records that were given.
        work: the last name that the queue gave.
    """

    started: int = 0
    finished: int = 0
    produced: int = 0
    work: bytes = b""

    @property
    def in_progress(self) -> bool:
        """Whether a file is open."""
        return self.started > self.finished

    def to_bytes(self, place: int) -> bytes:
        r"""Write it; what is zero or empty is left out.

        >>> ReaderState(1, 0, 2, b"a").to_bytes(36)
        b'\x08\x01\x18\x02"\x01a($'
        """
        numbers = {1: self.started, 2: self.finished, 3: self.produced, 5: place}
        fields = {number: _field(number, value) for number, value in numbers.items() if value}
        if self.work:
            fields[_WORK] = wire_bytes(_WORK, self.work)
        return b"".join(fields[number] for number in sorted(fields))

    @classmethod
    def from_bytes(cls, data: bytes, reader: str) -> tuple[Self, int]:
        """Read it again.

        Args:
            data: what `to_bytes` wrote.
            reader: name of the class, for the error.

        Returns:
            The state, and the place in the file.

        Raises:
            InvalidArgumentError: it is no such state, or its counts cannot be.

        >>> ReaderState.from_bytes(ReaderState(1, 0, 2, b"a").to_bytes(36), "TFRecordReader")
        (ReaderState(started=1, finished=0, produced=2, work=b'a'), 36)
        """
        found = _parse(data)
        if found is None:
            shown = data.decode("ascii", "backslashreplace")
            raise InvalidArgumentError(f"Could not parse state for {reader} '{reader}V2': {shown}")
        numbers, work = found
        started, finished, produced = numbers["started"], numbers["finished"], numbers["produced"]
        if min(numbers.values()) < 0:
            raise InvalidArgumentError(
                "Unexpected negative value when restoring in ReaderBase::RestoreBaseState"
            )
        state = cls(started, finished, produced, work)
        if not finished <= started <= finished + 1:
            state.refuse(reader)
        return state, numbers["place"]

    def refuse(self, reader: str) -> NoReturn:
        """Say that the counts cannot be those of such a reader.

        Raises:
            InvalidArgumentError: always.
        """
        raise InvalidArgumentError(
            f"Inconsistent work started vs. finished when restoring in {reader} '{reader}V2': {self}"
        )


def _field(number: int, value: int) -> bytes:
    return bytes([number << 3]) + wire_varint(value)


def _parse(data: bytes) -> tuple[dict[str, int], bytes] | None:
    """The fields, None if there is anything else."""
    numbers = dict.fromkeys(_NUMBERS.values(), 0)
    work, at = b"", 0
    try:
        while at < len(data):
            tag, at = _varint(data, at)
            value, at = _varint(data, at)
            if tag == _WORK << 3 | 2 and at + value <= len(data):
                work, at = data[at : at + value], at + value
            elif tag >> 3 in _NUMBERS and not tag & 7:
                numbers[_NUMBERS[tag >> 3]] = value - 2 * _LIMIT if value >= _LIMIT else value
            else:
                return None
    except IndexError:
        return None
    return numbers, work


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128 or shift >= 70:
            return value % (2 * _LIMIT), at
