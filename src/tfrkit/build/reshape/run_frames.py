"""Run a function that copies records: from its inputs and options to the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from tfrkit.build.job.job import BuildReport, Job, run_job
from tfrkit.build.job.job_options import FrameOptions
from tfrkit.build.reshape.frame_input import FrameInput, frame_input
from tfrkit.stores.paths import PathLike, Paths

__all__ = ["run_frames"]

_O = TypeVar("_O", bound=FrameOptions)


def run_frames(
    plan: Callable[[FrameInput, PathLike, _O], Job], paths: Paths, out: PathLike, options: _O
) -> BuildReport:
    """Plan a job on some inputs, and run it."""
    with frame_input(paths, options.on_corrupt) as given:
        job = plan(replace(given, progress=options.progress), out, options)
        return run_job(job, **options.of_job())
