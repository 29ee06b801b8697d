"""Record: one record with everything that is known of it: values, checksums, neighbours, bytes and what they mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from tfrkit import _core
from tfrkit.errors import OutOfRangeError
from tfrkit.parsing.wire_spans import wire_spans
from tfrkit.records.describe.shown_values import named_text
from tfrkit.records.read.decoded_message import MessageType
from tfrkit.records.read.decoded_record import DecodedRecord
from tfrkit.records.sniff.value_sniffer import Sample, sniff_values
from tfrkit.stores.files import is_local
from tfrkit.viewer.asked import Asked
from tfrkit.viewer.frames import RawFrame
from tfrkit.viewer.outline import Outline, role_of
from tfrkit.viewer.record_set import NumberedFrame
from tfrkit.viewer.session import Session, ViewedSet
from tfrkit.viewer.shown.cells import boxes_of, cell_of, kind_name, number_json, steps_cell, value_json
from tfrkit.viewer.shown.rows import decode_frames

__all__ = ["part_json", "record_json", "wire_json"]

_VALUES: Final = 1000  # of a feature
_ALL_VALUES: Final = 50_000  # of a record
_FEATURES: Final = 2000
_TEXT: Final = 20_000  # characters of a value
_ALL_BYTES: Final = 2 << 20  # of all features in an answer
_FIRST_BYTES: Final = 2048  # of which the wire format comes with the record
_FEW_NAMES: Final = 8  # of fields in a program
_SPANS: Final = 5000
_MOST_PART: Final = 1 << 16
_BOXES: Final = 500
_LOOK_BYTES: Final = 1 << 16


def record_json(session: Session, asked: Asked) -> dict[str, Any]:
    """Return what /api/record answers; with `step` every feature list has that step as `at`, too.

    Raises:
        OpError: there is no such set or record, or it is not reached yet.
    """
    viewed = session.get(asked.text("set", "a"))
    found = viewed.data.one(asked.number("n"))
    frame = found.frame
    record = decode_frames([frame], None, viewed.message)[0] if frame.data else None
    is_message = record is not None and record.data is None
    kind = "none" if record is None else "bytes" if not is_message else message_of(record)
    return {
        "n": found.number,
        "file": found.file,
        "path": viewed.data.files[found.file].name,
        "record": frame.record,
        "offset": frame.offset,
        "length": max(0, frame.size - 16),
        **_checksums(frame),
        "neighbours": _neighbours(viewed, found.number),
        "kind": {"Example": "example", "SequenceExample": "sequence"}.get(kind, kind),
        "message": (record.message or None) if record is not None else None,
        "steps": _step_count(record),
        **_features(record, viewed.outline, asked.number("step") if asked.maybe("step") else None),
        "wire": _spans(frame.payload, kind, 0, _FIRST_BYTES, viewed.message),
        "python": _python(viewed, found, kind, record),
        "error": frame.error or None,
    }


def part_json(session: Session, asked: Asked) -> dict[str, Any]:
    """Return what /api/bytes answers: some bytes of a record."""
    start, count = asked.number("start", 0), asked.number("count", 4096, most=_MOST_PART)
    payload = _frame(session, asked).view
    return {"start": start, "size": len(payload), "hex": payload[start : start + count].hex()}


def wire_json(session: Session, asked: Asked) -> dict[str, Any]:
    """Return what /api/wire answers: what some bytes of a record mean."""
    start, count = asked.number("start", 0), asked.number("count", 4096, most=_MOST_PART)
    frame = _frame(session, asked)
    message = session.get(asked.text("set", "a")).message
    record = decode_frames([frame], [], message)[0] if frame.data else None
    kind = "bytes" if record is None or record.data is not None else message_of(record)
    return {"start": start, "spans": _spans(frame.payload, kind, start, start + count, message)}


def message_of(record: DecodedRecord) -> str:
    """Return the name of the message that a record is."""
    if record.message:
        return "message"
    return "Example" if record.lists is None else "SequenceExample"


def _frame(session: Session, asked: Asked) -> RawFrame:
    return session.get(asked.text("set", "a")).data.one(asked.number("n")).frame


def _spans(
    payload: bytes, kind: str, start: int, end: int, message: MessageType | None
) -> list[dict[str, Any]]:
    if kind in ("bytes", "none") and sniff_values([Sample(payload[:_LOOK_BYTES], len(payload))]):
        return []  # a text, a picture or the like
    if kind == "message" and message is not None:
        spans = wire_spans(payload, message.name, start, end, _SPANS, message.wire_fields)
        return [span.to_dict() for span in spans]
    known = kind if kind in ("Example", "SequenceExample") else ""
    return [span.to_dict() for span in wire_spans(payload, known, start, end, _SPANS)]


def _checksums(frame: RawFrame) -> dict[str, Any]:
    """Return both checksums of a frame, stored and computed; nothing of one that cannot be read."""
    if len(frame.data) < 16:
        return {"length_crc": None, "data_crc": None}
    stored = (frame.data[8:12], frame.data[-4:])
    computed = (_core.crc32c_masked(frame.data[:8]), _core.crc32c_masked(frame.view))
    names = ("length_crc", "data_crc")
    pairs = [(int.from_bytes(each, "little"), crc) for each, crc in zip(stored, computed, strict=True)]
    return {
        name: {"stored": f"{one:08x}", "computed": f"{other:08x}", "ok": one == other}
        for name, (one, other) in zip(names, pairs, strict=True)
    }


def _neighbours(viewed: ViewedSet, number: int) -> dict[str, int | None]:
    total, known = viewed.data.total, viewed.data.known
    last = (known if total is None else total) - 1
    return {"before": number - 1 if number else None, "after": number + 1 if number < last else None}


def _step_count(record: DecodedRecord | None) -> int | None:
    if record is None or record.lists is None:
        return None
    return max(map(len, record.lists.values()), default=0)


def _features(record: DecodedRecord | None, outline: Outline, step: int | None) -> dict[str, Any]:
    if record is None:
        return {"features": [], "features_left": 0}
    if record.data is not None:
        return {"features": [], "features_left": 0, "content": value_json(record.data, _TEXT)}
    shown = _Shown(outline)
    listed = record.lists or {}
    names = [(name, value, None) for name, value in record.features.items()]
    steps = [(name, value, step) for name, value in listed.items()]
    found: list[dict[str, Any]] = []
    for name, value, _ in names[:_FEATURES]:
        found.append(shown.feature(name, value, record))
    found += [shown.steps(name, value, at) for name, value, at in steps[:_FEATURES]]
    kept, size = 0, 0
    for each in found:
        size += len(json.dumps(each))
        if size > _ALL_BYTES and kept:
            break
        kept += 1
    return {"features": found[:kept], "features_left": len(names) + len(steps) - kept}


class _Shown:
    """Values of features as far as there is room for them in an answer."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._left = _ALL_VALUES

    def feature(self, name: str, value: Any, record: DecodedRecord) -> dict[str, Any]:
        known = self._outline.get(name)
        cell = cell_of(name, value, known)
        shown: dict[str, Any] = {
            "name": name,
            "list": "context",
            "kind": cell["k"],
            "role": self._role(name, value, cell["role"]),
            "count": cell["n"],
            "values": self._values(value),
            "bytes": self._sizes(value),
        }
        if known is not None and known.class_names:
            shown["texts"] = [named_text(each, known.class_names) for each in shown["values"]]
        boxes = None if known is None else boxes_of(known, record.features, _BOXES)
        return shown if boxes is None else {**shown, "boxes": boxes}

    def steps(self, name: str, steps: Sequence[Any], at: int | None) -> dict[str, Any]:
        """Return a feature list: the values of its first steps, and of the step `at`."""
        known = self._outline.get(name)
        cell = steps_cell(name, steps, known)
        values: list[Any] = []
        for step in steps[:_VALUES]:
            if self._left <= 0:
                break
            values.append(self._values(step))
        first = next((step for step in steps if step is not None and len(step)), None)
        shown = {
            "name": name,
            "list": "steps",
            "kind": kind_name(first),
            "role": self._role(name, first, cell["role"]),
            "count": len(steps),
            "values": values,
            "bytes": [self._sizes(step) for step in steps[: len(values)]],
        }
        if at is not None and at < len(steps):
            self._left = max(self._left, _VALUES)
            shown |= {"at": self._values(steps[at]), "at_bytes": self._sizes(steps[at])}
        return shown

    def _role(self, name: str, value: Any, role: str) -> str:
        """Look at bytes themselves: records need not be like the first ones."""
        if not isinstance(value, list) or not value or role in ("label", "boxes"):
            return role
        looks = sniff_values([Sample(each[:_LOOK_BYTES], len(each)) for each in value[:2]])
        return role_of(name, "bytes", looks, len(value), max(map(len, value[:2])))

    def _values(self, value: Any) -> list[Any]:
        if value is None:
            return []
        few = value[: max(1, min(_VALUES, self._left))]
        self._left -= len(few)
        if isinstance(value, list):
            self._left -= sum(min(len(each), _TEXT) for each in few) // 1000  # no more of it is shown
            return [value_json(each, _TEXT) for each in few]
        return [number_json(each) for each in few]

    @staticmethod
    def _sizes(value: Any) -> list[int] | None:
        return [len(each) for each in value[:_VALUES]] if isinstance(value, list) else None


