"""dataset_info.json of TensorFlow Datasets: the name, the version, and the splits with their shards. Pure: no I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.errors import DataLossError
from tfrkit.folders.tfds.json_fields import JsonFields
from tfrkit.stores.json_file import shorten

__all__ = [
    "DEFAULT_TEMPLATE",
    "UNFINISHED",
    "SplitInfo",
    "TfdsInfo",
    "info_to_json",
    "read_info",
    "shard_file_name",
]

DEFAULT_TEMPLATE: Final = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
UNFINISHED: Final = ".tfrkit/unfinished"  # is in a folder that is being written
_VARIABLE: Final = re.compile(r"\{(\w+)\}")
_MOST_SHARDS: Final = 1_000_000  # names are made of the number: one that is larger is damaged


@dataclass(frozen=True, slots=True)
class SplitInfo:
    """A split as the file has it.

    Attributes:
        name: such as "train".
        lengths: the number of records of each shard; None where an old version did not say.
        shards: how many shards there are; None if that is not said.
        template: of the shards' names.
        bytes: of all records; 0 if that is not said.
    """

    name: str
    lengths: tuple[int, ...] | None
    shards: int | None
    template: str = DEFAULT_TEMPLATE
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class TfdsInfo:
    """A data set as the file has it.

    Attributes:
        name, version, config, description: as there; "" if it is not said.
        file_formats: what the shards are written as, the first one first; nothing if that is not said.
        splits: in the order of the file.
        keeps_order: records were not shuffled when they were written, and shards are read one after another.
        supervised: the features that are input and target, if that is said.
    """

    name: str
    version: str
    config: str
    description: str
    file_formats: tuple[str, ...]
    splits: tuple[SplitInfo, ...]
    keeps_order: bool
    supervised: tuple[str, ...]


def read_info(value: Any, path: str) -> TfdsInfo:
    """Return what a dataset_info.json says.

    Raises:
        DataLossError: it is not such a file.
    """
    fields = JsonFields(value, path, "dataset_info")
    formats = [fields.text("file_format"), *fields.items("alternative_file_formats")]
    keys = fields.within("supervised_keys")
    splits = [
        _split(JsonFields(each, path, f"splits[{number}]"))
        for number, each in enumerate(fields.items("splits"))
    ]
    names = [split.name for split in splits]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise fields.error(f"splits: expected names that differ but got {shorten(twice)} twice")
    return TfdsInfo(
        fields.text("name"),
        fields.text("version"),
        fields.text("config_name"),
        fields.text("description"),
        tuple(str(name).lower() for name in formats if name),
        tuple(splits),
        fields.flag("disable_shuffling"),
        tuple(keys.text(name) for name in ("input", "output") if keys.text(name)),
    )


def _split(fields: JsonFields) -> SplitInfo:
    name = fields.text("name")
    if not name or "/" in name or "\\" in name:
        raise fields.error(f"name: expected the name of a split but got {shorten(name)}")
    lengths = [fields.as_number(each, "shard_lengths") for each in fields.items("shard_lengths")]
    if any(length < 0 for length in lengths):
        raise fields.error("shard_lengths: expected numbers of records but got a negative one")
    count = fields.number("num_shards") or len(lengths)
    if count > _MOST_SHARDS:
        raise fields.error(f"num_shards: expected at most {_MOST_SHARDS:,} but got {count}")
    return SplitInfo(
        name,
        tuple(lengths) if lengths else None,
        count or None,
        fields.text("filepath_template") or DEFAULT_TEMPLATE,
    )


def info_to_json(info: TfdsInfo) -> dict[str, Any]:
    """Return the content of a dataset_info.json. Numbers are strings there, as protobuf has them in JSON.

    >>> info = TfdsInfo("mnist", "3.0.1", "", "", ("tfrecord",), (SplitInfo("train", (5,), 1),), False, ())
    >>> info_to_json(info)["splits"][0]["shardLengths"]
    ['5']
    """
    content: dict[str, Any] = {
        "name": info.name,
        "version": info.version,
        "configName": info.config,
        "description": info.description,
        "fileFormat": info.file_formats[0],
        "disableShuffling": info.keeps_order,
        "splits": [
            {
                "name": split.name,
                "shardLengths": [str(length) for length in split.lengths or ()],
                "numBytes": str(split.bytes),
                "filepathTemplate": split.template,
            }
            for split in info.splits
        ],
    }
    if info.supervised:
        content["supervisedKeys"] = {"tuple": {"items": [{"featureKey": key} for key in info.supervised]}}
    return {key: value for key, value in content.items() if value}


def shard_file_name(
    template: str, dataset: str, split: str, file_format: str, number: int, count: int, path: str
) -> str:
    """Return the name of a shard, relative to the folder.

    Args:
        template: with the variables DATASET, SPLIT, FILEFORMAT, SHARD_INDEX, NUM_SHARDS and SHARD_X_OF_Y.
        dataset: the value of DATASET.
        split: that of SPLIT.
        file_format: that of FILEFORMAT.
        number: of the shard, from 0.
        count: of the shards.
        path: of the file that has the template, for messages.

    Raises:
        DataLossError: there is no such variable, or the name leads out of the folder.

    >>> shard_file_name(DEFAULT_TEMPLATE, "mnist", "train", "tfrecord", 0, 1, "")
    'mnist-train.tfrecord-00000-of-00001'
    """
    width = max(5, len(str(count)))
    index, total = f"{number:0{width}d}", f"{count:0{width}d}"
    values = {
        "DATASET": dataset,
        "SPLIT": split,
        "FILEFORMAT": file_format,
        "SHARD_INDEX": index,
        "NUM_SHARDS": total,
        "SHARD_X_OF_Y": f"{index}-of-{total}",
    }
    unknown = [name for name in _VARIABLE.findall(template) if name not in values]
    name = _VARIABLE.sub(lambda found: values.get(found[1], ""), template)
    parts = name.split("/")
    if unknown or not name or "\0" in name or "\\" in name or any(part in ("", ".", "..") for part in parts):
        wrong = (
            f"unknown variables {unknown}"
            if unknown
            else f"a name that leads out of the folder, {shorten(name)}"
        )
        raise DataLossError(f"{path}; filepathTemplate {template!r} gives {wrong}.", path=path)
    return name
