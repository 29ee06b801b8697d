"""What the commands that move frames share: from paths and a plan to a printed report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from tfrkit.cli import arguments as arg
from tfrkit.cli.console import UsageError
from tfrkit.errors import AlreadyExistsError, InvalidArgumentError

if TYPE_CHECKING:
    from tfrkit.build.job.job import Job, Progress
    from tfrkit.build.job.job_options import FrameJobOptions, JobOptions

Inputs: TypeAlias = Annotated[
    list[str],
    arg.positional("INPUT", "Files, globs, folders of shards or data sets, or - for standard input."),
]
Output: TypeAlias = Annotated[
    str,
    arg.positional(
        "OUT",
        "The file to write, such as all.tfrecord.gz; with --shards or --shard-size a prefix, such as out/train.",
    ),
]
ShowProgress: TypeAlias = "Callable[[Progress], None] | None"


def run_command(
    plan: Callable[..., Job],
    paths: Sequence[str],
    out: str,
    options: FrameJobOptions,
    printed: arg.FramePrintOptions,
    *more: Any,
) -> None:
    """Plan a job on some inputs, with `more` if the plan takes it, run it or say what it would do, and show the result.

    Raises:
        CommandError: the arguments contradict each other.
    """
    from tfrkit.build.reshape.frame_input import frame_input

    with frame_input(arg.shard_files(paths, stdin=True, split=printed.split), options.on_corrupt) as given:

        def planned(progress: ShowProgress) -> Job:
            try:
                return plan(replace(given, progress=progress), out, options, *more)
            except InvalidArgumentError as error:
                if error.record is not None:
                    raise
                raise UsageError(error.message) from error

        run_planned(planned, options, printed)


def run_planned(
    plan: Callable[[ShowProgress], Job],
    options: JobOptions,
    printed: arg.JobPrintOptions,
    *,
    mixed: bool = False,
    **more: Any,
) -> None:
    """Plan a job, run it or only say what it would do, and show the result.

    Args:
        plan: makes it, and shows its progress meanwhile.
        options: how it runs.
        printed: what is shown.
        mixed: the plan itself shuffles records.
        more: other arguments of `run_job` that a dry run has too.
    """
    from tfrkit.build.job.job import dry_run, run_job
    from tfrkit.cli.build_report import show_plan, show_report
    from tfrkit.cli.progress import job_progress

    with job_progress(quiet=printed.quiet) as progress:
        job = plan(progress)
        run = {**options.of_job(), "progress": progress}
        report = None if printed.dry_run else run_job(job, **run, **more)
    if report is not None:
        show_report(report, as_json=printed.as_json, quiet=printed.quiet)
        return
    found = dry_run(job, max_bad=options.max_bad, overwrite=options.overwrite, **more)
    show_plan(replace(found, mixed=found.mixed or mixed), as_json=printed.as_json)
    if found.refusal:
        raise AlreadyExistsError(found.refusal, path=found.folder)
