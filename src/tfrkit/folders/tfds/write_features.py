"""A tree of features to the features.json of TensorFlow Datasets, in the layout of today, and to files of class names.

The way back is `features_json.py`. Pure: no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tfrkit.folders.feature_tree import (
    ArrayFeature,
    DictFeature,
    Dims,
    FeatureTree,
    ImageFeature,
    SequenceFeature,
    UnknownFeature,
)

__all__ = ["features_to_json", "label_files"]

_MODULES: Final = {  # of the classes that are written, below tensorflow_datasets.core.features
    "Audio": "audio_feature",
    "BBoxFeature": "bounding_boxes",
    "ClassLabel": "class_label_feature",
    "Dataset": "dataset_feature",
    "FeaturesDict": "features_dict",
    "Image": "image_feature",
    "LabeledImage": "labeled_image",
    "Scalar": "scalar",
    "Sequence": "sequence_feature",
    "Tensor": "tensor_feature",
    "Text": "text_feature",
    "Translation": "translation_feature",
    "TranslationVariableLanguages": "translation_feature",
    "Video": "video_feature",
}
_LAZY: Final = "Audio file"  # sound that stays the bytes of a file


def features_to_json(tree: FeatureTree) -> dict[str, Any]:
    """Return what describes a tree.

    >>> features_to_json(ArrayFeature("int64", kind="ClassLabel", classes=10))["classLabel"]
    {'numClasses': '10'}
    """
    if isinstance(tree, DictFeature):
        return _of_dict(tree)
    if isinstance(tree, SequenceFeature):
        return _of_sequence(tree)
    if isinstance(tree, ImageFeature):
        content = _sized(tree.shape, tree.dtype) | {"encodingFormat": tree.file_format}
        if tree.kind != "LabeledImage":
            return _feature("Image", "image", content)
        return _feature(tree.kind, "image", content | {"label": _count(tree.classes)})
    assert not isinstance(tree, UnknownFeature), "unknown features are refused before"
    return _of_array(tree)


def label_files(tree: FeatureTree, name: str = "") -> Iterator[tuple[str, bytes]]:
    r"""Yield the names and contents of files with the names of classes, of those that have names.

    >>> list(label_files(DictFeature({"a/b": ArrayFeature("int64", class_names=("cat", "dog"))})))
    [('a.b.labels.txt', b'cat\ndog\n')]
    """
    if isinstance(tree, DictFeature):
        for key, each in tree.features.items():
            part = key.replace("/", ".")
            yield from label_files(each, f"{name}-{part}" if name else part)
    elif isinstance(tree, SequenceFeature):
        yield from label_files(tree.feature, name)
    elif isinstance(tree, (ArrayFeature, ImageFeature)) and not _are_numbers(tree.class_names):
        yield f"{name}.labels.txt", "".join(f"{each}\n" for each in tree.class_names).encode()


def _are_numbers(names: tuple[str, ...]) -> bool:
    """Whether these are no names, but what stands for them where there are none."""
    return names == tuple(map(str, range(len(names))))


def _of_dict(tree: DictFeature) -> dict[str, Any]:
    if tree.kind == "Translation":
        return _feature(tree.kind, "translation", {"languages": list(tree.features)})
    features = {name: features_to_json(each) for name, each in tree.features.items()}
    return _feature("FeaturesDict", "featuresDict", {"features": features})


def _of_sequence(tree: SequenceFeature) -> dict[str, Any]:
    inner = tree.feature
    if tree.kind == "Video" and isinstance(inner, ImageFeature):
        content = _sized((tree.length, *inner.shape), inner.dtype) | {"encodingFormat": inner.file_format}
        return _feature(tree.kind, "video", content)
    if tree.kind == "TranslationVariableLanguages":
        return _feature(tree.kind, "translation", {"variableLanguagesPerExample": True})
    length = "-1" if tree.length is None else str(tree.length)
    content = {"feature": features_to_json(inner), "length": length}
    return _feature("Dataset" if tree.steps else "Sequence", "sequence", content)


def _of_array(tree: ArrayFeature) -> dict[str, Any]:
    kind, sized = tree.kind, _sized(tree.shape, tree.dtype)
    if kind == "ClassLabel":
        return _feature(kind, "classLabel", _count(tree.classes))
    if kind == "Text" and not tree.optional and not tree.shape:
        return _feature(kind, "text", {})
    if kind == "BBoxFeature" and tree.shape == (4,):
        return _feature(kind, "boundingBox", sized)
    if kind == _LAZY:
        return _feature("Audio", "audio", _sized((None,), "int64") | {"encoding": "NONE", "lazyDecode": True})
    if kind == "Audio":
        return _feature(kind, "audio", sized | {"encoding": tree.encoding.upper()})
    content = sized | {"encoding": tree.encoding} | ({"optional": True} if tree.optional else {})
    plain = not tree.shape and tree.encoding == "none"
    return _feature("Scalar" if kind == "Scalar" and plain else "Tensor", "tensor", content)


def _feature(kind: str, field: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"pythonClassName": f"tensorflow_datasets.core.features.{_MODULES[kind]}.{kind}", field: content}


def _sized(shape: Dims, dtype: str) -> dict[str, Any]:
    sizes = {"dimensions": ["-1" if size is None else str(size) for size in shape]} if shape else {}
    return {"shape": sizes, "dtype": dtype}


def _count(classes: int | None) -> dict[str, Any]:
    return {"numClasses": str(classes)} if classes else {}
