"""features.json of TensorFlow Datasets to a tree of features: in the layout of today, in the old one, or mixed.

Today every feature is an object with the name of its class and one field that says what it is, by which it is read:
classes of other programs are known by it too. In the old layout an object has a type and a content. Pure: no I/O.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tfrkit.errors import DataLossError, UnimplementedError
from tfrkit.folders.feature_tree import (
    ArrayFeature,
    DictFeature,
    Dims,
    FeatureTree,
    ImageFeature,
    SequenceFeature,
    UnknownFeature,
    numpy_dtype,
)
from tfrkit.folders.tfds.json_fields import JsonFields, snake_case
from tfrkit.stores.json_file import shorten

__all__ = ["ClassNames", "read_features"]

# The names of the classes of a feature, by the key of the feature and their number; empty if nobody knows them.
ClassNames = Callable[[str, int], tuple[str, ...]]

_IMAGE: Final[Dims] = (None, None, 3)
_LABELED_IMAGE: Final[Dims] = (None, None, 1)
_ENCODINGS: Final = ("none", "bytes", "zlib")
_BESIDE: Final = frozenset({"python_class_name", "description", "value_range", "doc", "docs"})  # no content


def read_features(value: Any, path: str, class_names: ClassNames) -> FeatureTree:
    """Return the tree that a features.json describes.

    Args:
        value: the content of the file.
        path: its path, for messages.
        class_names: looks up the names of classes.

    Raises:
        DataLossError: it is not such a file.
        UnimplementedError: it holds text that a deprecated encoder of TensorFlow Datasets has made numbers of.
    """
    return _Reader(path, class_names).feature(value, "", "features")


class _Reader:
    def __init__(self, path: str, class_names: ClassNames) -> None:
        self._path = path
        self._class_names = class_names

    def feature(self, value: Any, key: str, where: str) -> FeatureTree:
        """Read one feature; `key`: its names, joined by "/"; `where`: its place in the file."""
        fields = JsonFields(value, self._path, where)
        if "type" in fields and "content" in fields:
            return self._old_feature(fields, key)
        kind = fields.text("python_class_name").rpartition(".")[2]
        contents = [name for name in fields.names() if name not in _BESIDE]
        if not contents:
            if not kind:
                raise fields.error("expected a feature, with the name of its class and its content")
            return UnknownFeature(kind)
        name = contents[0]
        if name == "json_feature":
            return self._json_feature(fields.within(name), kind, key)
        read = _READERS.get(name)
        return UnknownFeature(kind or name) if read is None else read(self, fields.within(name), kind, key)

    def _json_feature(self, content: JsonFields, kind: str, key: str) -> FeatureTree:
        """Read a feature of today's layout whose content is that of the old one, as text."""
        inner = _parsed(content, content.text("json"))
        name = _OLD_NAMES.get(kind)
        if name is None or not isinstance(inner, dict):
            return UnknownFeature(kind)
        return _READERS[name](self, JsonFields(inner, self._path, content.where), kind, key)

    def _old_feature(self, fields: JsonFields, key: str) -> FeatureTree:
        kind = fields.text("type").rpartition(".")[2]
        content = fields.raw("content")
        if isinstance(content, str):
            content = _parsed(fields, content)
        name = _OLD_NAMES.get(kind) or _name_of_proto(fields.text("proto_cls"))
        if name is None or not isinstance(content, dict):
            return UnknownFeature(kind)
        if name == "features_dict" and not fields.text("proto_cls"):
            return self._dict(content, kind, key, fields.where)
        return _READERS[name](self, JsonFields(content, self._path, f"{fields.where}.content"), kind, key)

    def _dict(self, features: dict[str, Any], kind: str, key: str, where: str) -> DictFeature:
        tree = {
            name: self.feature(each, f"{key}/{name}" if key else name, f"{where}.{name}")
            for name, each in features.items()
        }
        return DictFeature(tree, kind or "FeaturesDict")

    def features_dict(self, content: JsonFields, kind: str, key: str) -> FeatureTree:
        """Features by name."""
        return self._dict(content.mapping("features"), kind, key, content.where)

    def tensor(self, content: JsonFields, kind: str, key: str) -> FeatureTree:
        """Numbers or byte strings."""
        encoding = content.text("encoding", "none").lower() or "none"
        if encoding not in _ENCODINGS:
            raise content.error(
                f"encoding: expected one of {_ENCODINGS} but got {encoding!r}. Use a newer tfrkit"
            )
        dtype, shape = self._dtype(content, "float32"), content.dims("shape")
        return ArrayFeature(dtype, shape, encoding, content.flag("optional"), kind or "Tensor")  # type: ignore[arg-type]  # one of them

    def class_label(self, content: JsonFields, kind: str, key: str) -> FeatureTree:
        """Numbers that stand for classes."""
        names = self._names(content, key)
        return ArrayFeature(
            "int64", kind=kind or "ClassLabel", class_names=names, classes=_count(content, names)
        )

    def image(self, content: JsonFields, kind: str, key: str) -> FeatureTree:
        """Image files."""
        names: tuple[str, ...] = ()
        classes = None
        label = (
            content.raw("label") is not None or content.raw("labels") is not None or kind == "LabeledImage"
        )
        if label:
            inner = content.within("label") if "label" in content else content
            names = self._names(inner, key)
            classes = _count(inner, names)
        shape = content.dims("shape") or (_LABELED_IMAGE if label else _IMAGE)
        if len(shape) < 3:
            raise content.error(f"shape: expected height, width and channels but got {shape}")
        dtype = self._dtype(content, "uint8")
        if dtype not in ("uint8", "uint16", "float32") or (dtype == "float32" and shape[-1] != 1):
            raise content.error(
                f"dtype: expected uint8, uint16, or float32 of one channel but got {dtype} of {shape}"
            )
        return ImageFeature(shape, dtype, kind or "Image", names, classes, _file_format(content))

    def video(self, content: JsonFields, kind: str, key: str) -> FeatureTree:
        """A sequence of image files."""
        shape = content.dims("shape") or (None, *_IMAGE)
        if len(shape) != 4:
            raise content.error(f"shape: expected frames, height, width and channels but got {shape}")
        frame = ImageFeature(shape[1:], self._dtype(content, "uint8"), file_format=_file_format(content))
        return SequenceFeature(frame, shape[0], kind=kind or "Video")

    def audio(self, content: JsonFields, kind: str, key: str) -> FeatureTree:
        """Samples, or the file as it was."""
        if content.flag("lazy_decode"):
            return ArrayFeature("string", kind=f"{kind or 'Audio'} file")
        feature = self.tensor(content, kind or "Audio", key)
        assert isinstance(feature, ArrayFeature)
        shape = feature.shape if "shape" in content else (None,)
        dtype = feature.dtype if "dtype" in content else "int64"
        return ArrayFeature(dtype, shape, feature.encoding, kind=feature.kind)

    def bounding_box(self, content: JsonFields, kind: str, key: str) -> FeatureTree:
        """Four numbers."""
        return ArrayFeature(
            self._dtype(content, "float32"), content.dims("shape") or (4,), kind=kind or "BBoxFeature"
        )

    def text(self, content: JsonFields, kind: str, key: str) -> FeatureTree:
        """A byte string."""
        if "use_encoder" in content:
            raise UnimplementedError(
                f"{content.path}; {content.where}: feature {key!r} holds numbers that a deprecated encoder of "
                "TensorFlow Datasets has made of text, which its own releases no longer read. Use the plain text "
                "version of the data set, or read the records with tfr.TFRecordDataset.",
                path=content.path,
            )
        return ArrayFeature("string", optional=content.flag("optional"), kind=kind or "Text")

    def translation(self, content: JsonFields, kind: str, key: str) -> FeatureTree:
        """A text for each language, or for languages that differ from example to example."""
        text = ArrayFeature("string", kind="Text")
        if content.flag("variable_languages_per_example") or kind == "TranslationVariableLanguages":
            pair = DictFeature({"language": text, "translation": text})
            return SequenceFeature(pair, kind=kind or "TranslationVariableLanguages")
        if "use_encoder" in content:
            return self.text(content, kind, key)
        names = content.items("languages")
        if not all(isinstance(name, str) for name in names):
            raise content.error(f"languages: expected names but got {shorten(names)}")
        return DictFeature(dict.fromkeys(sorted(names), text), kind or "Translation")

    def sequence(self, content: JsonFields, kind: str, key: str) -> FeatureTree:
        """Values of one feature."""
        return self._sequence(content, kind or "Sequence", key, steps=kind == "Dataset")

    def dataset(self, content: JsonFields, kind: str, key: str) -> FeatureTree:
        """A data set inside each example."""
        return self._sequence(content, kind or "Dataset", key, steps=True)

    def _sequence(self, content: JsonFields, kind: str, key: str, *, steps: bool) -> FeatureTree:
        inner = self.feature(content.raw("feature"), key, f"{content.where}.feature")
        length = content.number("length", -1)
        return SequenceFeature(inner, None if length < 0 else length, steps, kind)

    def _names(self, content: JsonFields, key: str) -> tuple[str, ...]:
        given = content.raw("names")
        if isinstance(given, list) and all(isinstance(name, str) for name in given):
            return tuple(given)
        return self._class_names(key, max(0, content.number("num_classes")))

    def _dtype(self, content: JsonFields, default: str) -> str:
        name = content.text("dtype", default)
        name = "string" if name in ("object", "str", "bytes") else name
        try:
            numpy_dtype(name)
        except TypeError:
            raise content.error(f"dtype: there is no type {name!r}") from None
        return name


