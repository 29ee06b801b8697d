"""FolderKind: what one kind of data set folder has to say, and the description that it returns.

A kind looks at the names in a folder and at small files in it, never at records, except where nothing else says what
they hold. What it returns is plain data; `load.py` makes datasets of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tfrkit.cached_property import cached_property
from tfrkit.data.dataset import Dataset
from tfrkit.errors import DataLossError, NotFoundError
from tfrkit.folders.decode.decode_tree import DecodeTreeNode, without_decoding
from tfrkit.folders.feature_tree import FeatureTree, class_names_of, lines_of
from tfrkit.model.spec_json import spec_to_data
from tfrkit.model.specs import Spec
from tfrkit.stores.files import is_there, list_names, read_bytes, traits_of
from tfrkit.stores.json_file import parse_json

__all__ = [
    "FolderDescription",
    "FolderKind",
    "FolderListing",
    "FolderSplit",
    "RecordDecoder",
    "Shard",
    "SpecDecoder",
    "TreeDecoder",
]

_SHOWN_CLASSES: Final = 8


class FolderListing:
    """A folder as kinds look at it: the names in it, and small files, each read once.

    Attributes:
        path: of the folder, without a slash at its end.
        schema: the path of a schema.pbtxt that the user named; "" if none.
    """

    def __init__(self, path: str, schema: str = "") -> None:
        self.path = path.rstrip("/") or path
        self.schema = schema
        self._files: dict[str, bytes] = {}

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of files and folders in it; none where the store cannot list them, such as a web server."""
        if not traits_of(self.path).lists:
            return frozenset()
        return frozenset(name for each in list_names(self.path) if (name := each.rstrip("/")))

    def join(self, name: str) -> str:
        """Return the path of a file in it."""
        return f"{self.path}/{name}"

    def has(self, name: str) -> bool:
        """Tell whether there is such a file."""
        return name in self.names if traits_of(self.path).lists else is_there(self.join(name))

    def read(self, name: str) -> bytes:
        """Return the content of a small file."""
        if name not in self._files:
            self._files[name] = read_bytes(self.join(name))
        return self._files[name]

    def json(self, name: str) -> Any:
        """Return the content of a JSON file.

        Raises:
            DataLossError: it is not JSON.
        """
        try:
            return parse_json(self.read(name))
        except ValueError as error:
            path = self.join(name)
            raise DataLossError(
                f"{path}; expected JSON but got: {error}. Copy the file again.", path=path
            ) from error

    def lines(self, name: str) -> tuple[str, ...]:
        """Return the lines of a text, stripped, without empty ones; nothing if there is no such file."""
        if not self.has(name):
            return ()
        text = self.read(name).decode(errors="replace")
        return tuple(line.strip() for line in text.split("\n") if line.strip())


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of records.

    Attributes:
        path: the file.
        records: how many it has; None if that is to be counted.
    """

    path: str
    records: int | None = None


@dataclass(frozen=True, slots=True)
class FolderSplit:
    """A part of a data set that has a name.

    Attributes:
        name: such as "train".
        shards: its files, in order.
        total: how many records all of them have, where only that is known.
    """

    name: str
    shards: tuple[Shard, ...]
    total: int | None = None

    @property
    def records(self) -> int | None:
        """How many there are; None if that is not known without counting."""
        return self.total if self.lacks_counts else sum(shard.records or 0 for shard in self.shards)

    @property
    def lacks_counts(self) -> bool:
        """True if the numbers of records of some shards are not known without counting."""
        return any(shard.records is None for shard in self.shards)


class RecordDecoder(Protocol):
    """What makes values of the records of a data set. It pickles."""

    def decoded(self, records: Dataset, *, images: bool) -> Dataset:
        """Return the dataset of values; `images`: decode image files too."""

    def lines(self) -> list[str]:
        """Say what the values are, a line for each feature."""

    def class_names(self) -> Mapping[str, tuple[str, ...]]:
        """Return what numbers stand for, by feature."""


@dataclass(frozen=True)
class TreeDecoder:
    """Examples by a tree of features."""

    tree: FeatureTree

    def decoded(self, records: Dataset, *, images: bool) -> Dataset:
        return Dataset(DecodeTreeNode(records.node, self.tree if images else without_decoding(self.tree)))

    def lines(self) -> list[str]:
        return list(lines_of(self.tree))

    def class_names(self) -> Mapping[str, tuple[str, ...]]:
        return class_names_of(self.tree)


@dataclass(frozen=True)
class SpecDecoder:
    """Examples by a spec; without one, records as they are.

    Attributes:
        spec: of the features; None for records.
        classes: what numbers stand for, by feature.
    """

    spec: Spec | None
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def decoded(self, records: Dataset, *, images: bool) -> Dataset:
        return records if not self.spec else records.parse(self.spec)

    def lines(self) -> list[str]:
        return [f"{key}: {_shown_spec(each)}" for key, each in spec_to_data(self.spec or {}).items()]

    def class_names(self) -> Mapping[str, tuple[str, ...]]:
        return self.classes


@dataclass(frozen=True)
class FolderDescription:
    """What is in a folder; `print` it.

    Attributes:
        path: the folder.
        kind: what made it, such as "tfds".
        name: of the data set; "" if it has none.
        version: of the data set; "" if it has none.
        splits: by name.
        decoder: makes values of its records.
        description: what its makers wrote about it.
        cycle: how many shards are open at once where its own library reads it.
        block: how many records then come of one before the next.
    """

    path: str
    kind: str
    name: str
    version: str
    splits: Mapping[str, FolderSplit]
    decoder: RecordDecoder = field(repr=False)
    description: str = field(default="", repr=False)
    cycle: int = field(default=1, repr=False)
    block: int = field(default=1, repr=False)

    @property
    def features(self) -> Any:
        """The tree of features, or the spec; None if nothing is known of the records."""
        return getattr(self.decoder, "tree", getattr(self.decoder, "spec", None))

    @property
    def class_names(self) -> dict[str, tuple[str, ...]]:
        """What the numbers 0, 1, ... of features stand for, by feature; nested names are joined by "/"."""
        return dict(self.decoder.class_names())

    def files(self, split: str | None = None) -> list[str]:
        """Return the paths of the shards of a split, or of all, for functions that take files, such as `tfr.scan`.

        Raises:
            NotFoundError: there is no such split.
        """
        if split is not None and split not in self.splits:
            raise NotFoundError(
                f"Unknown split {split!r}. Should be one of {list(self.splits)}.", path=self.path
            )
        chosen = self.splits.values() if split is None else [self.splits[split]]
        return [shard.path for each in chosen for shard in each.shards]

    def __str__(self) -> str:
        title = " ".join(part for part in (self.name, self.version) if part) or self.path
        lines = [f"{title} ({self.kind})", *([] if title == self.path else [self.path]), "splits:"]
        lines += [f"  {split.name}: {_shown_size(split)}" for split in self.splits.values()]
        features = self.decoder.lines()
        lines += (
            ["features:", *(f"  {line}" for line in features)] if features else ["records of unknown content"]
        )
        names = self.class_names
        if names:
            lines += ["classes:", *(f"  {key}: {_shown_classes(each)}" for key, each in names.items())]
        return "\n".join(lines)


class FolderKind(Protocol):
    """One kind of data set folders. A kind is stateless; another program adds one with `add_folder_kind`.

    Attributes:
        name: what `FolderDescription.kind` says, such as "tfds".
    """

    name: str

    def recognises(self, listing: FolderListing) -> bool:
        """Tell whether a folder is of this kind, by its names and at most a small file."""

    def describe(self, listing: FolderListing) -> FolderDescription:
        """Return what is in a folder of this kind.

        Raises:
            OpError: a file that describes it is damaged, or a shard is missing.
        """


def _shown_size(split: FolderSplit) -> str:
    shards = f"{len(split.shards):,} shard{'' if len(split.shards) == 1 else 's'}"
    return shards if split.records is None else f"{split.records:,} records in {shards}"


def _shown_classes(names: tuple[str, ...]) -> str:
    more = f", ... ({len(names):,})" if len(names) > _SHOWN_CLASSES else ""
    return ", ".join(names[:_SHOWN_CLASSES]) + more


def _shown_spec(data: Mapping[str, Any]) -> str:
    shape = data.get("shape")
    return f"{data['feature']}({data.get('dtype')}{f', shape={shape}' if shape else ''})"
