"""decode_image: encoded images to arrays, on all cores.

Before a batch it is one of the stages that are fused with it: each thread makes a batch, and decodes straight into the
rows of its array. Alone, the elements are decoded ahead, several at once, in order. A broken image is an error in its
place, or is skipped, as the source's `on_corrupt` says; skipping changes how many elements there are, so
then the stage is never fused.

"skip" leaves out the element. "stop" leaves out the element and what follows it in its file, as if the file ended
there; elements that a shuffle returned before it stay. Of a batch, which may be of many files, the row is left out.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from tfrkit.data.elements import columns as leaf
from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk, concat
from tfrkit.data.elements.origin import Origin
from tfrkit.data.engine.chunk_node import ChunkFunction, ChunkNode, each_element
from tfrkit.data.engine.lookup import Found, Lookup, MadeLookup
from tfrkit.data.engine.node import (
    Context,
    Node,
    NodeIterator,
    Run,
    UnaryIterator,
    UnaryNode,
)
from tfrkit.data.features.column_ops import NormalizeOp, require_features
from tfrkit.data.features.image_column import BadImage, as_batch, decode_column, decode_value
from tfrkit.data.stages.parallel_map import ParallelMapIterator
from tfrkit.errors import DataLossWarning
from tfrkit.images.image_maker import ImageMaker
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import TensorSpec
from tfrkit.model.policy import OnCorrupt, ReadPolicy
from tfrkit.model.row_selection import IntArray
from tfrkit.records.read.damage import Damage

__all__ = ["DecodeImageNode"]

_NO_FILE: Final = ""  # in a state: for elements that came from no file
_NOWHERE: Final[list[tuple[str | None, int]]] = [(None, 0)]  # such an element's place


@dataclass(frozen=True, eq=False)
class DecodeImageNode(ChunkNode):
    """The images of one feature, decoded; the others stay."""

    key: str
    maker: ImageMaker
    on_corrupt: OnCorrupt

    verb = "decode_image"
    wants_origin = True  # a broken image is named by its file and record

    def __post_init__(self) -> None:
        """Find out at once if the feature is missing, where that takes no user's code."""
        ReadPolicy(on_corrupt=self.on_corrupt)  # checks it
        if not self.input.opaque:
            self.element_spec()

    @property
    def keeps_count(self) -> bool:
        """Whether every element gives one, or an error in its place."""
        return self.on_corrupt == "raise"

    @property
    def leaves_out(self) -> bool:  # type: ignore[override]  # it depends on the policy
        return not self.keeps_count

    @property
    def unindexable(self) -> str:  # type: ignore[override]  # it depends on the policy
        return "" if self.on_corrupt != "stop" else 'Pass on_corrupt="raise" or "skip".'

    def lookup_over(self, inner: Lookup, context: Context) -> Lookup:
        function = self.chunk_function(context)
        if self.keeps_count:
            return MadeLookup(inner, function)
        return _SkippingLookup(inner, function, _BrokenImages(self.on_corrupt, context))

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        broken = _BrokenImages(self.on_corrupt, context)
        at = state if self.keeps_count or state is None else broken.restore(state)

        def decode(element: Any, path: str | None, record: int) -> dict[str, Any]:
            """Decode the image of an element that came from a record of a file, if that is known."""
            features = _features(self.key, element)
            try:
                return {**features, self.key: decode_value(features[self.key], self.key, self.maker, 1)}
            except BadImage as bad:
                left = broken.leave_out(features, self.maker, bad)
                if left is not None:
                    return left
                bad.path, bad.record = path, record if path is not None else None
                raise

        located = _LocatedNode(self.input)
        images = _ImageIterator(located, context, at, decode, context.threads, ordered=True)
        images.key = self.key
        return _DecodedIterator(images, broken)

    def chunk_function(self, context: Context) -> ChunkFunction:
        return partial(_decode_chunk, self.key, self.maker, context)

    def with_next(self, stage: Node) -> DecodeImageNode | None:
        """The stage that also does what the next one does, while an image is in the cache; None if it cannot.

        For 64 images of 96 x 96 that saves a walk over 7 MB: 8 of 30 us an image (benchmarks/images_decode.py).
        """
        op = getattr(stage, "op", None)
        if not isinstance(op, NormalizeOp) or op.key != self.key or self.maker.change is not None:
            return None
        fits = op.change.channels <= {self.maker.channels} and self.maker.dtype == np.float32
        return replace(self, maker=replace(self.maker, change=op.change)) if fits else None

    def element_spec(self) -> Any:
        """Sizes as far as they are given."""
        spec = _features(self.key, self.input.element_spec())
        outer = spec[self.key].shape
        shape = None if outer is None else (*outer, *self.maker.shape)
        return spec | {self.key: TensorSpec(shape, self.maker.dtype)}

    def _shown(self) -> str:
        size = "" if self.maker.size is None else f", size={self.maker.size}"
        return f"{self.key!r}{size}{', scaled=True' if self.maker.scaled else ''}"


