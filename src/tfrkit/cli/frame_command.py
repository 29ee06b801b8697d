"""What the commands that move frames share: from paths and a plan to a printed report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

from tfrkit.cli import arguments as arg
from tfrkit.cli.console import UsageError

if TYPE_CHECKING:
    from tfrkit.build.job.job import Job
    from tfrkit.build.reshape.frame_input import FrameInput
    from tfrkit.model.policy import OnCorrupt

Inputs: TypeAlias = Annotated[
    list[str], arg.positional("INPUT", "Files, globs, folders of shards, or - for standard input.")
]
Output: TypeAlias = Annotated[
    str,
    arg.positional(
        "OUT",
        "The file to write, such as all.tfrecord.gz; with --shards or --shard-size a prefix, such as out/train.",
    ),
]


class RunOptions(NamedTuple):
    """The options that all of these commands have."""

    on_corrupt: OnCorrupt
    max_bad: str | None
    overwrite: bool
    workers: int | None
    dry_run: bool
    as_json: bool
    quiet: bool


def run_command(paths: Sequence[str], plan: Callable[[FrameInput], Job], run: RunOptions) -> None:
    """Plan a job on some inputs, run it or only say what it would do, and show the result.

    Raises:
        CommandError: the arguments contradict each other.
    """
    from tfrkit.build.job.job import dry_run as summarize
    from tfrkit.build.job.job import run_job
    from tfrkit.build.reshape.frame_input import frame_input
    from tfrkit.cli.build_report import end_dry_run, show_report
    from tfrkit.cli.progress import job_progress
    from tfrkit.errors import InvalidArgumentError

    with frame_input(arg.shard_files(paths, stdin=True), run.on_corrupt) as given:
        try:
            job = plan(given)
        except InvalidArgumentError as error:
            if error.record is not None:
                raise
            raise UsageError(error.message) from error
        if run.dry_run:
            plan_summary = summarize(job, max_bad=run.max_bad, overwrite=run.overwrite)
            end_dry_run(plan_summary, as_json=run.as_json)
            return
        with job_progress(quiet=run.quiet) as progress:
            report = run_job(
                job, workers=run.workers, max_bad=run.max_bad, overwrite=run.overwrite, progress=progress
            )
    show_report(report, as_json=run.as_json, quiet=run.quiet)
