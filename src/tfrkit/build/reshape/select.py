"""select: some records and some features of any files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from tfrkit.build.job.job import BuildReport, Job, MaxBad, Progress, run_job
from tfrkit.build.reshape.compress import plan_files
from tfrkit.build.reshape.feature_change import feature_change
from tfrkit.build.reshape.frame_input import FrameInput, frame_input
from tfrkit.build.reshape.frame_output import frame_job
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.policy import OnCorrupt
from tfrkit.records.where import parse_where
from tfrkit.stores.paths import PathLike, Paths

__all__ = ["plan_select", "select"]


def select(
    paths: Paths,
    out: PathLike,
    *,
    keys: Collection[str] | None = None,
    drop: Collection[str] = (),
    rename: Mapping[str, str] | None = None,
    where: str | None = None,
    compression: str | None = None,
    level: int | None = None,
    on_corrupt: OnCorrupt = "raise",
    max_bad: MaxBad | None = None,
    overwrite: bool = False,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> BuildReport:
    """Write some records of files, with some of their features, in the same order.

    Features are left out on the wire: what stays is not decoded and keeps its bytes, unknown fields too. Where no
    feature is left out or renamed, frames are copied as they are. The feature lists of SequenceExamples go by the
    same names as features.

    Args:
        paths: the inputs, as for `read_blocks`.
        out: a folder, in which every input has a file of its name; or one file to write, such as "some.tfrecord".
        keys: only these features stay, and those that get another name. All by default.
        drop: these features are left out.
        rename: new names by old names.
        where: which records; an expression such as "label == 3 and not broken". A comparison holds if it holds for
            some value of the feature, and never without one; a name alone means that the feature is there.
        compression: see `compress`, also for the next ones.
        level: of the compression.
        on_corrupt: what to do about damaged records.
        max_bad: more damages than this number, or than this share of the records ("1%"), are an error.
        overwrite: replace what is there.
        workers: how many files are written at once.
        progress: called several times a second.

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
    with frame_input(paths, on_corrupt) as given:
        job = plan_select(given, out, keys, drop, rename or {}, where, compression, level)
        return run_job(job, workers=workers, max_bad=max_bad, overwrite=overwrite, progress=progress)


def plan_select(
    given: FrameInput,
    out: PathLike,
    keys: Collection[str] | None,
    drop: Collection[str],
    rename: Mapping[str, str],
    where: str | None,
    compression: str | None,
    level: int | None,
) -> Job:
    """Plan it: see `select`."""
    change = feature_change(keys, drop, rename)
    if change is None and where is None:
        raise InvalidArgumentError(
            "There is nothing to select. Say which records (--where) or which features (--key, --drop, --name)."
        )
    choices = [] if where is None else [parse_where(where)]
    wanted = {
        **dict.fromkeys(choices[0].keys if choices else (), "where (--where)"),
        **dict.fromkeys(keys or (), "keys (--key)"),
        **dict.fromkeys(drop, "drop (--drop)"),
        **dict.fromkeys(rename, "rename (--name)"),
    }
    changes = [] if change is None else [change]
    output, groups = plan_files(given, out, compression, level, choices=choices, changes=changes)
    arguments = {
        "command": "select",
        "keys": None if keys is None else list(keys),
        "drop": list(drop),
        "rename": dict(rename),
        "where": where,
    }
    return frame_job(given, output, groups, arguments, wanted=wanted)