class _SkippingLookup(MadeLookup):
    """Images by number, without the broken ones."""

    def __init__(self, inner: Lookup, function: ChunkFunction, broken: _BrokenImages) -> None:
        super().__init__(inner, function)
        self._broken = broken
        self._counted: set[tuple[int, int]] = set()  # numbers of broken ones, and the epoch of each

    def at(self, numbers: IntArray, epoch: int) -> Found:
        chunk, kept = self.inner.at(numbers, epoch)
        if not len(chunk):
            return Found(chunk, kept)
        places = np.arange(len(numbers)) if kept is None else kept
        parts: list[Chunk] = []
        good: list[IntArray] = [np.zeros(0, np.int64)]
        start = 0
        while start < len(chunk):
            made, error = self._function(chunk.slice(start, len(chunk)))
            parts.append(made)
            good.append(places[start : start + len(made)])
            start += len(made) + 1
            if isinstance(error, BadImage):
                which = int(numbers[places[start - 1]]), epoch
                if which not in self._counted:  # it may be decoded again because another fails
                    self._counted.add(which)
                    self._broken.pass_over(error.locate(chunk, start - 1))
            elif error is not None:
                raise error
        found = np.concatenate(good)
        return Found(concat(parts), None if len(found) == len(numbers) else found)


def _decode_chunk(
    key: str, maker: ImageMaker, context: Context, chunk: Chunk
) -> tuple[Chunk, Exception | None]:
    """Decode the images of elements up to the first that fails.

    Returns:
        What was made of those before it, and its error (a BadImage if it is broken); all of them and None if none is.
    """
    if isinstance(chunk, ColumnChunk) and isinstance(chunk.columns, dict):
        _features(key, chunk.columns)
        column = chunk.columns[key]
        if getattr(column, "ndim", 1) == 1:
            images, error = decode_column(column, key, maker, context.threads)
            good = chunk.slice(0, len(images))
            return ColumnChunk({**good.columns, key: images}, len(images), good.origin), error

    def decode(element: Any) -> dict[str, Any]:
        features = _features(key, element)
        return {**features, key: decode_value(features[key], key, maker, context.threads)}

    made, error = each_element(decode, chunk)
    if error is not None and not isinstance(error, BadImage):
        error.add_note(f"It came up in decode_image({key!r}).")
    return made, error


def _features(key: str, element: Any) -> dict[str, Any]:
    return require_features(f"decode_image({key!r})", element, [key])


@dataclass(frozen=True, eq=False)
class _LocatedNode(UnaryNode):
    """Each element with the file and the record that it came from, as arguments of a function."""

    verb = "located"

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _LocatedIterator(self.input.begin(context, state))


class _LocatedIterator(UnaryIterator):
    def pull(self, n: int) -> Run | None:
        run = self.input.pull(n)
        if run is None or not len(run.chunk):
            return run
        chunk = run.chunk
        elements, origin = chunk.objects(), chunk.origin
        places = _NOWHERE * len(chunk) if origin is None else origin.places()
        located = [(element, *place) for element, place in zip(elements, places, strict=True)]
        if not isinstance(chunk, ColumnChunk):
            return Run(ObjectChunk(located, origin), run.error)
        columns = (chunk.columns, *(leaf.RowList(list(each)) for each in zip(*places, strict=True)))
        return Run(ColumnChunk(columns, len(chunk), origin).with_objects(located), run.error)


class _ImageIterator(ParallelMapIterator):
    """Elements with decoded images; features that were columns stay so, and Ragged with them."""

    key: str

    def results(self, chunk: Chunk, made: list[Any]) -> Chunk:
        found = super().results(chunk, made)
        before: Any = chunk.slice(0, len(made)).columns[0] if isinstance(chunk, ColumnChunk) else None
        column = before[self.key] if made and isinstance(before, dict) else None
        if not isinstance(column, BytesColumn) or column.ndim != 1:  # batches may have lost rows
            return found
        return _DecodedChunk({**before, self.key: None}, self.key, made, found.origin)


class _DecodedChunk(ColumnChunk):
    """Elements with images as they were made; the column of images is made when columns are asked for.

    So a consumer of single elements owns the images, and need not copy them. `before`: all columns, that of the images
    being None.
    """

    __slots__ = ("_before", "_key")

    def __init__(self, before: Any, key: str, made: list[Any], origin: Origin | None) -> None:
        super().__init__(None, len(made), origin)
        self._before = before
        self._key = key
        self._objects = made

    @property
    def columns(self) -> Any:
        images = leaf.RowList([each[self._key] for each in self.objects()])
        return {**self._before, self._key: images}

    def slice(self, start: int, stop: int) -> ColumnChunk:
        if not start and stop == len(self):
            return self
        others = {key: column for key, column in self._before.items() if key != self._key}
        before = self._before | {key: leaf.cut(column, start, stop) for key, column in others.items()}
        origin = self.origin and self.origin.slice(start, stop)
        return _DecodedChunk(before, self._key, self.objects()[start:stop], origin)

    def with_objects(self, objects: list[Any]) -> ColumnChunk:
        return _DecodedChunk(self._before, self._key, objects, self.origin)


class _BrokenImages:
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
        places = _NOWHERE * len(chunk) if chunk.origin is None else chunk.origin.places()
        rows = [
            row for row, (path, record) in enumerate(places) if not self._is_left(path or _NO_FILE, record)
        ]
        return chunk if len(rows) == len(chunk) else chunk.take(np.array(rows, np.int64))

    @property
    def over(self) -> bool:
        """Whether nothing more can come."""
        return _NO_FILE in self._ends

    def leave_out(self, features: dict[str, Any], maker: ImageMaker, bad: BadImage) -> dict[str, Any] | None:
        """A batch without its broken images; None if it is to be an error, or is no batch."""
        sizes = {len(each) if hasattr(each, "__len__") else -1 for each in features.values()}
        if self.on_corrupt == "raise" or bytes in map(type, features.values()) or sizes != {bad.batch}:
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


class _DecodedIterator(UnaryIterator):
    """Elements whose images are decoded, without those that are to be left out."""

    def __init__(self, input: NodeIterator, broken: _BrokenImages) -> None:
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
