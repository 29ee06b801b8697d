"""A folder like those of TensorFlow Datasets, written by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

import tfrkit as tfr
from tfrkit.stores.files import make_folder, write_bytes

CLASS = "tensorflow_datasets.core.features."
IMAGE = {
    "pythonClassName": f"{CLASS}image_feature.Image",
    "image": {"shape": {"dimensions": ["4", "4", "1"]}, "dtype": "uint8"},
}
LABEL = {"pythonClassName": f"{CLASS}class_label_feature.ClassLabel", "classLabel": {"numClasses": "3"}}
TEXT = {"pythonClassName": f"{CLASS}text_feature.Text", "text": {}}


def tensor(dtype: str, *sizes: int, **more: Any) -> dict[str, Any]:
    """Return a Tensor of today's layout."""
    shape = {"dimensions": [str(size) for size in sizes]} if sizes else {}
    return {
        "pythonClassName": f"{CLASS}tensor_feature.Tensor",
        "tensor": {"shape": shape, "dtype": dtype, **more},
    }


def features(**named: Any) -> dict[str, Any]:
    """Return a FeaturesDict of today's layout."""
    return {"pythonClassName": f"{CLASS}features_dict.FeaturesDict", "featuresDict": {"features": named}}


def digits(count: int) -> list[dict[str, Any]]:
    """Return examples with an image of the number of the example, and a label."""
    return [
        {"image": tfr.image.encode_png(np.full((4, 4, 1), number, np.uint8)), "label": number % 3}
        for number in range(count)
    ]


def write_tfds(
    folder: str,
    examples: Sequence[dict[str, Any]],
    described: Any = None,
    *,
    shards: int = 2,
    labels: Sequence[str] = ("zero", "one", "two"),
    info: dict[str, Any] | None = None,
) -> str:
    """Write a data set with one split.

    Args:
        folder: its path or URL.
        examples: dicts of what is stored.
        described: the content of features.json; by default of `digits`.
        shards: how many.
        labels: names of the classes of the feature `label`; none: no file of them.
        info: fields of dataset_info.json in place of those that fit.
    """
    make_folder(folder)
    parts = [examples[number::shards] for number in range(shards)]
    for number, part in enumerate(parts):
        with tfr.TFRecordWriter(f"{folder}/digits-train.tfrecord-{number:05d}-of-{shards:05d}") as writer:
            for each in part:
                writer.write_example(each)
    split = {"name": "train", "shardLengths": [str(len(part)) for part in parts], "numBytes": "1"}
    content = {
        "name": "digits",
        "version": "1.0.0",
        "fileFormat": "tfrecord",
        "splits": [split],
        **(info or {}),
    }
    _write_json(f"{folder}/dataset_info.json", content)
    _write_json(f"{folder}/features.json", described or features(image=IMAGE, label=LABEL))
    if labels:
        write_bytes(f"{folder}/label.labels.txt", ("\n".join(labels) + "\n").encode())
    return folder


def _write_json(path: str, content: Any) -> None:
    write_bytes(path, json.dumps(content).encode())
