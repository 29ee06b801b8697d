"""`tfr folder`: what is in the folder of a data set, whoever made it."""

from __future__ import annotations

from typing import Annotated

from tfrkit.cli import arguments as arg
from tfrkit.cli.console import out, out_json, plain
from tfrkit.cli.options import command
from tfrkit.options import option, option_class


@option_class
class FolderOptions(arg.JsonOptions):
    """The options of `tfr folder`."""

    schema: str | None = option(None, "A schema.pbtxt that describes the Examples.", metavar="FILE")


@command("folder")
def folder(
    path: Annotated[
        str, arg.positional("FOLDER", "Folder or URL: of TensorFlow Datasets that of a version.")
    ],
    *,
    options: FolderOptions,
) -> None:
    """Show what is in the folder of a data set: its kind, splits, features and names of classes.

    Folders of TensorFlow Datasets, caches of SeqIO, examples of TFX, records of the Object Detection API with their
    label map, exports of Earth Engine, simulations of DeepMind, YouTube-8M, those that tfrkit wrote, and any with
    TFRecord files; `tfr.load` opens them.

    Example: tfr folder ~/tensorflow_datasets/mnist/3.0.1
    """
    from tfrkit.folders.load import open_folder

    found = open_folder(path, schema=options.schema)
    if not options.as_json:
        for line in str(found).split("\n"):
            out(plain(line))
        return
    splits = {
        split.name: {"records": split.records, "shards": [shard.path for shard in split.shards]}
        for split in found.splits.values()
    }
    about = {"path": found.path, "kind": found.kind, "name": found.name, "version": found.version}
    out_json({**about, "splits": splits, "features": found.decoder.lines(), "classes": found.class_names})
