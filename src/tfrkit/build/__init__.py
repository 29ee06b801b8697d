"""Foreign formats into shards, and back. `tfrkit.build.images`, `table` and `hive` are functions.

They are imported when they are first used: a command that only moves frames does not pay for photos and tables.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tfrkit.model.near_names import missing_name

if TYPE_CHECKING:
    from tfrkit.build.export.export_array_record import export_array_record
    from tfrkit.build.export.export_images import ImagesReport, export_images
    from tfrkit.build.export.export_table import ExportedFile, ExportReport, export
    from tfrkit.build.export.export_webdataset import export_webdataset
    from tfrkit.build.images.build_images import images
    from tfrkit.build.job.job import BadInput, BuildReport, Progress
    from tfrkit.build.tables.hive.hive import hive
    from tfrkit.build.tables.table import table

__all__ = [
    "BadInput",
    "BuildReport",
    "ExportReport",
    "ExportedFile",
    "ImagesReport",
    "Progress",
    "export",
    "export_array_record",
    "export_images",
    "export_webdataset",
    "hive",
    "images",
    "table",
]

# Each module with what it gives to this one.
_EXPORTS = {
    "export.export_table": "ExportReport ExportedFile export",
    "export.export_array_record": "export_array_record",
    "export.export_images": "ImagesReport export_images",
    "export.export_webdataset": "export_webdataset",
    "images.build_images": "images",
    "job.job": "BadInput BuildReport Progress",
    "tables.hive.hive": "hive",
    "tables.table": "table",
}


class _Lazy(property):
    """A name of another module. Importing a submodule of the same name does not replace it."""

    def __init__(self, module: str, name: str) -> None:
        def load(_package: ModuleType) -> Any:
            return getattr(importlib.import_module(f"tfrkit.build.{module}"), name)

        super().__init__(load, lambda _package, _submodule: None)


class _Build(ModuleType):
    """This package with names that are imported when they are used."""

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})

    if not TYPE_CHECKING:  # a type checker reports names that are not there itself

        def __getattr__(self, name: str) -> Any:
            raise missing_name("tfrkit.build", name, __all__)


for _module, _names in _EXPORTS.items():
    for _name in _names.split():
        setattr(_Build, _name, _Lazy(_module, _name))
sys.modules[__name__].__class__ = _Build
