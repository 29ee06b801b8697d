"""The stage of the plain engine that decodes images."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.data.batch.collate import collate
from tfrkit.data.elements import columns
from tfrkit.data.features.decode_image import DecodeImageNode
from tfrkit.data.features.image_column import broken_text
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.near_names import near_names
from tfrkit.testing.plain_stage import Item, Stage, begin, opened, runs


@runs(DecodeImageNode)
class PlainDecodeImage(Stage):
    """One image after another; what is broken is an error, or left out."""

    def __init__(self, node: DecodeImageNode) -> None:
        self.node = node
        self.input = begin(node.input)
        self.ends: dict[str | None, int] = {}

    def __next__(self) -> Item:
        while True:
            item = next(self.input)
            path, record = item.origin or (None, 0)
            if path in self.ends and record >= self.ends[path]:
                continue
            element = self.features(opened(item.value))
            try:
                return item.of(self.decoded(element, item.value))
            except _Broken as broken:
                if self.node.on_corrupt == "raise":
                    raise broken.error(self.node.key, item.origin) from None
                if self.node.on_corrupt == "stop":
                    self.ends[path] = record
                    if path is None:
                        raise StopIteration from None

    def features(self, element: Any) -> dict[str, Any]:
        """The element, which must be a dict with the feature."""
        key = self.node.key
        if not isinstance(element, dict):
            raise TypeError(
                f"decode_image({key!r}): expected elements that are dicts of features but got "
                f"{type(element).__name__}"
            )
        if key not in element:
            raise InvalidArgumentError(
                f"decode_image({key!r}): there is no feature {key!r}. {near_names(key, element)}"
            )
        return element

    def decoded(self, element: dict[str, Any], marked: dict[str, Any]) -> dict[str, Any]:
        """The element with its image, or the images of a batch."""
        key, value = self.node.key, element[self.node.key]
        if isinstance(value, bytes):
            return {**marked, key: self.one(value)}
        if not (isinstance(value, BytesColumn) or (isinstance(value, np.ndarray) and value.dtype == object)):
            raise TypeError(f"expected bytes under {key!r} but got {type(value).__name__}")
        images: list[Any] = []
        broken: list[_Broken] = []
        flat = value.reshape(value.size) if isinstance(value, BytesColumn) else value.ravel()
        good = []
        for row, content in enumerate(flat):
            try:
                images.append(self.one(content))
                good.append(row)
            except _Broken as found:
                broken.append(found)
        is_batch = all(
            isinstance(each, (np.ndarray, BytesColumn))
            or hasattr(each, "row_splits")
            or hasattr(each, "indices")
            for each in element.values()
        ) and all(len(each) == len(value) for each in element.values())
        if broken and (self.node.on_corrupt == "raise" or not is_batch):
            raise broken[0]
        kept = (
            {name: columns.take(part, np.array(good, np.int64)) for name, part in element.items()}
            if broken
            else marked
        )
        stacked = collate(images) if images else np.empty((0, *(size or 0 for size in self.node.maker.shape)))
        return {
            **kept,
            key: stacked.reshape(*(value.shape if not broken else (len(good),)), *stacked.shape[1:]),
        }

    def one(self, content: bytes) -> Any:
        """One image."""
        try:
            return self.node.maker.make(content)
        except InvalidArgumentError as error:
            raise _Broken(error) from None


class _Broken(Exception):  # noqa: N818
    def __init__(self, reason: InvalidArgumentError) -> None:
        self.reason = reason

    def error(self, key: str, origin: tuple[str | None, int] | None) -> InvalidArgumentError:
        """As the user sees it."""
        known = origin is not None and origin[0] is not None
        place = f", record {origin[1]} of {origin[0]!r}" if known and origin is not None else ""
        return InvalidArgumentError(broken_text(self.reason, key) + place)
