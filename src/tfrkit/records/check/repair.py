"""repair: write every intact record of a damaged file to a new one, and report what was lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfrkit.codecs.table import canonical
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.policy import TFRKIT
from tfrkit.records.check.verify import walk_events
from tfrkit.records.read.damage import MAX_DAMAGES, Damage
from tfrkit.records.read.file_reader import open_file_reader
from tfrkit.records.write.writer import TFRecordWriter
from tfrkit.stores.files import open_source, real_path
from tfrkit.stores.paths import PathLike, path_text
from tfrkit.stores.url import display_name

__all__ = ["RepairReport", "mend", "repair"]


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was saved and what was lost.

    Attributes:
        source: the damaged file.
        target: the mended one.
        records: how many intact records were written.
        data_bytes: bytes of their payloads.
        lost: each damaged byte range of the source's uncompressed stream, in order; of very many the first 10,000.
        more_lost: how many there are beyond `lost`.
        more_lost_bytes: and their bytes.
        lost_records: how many records were lost, by the manifest; None if it does not know the file.
        error: why nothing was done, or "".
    """

    source: str
    target: str
    records: int
    data_bytes: int
    lost: tuple[Damage, ...]
    more_lost: int = 0
    more_lost_bytes: int = 0
    lost_records: int | None = None
    error: str = ""

    @property
    def lost_bytes(self) -> int:
        """Bytes of the source that belong to no intact record."""
        return sum(damage.bytes for damage in self.lost) + self.more_lost_bytes

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a JSON-able dict."""
        return {
            "source": self.source,
            "target": self.target,
            "records": self.records,
            "data_bytes": self.data_bytes,
            "lost_bytes": self.lost_bytes,
            "lost": [damage.to_dict() for damage in self.lost],
            "more_lost": self.more_lost,
            "lost_records": self.lost_records,
            "error": self.error,
        }

    def __str__(self) -> str:
        if self.error:
            return f"{self.source}: NOT REPAIRED: {self.error}"
        count = len(self.lost) + self.more_lost
        damages = f"{count} damage{'' if count == 1 else 's'}"
        summary = f"{self.records} records saved, {damages} with {self.lost_bytes} bytes lost"
        lines = [f"{self.source} -> {self.target}: {summary}"]
        lines += [f"  lost bytes {d.start}-{d.end} after record {d.record}: {d.kind}" for d in self.lost]
        if self.more_lost:
            lines.append(f"  and {self.more_lost} more")
        return "\n".join(lines)


def repair(
    source: PathLike,
    target: PathLike,
    *,
    compression: str = "auto",
    progress: Callable[[int], object] | None = None,
) -> RepairReport:
    """Copy every intact record of `source` to `target`, finding the next one after each damage.

    A frame counts as intact only if both its CRCs hold. Records that themselves hold TFRecord frames are the one
    exception: where the outer header is damaged, the inner frames are found. The target appears when it is whole; the
    source is left as it is.

    Args:
        source: the damaged file.
        target: the file to make; its suffix says how it is compressed. It may not be the source.
        compression: of the source; "auto" finds out by the content.
        progress: called now and then with how many more bytes of the source are done.

    Returns:
        What was saved and what was lost, byte range by byte range.
    """
    old, new = path_text(source), path_text(target)
    if real_path(old) == real_path(new):
        raise InvalidArgumentError(
            f"cannot repair {old!r} onto itself. Name another target, and look at it before you replace the source.",
            path=old,
        )
    with TFRecordWriter(new, atomic=True) as writer:
        return mend(old, writer, target=new, compression=compression, progress=progress)


def mend(
    source: str,
    writer: TFRecordWriter,
    *,
    target: str,
    compression: str = "auto",
    progress: Callable[[int], object] | None = None,
) -> RepairReport:
    """Write every intact record of a file with a writer, which stays open; `target` is for the report."""
    lost: list[Damage] = []
    records = data_bytes = more = more_bytes = 0
    kind = compression if compression == "auto" else canonical(compression)
    reader = open_file_reader(open_source(source), TFRKIT.with_options(compression=kind, on_corrupt="skip"))
    for event in walk_events(reader, progress):
        if isinstance(event, Block):
            writer.write_many(event)
            records += len(event)
            data_bytes += event.nbytes
        elif len(lost) < MAX_DAMAGES:
            lost.append(event)
        else:
            more += 1
            more_bytes += event.bytes
    names = display_name(source), display_name(target)
    return RepairReport(*names, records, data_bytes, tuple(lost), more, more_bytes)
