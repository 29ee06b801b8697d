"""Codec: everything that is to be known of one compression, as data and functions.

One file per compression makes one `Codec`; `table.py` has them all. No other part knows a name, a suffix or the first
bytes of a compression: it asks for the field that it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from tfrkit.stores.source import ByteSource

__all__ = ["CHUNK_BYTES", "WINDOW_BYTES", "Codec", "Decoder", "Encoder", "MemberFormat", "MemberHeader"]

WINDOW_BYTES: Final = 262144  # what decoders read at once: TensorFlow's input and output buffers
CHUNK_BYTES: Final = 1 << 18  # about the most that one read() of a decoder returns

MemberHeader = tuple[int, int, int, int]  # bytes to skip, whole size, uncompressed size, frames


class Decoder(Protocol):
    """The uncompressed stream of one file, in order. Used by one thread at a time."""

    lost: str  # what was left out silently, as TensorFlow does; "" if nothing was
    truncated: bool  # the container ended before its own end

    def read(self) -> bytes:
        """Return the next chunk; b"" at the end. Raise DataLossError where the container is damaged."""

    def recover(self) -> bool:
        """After an error: move to the next place from which reading can continue; False if there is none."""


class Encoder(Protocol):
    """Any compressor object: compress(data) and flush() return bytes, and flush() ends the stream."""

    def compress(self, data: Any, /) -> bytes: ...
    def flush(self) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberFormat:
    """Streams that tell their own size, one after another: written and read on all cores, and from any of them on.

    Attributes:
        header_bytes: how many bytes `parse_header` needs.
        max_bytes: the most uncompressed bytes of one member.
        default_level: of members; it may differ from that of one stream.
        empty: the whole file if there is nothing in it.
        deflate: data, number of frames in it and level -> one member.
        deflate_huge: data beyond `max_bytes` and level -> the pieces of one ordinary stream; `padded` makes it longer.
        pad: a member and where it will begin in the file -> the member as it must stand there.
        ends_badly: whether no member may end at a position of the file.
        tensorflow_stumbles: whether TensorFlow may lose what follows a member that ends at a position.
        parse_header: the first bytes of a member -> what it says of itself; None if it is another kind of stream.
        inflate: a whole member -> its content; None if it is not what it says.
    """

    header_bytes: int
    max_bytes: int
    default_level: int
    empty: bytes
    deflate: Callable[[bytes | memoryview, int, int], bytes]
    deflate_huge: Callable[[memoryview, int, bool], Iterator[bytes]]
    pad: Callable[[bytes, int], bytes]
    ends_badly: Callable[[int], bool]
    tensorflow_stumbles: Callable[[int], bool]
    parse_header: Callable[[bytes | memoryview], MemberHeader | None]
    inflate: Callable[[bytes | memoryview], bytes | None]


def _content_is_hidden(_head: bytes, _size: int) -> bytes | None:
    return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """One compression.

    Attributes:
        name: in capitals, as users write it; "" is no compression.
        title: its name in a sentence, such as "Zstandard".
        suffixes: of file names; the first is the one that is written.
        decoder: opens the uncompressed stream of a source that stands at the beginning of a container.
        encoder: makes a compressor for one stream at a level; None if this compression is only read, and never that
            of records.
        levels: the lowest and the highest.
        default_level: if none is given.
        magic: what files begin with, each of them certain enough; () where the first bytes prove nothing.
        begins: without `magic`: whether some first bytes may be such data.
        recognizes: whether first bytes are surely such data, whatever its content; by default if `magic` says so.
        preview: the first bytes of a file and how much is wanted -> the first bytes of its content as far as they can
            be seen; None if it is no such data.
        appends: a second stream may follow the first, so that a file can be continued in place.
        members: how it is written and read on all cores, and from places in the middle.
        tensorflow_decoder: as `decoder`, but losing what TensorFlow loses; None if TensorFlow does not know it.
        window_bits: as zlib counts them, of the stream that TensorFlow writes; None if it is no deflate stream.
        index_number: what index files call it (FORMAT.md); None if there is no index of it.
        sample_levels: which levels `tfr compress --table` measures; None is the default.
        extra: the extra of tfrkit that it needs; "" if none.
        hadoop: what Hadoop and Spark call it: its class there, without the package, and words.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    decoder: Callable[[ByteSource], Decoder]
    encoder: Callable[[int], Encoder] | None
    levels: tuple[int, int]
    default_level: int
    magic: tuple[bytes, ...] = ()
    begins: Callable[[bytes], bool] | None = None
    recognizes: Callable[[bytes], bool] | None = None
    preview: Callable[[bytes, int], bytes | None] = _content_is_hidden
    appends: bool = True
    members: MemberFormat | None = None
    tensorflow_decoder: Callable[[ByteSource], Decoder] | None = None
    window_bits: int | None = None
    index_number: int | None = None
    sample_levels: tuple[int | None, ...] = (None,)
    extra: str = ""
    hadoop: tuple[str, ...] = ()

    @property
    def suffix(self) -> str:
        """The suffix that names get."""
        return self.suffixes[0] if self.suffixes else ""

    @property
    def seeks(self) -> bool:
        """Whether files that tfrkit writes can be read from places in the middle, so that an index is of use."""
        return self.members is not None or not self.name

    @property
    def tensorflow(self) -> bool:
        """Whether TensorFlow reads it."""
        return self.tensorflow_decoder is not None

    def open(self, source: ByteSource, *, tensorflow: bool = False) -> Decoder:
        """Open the uncompressed stream of a source that stands at the beginning of (the rest of) the container.

        Args:
            source: any; it is read in order, and by position only where it is `regular`.
            tensorflow: lose what TensorFlow loses.

        Raises:
            MissingExtraError: the package that this compression needs is not installed.
        """
        opener = (
            self.tensorflow_decoder if tensorflow and self.tensorflow_decoder is not None else self.decoder
        )
        return opener(source)

    def may_begin(self, head: bytes) -> bool:
        """Tell whether a file with these first bytes may be such data. Pure: no I/O."""
        return head.startswith(self.magic) or (self.begins is not None and self.begins(head))

    def is_surely(self, head: bytes) -> bool:
        """Tell whether these first bytes can hardly be anything else. Pure: no I/O."""
        return head.startswith(self.magic) if self.recognizes is None else self.recognizes(head)