def _count(content: JsonFields, names: tuple[str, ...]) -> int | None:
    """Return how many classes there are; None if nobody says it."""
    return len(names) or max(0, content.number("num_classes")) or None


def _file_format(content: JsonFields) -> str:
    name = content.text("encoding_format").lower()
    return name if name in ("png", "jpeg") else ""


_Read = Callable[[_Reader, JsonFields, str, str], FeatureTree]
_READERS: Final[dict[str, _Read]] = {  # by the field that says what a feature is
    "features_dict": _Reader.features_dict,
    "tensor": _Reader.tensor,
    "class_label": _Reader.class_label,
    "image": _Reader.image,
    "video": _Reader.video,
    "audio": _Reader.audio,
    "bounding_box": _Reader.bounding_box,
    "text": _Reader.text,
    "translation": _Reader.translation,
    "sequence": _Reader.sequence,
    "dataset": _Reader.dataset,
}
_OLD_NAMES: Final = {  # by the class, in the old layout
    "FeaturesDict": "features_dict",
    "Tensor": "tensor",
    "Scalar": "tensor",
    "ClassLabel": "class_label",
    "Image": "image",
    "LabeledImage": "image",
    "Video": "video",
    "Audio": "audio",
    "BBox": "bounding_box",
    "BBoxFeature": "bounding_box",
    "Text": "text",
    "Translation": "translation",
    "TranslationVariableLanguages": "translation",
    "Sequence": "sequence",
    "Dataset": "dataset",
}


def _name_of_proto(name: str) -> str | None:
    """`tensorflow_datasets.ImageFeature` -> `image`; None if it is not known."""
    short = name.rpartition(".")[2].removesuffix("Feature")
    found = snake_case(short[:1].lower() + short[1:])
    return found if found in _READERS else None


def _parsed(fields: JsonFields, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataLossError(
            f"{fields.path}; {fields.where}: expected JSON but got: {error}.", path=fields.path
        ) from error
