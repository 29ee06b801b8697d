"""TreeEncoder: nested values of an example to the features that an Example stores, by a tree of features.

Each leaf says itself where it lies and what is stored of its values (`decode/tree_columns.py`). Here the values of all
leaves are found: in dicts, in sequences of dicts, and in dicts of sequences, which mean the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError, UnimplementedError
from tfrkit.folders.decode.stored_keys import BadValue
from tfrkit.folders.decode.tree_columns import Leaf, flat_leaves, leaves_of
from tfrkit.folders.feature_tree import (
    ArrayFeature,
    DictFeature,
    FeatureTree,
    ImageFeature,
    SequenceFeature,
    UnknownFeature,
    numpy_dtype,
    show_shape,
)
from tfrkit.model.features import shown
from tfrkit.model.near_names import near_names

__all__ = ["TreeEncoder"]

_LANGUAGES = ("language", "translation")


class TreeEncoder:
    """Makes what Examples store of nested values.

    Args:
        tree: the features, each of a class that is known.

    Raises:
        UnimplementedError: a feature cannot be stored so that TensorFlow Datasets reads it.
        InvalidArgumentError: two features have the same key.

    >>> label = ArrayFeature("int64", kind="ClassLabel", class_names=("cat", "dog"))
    >>> TreeEncoder(DictFeature({"pet": DictFeature({"label": label})})).encode({"pet": {"label": "dog"}})
    {'pet/label': array([1])}
    """

    def __init__(self, tree: FeatureTree) -> None:
        _check_known(tree, "")
        self._tree = tree
        self._leaves = leaves_of(tree, "", (), False)
        names: Counter[str] = Counter()
        for leaf in flat_leaves(self._leaves):
            _check_storable(leaf)
            names.update(list(leaf.spec()))
        twice = [name for name, count in names.items() if count > 1]
        if twice:
            raise InvalidArgumentError(
                f'two features are stored under the key {twice[0]!r}, as names inside each other are joined by "/": '
                "rename one."
            )

    def encode(self, example: Any) -> dict[str, Any]:
        """Return the values of an example, by the keys that they are stored under.

        Raises:
            InvalidArgumentError: one does not fit its feature, which is named.
            MissingExtraError: JPEG files of arrays need the extra `images`.
        """
        stored: dict[str, Any] = {}
        _encode(self._tree, self._leaves, [example], "", (), stored)
        return stored


def _encode(
    tree: FeatureTree, leaves: Any, values: Any, key: str, lengths: tuple[Sequence[int], ...], stored: Any
) -> None:
    """Add what is stored of the values of one feature in an example.

    Args:
        tree: the feature.
        leaves: those of the tree.
        values: as many as there are in the sequences that the feature is in.
        key: of the feature, for messages.
        lengths: of these sequences, outermost first.
        stored: what is added to.
    """
    if isinstance(tree, DictFeature):
        _check_names(tree, values, key)
        for name, each in tree.features.items():
            found = [value.get(name) for value in values]
            _encode(each, leaves[name], found, _joined(key, name), lengths, stored)
    elif isinstance(tree, SequenceFeature):
        if tree.kind == "TranslationVariableLanguages":
            values = [_by_language(value, key) for value in values]
        if _dict_within(tree) is not None and any(isinstance(value, Mapping) for value in values):
            _encode_columns(tree, leaves, values, key, lengths, stored)
            return
        items = [_items(value, tree.length, key) for value in values]
        flat = items[0] if len(items) == 1 else [each for item in items for each in item]
        _encode(tree.feature, leaves, flat, key, (*lengths, [len(item) for item in items]), stored)
    else:
        stored.update(_encode_leaf(leaves, tree, values, lengths))


def _encode_leaf(
    leaf: Leaf, tree: FeatureTree, values: Any, lengths: tuple[Sequence[int], ...]
) -> dict[str, Any]:
    if not leaf.levels and values[0] is None and getattr(tree, "optional", False):
        if tree.encoding != "none":  # type: ignore[union-attr]  # only arrays are optional
            raise _misfit(
                leaf.key, "None cannot be stored with an encoding: TensorFlow Datasets cannot read it"
            )
        return {}
    try:
        made = leaf.encoded(values)
    except BadValue as bad:
        where = f"element {bad.row} of its sequence: " if leaf.levels else ""
        raise _misfit(leaf.key, f"{where}{bad.reason}") from None
    stored: dict[str, Any] = {}
    for place, flat in zip(leaf.keys(), made, strict=True):
        stored.update(place.write(flat, lengths))
    return stored


def _encode_columns(
    tree: SequenceFeature, leaves: Any, values: Any, key: str, lengths: tuple[Sequence[int], ...], stored: Any
) -> None:
    """Add what is stored of dicts of sequences: each of their entries is a sequence of the same lengths."""
    inner = _dict_within(tree)
    assert inner is not None
    _check_names(inner, values, key)
    counts: dict[str, list[int | None]] = {}
    for name, each in inner.features.items():
        found = [value.get(name) for value in values]
        _encode(_of_entries(tree, each), leaves[name], found, _joined(key, name), lengths, stored)
        counts[name] = [_length(value) for value in found]
    known = {name: count for name, count in counts.items() if None not in count}
    for name, count in known.items():
        first = next(iter(known))
        if count != known[first]:
            raise _misfit(
                key,
                f"{first!r} has {known[first][0]} elements and {name!r} has {count[0]}: expected as many of each",
            )


def _length(value: Any) -> int | None:
    """Return how many elements a sequence has; None if it was an iterator."""
    while isinstance(value, Mapping):
        value = next(iter(value.values()), ())
    return len(value) if hasattr(value, "__len__") else None


def _dict_within(tree: FeatureTree) -> DictFeature | None:
    """Return the dict that a sequence has elements of, in whatever sequences."""
    while isinstance(tree, SequenceFeature):
        tree = tree.feature
    return tree if isinstance(tree, DictFeature) else None


def _of_entries(tree: FeatureTree, entry: FeatureTree) -> FeatureTree:
    """Return the sequence of one entry of the dicts that a sequence has."""
    if isinstance(tree, SequenceFeature):
        kind = "Sequence" if tree.kind == "TranslationVariableLanguages" else tree.kind
        return replace(tree, feature=_of_entries(tree.feature, entry), kind=kind)
    return entry


def _check_names(tree: DictFeature, values: Iterable[Any], key: str) -> None:
    for value in values:
        if not isinstance(value, Mapping):
            raise _misfit(key, f"expected a dict with {_some(tree.features)} but got {shown(value)}")
        for name in tree.features.keys() - value.keys():
            if not getattr(tree.features[name], "optional", False):
                raise _misfit(_joined(key, name), f"there is no value. {near_names(name, map(str, value))}")
        for name in value.keys() - tree.features.keys():
            raise _misfit(
                _joined(key, str(name)), f"there is no such feature. {near_names(str(name), tree.features)}"
            )


def _items(value: Any, length: int | None, key: str) -> Any:
    """Return the elements of a sequence."""
    if isinstance(value, (str, bytes, bytearray, Mapping)) or not isinstance(value, Iterable):
        raise _misfit(key, f"expected a list or an array but got {shown(value)}")
    sized = hasattr(value, "__len__") and hasattr(value, "__getitem__")
    if isinstance(value, np.ndarray) and not value.ndim:
        raise _misfit(key, f"expected a list or an array but got {shown(value.item())}")
    items: Any = value if sized else list(value)
    if length is not None and len(items) != length:
        raise _misfit(key, f"expected {length} elements but got {len(items)}")
    return items


def _by_language(value: Any, key: str) -> Any:
    """Return translations as two lists, of a dict with one or more texts for each language."""
    if not isinstance(value, Mapping) or set(value) == set(_LANGUAGES):
        return value
    pairs = [
        (language, text)
        for language, texts in value.items()
        for text in ([texts] if isinstance(texts, (str, bytes)) else _items(texts, None, f"{key}/{language}"))
    ]
    return (
        dict(zip(_LANGUAGES, zip(*sorted(pairs), strict=True), strict=True))
        if pairs
        else dict.fromkeys(_LANGUAGES, ())
    )


def _check_known(tree: FeatureTree, key: str) -> None:
    if isinstance(tree, UnknownFeature):
        raise UnimplementedError(
            f"feature {key!r} is of the class {tree.kind!r}, which tfrkit does not know."
        )
    if isinstance(tree, SequenceFeature):
        _check_known(tree.feature, key)
    elif isinstance(tree, DictFeature):
        for name, each in tree.features.items():
            _check_known(each, _joined(key, name))


def _check_storable(leaf: Leaf) -> None:
    """Raise if TensorFlow Datasets could not read what is written, as tried with its version 4.9.10."""
    leaf.spec()  # which knows how many sizes may differ
    feature = getattr(leaf, "feature")  # noqa: B009  # of both kinds of leaves
    if len(leaf.levels) > 1 and any(length is not None for length in leaf.levels):
        raise _unstorable(
            leaf,
            f"is in sequences of the lengths {show_shape(leaf.levels)}: inside each other none may be fixed",
        )
    if isinstance(feature, ImageFeature):
        channels = (1, 3) if feature.file_format == "jpeg" else (1, 2, 3, 4, None)
        if feature.file_format not in ("", "png", "jpeg") or feature.shape[-1] not in channels:
            raise _unstorable(leaf, f"has {feature.shape[-1]} channels, in files of {feature.file_format!r}")
        if feature.file_format == "jpeg" and feature.dtype != "uint8":
            raise _unstorable(leaf, f"has pixels of {feature.dtype}, which JPEG files cannot have")
        return
    assert isinstance(feature, ArrayFeature)
    encoded = feature.encoding != "none"
    if encoded and (feature.dtype in ("string", "uint32") or numpy_dtype(feature.dtype).kind == "O"):
        raise _unstorable(leaf, f"has values of {feature.dtype} with an encoding: leave out the encoding")
    if feature.optional and None in feature.shape:
        raise _unstorable(leaf, "is optional and has sizes that differ: leave out one of them")


def _unstorable(leaf: Leaf, text: str) -> UnimplementedError:
    return UnimplementedError(f"feature {leaf.key!r} {text}. TensorFlow Datasets cannot read such values.")


def _misfit(key: str, text: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"feature {key!r}: {text}" if key else text)


def _joined(key: str, name: str) -> str:
    return f"{key}/{name}" if key else name


def _some(names: Iterable[str]) -> str:
    return ", ".join(map(repr, list(names)[:5])) or "nothing"
