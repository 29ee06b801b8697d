"""Session: what one viewer shows: a data set, perhaps a second one to compare with, and what their features are."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

from tfrkit.errors import NotFoundError
from tfrkit.records.read.decoded_message import MessageType
from tfrkit.viewer.outline import Outline, as_examples, make_outline
from tfrkit.viewer.record_set import RecordSet

__all__ = ["NO_CONDITIONS", "Session", "ViewedSet"]

NO_CONDITIONS: Final = (
    "conditions, orders and statistics are for the features of Examples, not for fields of messages"
)

_SAMPLE_RECORDS: Final = 200
_MOST_FILES: Final = 2000  # that the page is told of at once; /api/files has all


class ViewedSet:
    """A data set and its outline, which is made of the first records when it is first asked for. Thread-safe.

    Args:
        paths: of the files.
        message: which messages the records are, if they are not Examples.
        class_names: what numbers stand for, by feature.
    """

    def __init__(
        self,
        paths: Sequence[str],
        message: MessageType | None = None,
        class_names: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.data = RecordSet(paths)
        self.message = message
        self.class_names = class_names or {}
        self._outline: Outline | None = None
        self._lock = threading.Lock()

    @property
    def outline(self) -> Outline:
        """What the first records have."""
        with self._lock:
            if self._outline is None:
                frames = self.data.first(_SAMPLE_RECORDS)
                payloads = (each.frame.view for each in frames if not each.frame.error)
                outline = make_outline(
                    payloads if self.message is None else as_examples(payloads, self.message)
                )
                self._outline = outline.with_names(self.class_names)
            return self._outline

    @property
    def is_complete(self) -> bool:
        """Whether the outline is of all records."""
        return self.data.total is not None and self.outline.records >= self.data.total

    @property
    def title(self) -> str:
        """What the set is called: the file, or the folder and how many files."""
        files = self.data.files
        if len(files) == 1:
            return files[0].name
        folders = {os.path.dirname(state.name) for state in files}
        where = folders.pop() if len(folders) == 1 else "several folders"
        return f"{where or '.'} ({len(files):,} files)"

    def to_dict(self) -> dict[str, Any]:
        """Return what the page is told of the set."""
        outline, files = self.outline, self.data.files
        sizes = [state.size or 0 for state in files]
        return {
            "title": self.title if self.message is None else f"{self.title} as {self.message.name}",
            "files": [
                {
                    "number": number,
                    "path": state.name,
                    "bytes": state.size,
                    "records": state.records,
                    "compression": state.compression,
                }
                for number, state in enumerate(files[:_MOST_FILES])
            ],
            "file_count": len(files),
            "records": self.data.total,
            "known": self.data.known,
            "bytes": sum(sizes),
            "kind": outline.kind,
            "features": [feature.to_dict() for feature in outline.features],
            "features_left": outline.left,
            "names_left": list(outline.names_left),
            "from_records": outline.records,
            "complete": self.is_complete,
        }


class Session:
    """The data sets of one viewer, by name: "a", and "b" if there is one to compare with.

    Args:
        paths: of the files.
        compare: of those to compare with.
        message: which messages the records are, if they are not Examples.
        class_names: what numbers of both stand for, by feature.
    """

    def __init__(
        self,
        paths: Sequence[str],
        compare: Sequence[str] | None = None,
        message: MessageType | None = None,
        class_names: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.sets: Mapping[str, ViewedSet] = {
            "a": ViewedSet(paths, message, class_names),
            **({"b": ViewedSet(compare, message, class_names)} if compare else {}),
        }

    def start(self) -> None:
        """Begin to count the records of all files, in the background."""
        for viewed in self.sets.values():
            viewed.data.start()

    def close(self) -> None:
        """End what runs in the background."""
        for viewed in self.sets.values():
            viewed.data.close()

    def get(self, name: str) -> ViewedSet:
        """Return a data set by its name.

        Raises:
            NotFoundError: there is none of this name.
        """
        if name not in self.sets:
            raise NotFoundError(f"there is no data set {name!r:.20}: expected one of {', '.join(self.sets)}")
        return self.sets[name]

    def to_dict(self) -> dict[str, Any]:
        """Return what the page is told first."""
        sets = {name: self.sets[name].to_dict() if name in self.sets else None for name in ("a", "b")}
        return {"version": version("tfrkit"), "sets": sets}
