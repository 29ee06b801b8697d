"""The files of exported images: their names, each after those of all records before, and what could not be kept."""

from __future__ import annotations

import os
from collections import Counter
from typing import Final

from tfrkit.build.export.export_folder import ExportFolder
from tfrkit.build.export.export_image_keys import ImageKeys
from tfrkit.build.export.export_image_records import FoundImages, ImageContent
from tfrkit.build.export.export_names import ClassFolders
from tfrkit.build.images.label_map import write_label_map
from tfrkit.records.describe.schema import Schema

__all__ = ["ImageWriter"]

UNLABELLED: Final = "unlabelled"
NO_CLASS: Final = "records without a class, in the folder {folder!r}"
NO_NAME: Final = "numbers of classes that the label map does not have"
TAKEN: Final = "names of files that were taken, and got a number"
MENDED_FILES: Final = "names of files that had to be changed"
MENDED_CLASSES: Final = "names of classes that had to be changed"
_MAX_CLASSES_LISTED: Final = 1_000_000


class ImageWriter:
    """Puts images into a folder, one after the other, so that names do not depend on who reads and writes them.

    Attributes:
        classes: how many images each folder has.
        images: how many there are.
        bytes: of those that were written.
    """

    def __init__(
        self, folder: ExportFolder, keys: ImageKeys, label_names: list[str] | None, schema: Schema
    ) -> None:
        """Begin with an empty folder.

        Args:
            folder: where the files go.
            keys: which features say what.
            label_names: names of the classes by number, or None.
            schema: of all records; it says how many digits the numbers of classes need.
        """
        self._folder = folder
        self._has_classes = keys.label is not None or keys.text is not None
        self._names = label_names
        self._digits = _digits(schema, keys.label)
        self._folders = ClassFolders(unicode=folder.unicode)
        self._labels: dict[int, str] = {}
        self._one_name_a_label = True
        self.classes: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self.images = self.bytes = 0

    @property
    def dropped(self) -> Counter[str]:
        """What could not be kept, and how often."""
        return self._counts + Counter({MENDED_CLASSES: self._folders.mended})

    def write(self, found: FoundImages, images: list[ImageContent]) -> None:
        """Write the images of a record.

        Raises:
            OpError: a file cannot be written.
        """
        folder = self._class_folder(found)
        for (stem, suffix), image in zip(found.names, images, strict=True):
            data = image.file()
            self._note(found, folder, stem + suffix, self._folder.add(folder, stem, suffix, data))
            self.bytes += len(data)

    def reserve(self, found: FoundImages) -> list[str]:
        """Return the paths of the files of a record's images, which others write.

        Raises:
            OpError: a name cannot be taken.
        """
        folder, paths = self._class_folder(found), []
        for stem, suffix in found.names:
            path, numbered = self._folder.reserve(folder, stem, suffix)
            self._note(found, folder, stem + suffix, numbered)
            paths.append(path)
        return paths

    def _note(self, found: FoundImages, folder: str, name: str, numbered: bool) -> None:
        if found.filename is not None:
            self._counts[MENDED_FILES] += found.filename not in (name, f"{folder}/{name}")
        self._counts[TAKEN] += numbered
        self.images += 1
        self.classes[folder] += 1

    def label_lines(self) -> bytes | None:
        """The label map of what was written, if records have numbers and names of classes that make one."""
        count = len(self._labels)
        if not count or not self._one_name_a_label or set(self._labels) != set(range(count)):
            return None
        names = [os.fsencode(self._labels[number]) for number in range(count)]
        if len(set(names)) < count or any(not name or b"\n" in name or b"\r" in name for name in names):
            return None
        return write_label_map(names)

    def _class_folder(self, found: FoundImages) -> str:
        if not self._has_classes:
            return ""
        if found.text is not None:
            name = found.text
            if found.label is not None:
                self._note_label(found.label, name)
        elif found.label is not None:
            name = self._name_of(found.label)
        else:
            folder = self._folders.folder(None, UNLABELLED)
            self._counts[NO_CLASS.format(folder=folder)] += 1
            return folder
        return self._folders.folder(name, "class")

    def _name_of(self, number: int) -> str:
        if self._names is not None:
            if 0 <= number < len(self._names) and self._names[number]:
                self._note_label(number, self._names[number])
                return self._names[number]
            self._counts[NO_NAME] += 1
        return f"{number:0{self._digits}d}"

    def _note_label(self, number: int, name: str) -> None:
        if len(self._labels) < _MAX_CLASSES_LISTED:
            self._one_name_a_label &= self._labels.setdefault(number, name) == name


def _digits(schema: Schema, label: str | None) -> int:
    """How many digits the largest number of a class has, so that names sort like numbers."""
    if label is None:
        return 1
    used = schema.features[label].kinds["int64"].range
    return 1 if used is None else len(str(int(used[1])))
