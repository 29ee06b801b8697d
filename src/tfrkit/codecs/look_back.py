"""How far a decoder may look back into its output: what it keeps of it takes memory, which a few bytes could claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfrkit.errors import ResourceExhaustedError

if TYPE_CHECKING:
    from tfrkit.stores.source import ByteSource

__all__ = ["LOOK_BACK_BYTES", "too_much_memory"]

LOOK_BACK_BYTES: Final = 1 << 27


def too_much_memory(tool: str, remedy: str, source: ByteSource) -> ResourceExhaustedError:
    """Make the error of a file that asks for more."""
    return ResourceExhaustedError(
        f"{tool} decompression of {source.name!r} needs more than {LOOK_BACK_BYTES >> 20} MiB to look back. "
        f"Compress the file again, with {remedy}.",
        path=source.name,
    )
