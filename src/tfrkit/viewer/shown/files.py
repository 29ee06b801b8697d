"""Files: what is known of each file: size, records, compression, index, zones, damage."""

from __future__ import annotations

from typing import Any, Final

from tfrkit.errors import OpError
from tfrkit.records.access.index import zones_path
from tfrkit.stores.files import is_local, is_there
from tfrkit.viewer.asked import Asked
from tfrkit.viewer.record_set import RecordSet
from tfrkit.viewer.session import Session
from tfrkit.viewer.verify_job import damages_json

__all__ = ["files_json"]

_MOST: Final = 2000
_DAMAGES: Final = 100  # of a file


def files_json(session: Session, asked: Asked) -> dict[str, Any]:
    """Return what /api/files answers; with `start` the files from there on."""
    data = session.get(asked.text("set", "a")).data
    start, count = asked.number("start", 0), asked.number("count", _MOST, most=_MOST)
    numbers = range(start, min(len(data.files), start + count))
    found = [_file(data, number) for number in numbers]
    return {"files": found, "total": len(data.files), "records": data.total}


def _file(data: RecordSet, number: int) -> dict[str, Any]:
    state, opened = data.files[number], data.opened(number)
    return {
        "number": number,
        "path": state.name,
        "bytes": state.size,
        "records": state.records,
        "first": data.first_of(number),
        "compression": state.compression,
        "indexed": state.is_indexed,
        "zones": _has_zones(state.path),
        "error": state.error or None,
        "damages": damages_json(
            number,
            data.first_of(number),
            opened.damages[:_DAMAGES] if opened else (),
            opened.count if opened else None,
        ),
        "damage_count": len(opened.damages) if opened is not None else 0,
    }


def _has_zones(path: str) -> bool | None:
    """Tell whether zones lie beside a local file; a remote one is not asked for each time."""
    if not is_local(path):
        return None
    try:
        return is_there(zones_path(path))
    except OpError:
        return None
