"""Where functions that move frames write to, their jobs, and running them.

One file is named by its path. Many are named by folder and prefix, as ShardWriter names them. No output may be an
input: neither what is written nor what `overwrite` would replace.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from tfrkit.build.job.job import BuildReport, Job, Recipe, ShardGroup, plan_shards, run_job
from tfrkit.build.job.job_options import CompressionOptions, FrameJobOptions
from tfrkit.build.job.job_plan import belongs_to
from tfrkit.build.job.wanted_features import WantedFeatures
from tfrkit.build.reshape.frame_input import FrameInput, InputFrames, frame_input
from tfrkit.build.reshape.frame_options import SampleOptions, ShuffleOptions
from tfrkit.build.reshape.frame_recipe import Change, Choice, FrameRecipe
from tfrkit.codecs.table import canonical, from_suffix
from tfrkit.errors import InvalidArgumentError
from tfrkit.records.record_names import parse_record_name, record_suffixes
from tfrkit.stores.files import is_folder, real_path, traits_of
from tfrkit.stores.paths import PathLike, Paths, path_text
from tfrkit.stores.url import is_url, path_parts
from tfrkit.threads import default_threads

__all__ = [
    "FrameOutput",
    "file_count",
    "frame_job",
    "is_file_name",
    "one_or_many",
    "run_frames",
]

_O = TypeVar("_O", bound=FrameJobOptions)
_P = ParamSpec("_P")


def is_file_name(path: str) -> bool:
    """Return whether a path is named as one file of records, not as a folder or a prefix. Pure: no I/O."""
    return bool(_stem(path))


def _stem(path: str) -> str:
    """The name of one file of records without its suffixes; empty if it is no such name."""
    return "".join(parse_record_name(os.path.basename(path)) or ())


def _expected_names() -> str:
    first, *others = record_suffixes()
    *more, last = (suffix.removeprefix(first) for suffix in others)
    return f"NAME{first}, or NAME{first}{', '.join(more)} or {last}"


@dataclass(frozen=True, slots=True)
class FrameOutput:
    """Where files go.

    Attributes:
        folder: of the files.
        prefix: beginning of their names; empty if they are named after something else.
        compression: "", "GZIP", "ZLIB", "XZ" or "ZSTD".
        level: of the compression, or None.
    """

    folder: str
    prefix: str
    compression: str
    level: int | None

    @classmethod
    def file(cls, path: PathLike, options: CompressionOptions) -> Self:
        """One file, whose name says its compression.

        Raises:
            InvalidArgumentError: it is not a name for such a file.
        """
        text = _checked(path)
        stem = _stem(text)
        if not stem:
            raise InvalidArgumentError(
                f"Expected {_expected_names()} as the output but got {text!r}. Give it such a name, or ask for shards: "
                "then the output is a folder and the beginning of their names."
            )
        kind = from_suffix(text)
        wanted = canonical(options.compression)
        if options.compression is not None and wanted != kind:
            raise InvalidArgumentError(
                f"Expected a file of {wanted or 'no'} compression but {text!r} has the suffix of "
                f"{kind or 'none'}. The name says the compression: leave the option out, or choose another name."
            )
        return cls(_folder_of(text), stem, kind, options.level)

    @classmethod
    def shards(cls, prefix: PathLike, options: CompressionOptions | None, given: FrameInput) -> Self:
        """Numbered files; compressed as the inputs are if those are alike, unless the options say how.

        Without options they are not compressed.

        Raises:
            InvalidArgumentError: it is not a prefix.
        """
        text = _checked(prefix)
        if not os.path.basename(text) or is_file_name(text):
            raise InvalidArgumentError(
                f"Expected a folder and the beginning of names, such as out/train, but got {text!r}. "
                "The files are then called out/train-00000-of-00008.tfrecord and so on."
            )
        if options is None:
            return cls(_folder_of(text), os.path.basename(text), "", None)
        return cls(_folder_of(text), os.path.basename(text), _kind(options.compression, given), options.level)

    @classmethod
    def named(
        cls,
        folder: PathLike,
        options: CompressionOptions,
        given: FrameInput,
        *,
        default: str | None = None,
    ) -> Self:
        """Files in a folder, which the plan names; else as `shards`, or as the default says."""
        text = _checked(folder)
        if is_file_name(text) and not is_folder(text):
            raise InvalidArgumentError(f"Expected a folder as the output but got {text!r}.")
        return cls(text, "", _kind(options.compression or default, given), options.level)


def _checked(path: PathLike) -> str:
    """Return a path as text, if a store knows it.

    Raises:
        UnimplementedError: no store does.
    """
    text = path_text(path)
    traits_of(text)
    return text


def _folder_of(path: str) -> str:
    """Return the folder of a file that will be written.

    Raises:
        InvalidArgumentError: it is a URL of a whole bucket.
    """
    if is_url(path) and len(path_parts(path)) < 3:
        raise InvalidArgumentError(
            f"Expected a name in a bucket, such as {path.rstrip('/')}/train, but got {path!r}."
        )
    return os.path.dirname(path) or "."


def _kind(compression: str | None, given: FrameInput) -> str:
    if compression is not None:
        return canonical(compression)
    found = given.compressions()
    return found[0] if len(found) == 1 else ""


def one_or_many(given: FrameInput, out: PathLike, options: SampleOptions | ShuffleOptions) -> FrameOutput:
    """One file under the name that was given, or with a number or a size many under a prefix."""
    if options.shards is None and options.shard_bytes is None:
        return FrameOutput.file(out, options)
    return FrameOutput.shards(out, options, given)


def file_count(options: SampleOptions | ShuffleOptions, size: int, most: int) -> int | None:
    """Return the number of files for about `size` bytes and `most` records; None: one file without a number."""
    if options.shards is None and options.shard_bytes is None:
        return None
    return plan_shards(size, options.shards, options.shard_bytes, most=most, multiple=1)


def frame_job(
    given: FrameInput,
    output: FrameOutput,
    groups: Sequence[ShardGroup],
    arguments: Mapping[str, Any],
    frames: InputFrames | None = None,
    *,
    choices: tuple[Choice, ...] = (),
    changes: tuple[Change, ...] = (),
    wanted: Mapping[str, str] | None = None,
) -> Job:
    """Make the job of a command.

    Args:
        given: what is read.
        output: where files go.
        groups: which.
        arguments: what decides the bytes besides that, for the manifest.
        frames: what was found while planning, if the inputs were surveyed.
        choices: which records are taken, unless recipes say that themselves.
        changes: what is made of them.
        wanted: features that a user has named, each with the option.

    Raises:
        InvalidArgumentError: an input is one of the files that would be written or replaced.
    """
    prefixes = {group.prefix: group.shards is None for group in groups}
    folder = real_path(output.folder)
    for path in given.paths:
        real = real_path(path)
        if os.path.dirname(real) == folder and belongs_to(os.path.basename(real), prefixes):
            raise InvalidArgumentError(
                f"{path}; it is an input, and the output would replace it. "
                "Choose another folder or name for the output.",
                path=path,
            )
    alone = sum(len(group.recipes) for group in groups) >= default_threads()  # then tasks have a core each

    def complete(recipe: Recipe) -> Recipe:
        assert isinstance(recipe, FrameRecipe)
        names, threads = tuple(wanted or ()), 1 if alone else None
        chosen = recipe.choices or choices
        return replace(recipe, choices=chosen, changes=changes, wanted=names, threads=threads)

    return Job(
        output.folder,
        tuple(replace(group, recipes=tuple(map(complete, group.recipes))) for group in groups),
        output.compression,
        output.level,
        {**arguments, "on_corrupt": given.on_corrupt, "source": given.fingerprint()},
        bad=() if frames is None else frames.bad,
        transient={"stamp": given.stamp()},
        stamps=given.stamps,
        wanted=None if wanted is None else WantedFeatures(wanted, given.paths),
        good=None if frames is None else frames.records,
    )


def run_frames(
    plan: Callable[Concatenate[FrameInput, PathLike, _O, _P], Job],
    paths: Paths,
    out: PathLike,
    options: _O,
    *more: _P.args,
    **named: _P.kwargs,
) -> BuildReport:
    """Plan a job on some inputs, with what the plan takes besides, and run it."""
    with frame_input(paths, options.on_corrupt) as given:
        job = plan(replace(given, progress=options.progress), out, options, *more, **named)
        return run_job(job, **options.of_job())
