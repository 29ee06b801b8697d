"""`tfr.build.images`: photos in folders, archives or lists become train, validation and test shards.

Checks the options and runs the plan (`image_plan.py`). Images are read by the sources, records are made in
`image_recipe.py`, and the job is run in `job.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from tfrkit.build.images.image_arguments import ImagesOptions
from tfrkit.build.images.image_plan import plan_images
from tfrkit.build.job.job import BuildReport, run_job
from tfrkit.options import takes
from tfrkit.stores.paths import PathLike, path_text

if TYPE_CHECKING:
    from tfrkit.build.keywords import ImagesKeywords

__all__ = ["images"]


@takes(ImagesOptions)
def images(source: PathLike, out: PathLike, **options: Unpack[ImagesKeywords]) -> BuildReport:
    """Make shards of Examples from JPEG, PNG, GIF, BMP and WebP images.

    An interrupted job resumes when it is called again with the same arguments. The same source,
    arguments and seed give the same bytes, whatever the number of workers.

    Args:
        source: a folder with a folder for each class; the same inside a .zip, .tar or .tar.gz archive, which is read
            without being unpacked; a .csv, .tsv or .jsonl list with the columns `path`, `label` and any others; or a
            folder with images alone, which then have no labels.
        out: the folder for the shards, `labels.txt`, `manifest.json` and `report.json`.

    Returns:
        What was written, and what was left out and why.

    Raises:
        InvalidArgumentError: an argument is wrong, the source has no images, or an archive has names that lead out of
            it; or bad input is fatal.
        AlreadyExistsError: `out` has shards of another job.
        DataLossError: the source has changed while it was read.
        NotFoundError: there is no such source.
        MissingExtraError: decoding needs the extra `images`.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for name in ("cat", "dog"):
    ...     os.makedirs(f"{folder}/photos/{name}")
    ...     with open(f"{folder}/photos/{name}/1.gif", "wb") as file:
    ...         _ = file.write(b"GIF89a" + bytes([4, 0, 3, 0, 0, 0, 0]) + name.encode() + b";")
    >>> report = images(f"{folder}/photos", f"{folder}/out", shuffle=False)
    >>> report.records, [shard.name for shard in report.shards]
    (2, ['train-00000-of-00001.tfrecord'])
    """
    chosen = ImagesOptions.of(options)
    job = plan_images(path_text(source), path_text(out), chosen, progress=chosen.progress)
    return run_job(job, on_bad=chosen.on_bad, **chosen.of_job())
