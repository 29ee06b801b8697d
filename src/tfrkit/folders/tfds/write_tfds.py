"""write_tfds: examples into a folder that TensorFlow Datasets reads.

Shards are written under temporary names; when all are whole they get their own, then the files that describe them are
written, dataset_info.json as the last. What is replaced loses its dataset_info.json first. A mark says meanwhile that
the folder is no data set, so that a kill leaves none rather than half of one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Final

from tfrkit.errors import AlreadyExistsError, InvalidArgumentError, OpError, from_os_error
from tfrkit.folders.decode.decode_tree import as_stored
from tfrkit.folders.encode.encode_tree import TreeEncoder
from tfrkit.folders.feature_tree import DictFeature, FeatureTree
from tfrkit.folders.features import to_feature
from tfrkit.folders.folder_kind import FolderDescription, FolderListing
from tfrkit.folders.inferred_features import infer_features
from tfrkit.folders.load import load, open_folder
from tfrkit.folders.tfds.dataset_info import UNFINISHED, SplitInfo, TfdsInfo, info_to_json
from tfrkit.folders.tfds.json_fields import snake_case
from tfrkit.folders.tfds.write_features import features_to_json, label_files
from tfrkit.parsing.encode import ExampleEncoder
from tfrkit.records.manifest import ShardEntry, manifest_entries, read_manifest
from tfrkit.records.record_names import numbered_title
from tfrkit.records.write.replace_shards import old_shards
from tfrkit.records.write.shards import ShardWriter
from tfrkit.stores.files import remove, write_bytes
from tfrkit.stores.json_file import is_file_name
from tfrkit.stores.paths import PathLike, path_text
from tfrkit.stores.url import path_parts

__all__ = [
    "INFO",
    "check_split",
    "identity",
    "json_text",
    "split_info",
    "split_title",
    "tree_files",
    "write_tfds",
]

INFO: Final = "dataset_info.json"
FEATURES: Final = "features.json"
_LABELS: Final = ".labels.txt"
_SHARD_BYTES: Final = 256_000_000
_LOOKED_AT: Final = 100  # examples of each split, where nobody describes them
_FRAME: Final = 16  # bytes of a record's frame beside its own
_KEPT: Final = {  # of what was opened, by the names that messages have
    "citation": "citation",
    "config_description": "configDescription",
    "config_tags": "configTags",
    "location": "location",
    "redistribution_info": "redistributionInfo",
    "release_notes": "releaseNotes",
    "supervised_keys": "supervisedKeys",
}
_NAME: Final = re.compile(r"(?P<name>[a-zA-Z]\w*)(/(?P<config>[\w+.-]+))?", re.ASCII)
_SPLIT: Final = re.compile(r"[\w-]+", re.ASCII)
_VERSION: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


def write_tfds(
    folder: PathLike,
    splits: Any,
    *,
    features: Any = None,
    name: str | None = None,
    version: str | None = None,
    description: str | None = None,
    supervised: tuple[str, ...] = (),
    shards: int | None = None,
    shard_bytes: int | None = None,
    keep_order: bool | None = None,
    overwrite: bool = False,
) -> FolderDescription:
    """Write a folder that TensorFlow Datasets reads, and `tfr.load`.

    Args:
        folder: a path or URL, such as "data/pets/1.0.0": the last two names are those of the data set and its version.
        splits: examples by split, such as {"train": examples, "test": ...}: dicts of values in a list, a generator or a
            `Dataset`. What `load` or `open_folder` returned is written as it was. Examples alone are "train".
        features: of the examples: a dict of `tfr.features`, types such as "int64", and what `parse_example` expects.
            By default those that were loaded, else what the first 100 examples of each split say.
        name: of the data set, or NAME/CONFIG; by default as the folder says, or what was opened.
        version: such as "1.0.0"; likewise.
        description: what the data set is.
        supervised: the features that are input and target of `as_supervised=True`.
        shards: how many files of each split; records go round robin.
        shard_bytes: instead: begin a new file at this size; 256 MB by default.
        keep_order: records are read in the order in which they are written: shards one after another, and never
            shuffled by `shuffle_files=True`. By default as it was in what is opened.
        overwrite: replace the data set that is there; else it is an error.

    Returns:
        What is in the folder.

    Raises:
        AlreadyExistsError: there is something in the folder.
        InvalidArgumentError: a value does not fit its feature: the text names split, record and feature; or there is
            no such name, version or split.
        UnimplementedError: a feature cannot be stored so that TensorFlow Datasets reads it.

    >>> import tempfile, tfrkit as tfr
    >>> pets = [{"name": "Ada", "kind": "cat"}, {"name": "Rex", "kind": "dog"}]
    >>> features = {"name": str, "kind": tfr.features.ClassLabel(["cat", "dog"])}
    >>> found = write_tfds(tempfile.mkdtemp() + "/pets/1.0.0", {"train": pets}, features=features)
    >>> found.name, found.version, [int(pet["kind"]) for pet in tfr.load(found.path, "train")]
    ('pets', '1.0.0', [0, 1])
    """
    path = path_text(folder).rstrip("/")
    source = _source(splits)
    info = _info(path, source, name, version, description, supervised, keep_order)
    if info.keeps_order and shards not in (None, 1):
        raise InvalidArgumentError(
            "keep_order=True: records of several shards are not in order if they go round robin. Pass shard_bytes "
            "instead of shards."
        )
    examples = {split: _checked_split(split, each) for split, each in source.splits.items()}
    tree = _tree(features, source, examples)
    unknown = [key for key in supervised if key not in tree.features]
    if unknown:
        raise InvalidArgumentError(
            f"supervised: there is no feature {unknown[0]!r} among {list(tree.features)}."
        )
    size = {"shards": shards} if shards is not None else {"shard_bytes": shard_bytes or _SHARD_BYTES}
    if shards is not None and shard_bytes is not None:
        raise InvalidArgumentError("Expected either shards or shard_bytes but got both.")
    files = {**tree_files(tree), **({} if features is not None else source.files)}
    output = _Output(path, info, tree, files, source.kept, overwrite=overwrite)
    try:
        for split, each in examples.items():
            output.write(split, each, size)
        output.publish()
    finally:
        output.discard()
    return open_folder(path)


@dataclass(frozen=True, slots=True)
class _Source:
    """What is written.

    Attributes:
        splits: the examples.
        tree: their features, if that is known.
        found: the folder that they are of, if it is one.
        files: what describes features there, which says more than decoding needs, such as the rate of sound.
        kept: what else its dataset_info.json says, for people.
    """

    splits: Mapping[str, Any]
    tree: FeatureTree | None = None
    found: FolderDescription | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    kept: Mapping[str, Any] = field(default_factory=dict)


def _source(splits: Any) -> _Source:
    if isinstance(splits, FolderDescription):
        features = splits.features
        if not features:
            raise InvalidArgumentError(
                f"{splits.path}: it is not known what its records hold.", path=splits.path
            )
        tree = to_feature(features)
        examples = {split: load(splits.path, split, decode=False) for split in splits.splits}
        if splits.kind != "tfds":
            return _Source(examples, tree, splits)
        listing = FolderListing(splits.path)
        files = {FEATURES: listing.read(FEATURES)} if listing.has(FEATURES) else {}
        said = {snake_case(key): value for key, value in listing.json(INFO).items()}
        return _Source(examples, tree, splits, files, {_KEPT[key]: said[key] for key in _KEPT if key in said})
    given = splits if isinstance(splits, Mapping) else {"train": splits}
    loaded = {split: as_stored(each) for split, each in given.items()}
    trees = [found[0] for found in loaded.values() if found is not None]
    if not trees or len(trees) < len(given) or any(tree != trees[0] for tree in trees):
        return _Source(given)
    return _Source({split: found[1] for split, found in loaded.items() if found is not None}, trees[0])


def _info(
    path: str,
    source: _Source,
    name: str | None,
    version: str | None,
    description: str | None,
    supervised: tuple[str, ...],
    keep_order: bool | None,
) -> TfdsInfo:
    """Return what dataset_info.json says, without splits."""
    found = source.found
    if found is not None and found.kind == "tfds":
        name, version = name or found.name, version or found.version
    name, config, version = identity(path, name, version)
    if not source.splits:
        raise InvalidArgumentError("Expected at least one split, such as {'train': examples}.")
    for split in source.splits:
        check_split(split)
    in_order = (
        keep_order
        if keep_order is not None
        else found is not None and found.cycle == 1 and found.kind == "tfds"
    )
    text = description if description is not None else "" if found is None else found.description
    return TfdsInfo(name, version, config, text, ("tfrecord",), (), in_order, tuple(supervised))


def identity(path: str, name: str | None, version: str | None) -> tuple[str, str, str]:
    """Return name, config and version of a data set; by default as its folder says: `<name>/<version>`.

    Raises:
        InvalidArgumentError: TensorFlow Datasets has no such names.

    >>> identity("data/pets/2.0.0", None, None), identity("out", "pets/small", None)
    (('pets', '', '2.0.0'), ('pets', 'small', '1.0.0'))
    """
    *_, parent, last = ("", "", *path_parts(path))
    of_folder = _VERSION.fullmatch(last) is not None
    chosen = name or (parent if of_folder else last)
    number = version or (last if of_folder else "1.0.0")
    names = _NAME.fullmatch(chosen)
    if names is None:
        raise InvalidArgumentError(
            f"Expected a name of letters, digits and _, or NAME/CONFIG, for the data set but got {chosen!r}. "
            "Say its name, or name the folder <name>/<version>."
        )
    if not _VERSION.fullmatch(number):
        raise InvalidArgumentError(f"Expected a version such as '1.0.0' but got {number!r}.")
    return names["name"], names["config"] or "", number


def check_split(split: object) -> None:
    """Raise if TensorFlow Datasets has no such splits.

    Raises:
        InvalidArgumentError: it has none.
    """
    if not isinstance(split, str) or not _SPLIT.fullmatch(split) or split == "all":
        raise InvalidArgumentError(
            f"Expected the name of a split, of letters, digits, _ and -, such as 'train' but got {split!r}."
        )


def split_title(name: str, split: str) -> str:
    """Return what stands before the number in the names of the shards of a split."""
    return f"{name}-{split}.tfrecord"


def split_info(split: str, shards: Sequence[ShardEntry]) -> SplitInfo:
    """Return what dataset_info.json says of a split."""
    total = sum(shard.bytes - _FRAME * shard.records for shard in shards)
    return SplitInfo(split, tuple(shard.records for shard in shards), len(shards), bytes=total)


def tree_files(tree: DictFeature) -> dict[str, bytes]:
    """Return the small files that describe features, by name.

    Raises:
        InvalidArgumentError: the names of classes have no file, or two features the same.
    """
    found: dict[str, bytes] = {}
    for name, content in label_files(tree):
        if not is_file_name(name) or found.setdefault(name, content) != content:
            raise InvalidArgumentError(
                f"names of classes would be in the file {name!r}, as the feature is named: rename the feature."
            )
    return {**found, FEATURES: json_text(features_to_json(tree))}


def json_text(content: Any) -> bytes:
    """Return the text of a JSON file.

    Raises:
        InvalidArgumentError: it cannot be UTF-8.
    """
    try:
        return (json.dumps(content, indent=4, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError as error:
        near = error.object[max(0, error.start - 20) : error.end + 20]
        raise InvalidArgumentError(
            f"Expected text that can be stored as UTF-8 but got half of a surrogate pair near {near!r}."
        ) from None


def _checked_split(split: str, examples: Any) -> Iterator[Any]:
    if isinstance(examples, (str, bytes, Mapping)) or not isinstance(examples, Iterable):
        raise InvalidArgumentError(
            f"split {split!r}: expected examples, such as a list of dicts, but got {type(examples).__name__}."
        )
    return iter(examples)


def _tree(features: Any, source: _Source, examples: dict[str, Iterator[Any]]) -> DictFeature:
    """Return the features of the examples; the first ones are looked at if nothing else says what they are."""
    if features is not None:
        tree = to_feature(features)
    elif source.tree is not None:
        tree = source.tree
    else:
        heads = {split: list(islice(each, _LOOKED_AT)) for split, each in examples.items()}
        examples.update({split: chain(head, examples[split]) for split, head in heads.items()})
        tree = infer_features(chain.from_iterable(heads.values()))
    if not isinstance(tree, DictFeature):
        raise InvalidArgumentError("Expected features by name: a dict, or tfr.features.FeaturesDict.")
    return tree


class _Output:
    """The folder that is written.

    Args:
        path: of the folder.
        info: what is to be said of the data set, without splits.
        tree: the features of examples.
        files: the small files that describe them.
        kept: what else dataset_info.json says.
        overwrite: replace what is there.
    """

    def __init__(
        self,
        path: str,
        info: TfdsInfo,
        tree: DictFeature,
        files: Mapping[str, bytes],
        kept: Mapping[str, Any],
        *,
        overwrite: bool,
    ) -> None:
        self._listing = FolderListing(path)
        self._path, self._info, self._overwrite = path, info, overwrite
        self._files, self._kept = files, kept
        self._info_text(())  # before anything is written
        self._encoder, self._examples = TreeEncoder(tree), ExampleEncoder()
        self._writers: dict[str, ShardWriter] = {}
        there = sorted(each for each in self._listing.names if not each.startswith("."))
        if there and not overwrite:
            raise AlreadyExistsError(
                f"{path}; there is {there[0]!r} already. Choose another folder, or pass overwrite=True.",
                path=path,
            )

    def write(self, split: str, examples: Iterable[Any], size: Mapping[str, Any]) -> None:
        """Write the shards of a split, under temporary names."""
        writer = ShardWriter(self._prefix(self._info.name, split), overwrite=self._overwrite, **size)
        self._writers[split] = writer
        for number, example in enumerate(examples):
            try:
                stored = self._encoder.encode(example)
            except InvalidArgumentError as error:
                raise InvalidArgumentError(f"split {split!r}, record {number}: {error.message}") from None
            writer.write(self._examples.encode(stored))
        if not writer.records:
            raise InvalidArgumentError(
                f"split {split!r} has no examples, and TensorFlow Datasets reads no empty splits: leave it out."
            )
        writer.finish()

    def publish(self) -> None:
        """Give the shards their names, and describe them."""
        before = self._listing.read(INFO) if self._listing.has(INFO) else None
        mark = self._listing.join(UNFINISHED)
        write_bytes(mark, b"")
        try:
            if before is not None:
                remove(self._listing.join(INFO))
            for writer in self._writers.values():
                writer.close()
            self._remove_old()
            self._describe()
            remove(mark)
        except BaseException as error:
            if not any(writer.paths for writer in self._writers.values()):  # all is as it was
                if before is not None:
                    write_bytes(self._listing.join(INFO), before)
                remove(mark)
            elif isinstance(error, (OpError, OSError)):
                known = error if isinstance(error, OpError) else from_os_error(error, self._path)
                text = f"{known.message} The data set in {self._path!r} is not whole: write it again."
                raise type(known)(text, path=known.path) from error
            raise

    def _describe(self) -> None:
        """Write the files beside the shards."""
        for name in self._listing.names - self._files.keys():
            if name.endswith(_LABELS):
                remove(self._listing.join(name))
        for name, text in self._files.items():
            write_bytes(self._listing.join(name), text)
        entries = manifest_entries(read_manifest(self._path))
        splits = [
            split_info(split, [entries[os.path.basename(path)] for path in writer.paths])
            for split, writer in self._writers.items()
        ]
        write_bytes(self._listing.join(INFO), self._info_text(tuple(splits)))

    def _info_text(self, splits: tuple[SplitInfo, ...]) -> bytes:
        return json_text({**self._kept, **info_to_json(replace(self._info, splits=splits))})

    def discard(self) -> None:
        """End; what has no name yet is removed."""
        for writer in self._writers.values():
            writer.discard()

    def _prefix(self, name: str, split: str) -> str:
        return self._listing.join(split_title(name, split))

    def _remove_old(self) -> None:
        """Remove the shards of splits that are no more."""
        titles = {title for name in self._listing.names if (title := numbered_title(name)) is not None}
        kept = {split_title(self._info.name, split) for split in self._writers}
        for title in sorted(titles - kept):
            if title.endswith(".tfrecord"):  # as data sets of this kind have them
                shards = old_shards(self._listing.join(title), [])
                shards.set_aside()
                shards.remove()
