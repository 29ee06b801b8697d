"""Names of the features of images: four sets of names, and changes to single ones. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.near_names import near_names

__all__ = ["COLORSPACE", "FIELDS", "feature_names"]


# What can be written of an image, with its full name and the type.
FIELDS: Final = {
    "image/encoded": "bytes",
    "image/format": "bytes",
    "image/height": "int64",
    "image/width": "int64",
    "image/channels": "int64",
    "image/filename": "bytes",
    "image/label": "int64",
    "image/text": "bytes",
}
COLORSPACE: Final = "image/colorspace"  # of raw pixels: GRAY, RGB or BGR
_SIZES: Final = {"image/height": "height", "image/width": "width", "image/channels": "channels"}
_SETS: Final[dict[str, dict[str, str]]] = {
    "full": {name: name for name in FIELDS},
    # What the usual program of a tutorial writes.
    "plain": {"image/encoded": "image", "image/label": "label"},
    # What tensorflow_datasets' ImageFolder calls them.
    "tfds": {"image/encoded": "image", "image/label": "label", "image/filename": "image/filename"},
    # What TF-slim's readers expect, as its build_imagenet_data.py writes them.
    "slim": {name: name for name in FIELDS}
    | {"image/label": "image/class/label", "image/text": "image/class/text"},
}


def feature_names(
    names: str, rename: Mapping[str, str], extras: Iterable[str] = (), *, raw: bool = False
) -> dict[str, str]:
    """Settle which fields are written, and under which names.

    Args:
        names: the set: "full", "plain", "tfds" or "slim".
        rename: new names by old ones: names of the set, or full names, which adds a field that the set does not have.
            An empty new name leaves the feature out.
        extras: further columns of a list; they have their own names unless they are renamed.
        raw: pixels are stored, which are of no use without their size: every set then has it.

    Returns:
        Names of features by fields and extras.

    Raises:
        InvalidArgumentError: an old name is not that of a feature, or two features have the same name.

    >>> feature_names("plain", {"label": "y", "image/height": "h"})
    {'image/encoded': 'image', 'image/label': 'y', 'image/height': 'h'}
    """
    if names not in _SETS:
        raise InvalidArgumentError(f"names={names!r}: expected one of {', '.join(_SETS)}.")
    found = dict(_SETS[names])
    if raw:
        short = names in ("plain", "tfds")
        found |= {field: name if short else found[field] for field, name in _SIZES.items()}
        found |= {} if short else {COLORSPACE: COLORSPACE}
    for name in extras:
        if name in FIELDS or name == COLORSPACE:
            raise InvalidArgumentError(
                f"column {name!r}: images have a feature of this name already. Rename the column."
            )
        found[name] = name
    by_name = {name: field for field, name in found.items()}
    for old, new in rename.items():
        field = by_name.get(old, old)
        if field not in found and field not in FIELDS and not (raw and field == COLORSPACE):
            raise InvalidArgumentError(
                f"name {old!r}: there is no such feature to rename. "
                f"{near_names(old, [*found.values(), *(name for name in FIELDS if name not in found)])}"
            )
        found[field] = new
    found = {field: name for field, name in found.items() if name}
    for field, name in found.items():
        if list(found.values()).count(name) > 1:
            raise InvalidArgumentError(
                f"name {name!r}: more than one feature would have this name ({field!r} too). "
                "Rename one of them (--name old=new)."
            )
    if "image/encoded" not in found:
        raise InvalidArgumentError("the feature of the image itself cannot be left out.")
    return found
