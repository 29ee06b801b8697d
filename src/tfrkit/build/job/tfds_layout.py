"""A job whose folder TensorFlow Datasets reads: names of shards, features.json and names of classes, dataset_info.json.

The recipes are those of any job, and so are the records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tfrkit.build.job.job_plan import Job
from tfrkit.errors import InvalidArgumentError
from tfrkit.folders.encode.encode_tree import TreeEncoder
from tfrkit.folders.feature_tree import DictFeature, FeatureTree
from tfrkit.folders.features import to_feature
from tfrkit.folders.tfds.dataset_info import TfdsInfo, info_to_json
from tfrkit.folders.tfds.write_tfds import (
    INFO,
    check_split,
    identity,
    json_text,
    split_info,
    split_title,
    tree_files,
)
from tfrkit.model.spec_json import spec_from_data
from tfrkit.records.manifest import ShardEntry
from tfrkit.records.record_names import numbered_title

__all__ = ["TfdsInfoFile", "tfds_job"]


@dataclass(frozen=True, slots=True)
class TfdsInfoFile:
    """dataset_info.json, when all shards are there.

    Attributes:
        info: what it says, without splits.
        splits: their names; those without records are left out, as TensorFlow Datasets reads no empty ones.
    """

    info: TfdsInfo
    splits: tuple[str, ...]

    @property
    def name(self) -> str:
        return INFO

    def content(self, shards: Sequence[ShardEntry]) -> bytes:
        found = []
        for split in self.splits:
            title = split_title(self.info.name, split)
            own = [shard for shard in shards if numbered_title(shard.name) == title]
            if any(shard.records for shard in own):
                found.append(split_info(split, own))
        return json_text(info_to_json(replace(self.info, splits=tuple(found))))


def tfds_job(
    job: Job, dataset: str | None, splits: Mapping[str, str], features: Mapping[str, FeatureTree]
) -> Job:
    """Return a job like another one, whose folder TensorFlow Datasets reads.

    Args:
        job: its groups are the splits.
        dataset: NAME[/CONFIG][:VERSION]; by default as the folder says.
        splits: other names for groups.
        features: what the spec of the job does not say of some of them.

    Raises:
        InvalidArgumentError: there is no such name, or TensorFlow Datasets cannot read what the job writes.
    """
    given, _, number = (dataset or "").partition(":")
    name, config, version = identity(job.folder, given or None, number or None)
    if job.compression:
        raise InvalidArgumentError(
            f"TensorFlow Datasets reads no {job.compression} files: leave out the compression."
        )
    if job.spec is None:
        raise InvalidArgumentError(
            "TensorFlow Datasets reads no SequenceExamples: leave out the columns that are lists of lists."
        )
    if any(group.shards is None for group in job.groups):
        raise InvalidArgumentError("TensorFlow Datasets reads no shards per input: pass a number of shards.")
    tree = DictFeature(
        {key: features.get(key) or to_feature(each) for key, each in spec_from_data(job.spec).items()}
    )
    TreeEncoder(tree)  # which refuses what it could not read
    titles = {group.prefix: splits.get(group.prefix, group.prefix) for group in job.groups}
    for split in titles.values():
        check_split(split)
    groups = [replace(each, prefix=split_title(name, titles[each.prefix])) for each in job.groups]
    info = TfdsInfo(name, version, config, "", ("tfrecord",), (), False, ())
    return replace(
        job,
        groups=tuple(groups),
        made_by={**job.made_by, "layout": "tfds", "dataset": [name, config, version]},
        files={**job.files, **tree_files(tree)},
        closing=TfdsInfoFile(info, tuple(titles.values())),
    )
