"""Exports to numbered files of another format, as jobs: any engine makes them, and what is whole is not made again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tfrkit.build.export.export_options import ShardExportOptions
from tfrkit.build.job.input_stamp import InputChangedError
from tfrkit.build.job.job import Job, Recipe, ShardGroup, plan_shards
from tfrkit.build.job.job_plan import FileForm
from tfrkit.build.reshape.frame_input import FrameInput
from tfrkit.build.reshape.frame_output import FrameOutput, frame_job
from tfrkit.build.reshape.frame_recipe import FrameRecipe
from tfrkit.errors import InvalidArgumentError
from tfrkit.stores.paths import PathLike, path_text

__all__ = ["plan_form"]


def plan_form(
    given: FrameInput,
    prefix: PathLike,
    options: ShardExportOptions,
    form: FileForm,
    arguments: Mapping[str, Any],
    recipe: Callable[[FrameRecipe], Recipe],
    records: int | None = None,
) -> Job:
    """Plan the export of all records, in order, to files of about equal size.

    Args:
        given: what is read.
        prefix: folder and beginning of the names.
        options: of the export.
        form: of the files.
        arguments: what decides the bytes, for the manifest.
        recipe: makes what a file holds, of the frames that go there.
        records: how many there were, if they were counted before.

    Raises:
        InvalidArgumentError: the prefix is a file's name.
        InputChangedError: there are more or fewer records now.
    """
    if path_text(prefix).endswith(form.suffix):
        raise InvalidArgumentError(
            f"expected a folder and the beginning of names, such as out/train, but got {path_text(prefix)!r}. Numbers "
            f"and {form.suffix} are added to it."
        )
    output = FrameOutput.shards(prefix, None, given)
    shards, size, most = options.shards, options.shard_bytes, options.shard_records
    frames = given.survey(plan_shards(given.file_bytes, shards, size, multiple=1))
    if records not in (None, frames.records):
        raise InputChangedError(
            given.paths[-1], f"expected {records:,} records in all inputs but got {frames.records:,}"
        )
    if most is not None:
        shards = max(1, -(-frames.records // most))
    count = plan_shards(frames.stream_bytes, shards, size, most=frames.records, multiple=1)
    ranges = frames.by_bytes(count) if shards is None else frames.by_records(count)
    group = ShardGroup(output.prefix + form.suffix, tuple(frames.range(*each) for each in ranges), count)
    job = frame_job(given, output, [group], arguments, frames)
    (planned,) = job.groups
    made = tuple(recipe(each) for each in planned.recipes if isinstance(each, FrameRecipe))
    return replace(job, form=form, groups=(replace(planned, recipes=made),))
