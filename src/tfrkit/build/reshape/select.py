"""select: some records and some features of any files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from tfrkit.build.job.job import BuildReport, Job
from tfrkit.build.reshape.compress import plan_files
from tfrkit.build.reshape.feature_change import feature_change
from tfrkit.build.reshape.frame_input import FrameInput
from tfrkit.build.reshape.frame_options import SelectOptions
from tfrkit.build.reshape.frame_output import frame_job, run_frames
from tfrkit.options import takes
from tfrkit.records.where import parse_where
from tfrkit.stores.paths import PathLike, Paths

if TYPE_CHECKING:
    from tfrkit.build.keywords import SelectKeywords

__all__ = ["plan_select", "select"]


@takes(SelectOptions)
def select(paths: Paths, out: PathLike, **options: Unpack[SelectKeywords]) -> BuildReport:
    """Write some records of files, with some of their features, in the same order.

    Features are left out on the wire: what stays is not decoded and keeps its bytes, unknown fields too. Where no
    feature is left out or renamed, frames are copied as they are. The feature lists of SequenceExamples go by the
    same names as features.

    Args:
        paths: the inputs, as for `read_blocks`.
        out: a folder, in which every input has a file of its name; or one file to write, such as "some.tfrecord".

    Raises:
        InvalidArgumentError: a record is no Example; it would have two features of one name; a feature cannot be
            compared, or no record has it; or the expression is not valid.
        AlreadyExistsError: the output is there already.
        DataLossError: an input is damaged.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("all.tfrecord") as writer:
    ...     writer.write_batch({"label": [1, 2, 3], "name": ["a", "b", "c"], "extra": [7, 8, 9]})
    >>> select("all.tfrecord", "few.tfrecord", drop=["extra"], rename={"name": "text"}, where="label >= 2").records
    2
    >>> [sorted(example) for example in tfrkit.read_examples("few.tfrecord")]
    [['label', 'text'], ['label', 'text']]
    """
    return run_frames(plan_select, paths, out, SelectOptions.of(options))


def plan_select(given: FrameInput, out: PathLike, options: SelectOptions) -> Job:
    """Plan it: see `select`."""
    keys, drop, rename, where = options.keys, options.drop, options.rename or {}, options.where
    change = feature_change(keys, drop, rename)
    choices = () if where is None else (parse_where(where),)
    wanted = {
        **dict.fromkeys(choices[0].keys if choices else (), "where (--where)"),
        **dict.fromkeys(keys or (), "keys (--key)"),
        **dict.fromkeys(drop, "drop (--drop)"),
        **dict.fromkeys(rename, "rename (--name)"),
    }
    output, groups = plan_files(given, out, options)
    arguments = {
        "command": "select",
        "keys": None if keys is None else list(keys),
        "drop": list(drop),
        "rename": dict(rename),
        "where": where,
    }
    changes = () if change is None else (change,)
    return frame_job(given, output, groups, arguments, wanted=wanted, choices=choices, changes=changes)
