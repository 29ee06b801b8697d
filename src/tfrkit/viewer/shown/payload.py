"""Payload: bytes out of a record as a browser may have them: pictures and sound by what they are, all else as a file.

Records are hostile. Nothing of them is ever sent as a document: no HTML, no SVG, no script, whatever they begin with.
"""

from __future__ import annotations

import re
from typing import Final

from tfrkit.errors import DataLossError, OutOfRangeError
from tfrkit.viewer.answers import Answer
from tfrkit.viewer.asked import Asked
from tfrkit.viewer.session import Session
from tfrkit.viewer.shown.record import values_of

__all__ = ["download", "media_type", "payload", "value_of"]

_UNKNOWN: Final = "application/octet-stream"
# By what bytes begin with: what browsers show, and nothing that can hold a script.
_TYPES: Final[tuple[tuple[re.Pattern[bytes], str], ...]] = (
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"BM.{4}\0{4}", re.DOTALL), "image/bmp"),
    (re.compile(rb"....ftypavi[fs]", re.DOTALL), "image/avif"),
    (re.compile(rb"RIFF....WAVE", re.DOTALL), "audio/wav"),
    (re.compile(rb"fLaC"), "audio/flac"),
    (re.compile(rb"OggS"), "audio/ogg"),
    (re.compile(rb"ID3[\x02-\x04]|\xff[\xe3\xf3\xfb\xf2\xfa]"), "audio/mpeg"),
    (re.compile(rb"....ftypM4A", re.DOTALL), "audio/mp4"),
)
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "no-store",
    "Accept-Ranges": "bytes",
}
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


def media_type(data: bytes) -> str:
    r"""Return the type of a picture or sound; of anything else that of bytes.

    >>> media_type(b"\xff\xd8\xff\xe0"), media_type(b"<svg xmlns="), media_type(b"<script>")
    ('image/jpeg', 'application/octet-stream', 'application/octet-stream')
    """
    return next((kind for begin, kind in _TYPES if begin.match(data[:64])), _UNKNOWN)


def value_of(session: Session, asked: Asked) -> bytes:
    """Return one byte string of a record: set, n, feature, index, and step of a feature list.

    Raises:
        OutOfRangeError: there is none.
    """
    viewed = session.get(asked.text("set", "a"))
    frame = viewed.data.one(asked.number("n")).frame
    if frame.error and not frame.data:
        raise DataLossError(frame.error)
    name, index = asked.text("feature"), asked.number("index", 0)
    step = asked.number("step") if asked.maybe("step") else None
    values = values_of(viewed, frame, name, step)
    if not isinstance(values, list) or index >= len(values):
        raise OutOfRangeError(f"record {frame.record} has no byte string {index} in its feature {name!r:.80}")
    value: bytes = values[index]
    return value


def payload(session: Session, asked: Asked) -> Answer:
    """Return what /api/value answers."""
    data = value_of(session, asked)
    kind = media_type(data)
    name = f"record-{asked.number('n')}-{asked.text('feature')}-{asked.number('index', 0)}"
    if asked.flag("download") or kind == _UNKNOWN:
        return Answer(
            data, kind, headers=_as_file(f"{name}.{kind.split('/')[1] if kind != _UNKNOWN else 'bin'}")
        )
    return Answer(data, kind, headers=_HEADERS)


def download(session: Session, asked: Asked) -> Answer:
    """Return what /api/download answers: the record, or its frame.

    Raises:
        DataLossError: it cannot be read.
    """
    found = session.get(asked.text("set", "a")).data.one(asked.number("n"))
    if not found.frame.data:
        raise DataLossError(found.frame.error)
    if asked.flag("frame"):
        return Answer(bytes(found.frame.data), _UNKNOWN, headers=_as_file(f"record-{found.number}.tfrecord"))
    return Answer(found.frame.payload, _UNKNOWN, headers=_as_file(f"record-{found.number}.bin"))


def _as_file(name: str) -> dict[str, str]:
    """Return the headers of a file to be saved, under a name without anything special in it."""
    safe = _UNSAFE.sub("_", name)[-100:].lstrip(".")
    return {**_HEADERS, "Content-Disposition": f'attachment; filename="{safe}"'}
