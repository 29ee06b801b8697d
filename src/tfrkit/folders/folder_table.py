"""The table of kinds of folders. Adding one is a file in `kinds/` and a row here; `add_folder_kind` adds one elsewhere.

They are asked in this order: a kind whose files say what records hold before a manifest that says which there are. A
plain folder of shards comes last.
"""

from __future__ import annotations

from typing import Final

from tfrkit.errors import InvalidArgumentError, NotFoundError
from tfrkit.folders.folder_kind import FolderKind, FolderListing
from tfrkit.folders.kinds.detection_folder import DetectionFolder
from tfrkit.folders.kinds.earth_engine_folder import EarthEngineFolder
from tfrkit.folders.kinds.manifest_folder import ManifestFolder
from tfrkit.folders.kinds.plain_folder import PlainFolder
from tfrkit.folders.kinds.seqio_folder import SeqioFolder
from tfrkit.folders.kinds.simulation_folder import MeshFolder, ParticleFolder
from tfrkit.folders.kinds.tfds_folder import TfdsFolder
from tfrkit.folders.kinds.tfx_folder import TfxFolder
from tfrkit.folders.kinds.youtube8m_folder import Youtube8mFolder
from tfrkit.stores.files import is_folder, traits_of
from tfrkit.stores.url import display_name

__all__ = ["add_folder_kind", "folder_kinds", "kind_of", "remove_folder_kind"]

_TFX: Final = TfxFolder()
_BUILT_IN: Final[tuple[FolderKind, ...]] = (
    TfdsFolder(),
    SeqioFolder(),
    _TFX,
    DetectionFolder(),
    EarthEngineFolder(),
    MeshFolder(),
    ParticleFolder(),
    ManifestFolder(),
    Youtube8mFolder(),
    PlainFolder(),
)
_added: list[FolderKind] = []


def folder_kinds() -> tuple[FolderKind, ...]:
    """Return all kinds, in the order in which they are asked: those that were added come first."""
    return (*_added, *_BUILT_IN)


def add_folder_kind(kind: FolderKind) -> None:
    """Add a kind of folders for this process; it is asked before those of tfrkit.

    Raises:
        InvalidArgumentError: there is one of this name.
    """
    if any(each.name == kind.name for each in folder_kinds()):
        raise InvalidArgumentError(
            f"There is a kind of folders named {kind.name!r} already: choose another name."
        )
    _added.append(kind)


def remove_folder_kind(name: str) -> None:
    """Take out a kind that `add_folder_kind` added."""
    _added[:] = [each for each in _added if each.name != name]


def kind_of(listing: FolderListing) -> FolderKind:
    """Return the kind of a folder; with a schema that the user names it is that which reads them.

    Raises:
        NotFoundError: there is no such folder, or it is of no kind that is known.
    """
    if listing.schema:
        return _TFX
    for kind in folder_kinds():
        if kind.recognises(listing):
            return kind
    shown = display_name(listing.path)
    if traits_of(listing.path).lists and not listing.names and not is_folder(listing.path):
        raise NotFoundError(f"{shown}; No such folder. Check the path and the spelling.", path=listing.path)
    below = sorted(name for name in listing.names if not name.startswith("."))[:5]
    holds = f"it holds {', '.join(map(repr, below))}" if below else "it is empty"
    raise NotFoundError(
        f"{shown}; it is not a data set of a kind that is known ({', '.join(each.name for each in folder_kinds())}): "
        f"{holds}. Name the folder that has dataset_info.json, manifest.json or the shards, of TensorFlow Datasets "
        "that of the version, such as mnist/3.0.1.",
        path=listing.path,
    )
