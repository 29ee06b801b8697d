"""MemberContents: frames out of a file in members, of which the few last used stay inflated.

Of members that say that they are large, one at a time is inflated, and not kept.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import groupby
from typing import Final

import numpy as np

from tfrkit.codecs.table import codec
from tfrkit.errors import DataLossError
from tfrkit.model.block import IntArray
from tfrkit.records.access.index import Index
from tfrkit.records.access.walk import damaged_member
from tfrkit.stores.ranges import Pieces, WantedRanges
from tfrkit.threads import default_threads

__all__ = ["MemberContents"]

_MEMBERS_KEPT: Final = 16
_LARGE_MEMBER_BYTES: Final = 1 << 25
_large_member = threading.Lock()  # held while the content of one is in memory
_inflating = threading.BoundedSemaphore(2 * default_threads())  # as many requests as there may be


class MemberContents:
    """What is inside the members of one file. Thread-safe.

    Args:
        path: for messages.
        index: where members and frames are.
        read_at: reads bytes of the file.
    """

    def __init__(self, path: str, index: Index, read_at: Callable[[int, int], bytes]) -> None:
        self._path, self._index, self._read_at = path, index, read_at
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        members = codec(index.compression).members
        assert members is not None
        self._format = members

    @property
    def kept(self) -> int:
        """How many are in memory."""
        return len(self._kept)

    def copy(self, view: memoryview, starts: IntArray, sizes: IntArray, outs: IntArray) -> None:
        """Copy frames into a view, member by member.

        Args:
            view: where to.
            starts: of the frames in the stream.
            sizes: of the frames.
            outs: where each goes in the view.

        Raises:
            DataLossError: a member is damaged, or the index does not fit.
        """
        for number, places in self._by_member(starts):
            with self._content(number, None) as content:
                self._copy_out(content, number, places, view, starts, sizes, outs)

    def wanted(
        self,
        fetch: Callable[[int, int], Pieces],
        view: memoryview,
        starts: IntArray,
        sizes: IntArray,
        outs: IntArray,
    ) -> WantedRanges:
        """Say which ranges of the file to fetch for the same; frames of members that are kept are copied at once."""
        spans: list[tuple[int, int]] = []
        uses: list[tuple[int, list[int]]] = []
        for number, places in self._by_member(starts):
            content = self._kept.get(number)
            if content is not None:
                self._copy_out(content, number, places, view, starts, sizes, outs)
            else:
                spans.append(self._span(number))
                uses.append((number, places))

        def use(numbers: range, begin: int, data: memoryview) -> None:
            for each in numbers:
                start, stop = spans[each]
                number, places = uses[each]
                with _inflating, self._content(number, bytes(data[start - begin : stop - begin])) as content:
                    self._copy_out(content, number, places, view, starts, sizes, outs)

        return WantedRanges(fetch, [start for start, _ in spans], [stop for _, stop in spans], use)

    def _by_member(self, starts: IntArray) -> Iterator[tuple[int, list[int]]]:
        """Yield the members that frames are in, ascending, and which frames those are."""
        members = (np.searchsorted(self._index.member_stream, starts, side="right") - 1).tolist()
        in_order = np.argsort(members, kind="stable").tolist()
        for number, places in groupby(in_order, key=members.__getitem__):
            yield number, list(places)

    def _copy_out(
        self,
        content: bytes,
        number: int,
        places: list[int],
        view: memoryview,
        starts: IntArray,
        sizes: IntArray,
        outs: IntArray,
    ) -> None:
        base, inside = int(self._index.member_stream[number]), memoryview(content)
        for place in places:
            begin, size, out = int(starts[place]) - base, int(sizes[place]), int(outs[place])
            if begin + size > len(content):
                raise DataLossError(
                    f"{self._path}; the index does not fit the file. Make it again.", path=self._path
                )
            view[out : out + size] = inside[begin : begin + size]

    def _span(self, number: int) -> tuple[int, int]:
        table = self._index.member_file
        begin = int(table[number])
        return begin, int(table[number + 1]) if number + 1 < len(table) else self._index.shard_bytes

    @contextmanager
    def _content(self, number: int, member: bytes | None) -> Iterator[bytes]:
        """Give the content of a member, out of the few that are kept, else of its bytes or by reading them."""
        found = self._kept.get(number)
        if found is not None:
            yield found
            return
        begin, end = self._span(number)
        head = self._format.parse_header(
            self._read_at(begin, self._format.header_bytes)
            if member is None
            else member[: self._format.header_bytes]
        )
        large = head is not None and head[2] > _LARGE_MEMBER_BYTES
        with _large_member if large else nullcontext():
            content = None
            if head is not None and head[1] == end - begin:
                content = self._format.inflate(
                    self._read_at(begin, end - begin) if member is None else member
                )
            if content is None:
                offset = int(self._index.member_stream[number])
                raise damaged_member(self._path, self._index.compression, begin, offset)
            if not large:
                self._kept[number] = content
                while len(self._kept) > _MEMBERS_KEPT:
                    self._kept.popitem(last=False)
            yield content
