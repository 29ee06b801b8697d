"""decode_image: encoded images to arrays, on all cores.

Before a batch it is one of the stages that are fused with it: each thread makes a batch, and decodes straight into the
rows of its array. Alone, the elements are decoded ahead, several at once, in order. A broken image is an error in its
place, or is skipped, as the source's `on_corrupt` says; skipping changes how many elements there are, so
then the stage is never fused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk
from tfrkit.data.engine.chunk_node import ChunkFunction, ChunkNode
from tfrkit.data.engine.node import (
    UNKNOWN_CARDINALITY,
    Context,
    Node,
    NodeIterator,
    Run,
    UnaryIterator,
    UnaryNode,
)
from tfrkit.data.features.broken_images import BrokenImages, DecodedIterator
from tfrkit.data.features.column_ops import require_features
from tfrkit.data.features.image_column import BadImage, decode_column, decode_value
from tfrkit.data.features.image_ops import NormalizeOp
from tfrkit.data.stages.parallel_map import ParallelMapIterator
from tfrkit.images.image_maker import ImageMaker
from tfrkit.model.element_spec import TensorSpec
from tfrkit.model.policy import OnCorrupt, ReadPolicy

__all__ = ["DecodeImageNode", "decode_chunk"]


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

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        broken = BrokenImages(self.on_corrupt, context)
        at = state if self.keeps_count or state is None else broken.restore(state)
        images = ParallelMapIterator(
            _LocatedNode(self.input), context, at, _Decode(self, broken), context.threads, ordered=True
        )
        return DecodedIterator(images, broken)

    def chunk_function(self, context: Context) -> ChunkFunction:
        return partial(decode_chunk, self.key, self.maker, context)

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

    def cardinality(self) -> int:
        """As the input's, unless some may be left out."""
        return self.input.cardinality() if self.keeps_count else UNKNOWN_CARDINALITY

    def _shown(self) -> str:
        size = "" if self.maker.size is None else f", size={self.maker.size}"
        return f"{self.key!r}{size}{', scaled=True' if self.maker.scaled else ''}"


def decode_chunk(
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
    made: list[Any] = []
    for element in chunk.objects():
        try:
            features = _features(key, element)
            made.append({**features, key: decode_value(features[key], key, maker, context.threads)})
        except Exception as error:
            if not isinstance(error, BadImage):
                error.add_note(f"It came up in decode_image({key!r}).")
            return ObjectChunk.made_of(chunk, made), error
    return ObjectChunk.made_of(chunk, made), None


def _features(key: str, element: Any) -> dict[str, Any]:
    return require_features(f"decode_image({key!r})", element, [key])


class _Decode:
    """What is done to an element in some thread; the function of a parallel map."""

    __slots__ = ("_broken", "_key", "_maker")

    def __init__(self, node: DecodeImageNode, broken: BrokenImages) -> None:
        self._key = node.key
        self._maker = node.maker
        self._broken = broken

    def __call__(self, element: Any, path: str | None, record: int) -> dict[str, Any]:
        """Decode the image of an element that came from a record of a file, if that is known."""
        features = _features(self._key, element)
        try:
            return {**features, self._key: decode_value(features[self._key], self._key, self._maker, 1)}
        except BadImage as bad:
            left = self._broken.leave_out(features, self._maker, bad)
            if left is not None:
                return left
            bad.path, bad.record = path, record if path is not None else None
            raise


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
        if origin is None:
            return Run(ObjectChunk([(element, None, 0) for element in elements]), run.error)
        paths = [origin.paths[file] for file in origin.files.tolist()]
        located = list(zip(elements, paths, origin.records.tolist(), strict=True))
        return Run(ObjectChunk(located, origin), run.error)
