"""Foreign formats into shards, and back. `tfrkit.build.images` and `tfrkit.build.table` are functions."""

from tfrkit.build.export import ExportedFile, ExportReport, export
from tfrkit.build.export_images import ImagesReport, export_images
from tfrkit.build.images import images
from tfrkit.build.job import BadInput, BuildReport, Progress
from tfrkit.build.table import table

__all__ = [
    "BadInput",
    "BuildReport",
    "ExportReport",
    "ExportedFile",
    "ImagesReport",
    "Progress",
    "export",
    "export_images",
    "images",
    "table",
]
