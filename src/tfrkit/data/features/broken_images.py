"""What becomes of images that cannot be decoded: an error in their place, or they are left out and counted.

"skip" leaves out the element. "stop" leaves out the element and what follows it in its file, as if the file ended
there; elements that a shuffle returned before it stay. Of a batch, which may be of many files, the row is left out.
"""

from __future__ import annotations

import warnings
from typing import Any, Final

import numpy as np

from tfrkit.data.elements import columns as leaf
from tfrkit.data.elements.chunk import Chunk
from tfrkit.data.engine.node import Context, NodeIterator, Run, UnaryIterator
from tfrkit.data.features.image_column import BadImage, as_batch, decode_column
from tfrkit.errors import DataLossWarning
from tfrkit.images.image_maker import ImageMaker
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.policy import OnCorrupt
from tfrkit.records.read.damage import Damage

__all__ = ["BrokenImages", "DecodedIterator"]

_NO_FILE: Final = ""  # in a state: for elements that came from no file


class BrokenImages:
    """The broken images of one pass, and the files that were left because of one.

    Args:
        on_corrupt: what becomes of them.
        context: where they are counted.
    """

    def __init__(self, on_corrupt: OnCorrupt, context: Context) -> None:
        self.on_corrupt = on_corrupt
        self._context = context
        self._ends: dict[str, int] = {}  # of files that were left: the number of the record that was broken

    def save(self, at: Any) -> Any:
        """The state of the stage, whose input stands at a place."""
        return at if self.on_corrupt == "raise" else {"at": at, "left": list(self._ends.items())}

    def restore(self, state: Any) -> Any:
        """Take back what `save` wrote; returns the state of the input."""
        self._ends = dict(state["left"])
        return state["at"]

    def pass_over(self, bad: BadImage) -> bool:
        """Count a broken image, if such are left out; False if they are not."""
        if self.on_corrupt == "raise":
            return False
        path, record = bad.path or _NO_FILE, bad.record or 0
        if self._is_left(path, record):
            return True
        self._count(bad)
        if self.on_corrupt == "stop":
            self._ends[path] = record
            rest = f"the rest of {path!r} is" if path else "everything after it is"
            warnings.warn(f"{bad.error()}; {rest} left out", DataLossWarning, stacklevel=2)
        return True

    def kept(self, chunk: Chunk) -> Chunk:
        """The elements without those after a broken one in their file."""
        if not self._ends:
            return chunk
        origin = chunk.origin
        if origin is None:
            places = [(_NO_FILE, 0)] * len(chunk)
        else:
            names = [path or _NO_FILE for path in origin.paths]
            files, records = origin.files.tolist(), origin.records.tolist()
            places = [(names[file], record) for file, record in zip(files, records, strict=True)]
        rows = [row for row, place in enumerate(places) if not self._is_left(*place)]
        return chunk if len(rows) == len(chunk) else chunk.take(np.array(rows, np.int64))

    @property
    def over(self) -> bool:
        """Whether nothing more can come."""
        return _NO_FILE in self._ends

    def leave_out(self, features: dict[str, Any], maker: ImageMaker, bad: BadImage) -> dict[str, Any] | None:
        """A batch without its broken images; None if it is to be an error, or is no batch."""
        if self.on_corrupt == "raise" or not _is_batch(features, bad.batch):
            return None
        column = features[bad.key]
        column = column if isinstance(column, BytesColumn) else BytesColumn.from_list(column)
        parts: list[Any] = []
        good: list[int] = []
        begin = 0
        while begin < len(column):
            images, error = decode_column(column[begin:], bad.key, maker, 1)
            parts.append(images)
            good += range(begin, begin + len(images))
            begin += len(images) + 1
            if isinstance(error, BadImage):
                self._count(BadImage(begin - 1, bad.key, error.reason, len(column)))
            elif error is not None:
                raise error
        rows = np.array(good, np.int64)
        others = {key: None if key == bad.key else leaf.take(value, rows) for key, value in features.items()}
        return {**others, bad.key: as_batch(leaf.concat(parts), maker)}

    def _is_left(self, path: str, record: int) -> bool:
        return path in self._ends and record >= self._ends[path]

    def _count(self, bad: BadImage) -> None:
        damage = Damage("bad image", -1, -1, bad.record or 0, bad.reason.message, f"feature {bad.key!r}")
        self._context.count_damages(1, [(bad.path or _NO_FILE, damage)])


def _is_batch(features: dict[str, Any], count: int | None) -> bool:
    """Whether each feature has one row for each image."""
    return all(
        not isinstance(value, bytes) and hasattr(value, "__len__") and len(value) == count
        for value in features.values()
    )


class DecodedIterator(UnaryIterator):
    """Elements whose images are decoded, without those that are to be left out."""

    def __init__(self, input: NodeIterator, broken: BrokenImages) -> None:
        super().__init__(input)
        self._broken = broken

    def pull(self, n: int) -> Run | None:
        """Pull until there is something to give."""
        while not self._broken.over:
            run = self.input.pull(n)
            if run is None:
                return None
            chunk, error = self._broken.kept(run.chunk), run.error
            if isinstance(error, BadImage):
                error = None if self._broken.pass_over(error) else error.error()
            if len(chunk) or error is not None:
                return Run(chunk, error)
        return None

    def save(self) -> Any:
        """Where the input stands, and which files were left."""
        return self._broken.save(self.input.save())
