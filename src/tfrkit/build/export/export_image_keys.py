"""Which features hold the picture, its class and its name: those that the user names, or the usual ones."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.near_names import near_names
from tfrkit.records.describe.schema import FeatureSummary, Schema

__all__ = ["ImageKeys", "find_keys"]

_IMAGES: Final = ("image/encoded", "image", "image_raw", "image/raw", "encoded")
_LABELS: Final = ("image/label", "image/class/label", "label")
_TEXTS: Final = ("image/text", "image/class/text", "label/text", "text")
_FILENAMES: Final = ("image/filename", "filename", "file_name", "image/filename/raw")
_COLORSPACES: Final = ("image/colorspace", "colorspace")
_SIZES: Final = {"height": ("image/height", "height"), "width": ("image/width", "width"),
    "channels": ("image/channels", "channels", "depth")}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ImageKeys:
    """Names of features; None where there is no such feature.

    Attributes:
        image: the file's bytes, or pixels.
        label: number of the class.
        text: name of the class.
        filename: name of the file.
        height: of the pixels, if `image` holds such; also the next two.
        width: likewise.
        channels: likewise.
        colorspace: what raw pixels are: b"GRAY", b"RGB" or b"BGR".
    """

    image: str
    label: str | None = None
    text: str | None = None
    filename: str | None = None
    height: str | None = None
    width: str | None = None
    channels: str | None = None
    colorspace: str | None = None

    def all(self) -> list[str]:
        """Return the names that are set."""
        names = [getattr(self, field.name) for field in fields(self)]
        return [name for name in names if name is not None]


def find_keys(
    schema: Schema,
    *,
    image: str | None = None,
    label: str | None = None,
    text: str | None = None,
    filename: str | None = None,
) -> ImageKeys:
    """Find the features of the pictures: the given ones, which must be there, else the usual names. Pure: no I/O.

    Raises:
        InvalidArgumentError: a given feature is not there or of another kind, or there is none for the image.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     writer.write_example({"image/encoded": b"...", "image/label": 3})
    >>> find_keys(tfrkit.inspect("a.tfrecord")).label
    'image/label'
    """
    picture = _key(schema, image, _IMAGES, ("bytes",)) or _looks_like_images(schema)
    if picture is None:
        names = ", ".join(map(repr, sorted(schema.features)[:8])) or "none"
        raise InvalidArgumentError(
            f"expected a feature with images but found none among the features: {names}. Name it with image= (--image)."
        )
    number = _key(schema, label, _LABELS, ("int64", "bytes"))
    title = _key(schema, text, _TEXTS, ("bytes",))
    if number is not None and schema.features[number].kind == "bytes":
        number, title = None, title or number  # a label in words
    sizes = {name: _key(schema, None, usual, ("int64",)) for name, usual in _SIZES.items()}
    sizes["colorspace"] = _key(schema, None, _COLORSPACES, ("bytes",))
    return ImageKeys(picture, number, title, _key(schema, filename, _FILENAMES, ("bytes",)), **sizes)


def _key(schema: Schema, given: str | None, usual: tuple[str, ...], kinds: tuple[str, ...]) -> str | None:
    if given is not None:
        found = schema.features.get(given)
        if found is None or found.kind not in kinds:
            near = near_names(
                given, (name for name in schema.features if _kind(schema.features[name]) in kinds)
            )
            kind = "no record has it" if found is None else f"it is {found.kind}"
            raise InvalidArgumentError(
                f"expected a feature {given!r} of kind {' or '.join(kinds)} but {kind}. {near}"
            )
        return given
    return next((name for name in usual if _kind(schema.features.get(name)) in kinds), None)


def _kind(found: FeatureSummary | None) -> str | None:
    return None if found is None else found.kind


def _looks_like_images(schema: Schema) -> str | None:
    """Return the only feature whose bytes look like pictures, or None."""
    found = [name for name, feature in schema.features.items() if "image" in feature.looks_like]
    return found[0] if len(found) == 1 else None
