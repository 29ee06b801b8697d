"""`tfr build images`: photos become shards."""

from __future__ import annotations

from typing import Annotated

from tfrkit.build.images.image_arguments import ImagesOptions
from tfrkit.cli import arguments as arg
from tfrkit.cli.console import bad_usage
from tfrkit.cli.frame_command import run_planned
from tfrkit.cli.options import command
from tfrkit.stores.url import local_path


@command("build images")
def images(
    source: Annotated[
        str,
        arg.positional(
            "SOURCE",
            "A folder with a folder for each class; the same in a .zip, .tar or .tar.gz; a .csv, .tsv or .jsonl list "
            "of path, label and more; or a folder of images without classes.",
        ),
    ],
    out: Annotated[str, arg.positional("OUT", "The folder for the shards.")],
    options: ImagesOptions,
    printed: arg.JobPrintOptions,
) -> None:
    """Make shards of Examples from JPEG, PNG, GIF, BMP and WebP images.

    Files are kept as they are unless they are resized or encoded again, which needs the extra `images`. Labels are the
    sorted names of the classes, written as labels.txt. An interrupted build resumes when it is run again.

    Example: tfr build images photos.zip out --split train=0.8,validation=0.1,test=0.1
    """
    from tfrkit.build.images.image_plan import check_apart, plan_images

    source, out = local_path(source), local_path(out)
    with bad_usage("build images"):
        check_apart(source, out)
    run_planned(
        lambda progress: plan_images(source, out, options, progress=progress),
        options,
        printed,
        on_bad=options.on_bad,
        mixed=options.shuffle,
    )
