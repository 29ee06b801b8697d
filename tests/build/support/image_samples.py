"""Small images of every format, folders of them, and what a build made of them."""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import tfrkit as tfr

FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP")


def pixels(seed: int = 0, height: int = 12, width: int = 16) -> np.ndarray:
    """A small picture that is another for every seed."""
    rng = np.random.default_rng(seed)
    steps = np.linspace(0, 200, height * width * 3).reshape(height, width, 3)
    return (steps + rng.integers(0, 50, (height, width, 3))).astype(np.uint8)


def picture(seed: int = 0, kind: str = "JPEG", mode: str = "RGB", **options: Any) -> bytes:
    """A file with such a picture."""
    file = io.BytesIO()
    size = {name: options.pop(name) for name in ("height", "width") if name in options}
    Image.fromarray(pixels(seed, **size)).convert(mode).save(file, kind, **options)
    return file.getvalue()


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files under their paths in a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def photos(classes: Mapping[str, int]) -> dict[str, bytes]:
    """So many JPEG files in a folder for each class, all different."""
    return {
        f"{name}/{number}.jpg": picture(zlib.crc32(f"{name}{number}".encode()))
        for name, count in classes.items()
        for number in range(count)
    }


def examples(out: Path, split: str = "train") -> list[dict[str, Any]]:
    """All examples of a split, as dicts."""
    return [
        {name: values[0] if len(values) == 1 else values for name, values in lists.items()}
        for lists in map(_lists, tfr.read_records(f"{out}/{split}-*"))
    ]


def _lists(record: bytes) -> dict[str, list[Any]]:
    """All features of an example as lists."""
    return {
        name: list(getattr(values, "tolist", lambda v=values: v)())
        for name, values in tfr.to_dict(record).items()
    }


def labels(out: Path, split: str = "train") -> dict[str, int]:
    """Labels by file names."""
    return {one["image/filename"].decode(): int(one["image/label"]) for one in examples(out, split)}


def shards(out: Path) -> dict[str, bytes]:
    """All shards with their bytes."""
    return {path.name: path.read_bytes() for path in sorted(out.glob("*.tfrecord*"))}


def zipped(path: Path, files: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    """A ZIP archive of files."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def tarred(path: Path, files: dict[str, bytes], mode: str = "w") -> Path:
    """A tar archive of files."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path
