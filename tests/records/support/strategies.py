"""Hypothesis strategies: records, files of them, and damage done to these files."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from tfrkit.testing.reference import frame, frames, header

__all__ = ["damaged_files", "pieces", "records"]

# Short ones, so that frames meet the edges of blocks in every way; some hold whole frames themselves.
_record = st.one_of(
    st.binary(max_size=40),
    st.binary(max_size=8).map(lambda data: data * 9),
    st.lists(st.binary(max_size=5), min_size=1, max_size=2).map(frames),
)
records = st.lists(_record, max_size=12)


@st.composite
def damaged_files(draw: st.DrawFn) -> bytes:
    """A plain file with up to three flips, cuts, inserted or deleted bytes or false headers."""
    data = frames(draw(records))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.integers(1, 40))
        kind = draw(st.sampled_from(["flip", "insert", "delete", "cut", "header", "frame", "zero"]))
        if kind == "flip" and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << size % 8]) + data[at + 1 :]
        elif kind == "insert":
            data = data[:at] + draw(st.binary(min_size=1, max_size=20)) + data[at:]
        elif kind == "delete":
            data = data[:at] + data[at + size :]
        elif kind == "cut":
            data = data[:at]
        elif kind == "header":  # right by its CRC, and wrong
            data = data[:at] + header(draw(st.sampled_from([0, size, 1000, 1 << 33, 2**64 - 1]))) + data[at:]
        elif kind == "frame":
            data = data[:at] + frame(b"inserted") + data[at:]
        else:
            data = data[:at] + bytes(size) + data[at:]
    return data


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    """Cut a stream at these places."""
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    return [data[a:b] for a, b in itertools.pairwise(places)]
