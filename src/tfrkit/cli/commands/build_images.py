"""`tfr build images`: photos become shards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.arguments import renames, size_bytes
from tfrkit.cli.console import bad_usage
from tfrkit.stores.url import local_path

if TYPE_CHECKING:
    from tfrkit.build.images.image_options import ImageOptions


Source: TypeAlias = Annotated[
    str,
    arg.positional(
        "SOURCE",
        "A folder with a folder for each class; the same in a .zip, .tar or .tar.gz; a .csv, .tsv or .jsonl list "
        "of path, label and more; or a folder of images without classes.",
    ),
]
Out: TypeAlias = Annotated[str, arg.positional("OUT", "The folder for the shards.")]
Split: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="By chance, with exact numbers: train=0.8,validation=0.1,test=0.1. By the folders train, validation (or "
        "val) and test: folders. By other folders: train=y2023,test=y2024. Everything is in train by default."
    ),
]


def images(
    source: Source,
    out: Out,
    split: Split = None,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Split every class in these ratios, not all together.")
    ] = False,
    label_map: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Class names, one on a line: labels are the lines' numbers, from 0 on."
        ),
    ] = None,
    shards: Annotated[int | None, typer.Option(min=1, help="How many files of each split.")] = None,
    shard_size: arg.ShardSize = None,
    shuffle: Annotated[
        bool,
        typer.Option("--shuffle/--no-shuffle", help="Shuffle the images, or keep the order of their names."),
    ] = True,
    seed: Annotated[int, typer.Option(help="Of the splits and of the order.")] = 0,
    names: Annotated[
        Literal["full", "plain", "tfds", "slim"],
        typer.Option(
            help="How features are called: image/encoded and so on; image, label; as in TensorFlow Datasets; as in "
            "TF-slim."
        ),
    ] = "full",
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OLD=NEW", help="Rename a feature, or leave it out (OLD=); may be given several times."
        ),
    ] = None,
    encoding: Annotated[
        Literal["keep", "jpeg", "raw"] | None,
        typer.Option(
            help="Files as they are (default), JPEG encoded again, or uint8 pixels (height, width, channels)."
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(metavar="HxW", help="Stretch images to this height and width, such as 224x224."),
    ] = None,
    max_side: Annotated[
        int | None, typer.Option(min=1, help="Shrink images until no side is longer, in proportion.")
    ] = None,
    quality: Annotated[int | None, typer.Option(min=0, max=100, help="Of JPEG; 95 by default.")] = None,
    order: Annotated[
        Literal["rgb", "bgr"], typer.Option(help="Of the channels of raw pixels; bgr as OpenCV has it.")
    ] = "rgb",
    channels: Annotated[
        int | None, typer.Option(min=1, max=3, help="1 or 3, where pixels are encoded again; 3 by default.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Decode every image to see that it is whole.")
    ] = False,
    duplicates: Annotated[
        Literal["note", "skip", "raise", "keep"],
        typer.Option(
            help="Images with the same bytes: keep and report, leave out, fail, or do not look for them."
        ),
    ] = "note",
    on_bad: Annotated[
        Literal["skip", "raise"],
        typer.Option(
            help="Broken and empty files, and files that are no images: leave out and report, or fail."
        ),
    ] = "skip",
    max_bad: arg.MaxBad = None,
    max_image: Annotated[
        int, typer.Option(metavar="SIZE", parser=size_bytes, help="Larger files are bad.")
    ] = 64_000_000,
    list_encoding: Annotated[
        str, typer.Option(metavar="NAME", help="Of the text of a list, such as gbk.")
    ] = "utf-8",
    zip_encoding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Of names in a .zip that are not marked as UTF-8; guessed by default."
        ),
    ] = None,
    compression: arg.Compression = None,
    level: arg.Level = None,
    workers: arg.Workers = None,
    overwrite: arg.Overwrite = False,
    dry_run: arg.DryRun = False,
    as_json: arg.Json = False,
    quiet: arg.Quiet = False,
) -> None:
    """Make shards of Examples from JPEG, PNG, GIF, BMP and WebP images.

    Files are kept as they are unless they are resized or encoded again, which needs the extra `images`. Labels are the
    sorted names of the classes, written as labels.txt. An interrupted build resumes when it is run again.

    Example: tfr build images photos.zip out --split train=0.8,validation=0.1,test=0.1
    """
    from dataclasses import replace

    from tfrkit.build.images.image_plan import plan_images
    from tfrkit.build.job.job import dry_run as summarize
    from tfrkit.build.job.job import run_job
    from tfrkit.cli.build_report import end_dry_run, show_report
    from tfrkit.cli.progress import job_progress

    source, out = local_path(source), local_path(out)
    options = _checked(
        source, out,
        split=split, per_class=per_class, label_map=label_map, shards=shards, shard_size=shard_size, shuffle=shuffle,
        seed=seed, names=names, rename=renames(name or []), encoding=encoding, size=size, max_side=max_side,
        quality=quality, order=order, channels=channels, check=check, duplicates=duplicates, max_image=max_image,
        list_encoding=list_encoding, zip_encoding=zip_encoding, compression=compression, level=level,
    )  # fmt: skip
    with job_progress(quiet=quiet or dry_run) as progress:
        job = plan_images(source, out, options)
        if dry_run:
            plan = summarize(job, on_bad=on_bad, max_bad=max_bad, overwrite=overwrite)
            end_dry_run(replace(plan, mixed=shuffle), as_json=as_json)
            return
        report = run_job(
            job, workers=workers, on_bad=on_bad, max_bad=max_bad, overwrite=overwrite, progress=progress
        )
    show_report(report, as_json=as_json, quiet=quiet)


def _checked(source: str, out: str, **given: Any) -> ImageOptions:
    """Check the arguments: what is wrong with them is bad usage, and not bad data."""
    from tfrkit.build.images.image_options import ImageOptions
    from tfrkit.build.images.image_plan import check_apart

    with bad_usage("build images"):
        check_apart(source, out)
        return ImageOptions.make(**given)
