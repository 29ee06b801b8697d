"""FrameSplitter: a stream that arrives in pieces -> blocks of whole frames, and the damage between them.

Works on bytes in memory, in order. `file_reader.py` reads and inflates; the policy says what damage
means. After damage the splitter either ends (`resync=False`) or looks for the next frame whose two CRCs hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from tfrkit import _core
from tfrkit.model.block import Block
from tfrkit.records.read.damage import Damage, Kind

__all__ = ["FOOTER_BYTES", "HEADER_BYTES", "Event", "FrameSplitter", "check_block"]

Event: TypeAlias = Block | Damage

HEADER_BYTES: Final = 12
FOOTER_BYTES: Final = 4
_SIZE_T_LIMIT: Final = 2**64 - 5  # from here on the frame's size overflows in TensorFlow
_SIGNED_LIMIT: Final = 2**63 - 4  # from here on the data and its footer have a negative size there


class FrameSplitter:
    """Splits one file's stream into blocks. Used by one thread at a time.

    Args:
        path: for the blocks and messages.
        check: check data CRCs here; else the caller does it with `check_block`, in parallel.
        resync: continue after damage. Data CRCs are then checked here, because where the next frame starts may
            depend on them.
        max_record_bytes: larger records are damage.
        size: returns the stream's length if it is known: a frame that goes beyond it is truncated, and not awaited.
        short_text: what TensorFlow says where a stream ends inside a frame.
    """

    def __init__(
        self,
        path: str,
        *,
        check: bool,
        resync: bool,
        max_record_bytes: int,
        size: Callable[[], int | None] = lambda: None,
        short_text: str = "Read less bytes than requested",
    ) -> None:
        self.path = path
        self.done = False
        self.records = 0
        self.position = 0  # stream offset of the first byte of the carry
        self.limit = size()
        self._size = size
        self.short_text = short_text
        self._check = check or resync
        self._resync = resync
        self._max = max_record_bytes
        self._parts: list[memoryview] = []  # the carry: what came and is not yet split
        self._carry = 0
        self.need = HEADER_BYTES  # bytes of the carry that it takes to continue
        self._damage: tuple[Kind, int, str, str] | None = (
            None  # while looking for the next frame: kind, start, ...
        )
        self._drop = 0  # bytes that still come before the place to begin at

    def start_at(self, position: int, record: int, *, drop: int) -> None:
        """Begin in the middle of the stream, before the first piece.

        Args:
            position: where a frame begins in the stream.
            record: the number of its record.
            drop: how many bytes the first pieces have before it. What is damaged there is not looked at.
        """
        self.position, self.records, self._drop = position, record, drop

    def feed(self, data: Any, start: int, stop: int) -> list[Event]:
        """Take data[start:stop] as the next piece of the stream.

        Args:
            data: a buffer that does not change any more, but for data[:start] if it is writable: an unfinished frame
                of the piece before is copied there if it fits.
            start: where the piece begins.
            stop: where it ends.
        """
        if self._drop:
            dropped = min(self._drop, stop - start)
            self._drop -= dropped
            start += dropped
        if self.done or start == stop:
            return []
        if self._carry + stop - start < self.need:
            self._parts.append(memoryview(data)[start:stop])
            self._carry += stop - start
            return []
        if not self._carry:
            return self._split(data, start, stop, at_eof=False)
        if self._resync or not memoryview(data).readonly:
            return self._split(*self._join(data, start, stop), at_eof=False)
        return self._split_borrowed(memoryview(data), start, stop)

    def _split_borrowed(self, data: memoryview, start: int, stop: int) -> list[Event]:
        """Split a piece that has no room for the carry in front of it: only the unfinished frame is copied."""
        events: list[Event] = []
        while self._carry and start < stop and not self.done:
            end = min(stop, start + max(1, self.need - self._carry))
            events += self._split(*self._join(data, start, end), at_eof=False)
            start = end
        if start < stop and not self.done:
            events += self._split(data, start, stop, at_eof=False)
        return events

    def finish(self) -> list[Event]:
        """The stream has ended: settle what is left."""
        if self.done:
            return []
        if self._drop:
            self.done = True
            return [self._ended_before()]
        data, start, stop = self._join(b"", 0, 0)
        events = self._split(data, start, stop, at_eof=True)
        self.done = True
        return events

    def gap(self, text: str) -> list[Event]:
        """The container is damaged here: settle what is left; what comes next is unrelated to it.

        Args:
            text: what the decoder said.
        """
        if self.done or (self._drop and self._resync):
            return []
        events: list[Event] = []
        start = self.position
        if self._resync:
            data, begin, stop = self._join(b"", 0, 0)
            events = self._split(data, begin, stop, at_eof=True)
            start = self.position
        self.done = not self._resync
        return [*events, Damage("bad container", start, self.position + self._carry, self.records, text)]

    def _ended_before(self) -> Damage:
        """The file is shorter than when the place to begin at was saved."""
        text = f"truncated record at {self.position}' failed with {self.short_text}"
        detail = f"the file ends {self._drop} bytes before the place to begin at"
        return Damage("truncated", self.position, self.position, self.records, text, detail)

    # -- inside -----------------------------------------------------------------------------------------------------

    def _join(self, data: Any, start: int, stop: int) -> tuple[Any, int, int]:
        """Put the carry in front of the piece: in its headroom if it fits, else in a new buffer."""
        parts, carry = self._parts, self._carry
        self._parts, self._carry = [], 0
        view = memoryview(data)
        if start < carry or view.readonly:
            buffer = _core.Buffer(max(1, carry + stop - start))
            joined = memoryview(buffer)
            joined[carry : carry + stop - start] = view[start:stop]
            data, view, start, stop = buffer, joined, carry, carry + stop - start
        at = start - carry
        for part in parts:
            view[at : at + len(part)] = part
            at += len(part)
        return data, start - carry, stop

    def _split(self, data: Any, at: int, stop: int, *, at_eof: bool) -> list[Event]:
        """Split data[at:stop], whose first byte is at stream offset `position`; keep what is unfinished."""
        events: list[Event] = []
        data, at, stop = memoryview(data)[at:stop], 0, stop - at
        base = self.position  # stream offset of data[0]
        while not self.done:
            if self._damage is not None:
                found = self._search(data, at, stop, base, at_eof)
                if found is None:
                    break
                at = found
                events.append(self._close_damage(base + at))
            scan = _core.scan_frames(data, at, stop, self._check, self._max)
            at = scan.end
            if len(scan.offsets):
                events.append(
                    Block(
                        data,
                        scan.offsets,
                        scan.lengths,
                        path=self.path,
                        first_record=self.records,
                        start=base,
                    )
                )
                self.records += len(scan.offsets)
            if scan.code == _core.OK:
                self._keep(data, stop, stop, base, HEADER_BYTES)
                break
            if scan.code == _core.NEED_MORE and not self._is_truncated(base + at, scan.need, at_eof):
                self._keep(data, at, stop, base, scan.need)
                break
            after = self._on_damage(events, scan, data, at, stop, base, at_eof)
            if after is None:
                break
            at = after
        if at_eof and self._damage is not None:
            events.append(self._close_damage(self.position + self._carry, at_end=True))
        return events

    def _is_truncated(self, start: int, need: int, at_eof: bool) -> bool:
        # An unfinished header (need is HEADER_BYTES) tells nothing: only the end of the stream settles it.
        if at_eof or self.limit is None or need <= HEADER_BYTES or start + need <= self.limit:
            return at_eof
        self.limit = self._size()  # the file may have grown since
        return self.limit is not None and start + need > self.limit

    def _keep(self, data: Any, at: int, stop: int, base: int, need: int) -> None:
        """Make data[at:stop] the carry."""
        self.position = base + at
        self.need = need
        self._parts = [memoryview(data)[at:stop]] if at < stop else []
        self._carry = stop - at

    def _on_damage(
        self, events: list[Event], scan: Any, data: Any, at: int, stop: int, base: int, at_eof: bool
    ) -> int | None:
        """Note the damage at data[at]. Returns where to continue, or None if this piece is used up."""
        start = base + at
        kind, text, detail = self._describe(scan, start, stop - at)
        end = base + stop
        if scan.code == _core.BAD_DATA:
            end = start + HEADER_BYTES + scan.length + FOOTER_BYTES
        tail = at_eof and stop - at < HEADER_BYTES
        if not self._resync or tail:
            self.done = not self._resync
            events.append(Damage(kind, start, end, self.records, text, detail, tail))
            self._keep(data, stop, stop, base, HEADER_BYTES)
            return None
        if scan.code == _core.BAD_DATA:
            after = end - base
            at_end = at_eof or (self.limit is not None and end >= self.limit)
            if after + HEADER_BYTES > stop and not at_end:
                # Whether the length is to be believed shows in the header that follows: wait for it.
                self._keep(data, at, stop, base, after - at + HEADER_BYTES)
                return None
            if after == stop or (after + HEADER_BYTES <= stop and _is_header(data, after)):
                after = self._find_run(data, at + 1, after)
                events.append(Damage(kind, start, base + after, self.records, text, detail))
                return after
        self._damage = (kind, start, text, detail)
        return at + 1

    def _find_run(self, data: Any, at: int, stop: int) -> int:
        """Find a run of intact frames in data[at:stop] that ends exactly at `stop`; `stop` itself if there is none.

        Where bytes are missing from a record, its length reaches over the frames that follow. Frames inside its
        payload are no such run: they end before its footer.
        """
        while True:
            code, found, _ = _core.find_frame(data, at, stop, True, self._max)
            if code != _core.OK:
                return stop
            scan = _core.scan_frames(data, found, stop, True, self._max)
            if scan.code == _core.OK:
                return found
            at = scan.end

    def _describe(self, scan: Any, start: int, there: int) -> tuple[Kind, str, str]:
        sums = f"checksum stored {scan.stored:#010x}, computed {scan.computed:#010x}"
        if scan.code == _core.BAD_DATA:
            return "bad data CRC", f"corrupted record at {start + HEADER_BYTES}", f"data {sums}"
        if scan.code == _core.BAD_LENGTH:
            hint = " (Is this even a TFRecord file?)" if start == 0 else ""
            return "bad length CRC", f"corrupted record at {start}{hint}", f"length {sums}"
        if scan.code == _core.TOO_LARGE:
            claim = f"the length field says {scan.length} bytes"
            if scan.length >= _SIZE_T_LIMIT:
                return "too large", "record size too large", claim
            if scan.length >= _SIGNED_LIMIT - 16 and self.limit is None:
                return "too large", self._overflow_text(start, scan.length, there), claim
            if scan.length >= _SIGNED_LIMIT:
                return "too large", f"Can't read a negative number of bytes: {scan.length + 4 - 2**64}", claim
            if self.limit is None or start + scan.length + 16 <= self.limit:
                return "too large", "record size too large", f"{claim}, the limit is {self._max}"
        text = f"truncated record at {start}' failed with {self.short_text}"
        if there < HEADER_BYTES:
            return "truncated", text, f"the file ends {there} bytes into the {HEADER_BYTES} bytes of a header"
        return "truncated", text, f"the frame is {scan.length + 16} bytes long, more than the file has"

    def _overflow_text(self, start: int, length: int, there: int) -> str:
        """Return TensorFlow's text for a length in a compressed stream that overflows its signed arithmetic."""
        unread = there - HEADER_BYTES
        left = (length + FOOTER_BYTES - unread + 2**63) % 2**64 - 2**63
        if left > 0:
            return f"truncated record at {start}' failed with {self.short_text}"
        return (
            f"truncated record at {start}' failed with eof"
            if unread == 0
            else f"truncated record at {start + 12}"
        )

    def _search(self, data: Any, at: int, stop: int, base: int, at_eof: bool) -> int | None:
        """Find the next frame whose two CRCs hold; None if more data is needed (or there is no more)."""
        while True:
            code, at, need = _core.find_frame(data, at, stop, at_eof, self._max)
            if code == _core.OK:
                return at
            if code == _core.NEED_MORE and self._is_truncated(base + at, need, at_eof):
                at += 1
                continue
            self._keep(data, at, stop, base, need if code == _core.NEED_MORE else HEADER_BYTES)
            return None

    def _close_damage(self, end: int, *, at_end: bool = False) -> Damage:
        assert self._damage is not None
        kind, start, text, detail = self._damage
        self._damage = None
        kind = "garbage" if at_end and kind == "bad length CRC" else kind
        return Damage(kind, start, end, self.records, text, detail)


def check_block(block: Block) -> list[Event]:
    """Check the data CRCs of a block that was split without; up to the first bad record it stays as it is."""
    bad, stored, computed = _core.check_frames(block.data, block.offsets, block.lengths)
    if bad < 0:
        return [block]
    data = block.start + int(block.offsets[bad])
    damage = Damage(
        "bad data CRC",
        data - HEADER_BYTES,
        data + int(block.lengths[bad]) + FOOTER_BYTES,
        block.place(bad)[0],
        f"corrupted record at {data}",
        f"data checksum stored {stored:#010x}, computed {computed:#010x}",
    )
    return [block[:bad], damage] if bad else [damage]


def _is_header(data: Any, at: int) -> bool:
    head = bytes(memoryview(data)[at : at + HEADER_BYTES])
    return _core.crc32c_masked(head[:8]) == int.from_bytes(head[8:], "little")
