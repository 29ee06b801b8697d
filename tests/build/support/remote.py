"""Folders and what is behind a URL, to compare what builds make of either."""

from __future__ import annotations

from pathlib import Path

from tfrkit.stores.files import list_files, read_bytes, write_bytes


def upload(folder: Path, url: str) -> str:
    """Copy all files of a folder, and give the URL."""
    for path in folder.rglob("*"):
        if path.is_file():
            write_bytes(f"{url}/{path.relative_to(folder)}", path.read_bytes())
    return url


def stored(url: str, *, hidden: bool = False) -> dict[str, bytes]:
    """All files below a URL by their names; those that tfrkit keeps for itself only if asked for."""
    found = {info.path[len(url) + 1 :]: info.path for info in list_files(url, recursive=True)}
    return {
        name: read_bytes(path) for name, path in sorted(found.items()) if hidden or not name.startswith(".")
    }


def local(folder: Path) -> dict[str, bytes]:
    """All files of a local folder, as `stored` gives those of a URL."""
    names = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file()]
    return {name: (folder / name).read_bytes() for name in names if not name.startswith(".")}