def _python(viewed: ViewedSet, found: NumberedFrame, kind: str, record: DecodedRecord | None) -> str:
    """Return a program that reads the record."""
    state = viewed.data.files[found.file]
    path = state.name if not is_local(state.path) else state.path
    opening = f"tfr.RecordFile({path!r}{', crc=False' if found.frame.error else ''})"
    lines = ["import tfrkit as tfr", "", f"record = {opening}[{found.frame.record}]"]
    if kind == "Example":
        lines.append("features = tfr.to_dict(record)")
    elif kind == "SequenceExample":
        lines += ["parts = tfr.to_dict(record, sequence=True)", 'parts["context"], parts["feature_lists"]']
    elif viewed.message is not None and record is not None and record.names:
        names = [*record.features, *(record.lists or {})][:_FEW_NAMES]
        lines.append(
            f"fields = tfr.parse_proto(record, {viewed.message.source!r}, {viewed.message.name!r}, {names!r})"
        )
    return "\n".join(lines) + "\n"


def values_of(viewed: ViewedSet, frame: RawFrame, name: str, step: int | None) -> Any:
    """Return the values of one feature of a record, or of one step of a feature list.

    Raises:
        OutOfRangeError: the record has no such feature or step.
    """
    record = decode_frames([frame], [name], viewed.message)[0] if frame.data else None
    if record is None or record.data is not None:
        raise OutOfRangeError(f"record {frame.record} has no feature {name!r:.80}: it is no Example")
    if step is None:
        if name in record.features:
            return record.features[name]
    elif name in (record.lists or {}) and step < len((record.lists or {})[name]):
        return (record.lists or {})[name][step]
    where = "" if step is None else f" with a step {step}"
    raise OutOfRangeError(f"record {frame.record} has no feature {name!r:.80}{where}")
